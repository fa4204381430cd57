package guard_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/guard"
)

// What the three policy languages promise, sentence by sentence, through the same function as the hook.

// saying is one policy, one event and what is to come of it.
type saying struct {
	name   string
	on     string         // what stands below "on:"; the policy is then a workflow whose only step denies
	steps  string         // instead of that step
	head   string         // further keys of the workflow
	rule   string         // instead of a workflow: the front matter of a markdown rule
	event  map[string]any // $REPO in texts is the repository
	hook   string         // default: preToolUse
	files  map[string]string
	setup  string           // bash, in the repository
	before []map[string]any // earlier postToolUse events
	want   string           // none, deny, ask, modify, context
	has    string           // must be in what is said
	lacks  string
}

const (
	workflowFile = ".github/copilot-mem/policies/guard.yml"
	ruleFile     = ".github/copilot-mem/policies/rule.md"
	session      = "0f1e2d3c-aaaa-bbbb-cccc-000000000001"
)

func (s saying) policy() (file, text string) {
	if s.rule != "" {
		return ruleFile, "---\nname: rule\n" + s.rule + "\n---\n\nfirst paragraph\n\nsecond paragraph\n"
	}
	steps := s.steps
	if steps == "" {
		steps = "- name: refuse\n  deny: refused\n"
	}
	return workflowFile, "name: guard\n" + s.head + "on:\n" + indent(s.on) + "steps:\n" + indent(steps)
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}

func (s saying) run(t *testing.T) {
	root := t.TempDir()
	repo, home := filepath.Join(root, "repo"), filepath.Join(root, "home")
	files := maps.Clone(s.files)
	if files == nil {
		files = map[string]string{}
	}
	file, text := s.policy()
	files[file] = text
	for name, text := range files {
		path := filepath.Join(repo, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "COPILOT_MEM_TRUST_ALL=1", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	if s.setup != "" {
		cmd := exec.Command("bash", "-e", "-c", s.setup)
		cmd.Dir, cmd.Env = repo, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("setup: %v\n%s", err, out)
		}
	}
	judge := func(hook string, event map[string]any) guard.Judgement {
		return guard.Judge(guard.Options{
			Event: hook, Input: payload(t, event, repo), Dir: datadir.Dir(filepath.Join(root, "data")),
			Home: home, Copilot: filepath.Join(home, "copilot"), Temp: root, Env: env,
			Getenv: func(key string) string {
				for _, e := range env {
					if v, ok := strings.CutPrefix(e, key+"="); ok {
						return v
					}
				}
				return ""
			},
		})
	}
	for _, e := range s.before {
		judge("postToolUse", e)
	}
	if s.hook == "" {
		s.hook = "preToolUse"
	}
	j := judge(s.hook, s.event)
	if j.Decision != s.want {
		t.Errorf("got %s, want %s: %s\n%s", j.Decision, s.want, j.Output, text)
	}
	if (len(j.Output) == 0) != (s.want == "none") {
		t.Errorf("printed %q", j.Output)
	}
	if !strings.Contains(string(j.Output), s.has) {
		t.Errorf("%s lacks %q", j.Output, s.has)
	}
	if s.lacks != "" && strings.Contains(string(j.Output), s.lacks) {
		t.Errorf("%s must not hold %q", j.Output, s.lacks)
	}
}

func payload(t *testing.T, event map[string]any, repo string) []byte {
	t.Helper()
	whole := map[string]any{"sessionId": session, "timestamp": 1795253522072, "cwd": "$REPO"}
	maps.Copy(whole, event)
	b, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	path, err := json.Marshal(repo)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.ReplaceAll(string(b), "$REPO", strings.Trim(string(path), `"`)))
}

func call(tool string, args any) map[string]any {
	return map[string]any{"toolName": tool, "toolArgs": args}
}

func shell(command string) map[string]any {
	return call("bash", map[string]any{"command": command, "description": "d"})
}

func create(path string) map[string]any {
	return call("create", map[string]any{"path": path, "file_text": "hello\n"})
}

