package hook

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// encode writes an event back in the camelCase dialect, or under another name where Extra holds that one.
func encode(t testing.TB, e Event) []byte {
	t.Helper()
	out := make(map[string]any)
	for key, raw := range e.Extra {
		out[key] = raw
	}
	put := func(zero bool, v any, names ...string) {
		for _, name := range names {
			if _, taken := e.Extra[name]; !zero && !taken {
				out[name] = v
				return
			}
		}
		if !zero {
			t.Fatalf("no name of %v is free for %v", names, v)
		}
	}
	text := func(s string, names ...string) { put(s == "", s, names...) }
	text(e.SessionID, "sessionId", "session_id")
	text(e.Cwd, "cwd")
	put(e.Time.IsZero(), e.Time.UnixMilli(), "timestamp")
	text(e.Prompt, "prompt", "initialPrompt", "initial_prompt")
	text(e.TransformedPrompt, "transformedPrompt", "transformed_prompt")
	text(e.Source, "source")
	text(e.Reason, "reason")
	text(e.RawTool, "toolName", "tool_name")
	put(e.ToolInput == nil, e.ToolInput, "toolArgs", "tool_input", "toolInput", "tool_args", "arguments")
	put(e.ResultType == "" && e.ResultText == "", map[string]string{"resultType": e.ResultType, "textResultForLlm": e.ResultText}, "toolResult", "tool_result")
	if e.Error != nil {
		put(false, map[string]string{"message": e.Error.Message, "name": e.Error.Name, "stack": e.Error.Stack}, "error")
	}
	text(e.ErrorContext, "errorContext", "error_context")
	put(!e.Recoverable, true, "recoverable")
	text(e.TranscriptPath, "transcriptPath", "transcript_path")
	text(e.StopReason, "stopReason", "stop_reason")
	put(!e.StopHookActive, true, "stop_hook_active", "stopHookActive")
	text(e.AgentID, "agentId", "agent_id")
	text(e.AgentType, "agentType", "agent_type")
	text(e.AgentName, "agentName", "agent_name")
	text(e.ParentAgentID, "parentAgentId", "parent_agent_id")
	text(e.Response, "response", "last_assistant_message", "lastAssistantMessage")
	text(e.Trigger, "trigger")
	text(e.CustomInstructions, "customInstructions", "custom_instructions")
	text(e.NotificationType, "notification_type", "notificationType")
	text(e.Message, "message")
	text(e.Title, "title")
	text(e.Server, "serverName", "server_name")
	text(e.ToolCallID, "toolCallId", "tool_call_id")
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		t.Fatalf("%+v: %v", e, err)
	}
	return b.Bytes()
}

func FuzzDecode(f *testing.F) {
	for _, dialect := range []string{"camel", "pascal"} {
		for file, payload := range payloads(f, dialect) {
			f.Add(eventOf(file), payload)
		}
	}
	for _, s := range []string{
		`{"sessionId":1,"session_id":"","toolResult":{"a":1},"tool_result":"x"}`,
		`{"toolArgs":"{\"a\":\"\\ud800\"}","tool_input":[],"toolResult":{},"error":{"message":"","x":null}}`,
		`{"timestamp":1e999,"prompt":null,"initialPrompt":"","initial_prompt":"\u0000","hookName":3,"toolResult.a":1}`,
		"{\"\xff\":\"\xfe\",\"\\ud800\":1,\"toolName\":\"Edit\",\"toolArgs\":\"*** Begin Patch\xff\"}",
	} {
		f.Add("Stop", []byte(s))
	}
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		e, err := Decode(name, payload)
		if err != nil {
			if diff := cmp.Diff(Event{}, e); diff != "" {
				t.Errorf("an error and an event:\n%s", diff)
			}
			return
		}
		_ = e.FromUser()
		again, err := Decode(e.Name, encode(t, e))
		if err != nil {
			t.Fatalf("decode what was encoded: %v", err)
		}
		if diff := cmp.Diff(e, again); diff != "" {
			t.Errorf("%s: decode∘encode (-first +second):\n%s", payload, diff)
		}
	})
}
