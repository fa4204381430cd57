package validate

import (
	"io/fs"
	"path"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

const (
	agentFileName = "never looked at: an agent's file ends in lowercase .agent.md and does not begin with a dot"
	hookFileName  = "never looked at: a hook file ends in lowercase .json and does not begin with a dot"
)

// skillFile is a SKILL.md and the name of its folder.
type skillFile struct{ file, folder string }

// skillDir goes down from dir and collects the skills; above are the folders that lead to it, for links that lead back.
func (c *checker) skillDir(dir, folder string, above []fs.FileInfo, skills *[]skillFile) {
	info, err := fs.Stat(c.fsys, dir)
	if err != nil || plugin.Loops(info, above) {
		return
	}
	above = append(above, info)
	entries, err := fs.ReadDir(c.fsys, dir)
	if err != nil {
		return
	}
	var folders []string
	leaf := false
	for _, d := range entries {
		p := path.Join(dir, d.Name())
		switch {
		case d.Name() == "SKILL.md" && c.isFile(p):
			leaf = true
			*skills = append(*skills, skillFile{p, folder})
		case c.isDir(p):
			folders = append(folders, p)
		case strings.EqualFold(d.Name(), "SKILL.md") || strings.EqualFold(d.Name(), "SKILL.markdown"):
			c.open(p).warn(nil, "skill/file-name", "never looked at: the file's name is exactly SKILL.md", "rename it to SKILL.md")
		}
	}
	for _, p := range folders {
		switch {
		case leaf:
			c.hiddenSkills(p, "skill/nested", "never found: it lies below another skill", "move its folder out of the other skill's folder")
		case strings.HasPrefix(path.Base(p), "."):
			c.hiddenSkills(p, "skill/dot-directory", "never found: folders that begin with a dot are passed over", "rename the folder")
		default:
			c.skillDir(p, path.Base(p), above, skills)
		}
	}
}

func (c *checker) hiddenSkills(dir, rule, message, hint string) {
	_ = plugin.Walk(c.fsys, dir, func(p string, d fs.DirEntry) error {
		if d.Name() == "SKILL.md" && !d.IsDir() {
			c.open(p).warn(nil, rule, message, hint)
		}
		return nil
	})
}

// agentTree checks the agents below root; flat is the plugin's way, where subfolders are not read.
func (c *checker) agentTree(root string, flat, quiet bool) {
	_ = plugin.Walk(c.fsys, root, func(p string, d fs.DirEntry) error {
		hidden := strings.HasPrefix(d.Name(), ".")
		switch {
		case d.IsDir() && hidden:
			c.hiddenAgents(p, "agent/dot-directory", "never found: folders that begin with a dot are passed over", "rename the folder")
			return fs.SkipDir
		case d.IsDir() && flat:
			c.hiddenAgents(p, "agent/nested", "never found: a plugin's agents lie directly in its agents folder", "move the file up")
			return fs.SkipDir
		case d.IsDir():
		case plugin.IsAgentFile(p):
			c.agent(p, root, quiet)
		case strings.HasSuffix(strings.ToLower(d.Name()), ".agent.md"):
			c.open(p).warn(nil, "agent/file-name", agentFileName, "rename it")
		}
		return nil
	})
}

func (c *checker) hiddenAgents(dir, rule, message, hint string) {
	_ = plugin.Walk(c.fsys, dir, func(p string, d fs.DirEntry) error {
		if !d.IsDir() && strings.HasSuffix(strings.ToLower(d.Name()), ".agent.md") {
			c.open(p).warn(nil, rule, message, hint)
		}
		return nil
	})
}

// hookTree checks every hook file below root.
func (c *checker) hookTree(root string) {
	_ = plugin.Walk(c.fsys, root, func(p string, d fs.DirEntry) error {
		name := d.Name()
		switch {
		case d.IsDir():
		case strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, "."):
			c.hookFile(p, hookFile)
		case strings.EqualFold(path.Ext(name), ".json"), path.Ext(name) == ".jsonc":
			c.open(p).warn(nil, "hooks/location", hookFileName, "rename it")
		}
		return nil
	})
}

// commandTree checks slash commands: the markdown files directly in root.
func (c *checker) commandTree(root string) {
	entries, err := fs.ReadDir(c.fsys, root)
	if err != nil {
		return
	}
	for _, d := range entries {
		p := path.Join(root, d.Name())
		if strings.EqualFold(path.Ext(d.Name()), ".md") && !strings.HasPrefix(d.Name(), ".") && c.isFile(p) {
			c.command(p)
		}
	}
}
