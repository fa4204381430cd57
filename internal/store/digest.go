package store

import (
	"context"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// digestText is how many characters of a text a digest reads.
const digestText = 4000

// Digest returns what passes the filters of q in the order of time, for a look at much of it at once: the texts of
// prompts, notes, compactions, errors and of answers to questions only, and those cut; no notifications, no replaced
// notes. A limit does not apply.
func (db *DB) Digest(ctx context.Context, q memory.Query) ([]memory.Entry, error) {
	var c conditions
	c.entries(q)
	c.add("e.kind <> 'notification'")
	c.add(notReplaced)
	var out []memory.Entry
	err := db.read(ctx, func(scan func(...any) error) error {
		var e memory.Entry
		var kind, input string
		var at int64
		err := scan(&e.ID, &e.SessionID, &kind, &e.Turn, &at, &e.Tool, &e.ResultType, &e.AgentID, &e.Project, &e.Withdrawn, &e.Text, &input)
		e.Kind, e.Time = memory.Kind(kind), fromMillis(at)
		if input != "" {
			e.ToolInput = []byte(input)
		}
		out = append(out, e)
		return err
	}, `SELECT e.id, e.session_id, e.kind, e.turn, e.time, e.tool, e.result_type, e.agent_id, e.project, e.withdrawn,
  iif(e.kind IN ('prompt', 'note', 'compaction', 'error') OR e.tool = 'ask_user', substr(e.text, 1, ?), ''),
  iif(e.kind = 'note' OR e.kind IN ('toolResult', 'error'), substr(e.tool_input, 1, ?), '')
FROM entries e`+c.where()+" ORDER BY e.time, e.seq", append([]any{digestText, digestText}, c.args...)...)
	return out, err
}

// SessionsByID returns the sessions of entries.
func (db *DB) SessionsByID(ctx context.Context, entries []memory.Entry) (map[string]memory.Session, error) {
	wanted := map[string]bool{}
	for _, e := range entries {
		wanted[e.SessionID] = true
	}
	out := make(map[string]memory.Session, len(wanted))
	err := db.read(ctx, func(scan func(...any) error) error {
		s, err := scanSession(scan)
		if wanted[s.ID] {
			out[s.ID] = s
		}
		return err
	}, "SELECT "+sessionColumns+" FROM sessions s")
	return out, err
}

// Notes returns the notes that pass the filters of q, newest first, with what each says of itself in ToolInput. Replaced
// ones are among them only where asked for. A negative limit is none.
func (db *DB) Notes(ctx context.Context, q memory.Query, replaced bool) ([]memory.Entry, error) {
	q.Kind = memory.KindNote
	var c conditions
	c.entries(q)
	if !replaced {
		c.add(notReplaced)
	}
	var out []memory.Entry
	err := db.read(ctx, func(scan func(...any) error) error {
		var e memory.Entry
		err := scanEntry(scan, &e)
		out = append(out, e)
		return err
	}, "SELECT "+entryColumns+" FROM entries e"+c.where()+" ORDER BY e.time DESC, e.seq DESC LIMIT ?", append(c.args, q.Limit)...)
	return out, err
}
