package facts

import (
	"encoding/json"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/hook"
)

// canonicalTool is the tool's name as policies know it. hook has undone the dialect's own names already; the rest are
// names that other clients use for the same tools.
func canonicalTool(e hook.Event) string {
	switch e.Tool {
	case "Task":
		return "task"
	case "MultiEdit":
		return "edit"
	case "edit":
		if editsByPatch(e.ToolInput) {
			return "apply_patch"
		}
	}
	return e.Tool
}

// editsByPatch reports arguments of an edit that are a text, or an object with nothing but a patch.
func editsByPatch(raw json.RawMessage) bool {
	args := decodeArgs(raw)
	if _, plain := rawText(raw); plain && len(args) == 1 {
		if _, ok := args["input"]; ok {
			return true
		}
	}
	return len(args) == 1 && looksLikePatch(patchText(args))
}

// CanonicalTool gives the canonical spelling of a tool name that a policy uses.
func CanonicalTool(name string) string {
	switch name {
	case "Bash":
		return "bash"
	case "Read":
		return "view"
	case "Write":
		return "create"
	case "Edit", "MultiEdit":
		return "edit"
	case "Agent", "Task":
		return "task"
	case "Grep":
		return "grep"
	case "Glob":
		return "glob"
	}
	return name
}

func shellTool(name string) bool {
	switch name {
	case "bash", "shell", "terminal", "powershell":
		return true
	}
	return typesInto(name)
}

// typesInto reports the client's tools that type into a shell that runs already (1.0.102): what they type is a command
// too, as far as it can be seen here.
func typesInto(name string) bool { return name == "write_bash" || name == "write_powershell" }

func patchTool(name string) bool { return name == "apply_patch" || name == "patch" }

// IsRead reports whether the tool is one that only reads and that an invalid policy therefore never stops.
func (f *Facts) IsRead() bool {
	switch f.tool {
	case "view", "grep", "glob", "skill", "read_file", "read_bash", "list_bash", "read_agent", "list_agents", "fetch_copilot_cli_documentation":
		return true
	}
	return false
}

// decodeArgs reads the arguments: an object as it is, an object inside a text parsed, any other text as {"input": text}.
func decodeArgs(raw json.RawMessage) map[string]any {
	args := map[string]any{}
	if text, ok := rawText(raw); ok {
		if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") && json.Unmarshal([]byte(t), &args) == nil {
			return args
		}
		return map[string]any{"input": text}
	}
	if len(raw) > 0 && json.Unmarshal(raw, &args) != nil {
		return map[string]any{"input": string(raw)}
	}
	if args == nil { // the document null
		args = map[string]any{}
	}
	return args
}

func rawText(raw json.RawMessage) (string, bool) {
	var text string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	return text, true
}

// firstText is the first argument of the given names that is a text with content.
func firstText(args map[string]any, names ...string) (string, bool) {
	for _, name := range names {
		if s, ok := args[name].(string); ok && s != "" {
			return s, true
		}
	}
	return "", false
}

// patchText is the patch that the arguments of a patch tool hold.
func patchText(args map[string]any) string {
	text, _ := firstText(args, "input", "patch", "diff", "patch_text", "patchText", "text", "content")
	return text
}

// findTools adds to a patch the calls that it amounts to.
func (f *Facts) findTools() []Call {
	calls := []Call{{f.tool, f.args()}}
	if !patchTool(f.tool) {
		return calls
	}
	for _, p := range parsePatch(patchText(f.args())) {
		switch p.action {
		case "create":
			calls = append(calls, Call{"create", map[string]any{"path": p.path, "file_text": p.added}})
		case "edit", "rename":
			if p.action == "edit" || p.added != "" || p.removed != "" {
				calls = append(calls, Call{"edit", map[string]any{"path": p.path, "old_str": p.removed, "new_str": p.added}})
			}
		}
	}
	return calls
}
