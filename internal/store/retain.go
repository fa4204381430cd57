package store

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Limits says how much is kept. Zero fields do not limit.
type Limits struct {
	Since    time.Time // entries before it go
	MaxBytes int64     // the oldest entries go until the file is about so large
}

// Retain deletes what is over the limits, but never a note, and returns how many entries that were. What went so does not
// come back with an import as long as the limits stand; nothing is kept of it but the time. It scrubs the file.
func (db *DB) Retain(ctx context.Context, l Limits) (deleted int, err error) {
	from, err := db.keptFrom(ctx)
	if err != nil {
		return 0, err
	}
	if l.Since.IsZero() && l.MaxBytes == 0 {
		if from != 0 {
			return 0, db.explain("retention", db.unflag(ctx, keptFromKey))
		}
		return 0, nil
	}
	if !l.Since.IsZero() {
		if deleted, err = db.deleteBefore(ctx, l.Since.UnixMilli()); err != nil {
			return deleted, err
		}
	}
	for range 8 { // entries are not of one size
		bytes, used, err := db.size(ctx)
		if err != nil || l.MaxBytes == 0 || bytes <= l.MaxBytes {
			return deleted, err
		}
		cut, err := db.timeAtShare(ctx, 1-0.9*float64(l.MaxBytes)/float64(used))
		if err != nil || cut == 0 {
			return deleted, err
		}
		n, err := db.deleteBefore(ctx, cut)
		if deleted += n; err != nil || n == 0 {
			return deleted, err
		}
	}
	return deleted, nil
}

const keptFromKey = "keptFrom"

// keptFrom is the time in milliseconds before which nothing is kept; 0: no limit.
func (db *DB) keptFrom(ctx context.Context) (at int64, err error) {
	err = db.read(ctx, func(scan func(...any) error) error {
		var text string
		if err := scan(&text); err != nil {
			return err
		}
		at, err = strconv.ParseInt(text, 10, 64)
		return err
	}, "SELECT CAST(value AS TEXT) FROM meta WHERE key = ?", keptFromKey)
	return at, err
}

// size is that of the file, and of the pages in it that hold something.
func (db *DB) size(ctx context.Context) (bytes, used int64, err error) {
	err = db.read(ctx, func(scan func(...any) error) error { return scan(&bytes, &used) },
		`SELECT c.page_count * s.page_size, (c.page_count - f.freelist_count) * s.page_size
FROM pragma_page_count() c, pragma_page_size() s, pragma_freelist_count() f`)
	return bytes, used, err
}

// timeAtShare is the time of the entry that so much of all entries are older than, without the notes.
func (db *DB) timeAtShare(ctx context.Context, share float64) (at int64, err error) {
	err = db.read(ctx, func(scan func(...any) error) error { return scan(&at) }, `
SELECT time FROM entries WHERE kind <> 'note' ORDER BY time
LIMIT 1 OFFSET min(cast((SELECT count(*) FROM entries WHERE kind <> 'note') * ? AS INTEGER) + 1, max((SELECT count(*) FROM entries WHERE kind <> 'note') - 1, 0))`,
		min(max(share, 0), 1))
	return at, err
}

func (db *DB) deleteBefore(ctx context.Context, at int64) (deleted int, err error) {
	old := false
	err = db.read(ctx, func(scan func(...any) error) error { return scan(&old) },
		"SELECT EXISTS (SELECT 1 FROM entries WHERE time < ? AND kind <> 'note')", at)
	if err != nil || !old {
		return 0, err
	}
	err = db.write(ctx, func(tx *sql.Tx) error {
		f := &forgetter{db: db, ctx: ctx, tx: tx, sel: Selection{Before: fromMillis(at)}, retain: true, sessions: map[string]int64{}}
		f.out.Kinds = map[memory.Kind]int{}
		if err := f.run(); err != nil {
			return err
		}
		deleted = f.out.Entries
		_, err := tx.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES (?1, CAST(?2 AS BLOB))
ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE CAST(CAST(value AS TEXT) AS INTEGER) < ?2`, keptFromKey, at)
		return err
	})
	if err != nil {
		return 0, db.explain("retention", err)
	}
	return deleted, db.Scrub(ctx)
}
