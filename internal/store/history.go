package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// errUndo ends a transaction that was only meant to see what it would do.
var errUndo = errors.New("undo")

// Import is [DB.Add] for what a file tells of past sessions. A dry one changes nothing.
func (db *DB) Import(ctx context.Context, sessions []memory.Session, entries []memory.Entry, read *memory.Transcript, dry bool) (memory.Change, error) {
	if !dry {
		return db.addAll(ctx, sessions, entries, func(w *writer) error { return w.setTranscript(read) })
	}
	c, err := db.addAll(ctx, sessions, entries, func(*writer) error { return errUndo })
	if errors.Is(err, errUndo) {
		err = nil
	}
	return c, err
}

// Transcript returns what is known of a file; the zero value when nothing is.
func (db *DB) Transcript(ctx context.Context, path string) (t memory.Transcript, err error) {
	err = db.read(ctx, func(scan func(...any) error) error { return scan(&t.Path, &t.Session, &t.Stamp, &t.Problems, &t.File) },
		"SELECT path, session, stamp, problems, file FROM transcripts WHERE path = ?", path)
	return t, err
}

// setTranscript remembers a file that was read to its end; t.File is not looked at.
func (w *writer) setTranscript(t *memory.Transcript) error {
	if t == nil {
		return nil
	}
	_, err := w.tx.ExecContext(w.ctx, `INSERT INTO transcripts (path, session, stamp, problems, file) VALUES (?, ?, ?, ?, '')
ON CONFLICT (path) DO UPDATE SET session = excluded.session, stamp = excluded.stamp, problems = excluded.problems`,
		t.Path, t.Session, t.Stamp, t.Problems)
	return err
}

// SawTranscript remembers which file a path was, and nothing of its content.
func (db *DB) SawTranscript(ctx context.Context, t memory.Transcript) error {
	return db.explain("write store", db.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO transcripts (path, session, stamp, problems, file) VALUES (?, ?, '', '', ?)
ON CONFLICT (path) DO UPDATE SET file = excluded.file`, t.Path, t.Session, t.File)
		return err
	}))
}

// HasSession reports whether a session with exactly this id is kept.
func (db *DB) HasSession(ctx context.Context, id string) (found bool, err error) {
	err = db.read(ctx, func(scan func(...any) error) error { return scan(&found) }, "SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?)", id)
	return found, err
}

// Outline returns the entries of a session without their texts, in the order of time.
func (db *DB) Outline(ctx context.Context, session string) ([]memory.Outline, error) {
	var out []memory.Outline
	at := map[int64]int{}
	err := db.read(ctx, func(scan func(...any) error) error {
		var o memory.Outline
		var seq, ms int64
		var kind string
		if err := scan(&seq, &o.ID, &kind, &ms, &o.AgentID, &o.Sources, &o.Withdrawn); err != nil {
			return err
		}
		o.Kind, o.Time = memory.Kind(kind), time.UnixMilli(ms).UTC()
		at[seq] = len(out)
		out = append(out, o)
		return nil
	}, "SELECT seq, id, kind, time, agent_id, sources, withdrawn FROM entries WHERE session_id = ? ORDER BY time, seq", session)
	if err != nil {
		return nil, err
	}
	err = db.read(ctx, func(scan func(...any) error) error {
		var id string
		var seq int64
		if err := scan(&id, &seq); err != nil {
			return err
		}
		if i, ok := at[seq]; ok {
			out[i].Aliases = append(out[i].Aliases, id)
		}
		return nil
	}, "SELECT a.id, a.seq FROM entries e JOIN aliases a ON a.seq = e.seq WHERE e.session_id = ?", session)
	return out, err
}

// MarkWithdrawn sets the mark of the given entries.
func (db *DB) MarkWithdrawn(ctx context.Context, marks map[string]bool) error {
	if len(marks) == 0 {
		return nil
	}
	return db.explain("write store", db.write(ctx, func(tx *sql.Tx) error {
		stmt, err := tx.PrepareContext(ctx, "UPDATE entries SET withdrawn = ? WHERE id = ?")
		if err != nil {
			return err
		}
		defer func() { _ = stmt.Close() }() // the transaction ends it anyway
		for id, mark := range marks {
			if _, err := stmt.ExecContext(ctx, mark, id); err != nil {
				return err
			}
		}
		return nil
	}))
}
