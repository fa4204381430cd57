package render

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// claude makes Claude Code's forms of what Copilot CLI loads. Where the plugin has something in a place that Claude
// Code looks in by itself, that is the author's word and nothing is added.
func (u *universal) claude() {
	m := u.portable("", nil)
	m.Agents = u.claudeDocuments("agents", u.claudeAgent)
	m.Commands = u.claudeDocuments("commands", func(name string, data []byte) (string, []byte) { return name, data })
	m.Hooks = u.claudeHooks()
	m.Servers = u.claudeServers()
	u.putJSON(claudeManifest, m)
}

func (u *universal) claudeDocuments(kind string, change func(string, []byte) (string, []byte)) []string {
	if len(u.below(kind)) > 0 {
		return nil
	}
	var paths []string
	for _, name := range u.below(path.Join(copilotDir, kind)) {
		if strings.Contains(name, "/") || !plugin.IsAgentFile(name) {
			continue
		}
		to, data := change(name, u.files[path.Join(copilotDir, kind, name)].Data)
		if data == nil {
			continue
		}
		to = path.Join(claudeDir, kind, to)
		if !u.has(to) {
			u.put(to, data)
		}
		paths = append(paths, "./"+to)
	}
	return paths
}

// claudeAgent writes name, description and tools in Claude Code's words and keeps the body. Models, servers and other
// fields of one client mean nothing, or something else, to the other.
func (u *universal) claudeAgent(name string, data []byte) (string, []byte) {
	a := plugin.ParseAgent(name, data)
	if a.Err != nil {
		u.note("%s/agents/%s: %v: Claude Code gets no such agent", copilotDir, name, a.Err)
		return "", nil
	}
	var b strings.Builder
	id := a.Name
	if portableName(id) != id { // a display name: Copilot CLI starts the agent by its file's name
		id = a.ID
	}
	fmt.Fprintf(&b, "---\nname: %s\ndescription: %s\n", quoteYAML(id), quoteYAML(a.Description))
	if tools, all := u.claudeTools(a.Doc.Fields.Get("tools")); !all {
		fmt.Fprintf(&b, "tools: %s\n", quoteYAML(strings.Join(tools, ", ")))
	}
	b.WriteString("---\n" + a.Doc.Body)
	return strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".agent") + ".md", []byte(b.String())
}

// quoteYAML is a text as a YAML scalar: JSON's quoting is YAML's too.
func quoteYAML(s string) string {
	data, err := marshal(s)
	if err != nil {
		return `""`
	}
	return strings.TrimSpace(string(data))
}

// claudeToolNames are Claude Code's words for the tools, by every name that Copilot CLI takes (lowercase).
var claudeToolNames = map[string][]string{
	"execute": {"Bash"}, "shell": {"Bash"}, "bash": {"Bash"}, "execute/runinterminal": {"Bash"}, "runcommands": {"Bash"},
	"read": {"Read"}, "notebookread": {"Read"}, "view": {"Read"}, "read/readfile": {"Read"},
	"edit": {"Edit", "Write"}, "write": {"Write"}, "multiedit": {"Edit"}, "notebookedit": {"NotebookEdit"}, "create": {"Write"},
	"edit/editfiles": {"Edit"}, "editfiles": {"Edit"}, "apply_patch": {"Edit", "Write"},
	"search": {"Grep", "Glob"}, "search/codebase": {"Grep", "Glob"}, "codebase": {"Grep", "Glob"}, "grep": {"Grep"}, "glob": {"Glob"},
	"agent": {"Task"}, "custom-agent": {"Task"}, "task": {"Task"}, "todo": {"TodoWrite"}, "todowrite": {"TodoWrite"},
	"update_todo": {"TodoWrite"}, "web": {"WebFetch", "WebSearch"}, "webfetch": {"WebFetch"}, "web_fetch": {"WebFetch"},
	"websearch": {"WebSearch"}, "web_search": {"WebSearch"},
}

