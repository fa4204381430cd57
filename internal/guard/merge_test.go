package guard

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy"
)

func rule(name string, v verb, text string) say {
	return say{rule: ruleRef{Name: name}, verb: v, text: text}
}

func set(name string, args ...setArg) say {
	return say{rule: ruleRef{Name: name}, verb: sayModify, args: args}
}

func TestMerge(t *testing.T) {
	input := json.RawMessage(`{"command":"ls","description":"d"}`)
	tests := []struct {
		name, event string
		says        []say
		want        string
	}{
		{"nothing", hook.PreToolUse, nil, ``},
		{"allow is silent", hook.PreToolUse, []say{rule("a", sayAllow, "")}, ``},
		{"deny over ask and modify", hook.PreToolUse, []say{rule("a", sayAsk, "sure?"), set("m", setArg{"command", "x"}), rule("b", sayDeny, "no")},
			`{"permissionDecision":"deny","permissionDecisionReason":"a: sure?\n\nb: no"}`},
		{"ask keeps the change", hook.PreToolUse, []say{rule("a", sayAsk, "sure?"), set("m", setArg{"command", "x"})},
			`{"permissionDecision":"ask","permissionDecisionReason":"a: sure?","modifiedArgs":{"command":"x","description":"d"}}`},
		{"modify", hook.PreToolUse, []say{set("m", setArg{"command", "x<y>"})}, `{"modifiedArgs":{"command":"x<y>","description":"d"}}`},
		{"conflict", hook.PreToolUse, []say{set("m", setArg{"command", "x"}), set("n", setArg{"command", "y"})},
			`{"permissionDecision":"ask","permissionDecisionReason":"m and n want different values for the argument \"command\""}`},
		{"one rule may change its mind", hook.PreToolUse, []say{set("m", setArg{"command", "x"}), set("m", setArg{"command", "y"})},
			`{"modifiedArgs":{"command":"y","description":"d"}}`},
		{"context joins", hook.PreToolUse, []say{rule("c", sayContext, "note"), rule("b", sayDeny, "no")},
			`{"permissionDecision":"deny","permissionDecisionReason":"b: no","additionalContext":"c: note"}`},
		{"approve alone", hook.PreToolUse, []say{rule("u", sayApprove, "")}, `{"permissionDecision":"allow"}`},
		{"approve is not alone", hook.PreToolUse, []say{rule("u", sayApprove, ""), rule("c", sayContext, "note")}, `{"additionalContext":"c: note"}`},
		{"post violation is feedback", hook.PostToolUse, []say{rule("b", sayDeny, "no")}, `{"additionalContext":"b: no"}`},
		{"post ask is nothing", hook.PostToolUse, []say{rule("b", sayAsk, "no")}, ``},
		{"post block", hook.PostToolUse, []say{rule("b", sayBlock, "hidden"), rule("c", sayContext, "note")},
			`{"decision":"block","reason":"b: hidden","additionalContext":"c: note"}`},
		{"prompt", hook.UserPromptSubmitted, []say{rule("b", sayDeny, "no")}, `{"decision":"block","reason":"b: no"}`},
		{"prompt modified", hook.UserPromptSubmitted, []say{set("m", setArg{"prompt", "better"})}, `{"modifiedPrompt":"better"}`},
		{"stop", hook.AgentStop, []say{rule("b", sayBlock, "go on"), rule("c", sayContext, "lost")}, `{"decision":"block","reason":"b: go on"}`},
		{"start", hook.SessionStart, []say{rule("c", sayContext, "hello")}, `{"additionalContext":"c: hello"}`},
		{"permission", hook.PermissionRequest, []say{rule("b", sayDeny, "no")}, `{"behavior":"deny","message":"b: no"}`},
		{"notification starts no turn by a violation", hook.Notification, []say{rule("b", sayDeny, "no")}, ``},
		{"nothing is honoured", hook.SessionEnd, []say{rule("b", sayDeny, "no"), rule("c", sayContext, "x")}, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := hook.Event{Name: tt.event, ToolInput: input, Prompt: "p", ResultType: "success", ResultText: "r"}
			got := merge(e, policy.EffectsOf(tt.event, ""), tt.says).bytes()
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("merge (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("stop that was blocked once", func(t *testing.T) {
		e := hook.Event{Name: hook.AgentStop, StopHookActive: true}
		if got := merge(e, policy.EffectsOf(e.Name, ""), []say{rule("b", sayBlock, "again")}).bytes(); got != nil {
			t.Errorf("merge = %s", got)
		}
	})
}

func TestReasonsAreBounded(t *testing.T) {
	long := strings.Repeat("ä", maxText)
	var says []say
	for range 10 {
		says = append(says, rule("r", sayDeny, long))
	}
	one, all := texts(says[:1], maxTexts), texts(says, maxTexts)
	if len(one) > maxText || !strings.Contains(one, "bytes left out") || !strings.HasSuffix(one, "ä") || !utf8.ValidString(one) {
		t.Errorf("one text has %d bytes, at most %d are meant: %.40q…", len(one), maxText, one)
	}
	if len(all) > maxTexts || !strings.HasSuffix(all, "more bytes]") || !utf8.ValidString(all) {
		t.Errorf("all texts have %d bytes, at most %d are meant", len(all), maxTexts)
	}
	if got := texts([]say{rule("r", sayDeny, "a\x1b[31mb\x00c\xff")}, maxTexts); got != "r: a[31mbc\uFFFD" {
		t.Errorf("texts = %q", got)
	}
}

func TestDeadlines(t *testing.T) {
	for _, tt := range []struct {
		env       string
		own, last string
	}{
		{"", "27s", "27.35s"},
		{"10", "9s", "9.35s"},
		{"4", "3.2s", "3.55s"},
		{"3", "2.2s", "2.55s"},
		{"1", "500ms", "750ms"},
		{"0.3", "150ms", "150ms"},
		{"nonsense", "27s", "27.35s"},
		{"-1", "27s", "27.35s"},
		{"NaN", "27s", "27.35s"},
	} {
		o := Options{Getenv: func(string) string { return tt.env }}
		if own, last := ownLimit(o).String(), lastLimit(o).String(); own != tt.own || last != tt.last {
			t.Errorf("limit %q: steps end after %s, the answer is given after %s; want %s, %s", tt.env, own, last, tt.own, tt.last)
		}
	}
}

func FuzzParseOutputs(f *testing.F) {
	for _, s := range []string{"a=b", "a<<E\nx\ny\nE\nb=2", "a<<E\nnever", "=", "<<", "a=b<<c", "\xff=\xff\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for k, v := range parseOutputs(s) {
			if k == "" || strings.Contains(k, "\n") || !utf8.ValidString(k) {
				t.Errorf("%q: key %q", s, k)
			}
			if text, ok := v.(string); !ok || !utf8.ValidString(text) {
				t.Errorf("%q: value %#v", s, v)
			}
		}
	})
}

func FuzzClaudeSettings(f *testing.F) {
	f.Add([]byte(`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x","timeout":1e300}]}]}}`))
	f.Add([]byte(`{"hooks":{"PreToolUse":{}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		hooks, err := parseClaude("settings.json", b)
		if err != nil && hooks != nil {
			t.Error("hooks of a file that cannot be read")
		}
		for _, h := range hooks {
			h.matches([]string{"Bash"})
			if h.Timeout < 0 {
				t.Errorf("timeout %v", h.Timeout)
			}
		}
	})
}

func FuzzClaudeAnswer(f *testing.F) {
	f.Add([]byte(`{"hookSpecificOutput":{"permissionDecision":"deny"},"continue":false}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range claudeSays(ruleRef{Name: "claude"}, b, emptyCall) {
			if s.verb == sayApprove || s.verb == sayAllow {
				t.Errorf("%s: a hook may not approve", b)
			}
		}
	})
}
