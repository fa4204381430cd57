package validate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Events whose matcher the client reads; in all others it is never looked at.
var matched = []string{"preToolUse", "postToolUse", "permissionRequest", "preMcpToolCall", "preCompact", "subagentStart", "notification"}

// Events that need https, and that deny the tool when the hook fails.
var guarded = []string{"preToolUse", "preMcpToolCall", "permissionRequest"}

var shells = []string{"bash", "powershell", "command", "linux", "osx", "windows"}

// Fields that the client takes and does not use.
var idleFields = map[string]string{
	"enabled": "the hook runs whatever it says", "disabled": "the hook runs whatever it says",
	"async": "the agent waits for the hook", "once": "the hook runs every time", "if": "the hook runs on every event",
}

// item checks one hook; outer is the matcher of the group around it.
func (h hookChecker) item(v *plugin.Value, written, event string, index int, outer *plugin.Value) {
	at := fmt.Sprintf("hooks.%s[%d]", event, index)
	bad := func(v *plugin.Value, rule, below, message, hint string) {
		text := at + below + ": " + message
		if h.where == hookFile {
			text += " — hook will be skipped"
			h.r.refuse(v, rule, text, hint)
			return
		}
		h.r.refuse(v, rule, h.before+text, hint)
	}
	if v.Kind != plugin.Map {
		bad(v, "hooks/item-type", "", "Expected object", `write {"type": "command", "bash": "…"}`)
		return
	}
	kind := "command"
	if t := v.Get("type"); t != nil {
		kind = t.Str()
		if kind != "command" && kind != "http" && (kind != "prompt" || event != "sessionStart") {
			bad(t, "hooks/type", ".type", "Invalid hook type", `write "type": "command"`)
			return
		}
	}
	for _, name := range []string{"timeoutSec", "timeout"} {
		t := v.Get(name)
		switch {
		case t == nil:
		case t.Kind != plugin.Number:
			bad(t, "hooks/timeout", "."+name, name+" must be a number", "write the seconds without quotes")
		case !positive(t.Text):
			bad(t, "hooks/timeout", "."+name, name+" must be positive", "write the seconds, more than 0")
		}
	}
	switch kind {
	case "command":
		h.command(v, event, bad)
	case "http":
		h.http(v, event, bad)
	case "prompt":
		switch p := v.Get("prompt"); {
		case !p.Is(plugin.String):
			bad(orItem(p, v), "hooks/prompt", ".prompt", "prompt hook prompt is required", `write "prompt": "…"`)
		case p.Text == "":
			bad(p, "hooks/prompt", ".prompt", "prompt hook prompt cannot be empty", `write "prompt": "…"`)
		}
	}
	h.matcher(v, written, event, outer, bad)
	for _, f := range v.Fields {
		if why, ok := idleFields[f.Name]; ok {
			h.r.warn(f.Key, "hooks/ignored-field", fmt.Sprintf("%q is ignored: %s", f.Name, why), "remove it")
		}
	}
}

type badFunc func(v *plugin.Value, rule, below, message, hint string)

func orItem(v, item *plugin.Value) *plugin.Value {
	if v == nil {
		return item
	}
	return v
}

func positive(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	return err == nil && f > 0
}

