package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// manifest is plugin.json: the embedded one in the form that Copilot CLI loads from this repository as it is, with the
// folders of its parts; the rendered ones in that of Agent Plugins 1.0 and of Claude Code. Its fields are all that ours
// uses: another one in the embedded file is a fault of the build.
type manifest struct {
	Schema      string         `json:"$schema,omitempty"`
	Name        string         `json:"name"`
	Version     string         `json:"version"`
	Description string         `json:"description"`
	Author      author         `json:"author"`
	License     string         `json:"license"`
	Keywords    []string       `json:"keywords,omitempty"`
	Extensions  map[string]any `json:"extensions,omitempty"`
	Skills      []string       `json:"skills,omitempty"` // the embedded manifest only
	Agents      []string       `json:"agents,omitempty"` // not in the manifest of Agent Plugins, as Hooks
	Hooks       string         `json:"hooks,omitempty"`
	MCPServers  string         `json:"mcpServers,omitempty"` // as Agents
}

type author struct {
	Name string `json:"name"`
}

func (r *renderer) manifest() manifest {
	var m manifest
	dec := json.NewDecoder(bytes.NewReader(r.read("plugin.json")))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		r.fail(fmt.Errorf("plugin.json: %w", err))
	}
	if r.o.Version != "" {
		m.Version = r.o.Version
	}
	m.Skills, m.Agents, m.Hooks = nil, nil, ""
	return m
}

// agentPlugins is the manifest with what Agent Plugins 1.0 wants beside the portable fields.
func agentPlugins(m manifest) manifest {
	m.Schema = plugin.Schema
	m.Extensions = map[string]any{"com.github.copilot": struct{}{}, claudeDir: struct{}{}}
	return m
}

const claudeDir = "com.anthropic.claude-code"

// claude adds the forms of Claude Code: its own manifest, agents as plain .md, and nested hooks in PascalCase.
func (r *renderer) claude(m manifest) {
	agents, err := fs.Glob(r.assets, "assets/agents/*.agent.md")
	r.fail(err)
	for _, from := range agents {
		to := path.Join(claudeDir, "agents", strings.TrimSuffix(path.Base(from), ".agent.md")+".md")
		r.add(to, r.read(from), 0o644)
		m.Agents = append(m.Agents, "./"+to)
	}
	m.Hooks = "./" + claudeDir + "/hooks/hooks.json"
	r.addJSON(claudeDir+"/hooks/hooks.json", r.claudeHooks())
	if r.o.Full != "" {
		m.MCPServers = "./" + claudeDir + "/mcp.json"
	}
	r.addJSON(".claude-plugin/plugin.json", m)
}

type claudeHook struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

type claudeGroup struct {
	Hooks []claudeHook `json:"hooks"`
}

func (r *renderer) claudeHooks() any {
	hooks := map[string][]claudeGroup{}
	for _, e := range r.events() {
		if e.Claude == "" {
			continue
		}
		command := `"${CLAUDE_PLUGIN_ROOT}/bin/` + r.words([]string{r.programName()}) + `" ` + r.words(r.args(e.Claude)) + " || true"
		hooks[e.Claude] = []claudeGroup{{[]claudeHook{{"command", command, e.TimeoutSec}}}}
	}
	return struct {
		Hooks map[string][]claudeGroup `json:"hooks"`
	}{hooks}
}

// The names of our marketplace and of the plugin in it, as they stand in the client's settings.
const (
	MarketplaceName = "copilot-mem"
	PluginName      = "copilot-mem"
)

// Marketplace renders a local marketplace with our plugin in it: the client loads it from where it lies. One JSON text
// serves both clients.
func Marketplace(assets fs.FS, o Options) (plugin.Tree, error) {
	o.Scope = Bundle
	tree, err := Plugin(assets, o)
	if err != nil {
		return nil, err
	}
	r := renderer{assets: assets, o: o}
	for _, f := range tree {
		r.add(path.Join(PluginName, f.Path), f.Data, f.Mode)
	}
	m := r.manifest()
	type item struct {
		Name        string `json:"name"`
		Source      string `json:"source"`
		Description string `json:"description"`
		Version     string `json:"version"`
	}
	catalogue := struct {
		Name    string `json:"name"`
		Owner   author `json:"owner"`
		Plugins []item `json:"plugins"`
	}{MarketplaceName, m.Author, []item{{m.Name, "./" + PluginName, m.Description, m.Version}}}
	r.addJSON(".github/plugin/marketplace.json", catalogue)
	r.addJSON(".claude-plugin/marketplace.json", catalogue)
	if r.err != nil {
		return nil, r.err
	}
	r.sort()
	return r.tree, nil
}

func isWindows(target string) bool { return strings.HasPrefix(target, "windows") }
