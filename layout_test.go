package copilotmem_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/copilot-mem/copilot-mem"

// mayImport is the diagram of docs/ARCHITECTURE.md: which of our packages a package may import.
var mayImport = map[string][]string{
	"hook":      {},
	"memory":    {},
	"plugin":    {},
	"copilot":   {},
	"datadir":   {},
	"index":     {},
	"spool":     {},
	"store":     {"memory", "index"},
	"redact":    {},
	"search":    {"memory", "index"},
	"config":    {},
	"digest":    {"memory"},
	"render":    {"plugin", "copilot"},
	"validate":  {"plugin", "hook"},
	"install":   {"plugin", "copilot"},
	"bundle":    {"plugin"},
	"capture":   {"hook", "redact", "spool", "datadir", "config"},
	"ingest":    {"hook", "memory", "spool"},
	"history":   {"copilot", "memory", "redact"},
	"doctor":    {},
	"policy":    {"hook"},
	"guard":     {"hook", "policy", "redact", "datadir"},
	"cases":     {},
	"recall":    {"memory", "search", "digest", "index"},
	"mcpserver": {"memory", "recall", "search"},
}

// home is where each outside module lives; a module that is not here may not be imported at all.
var home = map[string][]string{
	"github.com/spf13/cobra":                   {"cmd/copilot-mem"},
	"github.com/charmbracelet/huh":             {"cmd/copilot-mem"},
	"golang.org/x/term":                        {"cmd/copilot-mem"},
	"github.com/adrg/frontmatter":              {"internal/plugin"},
	"go.yaml.in/yaml/v3":                       {"internal/plugin", "internal/history", "internal/policy"},
	"github.com/otiai10/copy":                  {"internal/install"},
	"github.com/Masterminds/semver/v3":         {"internal/copilot", "internal/plugin"},
	"modernc.org/sqlite":                       {"internal/store", "bench/recall"},
	"github.com/kljensen/snowball":             {"internal/search"},
	"golang.org/x/sys":                         {"internal/spool", "internal/capture", "internal/install", "internal/guard"},
	"github.com/google/go-cmp":                 {"test"},
	"github.com/rogpeppe/go-internal":          {"test"},
	"github.com/aymanbagabas/go-udiff":         {"cmd/copilot-mem"},
	"github.com/owenrumney/go-sarif/v3":        {"test"},
	"github.com/CycloneDX/cyclonedx-go":        {"internal/bundle"},
	"mvdan.cc/sh/v3":                           {"internal/policy/facts", "internal/policy/script"},
	"github.com/bmatcuk/doublestar/v4":         {"test"},
	"github.com/rhysd/actionlint":              {"test"},
	"github.com/santhosh-tekuri/jsonschema/v6": {"test"},
	"github.com/creack/pty":                    {"test"},
	"github.com/hinshun/vt10x":                 {"test"},
	"github.com/modelcontextprotocol/go-sdk":   {"internal/mcpserver"},
}

// hookBinary is all that copilot-mem-hook may link: every package initialiser runs on every event.
var hookBinary = []string{"hook", "redact", "spool", "capture", "datadir", "config", "policy", "guard"}

// hookModules are the outside packages that it may link: the parsers of policies, and locks on Windows.
var hookModules = []string{"go.yaml.in/yaml/v3", "mvdan.cc/sh/v3/syntax", "golang.org/x/sys/windows"}

type source struct {
	dir  string // slash path of the package's folder
	file string
	test bool
	ast  *ast.File
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); p != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "bin" || name == "dist") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(p)
		out = append(out, source{path.Dir(slash), slash, strings.HasSuffix(p, "_test.go"), f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("only %d source files found: the walk is broken", len(out))
	}
	return out
}

func imports(s source) []string {
	var out []string
	for _, i := range s.ast.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err == nil {
			out = append(out, p)
		}
	}
	return out
}

func TestImportsGoDown(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		name, internal := strings.CutPrefix(s.dir, "internal/")
		if !internal || s.test {
			continue
		}
		name, _, _ = strings.Cut(name, "/")
		seen[name] = true
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("%s: package %q has no row in the diagram", s.file, name)
			continue
		}
		for _, p := range imports(s) {
			ours, ok := strings.CutPrefix(p, module+"/internal/")
			if !ok {
				if p == module || strings.HasPrefix(p, module+"/") {
					t.Errorf("%s: imports %s, which is above it", s.file, p)
				}
				continue
			}
			if ours, _, _ = strings.Cut(ours, "/"); ours != name && !slices.Contains(allowed, ours) {
				t.Errorf("%s: %s may not import %s", s.file, name, ours)
			}
		}
	}
	for name := range mayImport {
		if !seen[name] {
			t.Errorf("the diagram has %q, but there is no such package", name)
		}
	}
}

