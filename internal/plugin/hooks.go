package plugin

import (
	"encoding/json"
	"fmt"
	"slices"
)

// HookConfig is a hook file: which commands run on which event.
type HookConfig struct {
	Version int               `json:"version,omitempty"`
	Hooks   map[string][]Hook `json:"hooks"`
}

// Hook is one entry, or a group of entries in the nested form of Claude Code (Matcher and Hooks only).
type Hook struct {
	Type       string            `json:"type,omitempty"`
	Matcher    string            `json:"matcher,omitempty"`
	Bash       string            `json:"bash,omitempty"`
	PowerShell string            `json:"powershell,omitempty"`
	Command    string            `json:"command,omitempty"`
	Exec       string            `json:"exec,omitempty"`
	Args       []string          `json:"args,omitempty"`
	Cwd        string            `json:"cwd,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	URL        string            `json:"url,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Prompt     string            `json:"prompt,omitempty"`
	TimeoutSec float64           `json:"timeoutSec,omitempty"`
	Timeout    float64           `json:"timeout,omitempty"`
	Hooks      []Hook            `json:"hooks,omitempty"`
}

// ParseHooks reads a hook file into its types. It is stricter than the client about wrong types and does not know
// events: package validate says what is wrong, and where.
func ParseHooks(data []byte) (HookConfig, error) {
	var c HookConfig
	if _, err := ParseJSON(data); err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, err
	}
	if c.Hooks == nil {
		return c, fmt.Errorf("hooks: hooks must be an object")
	}
	return c, nil
}

// EventNames maps every event name that the client takes from a file to its camelCase form. As seen in 1.0.102: most
// camelCase names have a Pascal twin, but not by one rule, and the missing twins are dropped without a word.
var EventNames = map[string]string{
	"sessionStart": "sessionStart", "SessionStart": "sessionStart",
	"sessionEnd": "sessionEnd", "SessionEnd": "sessionEnd",
	"userPromptSubmitted": "userPromptSubmitted", "UserPromptSubmit": "userPromptSubmitted",
	"userPromptTransformed": "userPromptTransformed",
	"preToolUse":            "preToolUse", "PreToolUse": "preToolUse",
	"postToolUse": "postToolUse", "PostToolUse": "postToolUse",
	"postToolUseFailure": "postToolUseFailure", "PostToolUseFailure": "postToolUseFailure",
	"errorOccurred": "errorOccurred", "ErrorOccurred": "errorOccurred",
	"agentStop": "agentStop", "Stop": "agentStop",
	"subagentStart": "subagentStart", "SubagentStart": "subagentStart",
	"subagentStop": "subagentStop", "SubagentStop": "subagentStop",
	"preCompact": "preCompact", "PreCompact": "preCompact",
	"permissionRequest": "permissionRequest", "PermissionRequest": "permissionRequest",
	"notification": "notification", "Notification": "notification",
	"preMcpToolCall": "preMcpToolCall", "PreMcpToolCall": "preMcpToolCall",
}

// PascalName is the other spelling of a camelCase event; "" when there is none.
func PascalName(event string) string {
	for name, camel := range EventNames {
		if camel == event && name != event {
			return name
		}
	}
	return ""
}

// Events returns the names under which the file has hooks, sorted.
func (c HookConfig) Events() []string {
	var names []string
	for name := range c.Hooks {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
