package validate

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

const copilotDir = "com.github.copilot/"

// Places of a manifest or catalogue that people use and the client does not read.
var manifestMisses = []string{".github/plugin.json", "plugin/plugin.json", ".copilot-plugin/plugin.json", ".codex-plugin/plugin.json",
	".cursor-plugin/plugin.json", ".agents/plugin.json", "Plugin.json"}

const noManifest = "No plugin.json found in repository. Tried: .plugin/plugin.json, ./plugin.json, .github/plugin/plugin.json, .claude-plugin/plugin.json"

// plugin checks the folder as a plugin. needManifest is false for a plugin that a marketplace lists: there the client
// does without one.
func (c *checker) plugin(needManifest bool) {
	c.whole = true
	c.families()
	defer c.checkListing()
	c.links()
	for _, dir := range []string{"bin", "scripts", "hooks"} {
		c.executables(dir, true)
	}
	file, err := plugin.FindManifest(c.fsys)
	if err != nil {
		if needManifest {
			c.open("plugin.json").refuse(nil, "plugin/manifest-missing", noManifest, "write plugin.json at the plugin's root")
			return
		}
		c.legacyParts(nil, &report{c: c, file: "plugin.json"})
		return
	}
	root, r, ok := c.manifest(file)
	if !ok {
		return
	}
	c.otherManifests(file, root)
	if plugin.SpecVersion(root.Get("$schema").Str()) != "" {
		c.specParts(r)
		return
	}
	c.legacyParts(root, r)
}

// families begins a set of folders in which one name may stand once.
func (c *checker) families() {
	c.skills, c.agents, c.titles = map[string]string{}, map[string]string{}, map[string]string{}
}

// manifest checks the file of that name alone.
func (c *checker) manifest(file string) (*plugin.Value, *report, bool) {
	r := c.open(file)
	const before = "Failed to parse plugin.json: "
	root, ok := r.utf8JSON("plugin/json", before, before)
	if !ok {
		return nil, r, false
	}
	if root.Kind == plugin.Null {
		r.refuse(root, "plugin/not-an-object", before+"Cannot read properties of null (reading 'name')", `write {"name": "…", "version": "1.0.0"}`)
		return nil, r, false
	}
	r.repeatedKeys(root)
	if version := plugin.SpecVersion(root.Get("$schema").Str()); version != "" {
		r.specManifest(root, version)
	} else {
		r.legacyManifest(root)
	}
	if v := root.Get("version"); v.Is(plugin.String) && plugin.CheckVersion(v.Text) != nil {
		r.spec(v, "plugin/version", fmt.Sprintf("%q is not a semantic version", v.Text), `write three numbers, such as "1.0.0"`)
	}
	return root, r, true
}

// otherManifests: the client reads one manifest; another one for another client should not say something else.
func (c *checker) otherManifests(file string, root *plugin.Value) {
	for _, p := range plugin.ManifestPaths {
		if p == file || !c.isFile(p) {
			continue
		}
		r := c.open(p)
		r.quiet = true
		other, ok := r.json("plugin/json", "")
		if !ok {
			continue
		}
		for _, name := range []string{"name", "version"} {
			if a, b := root.Get(name), other.Get(name); a.Str() != b.Str() {
				r.warn(b, "plugin/manifests-differ", fmt.Sprintf("%s is %q here and %q in %s, which the client reads", name, b.Str(), a.Str(), file), "write the same in both")
			}
		}
	}
}

var specName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

var specFields = map[string]plugin.Kind{"$schema": plugin.String, "name": plugin.String, "version": plugin.String,
	"description": plugin.String, "author": plugin.Map, "license": plugin.String, "keywords": plugin.List,
	"homepage": plugin.String, "repository": plugin.String, "extensions": plugin.Map}

func (r *report) specManifest(root *plugin.Value, version string) {
	reject := func(v *plugin.Value, rule, cause, hint string) {
		r.refuse(v, rule, cause+" (plugin rejected)", hint)
	}
	if version != "1.0.0" && version != "1.1.0" {
		reject(root.Get("$schema"), "plugin/schema-version", fmt.Sprintf("unsupported Agent Plugins version %q", version), "write "+plugin.Schema)
	}
	switch name := root.Get("name"); {
	case name == nil:
		reject(root, "plugin/name-missing", "name is required", `write "name": "…"`)
	case name.Kind != plugin.String:
		reject(name, "plugin/name-charset", "name must be a string", quoteHint(name))
	case len(name.Text) > maxName:
		reject(name, "plugin/name-length", "name must be at most 64 characters", "shorten it")
	case !specName.MatchString(name.Text) || strings.Contains(name.Text, "--") || strings.Contains(name.Text, ".."):
		reject(name, "plugin/name-charset", fmt.Sprintf("invalid name %q", name.Text), fmt.Sprintf("write %q", slug(name.Text)))
	}
	for _, f := range asMap(root) {
		want, known := specFields[f.Name]
		switch {
		case !known:
			r.warn(f.Key, "plugin/unknown-field", fmt.Sprintf("unknown field %q (ignored)", f.Name), specHint(f.Name))
		case f.Name == "extensions" && f.Value.Kind != plugin.Map:
			r.warn(f.Value, "plugin/extensions-type", "extensions must be an object (ignored)", `write {"com.github.copilot": {}}`)
		case f.Name == "name", f.Value.Kind == want:
		default:
			reject(f.Value, "plugin/field-type", fmt.Sprintf("%s must be %s, not %s", f.Name, want, f.Value.Kind), "")
		}
	}
	for _, f := range asMap(root.Get("author")) {
		if f.Name != "name" && f.Name != "email" && f.Name != "url" {
			reject(f.Key, "plugin/author", fmt.Sprintf("unknown field %q in author", f.Name), "keep name, email and url")
		} else if f.Value.Kind != plugin.String {
			reject(f.Value, "plugin/author", "author."+f.Name+" must be a string", quoteHint(f.Value))
		}
	}
	if k := root.Get("keywords"); k.Is(plugin.List) {
		for _, w := range k.Items {
			if w.Kind != plugin.String {
				reject(w, "plugin/field-type", "keywords must be strings", quoteHint(w))
			}
		}
	}
	for _, f := range asMap(root.Get("extensions")) {
		if f.Value.Kind != plugin.Map {
			reject(f.Value, "plugin/extensions-type", fmt.Sprintf("extensions[%q] must be an object", f.Name), "write {}")
		}
	}
}

