package policy

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInvalidFiles(t *testing.T) {
	const bad = "bogus: 1\n"
	notYAML := "name: x\non:\n  file:\n   paths: [a\n steps: }\n"
	tests := []struct {
		name, file, text string
		calls            []call // want: stopped
	}{
		{"not YAML", flow, notYAML, []call{bash("make", true), create("a", true), look("a", false), {"preToolUse", "mcp-x", `{}`, false}, post(bash("make", false)),
			edit(flow, false), bash("rm "+flow, false), bash("rm "+flow+"; make", true), bash("echo x > "+flow, false), bash("rm "+flow+" a", true), create(".github/hookflows/other.yml", true),
			{"preToolUse", "grep", `{"pattern":"x","paths":"."}`, false}, {"preToolUse", "read_bash", `{"shellId":"1"}`, false}}},
		{"not YAML but off", flow, "enabled: false\n" + notYAML, []call{bash("make", false)}},
		{"a text", flow, "hello\n", []call{bash("make", true), look("a", false)}},
		{"off", flow, "name: x\nenabled: false\non: hooks\n" + bad + deny, []call{bash("ls", false)}},
		{"off cannot be read", flow, "name: x\nenabled: nope\non: file\n" + deny, []call{create("a", true), bash("ls", false)}},
		{"paths narrow", flow, "name: x\non:\n  file:\n    paths: ['src/**']\n" + bad + deny, []call{create("src/a", true), create("a", false), bash("ls", false), bash("touch src/a", true)}},
		{"ignored paths narrow", flow, "name: x\non:\n  file:\n    paths-ignore: ['*.md']\n" + bad + deny, []call{create("a.md", false), create("a", true)}},
		{"bad paths do not", flow, "name: x\non:\n  file:\n    types: [create]\n    paths: ['[a', 'b']\n" + deny, []call{create("x", true), edit("x", false), bash("ls", false)}},
		{"bad types do not", flow, "name: x\non:\n  file:\n    types: [write]\n    paths: [a]\n" + deny, []call{create("a", true), edit("a", true), create("b", false), bash("cat a", true), look("a", false)}},
		{"bad lifecycle does not", flow, "name: x\non:\n  file:\n    lifecycle: x\n" + deny, []call{create("a", true), post(create("a", true)), bash("ls", false)}},
		{"an unknown key of a trigger", flow, "name: x\non:\n  file:\n    path: [a]\n" + deny, []call{create("x", true), bash("ls", false)}},
		{"tool without a name", flow, "name: x\non:\n  tool:\n    args: {command: 'ls*'}\n" + deny, []call{bash("ls", true), bash("make", false), create("a", false)}},
		{"bad if of a trigger", flow, "name: x\non:\n  tool:\n    name: bash\n    if: ')'\n" + deny, []call{bash("ls", true), create("a", false)}},
		{"if of a trigger narrows", flow, "name: x\non:\n  tool:\n    name: bash\n    if: event.tool.args.command == 'ls'\n" + bad + deny, []call{bash("ls", true), bash("make", false)}},
		{"if of the workflow narrows", flow, "name: x\non: hooks\nif: event.tool.name == 'bash'\n" + bad + deny, []call{bash("ls", true), create("a", false)}},
		{"bad if of the workflow", flow, "name: x\non: hooks\nif: ')'\n" + deny, []call{bash("ls", true), create("a", true), look("a", false)}},
		{"an unknown trigger may be any", flow, "name: x\non:\n  files:\n" + deny, []call{bash("ls", true), create("a", true), look("a", false), post(bash("ls", false)), {"preToolUse", "mcp-x", `{}`, true}}},
		{"an unknown event may be any call", flow, "name: x\non:\n  hooks:\n    types: [preTool]\n    tools: [bash]\n" + deny, []call{bash("ls", true), create("a", false)}},
		{"one broken of two triggers", flow, "name: x\non:\n  file:\n    paths: [a]\n  push:\n    branches: ['[']\n" + deny, []call{create("a", true), create("b", false)}},
		{"a bad step", flow, "name: x\non: file\nsteps:\n  - run: x\n    timeout: '10s'\n", []call{create("a", true), bash("ls", false)}},
		{"no steps", flow, "name: x\non: file\n", []call{create("a", true), bash("ls", false)}},
		{"a key twice", flow, "name: x\non: file\non: hooks\n" + deny, []call{create("a", true), bash("ls", false)}},
		{"a rule that is no YAML", ".github/hookflows/r.md", "---\nname: r\nevent: bash\npattern: a: b\n---\n", []call{bash("ls", true), look("a", false)}},
		{"a rule with a bad regex", ".github/hookflows/r.md", "---\nname: r\nevent: bash\naction: block\npattern: '('\n---\n", []call{bash("ls", true), create("a", false)}},
		{"other conditions narrow", ".github/hookflows/r.md", "---\nname: r\nevent: bash\naction: block\nconditions:\n  - {field: command, operator: regex_match, pattern: '('}\n  - {field: command, operator: contains, pattern: push}\n---\n", []call{bash("git push", true), bash("ls", false)}},
		{"pattern and conditions", ".github/hookflows/r.md", "---\nname: r\nevent: bash\naction: block\npattern: make\nconditions: [{field: command, operator: contains, pattern: push}]\n---\n", []call{bash("git push", true), bash("make", true), bash("ls", false)}},
		{"steps in a trigger", flow, "name: x\non:\n  tool: {name: bash, if: steps.a.outcome == 'success'}\n" + deny, []call{bash("ls", true), create("a", false)}},
		{"tool_matcher narrows", ".github/hookflows/r.md", "---\nname: r\nevent: al\naction: block\ntool_matcher: '^bash$'\n---\n", []call{bash("ls", true), create("a", false)}},
		{"a bad tool_matcher", ".github/hookflows/r.md", "---\nname: r\nevent: bash\ntool_matcher: '['\n---\n", []call{bash("ls", true), create("a", false)}},
		{"an unknown event", ".github/hookflows/r.md", "---\nname: r\nevent: shell\npattern: push\n---\n", []call{bash("git push", true), bash("ls", false), look("push", false)}},
		{"a rule that is off", ".github/hookflows/r.md", "---\nname: r\nenabled: false\nevent: shell\n---\n", []call{bash("git push", false)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t, map[string]string{tt.file: tt.text, ".github/hookflows/z.yml": "name: z\non:\n  tool: {name: nothing}\n" + deny})
			for _, c := range tt.calls {
				got := false
				for _, m := range Load(r.l).Match(r.tool(c.event, c.tool, c.args), nil) {
					if m.Invalid == "" {
						t.Errorf("%s %s: matched as if it were valid", c.tool, c.args)
					}
					got = true
				}
				if got != c.want {
					t.Errorf("%s %s %s: stopped %v, want %v", c.event, c.tool, c.args, got, c.want)
				}
			}
		})
	}
}

