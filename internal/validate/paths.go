package validate

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Paths checks files and folders as the client would load them: a file by its name and place; a folder as a plugin, a
// marketplace, a skill, a repository with the client's folders in it, or a collection of those.
// A folder with nothing to check is no finding; the Summary then counts no file. The error is a path that is not there.
func Paths(paths []string, o Options) ([]Finding, Summary, error) {
	all, err := run(paths, o)
	if err != nil {
		return nil, Summary{}, err
	}
	findings, s := finish(all)
	return findings, s, nil
}

func run(paths []string, o Options) (all []*checker, err error) {
	if o.Kind != "" && !slices.Contains(Kinds, o.Kind) {
		return nil, &KindError{Kind: o.Kind}
	}
	for _, p := range paths {
		found, err := one(p, o)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Kinds are what --kind may say.
var Kinds = []string{"skill", "agent", "command", "hooks", "settings", "mcp", "plugin", "marketplace", "repository", "home"}

// KindError is a kind that there is not, or not for this path.
type KindError struct{ Kind, Path string }

func (e *KindError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("--kind %s: unknown kind", e.Kind)
	}
	return fmt.Sprintf("%s: a file cannot be a %s", e.Path, e.Kind)
}

// Hint names the kinds.
func (e *KindError) Hint() string { return "write --kind " + strings.Join(Kinds, ", ") }

// ExitCode is that of wrong usage.
func (e *KindError) ExitCode() int { return 2 }

func one(p string, o Options) ([]*checker, error) {
	abs := filepath.Clean(p)
	if !filepath.IsAbs(p) {
		abs = filepath.Join(o.Dir, p)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, err
	}
	slash := filepath.ToSlash(abs)
	if info.IsDir() {
		prefix := filepath.Clean(p)
		if prefix == "." {
			prefix = ""
		}
		c := &checker{fsys: os.DirFS(abs), name: filepath.Base(abs), prefix: prefix, options: o}
		switch {
		case o.Kind != "":
			return append(c.folderAs(o.Kind, slash, o), c), nil
		case o.Home != "" && abs == o.Home:
			return append(c.home(o), c), nil
		}
		return append(c.dir(slash, o), c), nil
	}
	prefix := filepath.Dir(p)
	if prefix == "." {
		prefix = ""
	}
	c := &checker{fsys: os.DirFS(filepath.Dir(abs)), name: filepath.Base(filepath.Dir(abs)), prefix: prefix, options: o}
	name := filepath.Base(p)
	if o.Kind == "repository" || o.Kind == "home" {
		return nil, &KindError{o.Kind, p}
	}
	if kind := o.Kind; kind != "" {
		return append(c.fileAs(kind, name, slash, o), c), nil
	}
	return append(c.single(name, slash, o), c), nil
}

// single checks one file; its name, then its place, then its text say what it is.
func (c *checker) single(name, abs string, o Options) []*checker {
	lower := strings.ToLower(name)
	switch {
	case name != "SKILL.md" && (lower == "skill.md" || lower == "skill.markdown"):
		c.open(name).warn(nil, "skill/file-name", "never looked at: the file's name is exactly SKILL.md", "rename it to SKILL.md")
	case strings.HasSuffix(lower, ".md") && !strings.HasSuffix(name, ".md"):
		c.open(name).warn(nil, "agent/file-name", agentFileName, "rename it")
	case strings.HasSuffix(lower, ".jsonc"):
		c.open(name).warn(nil, "hooks/location", hookFileName, "rename it")
	default:
		kind := kindOfFile(name, abs)
		if kind == "hooks" {
			kind = c.kindOfJSON(name)
		}
		if kind == "" {
			c.open(name).refuse(nil, "file/unknown", "not a skill, agent, hook file, manifest or marketplace", "name a folder, one of those files, or say --kind")
			return nil
		}
		return c.fileAs(kind, name, abs, o)
	}
	return nil
}

// kindOfFile goes by name and place; abs is the whole path. "" is none.
func kindOfFile(name, abs string) string {
	lower := strings.ToLower(name)
	switch {
	case name == "SKILL.md":
		return "skill"
	case lower == "plugin.json":
		return "plugin"
	case lower == "marketplace.json":
		return "marketplace"
	case lower == ".mcp.json" || lower == "mcp.json" || lower == "mcp-config.json":
		return "mcp"
	case strings.HasSuffix(name, ".md") && slices.Contains(strings.Split(path.Dir(abs), "/"), "commands"):
		return "command"
	case strings.HasSuffix(name, ".md"):
		return "agent"
	case lower == "settings.json" || lower == "settings.local.json":
		return "settings"
	case strings.HasSuffix(lower, ".json"):
		return "hooks"
	}
	return ""
}

// kindOfJSON looks into a file whose name says nothing: what has the fields of a manifest or a catalogue is one.
func (c *checker) kindOfJSON(name string) string {
	data, err := fs.ReadFile(c.fsys, name)
	if err != nil {
		return "hooks"
	}
	root, err := plugin.ParseJSON(data)
	switch {
	case err != nil || root.Get("hooks").Is(plugin.Map):
	case root.Get("plugins").Is(plugin.List) && root.Get("owner") != nil:
		return "marketplace"
	case root.Get("mcpServers").Is(plugin.Map) && root.Get("name") == nil:
		return "mcp"
	case plugin.SpecVersion(root.Get("$schema").Str()) != "":
		return "plugin"
	}
	return "hooks"
}

// fileAs checks a file as what it was said to be.
func (c *checker) fileAs(kind, name, abs string, o Options) []*checker {
	switch kind {
	case "skill":
		c.skill(name, c.name)
	case "agent":
		c.agent(name, ".", false)
	case "command":
		c.command(name)
	case "hooks":
		c.hookFile(name, placeOfHooks(abs))
	case "settings":
		c.settings(name, abs)
	case "mcp":
		c.serverFile(name)
	case "plugin":
		c.manifest(name)
	case "marketplace":
		return c.catalogueFile(name, abs, o)
	}
	return nil
}

// folderAs checks a folder as what it was said to be.
func (c *checker) folderAs(kind, abs string, o Options) []*checker {
	switch kind {
	case "skill":
		c.families()
		c.skillTree(".")
		c.checkListing()
	case "agent":
		c.families()
		c.agentTree(".", false, false)
	case "command":
		c.commandTree(".")
	case "hooks":
		c.hookTree(".")
	case "settings":
		for _, p := range []string{"settings.json", "settings.local.json"} {
			if c.isFile(p) {
				c.settings(p, path.Join(abs, p))
			}
		}
	case "mcp":
		for _, p := range []string{".mcp.json", ".github/mcp.json", "mcp.json"} {
			if c.isFile(p) {
				c.serverFile(p)
			}
		}
	case "plugin":
		c.plugin(true)
	case "marketplace":
		if more, ok := c.catalogue(o); ok {
			return more
		}
		c.open("marketplace.json").refuse(nil, "marketplace/missing", noMarketplace, "write .github/plugin/marketplace.json")
	case "repository":
		c.repository()
	case "home":
		return c.home(o)
	}
	return nil
}

const noMarketplace = "File not found: marketplace.json, .plugin/marketplace.json, .github/plugin/marketplace.json, .claude-plugin/marketplace.json"

// catalogue checks the marketplace.json that the client reads; ok is false where there is none.
func (c *checker) catalogue(o Options) (more []*checker, ok bool) {
	for _, p := range plugin.MarketplacePaths {
		if c.exists(p) {
			return c.marketplace(p, o), true
		}
	}
	return nil, false
}

// placeOfHooks: a hook file of a plugin is read strictly, one of a repository or user item by item.
func placeOfHooks(abs string) source {
	if path.Base(abs) == "hooks.json" && !strings.Contains(abs, "/.github/hooks/") {
		return inPlugin
	}
	return hookFile
}

// catalogueFile checks a marketplace.json with the plugins it lists, which lie beside it or beside its folder.
func (c *checker) catalogueFile(name, abs string, o Options) []*checker {
	for _, p := range plugin.MarketplacePaths {
		if !strings.HasSuffix(abs, "/"+p) || p == name {
			continue
		}
		up := strings.Repeat("../", strings.Count(p, "/"))
		root := &checker{fsys: os.DirFS(strings.TrimSuffix(abs, "/"+p)), name: path.Base(strings.TrimSuffix(abs, "/"+p)),
			prefix: filepath.Join(c.prefix, filepath.FromSlash(up)), options: o}
		return append(root.marketplace(p, o), root)
	}
	return c.marketplace(name, o)
}

// dir finds out what a folder is. One folder can be several things at once.
func (c *checker) dir(abs string, o Options) []*checker {
	_, err := plugin.FindManifest(c.fsys)
	isPlugin := err == nil
	if isPlugin {
		c.plugin(true)
	}
	more, isMarket := c.catalogue(o)
	if !isPlugin && !isMarket {
		c.nearMisses()
	}
	before := len(c.files)
	c.repository()
	if isPlugin || isMarket || len(c.files) > before {
		return more
	}
	if c.isHome(abs) {
		return append(more, c.home(o)...)
	}
	if c.isFile("SKILL.md") {
		c.skillTree(".")
		return more
	}
	c.families()
	if place := kindOfFolder(abs); place != "" {
		c.folder(".", place)
		return more
	}
	return append(more, c.collection(o)...)
}

// isHome: the client's own folder, by its name or by what the client keeps in it.
func (c *checker) isHome(abs string) bool {
	if path.Base(abs) == ".copilot" {
		return true
	}
	kept := 0
	for _, p := range []string{"config.json", "settings.json", "mcp-config.json", "installed-plugins", "session-state", "plugin-data"} {
		if c.exists(p) {
			kept++
		}
	}
	return kept > 1
}

// home checks the client's own folder: what a person keeps there, and the plugins that were copied there.
func (c *checker) home(o Options) (more []*checker) {
	c.families()
	c.skillTree("skills")
	c.checkListing()
	c.agentTree("agents", false, false)
	c.hookTree("hooks")
	if c.isFile("settings.json") {
		c.settings("settings.json", "settings.json")
	}
	if c.isFile("mcp-config.json") {
		c.serverFile("mcp-config.json")
	}
	if c.isFile("hooks.json") {
		c.open("hooks.json").warn(nil, "hooks/location", "not read", "move it to hooks/")
	}
	markets, err := fs.ReadDir(c.fsys, "installed-plugins")
	if err != nil {
		return nil
	}
	for _, m := range markets {
		at := path.Join("installed-plugins", m.Name())
		plugins, err := fs.ReadDir(c.fsys, at)
		if err != nil {
			continue
		}
		for _, p := range plugins {
			if child := c.child(path.Join(at, p.Name()), o); child != nil {
				child.plugin(false)
				more = append(more, child)
			}
		}
	}
	return more
}

// child is a checker for a folder below; nil where there is none.
func (c *checker) child(dir string, o Options) *checker {
	if !c.isDir(dir) {
		return nil
	}
	sub, err := fs.Sub(c.fsys, dir)
	if err != nil {
		return nil
	}
	return &checker{fsys: sub, name: c.base(dir), prefix: filepath.Join(c.prefix, filepath.FromSlash(dir)), options: o}
}

// nearMisses: a manifest or catalogue in a place where the client does not look.
func (c *checker) nearMisses() {
	for _, p := range manifestMisses {
		if c.named(p) {
			c.open(p).refuse(nil, "plugin/manifest-missing", noManifest, "move this file to plugin.json at the plugin's root")
		}
	}
	entries, err := fs.ReadDir(c.fsys, ".")
	if err != nil {
		return
	}
	for _, d := range entries {
		p := path.Join(d.Name(), "marketplace.json")
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && c.named(p) {
			c.open(p).refuse(nil, "marketplace/missing", noMarketplace, "move this file to .github/plugin/marketplace.json")
		}
	}
}

// named reports whether a file of exactly that name exists: file systems that ignore case say yes too often.
func (c *checker) named(file string) bool {
	entries, err := fs.ReadDir(c.fsys, path.Dir(file))
	return err == nil && slices.ContainsFunc(entries, func(d fs.DirEntry) bool { return d.Name() == path.Base(file) && !d.IsDir() })
}

// repository checks the folders that the client reads in a project, and warns of those that it does not.
func (c *checker) repository() {
	kept := *c
	c.whole = true
	c.families()
	for _, p := range []string{".github/skills", ".agents/skills", ".claude/skills"} {
		c.skillTree(p)
	}
	c.checkListing()
	for _, p := range []string{".github/agents", ".claude/agents"} {
		c.agentTree(p, false, false)
	}
	c.hookTree(".github/hooks")
	if c.isDir(".claude/commands") {
		c.commandTree(".claude/commands")
	}
	for _, p := range []string{".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json"} {
		if c.isFile(p) {
			c.settings(p, p)
		}
	}
	c.whole, c.skills, c.agents, c.titles = kept.whole, kept.skills, kept.agents, kept.titles
	c.misplaced()
	if c.isFile(".github/hooks.json") {
		c.open(".github/hooks.json").warn(nil, "hooks/location", "not read", "move it to .github/hooks/")
	}
	for _, dir := range []string{".claude/hooks", ".copilot/hooks", ".agents/hooks", ".github/copilot/hooks"} {
		_ = plugin.Walk(c.fsys, dir, func(p string, d fs.DirEntry) error {
			if !d.IsDir() && path.Ext(p) == ".json" {
				c.open(p).warn(nil, "hooks/location", "not read", "move it to .github/hooks/")
			}
			return nil
		})
	}
}

// misplaced: skills and agents in folders of other programs.
func (c *checker) misplaced() {
	for _, of := range []string{".copilot", ".vscode", ".cursor", ".codex", ".gemini", ".opencode", ".plugin"} {
		c.hiddenSkills(of+"/skills", "skill/location", "never found: the client does not look in "+of+"/skills", "move its folder to .github/skills/")
	}
	for _, of := range []string{".copilot", ".agents"} {
		c.hiddenAgents(of+"/agents", "agent/location", "never found: the client does not look in "+of+"/agents", "move it to .github/agents/")
	}
}

// kindOfFolder says what the files of a folder of that name are.
func kindOfFolder(abs string) string {
	switch base := path.Base(abs); base {
	case "skills", "agents", "hooks", "commands":
		return base
	}
	return ""
}

func (c *checker) folder(dir, kind string) {
	switch kind {
	case "skills":
		c.skillTree(dir)
		c.checkListing()
	case "agents":
		c.agentTree(dir, false, false)
	case "hooks":
		c.likelyHooks(dir)
	case "commands":
		c.commandTree(dir)
	}
}

// likelyHooks checks a folder that is only called hooks: other JSON may lie there.
func (c *checker) likelyHooks(dir string) {
	_ = plugin.Walk(c.fsys, dir, func(p string, d fs.DirEntry) error {
		if d.IsDir() || path.Ext(p) != ".json" || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		data, err := fs.ReadFile(c.fsys, p)
		if err != nil {
			return nil //nolint:nilerr // what cannot be read cannot look like a hook file
		}
		root, err := plugin.ParseJSON(data)
		if err != nil || root.Get("hooks") != nil || slices.ContainsFunc(asMap(root), func(f plugin.Field) bool {
			return plugin.EventNames[f.Name] != "" && f.Value.Is(plugin.List)
		}) {
			c.hookFile(p, placeOfHooks("/"+p))
		}
		return nil
	})
}

// collection checks the plain folders of a plugin that has no manifest yet, else the plugins that lie beside each
// other here, else whatever skills lie below.
func (c *checker) collection(o Options) (more []*checker) {
	found := false
	for _, kind := range []string{"skills", "agents", "hooks", "commands"} {
		if c.isDir(kind) {
			found = true
			c.folder(kind, kind)
		}
	}
	entries, err := fs.ReadDir(c.fsys, ".")
	if err != nil || found {
		return nil
	}
	for _, d := range entries {
		child := c.child(d.Name(), o)
		if child == nil {
			continue
		}
		if _, err := plugin.FindManifest(child.fsys); err != nil {
			continue
		}
		child.plugin(true)
		more = append(more, child)
	}
	if len(more) == 0 {
		c.skillTree(".")
		c.checkListing()
	}
	return more
}
