package index

import (
	"cmp"
	"fmt"
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
	Group  uint8   // terms of one group are the same word of the question; 0 to 31
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
	index *Index
	terms []foundTerm
	table [256]float32
	parts []scored    // one a segment
	found []candidate // the best by their own words, and their neighbours
}

// foundTerm is a term with its places.
type foundTerm struct {
	Term
	lists    []listing // one a segment
	rarity   float32
	sessions int // that hold it
}

// scored is what the words gave in one segment.
type scored struct {
	within []span
	base   uint32 // document of the first cell
	cells  []cell
	counts [][]sessionCount // by term: sessions that hold it, in order
}

type cell struct {
	score  float32
	groups uint32
}

type sessionCount struct {
	session int // in the segment
	count   float32
}

type candidate struct {
	segment int
	doc     uint32
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
		return err
	}
	p := scored{within: within, counts: make([][]sessionCount, len(s.terms))}
	s.parts = append(s.parts, p)
	if len(within) == 0 {
		return nil
	}
	part := &s.parts[n]
	part.base = within[0].from
	part.cells = make([]cell, within[len(within)-1].to-part.base)
	for i, t := range s.terms {
		l := t.lists[n]
		if l.docs == 0 {
			continue
		}
		weight, group := t.Weight*t.rarity, uint32(1)<<(t.Group&31)
		var gain [256]float32
		for c, v := range s.table {
			gain[c] = v * weight
		}
		in := sessionWalk{segment: seg}
		err := seg.each(l, within, func(doc uint32, c byte) {
			x := &part.cells[doc-part.base]
			x.score += gain[c]
			x.groups |= group
			if s.Session > 0 {
				in.add(doc, counts[c>>4])
			}
		})
		if err != nil {
			return fmt.Errorf("segment %d: %w", n, err)
		}
		if in.err != nil {
			return fmt.Errorf("segment %d: %w", n, in.err)
		}
		part.counts[i] = in.counts
		s.terms[i].sessions += len(in.counts)
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

// sessionWalk counts a word by session, for documents in order.
type sessionWalk struct {
	segment *segment
	end     uint32 // first document after the session
	counts  []sessionCount
	err     error
}

func (w *sessionWalk) add(doc uint32, count float32) {
	if doc >= w.end && w.err == nil {
		one, n, err := w.segment.sessionOf(doc)
		if err != nil {
			w.err = err
			return
		}
		w.end = one.doc + one.docs
		w.counts = append(w.counts, sessionCount{session: n})
	}
	if n := len(w.counts); n > 0 {
		w.counts[n-1].count += count
	}
}

// choose takes the best documents by their own words that pass the filters, and then their neighbours.
func (s *search) choose() error {
	var top []candidate
	less := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(s.own(b), s.own(a)), cmp.Compare(b.segment, a.segment), cmp.Compare(b.doc, a.doc))
	}
	floor := float32(0)
	for n, part := range s.parts {
		gone := s.index.deleted[n]
		for i := range part.cells {
			score := part.cells[i].score
			if score == 0 || score < floor {
				continue
			}
			c := candidate{segment: n, doc: part.base + uint32(i)}
			if _, dead := slices.BinarySearch(gone, c.doc); dead {
				continue
			}
			ok, err := s.passes(c)
			if err != nil {
				return fmt.Errorf("segment %d: %w", n, err)
			}
			if !ok {
				continue
			}
			if top = append(top, c); len(top) >= 4*s.Depth {
				slices.SortFunc(top, less)
				top = top[:s.Depth]
				floor = s.own(top[len(top)-1])
			}
		}
	}
	slices.SortFunc(top, less)
	s.found = top[:min(len(top), s.Depth)]
	return nil
}

func (s *search) own(c candidate) float32 { return s.cell(c).score }

func (s *search) cell(c candidate) cell {
	p := s.parts[c.segment]
	if c.doc < p.base || int(c.doc-p.base) >= len(p.cells) {
		return cell{}
	}
	return p.cells[c.doc-p.base]
}

// passes looks at the filters by time and attribute.
func (s *search) passes(c candidate) (bool, error) {
	seg := s.index.segments[c.segment]
	if s.Since != 0 || s.Until != 0 {
		at, err := seg.value(PartTimes, c.doc)
		if err != nil || (s.Since != 0 && at < s.Since) || (s.Until != 0 && at >= s.Until) {
			return false, err
		}
	}
	for i, allowed := range s.Attrs {
		if len(allowed) == 0 {
			continue
		}
		v, err := seg.value(PartAttr0+Part(i), c.doc)
		if err != nil || !slices.Contains(allowed, uint16(v)) {
			return false, err
		}
	}
	return true, nil
}

