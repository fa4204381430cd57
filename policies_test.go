package copilotmem_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/policy"
	"github.com/copilot-mem/copilot-mem/internal/policy/bundled"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

var update = flag.Bool("update", false, "copy the ready policies into their cases")

// examples gives the fenced blocks of a document that name a file in their first line, by that path.
func examples(t *testing.T, doc string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	block := regexp.MustCompile("(?ms)^```(?:yaml|markdown)\n(?:# |<!-- )(\\.github/\\S+)(?: -->)?\n(.*?)^```$")
	for _, m := range block.FindAllSubmatch(b, -1) {
		if out[string(m[1])] != "" {
			t.Errorf("%s: two examples are called %s", doc, m[1])
		}
		out[string(m[1])] = string(m[2])
	}
	if fences := bytes.Count(b, []byte("```yaml\n")) + bytes.Count(b, []byte("```markdown\n")); fences != len(out) {
		t.Errorf("%s: %d of %d yaml and markdown blocks say which file they are", doc, len(out), fences)
	}
	return out
}

// validated loads a repository with these files and fails on every finding.
func validated(t *testing.T, files map[string]string) *policy.Set {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := policy.Load(policy.Loader{Root: root, Sources: []string{root}, Home: root, Trusted: func(string) bool { return true }})
	for _, f := range s.Check() {
		t.Errorf("%s", f)
	}
	return s
}

// What docs/policy.md shows is well formed, every block of it.
func TestPolicyExamples(t *testing.T) {
	files := examples(t, "docs/policy.md")
	if settings := files[".github/copilot-mem/policy.yml"]; !strings.Contains(settings, "rules:") {
		t.Fatalf("no example of settings in %d blocks", len(files))
	}
	s := validated(t, files)
	if got, want := len(s.Policies), len(files)-1; got != want {
		t.Errorf("%d policies loaded from %d examples", got, want)
	}
}

// The document lists what there is: bundled rules, functions and contexts.
func TestPolicyDocumentIsComplete(t *testing.T) {
	b, err := os.ReadFile("docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	for _, r := range bundled.Rules() {
		if !strings.Contains(doc, "| `"+r.Name+"` | "+r.Action+" |") {
			t.Errorf("the table of bundled rules has no row `%s` | %s", r.Name, r.Action)
		}
	}
	_, section, _ := strings.Cut(doc, "\n## Expressions\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := 0
	for _, m := range regexp.MustCompile("`([a-zA-Z_]+)(\\(.*?\\))?`").FindAllStringSubmatch(section, -1) {
		_, err := expr.Parse(m[1] + "()")
		isFunction := err == nil || !strings.Contains(err.Error(), "unknown function")
		if m[2] != "" && !isFunction {
			t.Errorf("the document has a function %s that does not exist", m[1])
		}
		if isFunction {
			listed++
		}
	}
	if listed < 25 {
		t.Errorf("only %d functions are listed", listed)
	}
}

// readyPolicies are the folders of assets/policies.
func readyPolicies(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("assets/policies/*/cases")
	if err != nil || len(dirs) < 4 {
		t.Fatalf("%d ready policies: %v", len(dirs), err)
	}
	for i, d := range dirs {
		dirs[i] = filepath.Dir(d)
	}
	return dirs
}

// A ready policy validates, has a line in the README, and its cases test the very file.
func TestReadyPolicies(t *testing.T) {
	readme, err := os.ReadFile("assets/policies/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range readyPolicies(t) {
		name := filepath.Base(dir)
		text, err := os.ReadFile(filepath.Join(dir, name+".yml"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(readme), "("+name+"/"+name+".yml)") {
			t.Errorf("assets/policies/README.md has no line for %s", name)
		}
		place := ".github/copilot-mem/policies/" + name + ".yml"
		if name != "errors" {
			validated(t, map[string]string{place: string(text)})
		}
		cases, err := filepath.Glob(filepath.Join(dir, "cases", "*", "expect.json"))
		if err != nil || len(cases) < 3 {
			t.Errorf("%s has %d cases", name, len(cases))
		}
		for _, c := range cases {
			path := filepath.Join(filepath.Dir(c), "repo", filepath.FromSlash(place))
			if *update {
				if err := os.WriteFile(path, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%s is not the policy that is installed (%v): run go test . -update", path, err)
			}
		}
	}
}

// The client ignores error handling of shell hooks: validate must say so, and say nothing else about that policy.
func TestErrorHandlingHasNoEffect(t *testing.T) {
	const repo = "assets/policies/errors/cases/passing/repo"
	s := policy.Load(policy.Loader{Root: repo, Sources: []string{repo}})
	found := s.Check()
	for _, f := range found {
		if f.Severity != policy.SeverityWarning || !strings.Contains(f.Message, "no effect") {
			t.Errorf("unexpected finding %s", f)
		}
	}
	if len(found) != 2 {
		t.Errorf("%d findings, want one for each of the two steps with error:", len(found))
	}
}
