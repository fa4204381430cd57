package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

func TestContext(t *testing.T) {
	root := tree(t, "f")
	e := event(t, root, "bash", map[string]string{"command": "echo a > f && git push --force origin main && git commit -m 'x y'"})
	e.AgentID, e.AgentType = "a1", "helper"
	env := &expr.Env{Contexts: map[string]expr.Value{"event": New(Input{Event: e}).Context()}}
	for src, want := range map[string]any{
		"event.name": "preToolUse", "event.lifecycle": "pre", "event.cwd": root, "event.root": root, "event.session_id": "s1", "event.timestamp": "2026-11-21T09:32:02.072Z",
		"event.tool.name": "bash", "event.tool.hook_type": "preToolUse", "event.hook.type": "preToolUse", "event.hook.tool.name": "bash", "event.hook.cwd": root,
		"startsWith(event.tool.args.command, 'echo')": true,
		"event.file.path": "f", "event.file.action": "edit", "event.file.content": "a\n", "length(event.files)": 1.0,
		"event.push.ref": "refs/heads/main", "event.push.force": true, "event.push.remote": "origin", "event.push.files_known": false,
		"event.commit.message": "x y", "event.commit.amend": false,
		"event.shell.opaque": false, "event.shell.commands[1].name": "git", "event.shell.commands[1].args[0]": "push",
		"event.agent.id": "a1", "event.agent.type": "helper", "event.error": nil, "event.nothing": nil,
	} {
		x, err := expr.Parse(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		got, err := x.Eval(env)
		if err != nil {
			t.Errorf("%s: %v", src, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", src, diff)
		}
	}
}

func TestTool(t *testing.T) {
	for _, tt := range []struct {
		sent string
		args any
		want string
	}{
		{"Bash", map[string]string{"command": "ls"}, "bash"}, {"Read", map[string]string{"path": "a"}, "view"}, {"Write", map[string]string{"path": "a"}, "create"},
		{"Edit", map[string]string{"path": "a"}, "edit"}, {"MultiEdit", map[string]string{"path": "a"}, "edit"}, {"Agent", map[string]string{}, "task"}, {"Task", map[string]string{}, "task"},
		{"Grep", map[string]string{}, "grep"}, {"Glob", map[string]string{}, "glob"}, {"BASH", map[string]string{}, "BASH"}, {"custom", map[string]string{}, "custom"},
		{"Edit", "*** Begin Patch\n*** End Patch", "apply_patch"}, {"Edit", "--- a/x\n+++ b/x\n", "apply_patch"}, {"Edit", map[string]string{"input": "*** Begin Patch\n*** End Patch"}, "apply_patch"},
		{"Edit", `{"path":"a","old_str":"b"}`, "edit"},
	} {
		if got := New(Input{Event: event(t, "/", tt.sent, tt.args)}).Tool(); got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.sent, tt.args, got, tt.want)
		}
	}
	for _, tt := range []struct {
		args any
		want map[string]any
	}{
		{map[string]any{"a": 1}, map[string]any{"a": 1.0}}, {`{"a": "b"}`, map[string]any{"a": "b"}}, {"plain", map[string]any{"input": "plain"}},
		{nil, map[string]any{}}, {[]string{"a"}, map[string]any{"input": `["a"]`}},
	} {
		if diff := cmp.Diff(tt.want, New(Input{Event: event(t, "/", "x", tt.args)}).Args()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.args, diff)
		}
	}
}
