package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func decode(t *testing.T, name, payload string) Event {
	t.Helper()
	e, err := Decode(name, []byte(payload))
	if err != nil {
		t.Fatalf("Decode(%s, %s): %v", name, payload, err)
	}
	return e
}

func TestDecodeShapes(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 37, 40, 360e6, time.UTC)
	tests := []struct {
		name    string
		event   string
		payload string
		want    Event
	}{
		{
			name:    "before 1.0.11: no session, arguments as text",
			event:   "preToolUse",
			payload: `{"timestamp":1795257460360,"cwd":"/w","toolName":"bash","toolArgs":"{\"command\": \"ls\", \"n\": 12345678901234567890}"}`,
			want:    Event{Name: "preToolUse", Cwd: "/w", Time: at, Tool: "bash", RawTool: "bash", ToolInput: json.RawMessage(`{"command":"ls","n":12345678901234567890}`)},
		},
		{
			name:    "subagentStart of the PascalCase dialect is mixed",
			event:   "SubagentStart",
			payload: `{"agentName":"n","agent_id":"a","agent_type":"t","parent_agent_id":"p","sessionId":"s","timestamp":1795257460360,"transcriptPath":"/t"}`,
			want:    Event{Name: "subagentStart", SessionID: "s", Time: at, AgentID: "a", AgentType: "t", AgentName: "n", ParentAgentID: "p", TranscriptPath: "/t"},
		},
		{
			name:    "null is absent",
			event:   "postToolUse",
			payload: `{"sessionId":null,"session_id":"s","timestamp":null,"toolName":null,"toolArgs":null,"tool_input":{"a":1},"toolResult":null,"error":null,"recoverable":null,"prompt":null}`,
			want:    Event{Name: "postToolUse", SessionID: "s", ToolInput: json.RawMessage(`{"a":1}`)},
		},
		{
			name:    "wrong types are kept",
			event:   "userPromptSubmitted",
			payload: `{"sessionId":7,"cwd":["/w"],"timestamp":{},"prompt":12345678901234567890,"recoverable":"yes","error":[ 1 ],"toolResult":3,"agentId":false}`,
			want: Event{Name: "userPromptSubmitted", Extra: map[string]json.RawMessage{
				"sessionId": json.RawMessage(`7`), "cwd": json.RawMessage(`["/w"]`), "timestamp": json.RawMessage(`{}`),
				"prompt": json.RawMessage(`12345678901234567890`), "recoverable": json.RawMessage(`"yes"`), "error": json.RawMessage(`[1]`),
				"toolResult": json.RawMessage(`3`), "agentId": json.RawMessage(`false`),
			}},
		},
		{
			name:    "a wrong type does not hide the other dialect's field",
			event:   "sessionStart",
			payload: `{"sessionId":7,"session_id":"s","initialPrompt":"","initial_prompt":"p"}`,
			want:    Event{Name: "sessionStart", SessionID: "s", Prompt: "p", Extra: map[string]json.RawMessage{"sessionId": json.RawMessage(`7`)}},
		},
		{
			name:    "both dialects at once: the first counts, the second is kept",
			event:   "sessionStart",
			payload: `{"sessionId":"a","session_id":"b"}`,
			want:    Event{Name: "sessionStart", SessionID: "a", Extra: map[string]json.RawMessage{"session_id": json.RawMessage(`"b"`)}},
		},
		{
			name:    "unknown event and fields",
			event:   "somethingNew",
			payload: `{"sessionId":"s","prompt":"p","novel":{ "a" : null },"other":null}`,
			want:    Event{Name: "somethingNew", SessionID: "s", Prompt: "p", Extra: map[string]json.RawMessage{"novel": json.RawMessage(`{"a":null}`), "other": json.RawMessage(`null`)}},
		},
		{
			name:    "error as object, with more in it",
			event:   "ErrorOccurred",
			payload: `{"error":{"message":"m","name":"n","stack":"s","code":400},"error_context":"model_call","recoverable":true}`,
			want: Event{Name: "errorOccurred", Error: &EventError{Message: "m", Name: "n", Stack: "s"}, ErrorContext: "model_call", Recoverable: true,
				Extra: map[string]json.RawMessage{"error.code": json.RawMessage(`400`)}},
		},
		{
			name:    "error as text",
			event:   "errorOccurred",
			payload: `{"error":"m","recoverable":false}`,
			want:    Event{Name: "errorOccurred", Error: &EventError{Message: "m"}},
		},
		{
			name:    "error without content",
			event:   "errorOccurred",
			payload: `{"error":{"message":null}}`,
			want:    Event{Name: "errorOccurred"},
		},
		{
			name:    "error with a message of the wrong type",
			event:   "errorOccurred",
			payload: `{"error":{"message":{"a":1},"name":"n"}}`,
			want:    Event{Name: "errorOccurred", Error: &EventError{Name: "n"}, Extra: map[string]json.RawMessage{"error.message": json.RawMessage(`{"a":1}`)}},
		},
		{
			name:    "result with mixed spelling and more in it",
			event:   "PostToolUse",
			payload: `{"tool_name":"Bash","tool_result":{"result_type":"failure","textResultForLlm":"t","sessionLog":"l"}}`,
			want:    Event{Name: "postToolUse", Tool: "bash", RawTool: "Bash", ResultType: "failure", ResultText: "t", Extra: map[string]json.RawMessage{"toolResult.sessionLog": json.RawMessage(`"l"`)}},
		},
		{
			name:    "result as text",
			event:   "postToolUse",
			payload: `{"toolResult":"done"}`,
			want:    Event{Name: "postToolUse", ResultText: "done"},
		},
		{
			name:    "a byte order mark and invalid UTF-8",
			event:   "userPromptSubmitted",
			payload: "\xef\xbb\xbf{\"prompt\":\"a\xffb\"}",
			want:    Event{Name: "userPromptSubmitted", Prompt: "a\uFFFDb"},
		},
		{
			name:    "the name in the payload is not the event",
			event:   "Stop",
			payload: `{"hook_event_name":"SessionEnd","hookName":"sessionEnd","stop_hook_active":true,"stop_reason":"end_turn"}`,
			want:    Event{Name: "agentStop", StopHookActive: true, StopReason: "end_turn"},
		},
		{
			name:    "empty object",
			event:   "sessionEnd",
			payload: ` {} `,
			want:    Event{Name: "sessionEnd"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, decode(t, tt.event, tt.payload)); diff != "" {
				t.Errorf("Decode (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000)
	for _, payload := range []string{"", " ", "null", "[]", `"x"`, "1", "{", `{"a":1}{"b":2}`, `{"a":1} x`, "{'a':1}", deep} {
		e, err := Decode("preToolUse", []byte(payload))
		if err == nil || !strings.HasPrefix(err.Error(), "preToolUse: ") {
			t.Errorf("Decode(%.20q) = %+v, %v; want an error that names the event", payload, e, err)
		}
	}
}

func TestDecodeTime(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 37, 40, 360e6, time.UTC)
	tests := []struct {
		sent string
		want time.Time // zero: kept in Extra
	}{
		{`1795257460360`, at},
		{`1795257460360.0`, at},
		{`1795257460360.999`, at},
		{`1.79525746036e12`, at},
		{`"2026-11-21T10:37:40.360Z"`, at},
		{`"2026-11-21T10:37:40.3609999Z"`, at},
		{`"2026-11-21T12:37:40.360+02:00"`, at},
		{`"2026-11-21T10:37:40Z"`, at.Truncate(time.Second)},
		{`0`, time.Time{}},
		{`-1`, time.Time{}},
		{`1795257460`, time.Time{}},          // seconds
		{`1795257460360000000`, time.Time{}}, // nanoseconds
		{`1e300`, time.Time{}},
		{`1e999`, time.Time{}},
		{`""`, time.Time{}},
		{`"yesterday"`, time.Time{}},
		{`"0001-01-01T00:00:00Z"`, time.Time{}},
		{`"9999-12-31T23:59:59Z"`, time.Time{}},
		{`true`, time.Time{}},
		{`[1795257460360]`, time.Time{}},
	}
	for _, tt := range tests {
		e := decode(t, "sessionEnd", `{"timestamp":`+tt.sent+`}`)
		if !e.Time.Equal(tt.want) || e.Time.Location() != time.UTC {
			t.Errorf("timestamp %s: got %v, want %v in UTC", tt.sent, e.Time, tt.want)
		}
		if kept := string(e.Extra["timestamp"]); tt.want.IsZero() != (kept == tt.sent) {
			t.Errorf("timestamp %s: Extra has %q", tt.sent, kept)
		}
	}
}

func TestDecodeToolInput(t *testing.T) {
	tests := []struct{ sent, want string }{
		{`{"a": 1}`, `{"a":1}`},
		{`{}`, `{}`},
		{`[1, "x"]`, `[1,"x"]`},
		{`42`, `42`},
		{`false`, `false`},
		{`null`, ``},
		{`""`, `""`},
		{`"{\"a\": 1}"`, `{"a":1}`},
		{`" [1] "`, `[1]`},
		{`"{\"a\":"`, `"{\"a\":"`},
		{`"{\"a\":1} and more"`, `"{\"a\":1} and more"`},
		{`"*** Begin Patch\n"`, `"*** Begin Patch\n"`},
		{`"0010"`, `"0010"`},
		{`"12"`, `"12"`},
		{`"null"`, `"null"`},
		{`"\"{}\""`, `"\"{}\""`},
		{`{"n":12345678901234567890,"f":1.50,"s":"<&>\u2028"}`, `{"n":12345678901234567890,"f":1.50,"s":"<&>\u2028"}`},
	}
	for _, key := range []string{"toolArgs", "tool_input", "toolInput", "arguments"} {
		for _, tt := range tests {
			e := decode(t, "preToolUse", `{"`+key+`":`+tt.sent+`}`)
			if got := string(e.ToolInput); got != tt.want || (e.ToolInput == nil) != (tt.want == "") || e.Extra != nil {
				t.Errorf("%s %s: got %s and Extra %v, want %s", key, tt.sent, got, e.Extra, tt.want)
			}
		}
	}
}

func TestDecodePromptByteForByte(t *testing.T) {
	for _, prompt := range []string{"0010", "1 2 3", "-n", "12345678901234567890", `{"a":1}`, `a\b`, " \t\n", "null", "👩‍👩‍👧 e\u0301", "a\x00b", "$(x) `y` %s\r\n"} {
		sent, err := json.Marshal(prompt)
		if err != nil {
			t.Fatal(err)
		}
		for _, shape := range []string{`{"prompt":%s}`, `{"initialPrompt":%s}`, `{"initial_prompt":%s}`} {
			if got := decode(t, "sessionStart", fmt.Sprintf(shape, sent)).Prompt; got != prompt {
				t.Errorf(shape+": got %q", sent, got)
			}
		}
	}
}

func TestTool(t *testing.T) {
	tests := []struct{ raw, input, want string }{
		{"Bash", `{}`, "bash"},
		{"bash", `{}`, "bash"},
		{"Read", `{}`, "view"},
		{"Write", `{}`, "create"},
		{"Edit", `{"path":"a"}`, "edit"},
		{"Edit", `"*** Begin Patch\n*** End Patch"`, "apply_patch"},
		{"Edit", `"some text"`, "edit"},
		{"Edit", `null`, "edit"},
		{"edit", `{"diff":"*** Begin Patch"}`, "edit"},
		{"apply_patch", `"*** Begin Patch"`, "apply_patch"},
		{"Grep", `{}`, "grep"},
		{"grep", `{}`, "grep"},
		{"rg", `{}`, "grep"}, // the PascalCase dialect says Grep for both
		{"Glob", `{}`, "glob"},
		{"Agent", `{}`, "task"},
		{"task", `{}`, "task"},
		{"mem-mem_search", `{}`, "mem-mem_search"},
		{"mem/mem_search", `{}`, "mem/mem_search"},
		{"BASH", `{}`, "BASH"},
	}
	for _, tt := range tests {
		e := decode(t, "preToolUse", fmt.Sprintf(`{"toolName":%q,"toolArgs":%s}`, tt.raw, tt.input))
		if e.Tool != tt.want || e.RawTool != tt.raw {
			t.Errorf("%s %s: got %q (raw %q), want %q", tt.raw, tt.input, e.Tool, e.RawTool, tt.want)
		}
	}
}

func payloads(t testing.TB, dialect string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "payloads", dialect, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 60 {
		t.Fatalf("%d %s payloads", len(paths), dialect)
	}
	m := make(map[string][]byte)
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		m[strings.TrimSuffix(filepath.Base(p), ".json")] = b
	}
	return m
}

func eventOf(file string) string {
	event, _, _ := strings.Cut(file, "-")
	return event
}

func TestRecordedPayloads(t *testing.T) {
	for _, dialect := range []string{"camel", "pascal"} {
		for file, payload := range payloads(t, dialect) {
			e, err := Decode(eventOf(file), payload)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			if _, known := CanonicalName(eventOf(file)); !known {
				t.Errorf("%s: unknown event", file)
			}
			if e.SessionID == "" || e.Cwd != "/home/dev/app" || e.Time.Year() != 2026 {
				t.Errorf("%s: session %q, folder %q, time %v", file, e.SessionID, e.Cwd, e.Time)
			}
			for key := range e.Extra {
				if key != "permissionSuggestions" {
					t.Errorf("%s: field %q was not understood", file, key)
				}
			}
		}
	}
}

// pascalFile names the recording of the same moment of the same run in the other dialect; empty where there is none.
func pascalFile(camel string) string {
	event, situation, found := strings.Cut(camel, "-")
	switch event {
	case "userPromptTransformed":
		return ""
	case "userPromptSubmitted":
		event = "UserPromptSubmit"
	case "agentStop":
		event = "Stop"
	default:
		event = strings.ToUpper(event[:1]) + event[1:]
	}
	if !found {
		return event
	}
	if strings.HasPrefix(event, "PreToolUse") || strings.HasPrefix(event, "PostToolUse") {
		for native, renamed := range map[string]string{
			"bash": "Bash", "view": "Read", "create": "Write", "edit": "Edit", "apply_patch": "Edit", "grep": "Grep", "rg": "Grep", "glob": "Glob", "task": "Agent",
		} {
			if tool, rest, _ := strings.Cut(situation, "-"); tool == native {
				situation = strings.TrimSuffix(renamed+"-"+rest, "-")
				break
			}
		}
	}
	return event + "-" + situation
}

func TestDialectsAgree(t *testing.T) {
	camel, pascal := payloads(t, "camel"), payloads(t, "pascal")
	pairs := 0
	for file, payload := range camel {
		other := pascalFile(file)
		if other == "" {
			continue
		}
		otherPayload, ok := pascal[other]
		if !ok {
			t.Errorf("%s: no recording %s", file, other)
			continue
		}
		pairs++
		a, b := decode(t, eventOf(file), string(payload)), decode(t, eventOf(other), string(otherPayload))
		if diff := cmp.Diff(a, b, cmpopts.IgnoreFields(Event{}, "Extra", "RawTool")); diff != "" {
			t.Errorf("%s and %s (-camel +pascal):\n%s", file, other, diff)
		}
	}
	if pairs != len(pascal) {
		t.Errorf("%d pairs, but %d PascalCase recordings", pairs, len(pascal))
	}
}
