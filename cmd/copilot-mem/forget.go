package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/store"
)

type forgetJSON struct {
	SchemaVersion int    `json:"schemaVersion"`
	DryRun        bool   `json:"dryRun"`
	Session       string `json:"sessionId"`
	Entry         string `json:"entryId"`
	Entries       int    `json:"entries"`
}

func newForgetCmd(e *env) *cobra.Command {
	var session string
	var dryRun, yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "forget (ENTRY | --session SESSION)",
		Short: "Delete an entry or a session for good",
		Long:  "Delete an entry or a session for good: its rows, its words in the index, and what an import would bring back.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if (len(args) == 0) == (session == "") {
				return &usageError{errors.New("give the id of an entry, or --session"), "`copilot-mem show SESSION` lists entries with their ids"}
			}
			ask := e.interactive(yes, asJSON)
			if !yes && !dryRun && !ask {
				return &usageError{errors.New("nobody to ask whether to delete"), "add --yes to delete, or --dry-run to look"}
			}
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			out := forgetJSON{SchemaVersion: 1, DryRun: dryRun, Entries: 1}
			what, remove := "", func() (int, error) { return 0, nil }
			if session != "" {
				s, err := db.Session(cmd.Context(), session)
				if err != nil {
					return err
				}
				out.Session, out.Entries = s.ID, s.Entries
				what = fmt.Sprintf("session %s with %s", s.ID, plural(s.Entries, "entry", "entries"))
				remove = func() (int, error) { return db.ForgetSession(cmd.Context(), s.ID) }
			} else {
				m, err := db.Entry(cmd.Context(), args[0])
				if missing, ok := errors.AsType[*store.NotFoundError](err); ok {
					return &usageError{missing, "a session is deleted with --session"}
				}
				if err != nil {
					return err
				}
				out.Session, out.Entry = m.SessionID, m.ID
				what = fmt.Sprintf("%s %s (%s)", m.Kind, m.ID, clip(m.Text, 60))
				remove = func() (int, error) { return db.ForgetEntry(cmd.Context(), m.ID) }
			}
			if ask && !dryRun {
				if ok, err := e.confirm("Delete "+screen(what)+" for good?", false); err != nil || !ok {
					return err
				}
			}
			done := "would be forgotten"
			if !dryRun {
				if out.Entries, err = remove(); err != nil {
					return err
				}
				done = "forgotten"
			}
			if asJSON {
				return e.printJSON(out)
			}
			_, err = fmt.Fprintf(e.Stdout, "%s: %s\n", done, screen(what))
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&session, "session", "", "the whole session whose id starts so")
	fl.BoolVar(&dryRun, "dry-run", false, "delete nothing, say what would be deleted")
	fl.BoolVar(&yes, "yes", false, "ask nothing")
	fl.BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}
