package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Selection says what to forget: what passes every field that is set. An empty one selects nothing.
type Selection struct {
	Entries []string // whole ids
	Session string   // whole id
	Project string   // whole name, see [DB.Projects]
	Before  time.Time
	Match   string // words anywhere in an entry, whatever their case
}

func (s Selection) empty() bool {
	return len(s.Entries) == 0 && s.Session+s.Project+s.Match == "" && s.Before.IsZero()
}

// only reports whether nothing but a session, a project or a time is named: what comes later of it is new.
func (s Selection) only() bool { return len(s.Entries) == 0 && s.Match == "" }

// Forgotten counts what a selection named.
type Forgotten struct {
	Entries     int
	Sessions    []string // whole ids of the sessions of which nothing is left, in order
	Touched     []string // the others that lost something
	Kinds       map[memory.Kind]int
	First, Last time.Time
}

// errOnlyLooking ends the transaction of a dry run.
var errOnlyLooking = errors.New("only looking")

// Forget deletes what sel names for good, in one transaction, and keeps tombstones so that nothing of it comes back; at
// is the time of forgetting: what happens later in a session or project is kept again. With dryRun it only counts.
// The bytes leave the file with [DB.Scrub], which the next opening does where nobody did.
func (db *DB) Forget(ctx context.Context, sel Selection, at time.Time, dryRun bool) (Forgotten, error) {
	var out Forgotten
	if sel.empty() {
		return out, errors.New("forget: nothing is selected")
	}
	err := db.write(ctx, func(tx *sql.Tx) error {
		f := &forgetter{db: db, ctx: ctx, tx: tx, sel: sel, at: at.UnixMilli(), sessions: map[string]int64{}}
		f.out.Kinds = map[memory.Kind]int{}
		err := f.run()
		out = f.out
		if err == nil && dryRun {
			return errOnlyLooking
		}
		return err
	})
	if err != nil && !errors.Is(err, errOnlyLooking) {
		return Forgotten{}, db.explain("forget", err)
	}
	return out, nil
}

// forgetter is one transaction of Forget.
type forgetter struct {
	db       *DB
	ctx      context.Context //nolint:containedctx // lives as long as one call of Forget
	tx       *sql.Tx
	sel      Selection
	retain   bool // no tombstones, and notes stay: these are only old
	at       int64
	until    int64 // the last millisecond that is forgotten of what is named
	tombs    *tombstones
	doomed   []doomed
	sessions map[string]int64 // that lose something → time of the last entry they lose
	out      Forgotten
}

type doomed struct {
	seq, time   int64
	id, content [tombstoneBytes]byte
	other       [][tombstoneBytes]byte // ids that other sources gave it
}

func (f *forgetter) run() (err error) {
	if f.tombs, err = openTombstones(f.ctx, f.tx); err != nil {
		return err
	}
	defer f.tombs.close()
	if err := f.findEntries(); err != nil {
		return err
	}
	if err := f.findSessions(); err != nil {
		return err
	}
	if err := f.findAliases(); err != nil {
		return err
	}
	if !f.retain {
		if err := f.bury(); err != nil {
			return err
		}
	}
	return f.delete()
}

// delete deletes what was found.
func (f *forgetter) delete() error {
	if err := f.deleteEntries(); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(f.sessions)) {
		if err := f.settle(id); err != nil {
			return err
		}
	}
	if _, err := f.tx.ExecContext(f.ctx, "INSERT OR IGNORE INTO meta (key, value) VALUES ('scrub', x'01')"); err != nil || f.retain {
		return err
	}
	_, err := f.tx.ExecContext(f.ctx, "INSERT OR REPLACE INTO meta (key, value) VALUES ('sweep', CAST(? AS BLOB))", f.at)
	return err
}

// conditions are those of the selection but for its words.
func (f *forgetter) conditions() conditions {
	var c conditions
	if len(f.sel.Entries) > 0 {
		ids := make([]any, len(f.sel.Entries))
		for i, id := range f.sel.Entries {
			ids[i] = id
		}
		c.add("e.id IN (?"+strings.Repeat(", ?", len(ids)-1)+")", ids...)
	}
	if f.sel.Session != "" {
		c.add("e.session_id = ?", f.sel.Session)
	}
	if f.sel.Project != "" {
		c.add("(e.project = ? OR (e.project = '' AND (SELECT s.project FROM sessions s WHERE s.id = e.session_id) = ?))", f.sel.Project, f.sel.Project)
	}
	if !f.sel.Before.IsZero() {
		c.add("e.time < ?", f.sel.Before.UnixMilli())
	}
	if f.retain {
		c.add("e.kind <> 'note'")
	}
	return c
}

