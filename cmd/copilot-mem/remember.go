package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/redact"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

// noteSession holds the notes that are made outside any session of the client.
const noteSession = "copilot-notes"

var noteKinds = []string{"decision", "fact", "preference", "procedure"}

type rememberJSON struct {
	SchemaVersion int      `json:"schemaVersion"`
	ID            string   `json:"id"`
	SessionID     string   `json:"sessionId"`
	Kind          string   `json:"kind"`
	Tags          []string `json:"tags"`
	Project       string   `json:"project"`
	Redacted      int      `json:"redacted"`
	Replaces      string   `json:"replaces"` // empty: none
}

func newRememberCmd(e *env) *cobra.Command {
	var kind, replaces string
	var tags []string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "remember TEXT", Short: "Save a note", Args: cobra.MinimumNArgs(1),
		Long: "Save a note. Notes come before everything else that a search finds; one that is replaced is found no more.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if !slices.Contains(noteKinds, kind) {
				return &usageError{fmt.Errorf("--kind %s: unknown", kind), "use one of: " + strings.Join(noteKinds, ", ")}
			}
			text, secrets := redact.Text(strings.Join(args, " "))
			if strings.TrimSpace(text) == "" {
				return &usageError{errors.New("nothing to remember"), ""}
			}
			for i := range tags {
				var n int
				tags[i], n = redact.Text(tags[i])
				secrets += n
			}
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			if replaces != "" {
				if replaces, err = wholeNote(cmd.Context(), db, replaces); err != nil {
					return err
				}
			}
			input, err := json.Marshal(about{kind, append([]string{}, tags...), replaces})
			if err != nil {
				return err
			}
			note := memory.Entry{
				ID: strings.ToLower(rand.Text())[:20], SessionID: noteSession, Kind: memory.KindNote,
				Time: e.Now().UTC().Truncate(time.Millisecond), Text: text, ToolInput: input, Sources: memory.FromElsewhere, Cwd: e.Dir, Redacted: secrets,
			}
			// The client gives its agent's commands the id of the session.
			if id := e.Getenv("COPILOT_AGENT_SESSION_ID"); id != "" {
				if root, err := db.AgentSession(cmd.Context(), id); err != nil {
					return err
				} else if root != "" {
					id = root
				}
				note.SessionID = id
			}
			note.Project, note.Branch = ingest.ProjectOf(e.Dir)
			if _, _, err := db.Add(cmd.Context(), nil, []memory.Entry{note}); err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(rememberJSON{1, note.ID, note.SessionID, kind, append([]string{}, tags...), note.Project, secrets, replaces})
			}
			_, err = fmt.Fprintf(e.Stdout, "remembered as %s %s\n", kind, note.ID)
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&kind, "kind", "fact", strings.Join(noteKinds, ", "))
	fl.StringArrayVar(&tags, "tag", nil, "a word to find it by; may be given again")
	fl.StringVar(&replaces, "replaces", "", "the note that this one takes the place of")
	fl.BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

// wholeNote is the id of the one note that is meant.
func wholeNote(ctx context.Context, db *store.DB, id string) (string, error) {
	m, err := db.Entry(ctx, id)
	if err != nil {
		return "", err
	}
	if m.Kind != memory.KindNote {
		return "", &usageError{fmt.Errorf("--replaces %s: not a note but a %s", id, m.Kind), "`copilot-mem notes` lists the notes"}
	}
	return m.ID, nil
}
