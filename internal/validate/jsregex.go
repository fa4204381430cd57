package validate

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxRegexGroups is how deep the client's engine nests groups, counted without the `^(?:…)$` it puts around a matcher.
const maxRegexGroups = 254

// checkMatcher says whether the client compiles a matcher. It reads ECMAScript without the u flag and with the lenient
// syntax of Annex B, code point by code point; assertions other than ^, $ and look-behinds may be repeated. As seen in
// 1.0.102 with some 250 expressions. The pattern is compiled inside `^(?:` and `)$`, so `a)(?:b` passes.
func checkMatcher(matcher string) error {
	p := &regexParser{in: []rune("^(?:" + matcher + ")$"), depth: -1}
	if err := p.alternatives(); err != nil {
		return err
	}
	if p.pos < len(p.in) {
		return errors.New("unmatched parenthesis")
	}
	if p.named == nil {
		return nil
	}
	for _, name := range p.references {
		if !slices.Contains(p.named, name) {
			return errors.New("a \\k that names no group")
		}
	}
	return nil
}

type regexParser struct {
	in         []rune
	pos, depth int
	scope      []string // names that a further group may not have
	named      []string // all group names
	references []string // what follows each \k; "" where it is no name
}

func (p *regexParser) peek() rune {
	if p.pos < len(p.in) {
		return p.in[p.pos]
	}
	return -1
}

func (p *regexParser) take(s string) bool {
	r := []rune(s)
	if p.pos+len(r) > len(p.in) || !slices.Equal(p.in[p.pos:p.pos+len(r)], r) {
		return false
	}
	p.pos += len(r)
	return true
}

// alternatives reads up to the end or an unmatched `)`. One name may stand once in each alternative.
func (p *regexParser) alternatives() error {
	before := p.scope
	all := slices.Clone(before)
	for {
		p.scope = slices.Clone(before)
		if err := p.terms(); err != nil {
			return err
		}
		all = append(all, p.scope[len(before):]...)
		if !p.take("|") {
			p.scope = all
			return nil
		}
	}
}

func (p *regexParser) terms() error {
	for p.pos < len(p.in) && p.peek() != '|' && p.peek() != ')' {
		repeatable, err := p.term()
		if err != nil {
			return err
		}
		quantified, err := p.quantifier()
		if err != nil {
			return err
		}
		if quantified && !repeatable {
			return errors.New("nothing to repeat")
		}
	}
	return nil
}

func (p *regexParser) term() (repeatable bool, err error) {
	switch c := p.peek(); c {
	case '^', '$':
		p.pos++
		return false, nil
	case '*', '+', '?':
		return false, errors.New("nothing to repeat")
	case '{':
		if quantified, _ := p.quantifier(); quantified {
			return false, errors.New("nothing to repeat")
		}
		p.pos++
	case '(':
		return p.group()
	case '[':
		return true, p.class()
	case '\\':
		p.pos++
		_, err := p.escape(false)
		return true, err
	default:
		p.pos++
	}
	return true, nil
}

// quantifier reads one if it is there. A `{` that begins none is text.
func (p *regexParser) quantifier() (found bool, err error) {
	start := p.pos
	switch {
	case p.take("*"), p.take("+"), p.take("?"):
	case p.take("{"):
		low, ok := p.number()
		high := low
		if p.take(",") {
			high = "" // without end
			if n, given := p.number(); given {
				high = n
			}
		}
		if !ok || !p.take("}") {
			p.pos = start
			return false, nil
		}
		if high != "" && lessNumber(high, low) {
			return true, errors.New("numbers of a repetition out of order")
		}
	default:
		return false, nil
	}
	p.take("?")
	return true, nil
}

func (p *regexParser) number() (digits string, ok bool) {
	start := p.pos
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.pos++
	}
	return string(p.in[start:p.pos]), p.pos > start
}

// lessNumber compares two texts of digits; numbers too large for the engine count as equal.
func lessNumber(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && (errY != nil || x < y)
}

func (p *regexParser) group() (repeatable bool, err error) {
	p.pos++
	repeatable = true
	if p.take("?") {
		switch {
		case p.take(":"), p.take("="), p.take("!"):
		case p.take("<="), p.take("<!"):
			repeatable = false
		case p.take("<"):
			name, ok := p.name()
			if !ok || slices.Contains(p.scope, name) {
				return false, errors.New("invalid group name, or one twice")
			}
			p.scope, p.named = append(p.scope, name), append(p.named, name)
		case !p.modifiers():
			return false, errors.New("invalid group")
		}
	}
	if p.depth++; p.depth > maxRegexGroups {
		return false, errors.New("groups nested too deeply")
	}
	if err := p.alternatives(); err != nil {
		return false, err
	}
	p.depth--
	if !p.take(")") {
		return false, errors.New("unterminated group")
	}
	return repeatable, nil
}

