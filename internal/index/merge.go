package index

import (
	"bytes"
	"slices"
)

// Input is a segment to merge, less the documents that were deleted (their numbers in the segment, in order).
type Input struct {
	Source  Source
	Deleted []uint32
}

// nowhere is the place of a document that does not come along.
const nowhere = ^uint32(0)

// Merge makes one segment of several. What was deleted leaves no trace in it. One input is rewritten.
func Merge(inputs []Input) (*Segment, error) {
	var from []*mergeInput
	for _, in := range inputs {
		s, err := openSegment(in.Source)
		if err != nil {
			return nil, err
		}
		m := &mergeInput{segment: s, place: make([]uint32, s.docs)}
		for _, doc := range in.Deleted {
			if int(doc) < len(m.place) {
				m.place[doc] = nowhere
			}
		}
		from = append(from, m)
	}
	w := newWriter()
	if err := mergeDocs(w, from); err != nil {
		return nil, err
	}
	if err := mergeWords(w, from); err != nil {
		return nil, err
	}
	return w.finish(), nil
}

type mergeInput struct {
	*segment
	place []uint32 // of each document in the new segment

	next   uint32 // the next document
	doc    Doc
	length int64
	ended  bool

	cursor *wordCursor
}

// advance reads the next document that comes along.
func (m *mergeInput) advance() (err error) {
	for int(m.next) < len(m.place) && m.place[m.next] == nowhere {
		m.next++
	}
	if m.ended = int(m.next) >= len(m.place); m.ended {
		return nil
	}
	m.doc, m.length, err = m.meta(m.next)
	return err
}

func mergeDocs(w *writer, from []*mergeInput) error {
	for _, m := range from {
		if err := m.advance(); err != nil {
			return err
		}
	}
	for {
		var least *mergeInput
		for _, m := range from {
			if !m.ended && (least == nil || order(m.doc, least.doc) < 0) {
				least = m
			}
		}
		if least == nil {
			return nil
		}
		least.place[least.next] = uint32(w.seg.Docs)
		w.doc(least.doc, least.length)
		least.next++
		if err := least.advance(); err != nil {
			return err
		}
	}
}

func mergeWords(w *writer, from []*mergeInput) error {
	for _, m := range from {
		m.cursor = &wordCursor{segment: m.segment}
		if err := m.cursor.advance(); err != nil {
			return err
		}
	}
	var word []byte
	for {
		var least []byte
		for _, m := range from {
			if !m.cursor.ended && (least == nil || bytes.Compare(m.cursor.word, least) < 0) {
				least = m.cursor.word
			}
		}
		if least == nil {
			return nil
		}
		word = append(word[:0], least...)
		var list []posting
		for _, m := range from {
			if m.cursor.ended || !bytes.Equal(m.cursor.word, word) {
				continue
			}
			var own []posting
			err := m.each(m.cursor.listing, []span{{0, uint32(m.docs)}}, func(docs []uint32, codes []byte) {
				for i, doc := range docs {
					if to := m.place[doc]; to != nowhere {
						own = append(own, posting{to, codes[i]})
					}
				}
			})
			if err != nil {
				return err
			}
			list = union(list, own)
			if err := m.cursor.advance(); err != nil {
				return err
			}
		}
		w.word(string(word), list)
	}
}

// union merges two lists in order. Their documents differ.
func union(a, b []posting) []posting {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	if a[len(a)-1].doc < b[0].doc {
		return append(a, b...)
	}
	out := make([]posting, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].doc < b[0].doc {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// wordCursor walks a dictionary.
type wordCursor struct {
	*segment
	chunk   int
	rest    reader
	word    []byte
	listing listing
	ended   bool
}

func (c *wordCursor) advance() error {
	for len(c.rest.data) == 0 {
		if c.chunk >= c.wordChunks {
			c.ended = true
			return nil
		}
		data, err := c.src.Chunk(PartWords, c.chunk)
		if err != nil {
			return err
		}
		c.chunk++
		c.rest, c.word = reader{data: slices.Clone(data)}, c.word[:0]
	}
	shared := c.rest.count(len(c.word))
	suffix := c.rest.bytes(c.rest.count(maxWord))
	c.word = append(c.word[:shared], suffix...)
	c.listing = c.segment.listing(&c.rest)
	if c.rest.bad {
		return damaged("a dictionary that ends early")
	}
	return nil
}
