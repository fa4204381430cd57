package index

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// sessionKey names a session in all segments.
type sessionKey struct{ project, session uint32 }

// run is what one segment holds of a session.
type run struct {
	segment int
	number  int // of the session in the segment
	session
}

// spread gives each document what its neighbours and its session are worth, and takes in neighbours that hold no word.
func (s *search) spread() error {
	if len(s.Near) == 0 && len(s.After) == 0 && s.Session == 0 {
		return nil
	}
	runs := map[sessionKey][]run{}
	scores := map[sessionKey]float32{}
	known := map[candidate]bool{}
	for _, c := range s.found {
		known[candidate{segment: c.segment, doc: c.doc}] = true
	}
	for i := 0; i < len(s.found); i++ {
		c := s.found[i]
		owner, _, err := s.index.segments[c.segment].sessionOf(c.doc)
		if err != nil {
			return err
		}
		key := sessionKey{owner.project, owner.id}
		if _, ok := runs[key]; !ok {
			if runs[key], err = s.index.runs(key); err != nil {
				return err
			}
			if s.Session > 0 {
				scores[key] = s.sessionScore(runs[key])
			}
		}
		s.found[i].near = s.neighbours(runs[key], c)
		s.found[i].session = s.Session * scores[key]
		if s.own(c) == 0 {
			continue // a neighbour's neighbours stay out
		}
		for d := -len(s.After); d <= len(s.Near); d++ {
			at, ok := shift(runs[key], c, d)
			if !ok || known[at] {
				continue
			}
			known[at] = true
			if ok, err := s.takes(at); err != nil {
				return fmt.Errorf("segment %d: %w", at.segment, err)
			} else if ok && s.own(at) == 0 {
				s.found = append(s.found, at)
			}
		}
	}
	return nil
}

// takes reports whether a document is alive and passes the filters.
func (s *search) takes(c candidate) (bool, error) {
	if _, dead := slices.BinarySearch(s.index.deleted[c.segment], c.doc); dead {
		return false, nil
	}
	return s.passes(c)
}

func (s *search) neighbours(own []run, c candidate) (gain float32) {
	for d, weight := range s.Near {
		if at, ok := shift(own, c, -1-d); ok {
			gain += weight * s.own(at)
		}
	}
	for d, weight := range s.After {
		if at, ok := shift(own, c, 1+d); ok {
			gain += weight * s.own(at)
		}
	}
	return gain
}

// shift is the document some places further in the session, over the ends of its runs.
func shift(own []run, c candidate, by int) (candidate, bool) {
	at := slices.IndexFunc(own, func(r run) bool { return r.segment == c.segment })
	if at < 0 {
		return candidate{}, false
	}
	i := int(c.doc-own[at].doc) + by
	for i < 0 {
		if at--; at < 0 {
			return candidate{}, false
		}
		i += int(own[at].docs)
	}
	for i >= int(own[at].docs) {
		i -= int(own[at].docs)
		if at++; at == len(own) {
			return candidate{}, false
		}
	}
	return candidate{segment: own[at].segment, doc: own[at].doc + uint32(i)}, true
}

// runs are the runs of a session in all segments, the earliest first.
func (x *Index) runs(key sessionKey) ([]run, error) {
	var out []run
	for i, seg := range x.segments {
		r, ok, err := seg.runOf(key)
		if err != nil {
			return nil, fmt.Errorf("segment %d: %w", i, err)
		}
		if ok {
			r.segment = i
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.segment, b.segment))
	})
	return out, nil
}

func (s *segment) runOf(key sessionKey) (run, bool, error) {
	i, ok := slices.BinarySearchFunc(s.projects, key.project, func(p project, id uint32) int { return cmp.Compare(p.id, id) })
	if !ok {
		return run{}, false, nil
	}
	p := s.projects[i]
	var failed error
	at := func(n int) session {
		chunk, err := s.sessionChunk(n / sessionsChunk)
		if err != nil {
			failed = err
			return session{}
		}
		return chunk[n%sessionsChunk]
	}
	n := int(p.session) + sort.Search(int(p.sessions), func(i int) bool { return failed != nil || at(int(p.session)+i).id >= key.session })
	if failed != nil || n >= int(p.session+p.sessions) {
		return run{}, false, failed
	}
	one := at(n)
	return run{number: n, session: one}, one.id == key.session, failed
}

// sessionScore is BM25 of the session as one document. A session that lies in several segments counts in each for the
// number of sessions that hold a word.
func (s *search) sessionScore(own []run) float32 {
	sessions, length := 0, float32(0)
	for _, seg := range s.index.segments {
		for _, p := range seg.projects {
			sessions += int(p.sessions)
		}
	}
	for _, r := range own {
		length += float32(r.length)
	}
	norm := 1 - b + b*length*float32(sessions)/max(float32(s.index.length), 1)
	score := float32(0)
	for i, t := range s.terms {
		count := float32(0)
		for _, r := range own {
			in := s.parts[r.segment].counts
			if len(in) == 0 {
				continue
			}
			if at, ok := slices.BinarySearchFunc(in[i], r.number, func(c sessionCount, n int) int { return cmp.Compare(c.session, n) }); ok {
				count += in[i][at].count
			}
		}
		score += t.Weight * rarity(t.sessions, sessions) * count * (k1 + 1) / (count + k1*norm)
	}
	return score
}

// best orders what was found and asks the caller of each.
func (s *search) best() ([]Hit, error) {
	total := func(c candidate) float32 { return s.own(c) + c.near + c.session }
	slices.SortFunc(s.found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(total(b), total(a)), cmp.Compare(b.segment, a.segment), cmp.Compare(b.doc, a.doc))
	})
	var hits []Hit
	for _, c := range s.found {
		if len(hits) == s.Limit {
			break
		}
		seq, err := s.index.segments[c.segment].value(PartSeqs, c.doc)
		if err != nil {
			return nil, fmt.Errorf("segment %d: %w", c.segment, err)
		}
		if s.Accept != nil {
			if ok, err := s.Accept(seq); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
		}
		x := s.cell(c)
		hits = append(hits, Hit{
			Seq: seq, Doc: c.doc, Segment: c.segment, Score: total(c), Own: x.score, Near: c.near, Session: c.session, Groups: x.groups,
		})
	}
	return hits, nil
}
