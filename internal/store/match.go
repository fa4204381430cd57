package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

const defaultLimit = 20

// The worth of a word in the text of an entry, and in what a tool was asked to do.
const (
	weightText  = 1.0
	weightInput = 0.7
)

// Match returns the entries that hold the terms and pass the filters of q, best first; q.Text is not looked at.
// A term is a list of alternatives, an alternative a phrase of index words, whose last may end in * (any word that
// starts so). All terms are needed, or any of them. Without terms the newest entries come first.
// Notifications are found only when q asks for their kind.
func (db *DB) Match(ctx context.Context, q memory.Query, terms [][]string, all bool) ([]memory.Hit, error) {
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
	expr := expression(terms, all)
	var query string
	switch {
	case expr == "" && len(terms) > 0:
		return nil, nil
	case expr == "":
		query = "SELECT " + entryColumns + ", 0.0 FROM entries e" + c.where() + " ORDER BY e.time DESC, e.seq DESC LIMIT ?"
	default:
		// The sorter holds numbers only: texts may have a megabyte each.
		c.add("entry_index MATCH ?", expr)
		query = "SELECT " + entryColumns + ", best.score FROM (" +
			fmt.Sprintf("SELECT e.seq AS seq, -bm25(entry_index, %g, %g) AS score FROM entry_index CROSS JOIN entries e ON e.seq = entry_index.rowid", weightText, weightInput) +
			c.where() + " ORDER BY score DESC, e.seq DESC LIMIT ?) best CROSS JOIN entries e ON e.seq = best.seq ORDER BY best.score DESC, e.seq DESC"
	}
	var hits []memory.Hit
	err := db.read(ctx, func(scan func(...any) error) error {
		var h memory.Hit
		if err := scanEntry(scan, &h.Entry, &h.Score); err != nil {
			return err
		}
		hits = append(hits, h)
		return nil
	}, query, append(c.args, limit)...)
	return hits, err
}

// notReplaced leaves out the notes that others took the place of.
const notReplaced = `NOT (e.kind = 'note' AND e.id IN (SELECT json_extract(n.tool_input, '$.replaces') FROM entries n
WHERE n.kind = 'note' AND json_valid(n.tool_input) AND json_extract(n.tool_input, '$.replaces') IS NOT NULL))`

// expression writes the terms in the index's query language. Every word is quoted, so that no text is syntax.
func expression(terms [][]string, all bool) string {
	var groups []string
	for _, alternatives := range terms {
		var or []string
		for _, a := range alternatives {
			phrase, prefix := strings.CutSuffix(strings.TrimSpace(a), "*")
			if phrase == "" {
				continue
			}
			s := `"` + strings.ReplaceAll(strings.ReplaceAll(phrase, "\x00", " "), `"`, `""`) + `"`
			if prefix {
				s += "*"
			}
			or = append(or, s)
		}
		if len(or) > 0 {
			groups = append(groups, "("+strings.Join(or, " OR ")+")")
		}
	}
	if all {
		return strings.Join(groups, " AND ")
	}
	return strings.Join(groups, " OR ")
}

// conditions collects the parts of a WHERE clause with their arguments.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(sql string, args ...any) {
	c.parts = append(c.parts, sql)
	c.args = append(c.args, args...)
}

func (c *conditions) where() string {
	if len(c.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.parts, " AND ")
}

// entries adds the filters of q for rows e of the table entries.
func (c *conditions) entries(q memory.Query) {
	if q.Project != "" {
		c.project("e.project", q.Project)
	}
	if q.Session != "" {
		c.add("substr(e.session_id, 1, length(?)) = ?", q.Session, q.Session)
	}
	if q.Branch != "" {
		c.add("e.branch = ?", q.Branch)
	}
	if q.Kind != "" {
		c.add("e.kind = ?", string(q.Kind))
	}
	if q.Tool != "" {
		c.add("lower(e.tool) = lower(?)", q.Tool)
	}
	if q.File != "" {
		// Backslashes of a path are doubled in JSON.
		c.add("instr(e.tool_input, ?) > 0", strings.ReplaceAll(q.File, `\`, `\\`))
	}
	if !q.Since.IsZero() {
		c.add("e.time >= ?", q.Since.UnixMilli())
	}
	if !q.Until.IsZero() {
		c.add("e.time < ?", q.Until.UnixMilli())
	}
}

// project lets "app" and "acme/app" name "github.com/acme/app", follows the names that were merged into another, and takes
// a folder for what happened in it or below.
func (c *conditions) project(column, name string) {
	cond := fmt.Sprintf("(%[1]s = ? OR substr(%[1]s, -length(?)) = ? OR %[1]s = (SELECT project FROM project_aliases WHERE name = ?)", column)
	args := []any{name, "/" + name, "/" + name, name}
	if table, _, ok := strings.Cut(column, "."); ok && filepath.IsAbs(name) {
		below := strings.TrimSuffix(name, string(filepath.Separator)) + string(filepath.Separator)
		cond += fmt.Sprintf(" OR %[1]s.cwd = ? OR substr(%[1]s.cwd, 1, length(?)) = ?", table)
		args = append(args, name, below, below)
	}
	c.add(cond+")", args...)
}
