package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/index"
	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Find returns the entries that hold the terms of x and pass the filters of q, best first, each with its hit; the filters
// of x are filled in from q, and q.Text is not looked at. Notifications are found only when q asks for their kind. An index that turns out
// to be damaged is made anew.
func (db *DB) Find(ctx context.Context, q memory.Query, x index.Query) (entries []memory.Entry, hits []index.Hit, err error) {
	find := func() error {
		return db.snapshot(ctx, func(tx *sql.Tx) (err error) {
			entries, hits, err = db.find(ctx, tx, q, x)
			return err
		})
	}
	err = retry(ctx, find)
	if errors.Is(err, index.ErrDamaged) {
		if err := db.Rebuild(ctx); err != nil {
			return nil, nil, err
		}
		err = retry(ctx, find)
	}
	return entries, hits, db.explain("search", err)
}

// snapshot runs fn in one reading transaction.
func (db *DB) snapshot(ctx context.Context, fn func(tx *sql.Tx) error) error {
	tx, err := db.sql.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(fn(tx), tx.Rollback())
}

func (db *DB) find(ctx context.Context, tx *sql.Tx, q memory.Query, x index.Query) ([]memory.Entry, []index.Hit, error) {
	if ok, err := narrow(ctx, tx, q, &x); err != nil || !ok {
		return nil, nil, err
	}
	p, err := openPostings(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	opened, err := p.open()
	if err != nil {
		return nil, nil, errors.Join(err, p.close())
	}
	// The row decides: a name that was merged, a folder, a path are not in the index.
	var c conditions
	c.entries(q)
	if q.Kind == "" {
		c.add("e.kind <> 'notification'")
	}
	c.add(notReplaced)
	c.add("e.seq = ?")
	row, err := tx.PrepareContext(ctx, "SELECT "+entryColumns+" FROM entries e"+c.where())
	if err != nil {
		return nil, nil, errors.Join(err, p.close())
	}
	var entries []memory.Entry
	x.Accept = func(seq int64) (bool, error) {
		var e memory.Entry
		err := scanEntry(row.QueryRowContext(ctx, append(c.args[:len(c.args):len(c.args)], seq)...).Scan, &e)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err == nil {
			entries = append(entries, e)
		}
		return err == nil, err
	}
	hits, err := opened.Search(x)
	if err := errors.Join(err, row.Close(), p.close()); err != nil {
		return nil, nil, err
	}
	return entries, hits, nil
}

// narrow turns the filters that the index knows into numbers. It reports false where nothing can pass them.
func narrow(ctx context.Context, tx *sql.Tx, q memory.Query, x *index.Query) (bool, error) {
	if !q.Since.IsZero() {
		x.Since = q.Since.UnixMilli()
	}
	if !q.Until.IsZero() {
		x.Until = q.Until.UnixMilli()
	}
	numbers := func(condition string, args ...any) ([]uint32, error) {
		var out []uint32
		err := eachNumber(ctx, tx, func(id int64) { out = append(out, uint32(id)) }, "SELECT n.id FROM names n "+condition, args...)
		return out, err
	}
	var err error
	if q.Project != "" && !filepath.IsAbs(q.Project) {
		var c conditions
		c.add("n.class = 'project'")
		c.project("coalesce(a.project, n.name)", q.Project)
		if x.Projects, err = numbers("LEFT JOIN project_aliases a ON a.name = n.name"+c.where(), c.args...); err != nil || len(x.Projects) == 0 {
			return false, err
		}
	}
	if q.Session != "" {
		if x.Sessions, err = numbers("WHERE n.class = 'session' AND substr(n.name, 1, length(?1)) = ?1", q.Session); err != nil || len(x.Sessions) == 0 {
			return false, err
		}
	}
	for i, name := range [3]string{attrKind: string(q.Kind), attrTool: strings.ToLower(q.Tool), attrBranch: q.Branch} {
		if name == "" {
			continue
		}
		found, err := numbers("WHERE n.class = ? AND n.name = ?", attrClasses[i], name)
		if err != nil || len(found) == 0 {
			return false, err
		}
		x.Attrs[i] = []uint16{attr(int64(found[0]))}
	}
	return true, nil
}

func eachNumber(ctx context.Context, tx *sql.Tx, fn func(int64), query string, args ...any) (err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		fn(id)
	}
	return rows.Err()
}

// Words returns words of the index: those that begin so, or with near those that a slip of the keyboard makes of word.
func (db *DB) Words(ctx context.Context, word string, near bool, limit int) (out []index.WordCount, err error) {
	err = retry(ctx, func() error {
		return db.snapshot(ctx, func(tx *sql.Tx) error {
			p, err := openPostings(ctx, tx)
			if err != nil {
				return err
			}
			x, err := p.open()
			if err == nil && near {
				out, err = x.Close(word, limit)
			} else if err == nil {
				out, err = x.Starting(word, limit)
			}
			return errors.Join(err, p.close())
		})
	})
	return out, db.explain("search", err)
}

// Newest returns the newest entries that pass the filters of q.
func (db *DB) Newest(ctx context.Context, q memory.Query) (hits []memory.Hit, err error) {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	var c conditions
	c.entries(q)
	if q.Kind == "" {
		c.add("e.kind <> 'notification'")
	}
	c.add(notReplaced)
	err = db.read(ctx, func(scan func(...any) error) error {
		var h memory.Hit
		if err := scanEntry(scan, &h.Entry); err != nil {
			return err
		}
		hits = append(hits, h)
		return nil
	}, "SELECT "+entryColumns+" FROM entries e"+c.where()+" ORDER BY e.time DESC, e.seq DESC LIMIT ?", append(c.args, limit)...)
	return hits, err
}
