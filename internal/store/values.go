package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// values is one row of any table by the names of its columns.
type values struct {
	columns []string
	row     []any
}

func (v values) get(name string) any {
	if i := slices.Index(v.columns, name); i >= 0 {
		return v.row[i]
	}
	return nil
}

func (v values) text(name string) string {
	s, _ := v.get(name).(string)
	return s
}

func (v values) number(name string) int64 {
	n, _ := v.get(name).(int64)
	return n
}

// strings are all texts of the row.
func (v values) strings() (out []string) {
	for _, x := range v.row {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// entry is what the tombstones of a row of the table entries are made of.
func (v values) entry() memory.Entry {
	return memory.Entry{
		ID: v.text("id"), SessionID: v.text("session_id"), Kind: memory.Kind(v.text("kind")), Time: fromMillis(v.number("time")),
		Tool: v.text("tool"), ToolInput: []byte(v.text("tool_input")), Text: v.text("text"), Project: v.text("project"), Match: v.number("match"),
	}
}

func (v values) holds(words string, but ...string) bool { return len(v.holding(words, but...)) > 0 }

// holding names the columns of text that hold words, whatever their case; JSON also in its decoded form.
func (v values) holding(words string, but ...string) (names []string) {
	for i, name := range v.columns {
		s, ok := v.row[i].(string)
		if !ok || slices.Contains(but, name) {
			continue
		}
		if containsFold(s, words) || name == "tool_input" && containsFold(inputText(memory.Entry{ToolInput: []byte(s)}), words) {
			names = append(names, name)
		}
	}
	return names
}

// eachRow calls fn with every row of a query; the row is valid until fn returns.
func eachRow(ctx context.Context, tx *sql.Tx, query string, args []any, fn func(values) error) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err tells
	v := values{}
	if v.columns, err = rows.Columns(); err != nil {
		return err
	}
	v.row = make([]any, len(v.columns))
	into := make([]any, len(v.row))
	for i := range into {
		into[i] = &v.row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := fn(v); err != nil {
			return err
		}
	}
	return rows.Err()
}

func containsFold(s, words string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(words))
}

func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// containsFile looks for a path in a tool's input, where JSON doubles its backslashes.
func containsFile(input []byte, file string) bool {
	return strings.Contains(string(input), strings.ReplaceAll(file, `\`, `\\`))
}
