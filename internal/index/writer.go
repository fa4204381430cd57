package index

import (
	"encoding/binary"
	"slices"
)

// writer makes a segment of documents and words that come in order.
type writer struct {
	seg    *Segment
	length int64 // words of all documents
	terms  int

	columns  [PartAttr2 + 1][]int64 // values of the open chunk, by part
	projects []project
	sessions []session // of the open chunk
	first    []uint32  // first document of each chunk of sessions
	starts   []uint32  // first document of each session

	lastWord string
	words    []byte // the open chunk of the dictionary
	postings []byte // the open chunk of postings
	guide    []byte
	scratch  []byte
}

// project is a run of documents. Its sessions follow each other too.
type project struct {
	id                uint32
	doc, docs         uint32
	session, sessions uint32
}

// session is a run of documents.
type session struct {
	id, project uint32
	doc, docs   uint32
	length      int64 // words
	from, to    int64 // times of its first and last document
}

func newWriter() *writer { return &writer{seg: &Segment{}} }

// doc adds a document; they come ordered by project, session, time and number.
func (w *writer) doc(d Doc, length int64) {
	n := uint32(w.seg.Docs)
	if len(w.projects) == 0 || w.projects[len(w.projects)-1].id != d.Project {
		w.endSession()
		w.projects = append(w.projects, project{id: d.Project, doc: n, session: w.sessionCount()})
		w.openSession(d, n)
	} else if s := w.lastSession(); s.id != d.Session {
		w.endSession()
		w.openSession(d, n)
	}
	s := w.lastSession()
	s.docs++
	s.length += length
	s.from, s.to = min(s.from, d.Time), max(s.to, d.Time)
	w.projects[len(w.projects)-1].docs++
	w.length += length
	w.columns[PartSeqs] = append(w.columns[PartSeqs], d.Seq)
	w.columns[PartTimes] = append(w.columns[PartTimes], d.Time)
	w.columns[PartLengths] = append(w.columns[PartLengths], length)
	for i, v := range d.Attrs {
		part := PartAttr0 + Part(i)
		w.columns[part] = append(w.columns[part], int64(v))
	}
	w.seg.Docs++
	if len(w.columns[PartSeqs]) == columnChunk {
		w.endColumns()
	}
}

func (w *writer) sessionCount() uint32 {
	return uint32(len(w.seg.Chunks[PartSessions])*sessionsChunk + len(w.sessions))
}

func (w *writer) lastSession() *session { return &w.sessions[len(w.sessions)-1] }

func (w *writer) openSession(d Doc, n uint32) {
	if len(w.sessions) == 0 {
		w.first = append(w.first, n)
	}
	w.starts = append(w.starts, n)
	w.sessions = append(w.sessions, session{id: d.Session, project: d.Project, doc: n, from: d.Time, to: d.Time})
	w.projects[len(w.projects)-1].sessions++
}

// endSession writes the chunk when it is full. The last session of a chunk is complete when another one begins.
func (w *writer) endSession() {
	if len(w.sessions) == sessionsChunk {
		w.writeSessions()
	}
}

func (w *writer) writeSessions() {
	var out []byte
	var before session
	for _, s := range w.sessions {
		out = appendInt(out, int64(s.id)-int64(before.id))
		out = appendInt(out, int64(s.project)-int64(before.project))
		out = binary.AppendUvarint(out, uint64(s.docs))
		out = binary.AppendUvarint(out, uint64(s.length))
		out = appendInt(out, s.from-before.from)
		out = binary.AppendUvarint(out, uint64(s.to-s.from))
		before = s
	}
	w.seg.Chunks[PartSessions] = append(w.seg.Chunks[PartSessions], out)
	w.sessions = w.sessions[:0]
}

func (w *writer) endColumns() {
	for part := PartSeqs; part <= PartAttr2; part++ {
		if len(w.columns[part]) > 0 {
			w.seg.Chunks[part] = append(w.seg.Chunks[part], appendColumn(nil, w.columns[part]))
			w.columns[part] = w.columns[part][:0]
		}
	}
}

// word adds a word with its documents; words come in byte order, documents in theirs.
func (w *writer) word(text string, list []posting) {
	if len(list) == 0 {
		return
	}
	if len(w.words) == 0 {
		w.lastWord = ""
		w.guide = binary.AppendUvarint(w.guide, uint64(len(text)))
		w.guide = append(w.guide, text...)
	}
	shared := sharedPrefix(w.lastWord, text)
	w.words = binary.AppendUvarint(w.words, uint64(shared))
	w.words = binary.AppendUvarint(w.words, uint64(len(text)-shared))
	w.words = append(w.words, text[shared:]...)
	w.list(list)
	w.lastWord = text
	w.terms++
	if len(w.words) >= dictionaryChunk {
		w.endWords()
	}
}

