package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Builder makes one segment of entries that come in any order. It holds them in memory.
type Builder struct {
	docs  []builtDoc
	ids   map[string]uint32 // word → place in lists
	lists []builtList
}

type builtDoc struct {
	Doc
	length float32
}

type builtList struct {
	word  string
	docs  []uint32 // in the order of adding
	count []float32
}

// NewBuilder returns an empty builder.
func NewBuilder() *Builder { return &Builder{ids: map[string]uint32{}} }

// Len is the number of entries added.
func (b *Builder) Len() int { return len(b.docs) }

// Add adds an entry with its words; a word may come several times. length is the entry's length in words of full
// weight. Words are cut to 120 bytes; empty ones are passed over.
func (b *Builder) Add(d Doc, words []Word, length float32) {
	n := uint32(len(b.docs))
	for _, w := range words {
		text := w.Text
		if len(text) > maxWord {
			text = text[:maxWord]
		}
		if text == "" {
			continue
		}
		id, ok := b.ids[text]
		if !ok {
			id = uint32(len(b.lists))
			text = strings.Clone(text)
			b.ids[text] = id
			b.lists = append(b.lists, builtList{word: text})
		}
		l := &b.lists[id]
		if last := len(l.docs) - 1; last >= 0 && l.docs[last] == n {
			l.count[last] += w.Weight
			continue
		}
		l.docs, l.count = append(l.docs, n), append(l.count, w.Weight)
	}
	b.docs = append(b.docs, builtDoc{d, length})
}

// order is the order of documents in a segment.
func order(a, b Doc) int {
	return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Time, b.Time), cmp.Compare(a.Seq, b.Seq))
}

// Segment makes the segment. The builder is of no use afterwards.
func (b *Builder) Segment() *Segment {
	w := newWriter()
	place := make([]uint32, len(b.docs)) // order of adding → order of the segment
	sorted := make([]uint32, len(b.docs))
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	slices.SortFunc(sorted, func(x, y uint32) int { return order(b.docs[x].Doc, b.docs[y].Doc) })
	for at, i := range sorted {
		place[i] = uint32(at)
		w.doc(b.docs[i].Doc, int64(math.Round(float64(b.docs[i].length))))
	}
	slices.SortFunc(b.lists, func(x, y builtList) int { return strings.Compare(x.word, y.word) })
	var list []posting
	for _, l := range b.lists {
		list = list[:0]
		for i, doc := range l.docs {
			list = append(list, posting{place[doc], code(l.count[i], b.docs[doc].length)})
		}
		slices.SortFunc(list, func(x, y posting) int { return cmp.Compare(x.doc, y.doc) })
		w.word(l.word, list)
	}
	return w.finish()
}
