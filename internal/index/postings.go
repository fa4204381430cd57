package index

import (
	"encoding/binary"
	"slices"
)

// posting is a document that holds a word.
type posting struct {
	doc  uint32
	code byte
}

// A list of postings is blocks of 128, and a tail of fewer. A block begins with the distance of its last document from
// the last one before, so that it can be passed over; then stand the width of the distances (1, 2 or 4 bytes), the
// distances and the codes. The tail is a distance and a code in turn, without a head.
const block = 128

// appendList writes a list whose documents come after before.
func appendList(out []byte, list []posting, before uint32) []byte {
	for len(list) >= block {
		out = appendBlock(out, list[:block], before)
		before = list[block-1].doc
		list = list[block:]
	}
	for _, p := range list {
		out = binary.AppendUvarint(out, uint64(p.doc-before))
		out = append(out, p.code)
		before = p.doc
	}
	return out
}

func appendBlock(out []byte, list []posting, before uint32) []byte {
	out = binary.AppendUvarint(out, uint64(list[block-1].doc-before))
	widest, last := uint32(0), before
	for _, p := range list {
		widest, last = max(widest, p.doc-last), p.doc
	}
	width := 1
	switch {
	case widest >= 1<<16:
		width = 4
	case widest >= 1<<8:
		width = 2
	}
	out = append(out, byte(width))
	for _, p := range list {
		var raw [4]byte
		binary.LittleEndian.PutUint32(raw[:], p.doc-before)
		out = append(out, raw[:width]...)
		before = p.doc
	}
	for _, p := range list {
		out = append(out, p.code)
	}
	return out
}

// span is a run of documents, the last one excluded.
type span struct{ from, to uint32 }

// postings reads lists. It is used again and again, for what it holds is large.
type postings struct {
	docs   [block]uint32
	codes  [block]byte
	within []span // in order, apart, inside the segment
	at     int    // the span that the next document may be in
	most   uint32 // documents in the segment
	fn     func(docs []uint32, codes []byte)
}

// each calls fn with the documents of a list that lie in the spans, some at a time. What it is given does not last.
func (s *segment) each(l listing, within []span, fn func(docs []uint32, codes []byte)) error {
	if len(within) == 0 || l.docs == 0 {
		return nil
	}
	if s.reader == nil {
		s.reader = &postings{}
	}
	p := s.reader
	p.within, p.at, p.most, p.fn = within, 0, uint32(s.docs), fn
	switch l.kind {
	case listInline:
		return p.read(l.inline, 0, l.docs)
	case listShared:
		chunk, err := s.src.Chunk(PartPostings, l.chunk)
		if err != nil {
			return err
		}
		if l.offset+l.size > len(chunk) {
			return damaged("a list outside its chunk")
		}
		return p.read(chunk[l.offset:l.offset+l.size], 0, l.docs)
	}
	for i, first := range l.firsts {
		next := p.most
		if i+1 < len(l.firsts) {
			next = l.firsts[i+1]
		}
		if !slices.ContainsFunc(within[p.at:], func(w span) bool { return w.from < next && first < w.to }) {
			continue
		}
		chunk, err := s.src.Chunk(PartPostings, l.chunk+i)
		if err != nil {
			return err
		}
		if err := p.read(chunk, first, min(ownChunk, l.docs-i*ownChunk)); err != nil {
			return err
		}
	}
	return nil
}

// read reads n postings whose documents follow before.
func (p *postings) read(data []byte, before uint32, n int) error {
	r := reader{data: data}
	for ; n >= block; n -= block {
		last := before + uint32(r.count(int(p.most)))
		head := r.bytes(1)
		if r.bad || last >= p.most || last < before {
			return damaged("a list with a document too many")
		}
		width := int(head[0])
		body := r.bytes(block * (width + 1))
		if r.bad || (width != 1 && width != 2 && width != 4) {
			return damaged("a list that ends early")
		}
		if !p.skip(before, last) {
			if err := p.block(body, width, before, last); err != nil {
				return err
			}
		}
		if p.at == len(p.within) {
			return nil
		}
		before = last
	}
	return p.tail(&r, before, n)
}

// skip reports whether no span has a document from first to last.
func (p *postings) skip(first, last uint32) bool {
	for p.at < len(p.within) && p.within[p.at].to <= first {
		p.at++
	}
	return p.at == len(p.within) || p.within[p.at].from > last
}

func (p *postings) block(body []byte, width int, doc, last uint32) error {
	switch width {
	case 1:
		for i, d := range body[:block] {
			doc += uint32(d)
			p.docs[i&(block-1)] = doc
		}
	case 2:
		for i := range p.docs {
			doc += uint32(binary.LittleEndian.Uint16(body[2*i:]))
			p.docs[i] = doc
		}
	case 4:
		for i := range p.docs {
			doc += binary.LittleEndian.Uint32(body[4*i:])
			p.docs[i] = doc
			if doc > last {
				return damaged("a list whose block does not add up")
			}
		}
	}
	if doc != last {
		return damaged("a list whose block does not add up")
	}
	p.give(p.docs[:], body[width*block:])
	return nil
}

func (p *postings) tail(r *reader, doc uint32, n int) error {
	for i := range n {
		doc += uint32(r.count(int(p.most)))
		c := r.bytes(1)
		if r.bad || doc >= p.most {
			return damaged("a list that ends early")
		}
		p.docs[i], p.codes[i] = doc, c[0]
	}
	if n > 0 && !p.skip(p.docs[0], p.docs[n-1]) {
		p.give(p.docs[:n], p.codes[:n])
	}
	return nil
}

// give hands on the documents that lie in the spans.
func (p *postings) give(docs []uint32, codes []byte) {
	for len(docs) > 0 && p.at < len(p.within) {
		w := p.within[p.at]
		from, _ := slices.BinarySearch(docs, w.from)
		to := len(docs)
		if docs[to-1] >= w.to {
			to, _ = slices.BinarySearch(docs, w.to)
		}
		if from < to {
			p.fn(docs[from:to], codes[from:to])
		}
		if to == len(docs) {
			return
		}
		docs, codes = docs[to:], codes[to:]
		p.at++
	}
}
