package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"unicode"

	_ "modernc.org/sqlite" // what everybody else has: FTS5

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// fts5 is the floor: SQLite's full-text search as it comes, any word of the question, ranked by its bm25().
type fts5 struct {
	db      *sql.DB
	entries []memory.Entry
}

func newFTS5(entries []memory.Entry) (*fts5, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection would have a memory of its own
	f := &fts5{db, entries}
	if _, err := db.Exec("CREATE VIRTUAL TABLE t USING fts5 (text, project UNINDEXED)"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	tx, err := db.Begin()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	for i, e := range entries {
		if _, err := tx.Exec("INSERT INTO t (rowid, text, project) VALUES (?, ?, ?)", i+1, e.Text+" "+string(e.ToolInput), e.Project); err != nil {
			return nil, errors.Join(err, tx.Rollback(), db.Close())
		}
	}
	return f, errors.Join(tx.Commit())
}

func (f *fts5) find(ctx context.Context, text, project string, limit int) (out []memory.Entry, err error) {
	var words []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		words = append(words, `"`+w+`"`)
	}
	if len(words) == 0 {
		return nil, nil
	}
	rows, err := f.db.QueryContext(ctx, "SELECT rowid FROM t WHERE t MATCH ?1 AND (?2 = '' OR project = ?2) ORDER BY bm25(t) LIMIT ?3", strings.Join(words, " OR "), project, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, f.entries[id-1])
	}
	return out, rows.Err()
}
