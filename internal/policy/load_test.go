package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// repo is a directory with policy files, and what loads them.
type repo struct {
	t    testing.TB
	root string
	l    Loader
}

// newRepo writes files below a new root; names that start with "home/" go to the user's folder. The folder has no .git, so the
// event's directory is its root.
func newRepo(t testing.TB, files map[string]string) *repo {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{t: t, root: filepath.Join(top, "repo")}
	r.l = Loader{UserDir: filepath.Join(top, "home", "copilot-mem"), Sources: []string{r.root}, Root: r.root, Home: filepath.Join(top, "user")}
	if err := os.MkdirAll(r.root, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(r.root, filepath.FromSlash(name))
		if rest, ok := strings.CutPrefix(name, "home/"); ok {
			path = filepath.Join(r.l.UserDir, filepath.FromSlash(rest))
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// event decodes a payload whose cwd is the root; @ in it stands for the root.
func (r *repo) event(name, payload string) *facts.Facts {
	r.t.Helper()
	payload = strings.ReplaceAll(payload, "@", filepath.ToSlash(r.root))
	body := fmt.Sprintf(`{"sessionId":"s","timestamp":1795253522072,"cwd":%q,%s}`, filepath.ToSlash(r.root), payload)
	e, err := hook.Decode(name, []byte(body))
	if err != nil {
		r.t.Fatal(err)
	}
	return facts.New(facts.Input{Event: e, Home: r.l.Home})
}

// tool is the event of a tool call.
func (r *repo) tool(event, name, args string) *facts.Facts {
	r.t.Helper()
	return r.event(event, fmt.Sprintf(`"toolName":%q,"toolArgs":%s`, name, args))
}

const flow = ".github/hookflows/guard.yml"

// matched loads the repository and lists who speaks about the event: the name, with "!" in front for an invalid policy.
func (r *repo) matched(f *facts.Facts) []string {
	var out []string
	for _, m := range Load(r.l).Match(f, nil) {
		name := m.Policy.Name
		if m.Invalid != "" {
			name = "!" + name
		}
		out = append(out, name)
	}
	return out
}

func hundred(t testing.TB) *repo {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf(".github/hookflows/guard-%03d.yml", i)] = fmt.Sprintf(`name: guard-%d
description: nobody writes below secrets
blocking: true
on:
  file:
    types: [create, edit]
    paths: ['secrets%d/**', '**/*.pem%d']
    paths-ignore: ['secrets%d/README.md']
steps:
  - name: refuse
    if: "event.file.action == 'create'"
    deny: |
      Do not write below secrets/.
      Ask the owner.
`, i, i, i, i)
	}
	return newRepo(t, files)
}

func BenchmarkLoadHundred(b *testing.B) {
	r := hundred(b)
	b.ReportAllocs()
	for b.Loop() {
		if s := Load(r.l); len(s.Policies) != 100 {
			b.Fatal(len(s.Policies))
		}
	}
}

func BenchmarkMatchHundred(b *testing.B) {
	r := hundred(b)
	b.ReportAllocs()
	for b.Loop() {
		if m := Load(r.l).Match(r.tool("preToolUse", "create", `{"path":"@/src/a.go","file_text":"x"}`), nil); len(m) != 0 {
			b.Fatal(m)
		}
	}
}

func BenchmarkLoadNone(b *testing.B) {
	r := newRepo(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		Load(r.l)
	}
}