func (f *forgetter) findEntries() error {
	c := f.conditions()
	err := eachRow(f.ctx, f.tx, "SELECT e.* FROM entries e"+c.where(), c.args, func(row values) error {
		if f.sel.Match != "" && !row.holds(f.sel.Match, "id") {
			return nil
		}
		e := row.entry()
		f.doom(row, &e)
		return nil
	})
	if err != nil {
		return err
	}
	return nil
}

// doom adds an entry to those that go.
func (f *forgetter) doom(row values, e *memory.Entry) {
	d := doomed{seq: row.number("seq"), time: row.number("time"), id: f.tombs.entryID(e.ID), content: f.tombs.content(e)}
	f.doomed = append(f.doomed, d)
	f.sessions[e.SessionID] = max(f.sessions[e.SessionID], d.time)
	f.out.Entries++
	f.out.Kinds[e.Kind]++
	if f.out.First.IsZero() || e.Time.Before(f.out.First) {
		f.out.First = e.Time
	}
	if e.Time.After(f.out.Last) {
		f.out.Last = e.Time
	}
}

// findAliases adds the ids that other sources gave the entries that go.
func (f *forgetter) findAliases() error {
	aliases, err := f.tx.PrepareContext(f.ctx, "SELECT id FROM aliases WHERE seq = ?")
	if err != nil {
		return err
	}
	defer func() { _ = aliases.Close() }() // the transaction ends it anyway
	for i := range f.doomed {
		if f.doomed[i].other, err = f.aliases(aliases, f.doomed[i].seq); err != nil {
			return err
		}
	}
	return nil
}

func (f *forgetter) aliases(stmt *sql.Stmt, seq int64) (out [][tombstoneBytes]byte, err error) {
	rows, err := stmt.QueryContext(f.ctx, seq)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, f.tombs.entryID(id))
	}
	return out, rows.Err()
}

// identity are the columns of a session that say which one it is, not what was said in it.
var identity = []string{"id", "project", "cwd", "branch", "client", "transcript_path"}

// findSessions adds the sessions whose own row is named: without entries, or with the words in their folder or title.
func (f *forgetter) findSessions() error {
	if len(f.sel.Entries) > 0 {
		return nil
	}
	var c conditions
	if f.sel.Session != "" {
		c.add("s.id = ?", f.sel.Session)
	}
	if f.sel.Project != "" {
		c.add("s.project = ?", f.sel.Project)
	}
	if !f.sel.Before.IsZero() {
		c.add("s.started_at < ?", f.sel.Before.UnixMilli())
	}
	return eachRow(f.ctx, f.tx, "SELECT s.* FROM sessions s"+c.where(), c.args, func(row values) error {
		if f.sel.Match == "" || row.holds(f.sel.Match) {
			id := row.text("id")
			f.sessions[id] = max(f.sessions[id], 0)
		}
		return nil
	})
}

