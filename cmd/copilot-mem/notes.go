package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

type notesJSON struct {
	SchemaVersion int        `json:"schemaVersion"`
	Scope         scopeJSON  `json:"scope"`
	Notes         []noteJSON `json:"notes"`
}

type noteJSON struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Text       string   `json:"text"`
	Tags       []string `json:"tags"`
	Time       jsonTime `json:"time"`
	Project    string   `json:"project"`
	SessionID  string   `json:"sessionId"`
	Replaces   string   `json:"replaces"`   // id of an older note; empty: none
	ReplacedBy string   `json:"replacedBy"` // only with --replaced
}

// about is what a note says of itself, in the tool input of its entry.
type about struct {
	Kind     string   `json:"kind"`
	Tags     []string `json:"tags"`
	Replaces string   `json:"replaces,omitempty"`
}

func aboutOf(m memory.Entry) about {
	a := about{Kind: "fact", Tags: []string{}}
	if json.Unmarshal(m.ToolInput, &a) != nil || a.Kind == "" { // a note of another program
		a.Kind = "fact"
	}
	if a.Tags == nil {
		a.Tags = []string{}
	}
	return a
}

func newNotesCmd(e *env) *cobra.Command {
	var f filters
	var tags []string
	var replaced, exitEmpty, asJSON bool
	cmd := &cobra.Command{
		Use: "notes", Short: "List what was remembered by word, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			kind := f.kind
			if kind != "" && !slices.Contains(noteKinds, kind) {
				return &usageError{fmt.Errorf("--kind %s: unknown", kind), "use one of: " + strings.Join(noteKinds, ", ")}
			}
			f.kind = ""
			q, err := f.query(e, "")
			if err != nil {
				return err
			}
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			q.Limit = -1
			entries, err := db.Notes(cmd.Context(), q, true)
			if err != nil {
				return err
			}
			notes := pickNotes(entries, kind, tags, replaced)
			notes = notes[:min(len(notes), f.limit)]
			if asJSON {
				err = e.printJSON(notesJSON{1, scopeOf(q), notes})
			} else {
				err = e.printNotes(notes)
			}
			if err == nil && len(notes) == 0 && exitEmpty {
				return codeError(exitNothing)
			}
			return err
		},
	}
	f.add(cmd, 50)
	cmd.Flags().Lookup("kind").Usage = "only this kind: " + strings.Join(noteKinds, ", ")
	cmd.Flags().StringArrayVar(&tags, "tag", nil, "only notes with this tag; may be given again: with all of them")
	cmd.Flags().BoolVar(&replaced, "replaced", false, "also the notes that others took the place of")
	cmd.Flags().BoolVar(&exitEmpty, "exit-empty", false, "exit code 4 when there is none")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func pickNotes(entries []memory.Entry, kind string, tags []string, replaced bool) []noteJSON {
	by := map[string]string{}
	for _, m := range entries {
		if a := aboutOf(m); a.Replaces != "" {
			by[a.Replaces] = m.ID
		}
	}
	out := []noteJSON{}
	for _, m := range entries {
		a := aboutOf(m)
		if kind != "" && a.Kind != kind || !replaced && by[m.ID] != "" ||
			slices.ContainsFunc(tags, func(t string) bool {
				return !slices.ContainsFunc(a.Tags, func(has string) bool { return strings.EqualFold(has, t) })
			}) {
			continue
		}
		out = append(out, noteJSON{m.ID, a.Kind, m.Text, a.Tags, jsonTime(m.Time), m.Project, m.SessionID, a.Replaces, by[m.ID]})
	}
	return out
}

func (e *env) printNotes(notes []noteJSON) error {
	w := &lines{w: e.Stdout}
	if len(notes) == 0 {
		w.printf("no note passes the filters (`copilot-mem remember TEXT` makes one)\n")
	}
	for _, n := range notes {
		tags := ""
		if len(n.Tags) > 0 {
			tags = "#" + strings.Join(n.Tags, " #")
		}
		gone := ""
		if n.ReplacedBy != "" {
			gone = "replaced by " + short(n.ReplacedBy)
		}
		w.printf("%s\n%s\n", joined(screenTime(time.Time(n.Time), e.Now()), n.Kind, n.Project, tags, gone, "["+short(n.ID)+"]"), indented(n.Text))
	}
	return w.err
}