// claudeTools translates a tools field; all: no limit is meant.
func (u *universal) claudeTools(field *plugin.Value) (tools []string, all bool) {
	var names []string
	switch {
	case field.Is(plugin.String):
		names = strings.Split(field.Text, ",")
	case field.Is(plugin.List):
		for _, v := range field.Items {
			names = append(names, v.Str())
		}
	default:
		return nil, true
	}
	for _, name := range names {
		name = strings.TrimSpace(name)
		server, tool, ofServer := strings.Cut(name, "/")
		switch known := claudeToolNames[strings.ToLower(name)]; {
		case name == "*":
			return nil, true
		case known != nil:
			tools = append(tools, known...)
		case ofServer && tool == "*":
			tools = append(tools, u.claudeServer(server))
		case ofServer:
			tools = append(tools, u.claudeServer(server)+"__"+tool)
		case name != "":
			tools = append(tools, name)
		}
	}
	slices.Sort(tools)
	return slices.Compact(tools), false
}

// claudeServer is how Claude Code calls the tools of a server that this plugin brings.
func (u *universal) claudeServer(name string) string {
	return "mcp__plugin_" + u.name + "_" + regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(name, "_")
}

// claudeEvents are Claude Code's names of the events, by Copilot CLI's; the others have none there.
var claudeEvents = map[string]string{
	"sessionStart": "SessionStart", "sessionEnd": "SessionEnd", "userPromptSubmitted": "UserPromptSubmit", "preToolUse": "PreToolUse",
	"postToolUse": "PostToolUse", "postToolUseFailure": "PostToolUseFailure", "agentStop": "Stop", "subagentStart": "SubagentStart",
	"subagentStop": "SubagentStop", "preCompact": "PreCompact", "permissionRequest": "PermissionRequest", "notification": "Notification",
}

// ofTools are the events whose matcher is a tool's name; ofKinds those with another matcher that both clients have.
var (
	ofTools = []string{"preToolUse", "postToolUse", "permissionRequest"}
	ofKinds = []string{"preCompact", "subagentStart", "notification"}
)

// claudeForm tells whether Claude Code takes the hook file as it is: its own event names, and hooks in groups.
func claudeForm(data []byte) bool {
	c, err := plugin.ParseHooks(data)
	if err != nil {
		return false
	}
	for name, items := range c.Hooks {
		if claudeEvents[plugin.EventNames[name]] != name || slices.ContainsFunc(items, func(h plugin.Hook) bool { return h.Hooks == nil }) {
			return false
		}
	}
	return true
}

