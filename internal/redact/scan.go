package redact

// trigger marks the bytes at which something may start or be recognised; all others are passed over.
var trigger = [256]bool{
	'_': true, '-': true, '.': true, '=': true, ':': true, '>': true, '<': true, '~': true,
	'A': true, 'B': true, 'b': true, 'd': true, 'J': true, 'S': true,
	'\\': true, '&': true, 0x1b: true, 0xc2: true,
}

type scanner struct {
	s          string
	out        []byte
	done       int // s[:done] is in out
	n          int
	slugFrom   int // the last run that slugEnd looked for
	slugTo     int
	judged     int  // the end of a long value that is no credential, in which no other is looked for
	prepared   bool // ANSI escapes and private passages are out already
	shapesOnly bool
}

// run scans the text; it stops and reports true when escapes or private passages have to be taken out first.
func (sc *scanner) run() bool {
	s := sc.s
	for i := 0; i < len(s); {
		c := s[i]
		if !trigger[c] {
			i++
			continue
		}
		next := i + 1
		switch c {
		case '_':
			next = sc.underscore(i)
		case '-':
			next = sc.dash(i)
		case '.':
			next = sc.dot(i)
		case '=':
			next = sc.assign(i)
		case ':':
			next = sc.colon(i)
		case '>':
			next = sc.element(i)
		case 'A':
			next = sc.capitalA(i)
		case 'B', 'b':
			next = sc.scheme(i)
		case 'd':
			if i+36 <= len(s) && s[i+1] == 'a' && s[i+2] == 'p' && s[i+3] == 'i' {
				next = sc.fixedHex(i, 4, 32, "databricks-token")
			}
		case 'S':
			if i+34 <= len(s) && s[i+1] == 'K' {
				next = sc.fixedHex(i, 2, 32, "twilio-key")
			}
		case 'J':
			if i >= 2 && s[i-1] == 'y' && s[i-2] == 'e' {
				next = sc.jwt(i - 2)
			}
		case '~':
			next = sc.tilde(i)
		default:
			if !sc.prepared && (startsANSI(s, i) || privateTag(s, i, false) > 0) {
				return true
			}
			if c == '\\' {
				next = span(s, i, isBackslash)
			}
		}
		i = max(next, i+1)
	}
	return false
}

func (sc *scanner) result() string {
	if sc.n == 0 {
		return sc.s
	}
	return string(append(sc.out, sc.s[sc.done:]...))
}

// hide replaces s[from:to] and returns to, where scanning goes on.
func (sc *scanner) hide(from, to int, kind string) int {
	from = max(from, sc.done)
	if to <= from {
		return to
	}
	if sc.out == nil {
		sc.out = make([]byte, 0, len(sc.s)+32)
	}
	sc.out = append(sc.out, sc.s[sc.done:from]...)
	sc.out = append(append(append(sc.out, "[redacted:"...), kind...), ']')
	sc.done = to
	sc.n++
	return to
}
