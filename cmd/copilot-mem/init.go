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

	"github.com/spf13/cobra"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

type initFlags struct {
	scope, dir, policy  string
	recall              string // on, off, or as the config says
	recallSaid          bool
	vendor, force       bool
	yes, dryRun, asJSON bool
}

func newInitCmd(e *env) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use: "init", Short: "Install hooks, skills, agent and the capture program", Args: cobra.NoArgs,
		Long: "Shows the plan, then installs. What a person changed is kept and named. Running it again changes nothing.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkScope(f.scope); err != nil {
				return err
			}
			if f.policy != "" && !slices.Contains(render.PolicyChoices(), f.policy) {
				return &usageError{fmt.Errorf("--policy %s: not one of on, warn, off", f.policy), "run `copilot-mem init --help`"}
			}
			if err := e.init(f, cmd.Flags().Changed("vendor-binary")); err != nil || f.dryRun {
				return err
			}
			return e.offerImport(cmd.Context(), cmd, e.interactive(f.yes, f.asJSON), f.asJSON)
		},
	}
	cmd.Flags().StringVar(&f.scope, "scope", "", "user (default), repo or plugin")
	cmd.Flags().StringVar(&f.dir, "dir", "", "the repository, or the client's folder (default: the current one, $COPILOT_HOME)")
	cmd.Flags().StringVar(&f.policy, "policy", "", "the bundled rules: on (as without it), warn (only tell the model) or off")
	cmd.Flags().BoolVar(&f.vendor, "vendor-binary", false, "scope repo: put the capture program into the repository")
	cmd.Flags().StringVar(&f.recall, "recall", "", "tell the agent by itself what memory knows: on or off (default: as in the config, which says on at first)")
	cmd.Flags().BoolVar(&f.force, "force", false, "overwrite what a person changed; a copy stays beside it")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "ask nothing and take the defaults")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the plan and change nothing")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "one JSON document")
	addImportFlags(cmd)
	return cmd
}

