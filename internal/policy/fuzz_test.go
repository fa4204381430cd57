package policy

import (
	"strings"
	"testing"
	"time"
)

// fuzzFile holds a loader to its promises for any text of one file: it ends, says where each problem is, and a file with an error
// never speaks as if it had none.
func fuzzFile(t *testing.T, name, text string) {
	t.Helper()
	if len(text) > 64<<10 {
		return
	}
	r := newRepo(t, map[string]string{name: text})
	began := time.Now()
	s := Load(r.l)
	found := s.Check()
	if took := time.Since(began); took > 5*time.Second { // a hundred times what is promised: this is a shared machine
		t.Fatalf("%v", took)
	}
	lines := strings.Count(text, "\n") + 1
	for _, f := range found {
		if f.Message == "" || f.Line < 0 || f.Line > lines+1 || f.Line > 0 && f.Column < 1 || f.File == "" {
			t.Errorf("%q: finding %+v", text, f)
		}
	}
	for _, m := range s.Match(r.tool("preToolUse", "create", `{"path":"@/a","file_text":"x"}`), nil) {
		if m.Invalid != m.Policy.InvalidText() {
			t.Errorf("%q: %q is not %q", text, m.Invalid, m.Policy.InvalidText())
		}
	}
	s.Explain(r.tool("postToolUse", "bash", `{"command":"ls > a"}`), nil)
}

func FuzzWorkflow(f *testing.F) {
	for _, text := range quickTexts {
		f.Add(text)
	}
	f.Add("name: x\non:\n  file: &f {paths: ['a', '!b']}\n  push: {<<: *f}\nif: ${{ event.name }}\nsteps:\n  - modify: {a: [1, 1.5, ~, '${{ x }}']}\n  - {run: 'a ${{ event.x }}', shell: pwsh, timeout: 3}\n")
	f.Add("a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) { fuzzFile(t, flow, text) })
}

func FuzzMarkdown(f *testing.F) {
	f.Add("---\nname: r\nevent: bash\npattern: '('\n---\nx\n")
	f.Add("\xef\xbb\xbf\n---\r\nname: r\r\nevent: file\r\nconditions: [{field: a, operator: b, pattern: c}]\r\n---\r\n")
	f.Add("---\nevent: a: b\n")
	f.Fuzz(func(t *testing.T, text string) { fuzzFile(t, ".github/copilot-mem/policies/r.md", text) })
}

func FuzzSettings(f *testing.F) {
	f.Add("rules: {force-push: off, secret-files: {action: ask, except: ['a', '[']}}\nlock: [x]\ntools: {a: {action: create, path: p}}\n")
	f.Add("defaults: off\npost-gate: on\ntelemetry: {repo-log: true}\n")
	f.Fuzz(func(t *testing.T, text string) { fuzzFile(t, userSettings, text) })
}
