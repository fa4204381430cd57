package capture

import "unicode/utf8"

// closeJSON makes a document of the first part of one: it drops the unfinished token at the end and closes what is open.
// Input over the limit is cut in the middle of some long text, and the part that was read is worth keeping.
func closeJSON(b []byte) []byte {
	var open []byte // the brackets that are open
	end := 0        // up to here everything is complete
	tail := ""      // what has to follow end before the brackets are closed
	key := false    // the next string is a key
	for i := 0; i < len(b); {
		switch c := b[i]; c {
		case '"':
			after := stringEnd(b, i)
			switch {
			case after > 0 && key:
				key = false // its value decides whether it stays
			case after > 0:
				end, tail = after, ""
			case !key:
				end, tail = cutString(b, i), `"`
			}
			if after < 0 {
				return closeAll(b, end, tail, open)
			}
			i = after
			continue
		case '{', '[':
			open = append(open, c)
			key = c == '{'
			end, tail = i+1, ""
		case '}', ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			end, tail = i+1, ""
		case ',':
			key = len(open) > 0 && open[len(open)-1] == '{'
		case ':', ' ', '\t', '\n', '\r':
		default:
			after := valueEnd(b, i)
			if after <= i || after == len(b) { // a number or word at the very end may go on
				return closeAll(b, end, tail, open)
			}
			end, tail = after, ""
			i = after
			continue
		}
		i++
	}
	return closeAll(b, end, tail, open)
}

func closeAll(b []byte, end int, tail string, open []byte) []byte {
	b = append(b[:end:end], tail...)
	for i := len(open) - 1; i >= 0; i-- {
		b = append(b, open[i]+2) // '{'+2 is '}', '['+2 is ']'
	}
	return b
}

// cutString returns where the unfinished string that opens at i can end: before half an escape or half a character.
func cutString(b []byte, i int) int {
	i++
	for i < len(b) {
		size := 1
		switch {
		case b[i] == '\\' && i+1 < len(b) && b[i+1] == 'u':
			size = 6
		case b[i] == '\\':
			size = 2
		case b[i] >= utf8.RuneSelf && !utf8.FullRune(b[i:]):
			return i
		}
		if i+size > len(b) {
			return i
		}
		i += size
	}
	return i
}
