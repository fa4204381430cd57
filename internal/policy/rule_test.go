package policy

import (
	"slices"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

func TestRules(t *testing.T) {
	const cfg = "*** Begin Patch\n*** Update File: conf/app.cfg\n@@\n-debug=false\n+debug=true\n*** End Patch\n"
	tests := []struct {
		name, front string
		calls       []call
	}{
		{"bash", "event: bash\npattern: 'rm\\s+-rf'\n", []call{bash("RM -rf x", true), bash("ls", false), create("rm -rf", false), post(bash("rm -rf x", false))}},
		{"bash after", "event: bash\nlifecycle: post\n", []call{bash("ls", false), post(bash("ls", true))}},
		{"a dot stops at the line", "event: bash\npattern: 'a.b'\n", []call{bash("a\nb", false), bash("axb", true)}},
		{"unless it may not", "event: bash\npattern: '(?s)a.b'\n", []call{bash("a\nb", true)}},
		{"file", "event: file\npattern: '^conf/'\n", []call{edit("x/../conf/a", true), create("conf/a", true), look("conf/a", false), edit("xconf/a", false), bash("echo x > conf/a", true), bash("cat conf/a", false), patch(cfg, true)}},
		{"all", "event: all\npattern: secret\n", []call{bash("echo SECRET", true), look("secret", true), {"preToolUse", "x", `{"b":"q","a":{"c":"secret"}}`, false}, {"postToolUse", "x", `{"b":"secret"}`, false}}},
		{"all without a pattern", "event: all\n", []call{bash("ls", true), look("a", true)}},
		{"an event", "event: PostToolUse\npattern: x\n", []call{bash("x", false), post(bash("x", true)), post(bash("y", false))}},
		{"tool_matcher", "event: all\ntool_matcher: '^(create|Bash)$'\n", []call{create("a", true), edit("a", false), bash("ls", true), {"preToolUse", "BASH", `{}`, true}}},
		{"tool_matcher and a patch", "event: file\ntool_matcher: '^edit$'\n", []call{patch(cfg, true), patch("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n", false)}},
		{"and", "event: file\nconditions:\n  - {field: file_path, operator: regex_match, pattern: '\\.cfg$'}\n  - {field: new_text, operator: contains, pattern: DEBUG=TRUE}\n",
			[]call{patch(cfg, true), edit("a.cfg", false)}},
		{"one file satisfies all", "event: file\nconditions:\n  - {field: file_path, operator: ends_with, pattern: .cfg}\n  - {field: new_text, operator: contains, pattern: debug}\n", []call{
			patch("*** Begin Patch\n*** Add File: a.cfg\n+x\n*** Add File: b.go\n+debug\n*** End Patch\n", false),
			patch("*** Begin Patch\n*** Add File: a.go\n+x\n*** Add File: b.cfg\n+debug\n*** End Patch\n", true)}},
		{"old_text", "event: file\nconditions: [{field: old_text, operator: equals, pattern: a}]\n", []call{edit("x", true), create("x", false)}},
		{"equals minds case", "event: bash\nconditions: [{field: command, operator: equals, pattern: ls}]\n", []call{bash("ls", true), bash("LS", false), bash("ls ", false)}},
		{"equals nothing", "event: all\nconditions: [{field: command, operator: equals, pattern: ''}]\n", []call{create("a", true), bash("ls", false)}},
		{"starts and ends", "event: bash\nconditions: [{field: command, operator: starts_with, pattern: GIT}, {field: command, operator: ends_with, pattern: Main}]\n", []call{bash("git push origin main", true), bash("a git main", false)}},
		{"not_contains", "event: bash\nconditions: [{field: command, operator: not_contains, pattern: TEST}]\n", []call{bash("go build", true), bash("go test", false)}},
		{"content in the order of keys", "event: all\nconditions: [{field: content, operator: equals, pattern: \"1\\n2\"}]\n", []call{{"preToolUse", "x", `{"b":"2","n":3,"a":"1"}`, true}, {"preToolUse", "x", `{"a":"2","b":"1"}`, false}}},
		{"tool_args", "event: all\nconditions: [{field: tool_args, operator: contains, pattern: '\"n\":3'}]\n", []call{{"preToolUse", "x", `{"n": 3}`, true}}},
		{"tool_name", "event: all\nconditions: [{field: tool_name, operator: equals, pattern: view}]\n", []call{{"preToolUse", "Read", `{"path":"a"}`, true}}},
		{"hook_event and session_id", "event: all\nconditions: [{field: hook_event, operator: equals, pattern: preToolUse}, {field: session_id, operator: equals, pattern: s}]\n", []call{bash("ls", true)}},
		{"file_path of a tool without file events", "event: all\nconditions: [{field: file_path, operator: equals, pattern: a/b}]\n", []call{{"preToolUse", "x", `{"path":"a/./b"}`, true}}},
		{"if", "event: bash\nif: event.shell.commands[0].name == 'ls'\n", []call{bash("/bin/ls -l", true), bash("cat x", false)}},
		{"if of one file", "event: file\nif: ext(event.file.path) == '.go'\n", []call{bash("touch a b.go", true), bash("touch a b", false)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t, map[string]string{".github/hookflows/r.md": "---\nname: r\n" + tt.front + "---\nNo.\n"})
			if found := Load(r.l).Check(); len(found) > 0 {
				t.Errorf("findings: %v", found)
			}
			for _, c := range tt.calls {
				if got := r.matched(r.tool(c.event, c.tool, c.args)); slices.Contains(got, "r") != c.want || slices.Contains(got, "!r") {
					t.Errorf("%s %s %s: matched %v, want %v", c.event, c.tool, c.args, got, c.want)
				}
			}
		})
	}
}

