package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Query asks for documents by words. Zero fields do not filter.
type Query struct {
	Terms    []Term
	Projects []uint32
	Sessions []uint32
	Since    int64 // unix milliseconds
	Until    int64 // excluded
	Attrs    [3][]uint16
	Accept   func(seq int64) (bool, error) // asked of the best documents, best first; a refused one takes no place
	Limit    int                           // documents wanted; 0: 100
	Near     []float32                     // what a document gains of the scores of those 1, 2, … places before it in its session
	After    []float32                     // the same for those after it
	Session  float32                       // what it gains of its session's score
	Depth    int                           // documents that are looked at with their neighbours; 0: 1000
}

// Term is a word that is looked for.
type Term struct {
	Word   string
	Weight float32 // of its score; 1 is plain
	Group  uint8   // terms of one group are the same word of the question; 0 to 31, more begin again at 0
}

// Hit is a document found.
type Hit struct {
	Seq     int64
	Doc     uint32  // its number in its segment
	Segment int     // place in the index
	Score   float32 // everything together
	Own     float32 // BM25 of its words
	Near    float32 // what its neighbours gave
	Session float32 // what its session gave
	Groups  uint32  // a bit for each group that it holds a term of
}

// Index is the segments of a store.
type Index struct {
	segments []*segment
	deleted  [][]uint32
	docs     int
	length   int64
}

// Open opens segments, without their deleted documents (by number, in order). An error is [ErrDamaged] or the source's.
func Open(inputs []Input) (*Index, error) {
	x := &Index{}
	for i, in := range inputs {
		s, err := openSegment(in.Source)
		if err != nil {
			return nil, fmt.Errorf("segment %d: %w", i, err)
		}
		x.segments, x.deleted = append(x.segments, s), append(x.deleted, in.Deleted)
		x.docs += s.docs
		x.length += s.length
	}
	return x, nil
}

// Docs is the number of documents, with those that were deleted and still stand in their segment.
func (x *Index) Docs() int { return x.docs }

// Search returns the best documents for the query, best first, equal ones in order of their number, the newer first.
func (x *Index) Search(q Query) ([]Hit, error) {
	if q.Limit <= 0 {
		q.Limit = 100
	}
	if q.Depth <= 0 {
		q.Depth = 1000
	}
	s := search{Query: q, index: x}
	for _, allowed := range q.Attrs {
		s.byAttr = s.byAttr || len(allowed) > 0
	}
	if err := s.look(); err != nil {
		return nil, err
	}
	for i := range x.segments {
		if err := s.score(i); err != nil {
			return nil, err
		}
	}
	if err := s.choose(); err != nil {
		return nil, err
	}
	if err := s.spread(); err != nil {
		return nil, err
	}
	return s.best()
}

// search is one run of a query.
type search struct {
	Query
	index  *Index
	terms  []foundTerm
	table  [256]float32
	byAttr bool
	parts  []scored    // one a segment
	found  []candidate // the best by their own words, and their neighbours
}

// foundTerm is a term with its places.
type foundTerm struct {
	Term
	lists    []listing // one a segment
	rarity   float32
	sessions int // that hold it, a session counted in each segment
}

// scored is what the words gave in one segment.
type scored struct {
	within []span
	base   uint32 // document of the first score
	scores []float32
}

type candidate struct {
	segment int
	doc     uint32
	own     float32
	near    float32
	session float32
}

// look finds the terms in the dictionaries.
func (s *search) look() error {
	average := float32(1)
	if s.index.docs > 0 {
		average = float32(s.index.length) / float32(s.index.docs)
	}
	s.table = saturation(average)
	for _, t := range s.Terms {
		f := foundTerm{Term: t, lists: make([]listing, len(s.index.segments))}
		df := 0
		for i, seg := range s.index.segments {
			l, ok, err := seg.find(t.Word)
			if err != nil {
				return fmt.Errorf("segment %d: %w", i, err)
			}
			if ok {
				f.lists[i] = l
				df += l.docs
				f.sessions += l.sessions
			}
		}
		if df > 0 {
			f.rarity = rarity(df, s.index.docs)
			s.terms = append(s.terms, f)
		}
	}
	return nil
}

