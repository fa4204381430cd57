package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
	"github.com/copilot-mem/copilot-mem/internal/render"
	"github.com/copilot-mem/copilot-mem/internal/validate"
)

// request says what the scope needs, and below which folders. What nobody said is taken from the last time.
func (e *env) request(f *initFlags) (install.Request, install.Program, error) {
	none := install.Request{}
	data, err := e.dataDir()
	if err != nil {
		return none, install.Program{}, err
	}
	dir, err := e.scopeDir(f.scope, f.dir)
	if err != nil {
		return none, install.Program{}, err
	}
	if err := f.fromLastTime(data, dir); err != nil {
		return none, install.Program{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return none, install.Program{}, err
	}
	program, err := install.FindProgram(exe, e.Getenv("PATH"))
	if err != nil {
		return none, program, err
	}
	if f.policy == "" {
		f.policy = installedPolicy(f.scope, dir)
	}
	r := install.Request{Scope: f.scope, Dir: dir, Version: pluginVersion(), Data: string(data), Records: data.Receipts(), Force: f.force, Choices: f.remember()}
	ours := install.Part{Dir: string(data), Private: true}
	theirs := install.Part{Dir: dir}
	main, err := e.fullProgram(data, exe)
	if err != nil {
		return none, program, err
	}
	switch f.scope {
	case render.User:
		err = f.forUser(data, program, main, &ours, &theirs)
	case render.Repo:
		err = e.forRepo(f, data, program, &ours, &theirs)
	case render.Bundle:
		err = f.forPlugin(data, program, main, &ours, &theirs)
	}
	if main.file != nil && !slices.ContainsFunc(ours.Tree, func(f plugin.File) bool { return f.Path == main.file.Path }) {
		ours.Tree = append(ours.Tree, *main.file)
	}
	if choices := f.choices(); choices != nil {
		ours.Merges = append(ours.Merges, *choices)
	}
	r.Parts = []install.Part{ours, theirs}
	return r, program, err
}

func (f *initFlags) forUser(data datadir.Dir, program install.Program, main full, ours, theirs *install.Part) (err error) {
	o := render.Options{
		Scope: f.scope, HookArgs: program.Args, Policy: f.policy, HookCommand: program.Stable, Recall: f.recalls(data), Full: main.path,
	}
	server, err := ourServer("mcp-config.json", main.path)
	if err != nil {
		return err
	}
	theirs.Merges = append(theirs.Merges, server)
	if o.HookCommand == "" {
		own, err := dataProgram(data, program)
		if err != nil {
			return err
		}
		ours.Tree = plugin.Tree{own}
		o.HookCommand = filepath.Join(string(data), filepath.FromSlash(own.Path))
	}
	theirs.Tree, err = render.Plugin(copilotmem.Files, o)
	return err
}

func (e *env) forRepo(f *initFlags, data datadir.Dir, program install.Program, ours, theirs *install.Part) (err error) {
	o := render.Options{Scope: f.scope, HookArgs: program.Args, Policy: f.policy, Recall: f.recalls(data)}
	server, err := ourServer(repoServers(theirs.Dir), "copilot-mem")
	if err != nil {
		return err
	}
	theirs.Merges = append(theirs.Merges, server)
	if o.Vendor, err = e.vendored(f, program); err != nil {
		return err
	}
	if !vendorsHost(o.Vendor) && program.Stable == "" {
		own, err := dataProgram(data, program)
		if err != nil {
			return err
		}
		ours.Tree = plugin.Tree{own}
	}
	if f.share && f.readme {
		theirs.Merges = append(theirs.Merges, readmeLine(theirs.Dir))
	}
	theirs.Tree, err = render.Plugin(copilotmem.Files, o)
	return err
}

func (f *initFlags) forPlugin(data datadir.Dir, program install.Program, main full, ours, theirs *install.Part) error {
	binary, err := os.ReadFile(program.Source)
	if err != nil {
		return err
	}
	o := render.Options{Scope: f.scope, HookArgs: program.Args, Program: &render.Program{Name: program.Name, Target: hostFolder(), Data: binary}, Recall: f.recalls(data)}
	o.Full = "copilot-mem" // the client refuses a path of a plugin's server
	if main.file != nil {
		o.Full = "./bin/copilot-mem"
	}
	if ours.Tree, err = render.Marketplace(copilotmem.Files, o); err != nil {
		return err
	}
	for i := range ours.Tree {
		ours.Tree[i].Path = path.Join(filepath.Base(data.Plugin()), ours.Tree[i].Path)
	}
	if main.file != nil {
		main.file.Path = path.Join(filepath.Base(data.Plugin()), render.PluginName, "bin", path.Base(main.file.Path))
	}
	settings, err := pluginSettings(data)
	if err != nil {
		return err
	}
	theirs.Merges = append(theirs.Merges, settings)
	if f.policy != "" {
		rules, err := render.PolicySettings(copilotmem.Files, f.scope, f.policy)
		if err != nil {
			return err
		}
		theirs.Tree = plugin.Tree{rules}
	}
	return nil
}

// fromLastTime takes from the last installation here what nobody said this time.
func (f *initFlags) fromLastTime(data datadir.Dir, dir string) error {
	records, err := install.Records(data.Receipts())
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.Scope != f.scope || r.Dir != dir {
			continue
		}
		if last := r.Choices["vendor"]; last != "" && !f.given["vendor-binary"] {
			f.vendor = strings.Split(last, ",")
		}
		if !f.given["share"] {
			f.share = f.share || r.Choices["share"] != ""
		}
		if !f.given["readme"] && r.Choices["share"] == "quiet" {
			f.readme = false
		}
	}
	return nil
}

