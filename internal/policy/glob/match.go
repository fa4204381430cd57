package glob

import (
	"math/bits"
	"strings"
	"unicode"
)

// set is a set of nodes, one bit each.
type set []uint64

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }
func (s set) join(other set) {
	for i, w := range other {
		s[i] |= w
	}
}

func (s set) meets(other set) bool {
	for i, w := range other {
		if s[i]&w != 0 {
			return true
		}
	}
	return false
}

// tables hold what can be known before there is a text.
type tables struct {
	words   int      // per set
	enter   []uint64 // by node: the set of nodes that read next, once one is there
	segment []uint64 // the same where a path segment starts
	final   set      // nodes where the text may end
	rest    set      // nodes that match whatever follows
}

func (t *tables) at(table []uint64, i int) set { return table[i*t.words : (i+1)*t.words] }

// tabulate follows the edges that read nothing, from the end backwards: they all lead forward.
func tabulate(nodes []node, d dialect) tables {
	words := (len(nodes) + 63) / 64
	space := make([]uint64, (2*len(nodes)+2)*words)
	t := tables{words: words}
	t.final, t.rest, space = space[:words], space[words:2*words], space[2*words:]
	t.enter, t.segment = space[:len(nodes)*words], space[len(nodes)*words:]
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &nodes[i]
		for _, table := range [][]uint64{t.enter, t.segment} {
			here := t.at(table, i)
			if n.op == opStar || n.op == opDeep || n.op == opGap {
				here.join(t.at(table, i+1))
			}
			if n.op != opFork && n.op != opGap {
				here.add(i)
				continue
			}
			if n.op == opFork || d == args || &table[0] == &t.segment[0] {
				for _, to := range n.to {
					here.join(t.at(table, to))
				}
			}
		}
		if n.final {
			t.final.add(i)
		}
		if n.final && (n.op == opDeep || n.op == opStar && d != paths) {
			t.rest.add(i)
		}
	}
	return t
}

// Match reports whether the whole of s matches, in time proportional to len(s) times the length of the pattern.
func (p Pattern) Match(s string) bool {
	if p.prog == nil || !p.prog.fold && !strings.HasSuffix(s, p.prog.suffix) {
		return false
	}
	rest, ok := p.prog.cutPrefix(s)
	return ok && p.prog.run(rest, len(rest) == len(s) || s[len(s)-len(rest)-1] == '/')
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

// run follows all ways through the nodes at once, one character of s after the other; segment says that s starts a path segment.
func (p *program) run(s string, segment bool) bool {
	table := p.enter
	if segment {
		table = p.segment
	}
	if p.words == 1 {
		return p.runSmall(s, table[0])
	}
	now, then := make(set, p.words), make(set, p.words)
	now.join(p.at(table, 0))
	for s != "" {
		if now.meets(p.rest) {
			return true
		}
		r, n := decode(s)
		s = s[n:]
		if !p.step(now, then, r) {
			return false
		}
		now, then = then, now
	}
	return now.meets(p.final)
}

// runSmall is run for patterns whose set is one word: nearly all.
func (p *program) runSmall(s string, now uint64) bool {
	rest := p.rest[0]
	for s != "" {
		if now&rest != 0 {
			return true
		}
		r, n := decode(s)
		s = s[n:]
		table, free := p.after(r)
		var then uint64
		for word := now; word != 0; word &= word - 1 {
			if to, ok := p.read(bits.TrailingZeros64(word), r, free); ok {
				then |= table[to]
			}
		}
		if now = then; now == 0 {
			return false
		}
	}
	return now&p.final[0] != 0
}

// after tells what holds behind r, and whether a wildcard of one segment may stand for it.
func (p *program) after(r rune) (table []uint64, free bool) {
	if r == '/' {
		return p.segment, p.dialect != paths
	}
	return p.enter, true
}

// step reads one character: then becomes what now leads to. It reports whether any way goes on.
func (p *program) step(now, then set, r rune) (alive bool) {
	clear(then)
	table, free := p.after(r)
	for w, word := range now {
		for ; word != 0; word &= word - 1 {
			i := w*64 + bits.TrailingZeros64(word)
			if to, ok := p.read(i, r, free); ok {
				then.join(p.at(table, to))
				alive = true
			}
		}
	}
	return alive
}

// read says where node i goes on after r; free says that a wildcard of one segment may stand for r.
func (p *program) read(i int, r rune, free bool) (to int, ok bool) {
	n := &p.nodes[i]
	switch n.op {
	case opDeep:
		return i, true
	case opStar:
		return i, free
	case opAny:
		return i + 1, free
	case opClass:
		return i + 1, free && n.class.has(r, p.fold)
	case opChar:
		return i + 1, n.r == r || p.fold && foldRune(n.r) == foldRune(r)
	}
	return 0, false
}

func (c *class) has(r rune, fold bool) bool {
	in := c.listed(r)
	if fold {
		for f := unicode.SimpleFold(r); f != r && !in; f = unicode.SimpleFold(f) {
			in = c.listed(f)
		}
	}
	return in != c.negated
}
