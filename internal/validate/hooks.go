package validate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// source says where hooks stand: the client treats a bad item differently in each place.
type source int

const (
	hookFile   source = iota // a bad item is skipped alone
	inSettings               // one bad item refuses them all
	inPlugin                 // one bad item refuses them all
	inAgent                  // one bad item, or an unknown event, refuses the agent
)

type hookChecker struct {
	r         *report
	where     source
	before    string
	elsewhere bool // the hook at hand runs in a folder of its own
}

const invalidHooks = "Invalid hook configuration: "

// hookFile checks a file of hooks.
func (c *checker) hookFile(file string, where source) {
	r := c.open(file)
	read := func() (*plugin.Value, bool) { return r.json("hooks/json", invalidHooks+"Invalid JSON: ") }
	if where == inPlugin {
		read = func() (*plugin.Value, bool) {
			return r.utf8JSON("hooks/json", invalidHooks+"Invalid JSON: ", "Failed to read hooks config: ")
		}
	}
	root, ok := read()
	if !ok {
		return
	}
	h := hookChecker{r: r, where: where, before: invalidHooks}
	if root.Kind != plugin.Map {
		r.refuse(root, "hooks/not-an-object", invalidHooks+"Expected hook config to be an object", `write {"version": 1, "hooks": {…}}`)
		return
	}
	if v := root.Get("version"); v != nil && !isOne(v) {
		r.refuse(v, "hooks/version", invalidHooks+"version: Invalid hook config version", `write "version": 1`)
	}
	if v := root.Get("disableAllHooks"); v != nil {
		switch {
		case v.Kind != plugin.Bool:
			r.refuse(v, "hooks/disable-type", invalidHooks+"disableAllHooks: disableAllHooks must be a boolean", "write true or false without quotes")
		case v.Text == "true":
			r.warn(v, "hooks/disabled", "disableAllHooks: nothing in this file runs", "remove it")
		}
	}
	r.repeatedKeys(root)
	hooks := root.Get("hooks")
	if hooks == nil {
		hint := `write {"version": 1, "hooks": {…}}`
		if slices.ContainsFunc(root.Fields, func(f plugin.Field) bool { return plugin.EventNames[f.Name] != "" }) {
			hint = `put the events into "hooks": {…}`
		}
		r.refuse(root, "hooks/hooks-type", invalidHooks+"hooks: hooks must be an object", hint)
		return
	}
	h.events(hooks)
}

// json reads and parses the report's file; what is wrong becomes a finding.
func (r *report) json(rule, before string) (*plugin.Value, bool) {
	data, ok := r.read(rule)
	if !ok {
		return nil, false
	}
	return r.parseJSON(data, rule, before)
}

// utf8JSON is json for files that the client reads as UTF-8 or not at all.
func (r *report) utf8JSON(rule, before, unreadable string) (*plugin.Value, bool) {
	data, ok := r.read(rule)
	if !ok {
		return nil, false
	}
	if !utf8.Valid(data) {
		r.refuse(nil, rule, unreadable+"stream did not contain valid UTF-8", "save the file as UTF-8")
		return nil, false
	}
	return r.parseJSON(data, rule, before)
}

func (r *report) parseJSON(data []byte, rule, before string) (*plugin.Value, bool) {
	r.fixJSON()
	root, err := plugin.ParseJSON(data)
	if e, bad := err.(*plugin.SyntaxError); bad { //nolint:errorlint // ParseJSON promises this type
		r.refuseAt(e.Line, e.Column, rule, before+e.Problem, e.Advice)
		return nil, false
	}
	return root, true
}