func TestRulesOfOtherEvents(t *testing.T) {
	tests := []struct {
		front, event, payload string
		want                  bool
	}{
		{"event: prompt\npattern: Deploy\n", "UserPromptSubmit", `"prompt":"deploy now"`, true},
		{"event: prompt\npattern: deploy\n", "userPromptSubmitted", `"prompt":"test"`, false},
		{"event: stop\n", "agentStop", `"stopReason":"x"`, true},
		{"event: stop\n", "subagentStop", `"stopReason":"x"`, false},
		{"event: Stop\nlifecycle: post\n", "agentStop", `"stopReason":"x"`, true},
		{"event: subagentStop\nconditions: [{field: message, operator: contains, pattern: done}, {field: agent_name, operator: equals, pattern: a}]\n", "subagentStop", `"response":"all done","agentName":"a"`, true},
		{"event: notification\npattern: shell\n", "notification", `"message":"a shell ended"`, true},
		{"event: errorOccurred\npattern: rate\n", "errorOccurred", `"error":{"message":"rate limit"}`, true},
		{"event: all\n", "userPromptSubmitted", `"prompt":"x"`, false},
	}
	for _, tt := range tests {
		r := newRepo(t, map[string]string{".github/hookflows/r.md": "---\nname: r\n" + tt.front + "---\n"})
		if got := r.matched(r.event(tt.event, tt.payload)); (len(got) == 1) != tt.want {
			t.Errorf("%s at %s %s: %v, want %v", tt.front, tt.event, tt.payload, got, tt.want)
		}
	}
}

func TestRuleResult(t *testing.T) {
	tests := []struct{ front, event, payload, kind string }{
		{"event: bash\n", "preToolUse", `"toolName":"bash","toolArgs":{}`, "warn"},
		{"event: bash\naction: block\n", "preToolUse", `"toolName":"bash","toolArgs":{}`, "deny"},
		{"event: bash\naction: ask\n", "preToolUse", `"toolName":"bash","toolArgs":{}`, "ask"},
		{"event: bash\naction: inject\n", "preToolUse", `"toolName":"bash","toolArgs":{}`, "context"},
		{"event: bash\naction: allow\n", "preToolUse", `"toolName":"bash","toolArgs":{}`, "allow"},
		{"event: stop\naction: block\n", "agentStop", `"x":1`, "block"},
		{"event: prompt\naction: block\n", "userPromptSubmitted", `"prompt":"x"`, "block"},
	}
	for _, tt := range tests {
		r := newRepo(t, map[string]string{".github/hookflows/r.md": "---\nname: r\n" + tt.front + "---\n\n One.\n\nTwo ${{ event.name }}.\n\n"})
		m := Load(r.l).Match(r.event(tt.event, tt.payload), nil)
		if len(m) != 1 || len(m[0].Policy.Steps) != 1 {
			t.Fatalf("%s: %+v", tt.front, m)
		}
		step := m[0].Policy.Steps[0]
		if string(step.Kind) != tt.kind {
			t.Errorf("%s: %s, want %s", tt.front, step.Kind, tt.kind)
		}
		if step.Text == nil {
			continue
		}
		if text, err := step.Text.Eval(&expr.Env{}); err != nil || text != "One.\n\nTwo ${{ event.name }}." {
			t.Errorf("%s: text %q, %v", tt.front, text, err)
		}
	}
	r := newRepo(t, map[string]string{".github/hookflows/r.md": "---\nname: my rule\nevent: bash\n---\n"})
	m := Load(r.l).Match(r.tool("preToolUse", "bash", `{}`), nil)
	if text, err := m[0].Policy.Steps[0].Text.Eval(&expr.Env{}); err != nil || text != "rule my rule" {
		t.Errorf("empty body: %q, %v", text, err)
	}
}

func TestTranscriptField(t *testing.T) {
	r := newRepo(t, map[string]string{".github/hookflows/r.md": "---\nname: r\nevent: bash\nconditions: [{field: transcript, operator: contains, pattern: go test}]\n---\n"})
	f := r.tool("preToolUse", "bash", `{"command":"git commit"}`)
	if m := Load(r.l).Match(f, nil); len(m) != 0 {
		t.Errorf("without a record: %v", m)
	}
	for _, record := range []expr.Value{"x\ngo test\n", []any{"x", map[string]any{"args": "go test"}}} {
		env := &expr.Env{Transcript: func(string, string) (expr.Value, error) { return record, nil }}
		if m := Load(r.l).Match(f, env); len(m) != 1 {
			t.Errorf("%v: %v", record, m)
		}
	}
}

func TestEveryEventHasAnEffectRow(t *testing.T) {
	for _, name := range eventNames() {
		if canonical, known := hook.CanonicalName(name); canonical != name || !known {
			t.Errorf("%s is no event", name)
		}
	}
	for _, row := range effects {
		if !slices.Contains(eventNames(), row.event) {
			t.Errorf("%s is no event", row.event)
		}
	}
	if EffectsOf(hook.PreToolUse, "0.0.400").Deny || !EffectsOf(hook.PreToolUse, "1.0.102-3").Deny || !EffectsOf(hook.PreToolUse, "").Ask || EffectsOf("x", "") != (Effects{}) {
		t.Error("versions")
	}
}
