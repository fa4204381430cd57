// Package vectors answers which words are used alike. It learns a vector for each word from the words that stand around
// it, in texts that are at hand: no model is loaded and nothing is asked of anybody.
//
// A word's row counts its neighbours; the counts become positive pointwise mutual information, and a singular value
// decomposition makes a hundred numbers of each row. Words that keep the same company get vectors that point the same way.
package vectors

import (
	"errors"
	"math"
	"sort"
)

// Table is the vectors of some words, each of length one.
type Table struct {
	dims  int
	words []string // in byte order
	rare  []float32
	data  []int8 // dims numbers a word; 127 is the greatest of its word
}

// Dims is the number of numbers of a vector.
func (t *Table) Dims() int { return t.dims }

// Len is the number of words.
func (t *Table) Len() int { return len(t.words) }

func (t *Table) find(word string) int {
	i := sort.SearchStrings(t.words, word)
	if i < len(t.words) && t.words[i] == word {
		return i
	}
	return -1
}

// Sum collects the vectors of the words of a text.
type Sum struct {
	table *Table
	v     []float32
	known int
}

// NewSum returns an empty sum.
func (t *Table) NewSum() *Sum { return &Sum{table: t, v: make([]float32, t.dims)} }

// Add adds a word as an index keeps it; words that are met everywhere weigh little. It reports whether the word is known.
func (s *Sum) Add(word string, weight float32) bool {
	i := s.table.find(word)
	if i < 0 {
		return false
	}
	s.known++
	row := s.table.data[i*s.table.dims:][:s.table.dims]
	norm := float32(0)
	for _, x := range row {
		norm += float32(x) * float32(x)
	}
	if norm == 0 {
		return true
	}
	scale := weight * s.table.rare[i] / float32(math.Sqrt(float64(norm)))
	for d, x := range row {
		s.v[d] += scale * float32(x)
	}
	return true
}

// Known is how many words of the sum were known.
func (s *Sum) Known() int { return s.known }

// Like is the cosine of the angle between two sums, from -1 to 1; 0 where one of them is empty.
func (s *Sum) Like(o *Sum) float32 {
	var dot, a, b float32
	for d, x := range s.v {
		dot += x * o.v[d]
		a += x * x
		b += o.v[d] * o.v[d]
	}
	if a == 0 || b == 0 {
		return 0
	}
	return dot / float32(math.Sqrt(float64(a))*math.Sqrt(float64(b)))
}

// Near is a word and how much alike another one it is used.
type Near struct {
	Word string
	Like float32
}

// Nearest returns the words that are used most like word, the nearest first; none where the word is not known.
func (t *Table) Nearest(word string, limit int) []Near {
	at := t.find(word)
	if at < 0 {
		return nil
	}
	of := t.NewSum()
	of.Add(word, 1)
	var out []Near
	for i, w := range t.words {
		if i == at {
			continue
		}
		other := t.NewSum()
		other.Add(w, 1)
		out = append(out, Near{w, of.Like(other)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Like > out[j].Like })
	return out[:min(len(out), limit)]
}

// ErrFormat says that bytes are no table.
var ErrFormat = errors.New("not a table of word vectors")
