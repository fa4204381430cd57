package glob

import (
	"strings"
	"unicode"
)

// Match reports whether the whole of s matches, in time proportional to len(s) times the length of the pattern.
func (p Pattern) Match(s string) bool {
	if p.prog == nil {
		return false
	}
	rest, ok := p.prog.cutPrefix(s)
	if !ok {
		return false
	}
	m := matcher{program: p.prog}
	m.reset(len(p.prog.nodes))
	m.segment = len(rest) == len(s) || s[len(s)-len(rest)-1] == '/'
	m.enter(0)
	for rest != "" {
		r, n := decode(rest)
		if rest = rest[n:]; !m.step(r) {
			return false
		}
	}
	for _, i := range m.now {
		if p.prog.nodes[i].final {
			return true
		}
	}
	return false
}

func (p *program) cutPrefix(s string) (rest string, ok bool) {
	if !p.fold {
		return strings.CutPrefix(s, p.prefix)
	}
	for want := p.prefix; want != ""; {
		if s == "" {
			return "", false
		}
		w, wn := decode(want)
		r, rn := decode(s)
		if foldRune(w) != foldRune(r) {
			return "", false
		}
		want, s = want[wn:], s[rn:]
	}
	return s, true
}

// foldRune returns the same rune for all that differ by case only.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// matcher walks all ways through the nodes at once, one character of the text after the other.
type matcher struct {
	*program
	segment   bool // the next character starts a path segment
	now, then []int
	seen      []int // by node: the last round that reached it
	round     int
	space     [3 * 48]int // so that usual patterns allocate nothing
}

func (m *matcher) reset(n int) {
	space := m.space[:]
	if 3*n > len(space) {
		space = make([]int, 3*n)
	}
	m.then, m.now, m.seen = space[:0:n], space[n:n:2*n], space[2*n:3*n]
	m.round = 1
}

// enter adds node i, and what follows it without reading a character, to now.
func (m *matcher) enter(i int) {
	if m.seen[i] == m.round {
		return
	}
	m.seen[i] = m.round
	n := &m.nodes[i]
	switch n.op {
	case opStar, opDeep, opGap:
		m.enter(i + 1)
	}
	switch {
	case n.op == opFork, n.op == opGap && (m.segment || m.dialect == args):
		for _, t := range n.to {
			m.enter(t)
		}
	case n.op != opGap:
		m.now = append(m.now, i)
	}
}

// step reads one character and reports whether any way goes on.
func (m *matcher) step(r rune) bool {
	m.now, m.then = m.then[:0], m.now
	m.round++
	m.segment = r == '/'
	for _, i := range m.then {
		n := &m.nodes[i]
		switch n.op {
		case opDeep:
			m.enter(i)
		case opStar:
			if m.free(r) {
				m.enter(i)
			}
		case opAny:
			if m.free(r) {
				m.enter(i + 1)
			}
		case opChar:
			if n.r == r || m.fold && foldRune(n.r) == foldRune(r) {
				m.enter(i + 1)
			}
		case opClass:
			if m.free(r) && m.inClass(n.class, r) {
				m.enter(i + 1)
			}
		}
	}
	return len(m.now) > 0
}

// free reports whether a wildcard of one segment may stand for r.
func (m *matcher) free(r rune) bool { return r != '/' || m.dialect != paths }

func (m *matcher) inClass(c *class, r rune) bool {
	in := c.listed(r)
	if m.fold {
		for f := unicode.SimpleFold(r); f != r && !in; f = unicode.SimpleFold(f) {
			in = c.listed(f)
		}
	}
	return in != c.negated
}
