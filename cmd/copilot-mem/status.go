package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/install"
)

type statusDoc struct {
	SchemaVersion int             `json:"schemaVersion"`
	Version       string          `json:"version"`
	Installs      []statusInstall `json:"installs"`
}

type statusInstall struct {
	Scope   string       `json:"scope"`
	Dir     string       `json:"dir"`
	Version string       `json:"version"`
	Files   []statusFile `json:"files"`
	pending bool
}

type statusFile struct {
	Path  string `json:"path"` // below dir, or absolute where it lies elsewhere
	State string `json:"state"`
}

func newStatusCmd(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "What is installed where, and whether it was changed since", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			data, err := e.dataDir()
			if err != nil {
				return err
			}
			records, err := install.Records(data.Receipts())
			if err != nil {
				return err
			}
			doc := statusDoc{SchemaVersion: 1, Version: pluginVersion(), Installs: []statusInstall{}}
			for _, r := range records {
				doc.Installs = append(doc.Installs, statusInstall{r.Scope, r.Dir, r.Version, recordStates(r), r.State == install.Pending})
			}
			if asJSON {
				return e.printJSON(doc)
			}
			e.printStatus(doc)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

// recordStates compares one installation with the disk. A folder that cannot be read counts as changed.
func recordStates(r install.Record) []statusFile {
	files := []statusFile{}
	for _, receipt := range r.Receipts {
		states, err := install.ReadDrift(receipt)
		if err != nil {
			for _, f := range receipt.Files {
				states = append(states, install.FileState{Path: f.Path, State: install.Changed})
			}
		}
		for _, s := range states {
			files = append(files, statusFile{shownPath(r.Dir, receipt.Dir, s.Path), s.State})
		}
	}
	return files
}

func (e *env) printStatus(doc statusDoc) {
	fmt.Fprintln(e.Stdout, "copilot-mem "+doc.Version)
	if len(doc.Installs) == 0 {
		fmt.Fprintln(e.Stdout, "nothing is installed; run `copilot-mem init`")
	}
	for _, i := range doc.Installs {
		note := ""
		if i.pending {
			note = ", interrupted: run the same init or uninstall again"
		}
		fmt.Fprintf(e.Stdout, "\nscope %s in %s (%s%s)\n", i.Scope, i.Dir, i.Version, note)
		for _, f := range i.Files {
			fmt.Fprintf(e.Stdout, "  %-7s %s\n", f.State, f.Path)
		}
	}
}
