package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Add stores sessions and entries in one transaction. An entry whose id is known counts as a duplicate, and so does one of
// which another source told; one that was forgotten stays away. Turns, times and counts of the touched sessions are worked
// out again.
func (db *DB) Add(ctx context.Context, sessions []memory.Session, entries []memory.Entry) (added, duplicates int, err error) {
	c, err := db.addAll(ctx, sessions, entries, nil)
	return c.Added, c.Duplicates, err
}

// addAll is Add, with a last word in the same transaction.
func (db *DB) addAll(ctx context.Context, sessions []memory.Session, entries []memory.Entry, last func(*writer) error) (memory.Change, error) {
	return db.addAs(ctx, sessions, entries, false, last)
}

func (db *DB) addAs(ctx context.Context, sessions []memory.Session, entries []memory.Entry, exact bool, last func(*writer) error) (c memory.Change, err error) {
	if len(sessions) == 0 && len(entries) == 0 && last == nil {
		return c, nil
	}
	ordered := slices.Clone(entries)
	slices.SortStableFunc(ordered, func(a, b memory.Entry) int { return a.Time.Compare(b.Time) })
	err = db.write(ctx, func(tx *sql.Tx) error {
		w := &writer{ctx: ctx, tx: tx, db: db, exact: exact, changed: map[string]*changed{}, waits: map[int64]bool{}, projects: map[string]string{}}
		defer w.close()
		if err := w.add(sessions, ordered); err != nil {
			return err
		}
		c = memory.Change{Added: w.added, Duplicates: w.duplicates, Merged: w.merged}
		if last == nil {
			return nil
		}
		return last(w)
	})
	if err != nil {
		return c, db.explain("write store", err)
	}
	return c, nil
}

// writer is one transaction of Add.
type writer struct {
	ctx               context.Context //nolint:containedctx // lives as long as one call of Add
	tx                *sql.Tx
	db                *DB
	stmts             []*sql.Stmt
	tombs             *tombstones
	merge             *merger
	exact             bool // only an equal id makes two entries one
	added, duplicates int
	merged            int
	fresh             []int64             // rows that are not yet in the index
	waits             map[int64]bool      // the same
	stale             []int64             // rows that the index has in an older form
	changed           map[string]*changed // by session
	projects          map[string]string   // answers of project
}

