package main

import (
	"cmp"
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
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			note, of, err := e.remember(cmd.Context(), db, strings.Join(args, " "), about{kind, tags, replaces})
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(rememberJSON{1, note.ID, note.SessionID, of.Kind, of.Tags, note.Project, note.Redacted, of.Replaces})
			}
			_, err = fmt.Fprintf(e.Stdout, "remembered as %s %s\n", of.Kind, note.ID)
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

// remember saves a note about this folder's project, without secrets. It returns the note, and about as it was kept.
func (e *env) remember(ctx context.Context, db *store.DB, text string, of about) (note memory.Entry, kept about, err error) {
	if !slices.Contains(noteKinds, of.Kind) {
		return note, of, &usageError{fmt.Errorf("--kind %s: unknown", of.Kind), "use one of: " + strings.Join(noteKinds, ", ")}
	}
	text, secrets := redact.Text(text)
	if strings.TrimSpace(text) == "" {
		return note, of, &usageError{errors.New("nothing to remember"), ""}
	}
	kept = about{Kind: of.Kind, Tags: []string{}}
	for _, tag := range of.Tags {
		clean, n := redact.Text(tag)
		kept.Tags = append(kept.Tags, clean)
		secrets += n
	}
	if of.Replaces != "" {
		if kept.Replaces, err = wholeNote(ctx, db, of.Replaces); err != nil {
			return note, of, err
		}
	}
	input, err := json.Marshal(kept)
	if err != nil {
		return note, of, err
	}
	note = memory.Entry{
		ID: strings.ToLower(rand.Text())[:20], SessionID: noteSession, Kind: memory.KindNote,
		Time: e.Now().UTC().Truncate(time.Millisecond), Text: text, ToolInput: input, Sources: memory.FromElsewhere, Cwd: e.Dir, Redacted: secrets,
	}
	// The client gives its agent's commands and servers the id of the session.
	if id := e.Getenv("COPILOT_AGENT_SESSION_ID"); id != "" {
		root, err := db.AgentSession(ctx, id)
		if err != nil {
			return note, of, err
		}
		note.SessionID = cmp.Or(root, id)
	}
	note.Project, note.Branch = ingest.ProjectOf(e.Dir)
	_, _, err = db.Add(ctx, nil, []memory.Entry{note})
	return note, kept, err
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
