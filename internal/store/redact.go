package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Finding is a column in which a rule of today finds what should not be there.
type Finding struct {
	Table, Column string
	Rows          int
	Secrets       int
}

// exempt are columns that we make ourselves.
var exempt = []string{"entries.id", "aliases.id", "transcripts.stamp", "meta.key", "names.class", "names.name"}

// Redact puts every text of every column through clean, which returns it without secrets and how many it took out, and
// reports where something was found. With apply it stores the cleaned texts, with their words in the index; scrub
// afterwards. Findings are in the order of tables and columns.
func (db *DB) Redact(ctx context.Context, clean func(string) (string, int), apply bool) (found []Finding, err error) {
	err = db.write(ctx, func(tx *sql.Tx) error {
		found = nil
		// A session's id may stand in several tables: it is cleaned alike in all.
		if _, err := tx.ExecContext(ctx, "PRAGMA defer_foreign_keys = ON"); err != nil {
			return err
		}
		columns, err := textColumns(ctx, tx)
		if err != nil {
			return err
		}
		for _, c := range columns {
			f, err := db.redactColumn(ctx, tx, c, clean, apply)
			if err != nil {
				return err
			}
			if f.Rows > 0 {
				found = append(found, f)
			}
		}
		if !apply {
			return errOnlyLooking
		}
		if len(found) == 0 {
			return nil
		}
		if err := db.rebuild(ctx, tx); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT OR IGNORE INTO meta (key, value) VALUES ('scrub', x'01')")
		return err
	})
	if errors.Is(err, errOnlyLooking) {
		err = nil
	}
	return found, db.explain("redact", err)
}

type column struct{ table, name string }

// textColumns lists the columns of text of every table but those of the index.
func textColumns(ctx context.Context, tx *sql.Tx) ([]column, error) {
	var out []column
	err := eachRow(ctx, tx, `SELECT t.name AS tab, c.name AS col FROM pragma_table_list t JOIN pragma_table_info(t.name) c
WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND upper(c.type) = 'TEXT' ORDER BY t.name, c.cid`, nil, func(row values) error {
		c := column{row.text("tab"), row.text("col")}
		if !slices.Contains(exempt, c.table+"."+c.name) {
			out = append(out, c)
		}
		return nil
	})
	return out, err
}

func (db *DB) redactColumn(ctx context.Context, tx *sql.Tx, c column, clean func(string) (string, int), apply bool) (Finding, error) {
	f := Finding{Table: c.table, Column: c.name}
	changed := map[string]string{}
	err := eachRow(ctx, tx, fmt.Sprintf("SELECT %q AS v FROM %q WHERE %q <> ''", c.name, c.table, c.name), nil, func(row values) error {
		old := row.text("v")
		if text, n := clean(old); text != old {
			f.Rows++
			f.Secrets += max(n, 1)
			changed[old] = text
		}
		return nil
	})
	if err != nil || !apply {
		return f, err
	}
	for old, text := range changed {
		if err := db.replaceText(ctx, tx, c, old, text); err != nil {
			return f, err
		}
	}
	return f, nil
}

// replaceText stores a cleaned text wherever the old one stands.
func (db *DB) replaceText(ctx context.Context, tx *sql.Tx, c column, old, text string) error {
	if c.table != "entries" {
		_, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE OR REPLACE %q SET %q = ? WHERE %q = ?", c.table, c.name, c.name), text, old)
		return err
	}
	marks := max(strings.Count(text, "[redacted:")-strings.Count(old, "[redacted:"), 1)
	var seqs []int64
	err := eachRow(ctx, tx, fmt.Sprintf("SELECT seq FROM entries WHERE %q = ?", c.name), []any{old}, func(row values) error {
		seqs = append(seqs, row.number("seq"))
		return nil
	})
	if err != nil {
		return err
	}
	for _, seq := range seqs {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE entries SET %q = ?, redacted = redacted + ? WHERE seq = ?", c.name), text, marks, seq); err != nil {
			return err
		}
	}
	return nil
}