// bury keeps the tombstones.
func (f *forgetter) bury() error {
	moment := f.at
	for _, last := range f.sessions { // entries may be of a clock that goes ahead of ours
		moment = max(moment, last)
	}
	f.until = moment
	if !f.sel.Before.IsZero() {
		f.until = f.sel.Before.UnixMilli() - 1
	}
	if f.sel.only() {
		sum := f.tombs.everything()
		switch {
		case f.sel.Session != "":
			sum = f.tombs.session(f.sel.Session)
		case f.sel.Project != "":
			sum = f.tombs.project(f.sel.Project)
		}
		if f.sel.Session == "" || f.sel.Project == "" {
			if err := f.tombs.put(f.tx, sum, f.until); err != nil {
				return err
			}
		}
	}
	if f.sel.Match != "" && len(f.sel.Entries) == 0 && f.sel.Session+f.sel.Project == "" {
		if err := f.tombs.putText(f.tx, f.sel.Match, f.until); err != nil {
			return err
		}
	}
	if _, err := f.tx.ExecContext(f.ctx, putLast, moment); err != nil {
		return err
	}
	for _, d := range f.doomed {
		for _, sum := range append(d.other, d.id, d.content) {
			if err := f.tombs.put(f.tx, sum, d.time); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *forgetter) deleteEntries() error {
	seqs := make([]int64, len(f.doomed))
	for i, d := range f.doomed {
		seqs[i] = d.seq
	}
	if err := f.db.unindex(f.ctx, f.tx, seqs, true); err != nil {
		return err
	}
	stmt, err := f.tx.PrepareContext(f.ctx, "DELETE FROM entries WHERE seq = ?")
	if err != nil {
		return err
	}
	for _, seq := range seqs {
		if _, err := stmt.ExecContext(f.ctx, seq); err != nil {
			return errors.Join(err, stmt.Close())
		}
	}
	return errors.Join(stmt.Close(), forgetNames(f.ctx, f.tx))
}

// settle deletes the row of a session of which nothing is left, and makes that of another true again.
func (f *forgetter) settle(id string) error {
	var left int
	if err := f.tx.QueryRowContext(f.ctx, "SELECT count(*) FROM entries WHERE session_id = ?", id).Scan(&left); err != nil {
		return err
	}
	if left == 0 {
		f.out.Sessions = append(f.out.Sessions, id)
		// What its transcript still has does not say the project.
		if f.sel.Project != "" && f.sel.only() {
			if err := f.tombs.put(f.tx, f.tombs.session(id), f.until); err != nil {
				return err
			}
		}
		if _, err := f.tx.ExecContext(f.ctx, "DELETE FROM transcripts WHERE session = ?", id); err != nil {
			return err
		}
		_, err := f.tx.ExecContext(f.ctx, "DELETE FROM sessions WHERE id = ?", id)
		return err
	}
	f.out.Touched = append(f.out.Touched, id)
	if !f.retain {
		if err := f.untitle(id); err != nil {
			return err
		}
	}
	if err := renumber(f.ctx, f.tx, id); err != nil {
		return err
	}
	if err := totals(f.ctx, f.tx, id); err != nil {
		return err
	}
	return f.blank(id)
}

// untitle takes the title from a session whose first prompt is gone: the client made it of that.
func (f *forgetter) untitle(id string) error {
	var before, now string
	err := f.tx.QueryRowContext(f.ctx, `
SELECT first_prompt, `+firstPrompt+`
FROM sessions WHERE id = ?1`, id).Scan(&before, &now)
	if err != nil || before == now {
		return err
	}
	if err := f.tombs.put(f.tx, f.tombs.title(id), f.until); err != nil {
		return err
	}
	_, err = f.tx.ExecContext(f.ctx, "UPDATE sessions SET title = '' WHERE id = ?", id)
	return err
}

// blank empties what a session's row still says with forgotten words.
func (f *forgetter) blank(id string) error {
	var columns []string
	err := eachRow(f.ctx, f.tx, "SELECT s.* FROM sessions s WHERE s.id = ?", []any{id}, func(row values) error {
		for _, name := range row.columns {
			if s := row.text(name); !slices.Contains(identity, name) && (f.tombs.holdsForgotten(row.number("started_at"), s) || f.sel.Match != "" && containsFold(s, f.sel.Match)) {
				columns = append(columns, name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range columns {
		if _, err := f.tx.ExecContext(f.ctx, fmt.Sprintf("UPDATE sessions SET %q = '' WHERE id = ?", c), id); err != nil {
			return err
		}
	}
	return nil
}

// renumber counts the turns of a session anew.
func renumber(ctx context.Context, tx *sql.Tx, session string) error {
	_, err := tx.ExecContext(ctx, `
WITH t AS (SELECT seq, sum(kind = 'prompt') OVER (ORDER BY time, seq) AS turn FROM entries WHERE session_id = ?)
UPDATE entries SET turn = t.turn FROM t WHERE entries.seq = t.seq AND entries.turn <> t.turn`, session)
	return err
}

// Projects lists the names of all projects that end so, in order; "" lists all.
func (db *DB) Projects(ctx context.Context, name string) ([]string, error) {
	var c conditions
	c.add("p <> ''")
	if name != "" {
		c.project("p", name)
	}
	var out []string
	err := db.read(ctx, func(scan func(...any) error) error {
		var p string
		err := scan(&p)
		out = append(out, p)
		return err
	}, "SELECT p FROM (SELECT project AS p FROM sessions UNION SELECT project FROM entries)"+c.where()+" ORDER BY p", c.args...)
	return out, err
}
