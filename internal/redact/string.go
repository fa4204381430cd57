package redact

import (
	"strings"
	"unicode/utf8"
)

// decode returns the text of the inside of a JSON string. exact is false when it holds what no text can say: bytes that are
// not UTF-8, or half of a surrogate pair, which become U+FFFD.
func decode(raw string) (text string, exact bool) {
	exact = utf8.ValidString(raw)
	k := strings.IndexByte(raw, '\\')
	if k < 0 {
		if exact {
			return raw, true
		}
		return valid(raw), false
	}
	b := make([]byte, len(raw)+utf8.UTFMax)
	n := copy(b, raw[:k])
	for k < len(raw) {
		c := raw[k]
		k++
		if c != '\\' {
			b[n] = c
			n++
			continue
		}
		c = raw[k]
		k++
		if c != 'u' {
			b[n] = unescaped(c)
			n++
			continue
		}
		r := hex4(raw[k:])
		k += 4
		if r >= 0xd800 && r < 0xe000 {
			if low := surrogate(raw[k:]); r < 0xdc00 && low > 0 {
				r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
				k += 6
			} else {
				r, exact = utf8.RuneError, false
			}
		}
		n += utf8.EncodeRune(b[n:], r)
	}
	text = string(b[:n])
	if !exact {
		text = valid(text)
	}
	return text, exact
}

// valid replaces each byte that is not UTF-8, as encoding/json does.
func valid(s string) string {
	b := make([]byte, 0, len(s)+8)
	for _, r := range s {
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

func unescaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return c
}

// surrogate returns the second half of a pair written at the start of s, or 0.
func surrogate(s string) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0
	}
	if r := hex4(s[2:]); r >= 0xdc00 && r < 0xe000 {
		return r
	}
	return 0
}

func hex4(s string) rune {
	var r rune
	for i := range 4 {
		switch c := s[i]; {
		case isDigit(c):
			r = r<<4 + rune(c-'0')
		default:
			r = r<<4 + rune(c|0x20-'a') + 10
		}
	}
	return r
}

const hexDigits = "0123456789abcdef"

// appendString appends text as a JSON string.
func appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := range len(text) {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[done:i]...)
		done = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, text[done:]...), '"')
}
