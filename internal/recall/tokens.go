// Package recall answers what the model should see now, within a budget.
package recall

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates how many tokens a model reads in a text. Today's vocabularies have a token for most words of up to
// seven letters with the space before, for three digits, for a mark or two, for a run of spaces, and for one or two
// characters of a script without spaces. The estimate is meant to be too high rather than too low.
func Tokens(text string) int {
	n := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end := i + size
		run := func(in func(rune) bool) int {
			length := 1
			for end < len(text) {
				r, size := utf8.DecodeRuneInString(text[end:])
				if !in(r) {
					break
				}
				end += size
				length++
			}
			return length
		}
		switch {
		case r >= 0x2e80:
			n++
		case unicode.IsLetter(r):
			n += (run(func(r rune) bool { return unicode.IsLetter(r) && r < 0x2e80 }) + 6) / 7
		case unicode.IsDigit(r):
			n += (run(unicode.IsDigit) + 2) / 3
		case r == ' ':
			if run(func(r rune) bool { return r == ' ' }) > 1 {
				n++
			}
		case r == '\n' || r == '\t' || r == '\r':
			run(func(r rune) bool { return r == '\n' || r == '\t' || r == '\r' })
			n++
		default:
			same := r
			n += (run(func(r rune) bool { return r == same }) + 3) / 4
		}
		i = end
	}
	return n
}

// Cut shortens a text to about so many tokens, at the end of a word, and says so. It reports whether it cut.
func Cut(text string, tokens int) (string, bool) {
	if Tokens(text) <= tokens {
		return text, false
	}
	low, high := 0, len(text)
	for low < high { // the longest beginning that fits
		mid := (low + high + 1) / 2
		if Tokens(text[:mid]) <= tokens {
			low = mid
		} else {
			high = mid - 1
		}
	}
	for low > 0 && !utf8.RuneStart(text[low]) {
		low--
	}
	for i := low; i > low-40 && i > 0; i-- {
		if text[i] == ' ' || text[i] == '\n' {
			low = i
			break
		}
	}
	return text[:low] + "…", true
}
