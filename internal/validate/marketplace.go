package validate

import (
	"fmt"
	"io/fs"
	"net/mail"
	"path"
	"regexp"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

const invalidMarketplace = "Invalid marketplace.json: "

var marketName = regexp.MustCompile(`^[A-Za-z0-9.-]+$`)

// marketplace checks a catalogue, and the plugins that it lists from this folder.
func (c *checker) marketplace(file string, o Options) []*checker {
	r := c.open(file)
	root, ok := r.json("marketplace/json", invalidMarketplace+"Invalid JSON syntax: ")
	if !ok {
		return nil
	}
	t := typed{r: r, rule: "marketplace/field-type", before: invalidMarketplace}
	if root.Kind != plugin.Map {
		t.bad(root, "Expected object, received "+string(root.Kind), `write {"name": "…", "owner": {"name": "…"}, "plugins": []}`)
		return nil
	}
	r.repeatedKeys(root)
	t.marketName(root, root.Get("name"), "name", "Marketplace")
	if name := root.Get("name"); name.Str() == "awesome-copilot" {
		t.bad(name, "name: reserved", "choose another name")
	} else if len(name.Str()) > maxName {
		t.bad(name, "name: at most 64 characters", "shorten it")
	}
	t.person(root, root.Get("owner"), "owner")
	plugins := root.Get("plugins")
	if !t.required(root, plugins, "plugins", `write "plugins": []`) || !t.is(plugins, "plugins", plugin.List) {
		return nil
	}
	base := ""
	if m := root.Get("metadata"); m.Is(plugin.Map) {
		base = m.Get("pluginRoot").Str()
	}
	seen := map[string]bool{}
	var found []*checker
	for i, entry := range plugins.Items {
		at := fmt.Sprintf("plugins.%d", i)
		if !t.is(entry, at, plugin.Map) {
			continue
		}
		name := entry.Get("name")
		t.marketName(entry, name, at+".name", "Plugin")
		if seen[name.Str()] && name.Str() != "" {
			t.bad(name, fmt.Sprintf("Duplicate plugin name %q found in marketplace", name.Text), "give each plugin its own name")
		}
		seen[name.Str()] = true
		t.is(entry.Get("description"), at+".description", plugin.String)
		t.is(entry.Get("version"), at+".version", plugin.String)
		if a := entry.Get("author"); a != nil {
			t.person(entry, a, at+".author")
		}
		if k := entry.Get("keywords"); k != nil {
			t.strings(k, at+".keywords")
		}
		if t.source(entry, at+".source") {
			if sub := c.listed(r, entry.Get("source"), base, o); sub != nil {
				found = append(found, sub)
			}
		}
	}
	return found
}

func (t typed) marketName(parent, v *plugin.Value, name, what string) {
	if !t.required(parent, v, name, "write a name") || !t.is(v, name, plugin.String) {
		return
	}
	if !marketName.MatchString(v.Text) {
		t.bad(v, name+": "+what+" name must be kebab-case (letters, numbers, hyphens, and dots)", fmt.Sprintf("write %q", slug(v.Text)))
	}
}

func (t typed) person(parent, v *plugin.Value, name string) {
	if !t.required(parent, v, name, fmt.Sprintf("write {%q: …}", "name")) || !t.is(v, name, plugin.Map) {
		return
	}
	if n := v.Get("name"); t.required(v, n, name+".name", "write the name") {
		t.is(n, name+".name", plugin.String)
	}
	e := v.Get("email")
	if e == nil || !t.is(e, name+".email", plugin.String) || e.Text == "" {
		return
	}
	if a, err := mail.ParseAddress(e.Text); err != nil || a.Address != e.Text || !strings.Contains(e.Text[strings.LastIndex(e.Text, "@"):], ".") {
		t.bad(e, name+".email: Invalid email", "write an address, or remove it")
	}
}

// source wants a relative path or one of the remote forms.
func (t typed) source(entry *plugin.Value, name string) bool {
	v := entry.Get("source")
	hint := `write the plugin's folder, such as "./plugins/demo"`
	need := map[string][]string{"github": {"repo"}, "url": {"url"}, "git-subdir": {"url", "path"}}
	switch {
	case v.Is(plugin.String) && v.Text != "":
		return true
	case v.Is(plugin.Map):
		fields, known := need[v.Get("source").Str()]
		for _, f := range fields {
			known = known && v.Get(f).Str() != ""
		}
		if known {
			return false
		}
		hint = `write {"source": "github", "repo": "owner/name"}`
	case v == nil:
		v = entry
	}
	t.bad(v, name+": Invalid input", hint)
	return false
}

// listed returns a checker for a plugin of the marketplace's own folder.
func (c *checker) listed(r *report, source *plugin.Value, base string, o Options) *checker {
	at, ok := inside(path.Join(base, source.Text))
	if path.IsAbs(source.Text) || !ok {
		r.warn(source, "marketplace/source", "lies outside the marketplace: it cannot be installed", "move the plugin below the marketplace")
		return nil
	}
	if !c.isDir(at) {
		r.warn(source, "marketplace/source", "Plugin source directory not found", "create it, or correct the path")
		return nil
	}
	sub, err := fs.Sub(c.fsys, at)
	if err != nil {
		return nil
	}
	child := &checker{fsys: sub, name: c.base(at), prefix: path.Join(c.prefix, at), options: o}
	child.plugin(false)
	return child
}
