package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/copilot"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

type uninstallFlags struct {
	scope, dir                 string
	purge, yes, dryRun, asJSON bool
}

func newUninstallCmd(e *env) *cobra.Command {
	var f uninstallFlags
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Take out what init put in", Args: cobra.NoArgs,
		Long: "Removes exactly what the receipt lists. A file that a person changed is kept and named.",
		RunE: func(*cobra.Command, []string) error {
			if err := checkScope(f.scope); err != nil {
				return err
			}
			return e.uninstall(f)
		},
	}
	cmd.Flags().StringVar(&f.scope, "scope", "", "user, repo or plugin (default: the one that is installed)")
	cmd.Flags().StringVar(&f.dir, "dir", "", "the repository, or the client's folder (default: the current one, $COPILOT_HOME)")
	cmd.Flags().BoolVar(&f.purge, "purge-data", false, "remove everything that was remembered too")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "ask nothing")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the plan and change nothing")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "one JSON document")
	return cmd
}

func (e *env) uninstall(f uninstallFlags) error {
	ask := e.interactive(f.yes, f.asJSON)
	if f.purge && !f.yes && !f.dryRun && !ask {
		return &usageError{errors.New("--purge-data: nobody to ask"), "add --yes to remove what was remembered"}
	}
	data, err := e.dataDir()
	if err != nil {
		return err
	}
	records, err := install.Records(data.Receipts())
	if err != nil {
		return err
	}
	scope, dir, err := e.chooseInstall(f, records, ask)
	if err != nil {
		return err
	}
	if f.purge {
		for _, r := range records {
			if r.Scope != scope || r.Dir != dir {
				return &purgeError{data, r}
			}
		}
	}
	job, err := install.PrepareRemoval(scope, dir, string(data), data.Receipts())
	if err != nil {
		return err
	}
	out := newOutcome(scope, dir, f.dryRun, job)
	if f.purge {
		out.Operations = append(out.Operations, operation{install.OpRemove, string(data), "0700", "everything that was remembered"})
	}
	if !f.asJSON {
		out.print(e.Stdout)
		if job == nil {
			fmt.Fprintln(e.Stdout, "  nothing is installed here"+elsewhere(records))
		}
	}
	if !f.dryRun {
		if ask && (job != nil || f.purge) {
			if yes, err := e.confirm("Go ahead?", !f.purge); err != nil || !yes {
				return err
			}
		}
		if err := e.carryOut(job, f.purge, data); err != nil {
			return err
		}
	}
	if f.asJSON {
		return e.printJSON(out)
	}
	_, err = os.Stat(string(data))
	switch {
	case f.dryRun:
		fmt.Fprintln(e.Stdout, "\nDry run: nothing was changed.")
	case job != nil && err == nil:
		fmt.Fprintf(e.Stdout, "\nDone. What was remembered stays in %s; --purge-data removes it.\n", data)
	case job != nil || f.purge:
		fmt.Fprintln(e.Stdout, "\nDone. Nothing of copilot-mem is left here.")
	}
	return nil
}

func (e *env) carryOut(job *install.Job, purge bool, data datadir.Dir) error {
	if job != nil {
		if err := job.Do(); err != nil {
			return err
		}
	}
	if !purge {
		return nil
	}
	var ours []string
	for _, p := range []string{data.Spool(), data.DB(), data.State(), data.Failures(), data.Failures() + ".old", data.Forward(), data.Receipts(), data.Bin(), data.Plugin(), data.Backups(), data.Recall(), data.Logs(), data.Trust(), data.Config()} {
		ours = append(ours, filepath.Base(p))
	}
	left, err := install.Purge(string(data), ours)
	if len(left) > 0 {
		fmt.Fprintf(e.Stderr, "copilot-mem: hint: %s: not ours and left: %s\n", data, strings.Join(left, ", "))
	}
	return err
}

// purgeError says that something would go on capturing into the folder that is to go.
type purgeError struct {
	data datadir.Dir
	r    install.Record
}

func (e *purgeError) Error() string {
	return fmt.Sprintf("%s: still used by scope %s in %s", e.data, e.r.Scope, e.r.Dir)
}

func (e *purgeError) Hint() string {
	return fmt.Sprintf("run `copilot-mem uninstall --scope %s --dir %s` first", e.r.Scope, e.r.Dir)
}

// chooseInstall says which installation is meant. A record is found by its folder even when that is gone.
func (e *env) chooseInstall(f uninstallFlags, records []install.Record, ask bool) (scope, dir string, err error) {
	given := f.dir
	if given != "" && !filepath.IsAbs(given) {
		given = filepath.Join(e.Dir, given)
	}
	var here []install.Record
	for _, r := range records {
		if f.scope != "" && r.Scope != f.scope {
			continue
		}
		place, err := e.scopeDir(r.Scope, f.dir)
		if err == nil && place == r.Dir || given != "" && filepath.Clean(given) == r.Dir {
			here = append(here, r)
		}
	}
	switch {
	case len(here) == 1:
		return here[0].Scope, here[0].Dir, nil
	case len(here) == 0:
		scope = f.scope
		if scope == "" {
			scope = render.User
		}
		dir, err = e.scopeDir(scope, f.dir)
		var none *copilot.NoRepositoryError
		if errors.As(err, &none) {
			return scope, none.Dir, nil
		}
		return scope, dir, err
	case !ask:
		return "", "", &usageError{errors.New("more than one scope is installed here"), "name one: --scope " + here[0].Scope + ", or --scope " + here[1].Scope}
	}
	var options []option
	for _, r := range here {
		options = append(options, option{r.Scope, r.Scope + " in " + r.Dir})
	}
	scope, err = e.choose("Which one should go?", options...)
	for _, r := range here {
		if r.Scope == scope {
			dir = r.Dir
		}
	}
	return scope, dir, err
}

func elsewhere(records []install.Record) string {
	var places []string
	for _, r := range records {
		places = append(places, "--scope "+r.Scope+" --dir "+r.Dir)
	}
	if len(places) == 0 {
		return ""
	}
	return "; elsewhere: " + strings.Join(places, ", ")
}
