package plugin

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Plugin is a plugin as the client would see it: its files, and what it gives.
type Plugin struct {
	Tree     Tree
	Manifest Manifest
	Skills   []Skill
	Agents   []Agent
	Hooks    string // path of the hook file, "" without one
}

// Load reads the plugin in fsys. A part that does not parse carries its error; what the manifest says beyond the
// usual places is not followed (package validate does). The errors are ErrNoManifest, a manifest that is no JSON, and
// what reading says.
func Load(fsys fs.FS) (Plugin, error) {
	tree, err := Read(fsys)
	if err != nil {
		return Plugin{}, err
	}
	return Parse(tree)
}

// Parse is Load for files that are in memory.
func Parse(tree Tree) (Plugin, error) {
	p := Plugin{Tree: tree}
	name, err := FindManifest(tree.FS())
	if err != nil {
		return p, err
	}
	f, _ := tree.Get(name)
	if p.Manifest, err = ParseManifest(f.Data); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	p.Manifest.Path = name
	prefix := ""
	if p.Manifest.Spec() {
		prefix = "com.github.copilot/"
	}
	p.Hooks = hookFile(tree, prefix)
	for _, f := range tree.Under("skills") {
		if path.Base(f.Path) == "SKILL.md" {
			p.Skills = append(p.Skills, ParseSkill(f.Path, path.Base(path.Dir(f.Path)), f.Data))
		}
	}
	agents := prefix + "agents"
	for _, f := range tree.Under(agents) {
		below := strings.TrimPrefix(f.Path, agents+"/")
		if !strings.Contains(below, "/") && IsAgentFile(below) {
			a := ParseAgent(below, f.Data)
			a.Path = f.Path
			p.Agents = append(p.Agents, a)
		}
	}
	return p, nil
}

func hookFile(tree Tree, prefix string) string {
	places := []string{"hooks.json", "hooks/hooks.json"}
	if prefix != "" {
		places = []string{prefix + "hooks/hooks.json"}
	}
	for _, p := range places {
		if _, ok := tree.Get(p); ok {
			return p
		}
	}
	return ""
}
