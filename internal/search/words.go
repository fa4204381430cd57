package search

import (
	"strings"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// Words calls emit with every word that an index keeps of a text: the parts of each word in lower case ("parse",
// "http", "request"), and what is written as one word but has parts also whole ("parsehttprequest"). They are not
// stemmed yet, see [Stem]. What emit is given lasts until it returns.
func Words(text string, emit func([]byte)) {
	s := splitter{text: text, emit: emit}
	for i := 0; i < len(text); {
		if !lowerOrDigit(text[i]) {
			i = s.at(i)
			continue
		}
		end := i + 1
		for end < len(text) && lowerOrDigit(text[end]) {
			end++
		}
		// Most words end here: at a space or a mark that does not join.
		if end == len(text) || ends(text, end) {
			s.buf = append(s.buf[:0], text[i:end]...)
			emit(s.buf)
			i = end
			continue
		}
		i = s.at(i)
	}
}

func lowerOrDigit(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// ends reports whether a plain word surely ends before text[at].
func ends(text string, at int) bool {
	c := text[at]
	if c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
		return false
	}
	return !joins(text, at, rune(c), 1)
}

type splitter struct {
	text  string
	emit  func([]byte)
	buf   []byte
	parts []int // in buf, where each part begins
}

// at emits the words of the run that begins at i, or passes one character over, and returns where it ends.
func (s *splitter) at(i int) int {
	r, size := decode(s.text[i:])
	end := i
	switch {
	case unspaced(r):
		for end < len(s.text) {
			r, n := decode(s.text[end:])
			if !unspaced(r) {
				break
			}
			end += n
		}
		for _, p := range pairs(s.text[i:end]) {
			s.emit([]byte(p))
		}
		// The last character alone, so that a query of one character finds it as the beginning of a word.
		if _, n := utf8.DecodeLastRuneInString(s.text[i:end]); n < end-i {
			s.emit([]byte(s.text[end-n : end]))
		}
		return end
	case !alnum(r):
		return i + size
	}
	ascii := true
	for end < len(s.text) {
		r, n := decode(s.text[end:])
		if unspaced(r) || (!alnum(r) && !joins(s.text, end, r, n)) {
			break
		}
		ascii = ascii && n == 1
		end += n
	}
	if ascii {
		s.ascii(s.text[i:end])
	} else {
		s.other(s.text[i:end])
	}
	return end
}

func (s *splitter) other(run string) {
	if w, ok := compound(run); ok {
		for _, p := range w.parts {
			s.emit([]byte(p))
		}
		for _, whole := range w.wholes {
			s.emit([]byte(whole))
		}
	}
}

// ascii does what compound does, without making strings: the parts stand in buf, one after the other, without marks.
func (s *splitter) ascii(run string) {
	s.buf, s.parts = s.buf[:0], s.parts[:0]
	pieces, piece := 0, 0 // pieces of a path so far; the first part of the open one
	endPiece := func() {
		switch n := len(s.parts) - piece; {
		case n > 1:
			s.whole(s.parts[piece])
			fallthrough
		case n == 1:
			pieces++
		}
		piece = len(s.parts)
	}
	for i := range len(run) {
		c := run[i]
		switch {
		case c == '/' || c == '\\' || c == ':' || c == '@':
			endPiece()
			continue
		case !alnum(rune(c)):
			continue
		}
		if i == 0 || !alnum(rune(run[i-1])) || hump(run, i) {
			s.parts = append(s.parts, len(s.buf))
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		s.buf = append(s.buf, c)
	}
	endPiece()
	for i, from := range s.parts {
		to := len(s.buf)
		if i+1 < len(s.parts) {
			to = s.parts[i+1]
		}
		s.emit(s.buf[from:to])
	}
	if pieces > 1 && len(s.parts) > 1 {
		s.whole(0)
	}
}

func (s *splitter) whole(from int) {
	if len(s.buf)-from <= maxWhole {
		s.emit(s.buf[from:])
	}
}

// hump reports whether a part of camel case begins at run[i], which follows a letter or digit.
func hump(run string, i int) bool {
	if !upper(run[i]) {
		return false
	}
	if !upper(run[i-1]) {
		return true
	}
	if i+1 >= len(run) || run[i+1] < 'a' || run[i+1] > 'z' {
		return false
	}
	// "IDs" and "HTTPs" are one hump and a plural.
	return run[i+1] != 's' || i+2 < len(run) && alnum(rune(run[i+2])) && !upper(run[i+2])
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

// longest is the length in bytes up to which a word may be one of a language.
const longest = 24

// Stem is a word as an index and a query compare it: "rotated" and "rotating" are "rotat". Words with a digit, and
// those too long for a language, are their own stem.
func Stem(word string) string {
	if len(word) < 3 || len(word) > longest || strings.ContainsAny(word, "0123456789") {
		return word
	}
	return english.Stem(word, true)
}

// IsStop reports whether a word is one that every sentence has.
func IsStop(word string) bool { return stopWords[word] }