func (h hookChecker) command(v *plugin.Value, event string, bad badFunc) {
	h.elsewhere = v.Get("cwd").Str() != ""
	var given []string
	for _, name := range append([]string{"exec", "cwd"}, shells...) {
		f := v.Get(name)
		if f == nil {
			continue
		}
		if f.Kind != plugin.String {
			bad(f, "hooks/string", "."+name, "Expected string", quoteHint(f))
		}
		if name != "cwd" {
			given = append(given, name)
		}
		h.templates(f, name)
		h.named(f, name, event)
	}
	exec := slices.Contains(given, "exec")
	if len(given) == 0 || exec && len(given) > 1 {
		bad(v, "hooks/command", "", "Specify either 'exec' (native executable) or 'bash'/'powershell'/'command' (shell), but not both",
			`write "bash" and "powershell", or "exec" with "args"`)
	}
	listOfStrings(v.Get("args"), "hooks/args", "args", bad)
	mapOfStrings(v.Get("env"), "env", bad)
	if a := v.Get("args"); a.Is(plugin.List) && len(a.Items) > 0 && !exec {
		h.r.warn(a, "hooks/args-unused", `"args" does nothing without "exec"`, `write "exec", or put the arguments into the command`)
	}
	if slices.Contains(guarded, event) && len(given) == 1 && (given[0] == "powershell" || given[0] == "windows") {
		h.r.warn(v, "hooks/powershell-only", event+" is denied on every system without PowerShell: a hook that cannot start denies", `write "bash" too`)
	}
	if c := v.Get("cwd"); h.where == inPlugin && c.Str() != "" && !strings.HasPrefix(c.Text, "${") && !strings.HasPrefix(c.Text, "/") {
		h.r.warn(c, "hooks/relative-cwd", "a relative cwd is relative to the project, not to the plugin", "write ${PLUGIN_ROOT}/"+strings.TrimPrefix(c.Text, "./"))
	}
}

// named looks for the program, or the folder, that a hook names.
func (h hookChecker) named(v *plugin.Value, field, event string) {
	after := ""
	if slices.Contains(guarded, event) {
		after = ": " + event + " is denied, a hook that cannot start denies"
	}
	repository := h.where == hookFile || h.where == inSettings
	if field != "cwd" {
		// Plugins' hooks run in the plugin, the others' in the repository's root; a folder of their own changes that.
		h.r.program(v, !h.elsewhere && (repository || h.where == inPlugin), "hooks/command", after)
		return
	}
	if dir, ok := inside(v.Str()); repository && ok && h.r.c.whole && v.Text != "" && !strings.Contains(v.Text, "$") && !h.r.c.isDir(dir) {
		h.r.warn(v, "hooks/cwd-missing", "there is no folder "+v.Text+" in the repository: the hook fails"+after, "remove cwd, or create the folder")
	}
}

// The placeholders that a plugin author may expect and the client does not fill in.
var notExpanded = regexp.MustCompile(`\{\{\w+\}\}|\$\{PLUGIN_DATA\}|\$\{COPILOT_PLUGIN_ROOT\}`)

func (h hookChecker) templates(v *plugin.Value, name string) {
	found := notExpanded.FindString(v.Text)
	// In a shell string the shell expands what the hook's environment has.
	if found == "" || h.where != inPlugin || found == "${COPILOT_PLUGIN_ROOT}" && slices.Contains(shells, name) {
		return
	}
	hint := "write ${PLUGIN_ROOT}"
	if strings.Contains(strings.ToLower(found), "data") {
		hint = "write ${COPILOT_PLUGIN_DATA}"
	}
	h.r.warn(v, "hooks/placeholder", found+" is not filled in", hint)
}

func (h hookChecker) http(v *plugin.Value, event string, bad badFunc) {
	const hint = `write "url": "https://…"`
	u, vars := v.Get("url"), v.Get("allowedEnvVars")
	scheme, ok := webURL(u.Str())
	switch {
	case !u.Is(plugin.String):
		bad(orItem(u, v), "hooks/url", ".url", "HTTP hook URL is required", hint)
	case !ok || scheme != "http" && scheme != "https":
		bad(u, "hooks/url", ".url", "HTTP hook URL must use http: or https: protocol", hint)
	case scheme == "http" && slices.Contains(guarded, event):
		bad(u, "hooks/url", ".url", "Authorization-affecting HTTP hooks (preToolUse, preMcpToolCall, permissionRequest) must use https:// "+
			"to protect response integrity (set COPILOT_HOOK_ALLOW_HTTP_AUTH_HOOKS=1 to override, or use localhost with COPILOT_HOOK_ALLOW_LOCALHOST=1)", hint)
	case scheme == "http" && vars.Is(plugin.List) && len(vars.Items) > 0:
		bad(u, "hooks/url", ".url", "HTTP hooks with allowedEnvVars must use https:// to prevent credential exposure "+
			"(set COPILOT_HOOK_ALLOW_LOCALHOST=1 for local development)", hint)
	}
	listOfStrings(vars, "hooks/allowed-env-vars", "allowedEnvVars", bad)
	mapOfStrings(v.Get("headers"), "headers", bad)
}

