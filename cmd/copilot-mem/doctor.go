package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
)

type doctorFlags struct {
	asJSON, live, client, fix, verbose, strict bool
}

func newDoctorCmd(e *env) *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check client, install, hooks, capture, store, recall, policy and privacy",
		Long: "Asks named questions and says for each what is wrong and what to do. Exit code 3 where a check says error (--strict: or\n" +
			"warning). Without --live nothing is started but programs of ours, nothing is written, and it takes less than a second.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.doctor(cmd.Context(), f) },
	}
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "one JSON document")
	cmd.Flags().BoolVar(&f.live, "live", false, "send events through the installed hooks as the client does, find them again, and remove them")
	cmd.Flags().BoolVar(&f.client, "client", false, "run a whole session of the installed client, offline, against a model that this command plays")
	cmd.Flags().BoolVar(&f.fix, "fix", false, "do the repairs that lose nothing, show each, and check again")
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "with the evidence of each check and the time that it took")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "exit code 3 for warnings, too")
	return cmd
}

func (e *env) doctor(ctx context.Context, f doctorFlags) error {
	report, rows, err := e.examine(ctx, f)
	if err != nil {
		return err
	}
	var done []doctor.Done
	if f.fix {
		if done = report.Fix(ctx); len(done) > 0 {
			if report, rows, err = e.examine(ctx, f); err != nil {
				return err
			}
		}
	}
	if f.asJSON {
		err = e.printJSON(reportJSON(report, done, rows, f.verbose))
	} else {
		err = e.printReport(report, done, f)
	}
	if err != nil {
		return err
	}
	if report.Result == doctor.Error || f.strict && report.Result == doctor.Warning || anyFailed(done) {
		return codeError(exitFindings)
	}
	return nil
}

// examine runs the checks; rows is the capture ledger, nil where it could not be read.
func (e *env) examine(ctx context.Context, f doctorFlags) (report doctor.Report, rows []ledgerRow, err error) {
	patience := hurried
	if f.live || f.client {
		patience = patient
	}
	h, err := e.newHealth(ctx, patience)
	if err != nil {
		return report, nil, err
	}
	defer h.close()
	report = doctor.Run(ctx, h.checks(checkMode{f.live, f.client}))
	if rows, err = h.ledger(); err != nil {
		rows = nil // its check says why
	}
	return report, rows, ctx.Err()
}

func anyFailed(done []doctor.Done) bool {
	var errs []error
	for _, d := range done {
		errs = append(errs, d.Err)
	}
	return errors.Join(errs...) != nil
}

type doctorJSON struct {
	SchemaVersion int           `json:"schemaVersion"`
	Result        doctor.Result `json:"result"`
	Checks        []checkJSON   `json:"checks"`
	Ledger        []ledgerRow   `json:"ledger"`
	Fixed         []fixedJSON   `json:"fixed,omitempty"`
}

type checkJSON struct {
	Name     string        `json:"name"` // "group/check"
	Group    string        `json:"group"`
	Result   doctor.Result `json:"result"`
	Detail   string        `json:"detail"`
	Hint     string        `json:"hint"`
	Fixable  bool          `json:"fixable"`
	Evidence []string      `json:"evidence,omitempty"` // with --verbose
	TookMS   *float64      `json:"tookMs,omitempty"`   // with --verbose
}

type fixedJSON struct {
	Name  string `json:"name"`
	Did   string `json:"did"`
	Error string `json:"error"` // empty where it succeeded
}

func reportJSON(r doctor.Report, done []doctor.Done, rows []ledgerRow, verbose bool) doctorJSON {
	out := doctorJSON{1, r.Result, []checkJSON{}, append([]ledgerRow{}, rows...), nil}
	for _, a := range r.Answers {
		c := checkJSON{Name: a.Group + "/" + a.Name, Group: a.Group, Result: a.Result, Detail: a.Detail, Hint: a.Hint, Fixable: a.Bad() && a.Repair != nil}
		if verbose {
			ms := float64(a.Took.Microseconds()) / 1000
			c.Evidence, c.TookMS = a.Evidence, &ms
		}
		out.Checks = append(out.Checks, c)
	}
	for _, d := range done {
		f := fixedJSON{Name: d.Group + "/" + d.Name, Did: d.Does}
		if d.Err != nil {
			f.Error = d.Err.Error()
		}
		out.Fixed = append(out.Fixed, f)
	}
	return out
}