// after is an event of the same call when it has run.
func after(event map[string]any, result string) map[string]any {
	event["toolResult"] = map[string]any{"resultType": "success", "textResultForLlm": result}
	return event
}

func prompt(text string) map[string]any { return map[string]any{"prompt": text} }

func say(t *testing.T, all []saying) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: set-ups and steps are bash scripts, and paths are absolute with a slash")
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

func TestHooksTrigger(t *testing.T) {
	say(t, []saying{
		{name: "null is before a call", on: "hooks:", event: shell("ls"), want: "deny"},
		{name: "and after it", on: "hooks:", event: after(shell("ls"), "x"), hook: "postToolUse", want: "context"},
		{name: "nothing else", on: "hooks:", event: prompt("x"), hook: "userPromptSubmitted", want: "none"},
		{name: "types", on: "hooks: {types: [preToolUse]}", event: after(shell("ls"), "x"), hook: "postToolUse", want: "none"},
		{name: "either dialect", on: "hooks: {types: [PreToolUse]}", event: shell("ls"), want: "deny"},
		{name: "UserPromptSubmit", on: "hooks: {types: [UserPromptSubmit]}", event: prompt("x"), hook: "userPromptSubmitted", want: "deny"},
		{
			name: "Stop", on: "hooks: {types: [agentStop]}", hook: "Stop", want: "deny",
			event: map[string]any{"hook_event_name": "Stop", "stop_hook_active": false},
		},
		{name: "unknown type", on: "hooks: {types: [preTool]}", event: shell("ls"), want: "deny", has: "guard.yml"},
		{name: "tools", on: "hooks: {types: [preToolUse], tools: [edit]}", event: shell("ls"), want: "none"},
		{name: "tools hold with the types", on: "hooks: {types: [postToolUse], tools: [bash]}", event: shell("ls"), want: "none"},
		{name: "tools by the other name", on: "hooks: {tools: [Bash]}", event: shell("ls"), want: "deny"},
		{
			name: "failed tools", on: "hooks: {types: [postToolUseFailure]}", steps: "- context: noted", hook: "postToolUseFailure", want: "context", has: "noted",
			event: map[string]any{"toolName": "bash", "toolArgs": map[string]any{"command": "x"}, "error": "boom"},
		},
	})
}

func TestToolTrigger(t *testing.T) {
	say(t, []saying{
		{name: "before", on: "tool: {name: bash}", event: shell("ls"), want: "deny"},
		{name: "after too", on: "tool: {name: bash}", event: after(shell("ls"), "x"), hook: "postToolUse", want: "context"},
		{name: "lifecycle", on: "tool: {name: bash, lifecycle: pre}", event: after(shell("ls"), "x"), hook: "postToolUse", want: "none"},
		{name: "lifecycle post", on: "tool: {name: bash, lifecycle: post}", event: shell("ls"), want: "none"},
		{name: "no folding of case", on: "tool: {name: BASH}", event: shell("ls"), want: "none"},
		{name: "whole name", on: "tool: {name: bas}", event: shell("ls"), want: "none"},
		{name: "glob", on: `tool: {name: "git*-?x"}`, event: call("github-ax", map[string]any{}), want: "deny"},
		{name: "no name", on: "tool: {args: {a: b}}", event: call("x", map[string]any{"a": "b"}), want: "deny", has: "guard.yml"},
		{name: "one of several", on: "tools:\n  - name: foo\n  - {name: bash, args: {command: ls*}}", event: shell("ls -l"), want: "deny"},
		{name: "none of several", on: "tools:\n  - name: foo\n  - {name: bash, args: {command: cat*}}", event: shell("ls -l"), want: "none"},
		{name: "if", on: "tool:\n  name: bash\n  if: event.tool.args.command == 'x'", event: shell("ls"), want: "none"},
		{name: "if in braces", on: "tool:\n  name: bash\n  if: ${{ event.tool.args.command == 'LS' }}", event: shell("ls"), want: "deny"},
		{name: "if as a boolean", on: "tool: {name: bash, if: false}", event: shell("ls"), want: "none"},
		{
			name: "if that cannot be judged", on: "tool:\n  name: bash\n  if: fromJSON(event.tool.args.command)",
			event: shell("{"), want: "deny",
		},
		{name: "one of two kinds", on: "tool: {name: foo}\nfile: {paths: [a]}", event: create("a"), want: "deny"},
		{name: "neither kind", on: "tool: {name: foo}\nfile: {paths: [zzz]}", event: create("a"), want: "none"},
		{name: "a patch is an edit", on: "tool: {name: edit, args: {path: src/**}}", event: call("apply_patch", patch), want: "deny"},
		{
			name: "a patch is a create", on: "tool: {name: create, args: {path: b.txt, file_text: hi*}}",
			event: call("apply_patch", patch), want: "deny",
		},
		{name: "a patch is no other edit", on: "tool: {name: edit, args: {path: b.txt}}", event: call("apply_patch", patch), want: "none"},
	})
}

