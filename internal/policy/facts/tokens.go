package facts

import "strings"

type token struct {
	text      string
	separator bool
}

// separators end a command in a text that does not parse.
const separators = ";|&(){}\n"

// tokens cuts a text that no parser understands into words: blanks and the given characters separate, quotes join.
func tokens(text, seps string) []token {
	var out []token
	var b strings.Builder
	started := false
	end := func() {
		if started {
			out = append(out, token{text: b.String()})
			b.Reset()
			started = false
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\'' || c == '"':
			started = true
			rest := text[i+1:]
			n := strings.IndexByte(rest, c)
			if n < 0 {
				n = len(rest)
			}
			b.WriteString(rest[:n])
			i += n + 1
		case c == '\\' && i+1 < len(text):
			i++
			started = true
			b.WriteByte(text[i])
		case strings.IndexByte(seps, c) >= 0:
			end()
			out = append(out, token{separator: true})
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			end()
		case c == '#' && !started && seps != "":
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return out
			}
			i += n - 1
		default:
			started = true
			b.WriteByte(c)
		}
	}
	end()
	return out
}

// tokens finds git commands in a text that does not parse.
func (w *walk) tokens(text string, st *state) {
	var words []Word
	flush := func() {
		for i, word := range words {
			if baseName(word.Text) == "git" {
				w.git(words[i+1:], st, Flow{})
				break
			}
		}
		words = nil
	}
	for _, t := range tokens(text, separators) {
		if t.separator {
			flush()
			continue
		}
		words = append(words, Word{Text: t.text, Raw: t.text})
	}
	flush()
}
