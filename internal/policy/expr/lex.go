package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	end kind = iota // of the text, or "}}"
	name
	number
	text
	symbol // one of ( ) [ ] , . * ! == != < <= > >= && ||
)

type token struct {
	kind kind
	off  int    // byte offset in the source
	src  string // as written
	str  string // text: what it says
	num  float64
}

func (t token) String() string {
	if t.kind == end {
		return "the end of the expression"
	}
	return shown(t.src)
}

// shown quotes a piece of source for an error.
func shown(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

type lexer struct {
	src    string
	pos    int
	braced bool // "}}" ends the expression
	last   token
}

func (l *lexer) next() (token, error) {
	t, err := l.read()
	if err != nil {
		return token{}, err
	}
	t.src = l.src[t.off:l.pos]
	l.last = t
	return t, nil
}

func (l *lexer) read() (token, error) {
	for l.pos < len(l.src) && isSpace(l.src[l.pos]) {
		l.pos++
	}
	t := token{off: l.pos}
	if l.pos == len(l.src) {
		if l.braced {
			return t, l.fail(t.off, `the expression is not closed by "}}"`)
		}
		return t, nil
	}
	rest := l.src[l.pos:]
	switch c := rest[0]; {
	case isNameStart(c):
		t.kind = name
		l.pos += span(rest, isNameByte)
		return t, nil
	case isDigit(c), c == '-', c == '+', c == '.' && len(rest) > 1 && isDigit(rest[1]) && !l.afterOperand():
		return l.number(t)
	case c == '\'':
		return l.text(t)
	case l.braced && strings.HasPrefix(rest, "}}"):
		return t, nil // pos stays before the braces
	}
	return l.symbol(t, rest)
}

// afterOperand reports that a "." here asks for a property.
func (l *lexer) afterOperand() bool {
	switch l.last.kind {
	case name, number, text:
		return true
	}
	return l.last.src == ")" || l.last.src == "]" || l.last.src == "*"
}

func (l *lexer) fail(off int, format string, args ...any) *Error {
	return &Error{Offset: off, Msg: fmt.Sprintf(format, args...)}
}

func (l *lexer) number(t token) (token, error) {
	n := span(l.src[l.pos:], func(c byte) bool { return isNameByte(c) || c == '.' || c == '+' })
	s := l.src[l.pos : l.pos+n]
	t.kind, t.num = number, parseNumber(s)
	if math.IsNaN(t.num) {
		if len(s) == 1 {
			return t, l.fail(t.off, "there is no arithmetic: unexpected %s", shown(s))
		}
		return t, l.fail(t.off, "malformed number %s", shown(s))
	}
	l.pos += n
	return t, nil
}

func (l *lexer) text(t token) (token, error) {
	t.kind = text
	from := l.pos + 1
	for i := from; i < len(l.src); i++ {
		if l.src[i] != '\'' {
			continue
		}
		if i+1 < len(l.src) && l.src[i+1] == '\'' {
			i++
			continue
		}
		t.str = strings.ReplaceAll(l.src[from:i], "''", "'")
		l.pos = i + 1
		return t, nil
	}
	return t, l.fail(t.off, "the text is not closed by a single quote")
}

func (l *lexer) symbol(t token, rest string) (token, error) {
	t.kind = symbol
	for _, s := range [...]string{"==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", ",", ".", "*", "!", "<", ">"} {
		if strings.HasPrefix(rest, s) {
			l.pos += len(s)
			return t, nil
		}
	}
	switch rest[0] {
	case '"':
		return t, l.fail(t.off, "double quotes do not enclose text here: use single quotes")
	case '=', '&', '|':
		return t, l.fail(t.off, "unexpected %q: the operator is %q", rest[:1], rest[:1]+rest[:1])
	case '$':
		if strings.HasPrefix(rest, "${{") {
			return t, l.fail(t.off, `"${{" inside an expression: write one expression, with or without ${{ }} around the whole`)
		}
	case '/', '%':
		return t, l.fail(t.off, "there is no arithmetic: unexpected %q", rest[:1])
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return t, l.fail(t.off, "unexpected character %q", r)
}

// parseNumber reads a decimal, 0x or 0o number and gives NaN for anything else; the grammar is that of GitHub's runner, which has no
// signed hexadecimal.
func parseNumber(s string) float64 {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'o') {
		base := 16
		if s[1] == 'o' {
			base = 8
		}
		n, err := strconv.ParseUint(s[2:], base, 64)
		if err != nil {
			return math.NaN()
		}
		return float64(n)
	}
	if !isDecimal(s) {
		return math.NaN()
	}
	f, _ := strconv.ParseFloat(s, 64) // the only error left is a number out of range, which is infinite
	return f
}

// isDecimal reports [+-] digits [. digits] [e [+-] digits] with a digit before the exponent.
func isDecimal(s string) bool {
	s = skipSign(s)
	whole := span(s, isDigit)
	s = s[whole:]
	fraction := 0
	if strings.HasPrefix(s, ".") {
		fraction = span(s[1:], isDigit)
		s = s[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = skipSign(s[1:])
		n := span(s, isDigit)
		return n > 0 && n == len(s)
	}
	return s == ""
}

func skipSign(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:]
	}
	return s
}

func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isSpace(c byte) bool     { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool     { return '0' <= c && c <= '9' }
func isNameStart(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }
func isNameByte(c byte) bool  { return isNameStart(c) || isDigit(c) || c == '-' }
