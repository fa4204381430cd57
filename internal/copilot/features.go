package copilot

// Feature is something that the client can do since a version, with the place that says so.
type Feature struct {
	Name   string
	Since  string
	Source string
	Seen   bool // no source says since when; it is the oldest client that was seen to do it
}

// Features are what an installation may rely on, oldest first. The client's changelog ships with it (changelog.json).
var Features = []Feature{
	{"hooks that may deny a tool call", "0.0.396", "changelog 0.0.396: preToolUse hooks can deny tool execution", false},
	{"agentStop and subagentStop", "0.0.401", "changelog 0.0.401: add agentStop and subagentStop hooks", false},
	{"hook files of the user", "0.0.422", "changelog 0.0.422: load personal hooks from ~/.copilot/hooks", false},
	{"preCompact", "1.0.5", "changelog 1.0.5: add preCompact hook", false},
	{"session ids in hook events", "1.0.11", "changelog 1.0.11", false},
	{"context at the start of a session", "1.0.11", "changelog 1.0.11: sessionStart additionalContext is injected", false},
	{"postToolUseFailure", "1.0.15", "changelog 1.0.15: add postToolUseFailure hooks", false},
	{"changed arguments of a tool call", "1.0.24", "changelog 1.0.24: preToolUse hooks respect modifiedArgs and additionalContext", false},
	{"PLUGIN_ROOT in a plugin's hooks", "1.0.26", "changelog 1.0.26", false},
	{"session id in MCP servers", "1.0.29", "changelog 1.0.29: COPILOT_AGENT_SESSION_ID", false},
	{"repository hooks without a terminal", "1.0.49", "changelog 1.0.49: repo hooks load in prompt mode when the folder is trusted", false},
	{"context with a prompt", "1.0.65", "changelog 1.0.65: userPromptSubmitted additionalContext in the model-facing prompt", false},
	{"hooks that start a program directly", "1.0.78", "docs/hooks.md: seen on 1.0.78 and 1.0.102, the changelog does not say", true},
	{"Agent Plugins parts in com.github.copilot/", "1.0.80", "changelog 1.0.80: spec plugins read their parts only there", false},
}

// FeatureNamed finds a feature; a name that is not in the table is a mistake of the caller and panics.
func FeatureNamed(name string) Feature {
	for _, f := range Features {
		if f.Name == name {
			return f
		}
	}
	panic("no feature is called " + name)
}
