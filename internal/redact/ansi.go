package redact

import "strings"

const maxOSC = 4096

// startsANSI reports whether an escape sequence starts at i, real or written out as \u001b, \x1b, \033 or \e.
func startsANSI(s string, i int) bool {
	if n := realEscape(s, i); n > 0 {
		return true
	}
	return writtenSequence(s, i) > 0
}

// stripANSI takes out terminal escape sequences, until none is left: a sequence inside another one hides it.
func stripANSI(s string) string {
	for range maxRounds {
		t := stripOnce(s)
		if len(t) == len(s) {
			return s
		}
		s = t
	}
	return s
}

func stripOnce(s string) string {
	var out []byte
	done := 0
	for i := 0; i < len(s); {
		if c := s[i]; c != 0x1b && c != '\\' && c != 0xc2 {
			i++
			continue
		}
		n := realEscape(s, i)
		if n == 0 {
			n = writtenSequence(s, i)
		}
		if n == 0 {
			i = pastBackslashes(s, i)
			continue
		}
		out = append(out, s[done:i]...)
		i += n
		done = i
	}
	if done == 0 {
		return s
	}
	return string(append(out, s[done:]...))
}

// realEscape returns the length of the sequence that an ESC or C1 byte starts at i; a lone ESC counts as one.
func realEscape(s string, i int) int {
	start := i
	var kind byte
	switch {
	case s[i] == 0x1b && i+1 == len(s):
		return 1
	case s[i] == 0x1b:
		kind = s[i+1]
	case s[i] == 0xc2 && i+1 < len(s) && (s[i+1] == 0x9b || s[i+1] == 0x9d || s[i+1] == 0x90):
		kind = s[i+1] - 0x40
	default:
		return 0
	}
	i += 2
	switch kind {
	case '[':
		i = span(s, i, func(c byte) bool { return c >= 0x30 && c < 0x40 })
		switch rest := s[i:]; {
		case rest != "" && rest[0] >= 0x40 && rest[0] < 0x7f:
			i++
		case hasFold(rest, " q"), hasFold(rest, "!p"), hasFold(rest, "$p"), hasFold(rest, "$y"), hasFold(rest, `"q`):
			i += 2
		}
		return i - start
	case ']', 'P', 'X', '^', '_':
		if end := stringEnd(s, i); end > 0 {
			return end - start
		}
		return 2
	}
	// Only sequences that programs do print: a stray ESC must not take the first letter of a key with it.
	if strings.IndexByte("()*+#%", kind) >= 0 && i < len(s) && (isDigit(s[i]) || strings.IndexByte("AB@G", s[i]) >= 0) {
		return 3
	}
	if strings.IndexByte("78=>cDEHM", kind) >= 0 {
		return 2
	}
	return 1
}

// stringEnd finds the terminator of an operating system command or device control string.
func stringEnd(s string, i int) int {
	for end := min(len(s), i+maxOSC); i < end; i++ {
		switch c := s[i]; {
		case c == 0x07:
			return i + 1
		case c == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case c == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2
		case c == 0x1b, c == '\n', c == 0xc2 && i+1 < len(s) && s[i+1]&0xe0 == 0x80:
			return 0
		}
	}
	return 0
}

// writtenEscape returns the length of a written-out ESC at i, with all its backslashes.
func writtenEscape(s string, i int) int {
	if s[i] != '\\' {
		return 0
	}
	j := span(s, i, isBackslash)
	switch t := s[j:]; {
	case hasFold(t, "u001b"):
		return j + 5 - i
	case hasFold(t, "u{1b}"):
		return j + 5 - i
	case hasFold(t, "x1b"), hasFold(t, "033"):
		return j + 3 - i
	case hasFold(t, "e"):
		return j + 1 - i
	}
	return 0
}

// writtenSequence returns the length of a whole written-out sequence at i. An unfinished one is code, and stays.
func writtenSequence(s string, i int) int {
	n := writtenEscape(s, i)
	if n == 0 || i+n >= len(s) {
		return 0
	}
	j := i + n + 1
	switch s[i+n] {
	case '[':
		j = span(s, j, func(c byte) bool { return c >= '0' && c <= '?' })
		if j < len(s) && isAlpha(s[j]) {
			return j + 1 - i
		}
	case ']':
		for end := min(len(s), j+maxOSC); j < end && s[j] != '\n'; j++ {
			if s[j] == 0x07 {
				return j + 1 - i
			}
			if s[j] != '\\' {
				continue
			}
			k := span(s, j, isBackslash)
			for _, bel := range [...]string{"u0007", "x07", "007", "a"} {
				if hasFold(s[k:], bel) {
					return k + len(bel) - i
				}
			}
			e := writtenEscape(s, j)
			if e == 0 {
				j = k - 1
				continue
			}
			if st := span(s, j+e, isBackslash); st > j+e {
				return st - i
			}
			return 0
		}
	}
	return 0
}
