package validate

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// legacyParts checks what a plugin of the older rules gives; root is nil where it has no manifest.
func (c *checker) legacyParts(root *plugin.Value, r *report) {
	c.legacySkills(root, r)
	c.legacyFolder(root, r, "agents", func(p string) {
		if c.isDir(p) {
			c.agentTree(p, true, true)
		} else {
			c.agent(p, path.Dir(p), true)
		}
	})
	c.legacyFolder(root, r, "commands", func(p string) {
		if c.isDir(p) {
			c.commandTree(p)
		} else {
			c.command(p)
		}
	})
	c.legacyHooks(root.Get("hooks"), r)
	c.legacyServers(root.Get("mcpServers"), r)
}

func (c *checker) legacySkills(root *plugin.Value, r *report) {
	if c.exists("skills") && !c.isDir("skills") {
		c.open("skills").refuse(nil, "plugin/skills-path", notDirectory, "make skills a folder")
	}
	v := root.Get("skills")
	if absent(v) {
		c.defaultSkills()
		return
	}
	paths, exclusive, ok := componentPaths(v)
	if !ok {
		message := "Invalid skills object form: expected { paths: string[] }"
		if v.Kind == plugin.List {
			message = "componentPath.replace is not a function"
		}
		r.refuse(v, "plugin/skills-type", message, `write "skills": ["./skills/"]`)
		return
	}
	if v.Kind == plugin.Map && !exclusive {
		c.defaultSkills()
	}
	for _, p := range paths {
		at, ok := inside(p.Text)
		switch {
		case !ok:
			r.refuse(p, "plugin/skills-path", "skills path escapes plugin directory: "+p.Text, "name a folder inside the plugin")
		case c.isFile(at):
			r.refuse(p, "plugin/skills-path", notDirectory, "name the folder of the skill, not its SKILL.md")
		case !c.isDir(at):
			r.warn(p, "plugin/missing-path", "there is no "+p.Text, "create it, or remove it here")
		default:
			c.skillTree(at)
		}
	}
}

const notDirectory = "Not a directory (os error 20)"

// defaultSkills are those of skills/, or the one at the root of a plugin without that folder.
func (c *checker) defaultSkills() {
	if c.isDir("skills") {
		c.skillTree("skills")
		if c.isFile("SKILL.md") {
			c.open("SKILL.md").warn(nil, "plugin/not-read", "SKILL.md at the root is not read beside skills/", "move it to skills/<name>/SKILL.md")
		}
		return
	}
	if c.isFile("SKILL.md") {
		c.skill("SKILL.md", c.name)
	}
}

func (c *checker) legacyFolder(root *plugin.Value, r *report, field string, check func(string)) {
	v := root.Get(field)
	if absent(v) {
		if c.isDir(field) {
			check(field)
		}
		return
	}
	paths, exclusive, ok := componentPaths(v)
	if ok && v.Kind == plugin.Map && !exclusive && c.isDir(field) {
		check(field)
	}
	if !ok {
		r.warn(v, "plugin/"+field+"-type", field+" of this type load nothing", fmt.Sprintf(`write "%s": ["./%s/"]`, field, field))
		return
	}
	for _, p := range paths {
		at, ok := inside(p.Text)
		switch {
		case !ok:
			r.warn(p, "plugin/"+field+"-path", p.Text+" lies outside the plugin: nothing is loaded", "name a path inside the plugin")
		case !c.exists(at):
			r.warn(p, "plugin/missing-path", "there is no "+p.Text, "create it, or remove it here")
		default:
			check(at)
		}
	}
}