type claudeItem struct {
	Type    string            `json:"type"`
	Command string            `json:"command,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Timeout float64           `json:"timeout,omitempty"`
}

type claudeItems struct {
	Matcher string       `json:"matcher,omitempty"`
	Hooks   []claudeItem `json:"hooks"`
}

// claudeHooks returns the path of Claude Code's hook file, empty where it gets none or finds one by itself.
func (u *universal) claudeHooks() string {
	f, ok := u.files[hooksPlace]
	if !ok || u.has("hooks/hooks.json") {
		return ""
	}
	to := claudeDir + "/hooks/hooks.json"
	switch {
	case u.has(to):
	case claudeForm(f.Data):
		u.put(to, f.Data)
	default:
		hooks := u.translateHooks(f.Data)
		if len(hooks) == 0 {
			return ""
		}
		u.putJSON(to, map[string]any{"hooks": hooks})
	}
	return "./" + to
}

func (u *universal) translateHooks(data []byte) map[string][]claudeItems {
	c, err := plugin.ParseHooks(data)
	if err != nil {
		u.note("%s: %v: Claude Code gets no hooks", hooksPlace, err)
		return nil
	}
	out := map[string][]claudeItems{}
	for _, name := range slices.Sorted(maps.Keys(c.Hooks)) {
		event := plugin.EventNames[name]
		claude, known := claudeEvents[event]
		if !known {
			u.note("%s: Claude Code has no event %s: left out", hooksPlace, name)
			continue
		}
		for _, h := range c.Hooks[name] {
			inner := h.Hooks
			if inner == nil {
				inner = []plugin.Hook{h}
			}
			group := claudeItems{Matcher: claudeMatcher(event, h.Matcher)}
			for _, item := range inner {
				if done, ok := u.claudeItem(name, item); ok {
					group.Hooks = append(group.Hooks, done)
				}
			}
			if len(group.Hooks) > 0 {
				out[claude] = append(out[claude], group)
			}
		}
	}
	return out
}

var toolWord = regexp.MustCompile(`[A-Za-z_]+`)

// claudeMatcher puts Claude Code's tool names into the expression.
func claudeMatcher(event, matcher string) string {
	switch {
	case slices.Contains(ofTools, event):
		plain := strings.Trim(toolWord.ReplaceAllString(matcher, ""), "|") == ""
		return toolWord.ReplaceAllStringFunc(matcher, func(word string) string {
			names := claudeToolNames[word]
			switch {
			case names == nil:
				return word
			case len(names) == 1 || plain:
				return strings.Join(names, "|")
			}
			return "(?:" + strings.Join(names, "|") + ")"
		})
	case slices.Contains(ofKinds, event):
		return matcher
	}
	return ""
}

// claudeItem makes one command of it that does there what the hook does here: same folder, same variables.
func (u *universal) claudeItem(event string, h plugin.Hook) (claudeItem, bool) {
	out := claudeItem{Type: "command", Timeout: h.TimeoutSec}
	if out.Timeout == 0 {
		out.Timeout = h.Timeout
	}
	if h.Type == "http" {
		out.Type, out.URL, out.Headers = "http", h.URL, h.Headers
		return out, true
	}
	command := h.Bash
	if command == "" {
		command = h.Command
	}
	if h.Exec != "" {
		command = ShellWords(append([]string{h.Exec}, h.Args...))
	}
	if h.Type == "prompt" || command == "" {
		u.note("%s: %s: no form of this hook for Claude Code: left out", hooksPlace, event)
		return out, false
	}
	r := renderer{assets: u.assets}
	s := shell{Path: ShellWords([]string{cwdOf(h.Cwd)}), Args: strings.TrimRight(command, " \t\r\n")}
	for _, name := range slices.Sorted(maps.Keys(h.Env)) {
		s.Env += "export " + name + "=" + ShellWords([]string{h.Env[name]}) + "; "
	}
	out.Command = r.snippet("claude.bash", s)
	u.fail(r.err)
	return out, true
}

// cwdOf: without a folder a plugin's hook runs in the plugin, and a relative one is one of the project.
func cwdOf(cwd string) string {
	switch {
	case cwd == "":
		return "${PLUGIN_ROOT}"
	case strings.HasPrefix(cwd, "$") || path.IsAbs(cwd):
		return cwd
	}
	return "${CLAUDE_PROJECT_DIR}/" + cwd
}

var placeholder = regexp.MustCompile(`\$\{(?:PLUGIN_ROOT|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA|COPILOT_PLUGIN_DATA|CLAUDE_PROJECT_DIR|COPILOT_PROJECT_DIR)\}`)

// ShellWords quotes words for a POSIX shell. The placeholders that the client replaces stay open, as variables.
func ShellWords(words []string) string {
	quoted := make([]string, len(words))
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	for i, w := range words {
		var b strings.Builder
		at := 0
		for _, m := range placeholder.FindAllStringIndex(w, -1) {
			b.WriteString(escape.Replace(w[at:m[0]]) + w[m[0]:m[1]])
			at = m[1]
		}
		quoted[i] = `"` + b.String() + escape.Replace(w[at:]) + `"`
	}
	return strings.Join(quoted, " ")
}
