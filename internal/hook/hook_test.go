package hook

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCanonicalName(t *testing.T) {
	known := map[string][]string{ // the table of the client's debug log, 1.0.102
		"sessionStart":          {"sessionStart", "SessionStart"},
		"sessionEnd":            {"sessionEnd", "SessionEnd"},
		"userPromptSubmitted":   {"userPromptSubmitted", "UserPromptSubmit"},
		"userPromptTransformed": {"userPromptTransformed"},
		"preToolUse":            {"preToolUse", "PreToolUse"},
		"postToolUse":           {"postToolUse", "PostToolUse"},
		"postToolUseFailure":    {"postToolUseFailure", "PostToolUseFailure"},
		"agentStop":             {"agentStop", "Stop"},
		"subagentStart":         {"subagentStart", "SubagentStart"},
		"subagentStop":          {"subagentStop", "SubagentStop"},
		"preCompact":            {"preCompact", "PreCompact"},
		"notification":          {"notification", "Notification"},
		"permissionRequest":     {"permissionRequest", "PermissionRequest"},
		"preMcpToolCall":        {"preMcpToolCall", "PreMcpToolCall"},
		"errorOccurred":         {"errorOccurred", "ErrorOccurred"},
	}
	for canonical, names := range known {
		for _, name := range names {
			if got, ok := CanonicalName(name); got != canonical || !ok {
				t.Errorf("CanonicalName(%q) = %q, %v; want %q, true", name, got, ok, canonical)
			}
		}
	}
	for _, name := range []string{"AgentStop", "UserPromptTransformed", "UserPromptSubmitted", "postResult", "prePRDescription", "sessionstart", "", "stop"} {
		if got, ok := CanonicalName(name); got != name || ok {
			t.Errorf("CanonicalName(%q) = %q, %v; want it unchanged, false", name, got, ok)
		}
	}
}

func TestFromUserRecorded(t *testing.T) {
	fromUser := map[string]bool{"userPromptSubmitted": true, "UserPromptSubmit": true} // all others are not
	for _, dialect := range []string{"camel", "pascal"} {
		for file, payload := range payloads(t, dialect) {
			if got := decode(t, eventOf(file), string(payload)).FromUser(); got != fromUser[file] {
				t.Errorf("%s: FromUser = %v", file, got)
			}
		}
	}
}

func TestFromUser(t *testing.T) {
	tests := []struct {
		name string
		e    Event
		want bool
	}{
		{"plain", Event{Name: UserPromptSubmitted, Prompt: "do it"}, true},
		{"empty", Event{Name: UserPromptSubmitted}, true},
		{"speaks of a notification", Event{Name: UserPromptSubmitted, Prompt: "what is <system_notification>?"}, true},
		{"speaks of a skill", Event{Name: UserPromptSubmitted, Prompt: `The user explicitly invoked the "/foo" skill. Why do I see this?`}, true},
		{"notification after blank lines", Event{Name: UserPromptSubmitted, Prompt: "\n <system_notification>\nx\n</system_notification>"}, false},
		{"skill", Event{Name: UserPromptSubmitted, Prompt: "The user explicitly invoked the \"/foo\" skill.\n\n<skill-context name=\"foo\">"}, false},
		{"sub-agent", Event{Name: UserPromptSubmitted, Prompt: "do it", AgentID: "a"}, false},
		{"sub-agent by its parent", Event{Name: UserPromptSubmitted, Prompt: "do it", ParentAgentID: "p"}, false},
		{"transformed", Event{Name: UserPromptTransformed, Prompt: "do it"}, false},
		{"initial", Event{Name: SessionStart, Prompt: "do it"}, false},
		{"unknown event", Event{Name: "promptSubmitted", Prompt: "do it"}, false},
	}
	for _, tt := range tests {
		if got := tt.e.FromUser(); got != tt.want {
			t.Errorf("%s: FromUser = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestResponseEncode(t *testing.T) {
	tests := []struct {
		r    Response
		want string
	}{
		{Response{}, ""},
		{Response{AdditionalContext: "a <b> & \"c\"\n"}, `{"additionalContext":"a <b> & \"c\"\n"}`},
		{Response{PermissionDecision: "deny", PermissionDecisionReason: "no"}, `{"permissionDecision":"deny","permissionDecisionReason":"no"}`},
		{Response{ModifiedArgs: json.RawMessage("{\"a\":\n 1}")}, `{"modifiedArgs":{"a":1}}`},
		{Response{Decision: "block", Reason: "more to do"}, `{"decision":"block","reason":"more to do"}`},
	}
	for _, tt := range tests {
		got, err := tt.r.Encode()
		if err != nil {
			t.Errorf("Encode(%+v): %v", tt.r, err)
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("Encode(%+v) (-want +got):\n%s", tt.r, diff)
		}
	}
	if got, err := (Response{ModifiedArgs: json.RawMessage("{")}).Encode(); err == nil || got != nil {
		t.Errorf("broken modifiedArgs: %s, %v; want an error", got, err)
	}
}
