// Package render answers which files our plugin has, for one scope and one machine: bytes, places and modes.
// It reads the embedded assets, and neither reads nor writes the disk: that is package install.
package render

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// The scopes: a person's own client folder, one git repository, and a plugin that the client loads.
const (
	User   = "user"
	Repo   = "repo"
	Bundle = "plugin"
)

// Program is an executable that goes into the tree.
type Program struct {
	Name   string // file name without the ending of the system: copilot-mem-hook or copilot-mem
	Target string // "<os>-<arch>" in Go's words
	Data   []byte
}

// Options says what to render.
type Options struct {
	Scope       string
	HookCommand string    // absolute path of the program that the hooks run; scope user only
	HookArgs    []string  // what stands before the event's name: "capture" where the program is copilot-mem itself
	Version     string    // empty: the version in plugin.json
	Recall      bool      // the hooks also tell the agent what memory knows, where the full program is
	Full        string    // copilot-mem itself: its absolute path, or "./bin/copilot-mem" where a bundle packs it; empty: not known
	HookProgram string    // scope plugin: what the hooks start in bin/; empty: Program's name, else copilot-mem-hook
	Policy      string    // on, warn or off: settings of the bundled rules; empty: none are written
	Program     *Program  // scope plugin: packed into bin/; nil: nothing packed
	Vendor      []Program // scope repo: kept in the repository, with a list of their checksums
	Launcher    bool      // scope plugin: what the hooks start in bin/ is a launcher for several systems
}

// Plugin renders the files of one scope. assets holds plugin.json and the folder assets. The paths are relative to the
// client's folder, to the git root, or to the plugin's root.
func Plugin(assets fs.FS, o Options) (plugin.Tree, error) {
	r := renderer{assets: assets, o: o}
	switch o.Scope {
	case User:
		r.hookFile("hooks/copilot-mem.json", r.userEntry)
		r.skills("skills")
		r.agents("agents")
		r.settings()
	case Repo:
		r.hookFile(".github/hooks/copilot-mem.json", r.repoEntry)
		r.skills(".github/skills")
		r.agents(".github/agents")
		r.settings()
		r.vendor()
	case Bundle:
		r.bundle()
	default:
		return nil, fmt.Errorf("scope %q: not one of user, repo, plugin", o.Scope)
	}
	if r.err != nil {
		return nil, r.err
	}
	r.sort()
	return r.tree, nil
}

// renderer collects files; the first error ends it.
type renderer struct {
	assets fs.FS
	o      Options
	tree   plugin.Tree
	err    error
}

func (r *renderer) add(name string, data []byte, mode fs.FileMode) {
	r.tree = append(r.tree, plugin.File{Path: name, Data: data, Mode: mode})
}

func (r *renderer) sort() {
	slices.SortFunc(r.tree, func(a, b plugin.File) int { return strings.Compare(a.Path, b.Path) })
}

func (r *renderer) fail(err error) {
	if r.err == nil { // a nil error changes nothing
		r.err = err
	}
}

func (r *renderer) read(name string) []byte {
	data, err := fs.ReadFile(r.assets, name)
	if err != nil {
		r.fail(err)
	}
	return data
}

// PolicyChoices are the values of Options.Policy, the default first.
func PolicyChoices() []string { return []string{"on", "warn", "off"} }

// PolicySettings is where the settings of a scope lie, and what a choice writes there. Scope plugin has those of the user.
func PolicySettings(assets fs.FS, scope, choice string) (plugin.File, error) {
	f := plugin.File{Path: "copilot-mem/policy.yml", Mode: 0o600}
	if scope == Repo {
		f.Path, f.Mode = ".github/copilot-mem/policy.yml", 0o644
	}
	var err error
	f.Data, err = fs.ReadFile(assets, "assets/settings/"+choice+".yml")
	return f, err
}

func (r *renderer) settings() {
	if r.o.Policy == "" {
		return
	}
	f, err := PolicySettings(r.assets, r.o.Scope, r.o.Policy)
	r.fail(err)
	r.tree = append(r.tree, f)
}

// bundle is the one layout that Agent Plugins 1.0, Copilot CLI and Claude Code all load.
func (r *renderer) bundle() {
	m := r.manifest()
	r.addJSON("plugin.json", agentPlugins(m))
	r.skills("skills")
	r.agents("com.github.copilot/agents")
	r.hookFile("com.github.copilot/hooks/hooks.json", r.bundleEntry)
	r.claude(m)
	r.servers()
	if r.o.Program != nil {
		r.program("bin", *r.o.Program)
	}
}

// vendor adds the programs of a repository. Who reviews the change, and the machine that runs it, can compare them with
// the list: `sha256sum -c SHA256SUMS`.
func (r *renderer) vendor() {
	if len(r.o.Vendor) == 0 {
		return
	}
	const dir = ".github/copilot-mem/bin"
	for _, p := range r.o.Vendor {
		r.program(path.Join(dir, p.Target), p)
	}
	var sums strings.Builder
	r.sort()
	for _, f := range r.tree.Under(dir) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.Data), strings.TrimPrefix(f.Path, dir+"/"))
	}
	r.add(path.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

func (r *renderer) program(dir string, p Program) {
	name := p.Name
	if isWindows(p.Target) {
		name += ".exe"
	}
	r.add(path.Join(dir, name), p.Data, 0o755)
}

func (r *renderer) skills(dir string) { r.copyAssets("assets/skills", dir) }
func (r *renderer) agents(dir string) { r.copyAssets("assets/agents", dir) }

func (r *renderer) copyAssets(from, to string) {
	sub, err := fs.Sub(r.assets, from)
	if err != nil {
		r.fail(err)
		return
	}
	r.fail(fs.WalkDir(sub, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		r.add(path.Join(to, p), r.read(path.Join(from, p)), 0o644)
		return nil
	}))
}
