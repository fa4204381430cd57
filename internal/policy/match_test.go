package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const deny = "steps:\n  - deny: stop\n"

type call struct {
	event, tool, args string
	want              bool
}

func bash(command string, want bool) call {
	return call{"preToolUse", "bash", `{"command":` + quote(command) + `}`, want}
}

func create(path string, want bool) call {
	return call{"preToolUse", "create", `{"path":` + quote("@/"+path) + `,"file_text":"x"}`, want}
}

func edit(path string, want bool) call {
	return call{"preToolUse", "edit", `{"path":` + quote("@/"+path) + `,"old_str":"a","new_str":"b"}`, want}
}

func look(path string, want bool) call {
	return call{"preToolUse", "view", `{"path":` + quote("@/"+path) + `}`, want}
}

func post(c call) call { c.event = "postToolUse"; return c }

func quote(s string) string { return compactJSON(s) }

func patch(text string, want bool) call { return call{"preToolUse", "apply_patch", quote(text), want} }

func TestTriggers(t *testing.T) {
	tests := []struct {
		name, on string
		calls    []call
	}{
		{"a name", "on: file\n", []call{create("a", true), edit("a", true), look("a", false), bash("ls", false), bash("echo x > a", true), bash("rm a", true)}},
		{"a list", "on: [file, commit]\n", []call{create("a", true), bash("ls", false), bash("git commit -m x", true), bash("git push", false)}},
		{"null bodies", "on:\n  file:\n  push: ~\n", []call{create("a", true), bash("git push", true), bash("git commit -m x", false)}},
		{"hooks without types", "on: hooks\n", []call{bash("ls", true), look("a", true), post(bash("ls", true)), {"postToolUseFailure", "bash", `{}`, false}}},
		{"hooks by name", "on:\n  hooks:\n    types: [PostToolUse]\n", []call{bash("ls", false), post(bash("ls", true))}},
		{"hooks failure by name", "on:\n  hooks:\n    types: [postToolUseFailure]\n", []call{bash("ls", false), {"postToolUseFailure", "bash", `{}`, true}}},
		{"hooks and tools", "on:\n  hooks:\n    types: [preToolUse]\n    tools: [Write, 'mcp-*']\n",
			[]call{create("a", true), edit("a", false), post(create("a", false)), {"preToolUse", "mcp-x", `{}`, true}, {"preToolUse", "Write", `{"path":"a"}`, true}}},
		{"tool fires before and after", "on:\n  tool:\n    name: bash\n", []call{bash("ls", true), post(bash("ls", true)), create("a", false)}},
		{"tool before only", "on:\n  tool:\n    name: bash\n    lifecycle: pre\n", []call{bash("ls", true), post(bash("ls", false))}},
		{"tool after only", "on:\n  tool:\n    name: bash\n    lifecycle: post\n", []call{bash("ls", false), post(bash("ls", true))}},
		{"tool in the other spelling", "on:\n  tool:\n    name: Edit\n", []call{edit("a", true), create("a", false), patch("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n", true)}},
		{"tool by glob", "on:\n  tool:\n    name: 'github-delete_*'\n", []call{{"preToolUse", "github-delete_repo", `{}`, true}, {"preToolUse", "github-get_repo", `{}`, false}}},
		{"no case folding of names", "on:\n  tool:\n    name: BASH\n", []call{bash("ls", false)}},
		{"tools", "on:\n  tools:\n    - name: view\n    - name: bash\n      args: {command: 'rm *'}\n", []call{look("a", true), bash("ls", false), bash("rm a/b", true)}},
		{"every argument", "on:\n  tool:\n    name: search\n    args:\n      query: '*'\n      lang: ts\n",
			[]call{{"preToolUse", "search", `{"query":"a/b","lang":"ts"}`, true}, {"preToolUse", "search", `{"query":"a","lang":"go"}`, false}, {"preToolUse", "search", `{"lang":"ts"}`, false}}},
		{"arguments as JSON", "on:\n  tool:\n    name: x\n    args: {n: '3', b: 'true', l: '?1,\"<a>\"?', o: '*:null*'}\n",
			[]call{{"preToolUse", "x", `{"n":3,"b":true,"l":[1,"<a>"],"o":{"k":null}}`, true}, {"preToolUse", "x", `{"n":30,"b":true,"l":[1,"<a>"],"o":{}}`, false}}},
		{"a path argument by all its names", "on:\n  tool:\n    name: edit\n    args: {path: 'src/*.go'}\n", []call{edit("src/x.go", true), edit("src/deep/x.go", true), edit("lib/../src/x.go", true), edit("x.go", false)}},
		{"a patch is the edits it amounts to", "on:\n  tool:\n    name: edit\n    args: {path: '**/*.cfg', new_str: '*true*'}\n", []call{
			patch("*** Begin Patch\n*** Update File: conf/app.cfg\n@@\n-debug=false\n+debug=true\n*** End Patch\n", true),
			patch("*** Begin Patch\n*** Add File: conf/app.cfg\n+debug=true\n*** End Patch\n", false)}},
		{"the condition sees what a patch amounts to", "on:\n  tool:\n    name: create\n    if: endsWith(event.tool.args.path, '.cfg')\n",
			[]call{patch("*** Begin Patch\n*** Add File: conf/app.cfg\n+x\n*** End Patch\n", true), patch("*** Begin Patch\n*** Add File: conf/app.go\n+x\n*** End Patch\n", false)}},
		{"tool.if", "on:\n  tool:\n    name: bash\n    if: ${{ contains(event.tool.args.command, 'prod') }}\n", []call{bash("make PROD", true), bash("make test", false)}},
		{"tool.if with env", "env: {A: 'ls', B: '${{ env.A }} -l'}\non:\n  tool:\n    name: bash\n    if: event.tool.args.command == env.B\n", []call{bash("ls -l", true), bash("ls", false)}},
		{"file after", "on:\n  file:\n    lifecycle: post\n", []call{edit("a", false), post(edit("a", true))}},
		{"file types", "on:\n  file:\n    types: [create]\n", []call{create("a", true), edit("a", false), bash("mv x.txt y.txt", true), bash("rm x.txt", false)}},
		{"file rename as delete", "on:\n  file:\n    types: [delete]\n    paths: [x.txt]\n", []call{bash("mv x.txt y.txt", true), bash("mv y.txt x.txt", false), bash("rm x.txt", true)}},
		{"file read", "on:\n  file:\n    types: [read]\n    paths: ['private/**']\n", []call{look("private/a", true), look("a", false), bash("cat private/a", true), create("private/a", false)}},
		{"file.if", "on:\n  file:\n    if: event.file.path == 'b'\n", []call{create("b", true), create("a", false), bash("touch a b", true)}},
		{"paths", "on:\n  file:\n    paths: ['src/**', '!src/gen/**', 'src/gen/keep']\n", []call{create("src/a", true), create("src/gen/a", false), create("src/gen/keep", true), create("srcfoo/a", false), create("x/../src/a", true)}},
		{"ignore comes first", "on:\n  file:\n    paths: ['**']\n    paths-ignore: ['*.md', '!README.md']\n", []call{create("a.md", false), create("README.md", true), create("a", true)}},
		{"empty lists are none", "on:\n  file:\n    paths: []\n", []call{create("a", true)}},
		{"only negations", "on:\n  file:\n    paths: ['!a']\n", []call{create("a", false), create("b", false)}},
		{"an absolute path", "on:\n  file:\n    paths: ['/etc/**', '~/x']\n", []call{{"preToolUse", "create", `{"path":"/etc/passwd"}`, true}, {"preToolUse", "create", `{"path":"~/x"}`, true}, create("etc/passwd", false)}},
		{"kinds are alternatives", "on:\n  file:\n    paths: ['x/**']\n  tool:\n    name: bash\n", []call{bash("ls", true), create("x/a", true), create("a", false)}},
		{"push of branches", "on:\n  push:\n    branches: [main]\n", []call{bash("git push origin main", true), bash("git push origin dev", false), bash("git push origin v1:refs/tags/v1", false), bash("git push origin dev:main", true)}},
		{"push of tags", "on:\n  push:\n    tags: ['v*']\n", []call{bash("git push origin main", false), bash("git push origin refs/tags/v1", true), bash("git push origin refs/tags/x", false)}},
		{"push of either", "on:\n  push:\n    tags: ['v*']\n    branches-ignore: [dev]\n", []call{bash("git push origin main", true), bash("git push origin dev", false), bash("git push origin refs/tags/v1", true), bash("git push origin refs/tags/x", false)}},
		{"push after", "on:\n  push:\n    lifecycle: post\n", []call{bash("git push", false), post(bash("git push", true))}},
		{"commit after", "on:\n  commit:\n    lifecycle: post\n", []call{bash("git commit -m x", false), post(bash("git commit -m x", true))}},
		{"commit of unknown branch and files", "on:\n  commit:\n    branches: [main]\n    paths: ['src/**']\n", []call{bash("git commit -m x", true), bash("git status", false)}},
		{"disabled", "enabled: false\non: hooks\n", []call{bash("ls", false)}},
		{"a merge key", "on:\n  file: &f\n    paths: [a]\n  push:\n    <<: *f\n", []call{create("a", true), create("b", false), bash("git push", true)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t, map[string]string{flow: "name: guard\n" + tt.on + deny, "x.txt": "x\n", "a": "old\n"})
			if err := os.Remove(filepath.Join(r.root, "a")); err != nil {
				t.Fatal(err)
			}
			for _, f := range Load(r.l).Check() {
				if f.Severity == SeverityError {
					t.Errorf("finding: %v", f)
				}
			}
			for _, c := range tt.calls {
				got := r.matched(r.tool(c.event, c.tool, c.args))
				if slices.Contains(got, "guard") != c.want {
					t.Errorf("%s %s %s: matched %v, want %v", c.event, c.tool, c.args, got, c.want)
				}
			}
		})
	}
}

