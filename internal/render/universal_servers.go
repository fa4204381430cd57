package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

const serversPlace = "mcp.json"

// serversSchema is the `$schema` of an mcp.json beside a plugin.json of the same version.
func serversSchema(manifest string) string {
	return strings.TrimSuffix(manifest, "plugin.schema.json") + "mcp.schema.json"
}

// servers moves the MCP servers into mcp.json in the form of Agent Plugins. A default file wins over the manifest.
func (u *universal) servers(field *plugin.Value) {
	for _, p := range []string{".mcp.json", ".github/mcp.json"} {
		if u.has(p) {
			u.serverFile(p)
			return
		}
	}
	switch {
	case field.Is(plugin.String):
		u.serverFile(path.Clean(field.Text))
	case field.Is(plugin.Map):
		u.agentServers(u.inline("mcpServers"))
	}
}

func (u *universal) serverFile(from string) {
	f, ok := u.files[from]
	if !ok {
		return
	}
	var doc map[string]any
	if err := json.Unmarshal(f.Data, &doc); err != nil {
		u.note("%s: no JSON object: the client drops it", from)
		return
	}
	if wrapped, ok := doc["mcpServers"]; ok {
		u.agentServers(wrapped)
	} else {
		u.agentServers(doc)
	}
	if !u.authored {
		delete(u.files, from)
	}
}

func (u *universal) agentServers(servers any) {
	all, ok := servers.(map[string]any)
	if !ok || len(all) == 0 {
		return
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if s, ok := all[name].(map[string]any); ok {
			out[name] = u.agentServer(name, s)
		}
	}
	u.putJSON(serversPlace, map[string]any{"$schema": serversSchema(plugin.Schema), "mcpServers": out})
}

// agentServer keeps what Agent Plugins 1.0 has a field for and says what it leaves out.
func (u *universal) agentServer(name string, s map[string]any) map[string]any {
	out := map[string]any{"type": "stdio"}
	fields := []string{"command", "args", "env", "cwd"}
	if _, remote := s["url"]; remote {
		fields = []string{"url", "headers"}
		out["type"] = "streamable-http"
		if s["type"] == "sse" {
			out["type"] = "sse"
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if key == "type" {
			continue
		}
		value := mapText(s[key], agentVariables.Replace)
		if !slices.Contains(fields, key) || !u.agentField(key, &value) {
			if key != "tools" || fmt.Sprint(s[key]) != "[*]" { // all tools is what every client takes it for
				u.note("%s: server %q: Agent Plugins has no place for %q: left out", serversPlace, name, key)
			}
			continue
		}
		out[key] = value
	}
	return out
}

// The client's names of the two folders, as Agent Plugins writes them.
var agentVariables = strings.NewReplacer("${CLAUDE_PLUGIN_ROOT}", "${PLUGIN_ROOT}",
	"${CLAUDE_PLUGIN_DATA}", "${PLUGIN_DATA}", "${COPILOT_PLUGIN_DATA}", "${PLUGIN_DATA}")

// agentField brings a field into the form of Agent Plugins; false: it has none.
func (u *universal) agentField(key string, value *any) bool {
	switch v := (*value).(type) {
	case string:
		if rest, ok := strings.CutPrefix(v, "${PLUGIN_ROOT}/"); ok {
			v = "./" + rest
		}
		if key == "command" && u.has(path.Clean(v)) || key == "cwd" && !strings.HasPrefix(v, "$") {
			v = "./" + path.Clean(v)
		}
		*value = v
		return key != "cwd" || !strings.Contains(v, "..")
	case map[string]any:
		for name, text := range v {
			v[name] = fmt.Sprint(text)
			if name == "PLUGIN_ROOT" || name == "PLUGIN_DATA" { // the client sets them
				delete(v, name)
			}
		}
	}
	return true
}

// mapText changes every text in a JSON value.
func mapText(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mapText(v[i], change)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[k] = mapText(v[k], change)
		}
		return out
	}
	return v
}

// claudeServers gives Claude Code the servers of mcp.json. Its servers start in the project, so files of the plugin are
// named in full.
func (u *universal) claudeServers() string {
	f, ok := u.files[serversPlace]
	if !ok || u.has(".mcp.json") {
		return ""
	}
	var doc struct {
		Servers map[string]map[string]any `json:"mcpServers"`
	}
	if err := json.Unmarshal(f.Data, &doc); err != nil {
		u.note("%s: %v: Claude Code gets no servers", serversPlace, err)
		return ""
	}
	for _, s := range doc.Servers {
		switch s["type"] {
		case "stdio":
			delete(s, "type")
		case "streamable-http":
			s["type"] = "http"
		}
		for key, value := range s {
			s[key] = mapText(value, func(text string) string { return u.claudePath(text) })
		}
	}
	to := claudeDir + "/mcp.json"
	u.putJSON(to, map[string]any{"mcpServers": doc.Servers})
	return "./" + to
}

// claudePath names a file of the plugin, or a place in its two folders, as Claude Code does.
func (u *universal) claudePath(text string) string {
	if clean := path.Clean(text); strings.HasPrefix(text, "./") || u.has(clean) {
		text = "${PLUGIN_ROOT}/" + clean
	}
	return strings.NewReplacer("${PLUGIN_ROOT}", "${CLAUDE_PLUGIN_ROOT}", "${PLUGIN_DATA}", "${CLAUDE_PLUGIN_DATA}").Replace(text)
}