const patch = "*** Begin Patch\n*** Update File: src/a.go\n@@\n-old line\n+new line\n*** Add File: b.txt\n+hi\n*** Delete File: c.txt\n" +
	"*** Update File: d.txt\n*** Move to: e.txt\n@@\n-x\n+y\n*** End Patch\n"

func TestArgs(t *testing.T) {
	for _, tt := range []struct {
		glob  string
		value any
		want  string
	}{
		{"3", 3, "deny"}, {"3", 30, "none"}, {"true", true, "deny"}, {"true", "true", "deny"}, {"1.5", 1.5, "deny"}, {"null", nil, "deny"},
		{"*", "", "deny"},
		{`\["a","b"\]`, []string{"a", "b"}, "deny"}, {`*"k":1*`, map[string]any{"k": 1}, "deny"},
		{"a*", "a/b/c", "deny"}, {"**/x", "x", "deny"}, {"src/**/x", "src/x", "deny"}, {"x", "axa", "none"},
		{"rm -rf *", "rm -rf a\nb", "deny"}, {"A", "a", "none"},
	} {
		say(t, []saying{{
			name: tt.glob, on: "tool:\n  name: probe\n  args: {v: '" + tt.glob + "'}", event: call("probe", map[string]any{"v": tt.value, "w": "other"}), want: tt.want,
		}})
	}
	say(t, []saying{
		{name: "absent", on: `tool: {name: probe, args: {v: "*"}}`, event: call("probe", map[string]any{}), want: "none"},
		{
			name: "all of them", on: `tool: {name: probe, args: {v: "*", w: x}}`,
			event: call("probe", map[string]any{"v": "1", "w": "y"}), want: "none",
		},
		{
			name: "malformed", on: `tool: {name: probe, args: {v: "["}}`,
			event: call("probe", map[string]any{"v": "1"}), want: "deny", has: "guard.yml",
		},
		{name: "path as sent", on: `tool: {name: create, args: {path: "*/./a"}}`, event: create("$REPO/src/./a"), want: "deny"},
		{name: "path from the root", on: "tool: {name: create, args: {path: src/a}}", event: create("$REPO/lib/../src/./a"), want: "deny"},
		{
			name: "path behind a link", on: "tool: {name: create, args: {path: real/**}}",
			event: create("$REPO/link/a"), setup: "mkdir real; ln -s real link", want: "deny",
		},
	})
}

