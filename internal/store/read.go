package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

const entryColumns = `e.id, e.session_id, e.kind, e.turn, e.time, e.tool, e.tool_input, e.result_type, e.text, e.agent_id, e.cwd, e.branch, e.project, e.truncated, e.redacted, e.call_id, e.exit_code, e.files, e.model, e.withdrawn, e.sources, e.match`

func scanEntry(scan func(...any) error, e *memory.Entry, more ...any) error {
	var kind, input, files string
	var at int64
	var exit sql.NullInt64
	err := scan(append([]any{
		&e.ID, &e.SessionID, &kind, &e.Turn, &at, &e.Tool, &input, &e.ResultType, &e.Text, &e.AgentID,
		&e.Cwd, &e.Branch, &e.Project, &e.Truncated, &e.Redacted,
		&e.CallID, &exit, &files, &e.Model, &e.Withdrawn, &e.Sources, &e.Match,
	}, more...)...)
	if err != nil {
		return err
	}
	e.Kind, e.Time = memory.Kind(kind), time.UnixMilli(at).UTC()
	if input != "" {
		e.ToolInput = json.RawMessage(input)
	}
	if exit.Valid {
		code := int(exit.Int64)
		e.ExitCode = &code
	}
	if files != "" {
		return json.Unmarshal([]byte(files), &e.Files)
	}
	return nil
}

const sessionColumns = `s.id, s.project, s.cwd, s.branch, s.client, s.started_at, s.ended_at, s.end_reason, s.transcript_path, s.title, s.model, s.head_commit, s.turns, s.entries, s.first_prompt`

func scanSession(scan func(...any) error) (memory.Session, error) {
	var s memory.Session
	var started, ended int64
	err := scan(&s.ID, &s.Project, &s.Cwd, &s.Branch, &s.Client, &started, &ended, &s.EndReason, &s.TranscriptPath,
		&s.Title, &s.Model, &s.HeadCommit, &s.Turns, &s.Entries, &s.FirstPrompt)
	s.StartedAt, s.EndedAt = fromMillis(started), fromMillis(ended)
	return s, err
}

// Sessions returns the sessions that pass the filters of q, newest first. Those about time, kind, tool and file ask for
// a session with an entry that passes them together. A negative limit is none.
func (db *DB) Sessions(ctx context.Context, q memory.Query) ([]memory.Session, error) {
	limit := q.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	var c conditions
	if q.Project != "" {
		c.project("s.project", q.Project)
	}
	if q.Branch != "" {
		c.add("s.branch = ?", q.Branch)
	}
	if q.Session != "" {
		c.add("substr(s.id, 1, length(?)) = ?", q.Session, q.Session)
	}
	var inner conditions
	inner.entries(memory.Query{Kind: q.Kind, Tool: q.Tool, File: q.File, Since: q.Since, Until: q.Until})
	if len(inner.parts) > 0 {
		inner.add("e.session_id = s.id")
		c.add("EXISTS (SELECT 1 FROM entries e"+inner.where()+")", inner.args...)
	}
	var out []memory.Session
	err := db.read(ctx, func(scan func(...any) error) error {
		s, err := scanSession(scan)
		out = append(out, s)
		return err
	}, "SELECT "+sessionColumns+" FROM sessions s"+c.where()+" ORDER BY s.started_at DESC, s.id LIMIT ?", append(c.args, limit)...)
	return out, err
}

// candidates is how many ids an [AmbiguousError] names.
const candidates = 8

// resolve finds the one id that is prefix or starts with it. query asks for ids that start with ?1, at most ?2 of them.
func (db *DB) resolve(ctx context.Context, query, what, prefix string) (string, error) {
	var ids []string
	err := db.read(ctx, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		ids = append(ids, id)
		return err
	}, query, prefix, candidates+1)
	switch {
	case err != nil:
		return "", err
	case prefix == "" || len(ids) == 0:
		return "", &NotFoundError{what, prefix}
	case len(ids) == 1 || ids[0] == prefix: // an exact id sorts first
		return ids[0], nil
	}
	return "", &AmbiguousError{prefix, ids[:min(len(ids), candidates)], len(ids) > candidates}
}

