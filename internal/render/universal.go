package render

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

const (
	copilotDir     = "com.github.copilot"
	claudeManifest = ".claude-plugin/plugin.json"
	hooksPlace     = copilotDir + "/hooks/hooks.json"
)

// Universal gives any plugin the one layout that Agent Plugins 1.0, Copilot CLI and Claude Code all load. folder is
// the name of its folder, for a manifest without a name. What no client's rules name is carried over as it is; what is
// there for a client already is left to its author. notes say what a client cannot be given.
func Universal(assets fs.FS, tree plugin.Tree, folder string) (out plugin.Tree, notes []string, err error) {
	file, err := plugin.FindManifest(tree.FS())
	if err != nil {
		return nil, nil, err
	}
	u := universal{assets: assets, files: map[string]plugin.File{}, manifestFile: file}
	for _, f := range tree {
		u.files[f.Path] = f
	}
	if u.manifest, err = plugin.ParseManifest(u.files[file].Data); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	u.name = portableName(u.manifest.Name)
	if u.name == "" {
		u.name = portableName(folder)
	}
	u.authored = u.has(claudeManifest)
	if u.manifest.Spec() {
		u.copyTo(file, "plugin.json")
	} else {
		u.agentPlugins()
	}
	if !u.authored {
		u.claude()
	}
	for _, f := range u.files {
		out = append(out, f)
	}
	out.Sort()
	return out, u.notes, u.err
}

// universal is a plugin on its way from one layout to the other; the first error ends it.
type universal struct {
	assets       fs.FS
	files        map[string]plugin.File
	manifestFile string
	manifest     plugin.Manifest
	name         string
	authored     bool // the author wrote Claude Code's manifest: what lies in Claude's places stays there
	notes        []string
	err          error
}

func (u *universal) note(format string, args ...any) {
	u.notes = append(u.notes, fmt.Sprintf(format, args...))
}

func (u *universal) fail(err error) {
	if u.err == nil {
		u.err = err
	}
}

func (u *universal) has(name string) bool { _, ok := u.files[name]; return ok }

func (u *universal) put(name string, data []byte) {
	u.files[name] = plugin.File{Path: name, Data: data, Mode: 0o644}
}

func (u *universal) putJSON(name string, v any) {
	data, err := marshal(v)
	u.fail(err)
	u.put(name, data)
}

// copyTo leaves what is in that place already.
func (u *universal) copyTo(from, to string) {
	if f, ok := u.files[from]; ok && !u.has(to) {
		f.Path = to
		u.files[to] = f
	}
}

// moveTo takes the file away from its old place, unless Claude Code reads it there.
func (u *universal) moveTo(from, to string) {
	u.copyTo(from, to)
	if from != to && !u.authored {
		delete(u.files, from)
	}
}

