package render

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Targets are the systems that a bundle can have programs for, as "<os>/<arch>" in Go's words.
var Targets = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"}

// Programs are the executables for one target.
type Programs struct {
	Target string
	Files  []plugin.File // Path is the file's name, with the ending of the system
}

// WithPrograms adds the programs to a plugin: into bin/ where they are for one target, else into bin/<os>-<arch>/ with
// a launcher of their name in bin/. A program wins over a file of the plugin in the same place.
func WithPrograms(assets fs.FS, tree plugin.Tree, sets ...Programs) (plugin.Tree, error) {
	r := renderer{assets: assets}
	for _, set := range sets {
		dir := "bin"
		if len(sets) > 1 {
			dir = path.Join("bin", strings.ReplaceAll(set.Target, "/", "-"))
		}
		for _, f := range set.Files {
			if path.Base(f.Path) != f.Path {
				return nil, fmt.Errorf("%s: %s: a program lies directly in its folder", set.Target, f.Path)
			}
			r.add(path.Join(dir, f.Path), f.Data, 0o755)
			if len(sets) > 1 {
				r.launcher(path.Join("bin", strings.TrimSuffix(f.Path, ".exe")))
			}
		}
	}
	for _, f := range tree {
		if !r.has(f.Path) {
			r.tree = append(r.tree, f)
		}
	}
	r.sort()
	return r.tree, r.err
}

func (r *renderer) has(name string) bool {
	return slices.ContainsFunc(r.tree, func(f plugin.File) bool { return f.Path == name })
}

// launcher adds both forms of the launcher for the program that it is called after.
func (r *renderer) launcher(name string) {
	if r.has(name) {
		return
	}
	r.add(name, r.read("assets/launch/launcher.sh"), 0o755)
	r.add(name+".ps1", r.read("assets/launch/launcher.ps1"), 0o644)
}