// Session returns the session whose id is or starts with prefix; a [NotFoundError] or [AmbiguousError] otherwise.
func (db *DB) Session(ctx context.Context, prefix string) (memory.Session, error) {
	id, err := db.resolve(ctx, "SELECT id FROM sessions"+startsWith, "session", prefix)
	if err != nil {
		return memory.Session{}, err
	}
	s := memory.Session{}
	err = db.read(ctx, func(scan func(...any) error) (err error) {
		s, err = scanSession(scan)
		return err
	}, "SELECT "+sessionColumns+" FROM sessions s WHERE s.id = ?", id)
	return s, err
}

// startsWith gives the rows whose id starts with ?1, without looking at those behind them.
const startsWith = " WHERE id >= ?1 AND id < ?1 || char(1114111) AND substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT ?2"

// startOfEntry also knows the ids that other sources gave to entries; an id that is whole decides.
const startOfEntry = `WITH f AS (SELECT id, id AS own FROM (SELECT id FROM entries` + startsWith + `)
  UNION ALL SELECT a.id, e.id FROM (SELECT id, seq FROM aliases` + startsWith + `) a JOIN entries e ON e.seq = a.seq)
SELECT DISTINCT own FROM f WHERE id = ?1 OR NOT EXISTS (SELECT 1 FROM f WHERE id = ?1) ORDER BY own LIMIT ?2`

// Entry returns the entry whose id, or an alias of it, is or starts with prefix; a [NotFoundError] or [AmbiguousError] otherwise.
func (db *DB) Entry(ctx context.Context, prefix string) (memory.Entry, error) {
	id, err := db.resolve(ctx, startOfEntry, "entry", prefix)
	if err != nil {
		return memory.Entry{}, err
	}
	var e memory.Entry
	err = db.read(ctx, func(scan func(...any) error) error { return scanEntry(scan, &e) },
		"SELECT "+entryColumns+" FROM entries e WHERE e.id = ?", id)
	return e, err
}

// Entries returns all entries of a session in the order of time.
func (db *DB) Entries(ctx context.Context, session string) ([]memory.Entry, error) {
	var out []memory.Entry
	err := db.read(ctx, func(scan func(...any) error) error {
		var e memory.Entry
		err := scanEntry(scan, &e)
		out = append(out, e)
		return err
	}, "SELECT "+entryColumns+" FROM entries e WHERE e.session_id = ? ORDER BY e.time, e.seq", session)
	return out, err
}

// AgentSession returns the session in which a sub-agent ran, empty when no entry of it is known.
func (db *DB) AgentSession(ctx context.Context, agent string) (string, error) {
	id := ""
	if agent == "" {
		return id, nil
	}
	err := db.read(ctx, func(scan func(...any) error) error { return scan(&id) },
		"SELECT session_id FROM entries WHERE agent_id = ? AND agent_id <> '' ORDER BY seq LIMIT 1", agent)
	return id, err
}

// Counts is what the store holds.
type Counts struct {
	Sessions, Entries, Turns, Projects int
	Kinds                              map[memory.Kind]int
	Redacted, Truncated                int // secrets taken out; entries cut
	First, Last                        time.Time
	Bytes                              int64 // the store's files on disk
}

// Counts counts everything.
func (db *DB) Counts(ctx context.Context) (Counts, error) {
	c := Counts{Kinds: map[memory.Kind]int{}}
	err := db.read(ctx, func(scan func(...any) error) error {
		return scan(&c.Sessions, &c.Turns, &c.Projects)
	}, "SELECT count(*), coalesce(sum(turns), 0), count(DISTINCT nullif(project, '')) FROM sessions")
	if err != nil {
		return c, err
	}
	err = db.read(ctx, func(scan func(...any) error) error {
		var kind string
		var n, redacted, truncated int
		var first, last int64
		if err := scan(&kind, &n, &redacted, &truncated, &first, &last); err != nil {
			return err
		}
		c.Kinds[memory.Kind(kind)] = n
		c.Entries += n
		c.Redacted += redacted
		c.Truncated += truncated
		if t := fromMillis(first); c.First.IsZero() || t.Before(c.First) {
			c.First = t
		}
		if t := fromMillis(last); t.After(c.Last) {
			c.Last = t
		}
		return nil
	}, "SELECT kind, count(*), sum(redacted), sum(truncated), min(time), max(time) FROM entries GROUP BY kind")
	if err != nil {
		return c, err
	}
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(db.path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return c, err
		}
		c.Bytes += info.Size()
	}
	return c, nil
}
