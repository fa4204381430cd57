// Package digest answers: what do many entries come down to? It picks lines for a span of time, finds subjects that come
// back, and decisions that the user seems to have made. Everything it gives is a quote with a link; it writes no sentence
// of its own, asks no model and reads nothing.
package digest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences cuts a text into sentences and lines, without code blocks, quotes of others and markup.
func sentences(text string) (out []string) {
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			code = !code
			continue
		}
		if code || line == "" || line[0] == '>' || line[0] == '<' || line[0] == '|' {
			continue
		}
		line = strings.TrimLeft(line, "#*-• \t")
		for line != "" {
			end := sentenceEnd(line)
			if s := strings.TrimSpace(line[:end]); s != "" {
				out = append(out, s)
			}
			line = strings.TrimSpace(line[end:])
		}
	}
	return out
}

// sentenceEnd is the index behind a full stop, question or exclamation mark that a blank follows.
func sentenceEnd(s string) int {
	for i := 0; i < len(s); i++ {
		if (s[i] == '.' || s[i] == '!' || s[i] == '?') && (i+1 == len(s) || s[i+1] == ' ') {
			// "e.g. this" and "3. that" go on.
			if next := strings.TrimLeft(s[i+1:], " "); s[i] == '.' && next != "" {
				if r, _ := utf8.DecodeRuneInString(next); unicode.IsLower(r) || i < 3 && unicode.IsDigit(rune(s[0])) {
					continue
				}
			}
			return i + 1
		}
	}
	return len(s)
}

// clip makes one line of at most n characters.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)[:n-1]
	for i := len(r) - 1; i > n*2/3; i-- {
		if unicode.IsSpace(r[i]) {
			r = r[:i]
			break
		}
	}
	return strings.TrimRight(string(r), " ,;:") + "…"
}

// lineOf is the first sentence that says something, of at most n characters.
func lineOf(text string, n int) string {
	for _, s := range sentences(text) {
		if strings.IndexFunc(s, unicode.IsLetter) >= 0 {
			return clip(s, n)
		}
	}
	return clip(text, n)
}
