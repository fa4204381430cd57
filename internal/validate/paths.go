package validate

import (
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
	var all []*checker
	for _, p := range paths {
		found, err := one(p, o)
		if err != nil {
			return nil, Summary{}, err
		}
		all = append(all, found...)
	}
	findings, s := finish(all)
	return findings, s, nil
}

func one(p string, o Options) ([]*checker, error) {
	abs := filepath.Clean(p)
	if !filepath.IsAbs(p) {
		abs = filepath.Join(o.Dir, p)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		prefix := filepath.Clean(p)
		if prefix == "." {
			prefix = ""
		}
		c := &checker{fsys: os.DirFS(abs), name: filepath.Base(abs), prefix: prefix, options: o}
		return append(c.dir(filepath.ToSlash(abs), o), c), nil
	}
	prefix := filepath.Dir(p)
	if prefix == "." {
		prefix = ""
	}
	c := &checker{fsys: os.DirFS(filepath.Dir(abs)), name: filepath.Base(filepath.Dir(abs)), prefix: prefix, options: o}
	return append(c.single(filepath.Base(p), filepath.ToSlash(abs), o), c), nil
}

// single checks one file; its name, then its place, then its text say what it is.
func (c *checker) single(name, abs string, o Options) []*checker {
	lower := strings.ToLower(name)
	parts := strings.Split(path.Dir(abs), "/")
	switch {
	case name == "SKILL.md":
		c.skill(name, c.name)
	case lower == "skill.md" || lower == "skill.markdown":
		c.open(name).warn(nil, "skill/file-name", "never looked at: the file's name is exactly SKILL.md", "rename it to SKILL.md")
	case lower == "plugin.json":
		c.manifest(name)
	case lower == "marketplace.json":
		return c.catalogueFile(name, abs, o)
	case lower == ".mcp.json" || lower == "mcp.json":
		c.serverFile(name)
	case strings.HasSuffix(lower, ".md") && slices.Contains(parts, "commands"):
		c.command(name)
	case strings.HasSuffix(name, ".md"):
		c.agent(name, false)
	case strings.HasSuffix(lower, ".md"):
		c.open(name).warn(nil, "agent/file-name", agentFileName, "rename it")
	case strings.HasSuffix(lower, ".jsonc"):
		c.open(name).warn(nil, "hooks/location", hookFileName, "rename it")
	case lower == "settings.json" || lower == "settings.local.json":
		c.settings(name, abs)
	case strings.HasSuffix(lower, ".json"):
		c.hookFile(name, placeOfHooks(abs))
	default:
		c.open(name).refuse(nil, "file/unknown", "not a skill, agent, hook file, manifest or marketplace", "name a folder, or one of those files")
	}
	return nil
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
	var more []*checker
	isPlugin, isMarket := false, false
	if _, err := plugin.FindManifest(c.fsys); err == nil {
		isPlugin = true
		c.plugin(true)
	}
	for _, p := range plugin.MarketplacePaths {
		if c.isFile(p) {
			isMarket = true
			more = c.marketplace(p, o)
			break
		}
	}
	if !isPlugin && !isMarket {
		c.nearMisses()
	}
	before := len(c.files)
	c.repository()
	if isPlugin || isMarket || len(c.files) > before {
		return more
	}
	if c.isFile("SKILL.md") {
		c.skillTree(".")
		return more
	}
	if place := kindOfFolder(abs); place != "" {
		c.folder(".", place)
		return more
	}
	return append(more, c.collection(o)...)
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
			c.open(p).refuse(nil, "marketplace/missing", "File not found: "+strings.Join(plugin.MarketplacePaths, ", "), "move this file to .github/plugin/marketplace.json")
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
	kept := c.skills
	c.skills = map[string]string{}
	for _, p := range []string{".github/skills", ".agents/skills", ".claude/skills"} {
		c.skillTree(p)
	}
	c.skills = kept
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
		sub, err := fs.Sub(c.fsys, d.Name())
		if err != nil || !c.isDir(d.Name()) {
			continue
		}
		if _, err := plugin.FindManifest(sub); err != nil {
			continue
		}
		child := &checker{fsys: sub, name: d.Name(), prefix: filepath.Join(c.prefix, d.Name()), options: o}
		child.plugin(true)
		more = append(more, child)
	}
	if len(more) == 0 {
		c.skills = map[string]string{}
		c.skillTree(".")
	}
	return more
}
