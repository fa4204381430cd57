package index

import (
	"cmp"
	"fmt"
	"math"
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

// whole is a session in all segments, and what it is worth.
type whole struct {
	runs   []run
	length int64
	counts []float32 // of each term
	score  float32
}

// spread gives each document what its neighbours and its session are worth, and takes in neighbours that hold no word.
func (s *search) spread() error {
	if len(s.Near) == 0 && len(s.After) == 0 && s.Session == 0 {
		return nil
	}
	sessions, of, err := s.sessionsFound()
	if err != nil {
		return err
	}
	if s.Session > 0 {
		if err := s.scoreSessions(sessions); err != nil {
			return err
		}
	}
	known := map[uint64]bool{}
	// Not the neighbours' neighbours, and only around the first quarter of the depth: the others' are worth little.
	for i := range min(len(of), (s.Depth+3)/4) {
		if err := s.takeAround(of[i], s.found[i], known); err != nil {
			return err
		}
		for len(of) < len(s.found) {
			of = append(of, of[i])
		}
	}
	for i, in := range of {
		s.found[i].near = s.neighbours(in.runs, s.found[i])
		s.found[i].session = s.Session * in.score
	}
	return nil
}

// sessionsFound are the sessions of what was found, each once, and that of each document.
func (s *search) sessionsFound() (all, of []*whole, err error) {
	known := map[sessionKey]*whole{}
	for _, c := range s.found {
		owner, _, err := s.index.segments[c.segment].sessionOf(c.doc)
		if err != nil {
			return nil, nil, fmt.Errorf("segment %d: %w", c.segment, err)
		}
		key := sessionKey{owner.project, owner.id}
		in, ok := known[key]
		if !ok {
			in = &whole{counts: make([]float32, len(s.terms))}
			if in.runs, err = s.index.runs(key); err != nil {
				return nil, nil, err
			}
			for _, r := range in.runs {
				in.length += r.length
			}
			known[key] = in
			all = append(all, in)
		}
		of = append(of, in)
	}
	return all, of, nil
}

// scoreSessions gives each session BM25 as if it were one document.
func (s *search) scoreSessions(all []*whole) error {
	for n := range s.index.segments {
		if err := s.countWords(n, all); err != nil {
			return fmt.Errorf("segment %d: %w", n, err)
		}
	}
	sessions := 0
	for _, seg := range s.index.segments {
		for _, p := range seg.projects {
			sessions += int(p.sessions)
		}
	}
	for _, in := range all {
		norm := 1 - b + b*float32(in.length)*float32(sessions)/max(float32(s.index.length), 1)
		for i, t := range s.terms {
			in.score += t.Weight * rarity(t.sessions, sessions) * in.counts[i] * (k1 + 1) / (in.counts[i] + k1*norm)
		}
	}
	return nil
}

// countWords counts the terms of each session in one segment.
func (s *search) countWords(n int, all []*whole) error {
	type place struct {
		span
		in *whole
	}
	var places []place
	for _, in := range all {
		for _, r := range in.runs {
			if r.segment == n {
				places = append(places, place{span{r.doc, r.doc + r.docs}, in})
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	spans := make([]span, len(places))
	for i, p := range places {
		spans[i] = p.span
	}
	for i, t := range s.terms {
		at := 0
		err := s.index.segments[n].each(t.lists[n], spans, func(docs []uint32, codes []byte) {
			for docs[0] >= spans[at].to {
				at++
			}
			for _, c := range codes {
				places[at].in.counts[i] += counts[c>>4]
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// takeAround adds the documents that gain of c and hold no word themselves.
func (s *search) takeAround(in *whole, c candidate, known map[uint64]bool) error {
	for d := -len(s.After); d <= len(s.Near); d++ {
		at, ok := shift(in.runs, c, d)
		if !ok || s.own(at) > 0 || known[uint64(at.segment)<<32|uint64(at.doc)] {
			continue
		}
		known[uint64(at.segment)<<32|uint64(at.doc)] = true
		if _, dead := slices.BinarySearch(s.index.deleted[at.segment], at.doc); dead {
			continue
		}
		if ok, err := s.passes(at.segment, at.doc); err != nil {
			return fmt.Errorf("segment %d: %w", at.segment, err)
		} else if ok {
			s.found = append(s.found, at)
		}
	}
	return nil
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

// best orders what was found and asks the caller of each.
func (s *search) best() ([]Hit, error) {
	total := func(c candidate) float32 { return c.own + c.near + c.session }
	slices.SortFunc(s.found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.segment, a.segment), cmp.Compare(b.doc, a.doc))
	})
	keys := make([]uint64, len(s.found)) // the place stands for the order of equal scores
	for i, c := range s.found {
		keys[i] = uint64(math.Float32bits(max(total(c), 0)))<<32 | uint64(len(s.found)-1-i)
	}
	slices.Sort(keys)
	var hits []Hit
	for _, k := range slices.Backward(keys) {
		if len(hits) == s.Limit {
			break
		}
		c := s.found[len(s.found)-1-int(uint32(k))]
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
		hits = append(hits, Hit{Seq: seq, Doc: c.doc, Segment: c.segment, Score: total(c), Own: c.own, Near: c.near, Session: c.session})
	}
	return hits, s.groups(hits)
}

// groups fills in which groups of terms each hit holds.
func (s *search) groups(hits []Hit) error {
	for n, seg := range s.index.segments {
		at := map[uint32]*Hit{}
		var spans []span
		for i := range hits {
			if h := &hits[i]; h.Segment == n {
				at[h.Doc] = h
				spans = append(spans, span{h.Doc, h.Doc + 1})
			}
		}
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		for _, t := range s.terms {
			err := seg.each(t.lists[n], spans, func(docs []uint32, _ []byte) {
				for _, doc := range docs {
					at[doc].Groups |= 1 << (t.Group & 31)
				}
			})
			if err != nil {
				return fmt.Errorf("segment %d: %w", n, err)
			}
		}
	}
	return nil
}
