package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// recallText is how many characters of a text are looked at for what an agent may be told of it.
const recallText = 6000

// Size is about how many entries there are.
func (db *DB) Size(ctx context.Context) (n int, err error) {
	err = db.read(ctx, func(scan func(...any) error) error { return scan(&n) }, "SELECT coalesce(max(seq), 0) FROM entries")
	return n, err
}

// Spread counts for each term the entries, of any project, that hold one of its alternatives, up to a limit.
func (db *DB) Spread(ctx context.Context, terms [][]string, limit int) ([]int, error) {
	out := make([]int, len(terms))
	stmt, err := db.sql.PrepareContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM entry_index WHERE entry_index MATCH ? LIMIT ?)")
	if err != nil {
		return nil, db.explain("read store", err)
	}
	defer func() { _ = stmt.Close() }() // read only
	for i, t := range terms {
		expr := expression([][]string{t}, true)
		if expr == "" {
			continue
		}
		if err := retry(ctx, func() error { return stmt.QueryRowContext(ctx, expr, limit).Scan(&out[i]) }); err != nil {
			return nil, db.explain("read store", err)
		}
	}
	return out, nil
}

// Holders gives for each question the rows, newest first, that hold its term: what a person or the model said in other
// sessions than q.Session, and the notes that hold, or what is of q.Kind. Of other branches than q.Branch only those count
// that every branch comes from. [DB.Rows] gives the entries.
func (db *DB) Holders(ctx context.Context, q memory.Query, asks []memory.Ask) ([][]int64, error) {
	var c conditions
	c.entries(memory.Query{Project: q.Project, Kind: q.Kind, Tool: q.Tool})
	c.add("e.session_id <> ?", q.Session)
	c.add("e.agent_id = ''")
	if q.Kind == "" {
		c.add("e.kind IN ('note', 'prompt', 'response', 'compaction')")
	}
	if q.Branch != "" {
		c.add("(e.kind = 'note' OR e.branch IN (?, 'main', 'master', ''))", q.Branch)
	}
	c.add("entry_index MATCH ?")
	stmt, err := db.sql.PrepareContext(ctx, "SELECT e.seq FROM entry_index CROSS JOIN entries e ON e.seq = entry_index.rowid"+c.where()+" ORDER BY entry_index.rowid DESC LIMIT ?")
	if err != nil {
		return nil, db.explain("read store", err)
	}
	defer func() { _ = stmt.Close() }() // read only
	out := make([][]int64, len(asks))
	for i, a := range asks {
		expr := expression([][]string{a.Term}, true)
		if expr == "" {
			continue
		}
		if len(a.Among) > 0 {
			expr = "(" + expression(a.Among, false) + ") AND " + expr
		}
		err := retry(ctx, func() error {
			out[i] = nil
			return numbersOf(ctx, stmt, &out[i], append(slices.Clone(c.args), expr, a.Limit)...)
		})
		if err != nil {
			return nil, db.explain("read store", err)
		}
	}
	return out, nil
}

// numbersOf reads the numbers that a statement gives.
func numbersOf(ctx context.Context, stmt *sql.Stmt, into *[]int64, args ...any) error {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err tells
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return err
		}
		*into = append(*into, n)
	}
	return rows.Err()
}

// Rows gives the entries of rows; not those that were withdrawn or replaced. Long texts are cut.
func (db *DB) Rows(ctx context.Context, rows []int64) (map[int64]memory.Entry, error) {
	out := map[int64]memory.Entry{}
	err := db.some(ctx, func(seq int64, e memory.Entry) { out[seq] = e },
		"e.seq IN (?"+strings.Repeat(", ?", max(len(rows)-1, 0))+") AND e.withdrawn = 0 AND "+notReplaced, numbers(rows)...)
	return out, err
}

func numbers(rows []int64) []any {
	if len(rows) == 0 {
		return []any{-1}
	}
	out := make([]any, len(rows))
	for i, n := range rows {
		out[i] = n
	}
	return out
}