func TestFileTrigger(t *testing.T) {
	link := "mkdir real; ln -s real free"
	a := map[string]string{"a": "x", "a.md": "x"}
	say(t, []saying{
		{name: "null", on: "file:", event: create("a"), want: "deny"},
		{name: "reads must be asked for", on: "file:", event: call("view", map[string]any{"path": "$REPO/a"}), want: "none"},
		{name: "read", on: "file: {types: [read]}", event: call("view", map[string]any{"path": "$REPO/a"}), want: "deny"},
		{name: "types", on: "file: {types: [edit]}", event: create("a"), want: "none"},
		{name: "unknown type", on: "file: {types: [modify]}", event: create("a"), want: "deny", has: "guard.yml"},
		{name: "rm deletes", on: `file: {types: [delete], paths: ["*.md"]}`, event: shell("rm a.md"), files: a, want: "deny"},
		{name: "mv renames", on: "file: {types: [rename], paths: [b]}", event: shell("mv a b"), files: a, want: "deny"},
		{name: "a rename deletes its source", on: "file: {types: [delete], paths: [a]}", event: shell("mv a b"), files: a, want: "deny"},
		{name: "a rename creates its destination", on: "file: {types: [create], paths: [b]}", event: shell("mv a b"), files: a, want: "deny"},
		{
			name: "a rename creates nothing at its source", on: "file: {types: [create], paths: [a]}",
			event: shell("mv a b"), files: a, want: "none",
		},
		{name: "after", on: "file: {lifecycle: post}", event: after(create("a"), "ok"), hook: "postToolUse", want: "context"},
		{name: "not before", on: "file: {lifecycle: post}", event: create("a"), want: "none"},
		{name: "if", on: "file: {paths: ['**'], if: \"contains(event.file.content, 'HELLO')\"}", event: create("a"), want: "deny"},
		{name: "if on each file", on: "file: {paths: ['**'], if: event.file.path == 'b'}", event: shell("touch a b"), want: "deny"},
		{
			name: "the first match is event.file", on: `file: {paths: ["b*"]}`, steps: "- deny: ${{ event.file.path }} ${{ event.file.action }}",
			event: shell("touch a b1 b2"), want: "deny", has: "b1 create",
		},
		{
			name: "the last entry wins", on: `file: {paths: ["src/**", "!src/gen/**", "src/gen/keep"]}`,
			event: create("src/gen/keep"), want: "deny",
		},
		{name: "negated", on: `file: {paths: ["src/**", "!src/gen/**"]}`, event: create("src/gen/x"), want: "none"},
		{name: "order", on: `file: {paths: ["!src/gen/**", "src/**"]}`, event: create("src/gen/x"), want: "deny"},
		{name: "only negations", on: `file: {paths: ["!docs/**"]}`, event: create("a"), want: "none"},
		{name: "ignored", on: `file: {paths: ["src/**"], paths-ignore: ["src/gen/**"]}`, event: create("src/gen/x"), want: "none"},
		{name: "only an ignore list", on: `file: {paths-ignore: ["docs/**"]}`, event: create("a"), want: "deny"},
		{
			name: "an ignore list of negations ignores nothing", on: `file: {paths-ignore: ["!docs/**"]}`,
			event: create("docs/a"), want: "deny",
		},
		{name: "a link does not get ignored", on: `file: {paths-ignore: ["free/**"]}`, event: create("free/a"), setup: link, want: "deny"},
		{name: "a link does not get excepted", on: `file: {paths: ["**", "!free/**"]}`, event: create("free/a"), setup: link, want: "deny"},
		{name: "a link gets guarded", on: `file: {paths: ["free/**"]}`, event: create("free/a"), setup: link, want: "deny"},
		{name: "absolute", on: `file: {paths: ["/nonexistent/**"]}`, event: create("/nonexistent/x/y"), want: "deny"},
		{name: "absolute is not relative", on: `file: {paths: ["/nonexistent/**"]}`, event: create("nonexistent/x"), want: "none"},
		{name: "home", on: `file: {paths: ["~/.config/**"]}`, event: create("~/.config/x"), want: "deny"},
		{name: "relative reaches out", on: `file: {paths: ["**/x"]}`, event: create("/nonexistent/x"), want: "deny"},
		{name: "ignored from the root only", on: `file: {paths-ignore: ["nonexistent/**"]}`, event: create("/nonexistent/x"), want: "deny"},
		{name: "malformed", on: `file: {paths: ["src/["]}`, event: create("lib/a"), want: "deny", has: "guard.yml"},
		{name: "malformed, another kind of call", on: `file: {paths: ["src/["]}`, event: shell("ls"), want: "none"},
		{name: "patch delete", on: "file: {types: [delete], paths: [c.txt]}", event: call("apply_patch", patch), want: "deny"},
		{name: "patch rename", on: "file: {types: [rename], paths: [e.txt]}", event: call("apply_patch", patch), want: "deny"},
		{
			name: "patch content", on: "file: {if: \"contains(event.file.content, 'new line')\"}",
			event: call("apply_patch", patch), want: "deny",
		},
	})
}

