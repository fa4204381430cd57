package glob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxPattern = 4096 // bytes
	maxNesting = 200  // braces inside braces
)

// dialect is what the special characters mean.
type dialect uint8

const (
	paths dialect = iota // `*`, `?` and classes stop at "/"; `**` is any number of segments
	args                 // everything crosses separators; `**/` also matches nothing
	names                // only `*` and `?` are special, and they match anything
)

type opcode uint8

const (
	opChar  opcode = iota // r
	opAny                 // one character
	opClass               // one character of class
	opStar                // any number of characters, none too
	opDeep                // `**`: any number of characters, "/" too
	opGap                 // before each opDeep: it and the "/" after it may stand for nothing
	opFork                // goes on at each of to
	opEnd
)

// node is one state of the matcher. Those that read a character go on at the next node; opStar and opDeep also stay.
type node struct {
	op    opcode
	final bool // the pattern holds here if the text ends: only stars, or a "/**", are left
	r     rune
	class *class
	to    []int // opFork: the alternatives; opGap: the nodes behind the "/"
}

type class struct {
	negated bool
	ranges  []struct{ lo, hi rune }
}

func (c *class) listed(r rune) bool {
	for _, x := range c.ranges {
		if x.lo <= r && r <= x.hi {
			return true
		}
	}
	return false
}

type program struct {
	dialect dialect
	fold    bool
	prefix  string // literal start of every match; what matches it is not in nodes
	suffix  string // literal end of every match
	nodes   []node
	tables
}

type compiler struct {
	src     string
	pos     int
	dialect dialect
	nodes   []node
}

func compile(pattern string, d dialect) (Pattern, error) {
	fail := func(err error) (Pattern, error) {
		return Pattern{}, fmt.Errorf("malformed glob %s: %w", shown(pattern), err)
	}
	switch {
	case pattern == "":
		return Pattern{}, errors.New("a glob may not be empty")
	case len(pattern) > maxPattern:
		return fail(fmt.Errorf("longer than %d bytes", maxPattern))
	}
	c := &compiler{src: pattern, dialect: d}
	prefix := c.prefix()
	if err := c.sequence(0); err != nil {
		return fail(err)
	}
	c.emit(node{op: opEnd})
	c.link()
	return Pattern{&program{dialect: d, prefix: prefix, suffix: c.suffix(), nodes: c.nodes, tables: tabulate(c.nodes, d)}}, nil
}

func shown(pattern string) string {
	const most = 80
	if len(pattern) > most {
		pattern = strings.ToValidUTF8(pattern[:most], "") + "…"
	}
	return fmt.Sprintf("%q", pattern)
}

func (c *compiler) emit(n node) int {
	c.nodes = append(c.nodes, n)
	return len(c.nodes) - 1
}

