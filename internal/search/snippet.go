package search

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

const (
	// snippetLen is the length of an excerpt in bytes, about three lines of a terminal.
	snippetLen = 240
	// scanLen bounds how much of a text is looked at for the best place.
	scanLen = 256 << 10
)

// snippet is the excerpt of an entry around the place with most of the query's words: of its text, or of the tool
// input when more of the words are there. It is one line of valid UTF-8.
func snippet(e memory.Entry, terms []term) string {
	text, input := e.Text, inputText(e.ToolInput)
	f := newFinder(terms)
	at, n := f.best(text)
	if iat, in := f.best(input); (in > n && e.Tool != "") || text == "" {
		text, at = input, iat
	}
	return excerpt(text, at, snippetLen)
}

// inputText is a tool's input for the eye: the value of an object's only or best-known field, else the JSON.
func inputText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(raw, &o) == nil && o.Command != "" {
		return o.Command
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// finder knows where the words of a query stand in a text.
type finder struct {
	terms int
	stems map[string][]int // beginning of a word → terms
}

func newFinder(terms []term) finder {
	f := finder{terms: len(terms), stems: map[string][]int{}}
	for i, t := range terms {
		for _, p := range t.parts {
			f.stems[stem(p)] = append(f.stems[stem(p)], i)
		}
	}
	return f
}

// stem is a rough cut of endings: the excerpt may miss what the index's stemmer found, but never the other way round.
func stem(s string) string {
	for _, end := range []string{"ations", "ation", "ings", "ing", "ies", "ied", "ion", "ers", "er", "ed", "es", "s", "e", "y"} {
		if cut, ok := strings.CutSuffix(s, end); ok && utf8.RuneCountInString(cut) >= 3 {
			s = cut
			break
		}
	}
	// rotting, rotted → rot
	if n := len(s); n > 3 && s[n-1] == s[n-2] && s[n-1] < utf8.RuneSelf && s[n-1] != 'l' && s[n-1] != 's' {
		s = s[:n-1]
	}
	return s
}

// in reports whether the text holds a word of the i-th term.
func (f finder) in(text string, i int) bool {
	found := false
	words(cut(text), func(w word) {
		for _, p := range w.parts {
			for _, t := range f.stems[stem(p)] {
				found = found || t == i
			}
		}
	})
	return found
}

// best returns the byte at which the excerpt with most different terms should have its match, and how many they are.
func (f finder) best(text string) (at, terms int) {
	type match struct {
		at   int
		term int
	}
	var window []match
	count := make([]int, f.terms)
	different, bestScore := 0, 0
	words(cut(text), func(w word) {
		for _, p := range w.parts {
			for _, t := range f.stems[stem(p)] {
				window = append(window, match{w.start, t})
				if count[t]++; count[t] == 1 {
					different++
				}
			}
		}
		for len(window) > 0 && w.start-window[0].at > snippetLen*2/3 {
			if count[window[0].term]--; count[window[0].term] == 0 {
				different--
			}
			window = window[1:]
		}
		// More different words count most, then more matches.
		if score := different*1000 + min(len(window), 999); len(window) > 0 && score > bestScore {
			bestScore, at, terms = score, window[0].at, different
		}
	})
	return at, terms
}

func cut(text string) string { return text[:min(len(text), scanLen)] }

// excerpt cuts about length bytes around the byte at, at spaces where there are some.
func excerpt(text string, at, length int) string {
	if len(text) <= length {
		return oneLine(text)
	}
	at = min(max(at, 0), len(text))
	start := max(0, at-length/4)
	end := min(len(text), start+length)
	start = max(0, min(start, end-length))
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	if start > 0 {
		if i := strings.IndexFunc(text[start:min(at, start+40)], unicode.IsSpace); at > start && i >= 0 {
			start += i
		}
	}
	if end < len(text) {
		if i := strings.LastIndexFunc(text[max(start, at, end-40):end], unicode.IsSpace); i > 0 {
			end = max(start, at, end-40) + i
		}
	}
	s := oneLine(text[start:end])
	if start > 0 {
		s = "…" + s
	}
	if end < len(text) {
		s += "…"
	}
	return s
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}