func TestGitTriggers(t *testing.T) {
	repo := "git init -q -b main .; git commit -q --allow-empty -m init; "
	tagged := repo + "git tag v1"
	both := repo + "mkdir src docs; touch src/a docs/b; git add src docs"
	docs := repo + "mkdir docs; touch docs/b; git add docs"
	commit := shell("git commit --allow-empty -m x")
	say(t, []saying{
		{name: "commit", on: "commit:", event: commit, setup: repo, want: "deny"},
		{name: "any path", on: "commit: {paths: [src/**]}", event: commit, setup: both, want: "deny"},
		{name: "no path", on: "commit: {paths: [lib/**]}", event: commit, setup: both, want: "none"},
		{name: "all ignored", on: "commit: {paths-ignore: [docs/**]}", event: commit, setup: docs, want: "none"},
		{name: "some ignored", on: "commit: {paths-ignore: [docs/**]}", event: commit, setup: both, want: "deny"},
		{name: "no files to ignore", on: "commit: {paths-ignore: [docs/**]}", event: commit, setup: repo, want: "deny"},
		{name: "branch", on: "commit: {branches: [main]}", event: commit, setup: repo, want: "deny"},
		{name: "other branch", on: "commit: {branches: [dev]}", event: commit, setup: repo, want: "none"},
		{
			name: "branch glob", on: "commit: {branches: [release/**]}",
			event: commit, setup: repo + "git checkout -q -b release/1/2", want: "deny",
		},
		{name: "branch negated", on: `commit: {branches: ["**", "!main"]}`, event: commit, setup: repo, want: "none"},
		{name: "branch ignored", on: "commit: {branches-ignore: [main]}", event: commit, setup: repo, want: "none"},
		{
			name: "branch of the same command", on: "commit: {branches: [dev]}",
			event: shell("git checkout -b dev && git commit -m x"), setup: repo, want: "deny",
		},
		{
			name: "after", on: "commit: {lifecycle: post}",
			event: after(shell("git commit -m x"), "ok"), hook: "postToolUse", setup: repo, want: "context",
		},
		{
			name: "message", on: "commit:", steps: "- deny: says ${{ event.commit.message }} on ${{ event.commit.branch }}",
			event: shell(`git commit -m "it's"`), setup: repo, want: "deny", has: "says it's on main",
		},
		{name: "push", on: "push: {branches: [main]}", event: shell("git push origin main"), setup: repo, want: "deny"},
		{name: "push elsewhere", on: "push: {branches: [main]}", event: shell("git push origin HEAD:dev"), setup: repo, want: "none"},
		{name: "branches are not tags", on: `push: {branches: ["**"]}`, event: shell("git push origin v1"), setup: tagged, want: "none"},
		{name: "tags", on: `push: {tags: ["v*"]}`, event: shell("git push origin v1"), setup: tagged, want: "deny"},
		{name: "tags are not branches", on: `push: {tags: ["**"]}`, event: shell("git push origin main"), setup: repo, want: "none"},
		{name: "both: tag", on: `push: {branches: [main], tags: ["v*"]}`, event: shell("git push origin v1"), setup: tagged, want: "deny"},
		{name: "both: branch", on: `push: {branches: [main], tags: ["v*"]}`, event: shell("git push origin main"), setup: repo, want: "deny"},
		{
			name: "both: neither", on: `push: {branches: [main], tags: ["v*"]}`,
			event: shell("git push origin HEAD:dev"), setup: repo, want: "none",
		},
		{name: "branches ignored", on: "push: {branches-ignore: [main]}", event: shell("git push origin main"), setup: repo, want: "none"},
		{name: "range unknown", on: "push: {paths: [lib/**]}", event: shell("git push origin main"), setup: repo, want: "deny"},
	})
}