// prefix reads what is literal at the start, but no "/" before a special character: "a/**" also matches "a".
func (c *compiler) prefix() string {
	n := strings.IndexAny(c.src, `*?[{}\`)
	if n < 0 {
		n = len(c.src)
	}
	p := c.src[:n]
	if n < len(c.src) {
		p = strings.TrimRight(p, "/")
	}
	if !utf8.ValidString(p) {
		p = "" // as bytes, half a character would match
	}
	c.pos = len(p)
	return p
}

// sequence reads up to the end, or inside braces up to "," or "}", which it leaves.
func (c *compiler) sequence(depth int) error {
	for c.pos < len(c.src) {
		switch b := c.src[c.pos]; {
		case b == '*':
			c.stars()
		case b == '?':
			c.pos++
			c.emit(node{op: opAny})
		case c.dialect == names:
			c.char()
		case b == '[':
			if err := c.class(); err != nil {
				return err
			}
		case b == '{':
			if err := c.braces(depth); err != nil {
				return err
			}
		case depth > 0 && (b == ',' || b == '}'):
			return nil
		case b == '}':
			return fmt.Errorf(`"}" at offset %d closes nothing`, c.pos)
		case b == '\\':
			if c.pos++; c.pos == len(c.src) {
				return errors.New("nothing follows the last backslash")
			}
			c.char()
		default:
			c.char()
		}
	}
	return nil
}

func (c *compiler) char() { c.emit(node{op: opChar, r: c.next()}) }

// next reads one character of the pattern.
func (c *compiler) next() rune {
	r, n := decode(c.src[c.pos:])
	c.pos += n
	return r
}

// decode reads one character; a byte that is not UTF-8 is a character of its own, equal to itself only.
func decode(s string) (r rune, size int) {
	if b := s[0]; b < utf8.RuneSelf {
		return rune(b), 1
	}
	r, size = utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		r = utf8.MaxRune + 1 + rune(s[0])
	}
	return r, size
}

// stars reads a run of stars: one is opStar, more are opDeep.
func (c *compiler) stars() {
	start := c.pos
	for c.pos < len(c.src) && c.src[c.pos] == '*' {
		c.pos++
	}
	if c.pos-start == 1 || c.dialect == names {
		c.emit(node{op: opStar})
		return
	}
	c.emit(node{op: opGap})
	c.emit(node{op: opDeep})
}

func (c *compiler) class() error {
	start := c.pos
	unclosed := fmt.Errorf(`"[" at offset %d is not closed`, start)
	c.pos++
	k := &class{}
	if c.pos < len(c.src) && (c.src[c.pos] == '!' || c.src[c.pos] == '^') {
		k.negated = true
		c.pos++
	}
	if strings.HasPrefix(c.src[c.pos:], "[:") {
		return fmt.Errorf(`offset %d: named classes like "[:alpha:]" are not known (write "\[" for the character)`, start)
	}
	for c.pos < len(c.src) && c.src[c.pos] != ']' {
		lo, err := c.member(unclosed)
		if err != nil {
			return err
		}
		hi := lo
		if rest := c.src[c.pos:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			c.pos++
			if hi, err = c.member(unclosed); err != nil {
				return err
			}
		}
		if hi < lo {
			return fmt.Errorf("offset %d: a range in brackets runs backwards", start)
		}
		k.ranges = append(k.ranges, struct{ lo, hi rune }{lo, hi})
	}
	switch {
	case c.pos == len(c.src):
		return unclosed
	case len(k.ranges) == 0:
		return fmt.Errorf(`offset %d: the brackets are empty (write "\]" for the character)`, start)
	}
	c.pos++
	c.emit(node{op: opClass, class: k})
	return nil
}

func (c *compiler) member(unclosed error) (rune, error) {
	if c.src[c.pos] == '\\' {
		if c.pos++; c.pos == len(c.src) {
			return 0, unclosed
		}
	}
	return c.next(), nil
}

// braces reads {a,b}: a fork to the alternatives, each of which ends in a jump (a fork of one) behind the braces.
func (c *compiler) braces(depth int) error {
	start := c.pos
	if depth == maxNesting {
		return fmt.Errorf("more than %d braces inside each other", maxNesting)
	}
	c.pos++
	fork := c.emit(node{op: opFork})
	var ends []int
	for {
		c.nodes[fork].to = append(c.nodes[fork].to, len(c.nodes))
		if err := c.sequence(depth + 1); err != nil {
			return err
		}
		if c.pos == len(c.src) {
			return fmt.Errorf(`"{" at offset %d is not closed`, start)
		}
		ends = append(ends, c.emit(node{op: opFork}))
		last := c.src[c.pos] == '}'
		c.pos++
		if last {
			break
		}
	}
	for _, e := range ends {
		c.nodes[e].to = []int{len(c.nodes)}
	}
	return nil
}

// suffix collects the literal characters at the end, up to a "/", which "**" may swallow.
func (c *compiler) suffix() string {
	i := len(c.nodes) - 1
	for i > 0 && c.nodes[i-1].op == opChar && c.nodes[i-1].r != '/' && c.nodes[i-1].r <= utf8.MaxRune {
		i--
	}
	var b strings.Builder
	for _, n := range c.nodes[i : len(c.nodes)-1] {
		b.WriteRune(n.r)
	}
	return b.String()
}

// link works out, from the end backwards, where a "**" may stand for no segment at all: "**/x" for "x", "a/**" for "a".
// All edges but the loops of stars lead forward.
func (c *compiler) link() {
	deep := make([]bool, len(c.nodes))     // a "**" with nothing behind it starts here
	slashes := make([][]int, len(c.nodes)) // the nodes behind a "/" that stands here
	for i := len(c.nodes) - 1; i >= 0; i-- {
		n := &c.nodes[i]
		switch n.op {
		case opEnd:
			n.final = true
		case opChar:
			if n.r == '/' {
				slashes[i] = []int{i + 1}
				n.final = c.dialect == paths && deep[i+1]
			}
		case opStar, opDeep:
			n.final = c.nodes[i+1].final
		case opGap:
			n.to, n.final = slashes[i+2], c.nodes[i+2].final
			deep[i] = n.final
		case opFork:
			for _, t := range n.to {
				n.final = n.final || c.nodes[t].final
				deep[i] = deep[i] || deep[t]
				for _, s := range slashes[t] {
					if !slices.Contains(slashes[i], s) {
						slashes[i] = append(slashes[i], s)
					}
				}
			}
		}
	}
}