// remember is what fromLastTime reads.
func (f *initFlags) remember() map[string]string {
	all := map[string]string{}
	if len(f.vendor) > 0 {
		all["vendor"] = strings.Join(f.vendor, ",")
	}
	switch {
	case f.share && f.readme:
		all["share"] = "readme"
	case f.share:
		all["share"] = "quiet"
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// installedPolicy is the choice that lies in the folder: without a word on it, init leaves it as it is.
func installedPolicy(scope, dir string) string {
	for _, choice := range render.PolicyChoices() {
		f, err := render.PolicySettings(copilotmem.Files, scope, choice)
		if err != nil {
			continue // a test reads all three
		}
		there, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err == nil && bytes.Equal(there, f.Data) {
			return choice
		}
	}
	return ""
}

// dataProgram is the capture program as a file of the data folder.
func dataProgram(data datadir.Dir, p install.Program) (plugin.File, error) {
	binary, err := os.ReadFile(p.Source)
	name := path.Join(filepath.Base(data.Bin()), p.Name)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return plugin.File{Path: name, Data: binary, Mode: 0o755}, err
}

// pluginSettings are the two keys that make the client load the marketplace from where it lies.
func pluginSettings(data datadir.Dir) (install.Merge, error) {
	source, err := install.NewKey("extraKnownMarketplaces", render.MarketplaceName,
		map[string]any{"source": map[string]any{"source": "directory", "path": data.Plugin()}})
	if err != nil {
		return install.Merge{}, err
	}
	enabled, err := install.NewKey("enabledPlugins", render.PluginName+"@"+render.MarketplaceName, true)
	return install.Merge{Path: "settings.json", Keys: []install.Key{source, enabled}}, err
}

// refuseInvalid checks a tree as the client will load it: what we would reject is never installed. It is a fault of the
// build, so the error has no advice but to tell us.
func refuseInvalid(scope, dir string, tree plugin.Tree) error {
	kind := map[string]string{render.User: "home", render.Repo: "repository", render.Bundle: "home"}[scope]
	at := tree.Under("marketplace")
	if len(at) > 0 {
		kind, tree = "marketplace", nil
		for _, f := range at {
			f.Path = strings.TrimPrefix(f.Path, "marketplace/")
			tree = append(tree, f)
		}
	}
	if len(tree) == 0 {
		return nil
	}
	findings, _ := validate.Tree(tree.FS(), kind, filepath.Base(dir), dir, validate.Options{})
	var errs []error
	for _, f := range findings {
		if f.Severity == validate.Error {
			errs = append(errs, fmt.Errorf("%s:%d: %s (%s)", f.File, f.Line, f.Message, f.Rule))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return &invalidError{errors.Join(errs...)}
}

type invalidError struct{ err error }

func (e *invalidError) Error() string { return e.err.Error() }
func (e *invalidError) Unwrap() error { return e.err }
func (e *invalidError) Hint() string {
	return "the client would refuse this, so nothing was installed: this copilot-mem is damaged or was built wrongly; get it again"
}
