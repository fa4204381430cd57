package redact

func (r *rewriter) peek() byte {
	if r.i < len(r.s) {
		return r.s[r.i]
	}
	return 0
}

func (r *rewriter) copy(n int) {
	r.out = append(r.out, r.s[r.i:r.i+n]...)
	r.i += n
}

func (r *rewriter) space() {
	end := span(r.s, r.i, isSpace)
	if r.keepSpace {
		r.out = append(r.out, r.s[r.i:end]...)
	}
	r.i = end
}

func (r *rewriter) fail() error { return &SyntaxError{Offset: r.i} }

// special marks the bytes at which a string has to be looked at more closely.
var special = [256]bool{
	'"': true, '\\': true,
	0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 11: true, 12: true,
	13: true, 14: true, 15: true, 16: true, 17: true, 18: true, 19: true, 20: true, 21: true, 22: true, 23: true, 24: true,
	25: true, 26: true, 27: true, 28: true, 29: true, 30: true, 31: true,
}

// scanString reads the string at r.i and returns what stands between its quotes.
func (r *rewriter) scanString() (string, error) {
	s := r.s
	if r.peek() != '"' {
		return "", r.fail()
	}
	start := r.i + 1
	for i := start; i < len(s); i++ {
		c := s[i]
		if !special[c] {
			continue
		}
		switch c {
		case '"':
			r.i = i + 1
			return s[start:i], nil
		case '\\':
			i++
			if i >= len(s) || !validEscape(s[i:]) {
				r.i = i
				return "", r.fail()
			}
			// The four digits of \u are no special bytes and need no skipping.
		default:
			r.i = i
			return "", r.fail()
		}
	}
	r.i = len(s)
	return "", r.fail()
}

func validEscape(s string) bool {
	switch s[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		return len(s) >= 5 && isHex(s[1]) && isHex(s[2]) && isHex(s[3]) && isHex(s[4])
	}
	return false
}

// numberEnd returns the end of the JSON number at i, or -1.
func numberEnd(s string, i int) int {
	if i < len(s) && s[i] == '-' {
		i++
	}
	start := i
	i = span(s, i, isDigit)
	if i == start || s[start] == '0' && i > start+1 {
		return -1
	}
	if i < len(s) && s[i] == '.' {
		start = i + 1
		if i = span(s, start, isDigit); i == start {
			return -1
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		start = i
		if i = span(s, start, isDigit); i == start {
			return -1
		}
	}
	return i
}