// below lists the files of a folder, as paths below it, sorted.
func (u *universal) below(dir string) []string {
	var names []string
	for p := range u.files {
		if name, ok := strings.CutPrefix(p, dir+"/"); ok || dir == "." {
			if dir == "." {
				name = p
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// agentPlugins makes the files of Agent Plugins 1.0 and of Copilot CLI out of what the client's older rules load.
func (u *universal) agentPlugins() {
	root := u.manifest.Root
	u.skills(root.Get("skills"))
	u.documents("agents", root.Get("agents"))
	u.documents("commands", root.Get("commands"))
	u.hooks(root.Get("hooks"))
	u.servers(root.Get("mcpServers"))
	u.languageServers(root.Get("lspServers"))
	u.extensions(root.Get("extensions"))
	if u.manifestFile != claudeManifest {
		delete(u.files, u.manifestFile)
	}
	u.putJSON("plugin.json", u.portable(plugin.Schema, map[string]any{copilotDir: struct{}{}, claudeDir: struct{}{}}))
}

// portableManifest has the fields that every client takes, with the types that the strictest one wants.
type portableManifest struct {
	Schema      string         `json:"$schema,omitempty"`
	Name        string         `json:"name"`
	Version     string         `json:"version,omitempty"`
	Description string         `json:"description,omitempty"`
	Author      *plugin.Person `json:"author,omitempty"`
	Homepage    string         `json:"homepage,omitempty"`
	Repository  string         `json:"repository,omitempty"`
	License     string         `json:"license,omitempty"`
	Keywords    []string       `json:"keywords,omitempty"`
	Extensions  map[string]any `json:"extensions,omitempty"`
	Agents      []string       `json:"agents,omitempty"` // Claude Code's manifest only, as the rest
	Commands    []string       `json:"commands,omitempty"`
	Hooks       string         `json:"hooks,omitempty"`
	Servers     string         `json:"mcpServers,omitempty"`
}

func (u *universal) portable(schema string, extensions map[string]any) portableManifest {
	m := u.manifest
	p := portableManifest{
		Schema: schema, Name: u.name, Version: m.Version, Description: m.Description, Homepage: m.Homepage,
		Repository: m.Repository, License: m.License, Keywords: m.Keywords, Extensions: extensions,
	}
	if m.Author != (plugin.Person{}) {
		p.Author = &m.Author
	}
	if at := m.Root.Get("repository"); at.Is(plugin.Map) { // the form of package.json
		p.Repository = at.Get("url").Str()
	}
	return p
}

// portableName is the name as the client's older rules write it, without what Agent Plugins forbids.
func portableName(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r < 'a' || r > 'z' {
			if r < '0' || r > '9' {
				r = '-'
			}
		}
		if r != '-' || !strings.HasSuffix(b.String(), "-") {
			b.WriteRune(r)
		}
	}
	short := strings.Trim(b.String(), "-")
	return strings.TrimRight(short[:min(64, len(short))], "-")
}

// componentPaths are the places that a field of the older manifest names; without it, the default one. A text or a
// list stands for itself, {"paths": […]} also for the default place unless it is exclusive.
func componentPaths(field *plugin.Value, standard string) []string {
	var named []*plugin.Value
	var paths []string
	switch {
	case field == nil || field.Kind == plugin.Null:
		return []string{standard}
	case field.Is(plugin.String):
		named = []*plugin.Value{field}
	case field.Is(plugin.List):
		named = field.Items
	case field.Is(plugin.Map):
		if field.Get("paths").Is(plugin.List) {
			named = field.Get("paths").Items
		}
		if e := field.Get("exclusive"); !e.Is(plugin.Bool) || e.Text != "true" {
			paths = append(paths, standard)
		}
	}
	for _, v := range named {
		if p := path.Clean(v.Str()); v.Is(plugin.String) && fs.ValidPath(p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// skills puts every skill that the client finds directly below skills/, where Agent Plugins wants it.
func (u *universal) skills(field *plugin.Value) {
	if field == nil && u.has("SKILL.md") {
		u.rootSkill()
	}
	for _, p := range componentPaths(field, "skills") {
		for _, dir := range u.skillFolders(p) {
			u.skill(dir)
		}
	}
}

// skillFolders are the folders with a SKILL.md at or below p; none below another skill or a folder with a dot.
func (u *universal) skillFolders(p string) []string {
	var dirs []string
	for _, name := range u.below(p) {
		if path.Base(name) != "SKILL.md" {
			continue
		}
		dir := path.Dir(name)
		hidden := dir != "." && slices.ContainsFunc(strings.Split(dir, "/"), func(s string) bool { return strings.HasPrefix(s, ".") })
		nested := slices.ContainsFunc(dirs, func(d string) bool { return d == "." || strings.HasPrefix(dir+"/", d+"/") })
		if !hidden && !nested {
			dirs = append(dirs, dir)
		}
	}
	for i := range dirs {
		dirs[i] = path.Join(p, dirs[i])
	}
	return dirs
}

// skill hoists one that lies deeper below skills/, and copies one from elsewhere: something else may name its files.
func (u *universal) skill(dir string) {
	if dir == "." {
		u.rootSkill()
		return
	}
	to := path.Join("skills", path.Base(dir))
	if dir == to {
		return
	}
	if len(u.below(to)) > 0 {
		u.note("%s: not put into %s, where another skill lies: Agent Plugins does not see it", dir, to)
		return
	}
	for _, name := range u.below(dir) {
		from := path.Join(dir, name)
		u.copyTo(from, path.Join(to, name))
		if strings.HasPrefix(dir, "skills/") {
			delete(u.files, from)
		}
	}
}

// rootSkill is a plugin that is one skill. The folders that the Agent Skills text names go with it.
func (u *universal) rootSkill() {
	name := plugin.ParseSkill("SKILL.md", u.name, u.files["SKILL.md"].Data).Name
	to := path.Join("skills", portableName(name))
	u.moveTo("SKILL.md", to+"/SKILL.md")
	for _, dir := range []string{"scripts", "references", "assets"} {
		for _, f := range u.below(dir) {
			u.copyTo(path.Join(dir, f), path.Join(to, dir, f))
		}
	}
	u.note("SKILL.md: moved to %s with scripts/, references/ and assets/; other files that it names are not beside it any more", to)
}

// documents moves agents or commands into the client's own folder.
func (u *universal) documents(kind string, field *plugin.Value) {
	for _, p := range componentPaths(field, kind) {
		if u.has(p) && plugin.IsAgentFile(p) {
			u.moveTo(p, path.Join(copilotDir, kind, path.Base(p)))
			continue
		}
		for _, name := range u.below(p) {
			if !strings.Contains(name, "/") && plugin.IsAgentFile(name) {
				u.moveTo(path.Join(p, name), path.Join(copilotDir, kind, name))
			}
		}
	}
}

// hooks moves the hook file that the client reads: named, inline, or in one of the default places.
func (u *universal) hooks(field *plugin.Value) {
	switch {
	case field.Is(plugin.Map):
		u.putJSON(hooksPlace, map[string]any{"version": 1, "hooks": u.inline("hooks")})
	case field.Is(plugin.String):
		u.hookFile(path.Clean(field.Text))
	default:
		for _, p := range []string{"hooks.json", "hooks/hooks.json"} {
			if u.has(p) {
				u.hookFile(p)
				return
			}
		}
	}
}

// hookFile: Claude Code reads hooks/hooks.json too and refuses the plugin for events in camelCase.
func (u *universal) hookFile(from string) {
	f, ok := u.files[from]
	if !ok {
		return
	}
	u.copyTo(from, hooksPlace)
	if !u.authored || !claudeForm(f.Data) {
		delete(u.files, from)
	}
}

func (u *universal) languageServers(field *plugin.Value) {
	to := copilotDir + "/lsp.json"
	switch {
	case u.has("lsp.json"):
		u.moveTo("lsp.json", to)
	case field.Is(plugin.String):
		u.moveTo(path.Clean(field.Text), to)
	case field.Is(plugin.Map):
		u.putJSON(to, u.inline("lspServers"))
	}
}

func (u *universal) extensions(field *plugin.Value) {
	from := "extensions"
	if field.Is(plugin.String) {
		from = path.Clean(field.Text)
	}
	for _, name := range u.below(from) {
		u.moveTo(path.Join(from, name), path.Join(copilotDir, "extensions", name))
	}
}

// inline decodes one field of the manifest.
func (u *universal) inline(name string) any {
	var all map[string]any
	u.fail(json.Unmarshal(u.files[u.manifestFile].Data, &all))
	return all[name]
}