func TestInvalidMatchSaysWhat(t *testing.T) {
	tests := []struct {
		text, event, want string
		denies            bool
	}{
		{"name: x\non: file\nbogus: 1\n" + deny, "preToolUse", `.github/hookflows/guard.yml:3:1: unknown key "bogus" in the workflow (known: name, description, blocking, enabled, on, if, env, concurrency, on-error, steps)`, true},
		{"name: x\nblocking: false\non: file\nbogus: 1\nboggus: 2\n" + deny, "preToolUse", `.github/hookflows/guard.yml:4:1: unknown key "bogus" in the workflow (known: name, description, blocking, enabled, on, if, env, concurrency, on-error, steps); and one more error`, false},
		{"name: x\non: {file: {lifecycle: post}}\n" + deny + "bogus: 1\n", "postToolUse", `.github/hookflows/guard.yml:5:1: unknown key "bogus" in the workflow (known: name, description, blocking, enabled, on, if, env, concurrency, on-error, steps)`, false},
	}
	for _, tt := range tests {
		r := newRepo(t, map[string]string{flow: tt.text})
		m := Load(r.l).Match(r.tool(tt.event, "create", `{"path":"@/a","file_text":"x"}`), nil)
		if len(m) != 1 || m[0].Invalid != tt.want || m[0].Denies(tt.event) != tt.denies {
			t.Errorf("%+v", m)
		}
	}
}

// Two files that cannot be read must not hold each other's repair up.
func TestRepairOfTwo(t *testing.T) {
	r := newRepo(t, map[string]string{flow: "a: [\n", ".github/hookflows/other.yml": "b: [\n"})
	for _, args := range []string{`{"path":"@/.github/hookflows/guard.yml","file_text":""}`, `{"path":".github/hookflows/other.yml","file_text":""}`} {
		f := r.tool("preToolUse", "create", args)
		if s := Load(r.l); len(s.Match(f, nil)) > 0 || !s.Repairs(f) {
			t.Errorf("%s is stopped", args)
		}
	}
	if f := r.tool("preToolUse", "create", `{"path":"@/a","file_text":""}`); Load(r.l).Repairs(f) {
		t.Error("another file is no repair")
	}
}

// Who may take a file's permissions away must not get to write it for that.
func TestUnreadableIsNoRepair(t *testing.T) {
	r := newRepo(t, map[string]string{".github/hookflows/x.txt": ""})
	path := filepath.Join(r.root, flow)
	set := func(problem string) *Set {
		s := Load(r.l)
		at := place{filepath.Dir(path), r.root, Hookflow}
		s.Policies = r.l.read([]job{{place: at, path: path, problem: problem}})
		return s
	}
	edit := r.tool("preToolUse", "create", `{"path":"@/.github/hookflows/guard.yml","file_text":""}`)
	s := set("cannot be read: permission denied")
	if s.Repairs(edit) || len(s.Match(edit, nil)) > 0 {
		t.Errorf("repairs %v, stopped by itself %v", s.Repairs(edit), s.Match(edit, nil))
	}
	if other := r.tool("preToolUse", "create", `{"path":"@/a","file_text":""}`); len(s.Match(other, nil)) != 1 {
		t.Error("what it could guard is not stopped")
	}
	if err := os.WriteFile(path, []byte("a: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if !set("").Repairs(edit) {
		t.Error("a file with errors cannot be repaired")
	}
}