func (c *checker) legacyHooks(v *plugin.Value, r *report) {
	const inline = "Invalid inline hooks config: "
	switch {
	case absent(v):
		c.defaultHooks()
	case v.Is(plugin.String):
		at, ok := inside(v.Text)
		switch {
		case !ok:
			r.refuse(v, "plugin/hooks-path", "Hooks path escapes plugin directory: "+v.Text, "name a file inside the plugin")
		case c.isDir(at):
			r.refuse(v, "plugin/hooks-path", "Failed to read hooks config: Is a directory (os error 21)", "name the file in it")
		case !c.exists(at):
			r.warn(v, "plugin/missing-path", "there is no "+v.Text+": the default places are read instead", "create it, or remove it here")
			c.defaultHooks()
		default:
			c.hookFile(at, inPlugin)
		}
	case v.Is(plugin.Map) && v.Get("hooks") != nil && !slices.ContainsFunc(v.Fields, func(f plugin.Field) bool { return plugin.EventNames[f.Name] != "" }):
		r.warn(v, "plugin/hooks-wrapped", "an inline {version, hooks} loads nothing", "write the map of events itself, or name a file")
	default:
		h := hookChecker{r: r, where: inPlugin, before: inline}
		h.events(v)
	}
}

// defaultHooks: the first of the two files that the client can use; both are read until then.
func (c *checker) defaultHooks() {
	places := []string{"hooks.json", "hooks/hooks.json"}
	for i, p := range places {
		if !c.isFile(p) {
			continue
		}
		before := len(c.findings)
		c.hookFile(p, inPlugin)
		refused := slices.ContainsFunc(c.findings[before:], func(f Finding) bool { return f.Severity == Error && f.Rule != "hooks/matcher" })
		if i == 0 && !refused && c.isFile(places[1]) {
			c.open(places[1]).warn(nil, "plugin/hooks-shadowed", "not read: hooks.json at the root wins", "keep one of the two files")
			return
		}
	}
}

func (c *checker) legacyServers(v *plugin.Value, r *report) {
	file := ""
	for _, p := range []string{".mcp.json", ".github/mcp.json"} {
		if c.isFile(p) {
			file = p
			break
		}
	}
	if file == "" && c.isFile("mcp.json") {
		c.open("mcp.json").warn(nil, "mcp/location", "not read without the Agent Plugins schema", "rename it to .mcp.json")
	}
	switch {
	case file != "":
		if at, _ := inside(v.Str()); !absent(v) && at != file {
			r.warn(v, "plugin/servers-shadowed", "mcpServers is ignored: "+file+" is read", "keep one of the two")
		}
		c.serverFile(file)
	case v.Is(plugin.String):
		if at, ok := inside(v.Text); ok && c.isFile(at) {
			c.serverFile(at)
		} else {
			r.warn(v, "plugin/missing-path", "there is no "+v.Text+" inside the plugin", "create it, or remove it here")
		}
	case absent(v):
	case !v.Is(plugin.Map) || v.Get("mcpServers") != nil:
		r.warn(v, "plugin/servers-wrapped", "mcpServers of this form load nothing", "write the map of servers itself")
	default:
		r.servers(v)
	}
}

// serverFile checks an .mcp.json; the client drops a bad one in silence.
func (c *checker) serverFile(file string) {
	r := c.open(file)
	r.quiet = true
	root, ok := r.json("mcp/json", "")
	if !ok {
		return
	}
	if m := root.Get("mcpServers"); m != nil {
		root = m
	} else if s := root.Get("servers"); s != nil {
		r.warn(s, "mcp/servers-key", `"servers" is read as the name of a server`, `write "mcpServers"`)
		return
	}
	r.servers(root)
}

func (r *report) servers(m *plugin.Value) {
	if m.Kind != plugin.Map {
		r.warn(m, "mcp/servers-type", "the servers are no object: none is loaded", `write {"name": {"command": "…"}}`)
		return
	}
	for _, f := range m.Fields {
		r.program(f.Value.Get("command"), true, "mcp/command", ": the server cannot start")
		if !f.Value.Is(plugin.Map) || f.Value.Get("command").Str() == "" && f.Value.Get("url").Str() == "" {
			r.warn(f.Key, "mcp/server", fmt.Sprintf("server %q has neither command nor url: the whole file is dropped", f.Name), `write "command" or "url"`)
		}
	}
}

