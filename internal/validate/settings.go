package validate

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// setting is what the client (1.0.102) checks of one key of a repository's settings file. One wrong value, and the
// whole file is not loaded: its hooks do not run either.
type setting struct {
	kind   plugin.Kind
	items  plugin.Kind // of a List's items or a Map's values; "" is anything
	oneOf  []string
	claude bool // checked in .claude/settings.json too
}

var repositorySettings = map[string]setting{
	"disableAllHooks":        {kind: plugin.Bool, claude: true},
	"companyAnnouncements":   {kind: plugin.List, items: plugin.String, claude: true},
	"enabledPlugins":         {kind: plugin.Map, items: plugin.Bool, claude: true},
	"extraKnownMarketplaces": {kind: plugin.Map, items: plugin.Map, claude: true},
	"model":                  {kind: plugin.String},
	"effortLevel":            {kind: plugin.String},
	"reasoningEffort":        {kind: plugin.String},
	"includeCoAuthoredBy":    {kind: plugin.Bool},
	"respectGitignore":       {kind: plugin.Bool},
	"deniedUrls":             {kind: plugin.List, items: plugin.String},
	"disabledMcpServers":     {kind: plugin.List, items: plugin.String},
	"disabledSkills":         {kind: plugin.List, items: plugin.String},
	"skillDirectories":       {kind: plugin.List, items: plugin.String},
	"contextTier":            {kind: plugin.String, oneOf: []string{"default", "long_context"}},
	"mergeStrategy":          {kind: plugin.String, oneOf: []string{"rebase", "merge"}},
}

const invalidSettings = "Settings config error: "

// settings checks a settings file: its inline hooks, and the keys that keep the client from reading them. abs is the
// file's whole path, which says whose settings they are.
func (c *checker) settings(file, abs string) {
	r := c.open(file)
	root, ok := r.json("settings/json", "Invalid JSON: ")
	if !ok {
		return
	}
	if root.Kind != plugin.Map {
		r.refuse(root, "settings/not-an-object", "Settings must be a JSON object", "write {}")
		return
	}
	r.repeatedKeys(root)
	t := typed{r: r, rule: "settings/field-type", before: invalidSettings}
	folder := path.Base(path.Dir(abs))
	for _, f := range asMap(root) {
		s, known := repositorySettings[f.Name]
		if known && (folder == "copilot" || folder == ".claude" && s.claude || f.Name == "disableAllHooks") {
			t.setting(f, s)
		}
	}
	if v := root.Get("disableAllHooks"); v.Is(plugin.Bool) && v.Text == "true" {
		r.warn(v, "hooks/disabled", "disableAllHooks: silences every hook in a trusted repository, those of the user and of plugins too", "remove it")
	}
	if hooks := root.Get("hooks"); hooks != nil {
		h := hookChecker{r: r, where: inSettings, before: invalidSettings}
		h.events(hooks)
	}
}

func (t typed) setting(f plugin.Field, s setting) {
	v := f.Value
	if len(s.oneOf) > 0 {
		if slices.Contains(s.oneOf, v.Str()) {
			return
		}
		choice := "'" + strings.Join(s.oneOf, "' | '") + "'"
		message := "Expected " + choice + ", received " + string(v.Kind)
		if v.Kind == plugin.String {
			message = "Invalid enum value. Expected " + choice + ", received '" + v.Text + "'"
		}
		t.bad(v, f.Name+": "+message, "write one of "+strings.Join(s.oneOf, ", "))
		return
	}
	name := f.Name
	if name == "reasoningEffort" { // an alias, reported under the other name
		name = "effortLevel"
	}
	if !t.is(v, name, s.kind) || s.items == "" {
		return
	}
	for i, item := range v.Items {
		t.is(item, name+"."+strconv.Itoa(i), s.items)
	}
	for _, item := range asMap(v) {
		t.is(item.Value, name+"."+item.Name, s.items)
	}
}
