package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/copilot"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

// initFlags are the answers to every question of init; empty is "nobody said".
type initFlags struct {
	scope, dir, policy string
	recall             string   // on or off
	capture            []string // kinds of config, or all, or none
	forward            string
	vendor             []string // targets; this, or none
	binaries           string
	share, readme      bool
	given              map[string]bool // by the flag's name
	force, diff        bool
	yes, dryRun        bool
	asJSON             bool
}

func newInitCmd(e *env) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use: "init", Short: "Install hooks, skills, agent and the capture program", Args: cobra.NoArgs,
		Long: `Asks what is not said by a flag, shows the plan, then installs and checks that it took. Without a terminal it asks
nothing and takes the defaults. What a person changed is kept and named. Running it again changes nothing.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = map[string]bool{}
			for _, name := range []string{"capture", "policy", "recall", "forward", "vendor-binary", "share", "readme"} {
				f.given[name] = cmd.Flags().Changed(name)
			}
			if err := f.check(); err != nil {
				return err
			}
			if done, err := e.init(cmd.Context(), f); err != nil || !done {
				return err
			}
			return e.offerImport(cmd.Context(), cmd, e.interactive(f.yes, f.asJSON), f.asJSON)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.scope, "scope", "", "user (default), repo or plugin")
	fl.StringVar(&f.dir, "dir", "", "the repository, or the client's folder (default: the current one, $COPILOT_HOME)")
	fl.StringSliceVar(&f.capture, "capture", nil, "what is captured: all, none, or some of "+strings.Join(captureKinds(), ","))
	fl.StringVar(&f.policy, "policy", "", "the bundled rules: on (as without it), warn (only tell the model) or off")
	fl.StringVar(&f.recall, "recall", "", "tell the agent by itself what memory knows: on or off (default: as in the config, which says on at first)")
	fl.StringVar(&f.forward, "forward", "", "hand each stored event to another program too: none or memory-ingest")
	fl.StringSliceVar(&f.vendor, "vendor-binary", nil, "scope repo: put the capture program for these systems into the repository (os/arch,…; alone: this one; none)")
	fl.Lookup("vendor-binary").NoOptDefVal = vendorThis
	fl.StringVar(&f.binaries, "binaries", "", "where --vendor-binary finds programs for other systems: a folder <os>-<arch> each")
	fl.BoolVar(&f.share, "share", false, "scope repo, for everybody who clones it: checks what git would leave out, and adds a line to README.md")
	fl.BoolVar(&f.readme, "readme", true, "with --share: the line in README.md")
	fl.BoolVar(&f.force, "force", false, "overwrite what a person changed; a copy stays beside it")
	fl.BoolVar(&f.diff, "diff", false, "show what changes in each file, also without a terminal")
	fl.BoolVar(&f.yes, "yes", false, "ask nothing and take the defaults")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the plan and change nothing")
	fl.BoolVar(&f.asJSON, "json", false, "one JSON document")
	addAccessibleFlag(e, cmd)
	addImportFlags(cmd)
	return cmd
}

func (f *initFlags) check() error {
	const help = "run `copilot-mem init --help`"
	if f.share && f.scope == "" {
		f.scope = render.Repo
	}
	if err := checkScope(f.scope); err != nil {
		return err
	}
	if f.policy != "" && !slices.Contains(render.PolicyChoices(), f.policy) {
		return &usageError{fmt.Errorf("--policy %s: not one of on, warn, off", f.policy), help}
	}
	if f.recall != "" && f.recall != on && f.recall != off {
		return &usageError{fmt.Errorf("--recall %s: not on or off", f.recall), "leave it out to keep what the config says"}
	}
	if f.forward != "" && f.forward != config.ForwardNone && f.forward != config.ForwardIngest {
		return &usageError{fmt.Errorf("--forward %s: not one of none, memory-ingest", f.forward), help}
	}
	if err := checkCapture(f.capture); err != nil {
		return err
	}
	if f.given["vendor-binary"] {
		vendor, err := parseVendor(f.vendor)
		if err != nil {
			return err
		}
		f.vendor = vendor
	}
	return f.checkRepo()
}

// checkRepo refuses what only a repository can have. An unknown scope is one that is asked for yet.
func (f *initFlags) checkRepo() error {
	if f.scope == "" || f.scope == render.Repo {
		return nil
	}
	if len(f.vendor) > 0 {
		return &usageError{errors.New("--vendor-binary: only for --scope repo"), "leave it out: the program goes into the data folder"}
	}
	if f.share {
		return &usageError{errors.New("--share: only for --scope repo"), "leave it out, or add --scope repo"}
	}
	return nil
}

// init asks, plans, shows, installs and proves. done is false for a dry run, and where somebody said no.
func (e *env) init(ctx context.Context, f initFlags) (done bool, err error) {
	ask := e.interactive(f.yes, f.asJSON)
	if ask {
		if err := e.askInit(&f); err != nil {
			return false, err
		}
	}
	if f.scope == "" {
		f.scope = render.User
	}
	if err := f.checkRepo(); err != nil {
		return false, err
	}
	p, err := e.planInit(f)
	if err != nil {
		return false, err
	}
	if !f.asJSON {
		e.showPlan(p.out, p.job, f.diff || ask)
	}
	if f.dryRun {
		if f.asJSON {
			return false, e.printJSON(p.out)
		}
		_, err := fmt.Fprintln(e.Stdout, "\nDry run: nothing was changed.")
		return false, err
	}
	if ask && p.job.Changes() {
		if yes, err := e.confirm("Go ahead?", true); err != nil || !yes {
			return false, err
		}
	}
	if err := p.job.Do(); err != nil {
		return false, err
	}
	proof, problem := e.prove(ctx, p)
	if f.asJSON {
		return true, errors.Join(e.printJSON(p.out), problem)
	}
	if problem != nil {
		return true, problem
	}
	return true, e.afterInit(ctx, p, proof)
}

// plan is an installation that is worked out, and how it is told.
type plan struct {
	flags   initFlags
	request install.Request
	program install.Program
	job     *install.Job
	out     outcome
}

// planInit works everything out and changes nothing.
func (e *env) planInit(f initFlags) (p plan, err error) {
	p.flags = f
	if p.request, p.program, err = e.request(&p.flags); err != nil {
		return p, err
	}
	for _, part := range p.request.Parts {
		if err := refuseInvalid(f.scope, part.Dir, part.Tree); err != nil {
			return p, err
		}
	}
	if p.job, err = install.Prepare(p.request); err != nil {
		return p, err
	}
	p.out = newOutcome(f.scope, p.request.Dir, f.dryRun, p.job)
	p.out.explain(p.program)
	return p, nil
}

// explain says which program the hooks run.
func (o *outcome) explain(p install.Program) {
	said := false
	for i, op := range o.Operations {
		if strings.HasPrefix(op.Path, ".github/") && !strings.Contains(op.Path, "/"+hostFolder()+"/") {
			continue // vendored for another system
		}
		if base := filepath.Base(op.Path); base == p.Name || base == p.Name+".exe" {
			said = true
			if op.Reason == "" {
				o.Operations[i].Reason = "the hooks run it"
			}
		}
	}
	if !said && p.Stable != "" {
		o.Operations = append(o.Operations, operation{install.OpSkip, p.Stable, "0755", "on PATH: the hooks run it there"})
	}
}

// afterInit prints what to try next, and on stderr what stands in the way.
func (e *env) afterInit(ctx context.Context, p plan, proof string) error {
	f := p.flags
	last := p.job.Last()
	if !p.job.Changes() {
		if _, err := fmt.Fprintln(e.Stdout, "\nNothing to do: everything is in place.", proof); err != nil {
			return err
		}
		return e.warnings(ctx, p)
	}
	next, err := copilotmem.Files.ReadFile("assets/messages/next-" + f.scope + ".txt")
	if err != nil {
		return err
	}
	what := "Done."
	if last != nil && last.Version != p.request.Version {
		what = "Done: " + last.Version + " → " + p.request.Version + "."
	}
	if _, err := fmt.Fprintf(e.Stdout, "\n%s %s\n%s", what, proof, next); err != nil {
		return err
	}
	return e.warnings(ctx, p)
}

// warnings tells on stderr what stands in the way.
func (e *env) warnings(ctx context.Context, p plan) error {
	f := p.flags
	for _, op := range p.job.Plans[len(p.job.Plans)-1].Ops {
		if op.Op == install.OpKeep && op.Foreign && strings.HasSuffix(op.Path, ".json") {
			fmt.Fprintf(e.Stderr, "copilot-mem: hint: %s is not as we write it and was kept: without our hooks nothing is captured. --force puts them there and keeps a copy\n",
				filepath.Join(p.request.Dir, filepath.FromSlash(op.Path)))
		}
	}
	if f.scope == render.Repo && (f.policy == "off" || f.policy == "warn") {
		fmt.Fprintln(e.Stderr, "copilot-mem: hint: a repository softens the bundled rules only for people who trust it: `copilot-mem policy trust`")
	}
	if f.scope == render.Repo && f.share {
		e.afterShare(ctx, p)
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

// inRepository reports whether a repository scope is possible from here.
func (e *env) inRepository(dir string) bool {
	if dir == "" {
		dir = e.Dir
	}
	_, err := copilot.GitRoot(dir)
	return err == nil
}
