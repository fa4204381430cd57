package bundled

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// policyFiles asks before policies, hooks or their settings are changed, also through a directory above them.
func policyFiles(f *facts.Facts, guarded func(string) bool) []Hit {
	var out []Hit
	var p *places
	for _, file := range f.Files() {
		if file.Action == "read" {
			continue
		}
		if p == nil {
			p = newPlaces(f)
		}
		for _, abs := range slices.Compact([]string{file.Abs, file.Real}) {
			if !p.hold(abs, file.Dir) || guarded != nil && !guarded(file.Abs) {
				continue
			}
			out = append(out, Hit{Action: "ask", Text: "this changes " + file.Path + ", which decides what the agent may do", Paths: []string{file.Path}})
			break
		}
		if len(out) >= 20 {
			break
		}
	}
	return unique(out)
}

// places are the directories in which policies are looked for, with and without links resolved.
type places struct{ repos, homes []string }

func newPlaces(f *facts.Facts) *places {
	p := &places{}
	for _, dir := range f.Sources() {
		p.repos = append(p.repos, slices.Compact([]string{dir, f.RealPath(dir)})...)
	}
	if home := f.CopilotHome(); home != "" {
		p.homes = slices.Compact([]string{home, f.RealPath(home)})
	}
	return p
}

// hold reports whether a path is a policy file by its place, or a directory that goes as a whole with one in it.
func (p *places) hold(abs string, dir bool) bool {
	for _, base := range p.repos {
		if repoPolicy(base, abs) || dir && holdsPlace(abs, base, ".github/copilot-mem", ".github/hookflows", ".github/hooks", ".claude") {
			return true
		}
	}
	for _, base := range p.homes {
		if facts.Within(abs, filepath.Join(base, "hooks")) || facts.Within(abs, filepath.Join(base, "copilot-mem")) ||
			dir && holdsPlace(abs, base, "hooks", "copilot-mem") {
			return true
		}
	}
	return false
}

// holdsPlace reports whether one of the places below base is there and lies in the directory abs.
func holdsPlace(abs, base string, places ...string) bool {
	for _, place := range places {
		p := filepath.Join(base, filepath.FromSlash(place))
		if facts.Within(p, abs) && facts.Exists(p) {
			return true
		}
	}
	return false
}

// repoPolicy reports a policy file of the repository directory base. Letter case does not matter: some file systems
// ignore it, and the ending of a policy file may be in any case.
func repoPolicy(base, abs string) bool {
	if !facts.Within(abs, base) {
		return false
	}
	rel := strings.ToLower(filepath.ToSlash(strings.TrimPrefix(abs[len(base):], string(filepath.Separator))))
	for _, dir := range []string{".github/copilot-mem", ".github/hookflows"} {
		if rest, ok := strings.CutPrefix(rel, dir); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	dir, name := filepath.ToSlash(filepath.Dir(filepath.FromSlash(rel))), rel[strings.LastIndexByte(rel, '/')+1:]
	switch dir {
	case ".github/hooks":
		return strings.HasSuffix(name, ".json")
	case ".claude":
		return strings.HasPrefix(name, "settings") && strings.HasSuffix(name, ".json")
	}
	return rel == ".github/hooks"
}
