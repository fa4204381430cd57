package validate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// agentBefore stands before every message of the client about an agent file.
const agentBefore = "custom agent markdown frontmatter is malformed: "

var agentFields = map[string]bool{
	"name": true, "description": true, "tools": true, "model": true, "model-policy": true, "reasoning-effort": true,
	"infer": true, "disable-model-invocation": true, "user-invocable": true, "include-custom-instructions": true,
	"deferred-tool-loading": true, "skills": true, "mcp-servers": true, "hooks": true, "github": true,
}

// agent checks one agent file; root is the agents folder that it lies in. quiet is for plugins, where the client drops
// a bad agent without a message.
func (c *checker) agent(file, root string, quiet bool) {
	r := c.open(file)
	r.quiet = quiet
	data, ok := r.read("agent/unreadable")
	if !ok {
		return
	}
	if len(data) > plugin.MaxFileSize {
		r.refuse(nil, "agent/file-size", "file exceeds the 1 MiB size limit", "keep the prompt short")
		return
	}
	r.fixFrontmatter()
	a := plugin.ParseAgent(strings.TrimPrefix(file, root+"/"), data)
	if a.Doc.BadUTF8 {
		r.refuse(nil, "agent/utf8", "stream did not contain valid UTF-8", "save the file as UTF-8")
		return
	}
	if !r.parsed("agent", agentBefore, a.Err) {
		return
	}
	f := a.Doc.Fields
	if f.Kind == plugin.Null {
		f = &plugin.Value{Kind: plugin.Map, Line: f.Line, Column: f.Column}
	}
	if f.Kind != plugin.Map {
		r.refuse(f, "agent/not-a-mapping", agentBefore+"Expected object, received "+string(f.Kind), "write `description: …` and the other fields one a line")
		return
	}
	t := typed{r: r, rule: "agent/field-type", before: agentBefore}
	if d := f.Get("description"); d == nil {
		r.refuse(f, "agent/description-missing", agentBefore+"description: Required", "say in `description:` what the agent is for")
	} else {
		t.is(d, "description", plugin.String)
	}
	t.is(f.Get("name"), "name", plugin.String)
	t.is(f.Get("reasoning-effort"), "reasoning-effort", plugin.String)
	for _, name := range []string{"infer", "disable-model-invocation", "user-invocable", "include-custom-instructions", "deferred-tool-loading"} {
		t.is(f.Get(name), name, plugin.Bool)
	}
	if v := f.Get("tools"); !v.Is(plugin.String) {
		t.strings(v, "tools")
	}
	switch v := f.Get("model"); {
	case v.Is(plugin.List) && len(v.Items) == 0:
		t.bad(v, "model: Expected a non-empty list of model names", "name a model, or remove the field")
	case v.Is(plugin.List):
		t.strings(v, "model")
	default:
		t.is(v, "model", plugin.String)
	}
	if v := f.Get("model-policy"); v != nil && t.is(v, "model-policy", plugin.String) && v.Text != "preferred" && v.Text != "required" {
		t.bad(v, `model-policy: Expected "preferred" or "required"`, "write `model-policy: preferred` or `model-policy: required`")
	}
	t.strings(f.Get("skills"), "skills")
	if v := f.Get("mcp-servers"); v != nil && v.Kind != plugin.Null && t.is(v, "mcp-servers", plugin.Map) {
		for _, s := range v.Fields {
			t.server(s.Value, "mcp-servers."+s.Name)
		}
	}
	if v := f.Get("github"); v != nil && t.is(v, "github", plugin.Map) {
		t.strings(v.Get("toolsets"), "github.toolsets")
		t.stringMap(v.Get("permissions"), "github.permissions")
	}
	if v := f.Get("hooks"); v != nil {
		h := hookChecker{r: r, where: inAgent, before: agentBefore}
		h.events(v)
	}
	r.comment("agent", f, "description")
	r.comment("agent", f, "name")
	r.unknownKeys("agent", f, agentFields)
	c.duplicateAgent(r, f.Get("name"), a)
}