func (w *writer) endWords() {
	if len(w.words) > 0 {
		w.seg.Chunks[PartWords] = append(w.seg.Chunks[PartWords], slices.Clone(w.words))
		w.words = w.words[:0]
	}
}

// The three places of a list, in the low bits of its head; above them stands the number of documents.
const (
	listInline = iota // the bytes follow
	listShared        // in a chunk with others: chunk, offset, length
	listOwn           // in chunks of its own: first chunk, number of chunks, first document of each
)

func (w *writer) list(list []posting) {
	head := uint64(len(list)) << 2
	sessions := w.sessionsOf(list)
	open := func(kind uint64) {
		w.words = binary.AppendUvarint(w.words, head|kind)
		if len(list) > 1 {
			w.words = binary.AppendUvarint(w.words, uint64(sessions))
		}
	}
	w.scratch = appendList(w.scratch[:0], list, 0)
	switch {
	case len(w.scratch) <= inlineList:
		open(listInline)
		w.words = binary.AppendUvarint(w.words, uint64(len(w.scratch)))
		w.words = append(w.words, w.scratch...)
	case len(w.scratch) <= postingsChunk/2:
		if len(w.postings)+len(w.scratch) > postingsChunk {
			w.endPostings()
		}
		open(listShared)
		w.words = binary.AppendUvarint(w.words, uint64(len(w.seg.Chunks[PartPostings])))
		w.words = binary.AppendUvarint(w.words, uint64(len(w.postings)))
		w.words = binary.AppendUvarint(w.words, uint64(len(w.scratch)))
		w.postings = append(w.postings, w.scratch...)
	default:
		open(listOwn)
		w.ownChunks(list)
	}
}

// sessionsOf counts the sessions of a list's documents.
func (w *writer) sessionsOf(list []posting) (n int) {
	end, at := uint32(0), 0
	for _, p := range list {
		if p.doc < end {
			continue
		}
		n++
		i, here := slices.BinarySearch(w.starts[at:], p.doc)
		if at += i; here {
			at++
		}
		if end = ^uint32(0); at < len(w.starts) {
			end = w.starts[at]
		}
	}
	return n
}

func (w *writer) ownChunks(list []posting) {
	w.endPostings()
	start := len(w.seg.Chunks[PartPostings])
	w.words = binary.AppendUvarint(w.words, uint64(start))
	w.words = binary.AppendUvarint(w.words, uint64((len(list)+ownChunk-1)/ownChunk))
	before := uint32(0)
	for some := range slices.Chunk(list, ownChunk) {
		w.words = binary.AppendUvarint(w.words, uint64(some[0].doc-before))
		before = some[0].doc
		w.seg.Chunks[PartPostings] = append(w.seg.Chunks[PartPostings], appendList(nil, some, before))
	}
}

func (w *writer) endPostings() {
	if len(w.postings) > 0 {
		w.seg.Chunks[PartPostings] = append(w.seg.Chunks[PartPostings], slices.Clone(w.postings))
		w.postings = w.postings[:0]
	}
}

func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (w *writer) finish() *Segment {
	w.endWords()
	w.endPostings()
	w.endColumns()
	if len(w.sessions) > 0 {
		w.writeSessions()
	}
	h := []byte{version}
	for _, v := range []int{
		w.seg.Docs, int(w.length), w.terms, len(w.projects), len(w.seg.Chunks[PartWords]), len(w.seg.Chunks[PartPostings]), len(w.first),
	} {
		h = binary.AppendUvarint(h, uint64(v))
	}
	for _, p := range w.projects {
		h = binary.AppendUvarint(h, uint64(p.id))
		h = binary.AppendUvarint(h, uint64(p.docs))
		h = binary.AppendUvarint(h, uint64(p.sessions))
	}
	before := uint32(0)
	for _, doc := range w.first {
		h = binary.AppendUvarint(h, uint64(doc-before))
		before = doc
	}
	w.seg.Chunks[PartHeader] = [][]byte{h}
	w.seg.Chunks[PartGuide] = [][]byte{w.guide}
	return w.seg
}
