package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Add stores sessions and entries in one transaction. An entry whose id is known counts as a duplicate, one that was
// forgotten stays away. Turns, times and counts of the touched sessions are worked out again.
func (db *DB) Add(ctx context.Context, sessions []memory.Session, entries []memory.Entry) (added, duplicates int, err error) {
	if len(sessions) == 0 && len(entries) == 0 {
		return 0, 0, nil
	}
	ordered := slices.Clone(entries)
	slices.SortStableFunc(ordered, func(a, b memory.Entry) int { return a.Time.Compare(b.Time) })
	err = db.write(ctx, func(tx *sql.Tx) error {
		w := &writer{ctx: ctx, tx: tx, tokens: db.tokens, oldest: map[string]int64{}, gone: map[string]int64{}}
		defer w.close()
		if err := w.add(sessions, ordered); err != nil {
			return err
		}
		added, duplicates = w.added, w.duplicates
		return nil
	})
	if err != nil {
		return 0, 0, db.explain("write store", err)
	}
	return added, duplicates, nil
}

// writer is one transaction of Add.
type writer struct {
	ctx               context.Context //nolint:containedctx // lives as long as one call of Add
	tx                *sql.Tx
	tokens            func(string) string
	stmts             []*sql.Stmt
	isForgotten       *sql.Stmt // time of a forgotten id
	added, duplicates int
	rows              []row            // new, not yet in the index
	oldest            map[string]int64 // session → time of its first new entry
	gone              map[string]int64 // session → time up to which it was forgotten
}

type row struct {
	seq   int64
	entry *memory.Entry
}

func (w *writer) close() {
	for _, s := range w.stmts {
		_ = s.Close() // the transaction ends them anyway
	}
}

func (w *writer) prepare(query string) (*sql.Stmt, error) {
	s, err := w.tx.PrepareContext(w.ctx, query)
	if err == nil {
		w.stmts = append(w.stmts, s)
	}
	return s, err
}

func (w *writer) add(sessions []memory.Session, entries []memory.Entry) (err error) {
	if w.isForgotten, err = w.prepare("SELECT time FROM forgotten WHERE id = ?"); err != nil {
		return err
	}
	withEntry := map[string]bool{}
	for _, e := range entries {
		withEntry[e.SessionID] = true
	}
	put, err := w.prepare(putSession)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, s := range sessions {
		until, err := w.forgotten(s.ID)
		if err != nil {
			return err
		}
		// A session that was forgotten comes back only with something that happened later.
		if until > 0 && !withEntry[s.ID] {
			continue
		}
		known[s.ID] = until == 0
		if until > 0 {
			continue
		}
		if err := w.putSession(put, s); err != nil {
			return err
		}
	}
	byID := map[string]memory.Session{}
	for _, s := range sessions {
		byID[s.ID] = s
	}
	insert, err := w.prepare(insertEntry)
	if err != nil {
		return err
	}
	index, err := w.prepare("INSERT INTO entry_index (rowid, text, input) VALUES (?, ?, ?)")
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		gone, err := w.entryForgotten(e)
		if err != nil {
			return err
		}
		if gone {
			w.duplicates++
			continue
		}
		if !known[e.SessionID] {
			s := byID[e.SessionID]
			s.ID = e.SessionID
			if s.Project == "" && s.Cwd == "" {
				s.Project, s.Cwd, s.Branch = e.Project, e.Cwd, e.Branch
			}
			if err := w.putSession(put, s); err != nil {
				return err
			}
			known[e.SessionID] = true
		}
		if err := w.insert(insert, e); err != nil {
			return err
		}
	}
	// Together: between other statements FTS5 writes each row out by itself, at less than half the speed.
	for _, r := range w.rows {
		if _, err := index.ExecContext(w.ctx, r.seq, w.tokens(r.entry.Text), w.tokens(inputText(*r.entry))); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		if !known[id] {
			continue
		}
		if err := w.total(id); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) forgotten(session string) (until int64, err error) {
	if t, ok := w.gone[session]; ok {
		return t, nil
	}
	until, err = w.forgottenTime(forgottenSession + session)
	w.gone[session] = until
	return until, err
}

// forgottenTime is 0 for what was not forgotten.
func (w *writer) forgottenTime(id string) (at int64, err error) {
	err = w.isForgotten.QueryRowContext(w.ctx, id).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return at, err
}

func (w *writer) entryForgotten(e *memory.Entry) (bool, error) {
	until, err := w.forgotten(e.SessionID)
	if err != nil {
		return false, err
	}
	if until > 0 && e.Time.UnixMilli() <= until {
		return true, nil
	}
	at, err := w.forgottenTime(e.ID)
	return at != 0, err
}