func TestOtherEvents(t *testing.T) {
	tests := []struct {
		on, event, payload string
		want               bool
	}{
		{"on:\n  hooks:\n    types: [UserPromptSubmit]\n", "userPromptSubmitted", `"prompt":"p"`, true},
		{"on:\n  hooks:\n    types: [Stop]\n", "agentStop", `"stopReason":"x"`, true},
		{"on:\n  hooks:\n    types: [sessionStart]\n    tools: [bash]\n", "sessionStart", `"source":"new"`, false},
		{"on: hooks\n", "sessionStart", `"source":"new"`, false},
		{"on: file\n", "userPromptSubmitted", `"prompt":"p"`, false},
	}
	for _, tt := range tests {
		r := newRepo(t, map[string]string{flow: "name: guard\n" + tt.on + deny})
		if got := r.matched(r.event(tt.event, tt.payload)); (len(got) == 1) != tt.want {
			t.Errorf("%s at %s: %v, want %v", tt.on, tt.event, got, tt.want)
		}
	}
}

func TestMatchNamesWhatMatched(t *testing.T) {
	r := newRepo(t, map[string]string{flow: "name: guard\non:\n  push:\n  file:\n    paths: ['*.go']\n" + deny})
	m := Load(r.l).Match(r.tool("preToolUse", "bash", `{"command":"touch a.txt b.go c.go"}`), nil)
	if len(m) != 1 || m[0].Trigger != 1 || m[0].File != 1 || m[0].Commit != -1 || m[0].Push != -1 {
		t.Fatalf("%+v", m)
	}
	f := r.tool("preToolUse", "bash", `{"command":"touch a.txt b.go c.go"}`)
	event := m[0].Contexts(f)["event"].(map[string]any)
	if file := event["file"].(map[string]any); file["path"] != "b.go" {
		t.Errorf("event.file is %v", file)
	}
}