func (e *env) init(f initFlags, vendorGiven bool) error {
	ask := e.interactive(f.yes, f.asJSON)
	var err error
	if f.scope == "" {
		f.scope = render.User
		if ask {
			if f.scope, err = e.askScope(); err != nil {
				return err
			}
		}
	}
	if f.scope == render.Repo && ask && !vendorGiven {
		if f.vendor, err = e.confirm("Put the capture program into the repository too?", false); err != nil {
			return err
		}
	}
	if err := e.settleRecall(&f, ask); err != nil {
		return err
	}
	if f.policy == "" && ask {
		if f.policy, err = e.askPolicy(); err != nil {
			return err
		}
	}
	if f.vendor && f.scope != render.Repo {
		return &usageError{errors.New("--vendor-binary: only for --scope repo"), "leave it out: the program goes into the data folder"}
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	request, program, err := e.request(f, exe)
	if err != nil {
		return err
	}
	job, err := install.Prepare(request)
	if err != nil {
		return err
	}
	out := newOutcome(f.scope, request.Dir, f.dryRun, job)
	out.explain(program)
	if !f.asJSON {
		out.print(e.Stdout)
	}
	if !f.dryRun {
		if ask && job.Changes() {
			if yes, err := e.confirm("Go ahead?", true); err != nil || !yes {
				return err
			}
		}
		if err := job.Do(); err != nil {
			return err
		}
		if err := e.keepRecall(f); err != nil {
			return err
		}
	}
	if f.asJSON {
		return e.printJSON(out)
	}
	return e.afterInit(f, job.Changes())
}

// request says what the scope needs, and below which folders.
func (e *env) request(f initFlags, exe string) (install.Request, install.Program, error) {
	none := install.Request{}
	data, err := e.dataDir()
	if err != nil {
		return none, install.Program{}, err
	}
	dir, err := e.scopeDir(f.scope, f.dir)
	if err != nil {
		return none, install.Program{}, err
	}
	program, err := install.FindProgram(exe, e.Getenv("PATH"))
	if err != nil {
		return none, program, err
	}
	if f.vendor && program.Name == "copilot-mem" {
		return none, program, &vendorError{filepath.Dir(exe)}
	}
	binary, err := os.ReadFile(program.Source)
	if err != nil {
		return none, program, err
	}
	if f.policy == "" {
		f.policy = installedPolicy(f.scope, dir)
	}
	packed := &render.Program{Name: program.Name, Target: runtime.GOOS + "-" + runtime.GOARCH, Data: binary}
	o := render.Options{Scope: f.scope, HookArgs: program.Args, Policy: f.policy}
	ours := install.Part{Dir: string(data), Private: true}
	theirs := install.Part{Dir: dir}
	o.Recall = f.recall == on
	full, fullFile, err := e.fullProgram(data, exe)
	if err != nil {
		return none, program, err
	}
	switch f.scope {
	case render.User:
		o.Full = full
		if theirs.Merge, err = serverEntry("mcp-config.json", full); err != nil {
			return none, program, err
		}
		o.HookCommand = program.Stable
		if o.HookCommand == "" {
			ours.Tree = plugin.Tree{dataProgram(data, packed)}
			o.HookCommand = filepath.Join(string(data), filepath.FromSlash(ours.Tree[0].Path))
		}
	case render.Repo:
		if theirs.Merge, err = serverEntry(repoServers(dir), "copilot-mem"); err != nil {
			return none, program, err
		}
		switch {
		case f.vendor:
			o.Program = packed
		case program.Stable == "":
			ours.Tree = plugin.Tree{dataProgram(data, packed)}
		}
	case render.Bundle:
		o.Program, o.Full = packed, "copilot-mem" // the client refuses a path of a plugin's server
		if fullFile != nil {
			o.Full = "./bin/copilot-mem"
		}
		if ours.Tree, err = render.Marketplace(copilotmem.Files, o); err != nil {
			return none, program, err
		}
		for i := range ours.Tree {
			ours.Tree[i].Path = path.Join(filepath.Base(data.Plugin()), ours.Tree[i].Path)
		}
		if fullFile != nil {
			fullFile.Path = path.Join(filepath.Base(data.Plugin()), render.PluginName, "bin", path.Base(fullFile.Path))
		}
		if theirs.Merge, err = pluginSettings(data); err != nil {
			return none, program, err
		}
		if f.policy != "" {
			settings, err := render.PolicySettings(copilotmem.Files, f.scope, f.policy)
			if err != nil {
				return none, program, err
			}
			theirs.Tree = plugin.Tree{settings}
		}
	}
	if fullFile != nil && !slices.ContainsFunc(ours.Tree, func(f plugin.File) bool { return f.Path == fullFile.Path }) {
		ours.Tree = append(ours.Tree, *fullFile)
	}
	if f.scope != render.Bundle {
		if theirs.Tree, err = render.Plugin(copilotmem.Files, o); err != nil {
			return none, program, err
		}
	}
	return install.Request{
		Scope: f.scope, Dir: dir, Version: pluginVersion(), Data: string(data), Records: data.Receipts(),
		Parts: []install.Part{ours, theirs}, Force: f.force,
	}, program, nil
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
func dataProgram(data datadir.Dir, p *render.Program) plugin.File {
	name := path.Join(filepath.Base(data.Bin()), p.Name)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return plugin.File{Path: name, Data: p.Data, Mode: 0o755}
}

// pluginSettings are the two keys that make the client load the marketplace from where it lies.
func pluginSettings(data datadir.Dir) (*install.Merge, error) {
	source, err := install.NewKey("extraKnownMarketplaces", render.MarketplaceName,
		map[string]any{"source": map[string]any{"source": "directory", "path": data.Plugin()}})
	if err != nil {
		return nil, err
	}
	enabled, err := install.NewKey("enabledPlugins", render.PluginName+"@"+render.MarketplaceName, true)
	return &install.Merge{Path: "settings.json", Keys: []install.Key{source, enabled}}, err
}

// vendorError says that there is no program that may go into a repository.
type vendorError struct{ dir string }

func (e *vendorError) Error() string {
	return e.dir + ": no copilot-mem-hook here to put into the repository"
}
func (e *vendorError) Hint() string {
	return "put copilot-mem-hook beside copilot-mem, or leave out --vendor-binary"
}

// explain says which program the hooks run.
func (o *outcome) explain(p install.Program) {
	said := false
	for i, op := range o.Operations {
		if base := filepath.Base(op.Path); base == p.Name || base == p.Name+".exe" {
			said = true
			if op.Reason == "" {
				o.Operations[i].Reason = "the hooks run it; copied from " + p.Source
			}
		}
	}
	if !said && p.Stable != "" {
		o.Operations = append(o.Operations, operation{install.OpSkip, p.Stable, "0755", "on PATH: the hooks run it there"})
	}
}

// afterInit prints what to try next, and on stderr what stands in the way.
func (e *env) afterInit(f initFlags, changed bool) error {
	if f.dryRun {
		_, err := fmt.Fprintln(e.Stdout, "\nDry run: nothing was changed.")
		return err
	}
	if !changed {
		_, err := fmt.Fprintln(e.Stdout, "\nNothing to do: everything is in place.")
		return err
	}
	next, err := copilotmem.Files.ReadFile("assets/messages/next-" + f.scope + ".txt")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(e.Stdout, "\nDone. %s", next); err != nil {
		return err
	}
	if f.scope == render.Repo && (f.policy == "off" || f.policy == "warn") {
		fmt.Fprintln(e.Stderr, "copilot-mem: hint: a repository softens the bundled rules only for people who trust it: `copilot-mem policy trust`")
	}
	if !install.OnPath("copilot-mem", e.Getenv("PATH")) {
		fmt.Fprintln(e.Stderr, "copilot-mem: hint: copilot-mem is not on PATH: put it there, so that the agent can search too")
	}
	return e.warnTwice(f.scope)
}

// warnTwice: the client runs the same hook as often as it finds it.
func (e *env) warnTwice(scope string) error {
	other := map[string]string{render.User: render.Bundle, render.Bundle: render.User}[scope]
	data, err := e.dataDir()
	if err != nil {
		return err
	}
	records, err := install.Records(data.Receipts())
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.Scope == other {
			fmt.Fprintf(e.Stderr, "copilot-mem: hint: scope %s is installed too and every hook runs twice: `copilot-mem uninstall --scope %s`\n", other, other)
		}
	}
	return nil
}
