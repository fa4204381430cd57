# A hook of Copilot CLI in Claude Code: the names of the folders that it knows, the folder that it runs in, its variables.
export PLUGIN_ROOT="${CLAUDE_PLUGIN_ROOT}" COPILOT_PLUGIN_ROOT="${CLAUDE_PLUGIN_ROOT}";
export COPILOT_PLUGIN_DATA="${CLAUDE_PLUGIN_DATA}" COPILOT_PROJECT_DIR="${CLAUDE_PROJECT_DIR}";
{{.Env}}cd {{.Path}} || exit 1;
{{.Args}}
