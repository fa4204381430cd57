package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

func decode(s string) (rune, int) { return utf8.DecodeRuneInString(s) }

// term is one thing that a query asks for.
type term struct {
	text         string   // as typed
	alternatives []string // phrases of index words, any of which is the term
	parts        []string // the single words of it
	quoted       bool
}

// maxTerms bounds a query: a pasted page is searched by its first words.
const maxTerms = 64

// parse reads the text of a query: words, and phrases in "double quotes". Every text is a query; there are no operators.
// Words that every sentence has are left out when others remain.
func parse(text string) []term { return parseWords(text, false) }

func parseWords(text string, keepStopWords bool) []term {
	var terms []term
	seen := map[string]bool{}
	add := func(t term) {
		key := strings.Join(t.alternatives, "|")
		if len(t.alternatives) > 0 && !seen[key] && len(terms) < maxTerms {
			seen[key] = true
			terms = append(terms, t)
		}
	}
	pieces := strings.Split(text, `"`)
	for i, piece := range pieces {
		// Odd pieces stand between quotes; the last one has no second quote.
		if i%2 == 1 && i < len(pieces)-1 {
			add(phrase(piece))
			continue
		}
		words(piece, func(w word) { add(single(piece[w.start:w.end], w)) })
	}
	if keepStopWords {
		return terms
	}
	content := slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return !t.quoted && stopWords[strings.ToLower(t.text)] })
	if len(content) > 0 {
		return content
	}
	return terms
}

func single(text string, w word) term {
	t := term{text: text, parts: w.parts}
	joined := strings.Join(w.parts, " ")
	switch {
	case w.script && len(w.parts) == 1 && utf8.RuneCountInString(text) == 1:
		t.alternatives = []string{text + "*"}
	case len(w.wholes) > 0:
		// The last whole is that of the longest piece; the phrase finds the same words in prose.
		t.alternatives = []string{w.wholes[len(w.wholes)-1], joined}
	default:
		t.alternatives = []string{joined}
	}
	return t
}

func phrase(text string) term {
	t := term{text: text, quoted: true}
	words(text, func(w word) { t.parts = append(t.parts, w.parts...) })
	if len(t.parts) > 0 {
		t.alternatives = []string{strings.Join(t.parts, " ")}
	}
	return t
}

var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a about an and any are as at be been but by can could did do does for from had has have
		he her him his how i if in into is it its me my of on or our she should so some than that the their them then there these they
		this those to us was we were what when where which who why will with would you your`) {
		m[w] = true
	}
	return m
}()