const putSession = `
INSERT INTO sessions (id, project, cwd, branch, client, started_at, ended_at, end_reason, transcript_path, turns, entries, first_prompt)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '')
ON CONFLICT (id) DO UPDATE SET
  project = iif(project = '', excluded.project, project),
  cwd = iif(cwd = '', excluded.cwd, cwd),
  branch = iif(excluded.branch = '', branch, excluded.branch),
  started_at = iif(started_at = 0 OR (excluded.started_at > 0 AND excluded.started_at < started_at), excluded.started_at, started_at),
  ended_at = iif(excluded.ended_at > 0, excluded.ended_at, ended_at),
  end_reason = iif(excluded.ended_at > 0, excluded.end_reason, end_reason),
  transcript_path = iif(excluded.transcript_path = '', transcript_path, excluded.transcript_path)`

func (w *writer) putSession(stmt *sql.Stmt, s memory.Session) error {
	_, err := stmt.ExecContext(w.ctx, s.ID, s.Project, s.Cwd, s.Branch, cmp.Or(s.Client, "copilot"),
		millis(s.StartedAt), millis(s.EndedAt), s.EndReason, s.TranscriptPath)
	return err
}

// An entry without a folder (a message of the transcript) gets that of its session.
const insertEntry = `
INSERT OR IGNORE INTO entries (id, session_id, kind, turn, time, tool, tool_input, result_type, text, agent_id, cwd, branch, project, truncated, redacted)
SELECT ?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9, iif(?10 = '', cwd, ?10), iif(?10 = '', branch, ?11), iif(?12 = '', project, ?12), ?13, ?14
FROM sessions WHERE id = ?2`

func (w *writer) insert(stmt *sql.Stmt, e *memory.Entry) error {
	at := e.Time.UnixMilli()
	res, err := stmt.ExecContext(w.ctx, e.ID, e.SessionID, string(e.Kind), at, e.Tool, string(e.ToolInput), e.ResultType,
		e.Text, e.AgentID, e.Cwd, e.Branch, e.Project, e.Truncated, e.Redacted)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		w.duplicates++
		return nil
	}
	seq, err := res.LastInsertId()
	if err != nil {
		return err
	}
	w.added++
	if t, ok := w.oldest[e.SessionID]; !ok || at < t {
		w.oldest[e.SessionID] = at
	}
	w.rows = append(w.rows, row{seq, e})
	return nil
}

// total works out what a session's row says of its entries. Turns before the first new entry stand.
func (w *writer) total(id string) error {
	if from, ok := w.oldest[id]; ok {
		if _, err := w.tx.ExecContext(w.ctx, `
WITH base AS (SELECT count(*) AS n FROM entries WHERE session_id = ?1 AND time < ?2 AND kind = 'prompt'),
     t AS (SELECT seq, sum(kind = 'prompt') OVER (ORDER BY time, seq) + base.n AS turn FROM entries, base WHERE session_id = ?1 AND time >= ?2)
UPDATE entries SET turn = t.turn FROM t WHERE entries.seq = t.seq AND entries.turn <> t.turn`, id, from); err != nil {
			return err
		}
	}
	return totals(w.ctx, w.tx, id)
}

// totals fills the sums of a session. It is open when its last start, or prompt, came after its last end.
func totals(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, `
UPDATE sessions SET
  entries = (SELECT count(*) FROM entries WHERE session_id = ?1),
  turns = (SELECT count(*) FROM entries WHERE session_id = ?1 AND kind = 'prompt'),
  first_prompt = coalesce((SELECT iif(length(text) > 1000, substr(text, 1, 999) || '…', text) FROM entries WHERE session_id = ?1 AND kind = 'prompt' ORDER BY time, seq LIMIT 1), ''),
  started_at = coalesce((SELECT iif(sessions.started_at = 0, min(time), min(min(time), sessions.started_at)) FROM entries WHERE session_id = ?1), started_at)
WHERE id = ?1`, id)
	if err != nil {
		return err
	}
	var kind, reason string
	var at int64
	err = tx.QueryRowContext(ctx, `
SELECT kind, time, result_type FROM entries WHERE session_id = ? AND kind IN ('sessionStart', 'sessionEnd', 'prompt')
ORDER BY time DESC, seq DESC LIMIT 1`, id).Scan(&kind, &at, &reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if memory.Kind(kind) == memory.KindSessionEnd {
		_, err = tx.ExecContext(ctx, "UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ?", at, reason, id)
	} else {
		_, err = tx.ExecContext(ctx, "UPDATE sessions SET ended_at = 0, end_reason = '' WHERE id = ? AND ended_at <= ?", id, at)
	}
	return err
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// inputText is what the index knows of a tool call: the tool's name and every string, number and key of its input.
func inputText(e memory.Entry) string {
	var b strings.Builder
	b.WriteString(e.Tool)
	if len(e.ToolInput) > 0 {
		var v any
		if json.Unmarshal(e.ToolInput, &v) != nil {
			b.WriteByte('\n')
			b.Write(e.ToolInput)
			return b.String()
		}
		appendText(&b, v)
	}
	return b.String()
}

func appendText(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteByte('\n')
		b.WriteString(v)
	case []any:
		for _, x := range v {
			appendText(b, x)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			appendText(b, v[k])
		}
	}
}
