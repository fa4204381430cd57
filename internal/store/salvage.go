package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Salvaged counts what came out of a damaged store.
type Salvaged struct{ Sessions, Entries int }

// Salvage copies every row that can still be read from the damaged store at from into db, which is new, and makes the
// index and all sums again. The damaged file is only read; files that SQLite lays beside it may change.
func (db *DB) Salvage(ctx context.Context, from string) (Salvaged, error) {
	if err := mendHeader(from); err != nil {
		return Salvaged{}, err
	}
	name, err := fileURI(from, "mode=rw", "_pragma=busy_timeout(10000)")
	if err != nil {
		return Salvaged{}, err
	}
	pool, err := sql.Open("sqlite", name)
	if err != nil {
		return Salvaged{}, err
	}
	defer func() { _ = pool.Close() }() // only read
	pool.SetMaxOpenConns(1)
	s := &salvager{ctx: ctx, from: pool, path: from}
	err = db.write(ctx, func(tx *sql.Tx) error {
		s.tx, s.out = tx, Salvaged{}
		return s.run(db)
	})
	if err != nil {
		return Salvaged{}, db.explain("salvage", err)
	}
	return s.out, db.truncateWAL(ctx)
}

// headerMagic starts every file of SQLite's, https://www.sqlite.org/fileformat.html.
const headerMagic = "SQLite format 3\x00"

// mendHeader writes the beginning of the file anew: where it is wrong, nothing of the rest is looked at.
func mendHeader(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	head := make([]byte, 100)
	if _, err := f.ReadAt(head, 0); err != nil {
		return errors.Join(fmt.Errorf("%s: shorter than any store", path), f.Close())
	}
	// The page size, the versions for WAL, and three fractions that never vary; we only make pages of 4096 bytes.
	want := append([]byte(headerMagic), 0x10, 0x00, 2, 2, 0, 64, 32, 32)
	copy(head, want)
	_, err = f.WriteAt(head, 0)
	// A file that was cut is refused as a whole. Empty pages in the place of what is missing are damaged one by one.
	if have, claimed := size/4096, int64(binary.BigEndian.Uint32(head[28:])); claimed > have && claimed <= 16*have+1<<16 {
		err = errors.Join(err, f.Truncate(claimed*4096))
	}
	return errors.Join(err, f.Close())
}

type salvager struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call of Salvage
	from  *sql.DB
	path  string
	tx    *sql.Tx
	out   Salvaged
	blind bool // something could not be read by way of the list of tables
}