func isOne(v *plugin.Value) bool {
	if v.Kind != plugin.Number {
		return false
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	return err == nil && f == 1
}

// repeatedKeys: of two equal names in one JSON object the last wins in silence.
func (r *report) repeatedKeys(v *plugin.Value) {
	seen := map[string]bool{}
	for _, f := range v.Fields {
		if seen[f.Name] {
			r.warn(f.Key, "json/repeated-key", fmt.Sprintf("%q stands twice: the last one wins", f.Name), "keep one")
		}
		seen[f.Name] = true
		r.repeatedKeys(f.Value)
	}
	for _, i := range v.Items {
		r.repeatedKeys(i)
	}
}

// events checks the map from event to items.
func (h hookChecker) events(hooks *plugin.Value) {
	if hooks.Kind != plugin.Map {
		message := "hooks: hooks must be an object"
		if h.where == inSettings {
			message = "hooks: Expected object, received " + string(hooks.Kind)
		}
		h.r.refuse(hooks, "hooks/hooks-type", h.before+message, `write "hooks": {"postToolUse": […]}`)
		return
	}
	used := map[string]string{}
	for _, f := range asMap(hooks) {
		event, known := plugin.EventNames[f.Name]
		if !known {
			h.unknownEvent(f)
			continue
		}
		if other, twice := used[event]; twice && other != f.Name {
			h.r.warn(f.Key, "hooks/both-spellings", fmt.Sprintf("%s and %s are one event: the hooks of both run", other, f.Name), "keep one spelling")
		}
		used[event] = f.Name
		h.event(hooks, f, event)
	}
}

func (h hookChecker) event(hooks *plugin.Value, f plugin.Field, event string) {
	if f.Value.Kind != plugin.List {
		const hint = "put the item in square brackets"
		switch {
		case h.where == inAgent:
			h.r.refuse(f.Value, "hooks/event-type", h.before+"hooks."+f.Name+": Expected an array of hook actions", hint)
		case f.Name != event || hooks.Get(plugin.PascalName(event)).Is(plugin.List): // passed over
			h.r.warn(f.Value, "hooks/event-type", f.Name+" is no list: nothing of it runs", hint)
		default:
			h.r.refuse(f.Value, "hooks/event-type", h.before+"hooks."+f.Name+": hook event value must be an array", hint)
		}
		return
	}
	if len(f.Value.Items) == 0 {
		h.r.warn(f.Value, "hooks/empty", "no hook for "+f.Name, "remove the event")
	}
	i := 0
	if f.Name != event { // the items of both spellings are counted together, camelCase first
		i = countItems(hooks.Get(event))
	}
	for at, item := range f.Value.Items {
		group := item.Get("hooks")
		if !item.Is(plugin.Map) || !group.Is(plugin.List) {
			h.item(item, f.Name, event, i, nil)
			i++
			continue
		}
		for _, inner := range group.Items {
			if inner.Get("hooks").Is(plugin.List) {
				h.r.refuse(inner, "hooks/nesting", fmt.Sprintf("%shooks.%s[%d]: Nested hooks deeper than one level are not supported.", h.before, f.Name, at), "take one level out")
				continue
			}
			h.item(inner, f.Name, event, i, item.Get("matcher"))
			i++
		}
	}
}

// countItems counts the items of an event's value, those of groups one by one.
func countItems(v *plugin.Value) int {
	if !v.Is(plugin.List) {
		return 0
	}
	n := 0
	for _, item := range v.Items {
		if group := item.Get("hooks"); group.Is(plugin.List) {
			n += len(group.Items)
		} else {
			n++
		}
	}
	return n
}

func (h hookChecker) unknownEvent(f plugin.Field) {
	near := nearestEvent(f.Name)
	hint := "see `copilot help` for the events of hooks"
	if near != "" {
		hint = fmt.Sprintf("write %q", near)
	}
	if h.where == inAgent {
		h.r.refuse(f.Key, "hooks/unknown-event", h.before+"hooks."+f.Name+": Unsupported agent hook event", hint)
		return
	}
	h.r.warn(f.Key, "hooks/unknown-event", fmt.Sprintf("unknown event %q: its hooks never run", f.Name), hint)
}

// nearestEvent is the name that was meant: other case, a name of an older text, or at most three wrong letters, and
// not more than every third.
func nearestEvent(name string) string {
	switch name {
	case "UserPromptSubmitted":
		return "UserPromptSubmit"
	case "AgentStop", "stop", "StopFailure":
		return "agentStop"
	case "UserPromptTransformed":
		return "userPromptTransformed"
	}
	best, least := "", min(3, len(name)/3)+1
	for known := range plugin.EventNames {
		d := distance(strings.ToLower(name), strings.ToLower(known))
		if d == 0 && known[0] == name[0] {
			return known
		}
		if d < least || d == least && best != "" && known > best {
			best, least = known, d
		}
	}
	return best
}

// distance counts the letters to insert, drop or change between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
