package index

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// WordCount is a word of the dictionary and the number of documents that hold it.
type WordCount struct {
	Word string
	Docs int
}

// Starting returns the words that begin with prefix, the most frequent first, at most limit of them.
func (x *Index) Starting(prefix string, limit int) ([]WordCount, error) {
	return x.words(prefix, limit, func(word []byte) bool { return true })
}

// Close returns the words that one slip of the keyboard (a letter too many, missing, other, or two swapped) makes of
// word, or two where it has eight letters or more, the most frequent first. The first letter must be right.
func (x *Index) Close(word string, limit int) ([]WordCount, error) {
	_, size := utf8.DecodeRuneInString(word)
	slips := 1
	if utf8.RuneCountInString(word) >= 8 {
		slips = 2
	}
	want := []rune(word)
	return x.words(word[:size], limit, func(other []byte) bool {
		return len(other) <= len(word)+4*slips && distance(want, []rune(string(other)), slips) <= slips
	})
}

func (x *Index) words(prefix string, limit int, wanted func([]byte) bool) ([]WordCount, error) {
	docs := map[string]int{}
	for _, seg := range x.segments {
		err := seg.eachWord(prefix, func(word []byte, l listing) bool {
			if len(word) < len(prefix) || string(word[:len(prefix)]) != prefix {
				return false
			}
			if wanted(word) {
				docs[string(word)] += l.docs
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	out := make([]WordCount, 0, len(docs))
	for w, n := range docs {
		out = append(out, WordCount{w, n})
	}
	slices.SortFunc(out, func(a, b WordCount) int { return cmp.Or(cmp.Compare(b.Docs, a.Docs), cmp.Compare(a.Word, b.Word)) })
	return out[:min(len(out), limit)], nil
}

// distance is the number of slips between two words, or more than most where there are more.
func distance(a, b []rune, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Find returns the numbers of the documents with these seqs, by segment: what to delete.
func (x *Index) Find(seqs map[int64]bool) ([][]uint32, error) {
	out := make([][]uint32, len(x.segments))
	for i, seg := range x.segments {
		for doc := range uint32(seg.docs) {
			seq, err := seg.value(PartSeqs, doc)
			if err != nil {
				return nil, err
			}
			if seqs[seq] {
				out[i] = append(out[i], doc)
			}
		}
	}
	return out, nil
}

// Count is the number of documents that hold a word, with those that were deleted and still stand in their segment.
func (x *Index) Count(word string) (n int, err error) {
	for _, seg := range x.segments {
		l, ok, err := seg.find(word)
		if err != nil {
			return n, err
		}
		if ok {
			n += l.docs
		}
	}
	return n, nil
}