func TestMarkdownRules(t *testing.T) {
	bash := "event: bash\naction: block\n"
	where := func(field, operator, pattern string) string {
		return "event: all\naction: block\nconditions: [{field: " + field + ", operator: " + operator + ", pattern: '" + pattern + "'}]"
	}
	edit := call("edit", map[string]any{"path": "$REPO/f", "old_str": "a", "new_str": "b"})
	all := []saying{
		{name: "regex", rule: bash + `pattern: 'RM\s+-rf'`, event: shell("rm -rf build"), want: "deny", has: "second paragraph"},
		{name: "single line", rule: bash + "pattern: a.b", event: shell("a\nb"), want: "none"},
		{name: "several lines", rule: bash + "pattern: '(?s)a.b'", event: shell("a\nb"), want: "deny"},
		{name: "bash is not file", rule: bash + "pattern: x", event: create("x"), want: "none"},
		{name: "no pattern", rule: bash, event: shell("anything"), want: "deny"},
		{name: "warn by default", rule: "event: bash\npattern: x", event: shell("x"), want: "context", has: "second paragraph"},
		{name: "ask", rule: "event: bash\naction: ask", event: shell("x"), want: "ask"},
		{name: "inject", rule: "event: bash\naction: inject", event: shell("x"), want: "context"},
		{name: "allow", rule: "event: bash\naction: allow", event: shell("x"), want: "none"},
		{name: "disabled", rule: bash + "enabled: false", event: shell("x"), want: "none"},
		{name: "before by default", rule: bash, event: after(shell("x"), "y"), hook: "postToolUse", want: "none"},
		{name: "after", rule: bash + "lifecycle: post", event: after(shell("x"), "y"), hook: "postToolUse", want: "context"},
		{name: "if", rule: bash + "if: event.tool.args.description == 'e'", event: shell("x"), want: "none"},
		{name: "unknown key", rule: bash + "foo: 1", event: shell("x"), want: "deny", has: "rule.md"},
		{name: "unknown action", rule: "event: bash\naction: stop", event: shell("x"), want: "deny", has: "rule.md"},
		{name: "unknown operator", rule: where("command", "like", "x"), event: shell("x"), want: "deny", has: "rule.md"},
		{name: "unknown field", rule: where("nope", "contains", "x"), event: shell("x"), want: "deny", has: "rule.md"},
		{name: "file", rule: "event: file\naction: block\npattern: ^src/a", event: create("src/a.go"), want: "deny"},
		{name: "file by shell", rule: "event: file\naction: block\npattern: ^src/a", event: shell("echo x > src/a"), want: "deny"},
		{name: "file by patch", rule: "event: file\naction: block\npattern: ^src/a", event: call("apply_patch", patch), want: "deny"},
		{
			name: "content in key order", rule: "event: all\naction: block\npattern: '(?s)^one\\ntwo$'",
			event: call("probe", map[string]any{"b": "two", "a": "one", "n": 3}), want: "deny",
		},
		{
			name: "prompt", rule: "event: prompt\naction: block\npattern: deploy",
			event: prompt("Deploy it"), hook: "userPromptSubmitted", want: "deny",
		},
		{name: "stop", rule: "event: stop\naction: block", event: map[string]any{"stop_hook_active": false}, hook: "agentStop", want: "deny"},
		{
			name: "stop once", rule: "event: stop\naction: block",
			event: map[string]any{"stop_hook_active": true}, hook: "agentStop", want: "none",
		},
		{
			name: "event by name", rule: "event: sessionStart\naction: inject",
			event: map[string]any{"source": "new"}, hook: "sessionStart", want: "context",
		},
		{name: "tool matcher", rule: "event: all\naction: block\ntool_matcher: view", event: shell("x"), want: "none"},
		{
			name: "one file satisfies all conditions", want: "none", event: call("apply_patch", "*** Begin Patch\n*** Add File: a\n+1\n*** Add File: b\n+2\n*** End Patch\n"),
			rule: "event: file\naction: block\nconditions: [{field: file_path, operator: equals, pattern: a}, {field: new_text, operator: contains, pattern: '2'}]",
		},
		{
			name: "earlier calls", rule: where("transcript", "contains", "make test"), event: shell("x"), want: "deny",
			before: []map[string]any{after(shell("make test"), "ok")},
		},
		{name: "not the call itself", rule: where("transcript", "contains", "make test"), event: shell("make test"), want: "none"},
		{
			name: "result", rule: "lifecycle: post\n" + where("tool_result", "contains", "oops"),
			event: after(shell("x"), "an OOPS"), hook: "postToolUse", want: "context",
		},
	}
	for _, tt := range []struct {
		field, operator, pattern, want string
		event                          map[string]any
	}{
		{"command", "contains", "PUSH", "deny", shell("git push")}, {"command", "not_contains", "PUSH", "none", shell("git push")},
		{"command", "starts_with", "GIT", "deny", shell("git push")}, {"command", "ends_with", "PUSH", "deny", shell("git push")},
		{"command", "equals", "git push", "deny", shell("git push")}, {"command", "equals", "Git push", "none", shell("git push")},
		{"command", "regex_match", "^g.t", "deny", shell("GIT push")}, {"new_text", "equals", "b", "deny", edit},
		{"old_text", "equals", "a", "deny", edit},
		{"tool_name", "equals", "bash", "deny", shell("x")}, {"tool_args", "contains", `"command":"a && b"`, "deny", shell("a && b")},
		{"session_id", "equals", session, "deny", shell("x")}, {"hook_event", "equals", "preToolUse", "deny", shell("x")},
		{"agent_name", "equals", "", "deny", shell("x")},
	} {
		all = append(all, saying{name: tt.field + " " + tt.operator, rule: where(tt.field, tt.operator, tt.pattern), event: tt.event, want: tt.want})
	}
	say(t, all)
}

