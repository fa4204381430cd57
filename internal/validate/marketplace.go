package validate

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

const invalidMarketplace = "Invalid marketplace.json: "

// The forms of texts in a catalogue, as the client (1.0.102) checks them.
var (
	marketName = regexp.MustCompile(`^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$`)
	emailForm  = regexp.MustCompile(`^(?i)[a-z0-9_'+\-.]*[a-z0-9_+\-]@([a-z0-9][a-z0-9\-]*\.)+[a-z]{2,}$`)
	repoForm   = regexp.MustCompile(`^[^/]+/[^/]+$`)
	ownerRepo  = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)
	sshForm    = regexp.MustCompile(`^[A-Za-z0-9_.-]+@[^\s:/@]+:(?s:.+)$`)
	commitForm = regexp.MustCompile(`^[0-9A-Fa-f]{40}$`)
)

// marketplace checks a catalogue, and the plugins that it lists from this folder.
func (c *checker) marketplace(file string, o Options) []*checker {
	r := c.open(file)
	root, ok := r.utf8JSON("marketplace/json", invalidMarketplace+"Invalid JSON syntax: ", "Failed to read marketplace.json: ")
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
		t.r.refuse(name, "marketplace/name", `Marketplace "awesome-copilot" is a default marketplace and is already available`, "choose another name")
	}
	t.person(root, root.Get("owner"), "owner")
	base := ""
	if m := root.Get("metadata"); m != nil && t.is(m, "metadata", plugin.Map) {
		for _, name := range []string{"description", "version", "pluginRoot"} {
			t.is(m.Get(name), "metadata."+name, plugin.String)
		}
		base = m.Get("pluginRoot").Str()
	}
	plugins := root.Get("plugins")
	if !t.required(root, plugins, "plugins", `write "plugins": []`) || !t.is(plugins, "plugins", plugin.List) {
		return nil
	}
	seen := map[string]bool{}
	var found []*checker
	for i, entry := range plugins.Items {
		at := fmt.Sprintf("plugins.%d", i)
		if !t.is(entry, at, plugin.Map) {
			continue
		}
		if name := entry.Get("name"); seen[name.Str()] && name.Str() != "" {
			r.refuse(name, "marketplace/duplicate", fmt.Sprintf("%sDuplicate plugin name %q found in marketplace", invalidMarketplace, name.Text), "give each plugin its own name")
		}
		seen[entry.Get("name").Str()] = true
		t.entry(entry, at)
		if s := entry.Get("source"); s.Is(plugin.String) {
			if sub := c.listed(r, s, base, o); sub != nil {
				found = append(found, sub)
			}
		} else {
			t.source(entry, s, at+".source")
		}
	}
	return found
}

// entry checks everything about a listed plugin but its source.
func (t typed) entry(entry *plugin.Value, at string) {
	t.marketName(entry, entry.Get("name"), at+".name", "Plugin")
	for _, name := range []string{"description", "version", "license", "category", "logo", "postInstallMessage"} {
		t.is(entry.Get(name), at+"."+name, plugin.String)
	}
	t.is(entry.Get("strict"), at+".strict", plugin.Bool)
	for _, name := range []string{"homepage", "repository"} {
		if v := entry.Get(name); v != nil && t.is(v, at+"."+name, plugin.String) {
			if _, ok := webURL(v.Text); !ok {
				t.bad(v, at+"."+name+": Invalid url", "write the whole address, with https://")
			}
		}
	}
	for _, name := range []string{"keywords", "tags"} {
		if v := entry.Get(name); v != nil && t.is(v, at+"."+name, plugin.List) {
			for i, item := range v.Items {
				t.is(item, fmt.Sprintf("%s.%s.%d", at, name, i), plugin.String)
			}
		}
	}
	if a := entry.Get("author"); a != nil {
		t.person(entry, a, at+".author")
	}
	for _, name := range []string{"skills", "agents", "commands", "extensions", "outputStyles", "hooks", "mcpServers", "lspServers"} {
		if v := entry.Get(name); v != nil && !entryComponent(name, v) {
			t.bad(v, at+"."+name+": Invalid input", "write the path of the plugin's own folder or file")
		}
	}
}

func entryComponent(name string, v *plugin.Value) bool {
	if v.Kind == plugin.String {
		return true
	}
	switch name {
	case "hooks", "mcpServers", "lspServers":
		return v.Kind == plugin.Map
	case "outputStyles":
		return v.Kind == plugin.List && onlyStrings(v.Items)
	}
	if v.Kind == plugin.Map {
		e := v.Get("exclusive")
		return v.Get("paths").Is(plugin.List) && onlyStrings(v.Get("paths").Items) && (e == nil || e.Kind == plugin.Bool)
	}
	return v.Kind == plugin.List && onlyStrings(v.Items)
}

func onlyStrings(items []*plugin.Value) bool {
	for _, i := range items {
		if i.Kind != plugin.String {
			return false
		}
	}
	return true
}

func (t typed) marketName(parent, v *plugin.Value, name, what string) {
	t.rule = "marketplace/name"
	if !t.required(parent, v, name, "write a name") || !t.is(v, name, plugin.String) {
		return
	}
	switch {
	case utf8.RuneCountInString(v.Text) > maxName:
		t.bad(v, name+": String must contain at most 64 character(s)", "shorten it")
	case !marketName.MatchString(v.Text):
		t.bad(v, name+": "+what+" name must be kebab-case (letters, numbers, hyphens, and dots)", fmt.Sprintf("write %q", slug(v.Text)))
	}
}

func (t typed) person(parent, v *plugin.Value, name string) {
	t.rule = "marketplace/person"
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
	if !emailForm.MatchString(e.Text) || strings.HasPrefix(e.Text, ".") || strings.Contains(e.Text, "..") {
		t.bad(e, name+".email: Invalid email", "write an address, or remove it")
	}
}

// source checks a source that is no path: it must be one of the remote forms.
func (t typed) source(entry, v *plugin.Value, name string) {
	t.rule = "marketplace/source"
	kind := v.Get("source").Str()
	need := map[string][]string{"github": {"repo"}, "url": {"url"}, "git-subdir": {"url", "path"}}[kind]
	known := len(need) > 0
	for _, f := range need {
		known = known && v.Get(f).Is(plugin.String)
	}
	for _, f := range []string{"ref", "path"} {
		known = known && (v.Get(f) == nil || v.Get(f).Is(plugin.String))
	}
	if !known || kind == "git-subdir" && v.Get("path").Str() == "" {
		hint := `write the plugin's folder, such as "./plugins/demo"`
		if v.Is(plugin.Map) {
			hint = `write {"source": "github", "repo": "owner/name"}`
		}
		t.bad(orItem(v, entry), name+": Invalid input", hint)
		return
	}
	if repo := v.Get("repo"); kind == "github" && !repoForm.MatchString(repo.Text) {
		t.bad(repo, name+".repo: Must be in format owner/repo", `write "owner/name"`)
	}
	if u := v.Get("url"); kind != "github" {
		_, ok := webURL(u.Text)
		if !ok && (kind != "git-subdir" || !ownerRepo.MatchString(u.Text) && !sshForm.MatchString(u.Text)) {
			t.bad(u, name+".url: Invalid url", "write the whole address, with https://")
		}
	}
	if sha := v.Get("sha"); sha != nil && !commitForm.MatchString(sha.Str()) {
		t.bad(sha, name+".sha: Must be a 40-character SHA", "write the whole commit")
	}
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
	child := c.child(at, o)
	child.plugin(false)
	return child
}
