package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/install"
)

// upgradeDoc is the JSON document of `upgrade`.
type upgradeDoc struct {
	SchemaVersion int              `json:"schemaVersion"`
	DryRun        bool             `json:"dryRun"`
	Version       string           `json:"version"`
	Installs      []upgradeInstall `json:"installs"`
}

type upgradeInstall struct {
	Scope      string      `json:"scope"`
	Dir        string      `json:"dir"`
	From       string      `json:"from"`
	Operations []operation `json:"operations"`
	Problem    string      `json:"problem,omitempty"` // why this one stays as it is
}

type upgradeFlags struct{ force, yes, dryRun, asJSON bool }

func newUpgradeCmd(e *env) *cobra.Command {
	var f upgradeFlags
	cmd := &cobra.Command{
		Use: "upgrade", Short: "Bring every installation up to this program's version", Args: cobra.NoArgs,
		Long: `Does what init does, for every scope and folder that a receipt names, with what was chosen there. What a person changed
is kept and named. An installation that a newer version made is refused and left as it is.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.upgrade(cmd.Context(), f) },
	}
	cmd.Flags().BoolVar(&f.force, "force", false, "overwrite what a person changed; a copy stays beside it")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "ask nothing")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the plan and change nothing")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "one JSON document")
	addAccessibleFlag(e, cmd)
	return cmd
}

func (e *env) upgrade(ctx context.Context, f upgradeFlags) error {
	data, err := e.dataDir()
	if err != nil {
		return err
	}
	records, err := install.Records(data.Receipts())
	if err != nil {
		return err
	}
	doc := upgradeDoc{1, f.dryRun, pluginVersion(), []upgradeInstall{}}
	var plans []plan
	var problems []error
	changes := false
	for _, r := range records {
		p, err := e.planUpgrade(r, f)
		one := upgradeInstall{r.Scope, r.Dir, r.Version, []operation{}, ""}
		if err != nil {
			one.Problem = err.Error()
			problems = append(problems, err)
		} else {
			plans = append(plans, p)
			one.Operations = p.out.Operations
			changes = changes || p.job.Changes()
			if !f.asJSON {
				e.showPlan(p.out, p.job, e.TTY)
			}
		}
		doc.Installs = append(doc.Installs, one)
	}
	if !f.dryRun && (!changes || !e.interactive(f.yes, f.asJSON)) {
		problems = append(problems, e.doAll(ctx, plans, !f.asJSON)...)
	} else if !f.dryRun {
		yes, err := e.confirm("Go ahead?", true)
		if err != nil || !yes {
			return errors.Join(append(problems, err)...)
		}
		problems = append(problems, e.doAll(ctx, plans, true)...)
	}
	switch {
	case f.asJSON:
		problems = append(problems, e.printJSON(doc))
	case len(records) == 0:
		fmt.Fprintln(e.Stdout, "nothing is installed; run `copilot-mem init`")
	case f.dryRun:
		fmt.Fprintln(e.Stdout, "\nDry run: nothing was changed.")
	}
	return errors.Join(problems...)
}

// planUpgrade is init again, as it was chosen then.
func (e *env) planUpgrade(r install.Record, f upgradeFlags) (plan, error) {
	if _, err := os.Stat(r.Dir); err != nil {
		return plan{}, &goneError{r, err}
	}
	return e.planInit(initFlags{scope: r.Scope, dir: r.Dir, readme: true, given: map[string]bool{}, force: f.force, dryRun: f.dryRun})
}

// doAll carries out one after the other; a failure of one does not keep the others back.
func (e *env) doAll(ctx context.Context, plans []plan, tell bool) (problems []error) {
	for _, p := range plans {
		if err := p.job.Do(); err != nil {
			problems = append(problems, err)
			continue
		}
		proof, err := e.prove(ctx, p)
		if err != nil {
			problems = append(problems, err)
		} else if tell {
			from := ""
			if last := p.job.Last(); last != nil && last.Version != p.request.Version {
				from = last.Version + " → "
			}
			fmt.Fprintf(e.Stdout, "scope %s in %s: %s%s. %s\n", p.request.Scope, p.request.Dir, from, p.request.Version, proof)
		}
	}
	return problems
}

// goneError is an installation whose folder is not there any more.
type goneError struct {
	r   install.Record
	err error
}

func (e *goneError) Error() string { return fmt.Sprintf("scope %s: %v", e.r.Scope, e.err) }
func (e *goneError) Unwrap() error { return e.err }
func (e *goneError) Hint() string {
	return fmt.Sprintf("if it is gone for good: `copilot-mem uninstall --scope %s --dir %s`", e.r.Scope, e.r.Dir)
}
