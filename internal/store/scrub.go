package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Scrub takes what was deleted out of the file: pages keep the bytes of rows that
// moved. It rewrites the whole file, and does nothing where nothing was deleted since the last time.
func (db *DB) Scrub(ctx context.Context) error {
	due, err := db.flag(ctx, "scrub")
	if err != nil || !due {
		return err
	}
	err = retry(ctx, func() error {
		_, err := db.sql.ExecContext(ctx, "VACUUM")
		return err
	})
	if err == nil {
		err = db.truncateWAL(ctx)
	}
	if err == nil {
		err = db.unflag(ctx, "scrub")
	}
	return db.explain("scrub", err)
}

// truncateWAL waits for readers as long as a write waits for another.
func (db *DB) truncateWAL(ctx context.Context) error {
	var busy, pages, moved int
	if err := db.sql.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return errors.New("deleted, but another process reads the store: what was deleted leaves the disk with the next command after it ends")
	}
	return nil
}

// sweepTime is how long a forget may take for the files beside the store before it counts as killed.
const sweepTime = 2 * time.Minute

// SweepDue reports whether something was forgotten whose copies in files beside the store may still be there, because the
// process that forgot it was killed.
func (db *DB) SweepDue(ctx context.Context, now time.Time) (due bool, err error) {
	err = db.read(ctx, func(scan func(...any) error) error {
		var at int64
		err := scan(&at)
		due = now.Sub(time.UnixMilli(at)) > sweepTime
		return err
	}, "SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM meta WHERE key = 'sweep'")
	return due, err
}

// Swept says that no copy is left.
func (db *DB) Swept(ctx context.Context) error {
	return db.explain("forget", db.unflag(ctx, "sweep"))
}

func (db *DB) flag(ctx context.Context, name string) (set bool, err error) {
	err = db.read(ctx, func(scan func(...any) error) error { return scan(&set) }, "SELECT EXISTS (SELECT 1 FROM meta WHERE key = ?)", name)
	return set, err
}

func (db *DB) unflag(ctx context.Context, name string) error {
	return db.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM meta WHERE key = ?", name)
		return err
	})
}

// TakeTombstones makes db, a copy of another time, forget what from has forgotten, and returns how many entries that
// were. It scrubs the file.
func (db *DB) TakeTombstones(ctx context.Context, from *DB) (deleted int, err error) {
	all, err := from.tombstoneRows(ctx)
	if err != nil {
		return 0, err
	}
	err = db.write(ctx, func(tx *sql.Tx) error {
		deleted = 0
		if err := all.mergeInto(ctx, tx); err != nil {
			return err
		}
		f := &forgetter{db: db, ctx: ctx, tx: tx, sessions: map[string]int64{}}
		f.out.Kinds = map[memory.Kind]int{}
		if err := f.sweep(); err != nil {
			return err
		}
		deleted = f.out.Entries
		return nil
	})
	if err != nil {
		return 0, db.explain("forget", err)
	}
	return deleted, errors.Join(db.Scrub(ctx), db.unflag(ctx, "sweep"))
}

// tombstoneRows are all tombstones of a store.
type tombstoneRows struct {
	key   []byte
	last  int64
	marks []mark
	texts []forgottenText
}

type mark struct {
	hash  []byte
	until int64
}

func (db *DB) tombstoneRows(ctx context.Context) (all tombstoneRows, err error) {
	err = db.read(ctx, func(scan func(...any) error) error { return scan(&all.key, &all.last) },
		"SELECT value, coalesce((SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM meta WHERE key = 'last'), 0) FROM meta WHERE key = 'key'")
	if err != nil {
		return all, err
	}
	err = db.read(ctx, func(scan func(...any) error) error {
		var m mark
		err := scan(&m.hash, &m.until)
		all.marks = append(all.marks, m)
		return err
	}, "SELECT hash, until FROM tombstones")
	if err != nil {
		return all, err
	}
	err = db.read(ctx, func(scan func(...any) error) error {
		var f forgottenText
		var rolling int64
		err := scan(&f.hash, &rolling, &f.length, &f.until)
		f.rolling = uint64(rolling)
		all.texts = append(all.texts, f)
		return err
	}, "SELECT hash, rolling, length, until FROM forgotten_texts")
	return all, err
}

// mergeInto adds the tombstones to those of another store. One that has none of its own takes the key too; one with
// another key keeps its own beside them, and those no longer speak: they were made on another machine.
func (all tombstoneRows) mergeInto(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, "UPDATE meta SET value = ? WHERE key = 'key'", all.key); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, putLast, all.last); err != nil {
		return err
	}
	for _, m := range all.marks {
		if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO tombstones (hash, until) VALUES (?, ?)", m.hash, m.until); err != nil {
			return err
		}
	}
	for _, f := range all.texts {
		if _, err := tx.ExecContext(ctx, `INSERT INTO forgotten_texts (hash, rolling, length, until) VALUES (?, ?, ?, ?)
ON CONFLICT (hash) DO UPDATE SET until = max(until, excluded.until)`, f.hash, int64(f.rolling), f.length, f.until); err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes what the tombstones of the store name.
func (f *forgetter) sweep() (err error) {
	if f.tombs, err = openTombstones(f.ctx, f.tx); err != nil {
		return err
	}
	defer f.tombs.close()
	err = eachRow(f.ctx, f.tx, "SELECT e.*, s.project AS session_project FROM entries e JOIN sessions s ON s.id = e.session_id", nil, func(row values) error {
		e := row.entry()
		project := e.Project
		if project == "" {
			project = row.text("session_project")
		}
		gone, err := f.tombs.forgotten(&e, project)
		if err == nil && gone {
			f.doom(row, &e)
		}
		return err
	})
	if err != nil {
		return err
	}
	err = eachRow(f.ctx, f.tx, "SELECT s.* FROM sessions s", nil, func(row values) error {
		until, err := f.tombs.sessionUntil(row.text("id"), row.text("project"))
		if err == nil && (until > 0 && row.number("started_at") <= until || f.tombs.holdsForgotten(row.number("started_at"), row.strings()...)) {
			f.sessions[row.text("id")] = max(f.sessions[row.text("id")], 0)
		}
		return err
	})
	if err != nil {
		return err
	}
	return f.delete()
}
