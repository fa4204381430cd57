package validate

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/validate.md anew")

const tableStart, tableEnd = "<!-- rules: go test ./internal/validate -run TestRulesAreDocumented -update -->\n", "<!-- end of rules -->\n"

func ruleTable() string {
	var b strings.Builder
	b.WriteString("| rule | severity | voice | about |\n|---|---|---|---|\n")
	for _, r := range Rules {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.ID, r.Severity, r.Voice, strings.ReplaceAll(r.About, "|", `\|`))
	}
	return b.String()
}

func TestRulesAreDocumented(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "validate.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	head, rest, ok := strings.Cut(text, tableStart)
	table, tail, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		t.Fatalf("%s has no place for the rules", file)
	}
	if table == ruleTable() {
		return
	}
	if !*update {
		t.Fatalf("the rules of %s are not those of the code: run go test ./internal/validate -update", file)
	}
	if err := os.WriteFile(file, []byte(head+tableStart+ruleTable()+tableEnd+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

func knownRule(id string) (Rule, bool) {
	i := slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return Rules[i], true
}

// Every rule id in the code is in the table, and every one of the table is in the code.
func TestRulesAreComplete(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`^(skill|agent|command|hooks|settings|plugin|marketplace|mcp|json|file)/[a-z0-9-]+$`)
	part := regexp.MustCompile(`^[/-][a-z0-9-]+$`) // what is put behind a kind or a rule
	ids, parts := map[string]bool{}, map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "rules.go" {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			s, err := strconv.Unquote(lit.Value)
			if err == nil && id.MatchString(s) {
				ids[s] = true
			} else if err == nil && part.MatchString(s) {
				parts[s] = true
			}
			return true
		})
	}
	seen := map[string]bool{}
	for _, r := range Rules {
		if seen[r.ID] {
			t.Errorf("%s stands twice in the table", r.ID)
		}
		seen[r.ID] = true
		_, last, _ := strings.Cut(r.ID, "/")
		built := parts["/"+last] || slices.ContainsFunc([]string{"-type", "-path", "-missing", "-not-executable"}, func(p string) bool { return parts[p] && strings.HasSuffix(r.ID, p) }) ||
			r.ID == "hooks/env" || r.ID == "hooks/headers"
		if !ids[r.ID] && !built {
			t.Errorf("%s is in the table and not in the code", r.ID)
		}
		if r.About == "" || strings.HasSuffix(r.About, ".") {
			t.Errorf("%s: %q", r.ID, r.About)
		}
	}
	for s := range ids {
		if !seen[s] {
			t.Errorf("%s is in the code and not in the table", s)
		}
	}
}

// checkRules fails where a finding is about no rule, or in another voice than its rule.
func checkRules(t *testing.T, findings []Finding) {
	t.Helper()
	for _, f := range findings {
		r, ok := knownRule(f.Rule)
		if !ok || !strings.Contains(r.Voice, f.Voice) || f.Voice == "" {
			t.Errorf("%+v: rule %+v", f, r)
		}
	}
}