func TestRuntimeErrorOfATrigger(t *testing.T) {
	r := newRepo(t, map[string]string{flow: "name: guard\non:\n  tool:\n    name: bash\n    if: fromJSON(event.tool.args.command).a\n" + deny})
	m := Load(r.l).Match(r.tool("preToolUse", "bash", `{"command":"ls"}`), nil)
	if len(m) != 1 || m[0].Err == nil || !strings.Contains(m[0].Err.Error(), "guard.yml:3:3: tool.if: ") {
		t.Errorf("%+v", m)
	}
}

func TestSources(t *testing.T) {
	rule := func(name string) string { return "name: " + name + "\non: hooks\n" + deny }
	r := newRepo(t, map[string]string{
		".github/hookflows/b/Z.YAML": rule("b"), ".github/hookflows/a.yml": rule("a"), ".github/hookflows/a.yml.bak": rule("no"),
		".github/hookflows/README.md": "---\ntitle: x\n---\n", ".github/copilot-mem/policies/r.md": "---\nname: r\nevent: all\n---\n",
		".github/workflows/x.yml": rule("no"), "sub/.github/hookflows/s.yml": rule("s"), "home/policies/u.yml": rule("u"),
		".github/copilot-mem/policies/x/.hidden/h.yml": rule("h"),
	})
	r.l.Sources = []string{filepath.Join(r.root, "sub"), r.root}
	var got []string
	for _, p := range Load(r.l).Policies {
		got = append(got, p.Source.String()+" "+p.Name+" "+filepath.Base(p.File))
	}
	want := []string{"user u u.yml", "repo r r.md", "repo h h.yml", "hookflow s s.yml", "hookflow a a.yml", "hookflow b Z.YAML"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLinks(t *testing.T) {
	rule := func(name string) string { return "name: " + name + "\non: hooks\n" + deny }
	r := newRepo(t, map[string]string{".github/hookflows/a.yml": rule("a"), "common/in.yml": rule("in"), "home/out.yml": rule("out"), "common/dir/d.yml": rule("d")})
	for link, target := range map[string]string{
		"in.yml": "../../common/in.yml", "out.yml": filepath.Join(r.l.UserDir, "out.yml"), "none.yml": "nowhere.yml", "dir": "../../common/dir", "dir.yml": "../../common/dir",
	} {
		if err := os.Symlink(target, filepath.Join(r.root, ".github/hookflows", link)); err != nil {
			t.Fatal(err)
		}
	}
	s := Load(r.l)
	var got, warned []string
	for _, p := range s.Policies {
		got = append(got, p.Name)
	}
	for _, f := range s.Findings {
		warned = append(warned, filepath.Base(f.File)+" "+f.Rule)
	}
	if diff := cmp.Diff([]string{"a", "in"}, got); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"none.yml link", "out.yml link"}, warned); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestExplain(t *testing.T) {
	r := newRepo(t, map[string]string{flow: "name: guard\non:\n  push:\n  file:\n    paths: ['*.go']\n" + deny})
	e := Load(r.l).Explain(r.tool("preToolUse", "create", `{"path":"@/a.txt"}`), nil)
	want := []Check{
		{"push.lifecycle", "pre", "preToolUse", true}, {"push", "a push", "none", false},
		{"file.lifecycle", "pre", "preToolUse", true}, {"file.types", "create,edit,delete,rename", "create a.txt", true}, {"file.paths", "*.go", "a.txt", false},
	}
	if diff := cmp.Diff(want, e[0].Why); diff != "" || e[0].Matched {
		t.Errorf("matched %v (-want +got):\n%s", e[0].Matched, diff)
	}
}