func (s *salvager) run(db *DB) error {
	if _, err := s.tx.ExecContext(s.ctx, "PRAGMA defer_foreign_keys = ON"); err != nil {
		return err
	}
	// The damaged store's key comes with its tombstones.
	for _, name := range []string{
		"meta", "tombstones", "forgotten_texts", "project_aliases", "project_marks", "transcripts", "sessions", "entries", "aliases",
	} {
		if err := s.table(name); err != nil {
			return err
		}
	}
	if s.blind {
		// What cannot be moved out of the log cannot be read from it either.
		_, _ = s.from.ExecContext(s.ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		if err := s.fromLeaves(s.path); err != nil {
			return err
		}
	}
	if _, err := s.tx.ExecContext(s.ctx, `
INSERT OR IGNORE INTO sessions (id, project, cwd, branch, client, started_at, ended_at, end_reason, transcript_path, turns, entries, first_prompt)
SELECT session_id, max(project), max(cwd), max(branch), 'copilot', min(time), 0, '', '', 0, 0, '' FROM entries GROUP BY session_id`); err != nil {
		return err
	}
	if _, err := s.tx.ExecContext(s.ctx, "DELETE FROM aliases WHERE seq NOT IN (SELECT seq FROM entries)"); err != nil {
		return err
	}
	// A transcript that was read once has to be read again for what was lost.
	if _, err := s.tx.ExecContext(s.ctx, "DELETE FROM transcripts"); err != nil {
		return err
	}
	return s.rebuild(db)
}

// rebuild makes the index and the sums of all sessions.
func (s *salvager) rebuild(db *DB) error {
	var entries int
	if err := s.tx.QueryRowContext(s.ctx, "SELECT count(*) FROM entries").Scan(&entries); err != nil {
		return err
	}
	if err := db.rebuild(s.ctx, s.tx); err != nil {
		return err
	}
	var ids []string
	err := eachRow(s.ctx, s.tx, "SELECT id FROM sessions", nil, func(row values) error {
		ids = append(ids, row.text("id"))
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := renumber(s.ctx, s.tx, id); err != nil {
			return err
		}
		if err := totals(s.ctx, s.tx, id); err != nil {
			return err
		}
	}
	// Pages that were not in use any more may have shown what was forgotten.
	f := &forgetter{db: db, ctx: s.ctx, tx: s.tx, retain: true, sessions: map[string]int64{}}
	f.out.Kinds = map[memory.Kind]int{}
	if err := f.sweep(); err != nil {
		return err
	}
	s.out.Sessions, s.out.Entries = len(ids)-len(f.out.Sessions), entries-f.out.Entries
	return nil
}

// table copies the rows of a table up to the first that cannot be read; then the leaves of the file have to be looked at
// one by one. What the damaged store does not have is no error.
func (s *salvager) table(name string) error {
	into, err := tableColumns(s.ctx, s.tx, name)
	if err != nil {
		return err
	}
	here, err := tableColumns(s.ctx, s.from, name)
	if err != nil || len(here) == 0 {
		s.blind = s.blind || err != nil || name == "entries" || name == "sessions"
		return s.ctx.Err()
	}
	columns := slices.DeleteFunc(into, func(c string) bool { return !slices.Contains(here, c) })
	rows, err := s.from.QueryContext(s.ctx, fmt.Sprintf("SELECT %s FROM %q NOT INDEXED", strings.Join(columns, ", "), name))
	if err != nil {
		s.blind = true
		return s.ctx.Err()
	}
	defer func() { _ = rows.Close() }() // Err tells
	row, at := make([]any, len(columns)), make([]any, len(columns))
	for i := range at {
		at[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return err
		}
		if err := s.insert(name, columns, row, "REPLACE"); err != nil {
			return err
		}
	}
	s.blind = s.blind || rows.Err() != nil
	return s.ctx.Err()
}

// insert takes a row, unless it only looks like one of ours.
func (s *salvager) insert(table string, columns []string, row []any, conflict string) error {
	if _, err := s.tx.ExecContext(s.ctx, "SAVEPOINT salvaged"); err != nil {
		return err
	}
	_, err := s.tx.ExecContext(s.ctx, fmt.Sprintf("INSERT OR %s INTO %q (%s) VALUES (?%s)", conflict, table, strings.Join(columns, ", "),
		strings.Repeat(", ?", len(row)-1)), row...)
	if err != nil && s.ctx.Err() == nil {
		_, err = s.tx.ExecContext(s.ctx, "ROLLBACK TO salvaged")
	}
	_, release := s.tx.ExecContext(s.ctx, "RELEASE salvaged")
	return errors.Join(err, release)
}

func tableColumns(ctx context.Context, q interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, table string) (names []string, err error) {
	rows, err := q.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// Absorb stores the sessions and entries of another store that this one does not have, and returns how many entries
// those were. What was forgotten here stays away.
func (db *DB) Absorb(ctx context.Context, other *DB) (added int, err error) {
	sessions, err := other.Sessions(ctx, memory.Query{Limit: -1})
	if err != nil {
		return 0, err
	}
	for _, s := range sessions {
		entries, err := other.Entries(ctx, s.ID)
		if err != nil {
			return added, err
		}
		aliases, err := other.aliases(ctx, s.ID)
		if err != nil {
			return added, err
		}
		lines := make([]exportEntry, len(entries))
		for i, e := range entries {
			lines[i] = *entryLine(e, aliases[e.ID])
		}
		c, err := db.addExported(ctx, []memory.Session{s}, lines)
		added += c.Added
		if err != nil {
			return added, err
		}
	}
	return added, nil
}
