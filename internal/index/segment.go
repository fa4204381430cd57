package index

import (
	"sort"
)

// segment is an opened segment. Chunks are read when they are needed; what was read of sessions and columns is kept.
type segment struct {
	src        Source
	docs       int
	length     int64
	words      int
	wordChunks int
	postings   int // chunks
	projects   []project
	first      []uint32 // first document of each chunk of sessions
	guide      []string
	sessions   [][]session
	columns    [PartAttr2 + 1]map[int]column
	reader     *postings
}

func openSegment(src Source) (*segment, error) {
	h, err := src.Chunk(PartHeader, 0)
	if err != nil {
		return nil, err
	}
	if len(h) == 0 || h[0] != version {
		return nil, damaged("a header of an unknown version")
	}
	r := reader{data: h[1:]}
	s := &segment{src: src, docs: r.count(maxDocs), length: int64(r.count(1 << 60)), words: r.count(maxDocs)}
	projects := r.count(len(h))
	s.wordChunks, s.postings = r.count(maxDocs), r.count(maxDocs)
	chunks := r.count(len(h))
	if r.bad {
		return nil, damaged("a header that ends early")
	}
	var p project
	for range projects {
		p.id = uint32(r.count(1<<32 - 1))
		p.docs, p.sessions = uint32(r.count(s.docs)), uint32(r.count(s.docs))
		s.projects = append(s.projects, p)
		p.doc += p.docs
		p.session += p.sessions
	}
	doc := uint32(0)
	for range chunks {
		doc += uint32(r.count(s.docs))
		s.first = append(s.first, doc)
	}
	if r.bad || int(p.doc) != s.docs || chunks != (int(p.session)+sessionsChunk-1)/sessionsChunk {
		return nil, damaged("a header whose counts differ")
	}
	s.sessions = make([][]session, chunks)
	return s, nil
}

// readGuide reads the first words of the dictionary's chunks.
func (s *segment) readGuide() error {
	if s.guide != nil || s.wordChunks == 0 {
		return nil
	}
	data, err := s.src.Chunk(PartGuide, 0)
	if err != nil {
		return err
	}
	text := string(data)
	r := reader{data: data}
	guide := make([]string, 0, min(s.wordChunks, len(data)))
	for range s.wordChunks {
		n := r.count(maxWord)
		at := len(text) - len(r.data)
		r.bytes(n)
		if r.bad {
			return damaged("a guide that ends early")
		}
		guide = append(guide, text[at:at+n])
	}
	s.guide = guide
	return nil
}

// listing is where the documents of a word are.
type listing struct {
	docs     int
	sessions int // that hold the word
	kind     uint64
	inline   []byte
	chunk    int
	offset   int
	size     int
	firsts   []uint32 // of each own chunk
}

// eachWord calls fn for the words from the first one that is not below from, in order, until it returns false.
// The word's bytes are valid during the call.
func (s *segment) eachWord(from string, fn func(word []byte, l listing) bool) error {
	if err := s.readGuide(); err != nil {
		return err
	}
	at := max(0, sort.Search(len(s.guide), func(i int) bool { return s.guide[i] > from })-1)
	for n := at; n < s.wordChunks; n++ {
		chunk, err := s.src.Chunk(PartWords, n)
		if err != nil {
			return err
		}
		r := reader{data: chunk}
		var word []byte
		for len(r.data) > 0 {
			shared := r.count(len(word))
			suffix := r.bytes(r.count(maxWord))
			word = append(word[:shared], suffix...)
			l := s.listing(&r)
			if r.bad {
				return damaged("a dictionary that ends early")
			}
			if string(word) >= from && !fn(word, l) {
				return nil
			}
		}
	}
	return nil
}

