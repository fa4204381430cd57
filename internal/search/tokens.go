package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is one run of characters without a space, as a person would point at it: parseHTTPRequest, --dry-run, foo.bar/baz.go.
type word struct {
	start, end int      // bytes in the text
	parts      []string // lower-case, in order; never empty
	wholes     []string // the word, and each piece of a path, without marks; only where that differs from a part
	script     bool     // of a script without spaces: the parts are pairs of characters
}

// maxWhole is the length up to which a compound is kept whole; beyond it stand encoded data and minified code.
const maxWhole = 100

// words calls fn for each word of the text.
func words(text string, fn func(word)) {
	for i := 0; i < len(text); {
		r, size := decode(text[i:])
		switch {
		case unspaced(r):
			end := i
			for end < len(text) {
				r, n := decode(text[end:])
				if !unspaced(r) {
					break
				}
				end += n
			}
			fn(word{start: i, end: end, parts: pairs(text[i:end]), script: true})
			i = end
		case alnum(r):
			end := i
			for end < len(text) {
				r, n := decode(text[end:])
				if unspaced(r) || (!alnum(r) && !joins(text, end, r, n)) {
					break
				}
				end += n
			}
			if w, ok := compound(text[i:end]); ok {
				w.start, w.end = i, end
				fn(w)
			}
			i = end
		default:
			i += size
		}
	}
}

func alnum(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// joins reports whether r holds a compound word together: a mark between two letters or digits.
func joins(text string, at int, r rune, size int) bool {
	if r >= utf8.RuneSelf || r <= ' ' || !strings.ContainsRune("_-./\\:@+#~", r) || at+size >= len(text) {
		return false
	}
	next, _ := decode(text[at+size:])
	if alnum(next) && !unspaced(next) {
		return true
	}
	// "::", "__" and "://" join too.
	if strings.ContainsRune("_:/", next) && at+size+1 < len(text) {
		after, n := decode(text[at+size+1:])
		if after == '/' && at+size+1+n < len(text) {
			after, _ = decode(text[at+size+1+n:])
		}
		return alnum(after) && !unspaced(after)
	}
	return false
}

// compound splits a word at its marks and its humps.
func compound(s string) (word, bool) {
	var w word
	if simple(s) {
		w.parts = []string{s}
		return w, true
	}
	pieces := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' || r == ':' || r == '@' })
	for _, piece := range pieces {
		before := len(w.parts)
		for _, p := range strings.FieldsFunc(piece, func(r rune) bool { return !alnum(r) }) {
			w.parts = append(w.parts, humps(p)...)
		}
		if len(w.parts)-before > 1 {
			w.whole(w.parts[before:])
		}
	}
	if len(pieces) > 1 && len(w.parts) > 1 {
		w.whole(w.parts)
	}
	return w, len(w.parts) > 0
}

// simple reports whether s is one lower-case word, as most are.
func simple(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func (w *word) whole(parts []string) {
	if s := strings.Join(parts, ""); len(s) <= maxWhole {
		w.wholes = append(w.wholes, s)
	}
}

// humps splits camel case: parseHTTPRequest is parse, http, request.
func humps(s string) []string {
	if !strings.ContainsFunc(s, unicode.IsUpper) {
		return []string{strings.ToLower(s)}
	}
	r := []rune(s)
	var out []string
	from := 0
	for i := 1; i < len(r); i++ {
		lowerToUpper := !unicode.IsUpper(r[i-1]) && unicode.IsUpper(r[i])
		lastOfCapitals := unicode.IsUpper(r[i-1]) && unicode.IsUpper(r[i]) && i+1 < len(r) && unicode.IsLower(r[i+1])
		// "IDs" and "HTTPs" are one hump and a plural.
		if lastOfCapitals && r[i+1] == 's' && (i+2 == len(r) || unicode.IsUpper(r[i+2])) {
			lastOfCapitals = false
		}
		if lowerToUpper || lastOfCapitals {
			out = append(out, strings.ToLower(string(r[from:i])))
			from = i
		}
	}
	return append(out, strings.ToLower(string(r[from:])))
}

// unspaced reports whether r belongs to a script that writes words without spaces.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// pairs are the overlapping pairs of characters: a text without spaces is found by them.
func pairs(s string) []string {
	r := []rune(s)
	if len(r) == 1 {
		return []string{s}
	}
	out := make([]string, 0, len(r)-1)
	for i := range len(r) - 1 {
		out = append(out, string(r[i:i+2]))
	}
	return out
}
