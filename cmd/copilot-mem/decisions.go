package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/digest"
)

type decisionsJSON struct {
	SchemaVersion int            `json:"schemaVersion"`
	Scope         scopeJSON      `json:"scope"`
	Decisions     []decisionJSON `json:"decisions"`
}

type decisionJSON struct {
	ID        string   `json:"id"` // of the entry; `show` expands it
	SessionID string   `json:"sessionId"`
	Turn      int      `json:"turn"`
	Time      jsonTime `json:"time"`
	Project   string   `json:"project"`
	Rule      string   `json:"rule"`  // chose, overrode, rejected or answered
	Quote     string   `json:"quote"` // the user's own words
	Found     bool     `json:"found"` // always true: a rule found it, nobody confirmed it
}

func newDecisionsCmd(e *env) *cobra.Command {
	var f filters
	var exitEmpty, asJSON bool
	cmd := &cobra.Command{
		Use: "decisions", Short: "Where you seem to have decided something, in your own words", Args: cobra.NoArgs,
		Long: `Where you seem to have decided something: chosen, overruled the agent, refused a call, or answered its question. Found by
rules about English words, without a model: a quote with its place, not a fact. ` + "`copilot-mem remember --kind decision`" + ` makes a note of one.`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			q, err := f.query(e, "")
			if err != nil {
				return err
			}
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			entries, err := db.Digest(cmd.Context(), q)
			if err != nil {
				return err
			}
			found := digest.Decisions(entries)
			slices.Reverse(found) // the newest counts
			found = found[:min(len(found), f.limit)]
			if asJSON {
				out := decisionsJSON{1, scopeOf(q), []decisionJSON{}}
				for _, d := range found {
					out.Decisions = append(out.Decisions, decisionJSON{
						d.Entry.ID, d.Entry.SessionID, d.Entry.Turn, jsonTime(d.Entry.Time), d.Entry.Project, d.Rule, d.Quote, true,
					})
				}
				err = e.printJSON(out)
			} else {
				err = e.printDecisions(found)
			}
			if err == nil && len(found) == 0 && exitEmpty {
				return codeError(exitNothing)
			}
			return err
		},
	}
	f.add(cmd, 50)
	cmd.Flags().BoolVar(&exitEmpty, "exit-empty", false, "exit code 4 when there is none")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func (e *env) printDecisions(found []digest.Decision) error {
	w := &lines{w: e.Stdout}
	if len(found) == 0 {
		w.printf("no rule found a decision\n")
	}
	for _, d := range found {
		w.printf("%s  %s  [%s]\n    “%s”\n", screenTime(d.Entry.Time, e.Now()), joined("found: "+d.Rule, d.Entry.Project),
			fmt.Sprintf("%s:%d", short(d.Entry.SessionID), d.Entry.Turn), screen(d.Quote))
	}
	return w.err
}