// some reads entries whose texts are cut.
func (db *DB) some(ctx context.Context, fn func(seq int64, e memory.Entry), where string, args ...any) error {
	columns := strings.Replace(entryColumns, "e.text", "substr(e.text, 1, ?)", 1)
	return db.read(ctx, func(scan func(...any) error) error {
		var e memory.Entry
		var seq int64
		if err := scanEntry(scan, &e, &seq); err != nil {
			return err
		}
		fn(seq, e)
		return nil
	}, "SELECT "+columns+", e.seq FROM entries e WHERE "+where, append([]any{recallText}, args...)...)
}

// After gives what happened in a session from a time on, in order, at most limit; texts are cut at their end, but an exit
// code is kept.
func (db *DB) After(ctx context.Context, session string, from time.Time, limit int) (out []memory.Entry, err error) {
	err = db.some(ctx, func(_ int64, e memory.Entry) { out = append(out, e) },
		"e.session_id = ? AND e.time >= ? AND e.withdrawn = 0 ORDER BY e.time, e.seq LIMIT ?", session, from.UnixMilli(), limit)
	return out, err
}

// Last gives the last entries of a session, in order.
func (db *DB) Last(ctx context.Context, session string, limit int) (out []memory.Entry, err error) {
	err = db.some(ctx, func(_ int64, e memory.Entry) { out = append(out, e) },
		"e.session_id = ? AND e.withdrawn = 0 ORDER BY e.time DESC, e.seq DESC LIMIT ?", session, limit)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out, err
}

// Lately gives the sessions of q's project and branch that started at q.Since or later, newest first.
func (db *DB) Lately(ctx context.Context, q memory.Query) ([]memory.Session, error) {
	var c conditions
	c.add("s.started_at >= ?", q.Since.UnixMilli())
	c.add("s.branch = ?", q.Branch)
	c.project("s.project", q.Project)
	var out []memory.Session
	err := db.read(ctx, func(scan func(...any) error) error {
		s, err := scanSession(scan)
		out = append(out, s)
		return err
	}, "SELECT "+sessionColumns+" FROM sessions s INDEXED BY sessions_started"+c.where()+" ORDER BY s.started_at DESC LIMIT ?", append(c.args, q.Limit)...)
	return out, err
}

// Prompt gives the user's words at the start of a turn.
func (db *DB) Prompt(ctx context.Context, session string, turn int) (out memory.Entry, err error) {
	err = db.some(ctx, func(_ int64, e memory.Entry) { out = e },
		"e.session_id = ? AND e.kind = 'prompt' AND e.turn = ? ORDER BY e.time DESC LIMIT 1", session, turn)
	return out, err
}

// Known says which of the ids are still kept, and hold: not withdrawn, not replaced. A session counts by its id too.
func (db *DB) Known(ctx context.Context, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	if len(ids) == 0 {
		return known, nil
	}
	marks := "(?" + strings.Repeat(", ?", len(ids)-1) + ")"
	var args []any
	for range 2 {
		for _, id := range ids {
			args = append(args, id)
		}
	}
	err := db.read(ctx, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		known[id] = true
		return err
	}, "SELECT e.id FROM entries e WHERE e.id IN "+marks+" AND e.withdrawn = 0 AND "+notReplaced+" UNION SELECT id FROM sessions WHERE id IN "+marks, args...)
	return known, err
}

// Mentions counts the entries of a session, from a time on, in which a text occurs: what the model or a tool was told.
func (db *DB) Mentions(ctx context.Context, session, text string, from time.Time) (n int, err error) {
	err = db.read(ctx, func(scan func(...any) error) error { return scan(&n) },
		"SELECT count(*) FROM entries WHERE session_id = ? AND time >= ? AND kind IN ('response', 'toolCall') AND (instr(tool_input, ?) > 0 OR instr(text, ?) > 0)",
		session, from.UnixMilli(), text, text)
	return n, err
}

// Kept counts the ids of entries and sessions that are in the store.
func (db *DB) Kept(ctx context.Context, ids []string) (n int, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	marks := "(?" + strings.Repeat(", ?", len(ids)-1) + ")"
	var args []any
	for range 2 {
		for _, id := range ids {
			args = append(args, id)
		}
	}
	err = db.read(ctx, func(scan func(...any) error) error { return scan(&n) },
		"SELECT count(*) FROM (SELECT id FROM entries WHERE id IN "+marks+" UNION SELECT id FROM sessions WHERE id IN "+marks+")", args...)
	return n, err
}