func listOfStrings(v *plugin.Value, rule, name string, bad badFunc) {
	if v == nil {
		return
	}
	if v.Kind != plugin.List {
		bad(v, rule, "."+name, name+" must be an array", "put each text in a list")
	}
	for i, item := range v.Items {
		if item.Kind != plugin.String {
			bad(item, rule, "."+name+"["+strconv.Itoa(i)+"]", "Expected string, received "+string(item.Kind), quoteHint(item))
		}
	}
}

func mapOfStrings(v *plugin.Value, name string, bad badFunc) {
	if v == nil {
		return
	}
	if v.Kind != plugin.Map {
		bad(v, "hooks/"+name, "."+name, name+" must be an object", `write {"NAME": "value"}`)
	}
	for _, f := range asMap(v) {
		if f.Value.Kind != plugin.String {
			bad(f.Value, "hooks/"+name, fmt.Sprintf(".%s[%q]", name, f.Name), name+" values must be strings", quoteHint(f.Value))
		}
	}
}

func (h hookChecker) matcher(v *plugin.Value, written, event string, outer *plugin.Value, bad badFunc) {
	m := v.Get("matcher")
	if outer != nil {
		m = nil
		if outer.Kind == plugin.String { // another type around a group is ignored
			m = outer
		}
	}
	if m == nil {
		return
	}
	if !slices.Contains(matched, event) {
		h.r.warn(m, "hooks/matcher-ignored", event+" has no matcher: the hook runs every time", "remove the matcher")
		return
	}
	pascal := written != event
	switch {
	case m.Kind != plugin.String:
		bad(m, "hooks/matcher", ".matcher", "Expected string", quoteHint(m))
		return
	case m.Text == "":
		bad(m, "hooks/matcher", ".matcher", "matcher cannot be empty", "remove the matcher: then every one matches")
		return
	case m.Text == "*" || m.Text == "**":
		if !pascal {
			h.badRegex(m, event)
		}
		return
	}
	if err := checkMatcher(m.Text); err != nil {
		h.badRegex(m, event)
		return
	}
	if claude := claudeTools[m.Text]; claude != "" && !pascal && (event == "preToolUse" || event == "postToolUse") {
		h.r.warn(m, "hooks/matcher-never", fmt.Sprintf("no tool is called %q here: camelCase events see the client's own names", m.Text),
			fmt.Sprintf("write %q", claude))
	}
}

var claudeTools = map[string]string{"Bash": "bash", "Read": "view", "Write": "create", "Edit": "edit", "Grep": "grep", "Glob": "glob", "Agent": "task", "Task": "task"}

func (h hookChecker) badRegex(m *plugin.Value, event string) {
	text := fmt.Sprintf("Invalid matcher regex in %s hook: '%s' — hook will be skipped", event, m.Text)
	if h.where == inAgent {
		text = h.before + "hooks: " + text
	}
	hint := "write a regular expression for the whole name, such as bash|edit"
	if strings.Trim(m.Text, "*") == "" {
		hint = "remove the matcher: then every tool matches"
	}
	if h.where == inSettings { // the one place where nobody is told
		h.r.warn(m, "hooks/matcher", text, hint)
		return
	}
	h.r.refuse(m, "hooks/matcher", text, hint)
}
