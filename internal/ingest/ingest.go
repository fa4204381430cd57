// Package ingest turns waiting events into memories: it drains the spool, folds its lines, and hands the result to a
// writer. It keeps nothing itself, and neither redacts nor searches.
package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/spool"
)

// Writer is what an ingest asks of a store.
type Writer interface {
	// Add keeps sessions and entries, all or nothing. Entries whose id it has are duplicates.
	Add(ctx context.Context, sessions []memory.Session, entries []memory.Entry) (added, duplicates int, err error)
	// AgentSession returns the session in which a sub-agent ran, or "".
	AgentSession(ctx context.Context, agent string) (string, error)
	// KnowProject learns the mark of a repository without a remote, so that it is known again when its folder is moved.
	KnowProject(ctx context.Context, project, mark string, gone func(folder string) bool) error
}

// Report counts what an ingest did. Failed lines are kept beside the spool.
type Report struct {
	Entries, Duplicates, Failed int
}

// batch is how many lines share one transaction.
const batch = 500

// UnfoldedFile is the file in the spool's folder with the lines that are no events, for a later version to read.
const UnfoldedFile = "unfolded.jsonl"

// Run ingests everything that waits. Two runs at once are harmless.
func Run(ctx context.Context, sp spool.Spool, w Writer) (Report, error) {
	var r Report
	places := Places(ctx, w)
	drained, err := sp.Drain(batch, func(lines []spool.Line) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var lookup error
		folded := Fold(lines, World{
			Project: func(dir string) (string, string) {
				p, err := places(dir)
				if err != nil {
					lookup = err
				}
				return p.Project, p.Branch
			},
			AgentSession: func(agent string) string {
				id, err := w.AgentSession(ctx, agent)
				if err != nil {
					lookup = err
				}
				return id
			},
		})
		if lookup != nil {
			return lookup
		}
		// Kept first: a line that is kept twice is better than one that is lost.
		if err := keep(filepath.Join(sp.Dir, UnfoldedFile), folded.Failed); err != nil {
			return err
		}
		added, duplicates, err := w.Add(ctx, folded.Sessions, folded.Entries)
		if err != nil {
			return err
		}
		r.Entries += added
		r.Duplicates += duplicates
		r.Failed += len(folded.Failed)
		return nil
	})
	r.Failed += drained.Damaged
	if err != nil {
		return r, fmt.Errorf("ingest: %w", err)
	}
	return r, nil
}

// Places gives [PlaceOf], asked once for each folder, and tells the writer of repositories that may be moved.
func Places(ctx context.Context, w Writer) func(dir string) (Place, error) {
	known := map[string]Place{}
	return func(dir string) (Place, error) {
		p, ok := known[dir]
		if ok {
			return p, nil
		}
		p = PlaceOf(dir)
		known[dir] = p
		if p.Mark == "" {
			return p, nil
		}
		return p, w.KnowProject(ctx, p.Project, p.Mark, func(folder string) bool {
			_, err := os.Stat(folder)
			return filepath.IsAbs(folder) && errors.Is(err, fs.ErrNotExist)
		})
	}
}

// unfolded is a line of [UnfoldedFile]: the line of the spool, and why it is no event.
type unfolded struct {
	Version   int             `json:"v"`
	ID        string          `json:"id"`
	Event     string          `json:"event"`
	At        int64           `json:"at"`
	Session   string          `json:"session,omitempty"`
	Redacted  int             `json:"redacted,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Payload   json.RawMessage `json:"payload,omitempty"`
	Problem   string          `json:"problem"`
}

func keep(path string, failed []Failure) error {
	if len(failed) == 0 {
		return nil
	}
	var lines []byte
	for _, f := range failed {
		l := f.Line
		b, err := json.Marshal(unfolded{l.Version, l.ID, l.Event, l.At, l.Session, l.Redacted, l.Truncated, l.Payload, f.Err.Error()})
		if err != nil {
			return err
		}
		lines = append(append(lines, b...), '\n')
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(lines); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
