package search

import (
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Keyword is a word of a text that is worth looking for.
type Keyword struct {
	Text    string
	Words   []string // as the index keeps them: any of these is the word
	Special bool     // an identifier or a file name: alone it says what is meant
}

// Keywords gives the words of a text without those that every request has, each once, in order, at most limit.
func Keywords(text string, limit int) []Keyword {
	var out []Keyword
	for _, t := range parse(strings.ReplaceAll(text, `"`, " ")) {
		if len(out) == limit {
			break
		}
		if word := strings.ToLower(t.text); fillers[word] || stopWords[word] {
			continue
		}
		k := Keyword{Text: t.text, Special: len(t.parts) > 1}
		for _, a := range t.alternatives {
			if !strings.Contains(a, " ") {
				k.Words = append(k.Words, Stem(strings.TrimSuffix(a, "*")))
			}
		}
		if len(k.Words) > 0 {
			out = append(out, k)
		}
	}
	return out
}

// Stems gives the parts of all words of a text as the index keeps them, each once.
func Stems(text string) []string {
	var out []string
	words(text, func(w word) {
		for _, p := range w.parts {
			if s := Stem(p); !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	})
	return out
}

// Excerpt is the part of an entry that has most of the words of text, on one line of at most about 240 bytes.
func Excerpt(e memory.Entry, text string) string { return snippet(e, parse(text)) }

// fillers are words of requests that say nothing of their subject.
var fillers = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`add again agree agreed all also always any anything back best between both change check choose chose code continue create decide decided decision does done don during each every everything explain file files
		find first fix fixed get give go good help just keep know let lets like look make may me more much must need needs never new next no not note noted nothing now
		off ok one only other out over per please prefer put read really remember right run same say see set show something sure take tell thanks thing things thank try two
		up update use used using very want well whether work write yes yet`) {
		m[w] = true
	}
	return m
}()
