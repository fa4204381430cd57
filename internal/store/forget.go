package store

import (
	"context"
	"database/sql"
	"errors"
)

// forgottenSession marks the ids of sessions among those of entries, which never hold a colon.
const forgottenSession = "session:"

// ForgetEntry deletes one entry for good and remembers its id, so that it does not come back.
func (db *DB) ForgetEntry(ctx context.Context, id string) (deleted int, err error) {
	return db.forget(ctx, func(tx *sql.Tx) (int, error) {
		var seq int64
		var session string
		rows, err := tx.QueryContext(ctx, "SELECT seq, session_id FROM entries WHERE id = ?", id)
		if err != nil {
			return 0, err
		}
		found := rows.Next()
		if found {
			err = rows.Scan(&seq, &session)
		}
		if err := firstError(err, rows.Err(), rows.Close()); err != nil || !found {
			return 0, err
		}
		err = execAll(ctx, tx, []statement{
			{"DELETE FROM entry_index WHERE rowid = ?", seq},
			{"INSERT OR IGNORE INTO forgotten (id, time) SELECT id, max(time, 1) FROM entries WHERE seq = ?", seq},
			{"DELETE FROM entries WHERE seq = ?", seq},
			{`WITH t AS (SELECT seq, sum(kind = 'prompt') OVER (ORDER BY time, seq) AS turn FROM entries WHERE session_id = ?)
UPDATE entries SET turn = t.turn FROM t WHERE entries.seq = t.seq AND entries.turn <> t.turn`, session},
		})
		if err != nil {
			return 0, err
		}
		return 1, totals(ctx, tx, session)
	})
}

// ForgetSession deletes a session with all its entries for good. What happens in it later is kept again.
func (db *DB) ForgetSession(ctx context.Context, id string) (deleted int, err error) {
	return db.forget(ctx, func(tx *sql.Tx) (int, error) {
		var n int
		var last int64
		err := tx.QueryRowContext(ctx, "SELECT count(*), coalesce(max(time), 0) FROM entries WHERE session_id = ?", id).Scan(&n, &last)
		if err != nil {
			return 0, err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO forgotten (id, time) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET time = max(time, ?2)",
			forgottenSession+id, max(last, 1)); err != nil {
			return 0, err
		}
		return n, execAll(ctx, tx, []statement{
			{"DELETE FROM entry_index WHERE rowid IN (SELECT seq FROM entries WHERE session_id = ?)", id},
			{"DELETE FROM entries WHERE session_id = ?", id},
			{"DELETE FROM sessions WHERE id = ?", id},
		})
	})
}

// forget deletes in one transaction, and then takes what was deleted out of the index's segments and the WAL:
// deleting a row of the index only marks it.
func (db *DB) forget(ctx context.Context, fn func(tx *sql.Tx) (int, error)) (n int, err error) {
	err = db.write(ctx, func(tx *sql.Tx) error {
		if n, err = fn(tx); err != nil || n == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO entry_index (entry_index) VALUES ('optimize')")
		return err
	})
	if err == nil && n > 0 {
		// Waits for readers as long as a write waits for another.
		var busy, pages, moved int
		err = db.sql.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
		if err == nil && busy != 0 {
			err = errors.New("deleted, but another process reads the store: what was deleted leaves the disk when it ends")
		}
	}
	if err != nil {
		return 0, db.explain("forget", err)
	}
	return n, nil
}

type statement struct {
	query string
	arg   any
}

func execAll(ctx context.Context, tx *sql.Tx, all []statement) error {
	for _, s := range all {
		if _, err := tx.ExecContext(ctx, s.query, s.arg); err != nil {
			return err
		}
	}
	return nil
}

func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