// asMap returns the fields that count: of equal names the last. It is empty for everything but a Map.
func asMap(v *plugin.Value) []plugin.Field {
	if !v.Is(plugin.Map) {
		return nil
	}
	last := make(map[string]int, len(v.Fields))
	for i, f := range v.Fields {
		last[f.Name] = i
	}
	if len(last) == len(v.Fields) {
		return v.Fields
	}
	var fields []plugin.Field
	for i, f := range v.Fields {
		if last[f.Name] == i {
			fields = append(fields, f)
		}
	}
	return fields
}

func specHint(field string) string {
	switch field {
	case "skills":
		return "put the skills into skills/"
	case "agents", "hooks", "commands":
		return "put them into " + copilotDir + field + "/"
	case "mcpServers":
		return "put them into mcp.json"
	}
	return "remove it"
}

var legacyFields = map[string]bool{"$schema": true, "name": true, "version": true, "description": true, "author": true,
	"license": true, "homepage": true, "repository": true, "keywords": true, "tags": true, "category": true, "skills": true,
	"agents": true, "commands": true, "hooks": true, "mcpServers": true, "lspServers": true, "extensions": true,
	"postInstallMessage": true, "displayName": true, "logo": true}

func (r *report) legacyManifest(root *plugin.Value) {
	if root.Kind != plugin.Map {
		r.warn(root, "plugin/not-an-object", "nothing of it is read: the folder's name becomes the plugin's", `write {"name": "…", "version": "1.0.0"}`)
		return
	}
	if v := root.Get("$schema"); v != nil && (v.Kind != plugin.String || strings.Contains(v.Text, "agent-plugins.org")) {
		r.warn(v, "plugin/schema-near-miss", "not an Agent Plugins schema: the plugin is loaded by the older rules", "write "+plugin.Schema)
	}
	switch name := root.Get("name"); {
	case name.Str() == "":
		at := name
		if at == nil {
			at = root
		}
		r.warn(at, "plugin/name-missing", "no name: the folder's name becomes the plugin's", `write "name": "…"`)
	case rewritten(name.Text) != name.Text:
		r.warn(name, "plugin/name-rewritten", fmt.Sprintf("the client calls this plugin %q", rewritten(name.Text)), fmt.Sprintf("write %q", slug(name.Text)))
	case !portableName.MatchString(name.Text) || len(name.Text) > maxName:
		r.spec(name, "plugin/name-portable", "Agent Plugins allows lowercase letters, digits, dots and single hyphens, at most 64", fmt.Sprintf("write %q", slug(name.Text)))
	}
	for _, name := range []string{"version", "description", "license", "homepage", "repository"} {
		if v := root.Get(name); v != nil && v.Kind != plugin.String {
			r.spec(v, "plugin/field-type", name+" should be a string", quoteHint(v))
		}
	}
	for _, f := range root.Fields {
		if !legacyFields[f.Name] {
			r.warn(f.Key, "plugin/unknown-field", fmt.Sprintf("unknown field %q (ignored)", f.Name), "remove it")
		}
	}
}

var notPluginName = regexp.MustCompile(`[^a-z0-9-]`)

// rewritten is the name as the client keeps it in its older mode.
func rewritten(name string) string { return notPluginName.ReplaceAllString(strings.ToLower(name), "-") }

// componentPaths returns what a skills, agents or commands field names, cleaned, and whether the default folder counts
// too; ok is false where the type is none of the client's.
func componentPaths(v *plugin.Value) (paths []*plugin.Value, exclusive, ok bool) {
	switch {
	case v.Is(plugin.String):
		return []*plugin.Value{v}, false, true
	case v.Is(plugin.List):
		for _, item := range v.Items {
			if item.Kind != plugin.String {
				return nil, false, false
			}
		}
		return v.Items, false, true
	case v.Is(plugin.Map) && v.Get("paths").Is(plugin.List):
		paths, _, ok = componentPaths(v.Get("paths"))
		return paths, !absent(v.Get("exclusive")), ok
	}
	return nil, false, false
}

// absent says what the client takes for a field that is not there.
func absent(v *plugin.Value) bool {
	if v == nil {
		return true
	}
	switch v.Kind {
	case plugin.Null:
		return true
	case plugin.Bool:
		return v.Text == "false"
	case plugin.String:
		return v.Text == ""
	case plugin.Number:
		f, err := strconv.ParseFloat(v.Text, 64)
		return err == nil && f == 0
	}
	return false
}

// inside cleans a path of a manifest; ok is false where it leaves the plugin.
func inside(p string) (clean string, ok bool) {
	if path.IsAbs(p) {
		return "", false
	}
	clean = path.Clean(p)
	return clean, clean != ".." && !strings.HasPrefix(clean, "../")
}
