package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/index"
	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// recallText is how many characters of a text are looked at for what an agent may be told of it.
const recallText = 6000

// said are the kinds of entries in which a person or the model speaks.
var said = []memory.Kind{memory.KindNote, memory.KindPrompt, memory.KindResponse, memory.KindCompaction}

// Touching gives the entries, the best first, that hold words of the lists, and how many entries of any project hold each
// list's first word, of how many. Words are as the index keeps them; a list that more than common(all) entries hold is not
// looked for. They are of other sessions than q.Session, of the main agent, of q.Kind and q.Tool, or else what was said; of
// other branches than q.Branch only those count that every branch comes from. Texts are cut.
func (db *DB) Touching(ctx context.Context, q memory.Query, words [][]string, common func(all int) int, limit int) (found []memory.Touched, docs []int, all int, err error) {
	err = retry(ctx, func() error {
		return db.snapshot(ctx, func(tx *sql.Tx) (err error) {
			found = nil
			p, err := openPostings(ctx, tx)
			if err != nil {
				return err
			}
			x, err := p.open()
			if err == nil {
				all = x.Docs()
				var terms []index.Term
				if terms, docs, err = countWords(x, words, common(all)); err == nil && len(terms) > 0 {
					found, err = touching(ctx, tx, x, q, index.Query{Terms: terms, Limit: limit})
				}
			}
			return errors.Join(err, p.close())
		})
	})
	return found, docs, all, db.explain("read store", err)
}

func countWords(x *index.Index, words [][]string, common int) (terms []index.Term, docs []int, err error) {
	docs = make([]int, len(words))
	for i, list := range words {
		for j, w := range list {
			n, err := x.Count(w)
			if err != nil {
				return nil, nil, err
			}
			if j == 0 || docs[i] == 0 {
				docs[i] = n
			}
			if n > 0 && n <= common {
				terms = append(terms, index.Term{Word: w, Weight: 1, Group: uint8(i)})
			}
		}
	}
	return terms, docs, nil
}

func touching(ctx context.Context, tx *sql.Tx, x *index.Index, q memory.Query, ask index.Query) ([]memory.Touched, error) {
	if ok, err := narrow(ctx, tx, memory.Query{Project: q.Project, Kind: q.Kind, Tool: q.Tool}, &ask); err != nil || !ok {
		return nil, err
	}
	var c conditions
	c.entries(memory.Query{Project: q.Project, Kind: q.Kind, Tool: q.Tool})
	c.add("e.session_id <> ?", q.Session)
	c.add("e.agent_id = ''")
	if q.Kind == "" {
		c.add("e.kind IN ('note', 'prompt', 'response', 'compaction')")
		for _, k := range said {
			err := eachNumber(ctx, tx, func(id int64) { ask.Attrs[attrKind] = append(ask.Attrs[attrKind], attr(id)) },
				"SELECT n.id FROM names n WHERE n.class = ? AND n.name = ?", attrClasses[attrKind], string(k))
			if err != nil {
				return nil, err
			}
		}
		if len(ask.Attrs[attrKind]) == 0 {
			return nil, nil
		}
	}
	if q.Branch != "" {
		c.add("(e.kind = 'note' OR e.branch IN (?, 'main', 'master', ''))", q.Branch)
	}
	c.add("e.withdrawn = 0")
	c.add(notReplaced)
	c.add("e.seq = ?")
	row, err := tx.PrepareContext(ctx, "SELECT "+cutColumns+" FROM entries e"+c.where())
	if err != nil {
		return nil, err
	}
	var out []memory.Touched
	ask.Accept = func(seq int64) (bool, error) {
		var t memory.Touched
		args := append([]any{recallText}, append(c.args[:len(c.args):len(c.args)], seq)...)
		err := scanEntry(row.QueryRowContext(ctx, args...).Scan, &t.Entry)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err == nil {
			out = append(out, t)
		}
		return err == nil, err
	}
	hits, err := x.Search(ask)
	if err := errors.Join(err, row.Close()); err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Words = hits[i].Groups
	}
	return out, nil
}

// cutColumns are entryColumns with the text cut to a number of characters, the first argument.
var cutColumns = strings.Replace(entryColumns, "e.text", "substr(e.text, 1, ?)", 1)

// some reads entries whose texts are cut.
func (db *DB) some(ctx context.Context, fn func(e memory.Entry), where string, args ...any) error {
	return db.read(ctx, func(scan func(...any) error) error {
		var e memory.Entry
		if err := scanEntry(scan, &e); err != nil {
			return err
		}
		fn(e)
		return nil
	}, "SELECT "+cutColumns+" FROM entries e WHERE "+where, append([]any{recallText}, args...)...)
}

// After gives what happened in a session from a time on, in order, at most limit; texts are cut at their end, but an exit
// code is kept.
func (db *DB) After(ctx context.Context, session string, from time.Time, limit int) (out []memory.Entry, err error) {
	err = db.some(ctx, func(e memory.Entry) { out = append(out, e) },
		"e.session_id = ? AND e.time >= ? AND e.withdrawn = 0 ORDER BY e.time, e.seq LIMIT ?", session, from.UnixMilli(), limit)
	return out, err
}

// Last gives the last entries of a session, in order.
func (db *DB) Last(ctx context.Context, session string, limit int) (out []memory.Entry, err error) {
	err = db.some(ctx, func(e memory.Entry) { out = append(out, e) },
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
	err = db.some(ctx, func(e memory.Entry) { out = e },
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
