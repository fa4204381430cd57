package store

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

const defaultLimit = 20

// notReplaced leaves out the notes that others took the place of.
const notReplaced = `NOT (e.kind = 'note' AND e.id IN (SELECT json_extract(n.tool_input, '$.replaces') FROM entries n
WHERE n.kind = 'note' AND json_valid(n.tool_input) AND json_extract(n.tool_input, '$.replaces') IS NOT NULL))`

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
