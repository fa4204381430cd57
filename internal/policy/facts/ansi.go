package facts

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

var ansiLetters = map[byte]string{
	'a': "\a", 'b': "\b", 'e': "\x1b", 'E': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
	'\\': `\`, '\'': "'", '"': `"`, '?': "?",
}

// ansiC decodes the escapes of $'…' and of printf's format: letters, \nnn, \xhh, \uhhhh, \Uhhhhhhhh, \cx.
func ansiC(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		switch {
		case ansiLetters[c] != "":
			b.WriteString(ansiLetters[c])
		case c >= '0' && c <= '7':
			n := digits(s[i:], 3, "01234567")
			writeByte(&b, s[i:i+n], 8)
			i += n - 1
		case c == 'x' && digits(s[i+1:], 2, hexDigits) > 0:
			n := digits(s[i+1:], 2, hexDigits)
			writeByte(&b, s[i+1:i+1+n], 16)
			i += n
		case (c == 'u' || c == 'U') && digits(s[i+1:], 1, hexDigits) > 0:
			limit := 4
			if c == 'U' {
				limit = 8
			}
			n := digits(s[i+1:], limit, hexDigits)
			if v, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32); err == nil && v <= utf8.MaxRune {
				b.WriteRune(rune(v))
			}
			i += n
		case c == 'c' && i+1 < len(s):
			i++
			b.WriteByte(s[i] & 0x1f)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

const hexDigits = "0123456789abcdefABCDEF"

// digits counts the leading characters of s that are in set, at most limit.
func digits(s string, limit int, set string) int {
	n := 0
	for n < limit && n < len(s) && strings.IndexByte(set, s[n]) >= 0 {
		n++
	}
	return n
}

func writeByte(b *strings.Builder, s string, base int) {
	if v, err := strconv.ParseUint(s, base, 16); err == nil {
		b.WriteByte(byte(v))
	}
}