func TestHeavyModulesAtHome(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		for _, p := range imports(s) {
			first, _, _ := strings.Cut(p, "/")
			if !strings.Contains(first, ".") || p == module || strings.HasPrefix(p, module+"/") {
				continue
			}
			mod := ""
			for m := range home {
				if (p == m || strings.HasPrefix(p, m+"/")) && len(m) > len(mod) {
					mod = m
				}
			}
			used[mod] = true
			switch {
			case mod == "":
				t.Errorf("%s: module of %s has no home", s.file, p)
			case slices.Contains(home[mod], "test"):
				if !s.test {
					t.Errorf("%s: %s is for tests only", s.file, p)
				}
			case !s.test && !slices.Contains(home[mod], s.dir):
				t.Errorf("%s: %s belongs in %v", s.file, p, home[mod])
			}
		}
	}
	if !used["modernc.org/sqlite"] || !used["github.com/spf13/cobra"] {
		t.Error("the heavy modules were not seen: this test looks at nothing")
	}
}

func TestHookBinaryIsLight(t *testing.T) {
	all := sources(t)
	todo, seen := []string{"cmd/copilot-mem-hook"}, map[string]bool{}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		if name, internal := strings.CutPrefix(dir, "internal/"); internal {
			if name, _, _ = strings.Cut(name, "/"); !slices.Contains(hookBinary, name) {
				t.Errorf("copilot-mem-hook links %s", dir)
			}
		}
		for _, s := range all {
			if s.dir != dir || s.test {
				continue
			}
			for _, p := range imports(s) {
				first, _, _ := strings.Cut(p, "/")
				switch ours, ok := strings.CutPrefix(p, module+"/"); {
				case ok:
					todo = append(todo, ours)
				case strings.Contains(first, "."):
					if !slices.Contains(hookModules, p) {
						t.Errorf("%s: copilot-mem-hook would link %s", s.file, p)
					}
				case p == "regexp":
					compiledAtStart(t, s.file)
				case p == "net" || strings.HasPrefix(p, "net/") || p == "text/template" || p == "html/template":
					t.Errorf("%s: copilot-mem-hook would link %s", s.file, p)
				}
			}
		}
	}
	if !seen["internal/capture"] || !seen["internal/policy/expr"] {
		t.Error("the walk did not reach internal/capture and internal/policy/expr")
	}
}

// compiledAtStart: an expression that is compiled in a package variable costs on every event, also where nobody uses it.
func compiledAtStart(t *testing.T, file string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		vars, ok := d.(*ast.GenDecl)
		if !ok || vars.Tok != token.VAR {
			continue
		}
		ast.Inspect(vars, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok {
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
					if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "regexp" {
						t.Errorf("%s: a regular expression is compiled when the program starts", file)
					}
				}
			}
			_, function := n.(*ast.FuncLit)
			return !function
		})
	}
}

func TestEveryPackageHasItsSentence(t *testing.T) {
	doc := map[string]string{}
	for _, s := range sources(t) {
		if s.test && s.dir != "e2e" || s.dir == "." {
			continue
		}
		if _, ok := doc[s.dir]; !ok {
			doc[s.dir] = ""
		}
		if s.ast.Doc != nil {
			doc[s.dir] += s.ast.Doc.Text()
		}
	}
	for dir, text := range doc {
		if !strings.HasPrefix(text, "Package ") && !strings.HasPrefix(text, "Command ") {
			t.Errorf("%s: no package sentence", dir)
		}
	}
}

// The project stands alone: nothing in it names a folder outside it.
func TestNothingOutsideIsNamed(t *testing.T) {
	outside := ".." + "/shared"
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != "." && (d.Name() == ".git" || d.Name() == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(p); !slices.Contains([]string{".go", ".md", ".sh", ".yml", ".yaml", ".json", ".txtar"}, ext) && d.Name() != "Makefile" {
			return nil
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if strings.Contains(string(b), outside) {
			t.Errorf("%s: names a folder outside the project", p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
