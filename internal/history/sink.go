package history

import (
	"context"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// The size of one transaction: entries, and bytes of their texts.
const (
	batchEntries = 500
	batchBytes   = 2 << 20
)

// sink collects entries into batches and hands them on, so that a file of any size takes the same memory.
type sink struct {
	ctx      context.Context //nolint:containedctx // lives as long as one file is read
	w        Writer
	o        *Options
	sessions map[string]*memory.Session
	order    []string
	entries  []memory.Entry
	bytes    int
	seen     map[string]map[string]bool // session → ids of all that its file tells
	marks    map[string]bool            // entries that the file itself tells to be taken back
	change   memory.Change
	existed  map[string]bool // sessions that were known before
	some     map[string]bool // sessions of which something may be kept
}

func newSink(ctx context.Context, w Writer, o *Options) *sink {
	return &sink{ctx: ctx, w: w, o: o, sessions: map[string]*memory.Session{}, seen: map[string]map[string]bool{}, existed: map[string]bool{}, marks: map[string]bool{}, some: map[string]bool{}}
}

// session gives the session with this id to be filled.
func (s *sink) session(id, client string) (*memory.Session, error) {
	if m, ok := s.sessions[id]; ok {
		return m, nil
	}
	known, err := s.w.HasSession(s.ctx, id)
	if err != nil {
		return nil, err
	}
	m := &memory.Session{ID: id, Client: client}
	s.sessions[id], s.existed[id] = m, known
	s.order = append(s.order, id)
	return m, nil
}

// saw remembers that the file tells of an entry, whether it is kept or not.
func (s *sink) saw(session, id string) {
	if s.seen[session] == nil {
		s.seen[session] = map[string]bool{}
	}
	s.seen[session][id] = true
}

func (s *sink) add(e memory.Entry) error {
	s.saw(e.SessionID, e.ID)
	if !s.kept(e) {
		return nil
	}
	s.some[e.SessionID] = true
	if m := s.sessions[e.SessionID]; m != nil {
		if m.StartedAt.IsZero() || !e.Time.IsZero() && e.Time.Before(m.StartedAt) {
			m.StartedAt = e.Time
		}
		if e.Model != "" && e.AgentID == "" {
			m.Model = e.Model
		}
	}
	s.entries = append(s.entries, e)
	s.bytes += len(e.Text) + len(e.ToolInput)
	if len(s.entries) >= batchEntries || s.bytes >= batchBytes {
		return s.flush()
	}
	return nil
}

// kept says whether an entry may be kept.
func (s *sink) kept(e memory.Entry) bool {
	dir := e.Cwd
	if m := s.sessions[e.SessionID]; dir == "" && m != nil {
		dir = m.Cwd
	}
	return s.o.World.Keep == nil || s.o.World.Keep(dir, e.Kind)
}

// flush writes what was collected, with the sessions as they are known by now.
func (s *sink) flush() error { return s.flushWith(nil) }

// flushWith also notes that a file was read to its end.
func (s *sink) flushWith(read *memory.Transcript) error {
	var sessions []memory.Session
	for _, id := range s.order {
		if !s.some[id] && !s.existed[id] {
			continue
		}
		sessions = append(sessions, *s.sessions[id])
	}
	c, err := s.w.Import(s.ctx, sessions, s.entries, read, s.o.DryRun)
	if err != nil {
		return err
	}
	s.change.Added += c.Added
	s.change.Duplicates += c.Duplicates
	s.change.Merged += c.Merged
	s.entries, s.bytes = s.entries[:0], 0
	return nil
}

// stamp reads a time of a transcript; the zero time is not known.
func stamp(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Year() < 1990 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}