// changed is what a transaction did to the entries of a session.
type changed struct {
	oldest           int64 // time from which on turns have to be counted again; [math.MaxInt64]: none
	entries, prompts int   // so many more
	bounds           bool  // the last start, prompt or end may be another
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
	if w.tombs, err = openTombstones(w.ctx, w.tx); err != nil {
		return err
	}
	defer w.tombs.close()
	if w.merge, err = w.openMerger(); err != nil {
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
		until, err := w.sessionForgotten(s)
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
	for i := range entries {
		e := &entries[i]
		project, err := w.project(cmp.Or(e.Project, byID[e.SessionID].Project))
		if err != nil {
			return err
		}
		gone, err := w.tombs.forgotten(e, project)
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
	if len(w.stale) > 0 {
		if err := w.db.unindex(w.ctx, w.tx, w.stale, false); err != nil {
			return err
		}
	}
	if err := w.db.indexRows(w.ctx, w.tx, w.fresh); err != nil {
		return err
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

// sessionForgotten is the time up to which a session was forgotten, 0 where it was not or began after it.
func (w *writer) sessionForgotten(s memory.Session) (int64, error) {
	project, err := w.project(s.Project)
	if err != nil {
		return 0, err
	}
	until, err := w.tombs.sessionUntil(s.ID, project)
	until = max(until, w.tombs.from-1)
	if err != nil || until > 0 && !s.StartedAt.IsZero() && s.StartedAt.UnixMilli() > until {
		return 0, err
	}
	return max(until, 0), nil
}

const putSession = `
INSERT INTO sessions (id, project, cwd, branch, client, started_at, ended_at, end_reason, transcript_path, title, model, head_commit, turns, entries, first_prompt)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '')
ON CONFLICT (id) DO UPDATE SET
  project = iif(project = '', excluded.project, project),
  cwd = iif(cwd = '', excluded.cwd, cwd),
  branch = iif(excluded.branch = '', branch, excluded.branch),
  started_at = iif(started_at = 0 OR (excluded.started_at > 0 AND excluded.started_at < started_at), excluded.started_at, started_at),
  ended_at = iif(excluded.ended_at > 0, excluded.ended_at, ended_at),
  end_reason = iif(excluded.ended_at > 0, excluded.end_reason, end_reason),
  transcript_path = iif(excluded.transcript_path = '', transcript_path, excluded.transcript_path),
  title = iif(excluded.title = '', title, excluded.title),
  model = iif(excluded.model = '', model, excluded.model),
  head_commit = iif(head_commit = '', excluded.head_commit, head_commit)`

func (w *writer) putSession(stmt *sql.Stmt, s memory.Session) error {
	project, err := w.project(s.Project)
	if err != nil {
		return err
	}
	if gone, err := w.tombs.titleForgotten(s); err != nil {
		return err
	} else if gone {
		s.Title = ""
	}
	if !s.EndedAt.IsZero() {
		w.of(s.ID).bounds = true
	}
	_, err = stmt.ExecContext(w.ctx, s.ID, project, s.Cwd, s.Branch, cmp.Or(s.Client, "copilot"),
		millis(s.StartedAt), millis(s.EndedAt), s.EndReason, s.TranscriptPath, s.Title, s.Model, s.HeadCommit)
	return err
}

// An entry without a folder (a message of the transcript) gets that of its session.
const insertEntry = `
INSERT INTO entries (id, session_id, kind, turn, time, tool, tool_input, result_type, text, agent_id, cwd, branch, project, truncated, redacted,
  call_id, exit_code, files, model, withdrawn, sources, match)
SELECT ?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9, iif(?10 = '', cwd, ?10), iif(?10 = '', branch, ?11), iif(?12 = '', project, ?12), ?13, ?14,
  ?15, ?16, ?17, ?18, ?19, ?20, ?21
FROM sessions WHERE id = ?2`

// insert stores an entry, unless its id is known or another source told of it: then it adds what is new.
func (w *writer) insert(stmt *sql.Stmt, e *memory.Entry) error {
	seq, err := w.merge.known(w, e.ID)
	if err == nil && seq == 0 && !w.exact {
		seq, err = w.merge.other(w, e)
	}
	if err != nil {
		return err
	}
	if seq != 0 {
		w.duplicates++
		return w.merge.join(w, seq, e)
	}
	at := e.Time.UnixMilli()
	exit, files := nullable(*e)
	project, err := w.project(e.Project)
	if err != nil {
		return err
	}
	res, err := stmt.ExecContext(w.ctx, e.ID, e.SessionID, string(e.Kind), at, e.Tool, string(e.ToolInput), e.ResultType,
		e.Text, e.AgentID, e.Cwd, e.Branch, project, e.Truncated, e.Redacted,
		e.CallID, exit, files, e.Model, e.Withdrawn, int(sourcesOf(e)), e.Match)
	if err != nil {
		return err
	}
	if seq, err = res.LastInsertId(); err != nil {
		return err
	}
	w.added++
	w.of(e.SessionID).entries++
	w.touched(e.SessionID, at, "", e.Kind)
	w.index(seq)
	return nil
}

// index puts a row into the index at the end of the transaction.
func (w *writer) index(seq int64) {
	if !w.waits[seq] {
		w.waits[seq] = true
		w.fresh = append(w.fresh, seq)
	}
}

// of is what has changed in a session so far.
func (w *writer) of(session string) *changed {
	c := w.changed[session]
	if c == nil {
		c = &changed{oldest: math.MaxInt64}
		w.changed[session] = c
	}
	return c
}

// touched notes that an entry at a time became one of another kind, or a new one.
func (w *writer) touched(session string, at int64, was, is memory.Kind) {
	c := w.of(session)
	c.oldest = min(c.oldest, at)
	c.prompts += isPrompt(is) - isPrompt(was)
	c.bounds = c.bounds || bounding(is) || bounding(was)
}

func isPrompt(k memory.Kind) int {
	if k == memory.KindPrompt {
		return 1
	}
	return 0
}

// bounding reports whether an entry can say that a session is open, or over.
func bounding(k memory.Kind) bool {
	return k == memory.KindPrompt || k == memory.KindSessionStart || k == memory.KindSessionEnd
}

// total works out what a session's row says of its entries, from what it said and what has changed: a session may have
// more entries than can be counted for each batch of them. Turns before the first new entry stand.
func (w *writer) total(id string) error {
	c := w.of(id)
	if c.oldest < math.MaxInt64 {
		if _, err := w.tx.ExecContext(w.ctx, `
WITH t AS (SELECT seq, sum(kind = 'prompt') OVER (ORDER BY time, seq)
  + coalesce((SELECT turn FROM entries WHERE session_id = ?1 AND time < ?2 ORDER BY time DESC, seq DESC LIMIT 1), 0) AS turn
  FROM entries WHERE session_id = ?1 AND time >= ?2)
UPDATE entries SET turn = t.turn FROM t WHERE entries.seq = t.seq AND entries.turn <> t.turn`, id, c.oldest); err != nil {
			return err
		}
	}
	_, err := w.tx.ExecContext(w.ctx, `
UPDATE sessions SET entries = entries + ?2, turns = turns + ?3, first_prompt = CASE WHEN turns + ?3 > 0 THEN `+firstPrompt+` ELSE '' END,
  started_at = `+startedAt+` WHERE id = ?1`, id, c.entries, c.prompts)
	if err != nil || !c.bounds {
		return err
	}
	return bounds(w.ctx, w.tx, id)
}

// Columns of the session ?1 that its entries decide. The index gives their order.
const (
	firstPrompt = `coalesce((SELECT iif(length(text) > 1000, substr(text, 1, 999) || '…', text) FROM entries WHERE session_id = ?1 AND kind = 'prompt' ORDER BY time, seq LIMIT 1), '')`
	startedAt   = `coalesce((SELECT iif(sessions.started_at = 0, time, min(time, sessions.started_at)) FROM entries WHERE session_id = ?1 ORDER BY time LIMIT 1), started_at)`
)

// totals counts all entries of a session.
func totals(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, `
UPDATE sessions SET
  entries = (SELECT count(*) FROM entries WHERE session_id = ?1),
  turns = (SELECT count(*) FROM entries WHERE session_id = ?1 AND kind = 'prompt'),
  first_prompt = `+firstPrompt+`, started_at = `+startedAt+` WHERE id = ?1`, id)
	if err != nil {
		return err
	}
	return bounds(ctx, tx, id)
}

// bounds says when a session ended. It is open when its last start, or prompt, came after its last end.
func bounds(ctx context.Context, tx *sql.Tx, id string) error {
	var kind, reason string
	var at int64
	err := tx.QueryRowContext(ctx, `
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
