package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Builder makes one segment of entries that come in any order. It holds them in memory.
type Builder struct {
	stem   func(string) string
	docs   []builtDoc
	ids    map[string]uint32 // word as given → its number
	known  map[string]uint32 // word as kept → its number
	words  []builtWord
	counts []built // in the order of coming
}

type builtDoc struct {
	Doc
	length float32
}

type builtWord struct {
	text string
	last int // its latest count
	docs int
}

// built is how much a word counts in a document.
type built struct {
	word, doc uint32
	weight    float32
}

// NewBuilder returns an empty builder. stem, which may be nil, says how a word is kept; it is asked once for each.
func NewBuilder(stem func(string) string) *Builder {
	if stem == nil {
		stem = func(w string) string { return w }
	}
	return &Builder{stem: stem, ids: map[string]uint32{}, known: map[string]uint32{}}
}

// Len is the number of entries added.
func (b *Builder) Len() int { return len(b.docs) }

// Add begins an entry; its words follow.
func (b *Builder) Add(d Doc) { b.docs = append(b.docs, builtDoc{Doc: d}) }

// Word adds a word to the entry that was added last, with its weight: 1 for one occurrence in a field of full weight.
// Words are cut to 120 bytes; an empty one is passed over. The entry's length is the sum of the weights.
func (b *Builder) Word(text []byte, weight float32) {
	if len(text) > maxWord {
		text = text[:maxWord]
	}
	id, ok := b.ids[string(text)]
	if !ok {
		if id, ok = b.learn(string(text)); !ok {
			return
		}
	}
	n := len(b.docs) - 1
	b.docs[n].length += weight
	w := &b.words[id]
	if w.docs > 0 && b.counts[w.last].doc == uint32(n) {
		b.counts[w.last].weight += weight
		return
	}
	w.last = len(b.counts)
	w.docs++
	b.counts = append(b.counts, built{id, uint32(n), weight})
}

// learn numbers a word that was not met before.
func (b *Builder) learn(text string) (uint32, bool) {
	word := b.stem(text)
	if word == "" || len(word) > maxWord {
		return 0, false
	}
	id, ok := b.known[word]
	if !ok {
		id = uint32(len(b.words))
		b.known[word] = id
		b.words = append(b.words, builtWord{text: word})
	}
	b.ids[text] = id
	return id, true
}

// order is the order of documents in a segment.
func order(a, b Doc) int {
	return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Time, b.Time), cmp.Compare(a.Seq, b.Seq))
}

// Segment makes the segment. The builder is of no use afterwards.
func (b *Builder) Segment() *Segment {
	w := newWriter()
	place, sorted := b.places()
	for _, i := range sorted {
		w.doc(b.docs[i].Doc, int64(math.Round(float64(b.docs[i].length))))
	}
	lists, ends := b.lists(place)
	byText := make([]uint32, len(b.words))
	for i := range byText {
		byText[i] = uint32(i)
	}
	slices.SortFunc(byText, func(x, y uint32) int { return strings.Compare(b.words[x].text, b.words[y].text) })
	byDoc := func(x, y posting) int { return cmp.Compare(x.doc, y.doc) }
	for _, id := range byText {
		list := lists[ends[id]-b.words[id].docs : ends[id]]
		if !slices.IsSortedFunc(list, byDoc) {
			slices.SortFunc(list, byDoc)
		}
		w.word(b.words[id].text, list)
	}
	return w.finish()
}

// places gives each document its place in the segment, and the documents in that order.
func (b *Builder) places() (place, sorted []uint32) {
	place, sorted = make([]uint32, len(b.docs)), make([]uint32, len(b.docs))
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	slices.SortFunc(sorted, func(x, y uint32) int { return order(b.docs[x].Doc, b.docs[y].Doc) })
	for at, i := range sorted {
		place[i] = uint32(at)
	}
	return place, sorted
}

// lists are the postings of all words, one after the other in order of their number, and where each ends.
func (b *Builder) lists(place []uint32) (lists []posting, ends []int) {
	ends = make([]int, len(b.words))
	at := 0
	for i, w := range b.words {
		ends[i] = at // where it begins; moves to where it ends
		at += w.docs
	}
	lists = make([]posting, len(b.counts))
	for _, c := range b.counts {
		lists[ends[c.word]] = posting{place[c.doc], code(c.weight, b.docs[c.doc].length)}
		ends[c.word]++
	}
	return lists, ends
}
