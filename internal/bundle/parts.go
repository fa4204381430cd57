package bundle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Part is how much of a bundle one kind of file makes up, in bytes before packing.
type Part struct {
	Part  string `json:"part"`
	Files int    `json:"files"`
	Size  int64  `json:"size"`
}

// partFolders are the parts by the folder that their files lie in, whichever client's.
var partFolders = map[string]string{"bin": "programs", "skills": "skills", "agents": "agents", "commands": "commands", "hooks": "hooks"}

// Parts sums the files up by kind, the largest first.
func Parts(tree plugin.Tree) []Part {
	sums := map[string]*Part{}
	for _, f := range tree {
		name := partOf(f.Path)
		if sums[name] == nil {
			sums[name] = &Part{Part: name}
		}
		sums[name].Files++
		sums[name].Size += int64(len(f.Data))
	}
	parts := []Part{}
	for _, p := range sums {
		parts = append(parts, *p)
	}
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Or(cmp.Compare(b.Size, a.Size), strings.Compare(a.Part, b.Part)) })
	return parts
}

func partOf(file string) string {
	below := file
	for _, client := range []string{"com.github.copilot/", "com.anthropic.claude-code/"} {
		below = strings.TrimPrefix(below, client)
	}
	folder, _, nested := strings.Cut(below, "/")
	switch {
	case slices.Contains(plugin.ManifestPaths, file):
		return "manifests"
	case below == "mcp.json" || below == ".mcp.json":
		return "servers"
	case nested && partFolders[folder] != "":
		return partFolders[folder]
	}
	return "other"
}