func TestExpressionsOfPolicies(t *testing.T) {
	args := map[string]any{"s": "abc", "n": 3, "list": []string{"a", "B"}, "obj": map[string]any{"K": 1}, "bad": "{", "files": []map[string]any{{"name": "a.go"},
		{"name": "b.md"}}}
	probe := call("probe", args)
	on := "tool: {name: probe}"
	var all []saying
	for _, condition := range []string{
		"event.name == 'preToolUse'", "event.lifecycle == 'pre'", "event.cwd == event.root", "event.hook.type == 'preToolUse'", "event.hook.tool.name == 'probe'",
		"event.tool.hook_type == 'preToolUse'", "startsWith(event.timestamp, '2026-')", "event.session_id == '" + session + "'",
		"event.file == null", "event.commit == null", "event.shell == null",
		"event.TOOL.Args.S == 'ABC'", "contains(event.tool.args.files.*.name, 'B.MD')", "join(event.tool.args.list) == 'a,B'", "toJSON(event.tool.args.obj) == '{\"K\":1}'",
		"policy.name == 'guard'", "endsWith(policy.file, 'guard.yml')", "policy.source == 'repo'", "transcript_count('x') == 0", "length(transcript()) == 0",
		"hashFiles('nope/**') == ''", "hashFiles('.github/**') != ''", "steps.nope.outcome == null", "!env.HOME && !env.PATH", "inputs.x == null", "${{ event.tool.args.n == '3' }}",
	} {
		all = append(all, saying{name: condition, on: on, steps: "- if: " + quoted(condition) + "\n  deny: it holds", event: probe, want: "deny", has: "it holds"})
	}
	for _, condition := range []string{
		"foo", "'a", `"a"`, "1 2", "a = b", "contains('a')", "nope()", "github.actor", "${{ true }} ${{ true }}", "x ${{ true }}", "event..x", "1 + 1", "always(1)", "${{ true", "matches('a', '(')",
	} {
		all = append(all, saying{name: condition, on: on, steps: "- if: " + quoted(condition) + "\n  warn: never", event: probe, want: "deny", has: "guard.yml", lacks: "never"})
	}
	failing := "- if: fromJSON(event.tool.args.bad)\n  warn: never"
	say(t, append(all, []saying{
		{name: "not judged", on: on, steps: failing, event: probe, want: "deny", lacks: "never"},
		{name: "not judged: ask", on: on, head: "on-error: ask\n", steps: failing, event: probe, want: "ask"},
		{name: "not judged: allow", on: on, head: "on-error: allow\n", steps: failing, event: probe, want: "none"},
		{name: "not judged, not blocking", on: on, head: "blocking: false\n", steps: failing, event: probe, want: "context"},
		{
			name: "a literal that fails is not judged either", on: on, head: "on-error: ask\n", steps: "- if: fromJSON('{')\n  warn: never",
			event: probe, want: "ask",
		},
		{name: "workflow if", on: on, head: "if: event.tool.name == 'other'\n", event: probe, want: "none"},
		{name: "lines", on: on, steps: "- if: |\n    event.tool.name == 'probe'\n    &&\n    true\n  deny: yes", event: probe, want: "deny"},
		{
			name: "text", on: on, steps: "- deny: 'a ${{ null }}b ${{ event.tool.args.list }} ${{ event.tool.args.obj }} ${{ event.tool.args.n }} ${{ ''}}'' }}'",
			event: probe, want: "deny", has: "a b Array Object 3 }}",
		},
		{
			name: "env", on: on, head: "env:\n  A: ${{ event.tool.name }}\n  B: ${{ env.A }}!\n", steps: "- if: env.B == 'probe!'\n  deny: yes",
			event: probe, want: "deny",
		},
		{name: "continue on error", on: on, event: probe, want: "deny", has: "seen",
			steps: "- {id: a, run: exit 1, shell: bash, continue-on-error: true}\n- if: steps.a.outcome == 'failure' && steps.a.conclusion == 'success'\n  deny: seen"},
		{
			name: "skipped", on: on,
			event: probe, want: "deny", has: "seen", steps: "- {id: a, if: false, run: exit 1, shell: bash}\n- if: steps.a.conclusion == 'skipped'\n  deny: seen",
		},
		{
			name: "after a failure", on: on,
			event: probe, want: "deny", has: "after failure", lacks: "never", steps: "- {run: exit 1, shell: bash}\n- {if: failure(), warn: after failure}\n- warn: never",
		},
		{name: "always", on: on, event: probe, want: "deny", has: "seen", steps: "- deny: first\n- {if: always(), warn: seen}"},
		{name: "outputs by name", on: on, event: probe, want: "deny", has: "got it",
			steps: "- {name: My Step, run: 'echo v=7 >> \"$COPILOT_MEM_OUTPUT\"', shell: bash}\n- if: steps['My Step'].outputs.v == 7\n  deny: got it"},
		{name: "commands", on: "tool: {name: bash}", event: shell("rm -r x && ls"), want: "deny",
			steps: "- if: contains(event.shell.commands.*.name, 'rm') && !event.shell.opaque && event.shell.commands[0].args[0] == '-r'\n  deny: yes"},
		{
			name: "the session so far", on: "tool: {name: bash}",
			event: shell("x"), want: "deny", before: []map[string]any{after(shell("make test"), "ok"), after(shell("ls"), "ok")},
			steps: "- if: transcript_count('make test') == 1 && contains(transcript_since('make test'), 'ls') && contains(transcript_last('.'), 'ls')\n  deny: yes"},
		{name: "result", on: "tool: {name: probe, lifecycle: post}", event: after(call("probe", args), "x y"), hook: "postToolUse", want: "context",
			steps: "- if: event.tool.result.type == 'success' && event.tool.result.text == 'x y'\n  context: yes"},
	}...))
}

// quoted writes a condition as a YAML text.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
