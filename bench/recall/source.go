package main

import (
	"context"
	"slices"

	"github.com/copilot-mem/copilot-mem/internal/index"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
)

// source is a store's entries behind an index in memory.
type source struct {
	entries  []memory.Entry
	index    *index.Index
	projects map[string]uint32
}

func newSource(entries []memory.Entry) (*source, error) {
	b := index.NewBuilder(search.Stem)
	sessions, projects := map[string]uint32{}, map[string]uint32{}
	number := func(m map[string]uint32, name string) uint32 {
		if _, ok := m[name]; !ok {
			m[name] = uint32(len(m))
		}
		return m[name]
	}
	for i, e := range entries {
		b.Add(index.Doc{Seq: int64(i), Project: number(projects, e.Project), Session: number(sessions, e.SessionID), Time: e.Time.UnixMilli()})
		search.Document(e, b.Word)
	}
	x, err := index.Open([]index.Input{{Source: b.Segment()}})
	return &source{entries, x, projects}, err
}

func (s *source) Find(_ context.Context, a memory.Query, q index.Query) ([]memory.Entry, []index.Hit, error) {
	if a.Project != "" {
		q.Projects = []uint32{s.projects[a.Project]}
	}
	if !a.Since.IsZero() {
		q.Since = a.Since.UnixMilli()
	}
	if !a.Until.IsZero() {
		q.Until = a.Until.UnixMilli()
	}
	hits, err := s.index.Search(q)
	var out []memory.Entry
	for _, h := range hits {
		out = append(out, s.entries[h.Seq])
	}
	return out, hits, err
}

func (s *source) Words(_ context.Context, word string, near bool, limit int) ([]index.WordCount, error) {
	if near {
		return s.index.Close(word, limit)
	}
	return s.index.Starting(word, limit)
}

func (s *source) Newest(_ context.Context, q memory.Query) ([]memory.Hit, error) {
	var out []memory.Hit
	for _, e := range s.entries {
		if (q.Project == "" || q.Project == e.Project) && (q.Since.IsZero() || !e.Time.Before(q.Since)) && (q.Until.IsZero() || e.Time.Before(q.Until)) {
			out = append(out, memory.Hit{Entry: e})
		}
	}
	slices.SortStableFunc(out, func(a, b memory.Hit) int { return b.Time.Compare(a.Time) })
	return out[:min(len(out), q.Limit)], nil
}