// score sums the words' scores of each document of a segment that the projects and sessions allow.
func (s *search) score(n int) error {
	seg := s.index.segments[n]
	within, err := s.within(seg)
	if err != nil {
		return fmt.Errorf("segment %d: %w", n, err)
	}
	part := scored{within: within}
	if len(within) > 0 {
		part.base = within[0].from
		part.scores = make([]float32, within[len(within)-1].to-part.base)
	}
	s.parts = append(s.parts, part)
	for _, t := range s.terms {
		var gain [256]float32
		for c, v := range s.table {
			gain[c] = v * t.Weight * t.rarity
		}
		err := seg.each(t.lists[n], within, func(docs []uint32, codes []byte) {
			for i, doc := range docs {
				part.scores[doc-part.base] += gain[codes[i]]
			}
		})
		if err != nil {
			return fmt.Errorf("segment %d: %w", n, err)
		}
	}
	return nil
}

// within is where the projects and sessions of the query lie in a segment.
func (s *search) within(seg *segment) ([]span, error) {
	var out []span
	add := func(from, docs uint32) {
		if n := len(out); n > 0 && out[n-1].to == from {
			out[n-1].to += docs
			return
		}
		out = append(out, span{from, from + docs})
	}
	for _, p := range seg.projects {
		switch {
		case len(s.Projects) > 0 && !slices.Contains(s.Projects, p.id):
		case len(s.Sessions) == 0:
			add(p.doc, p.docs)
		default:
			for n := int(p.session); n < int(p.session+p.sessions); n++ {
				chunk, err := seg.sessionChunk(n / sessionsChunk)
				if err != nil {
					return nil, err
				}
				if one := chunk[n%sessionsChunk]; slices.Contains(s.Sessions, one.id) {
					add(one.doc, one.docs)
				}
			}
		}
	}
	return out, nil
}

// choose takes the best documents by their own words that pass the filters.
func (s *search) choose() error {
	for n := range s.parts {
		if err := s.chooseIn(n); err != nil {
			return fmt.Errorf("segment %d: %w", n, err)
		}
	}
	slices.SortFunc(s.found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.own, a.own), cmp.Compare(b.segment, a.segment), cmp.Compare(b.doc, a.doc))
	})
	s.found = s.found[:min(len(s.found), s.Depth)]
	return nil
}

// chooseIn takes the best of one segment. A key is a score above a document: scores are not negative, so that their
// bits are ordered as they are.
func (s *search) chooseIn(n int) error {
	part, gone := &s.parts[n], s.index.deleted[n]
	var keys []uint64
	cut := func() {
		slices.Sort(keys)
		keys = keys[max(0, len(keys)-s.Depth):]
	}
	floor := float32(0)
	for i, score := range part.scores {
		if score <= 0 || score < floor {
			continue
		}
		doc := part.base + uint32(i)
		if len(gone) > 0 {
			if _, dead := slices.BinarySearch(gone, doc); dead {
				continue
			}
		}
		ok, err := s.passes(n, doc)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		keys = append(keys, uint64(math.Float32bits(score))<<32|uint64(doc))
		if len(keys) >= 8*s.Depth {
			cut()
			floor = math.Float32frombits(uint32(keys[0] >> 32))
		}
	}
	cut()
	for _, k := range keys {
		s.found = append(s.found, candidate{segment: n, doc: uint32(k), own: math.Float32frombits(uint32(k >> 32))})
	}
	return nil
}

// own is what the words gave a document; outside of what the query looks at, that is nothing.
func (s *search) own(c candidate) float32 {
	p := &s.parts[c.segment]
	if c.doc < p.base || int(c.doc-p.base) >= len(p.scores) {
		return 0
	}
	return p.scores[c.doc-p.base]
}

// passes looks at the filters by time and attribute.
func (s *search) passes(segment int, doc uint32) (bool, error) {
	if s.Since == 0 && s.Until == 0 && !s.byAttr {
		return true, nil
	}
	seg := s.index.segments[segment]
	if s.Since != 0 || s.Until != 0 {
		at, err := seg.value(PartTimes, doc)
		if err != nil || (s.Since != 0 && at < s.Since) || (s.Until != 0 && at >= s.Until) {
			return false, err
		}
	}
	for i, allowed := range s.Attrs {
		if len(allowed) == 0 {
			continue
		}
		v, err := seg.value(PartAttr0+Part(i), doc)
		if err != nil || !slices.Contains(allowed, uint16(v)) {
			return false, err
		}
	}
	return true, nil
}
