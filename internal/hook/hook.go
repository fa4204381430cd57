// Package hook says what the client tells us on an event, and what we may answer: both payload dialects become one
// [Event], and a [Response] becomes what the client reads. It decides nothing, and reads and writes no file.
package hook

import (
	"encoding/json"
	"strings"
	"time"
)

// Event is one hook event, whichever dialect brought it. A field that the payload does not have is zero.
type Event struct {
	Name           string    // canonical ("postToolUse"); an unknown name as given
	SessionID, Cwd string    // inside a sub-agent SessionID is mostly the agent's id
	Time           time.Time // UTC, milliseconds; zero when absent or senseless

	Prompt            string // the prompt, or sessionStart's initial prompt, byte for byte
	TransformedPrompt string
	Source, Reason    string // how the session started, why it ended

	Tool       string          // the client's native name ("bash")
	RawTool    string          // as sent ("Bash")
	ToolInput  json.RawMessage // compact JSON: text that holds an object or array is that value, other text a JSON string; nil when absent
	ResultType string
	ResultText string

	Error        *EventError // nil when there is none
	ErrorContext string
	Recoverable  bool

	TranscriptPath, StopReason string
	StopHookActive             bool

	AgentID, AgentType, AgentName, ParentAgentID string // of the sub-agent that the event happened in or is about
	Response                                     string // what the sub-agent answered

	Trigger, CustomInstructions      string // of a compaction
	NotificationType, Message, Title string
	Server, ToolCallID               string // of an MCP tool call

	// Extra holds what has no field here or is not of the field's type, under the name it was sent with; a part of an
	// object that has fields here is under "object.part". Values are compact JSON.
	Extra map[string]json.RawMessage
}

// EventError is the error of an event. Some events send a text only: it is the message.
type EventError struct {
	Message, Name, Stack string
}

// Canonical event names, as the client spells them in the camelCase dialect.
const (
	SessionStart          = "sessionStart"
	SessionEnd            = "sessionEnd"
	UserPromptSubmitted   = "userPromptSubmitted"
	UserPromptTransformed = "userPromptTransformed"
	PreToolUse            = "preToolUse"
	PostToolUse           = "postToolUse"
	PostToolUseFailure    = "postToolUseFailure"
	AgentStop             = "agentStop"
	SubagentStart         = "subagentStart"
	SubagentStop          = "subagentStop"
	PreCompact            = "preCompact"
	Notification          = "notification"
	PermissionRequest     = "permissionRequest"
	PreMcpToolCall        = "preMcpToolCall"
	ErrorOccurred         = "errorOccurred"
)

// CanonicalName returns the camelCase name of an event, and whether the client (1.0.102) knows the name as given. A name
// that it does not know comes back unchanged.
func CanonicalName(name string) (canonical string, known bool) {
	switch name {
	case SessionStart, SessionEnd, UserPromptSubmitted, UserPromptTransformed, PreToolUse, PostToolUse, PostToolUseFailure,
		AgentStop, SubagentStart, SubagentStop, PreCompact, Notification, PermissionRequest, PreMcpToolCall, ErrorOccurred:
		return name, true
	// The two that are not the camelCase name with a capital.
	case "UserPromptSubmit":
		return UserPromptSubmitted, true
	case "Stop":
		return AgentStop, true
	case "SessionStart":
		return SessionStart, true
	case "SessionEnd":
		return SessionEnd, true
	case "PreToolUse":
		return PreToolUse, true
	case "PostToolUse":
		return PostToolUse, true
	case "PostToolUseFailure":
		return PostToolUseFailure, true
	case "SubagentStart":
		return SubagentStart, true
	case "SubagentStop":
		return SubagentStop, true
	case "PreCompact":
		return PreCompact, true
	case "Notification":
		return Notification, true
	case "PermissionRequest":
		return PermissionRequest, true
	case "PreMcpToolCall":
		return PreMcpToolCall, true
	case "ErrorOccurred":
		return ErrorOccurred, true
	}
	return name, false
}

// FromUser reports whether the event is a prompt in the user's own words. The client submits prompts of its own: a
// sub-agent's task, a system notification, the expansion of a skill. A continuation that a stop hook or autopilot asks
// for cannot be told from the user's words in the payload; the transcript marks it.
func (e Event) FromUser() bool {
	if e.Name != UserPromptSubmitted || e.AgentID != "" || e.ParentAgentID != "" {
		return false
	}
	text := strings.TrimSpace(e.Prompt)
	if strings.HasPrefix(text, "<system_notification>") {
		return false
	}
	return !strings.HasPrefix(text, `The user explicitly invoked the "`) || !strings.Contains(text, "<skill-context")
}

// nativeTool undoes the names that the PascalCase dialect gives to tools. That dialect says Edit for both ways to edit
// and Grep for both ways to search: the first two differ in their input, the second two are one tool here.
func nativeTool(name string, input json.RawMessage) string {
	switch name {
	case "Bash":
		return "bash"
	case "Read":
		return "view"
	case "Write":
		return "create"
	case "Edit":
		if isPatch(input) {
			return "apply_patch"
		}
		return "edit"
	case "Grep", "rg":
		return "grep"
	case "Glob":
		return "glob"
	case "Agent":
		return "task"
	}
	return name
}

func isPatch(input json.RawMessage) bool {
	var text string
	return len(input) > 0 && input[0] == '"' && json.Unmarshal(input, &text) == nil &&
		strings.HasPrefix(strings.TrimSpace(text), "*** Begin Patch")
}