// modifiers reads `ims-ims:`; each letter once, and at least one.
func (p *regexParser) modifiers() bool {
	seen, minus := "", false
	for {
		switch c := p.peek(); {
		case c == ':':
			p.pos++
			return seen != ""
		case c == '-' && !minus:
			minus = true
		case c > 0 && strings.ContainsRune("ims", c) && !strings.ContainsRune(seen, c):
			seen += string(c)
		default:
			return false
		}
		p.pos++
	}
}

// name reads a group's name and the `>` behind it.
func (p *regexParser) name() (string, bool) {
	var name []rune
	for {
		c := p.peek()
		p.pos++
		if c == '>' {
			return string(name), len(name) > 0
		}
		if c == '\\' && p.take("u") {
			c = p.unicodeEscape(true)
		}
		begins := c == '$' || c == '_' || unicode.IsLetter(c) || unicode.Is(unicode.Nl, c)
		if c < 0 || !begins && (len(name) == 0 || !unicode.In(c, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) && c != 0x200c && c != 0x200d) {
			return "", false
		}
		name = append(name, c)
	}
}

// unicodeEscape reads what follows `\u`; -1, and nothing read, where it is no escape.
func (p *regexParser) unicodeEscape(braces bool) rune {
	start := p.pos
	if braces && p.take("{") {
		for p.peek() != '}' && p.peek() >= 0 {
			p.pos++
		}
		n, err := strconv.ParseUint(string(p.in[start+1:p.pos]), 16, 32)
		if p.take("}") && err == nil && n <= unicode.MaxRune {
			return rune(n)
		}
		p.pos = start
		return -1
	}
	return p.hex(4)
}

func (p *regexParser) hex(digits int) rune {
	if p.pos+digits > len(p.in) {
		return -1
	}
	n, err := strconv.ParseUint(string(p.in[p.pos:p.pos+digits]), 16, 32)
	if err != nil {
		return -1
	}
	p.pos += digits
	return rune(n)
}

// escape reads what follows a backslash. What has no meaning stands for itself; -1 is a class of characters.
func (p *regexParser) escape(inClass bool) (rune, error) {
	c := p.peek()
	p.pos++
	switch {
	case c < 0:
		return 0, errors.New("\\ at the end")
	case strings.ContainsRune("dDwWsS", c):
		return -1, nil
	case c == 'k' && !inClass:
		name := ""
		if p.take("<") {
			name, _ = p.name()
		}
		p.references = append(p.references, name)
	case c == 'b' && inClass:
		return '\b', nil
	case c == 'u' || c == 'x':
		digits := map[rune]int{'u': 4, 'x': 2}[c]
		if n := p.hex(digits); n >= 0 {
			return n, nil
		}
	case c == 'c':
		if l := p.peek(); l >= 'a' && l <= 'z' || l >= 'A' && l <= 'Z' {
			p.pos++
			return l % 32, nil
		}
		p.pos--
		return '\\', nil
	case c >= '0' && c <= '7':
		return p.octal(c - '0'), nil
	case strings.ContainsRune("tnvfr", c):
		return map[rune]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}[c], nil
	}
	return c, nil
}

func (p *regexParser) octal(n rune) rune {
	for c := p.peek(); c >= '0' && c <= '7' && n*8+c-'0' <= 0o377; c = p.peek() {
		n = n*8 + c - '0'
		p.pos++
	}
	return n
}

func (p *regexParser) class() error {
	p.pos++
	p.take("^")
	for !p.take("]") {
		low, err := p.classAtom()
		if err != nil {
			return err
		}
		if p.peek() != '-' || p.pos+1 < len(p.in) && p.in[p.pos+1] == ']' {
			continue
		}
		p.pos++
		high, err := p.classAtom()
		if err != nil {
			return err
		}
		if low >= 0 && high >= 0 && low > high {
			return errors.New("range out of order in a class")
		}
	}
	return nil
}

func (p *regexParser) classAtom() (rune, error) {
	c := p.peek()
	p.pos++
	if c < 0 {
		return 0, errors.New("unterminated class")
	}
	if c == '\\' {
		return p.escape(true)
	}
	return c, nil
}