func (s *segment) listing(r *reader) listing {
	head := r.uint()
	l := listing{docs: int(min(head>>2, uint64(s.docs))), sessions: 1, kind: head & 3}
	if l.docs > 1 {
		l.sessions = r.count(l.docs)
	}
	switch l.kind {
	case listInline:
		l.inline = r.bytes(r.count(inlineList))
	case listShared:
		l.chunk, l.offset, l.size = r.count(s.postings), r.count(2*postingsChunk), r.count(2*postingsChunk)
	case listOwn:
		l.chunk = r.count(s.postings)
		doc := uint32(0)
		for range r.count(s.postings - l.chunk) {
			doc += uint32(r.count(s.docs))
			l.firsts = append(l.firsts, doc)
		}
	default:
		r.bad = true
	}
	return l
}

// find looks a word up; ok is false when no document holds it.
func (s *segment) find(word string) (l listing, ok bool, err error) {
	err = s.eachWord(word, func(w []byte, found listing) bool {
		if string(w) == word {
			l, ok = found, true
		}
		return false
	})
	return l, ok, err
}

// sessionChunk reads a chunk of sessions.
func (s *segment) sessionChunk(n int) ([]session, error) {
	if n < 0 || n >= len(s.sessions) {
		return nil, damaged("a session outside the segment")
	}
	if s.sessions[n] != nil {
		return s.sessions[n], nil
	}
	data, err := s.src.Chunk(PartSessions, n)
	if err != nil {
		return nil, err
	}
	r := reader{data: data}
	last := s.projects[len(s.projects)-1]
	want := min(sessionsChunk, int(last.session+last.sessions)-n*sessionsChunk)
	out := make([]session, 0, want)
	p := session{doc: s.first[n]}
	for range want {
		p.id = uint32(int64(p.id) + r.int())
		p.project = uint32(int64(p.project) + r.int())
		p.docs = uint32(r.count(s.docs))
		p.length = int64(r.count(1 << 60))
		p.from += r.int()
		p.to = p.from + int64(r.count(1<<60))
		out = append(out, p)
		p.doc += p.docs
	}
	end := uint32(s.docs)
	if n+1 < len(s.first) {
		end = s.first[n+1]
	}
	if r.bad || p.doc != end {
		return nil, damaged("sessions that do not add up")
	}
	s.sessions[n] = out
	return out, nil
}

// sessionOf returns the session that a document is of, and its number in the segment.
func (s *segment) sessionOf(doc uint32) (session, int, error) {
	n := sort.Search(len(s.first), func(i int) bool { return s.first[i] > doc }) - 1
	chunk, err := s.sessionChunk(n)
	if err != nil {
		return session{}, 0, err
	}
	i := sort.Search(len(chunk), func(i int) bool { return chunk[i].doc > doc }) - 1
	if i < 0 {
		return session{}, 0, damaged("a document without a session")
	}
	return chunk[i], n*sessionsChunk + i, nil
}

// value reads a document's value of a column.
func (s *segment) value(part Part, doc uint32) (int64, error) {
	n := int(doc) / columnChunk
	c, ok := s.columns[part][n]
	if !ok {
		data, err := s.src.Chunk(part, n)
		if err != nil {
			return 0, err
		}
		if c, err = openColumn(data, min(columnChunk, s.docs-n*columnChunk)); err != nil {
			return 0, err
		}
		if s.columns[part] == nil {
			s.columns[part] = map[int]column{}
		}
		s.columns[part][n] = c
	}
	return c.at(int(doc) % columnChunk), nil
}

// meta reads what the segment keeps of a document.
func (s *segment) meta(doc uint32) (d Doc, length int64, err error) {
	owner, _, err := s.sessionOf(doc)
	if err != nil {
		return Doc{}, 0, err
	}
	d.Project, d.Session = owner.project, owner.id
	var v [PartAttr2 + 1]int64
	for part := PartSeqs; part <= PartAttr2; part++ {
		if v[part], err = s.value(part, doc); err != nil {
			return Doc{}, 0, err
		}
	}
	d.Seq, d.Time = v[PartSeqs], v[PartTimes]
	for i := range d.Attrs {
		d.Attrs[i] = uint16(v[PartAttr0+Part(i)])
	}
	return d, v[PartLengths], nil
}
