package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Decode reads one payload of the event that the hook configuration calls name, in either dialect or a mixture: the
// client (1.0.102) mixes them within one payload. Only a payload that is not one JSON object is an error; a field of an
// unexpected type goes to [Event.Extra].
func Decode(name string, payload []byte) (Event, error) {
	payload = bytes.TrimPrefix(payload, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(payload) {
		payload = bytes.ToValidUTF8(payload, []byte("\uFFFD"))
	}
	var f fields
	if err := json.Unmarshal(payload, &f); err != nil {
		return Event{}, fmt.Errorf("%s: %w", name, err)
	}
	if f == nil { // the document null
		return Event{}, fmt.Errorf("%s: payload is null", name)
	}

	var e Event
	e.Name, _ = CanonicalName(name)
	// The name is in the payload in some dialects only, and the argument is what counts.
	for _, key := range []string{"hook_event_name", "hookEventName", "hookName"} {
		var ignored string
		f.text(&ignored, key)
	}

	f.text(&e.SessionID, "sessionId", "session_id")
	f.text(&e.Cwd, "cwd")
	f.time(&e.Time, "timestamp")
	f.text(&e.Prompt, "prompt", "initialPrompt", "initial_prompt")
	f.text(&e.TransformedPrompt, "transformedPrompt", "transformed_prompt")
	f.text(&e.Source, "source")
	f.text(&e.Reason, "reason")
	f.text(&e.RawTool, "toolName", "tool_name")
	f.input(&e.ToolInput, "toolArgs", "tool_input", "toolInput", "tool_args", "arguments")
	e.Tool = nativeTool(e.RawTool, e.ToolInput)
	f.object(&e.ResultText, []part{
		{&e.ResultType, []string{"resultType", "result_type"}},
		{&e.ResultText, []string{"textResultForLlm", "text_result_for_llm"}},
	}, "toolResult", "tool_result")
	f.eventError(&e.Error)
	f.text(&e.ErrorContext, "errorContext", "error_context")
	f.flag(&e.Recoverable, "recoverable")
	f.text(&e.TranscriptPath, "transcriptPath", "transcript_path")
	f.text(&e.StopReason, "stopReason", "stop_reason")
	f.flag(&e.StopHookActive, "stop_hook_active", "stopHookActive")
	f.text(&e.AgentID, "agentId", "agent_id")
	f.text(&e.AgentType, "agentType", "agent_type")
	f.text(&e.AgentName, "agentName", "agent_name")
	f.text(&e.ParentAgentID, "parentAgentId", "parent_agent_id")
	f.text(&e.Response, "response", "last_assistant_message", "lastAssistantMessage")
	f.text(&e.Trigger, "trigger")
	f.text(&e.CustomInstructions, "customInstructions", "custom_instructions")
	f.text(&e.NotificationType, "notification_type", "notificationType")
	f.text(&e.Message, "message")
	f.text(&e.Title, "title")
	f.text(&e.Server, "serverName", "server_name")
	f.text(&e.ToolCallID, "toolCallId", "tool_call_id")

	for key, raw := range f {
		f[key] = compact(raw)
	}
	if len(f) > 0 {
		e.Extra = f
	}
	return e, nil
}

// fields are those of a payload that nothing has taken yet. Each method below takes the names it is given, the first
// with content winning; it drops null, and leaves what is not of its type, and what comes second.
type fields map[string]json.RawMessage

func (f fields) text(dst *string, names ...string) {
	for _, name := range names {
		raw, ok := f[name]
		if !ok {
			continue
		}
		var s string
		switch {
		case isNull(raw):
			delete(f, name)
		case *dst == "" && raw[0] == '"' && json.Unmarshal(raw, &s) == nil:
			*dst = s
			delete(f, name)
		}
	}
}

func (f fields) flag(dst *bool, names ...string) {
	for _, name := range names {
		switch raw := f[name]; {
		case raw == nil:
		case string(raw) == "true":
			*dst = true
			delete(f, name)
		case string(raw) == "false", isNull(raw):
			delete(f, name)
		}
	}
}

// input takes any JSON value. An object or array may come as text (clients before 1.0.11 always did so); a patch is text
// that stays text, and so do numbers and words: a file named "12" is not the number.
func (f fields) input(dst *json.RawMessage, names ...string) {
	for _, name := range names {
		raw, ok := f[name]
		if !ok {
			continue
		}
		if isNull(raw) {
			delete(f, name)
			continue
		}
		if *dst != nil {
			continue
		}
		delete(f, name)
		*dst = compact(raw)
		if raw[0] != '"' {
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			continue
		}
		if t := strings.TrimSpace(s); t != "" && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t)) {
			*dst = compact([]byte(t))
		}
	}
}

// part is a text inside an object.
type part struct {
	dst   *string
	names []string
}

// object takes an object with the given parts, or a text in place of the whole object. Other parts stay, as
// "object.part" with the object's first name.
func (f fields) object(whole *string, parts []part, names ...string) {
	for _, name := range names {
		f.text(whole, name)
		raw := f[name]
		if len(raw) == 0 || raw[0] != '{' || filled(parts) {
			continue
		}
		var inner fields
		if json.Unmarshal(raw, &inner) != nil {
			continue
		}
		delete(f, name)
		for _, p := range parts {
			inner.text(p.dst, p.names...)
		}
		for key, rest := range inner {
			f[names[0]+"."+key] = rest
		}
	}
}

func filled(parts []part) bool {
	for _, p := range parts {
		if *p.dst != "" {
			return true
		}
	}
	return false
}

func (f fields) eventError(dst **EventError) {
	var e EventError
	f.object(&e.Message, []part{
		{&e.Message, []string{"message"}},
		{&e.Name, []string{"name"}},
		{&e.Stack, []string{"stack"}},
	}, "error")
	if e != (EventError{}) {
		*dst = &e
	}
}

// time takes Unix milliseconds, as a number with or without a fraction, or an RFC 3339 text.
func (f fields) time(dst *time.Time, name string) {
	raw, ok := f[name]
	if !ok {
		return
	}
	if isNull(raw) {
		delete(f, name)
		return
	}
	var at time.Time
	var ms float64
	var s string
	switch {
	case raw[0] == '"' && json.Unmarshal(raw, &s) == nil:
		at, _ = time.Parse(time.RFC3339, strings.TrimSpace(s)) // zero is not plausible
	case json.Unmarshal(raw, &ms) == nil:
		if math.Abs(ms) < 1e15 {
			at = time.UnixMilli(int64(math.Floor(ms)))
		}
	}
	at = at.UTC().Truncate(time.Millisecond)
	// No client ran outside these years: a zero, seconds or nanoseconds would be.
	if at.Year() < 2000 || at.Year() >= 2200 {
		return
	}
	*dst = at
	delete(f, name)
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// compact gives both dialects the same bytes; it keeps numbers and escapes as they were sent.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