// duplicateAgent: of two agents with one id the first is loaded, and of two with one name the model cannot choose.
func (c *checker) duplicateAgent(r *report, name *plugin.Value, a plugin.Agent) {
	if c.agents == nil {
		return
	}
	if first, ok := c.agents[a.ID]; ok && first != r.file {
		r.warn(nil, "agent/duplicate-id", fmt.Sprintf("%s has the id %q too, and hides this one", first, a.ID), "rename one of the files")
		return
	}
	c.agents[a.ID] = r.file
	if name == nil {
		return
	}
	if first, ok := c.titles[a.Name]; ok && first != r.file {
		r.warn(name, "agent/duplicate-name", fmt.Sprintf("%s has the name %q too: the model sees both and cannot tell them apart", first, a.Name), "give each agent its own name")
		return
	}
	c.titles[a.Name] = r.file
}

// typed reports wrong types in the client's words.
type typed struct {
	r      *report
	rule   string
	before string
}

func (t typed) bad(v *plugin.Value, message, hint string) {
	t.r.refuse(v, t.rule, t.before+message, hint)
}

// is reports whether v has that kind; an absent value passes.
func (t typed) is(v *plugin.Value, name string, want plugin.Kind) bool {
	if v == nil || v.Kind == want {
		return true
	}
	hint := ""
	switch want {
	case plugin.String:
		hint = quoteHint(v)
	case plugin.Bool:
		hint = "write `true` or `false` without quotes"
	case plugin.List:
		hint = "write a list, one `- item` a line"
	case plugin.Map:
		hint = "write a map, one `name:` a line below it"
	}
	t.bad(v, fmt.Sprintf("%s: Expected %s, received %s", name, want, v.Kind), hint)
	return false
}

// strings wants a list of strings; an absent value passes.
func (t typed) strings(v *plugin.Value, name string) {
	if v == nil || !t.is(v, name, plugin.List) {
		return
	}
	for i, item := range v.Items {
		t.is(item, name+": "+strconv.Itoa(i), plugin.String)
	}
}

// stringMap wants a map of strings; an absent value passes.
func (t typed) stringMap(v *plugin.Value, name string) {
	if v == nil || !t.is(v, name, plugin.Map) {
		return
	}
	for _, f := range v.Fields {
		t.is(f.Value, name+"."+f.Name, plugin.String)
	}
}

func (t typed) required(v, field *plugin.Value, name, hint string) bool {
	if field == nil {
		t.bad(v, name+": Required", hint)
	}
	return field != nil
}

// server checks an MCP server of an agent: one bad server refuses the whole agent.
func (t typed) server(v *plugin.Value, name string) {
	if !t.is(v, name, plugin.Map) {
		return
	}
	t.rule = "agent/mcp-server"
	kind, url := v.Get("type"), v.Get("url")
	if !t.is(kind, name+".type", plugin.String) {
		return
	}
	if remote := kind.Str() == "http" || kind.Str() == "sse"; remote || url != nil {
		if t.required(v, url, name+".url", "write the server's `url:`") {
			t.is(url, name+".url", plugin.String)
		}
		const hint = "write `type: http` or `type: sse`"
		if t.required(v, kind, name+".type", hint) && !remote {
			t.bad(kind, name+".type: Invalid enum value. Expected 'http' | 'sse'", hint)
		}
		t.stringMap(v.Get("headers"), name+".headers")
	} else {
		if k := kind.Str(); kind != nil && k != "local" && k != "stdio" {
			t.bad(kind, name+".type: Invalid enum value. Expected 'local' | 'stdio'", "write `type: local`, or a `url:` for a server elsewhere")
		}
		if t.required(v, v.Get("command"), name+".command", "write the server's `command:`") {
			t.is(v.Get("command"), name+".command", plugin.String)
		}
		if t.required(v, v.Get("args"), name+".args", "write `args: []`") {
			t.strings(v.Get("args"), name+".args")
		}
		t.stringMap(v.Get("env"), name+".env")
		t.is(v.Get("cwd"), name+".cwd", plugin.String)
	}
	if t.required(v, v.Get("tools"), name+".tools", "write `tools: [\"*\"]`") {
		t.strings(v.Get("tools"), name+".tools")
	}
	if n := v.Get("timeout"); n != nil && !positiveInteger(n) {
		t.bad(n, name+".timeout: Expected positive integer", "write the milliseconds as a whole number")
	}
}

func positiveInteger(v *plugin.Value) bool {
	if v.Kind != plugin.Number {
		return false
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	if n, e := strconv.ParseInt(strings.TrimPrefix(v.Text, "+"), 0, 64); e == nil {
		f, err = float64(n), nil
	}
	return err == nil && f > 0 && f == math.Trunc(f)
}
