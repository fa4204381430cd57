package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
)

func newDoctorCmd(e *env) *cobra.Command {
	var asJSON, live, verbose bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check client, install, hooks, capture and store",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks, err := e.checks(live)
			if err != nil {
				return err
			}
			report := doctor.Run(cmd.Context(), checks)
			if asJSON {
				err = e.printJSON(reportJSON(report))
			} else {
				err = e.printReport(report, verbose)
			}
			if err != nil {
				return err
			}
			if report.Result == doctor.Error {
				return codeError(exitFindings)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	cmd.Flags().BoolVar(&live, "live", false, "send an event through the installed hook command, find it again, and remove it")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "with the time that each check took")
	return cmd
}

type doctorJSON struct {
	SchemaVersion int           `json:"schemaVersion"`
	Result        doctor.Result `json:"result"`
	Checks        []checkJSON   `json:"checks"`
}

type checkJSON struct {
	Name   string        `json:"name"`
	Result doctor.Result `json:"result"`
	Detail string        `json:"detail"`
	Hint   string        `json:"hint"`
}

func reportJSON(r doctor.Report) doctorJSON {
	out := doctorJSON{1, r.Result, []checkJSON{}}
	for _, a := range r.Answers {
		out.Checks = append(out.Checks, checkJSON{a.Group + "/" + a.Name, a.Result, a.Detail, a.Hint})
	}
	return out
}

func (e *env) printReport(r doctor.Report, verbose bool) error {
	w := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	for _, a := range r.Answers {
		took := ""
		if verbose {
			took = fmt.Sprintf(" (%d ms)", a.Took.Milliseconds())
		}
		fmt.Fprintf(w, "%s\t%s/%s\t%s%s\n", a.Result, a.Group, a.Name, strings.ReplaceAll(a.Detail, "\n", "; "), took)
		if a.Hint != "" {
			fmt.Fprintf(w, "\t\t→ %s\n", a.Hint)
		}
	}
	fmt.Fprintf(w, "\nresult: %s\n", r.Result)
	return w.Flush()
}
