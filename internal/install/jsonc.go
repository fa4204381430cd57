package install

// The client reads its settings with comments, trailing commas and a byte order mark (client 1.0.102). We find our way
// in a text of the same length that has blanks in their places, and cut and paste in the text as it is.

// uncomment gives text with every comment and a byte order mark as blanks; line ends stay. Every offset stays valid.
func uncomment(text []byte) []byte {
	out := append([]byte(nil), text...)
	i := 0
	if len(out) >= 3 && out[0] == 0xEF && out[1] == 0xBB && out[2] == 0xBF {
		i = blank(out, 0, 3)
	}
	for i < len(out) {
		switch {
		case out[i] == '"':
			i = stringStop(out, i)
		case out[i] == '/' && i+1 < len(out) && out[i+1] == '/':
			end := i
			for end < len(out) && out[end] != '\n' && out[end] != '\r' {
				end++
			}
			i = blank(out, i, end)
		case out[i] == '/' && i+1 < len(out) && out[i+1] == '*':
			end := i + 2
			for end < len(out) && (out[end] != '/' || out[end-1] != '*' || end == i+2) {
				end++
			}
			if end == len(out) { // never closed: left as it is, and refused as JSON
				return out
			}
			i = blank(out, i, end+1)
		default:
			i++
		}
	}
	return out
}

// stringStop is where a string ends that may not be closed.
func stringStop(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(b))
}

func blank(b []byte, from, to int) int {
	for i := from; i < to; i++ {
		if b[i] != '\n' && b[i] != '\r' {
			b[i] = ' '
		}
	}
	return to
}

// plain gives text as strict JSON of the same length: no comment, no trailing comma.
func plain(text []byte) []byte {
	out := uncomment(text)
	comma, value := -1, false // the last comma, with nothing but blanks behind it; whether a value stands before it
	for i := 0; i < len(out); i++ {
		switch out[i] {
		case ' ', '\t', '\r', '\n':
		case ',':
			if value {
				comma = i
			}
			value = false
		case '}', ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma, value = -1, true
		case '{', '[', ':':
			comma, value = -1, false
		case '"':
			i = stringStop(out, i) - 1
			comma, value = -1, true
		default:
			comma, value = -1, true
		}
	}
	return out
}

// document is a checked settings file: text as it is, json its strict form of the same length.
type document struct{ text, json []byte }

func newDocument(text []byte) document { return document{text, plain(text)} }

// noted reports whether there is a comment between two offsets.
func (d document) noted(from, to int) bool {
	bare := uncomment(d.text)
	for i := from; i < to; i++ {
		if bare[i] != d.text[i] {
			return true
		}
	}
	return false
}

// comma gives the offset of the comma that follows offset i with nothing but blanks and comments between; -1 for none.
func (d document) comma(i int) int {
	bare := uncomment(d.text)
	if i = blanks(bare, i); i < len(bare) && bare[i] == ',' {
		return i
	}
	return -1
}