// specParts checks what a plugin of Agent Plugins rules gives.
func (c *checker) specParts(r *report) {
	if c.exists("skills") && !c.isDir("skills") {
		c.open("skills").refuse(nil, "plugin/skills-path", notDirectory, "make skills a folder")
	}
	c.skillTree("skills")
	if c.isFile("SKILL.md") && !c.isDir("skills") {
		c.open("SKILL.md").warn(nil, "plugin/not-read", "SKILL.md at the root is not part of Agent Plugins", "move it to skills/<name>/SKILL.md")
	}
	if c.isDir(copilotDir + "agents") {
		c.agentTree(copilotDir+"agents", true, true)
	}
	if c.isDir(copilotDir + "commands") {
		c.commandTree(copilotDir + "commands")
	}
	hooks := copilotDir + "hooks/hooks.json"
	if c.isFile(hooks) {
		c.hookFile(hooks, inPlugin)
	}
	leftovers := map[string]string{"agents": copilotDir + "agents", "commands": copilotDir + "commands", "hooks/hooks.json": hooks,
		"hooks.json": hooks, "lsp.json": copilotDir + "lsp.json", ".mcp.json": "mcp.json", copilotDir + "hooks.json": hooks,
		copilotDir + "mcp.json": "mcp.json"}
	for from, to := range leftovers {
		if c.exists(from) && !c.exists(to) {
			c.open(from).warn(nil, "plugin/not-read", fmt.Sprintf("%q at the plugin root is no longer read by a plugin with the Agent Plugins schema", from), "move it to "+to)
		}
	}
	c.specServers(r)
}

func (c *checker) specServers(manifest *report) {
	if !c.isFile("mcp.json") {
		return
	}
	r := c.open("mcp.json")
	r.quiet = true
	root, ok := r.json("mcp/json", "")
	if !ok {
		return
	}
	data, _ := fs.ReadFile(c.fsys, manifest.file)
	m, err := plugin.ParseManifest(data)
	if err != nil {
		return
	}
	want := strings.TrimSuffix(m.Schema, "plugin.schema.json") + "mcp.schema.json"
	schema := root.Get("$schema")
	if schema.Str() != want {
		at := schema
		if at == nil {
			at = root
		}
		r.warn(at, "mcp/schema", "no server is loaded: $schema must carry the version of plugin.json", fmt.Sprintf(`write "$schema": %q`, want))
	}
	for _, f := range root.Fields {
		if f.Name != "$schema" && f.Name != "mcpServers" {
			r.warn(f.Key, "mcp/unknown-field", fmt.Sprintf("unknown field %q: no server is loaded", f.Name), "remove it")
		}
	}
	for _, f := range asMap(root.Get("mcpServers")) {
		r.specServer(f)
	}
}

func (r *report) specServer(f plugin.Field) {
	kind := f.Value.Get("type")
	switch kind.Str() {
	case "stdio":
		command := f.Value.Get("command")
		r.program(command, true, "mcp/command", ": the server cannot start")
		if strings.Contains(command.Str(), " ") {
			r.spec(command, "mcp/command", "a command with arguments in one text", `put the arguments into "args"`)
		}
		if path.IsAbs(command.Str()) || strings.HasPrefix(command.Str(), "../") {
			r.spec(command, "mcp/command", "a command outside the plugin is not portable", "name a file of the plugin, or a program on PATH")
		}
		for _, e := range asMap(f.Value.Get("env")) {
			if e.Value.Kind != plugin.String {
				r.warn(e.Value, "mcp/server", fmt.Sprintf("server %q is dropped: env values must be strings", f.Name), quoteHint(e.Value))
			}
		}
	case "streamable-http":
		if u := f.Value.Get("url"); strings.HasPrefix(u.Str(), "http:") {
			r.spec(u, "mcp/url", "plain http", "write https")
		}
	default:
		at := kind
		if at == nil {
			at = f.Key
		}
		r.warn(at, "mcp/server", fmt.Sprintf("server %q is dropped: its type is not one of stdio, streamable-http", f.Name), `write "type": "stdio"`)
	}
	if t := f.Value.Get("tools"); t != nil {
		r.warn(t, "mcp/server", fmt.Sprintf("server %q is dropped: tools is not part of Agent Plugins", f.Name), "remove it")
	}
}
