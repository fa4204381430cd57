package facts

import (
	"runtime"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a shell variable holds: one text, or the elements of an array.
type value struct {
	list    []string // one element for an ordinary variable
	fetched bool
}

func (v value) text() string { return strings.Join(v.list, " ") }

// maxBraces bounds the words that the braces of one word stand for.
const maxBraces = 1000

// What expansion builds beyond these lengths is unknown: one value, all values of a text, what commands print.
const (
	maxValue = 64 << 10
	maxText  = 4 << 20
	maxFlow  = 16 << 20
)

// maxPath is longer than any path that a system takes.
const maxPath = 8 << 10

// fields expands words as bash does: braces, tilde, parameters, substitutions, splitting, globs.
func (w *walk) fields(st *state, words []*syntax.Word) []Word {
	var out []Word
	for _, word := range words {
		out = append(out, w.expand(st, word)...)
	}
	return out
}

// expand turns one word into fields. What cannot be known is a Hole in the field's text.
func (w *walk) expand(st *state, word *syntax.Word) []Word {
	raw := w.source(word)
	var out []Word
	for _, parts := range w.braces(word) {
		b := fieldBuilder{raw: raw}
		w.tilde(st, &b, parts)
		for _, part := range parts {
			w.part(st, &b, part, false)
		}
		for _, f := range b.done() {
			out = append(out, w.glob(st, f)...)
		}
		if len(out) > 4*maxGlob {
			w.opaque = true
			break
		}
	}
	return out
}

// literal expands a word without splitting and globs, as in an assignment, a here-string or a redirection's target.
func (w *walk) literal(st *state, word *syntax.Word) Word {
	if word == nil {
		return Word{}
	}
	b := fieldBuilder{raw: w.source(word), whole: true}
	w.tilde(st, &b, word.Parts)
	for _, part := range word.Parts {
		w.part(st, &b, part, false)
	}
	f := b.one()
	return Word{Text: f.text, Raw: f.raw, Fetched: f.fetched}
}

// field is an expanded word before its globs: pat is text with a backslash before quoted special characters.
type field struct {
	text, pat, raw string
	fetched, glob  bool
}

type fieldBuilder struct {
	raw       string
	whole     bool // no splitting
	out       []field
	text, pat strings.Builder
	started   bool // there is a field, even if it is empty
	fetched   bool
	tilde     int // length of the part of the first literal that tilde expansion used
}

func (b *fieldBuilder) quoted(s string) {
	b.started = true
	b.text.WriteString(s)
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[\`, s[i]) >= 0 {
			b.pat.WriteByte('\\')
		}
		b.pat.WriteByte(s[i])
	}
}

func (b *fieldBuilder) plain(s string) {
	if s == "" {
		return
	}
	b.started = true
	b.text.WriteString(s)
	b.pat.WriteString(s)
}

// split adds an unquoted expansion: it is cut at the separators, and its wildcards count.
func (b *fieldBuilder) split(s, ifs string) {
	if b.whole {
		b.quoted(s)
		return
	}
	for i, piece := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(ifs, r) }) {
		if i > 0 || s != "" && strings.ContainsRune(ifs, rune(s[0])) {
			b.cut()
		}
		b.plain(piece)
	}
	if s != "" && strings.ContainsRune(ifs, rune(s[len(s)-1])) {
		b.cut()
	}
}

func (b *fieldBuilder) cut() {
	if !b.started {
		return
	}
	b.out = append(b.out, field{b.text.String(), b.pat.String(), b.raw, b.fetched, globMeta(b.pat.String())})
	b.text.Reset()
	b.pat.Reset()
	b.started, b.fetched = false, false
}

func (b *fieldBuilder) done() []field {
	b.cut()
	return b.out
}

func (b *fieldBuilder) one() field {
	return field{b.text.String(), b.pat.String(), b.raw, b.fetched, false}
}

// braces lists what the braces of a word stand for, as lists of parts.
func (w *walk) braces(word *syntax.Word) [][]syntax.WordPart {
	split := &syntax.Word{Parts: slices.Clone(word.Parts)}
	if len(w.source(word)) > 1<<16 || !syntax.SplitBraces(split) {
		return [][]syntax.WordPart{word.Parts}
	}
	return w.alternatives(split.Parts, 0)
}

func (w *walk) alternatives(parts []syntax.WordPart, depth int) [][]syntax.WordPart {
	out := [][]syntax.WordPart{nil}
	for _, part := range parts {
		brace, ok := part.(*syntax.BraceExp)
		options := [][]syntax.WordPart{{part}}
		if ok {
			options = w.braceOptions(brace, depth)
		}
		if len(out)*len(options) > maxBraces {
			w.opaque = true
			return [][]syntax.WordPart{{&syntax.Lit{Value: Hole}}}
		}
		next := make([][]syntax.WordPart, 0, len(out)*len(options))
		for _, head := range out {
			for _, tail := range options {
				next = append(next, append(slices.Clone(head), tail...))
			}
		}
		out = next
	}
	return out
}

func (w *walk) braceOptions(brace *syntax.BraceExp, depth int) [][]syntax.WordPart {
	var options [][]syntax.WordPart
	if depth > 50 {
		w.opaque = true
		return [][]syntax.WordPart{nil}
	}
	if brace.Sequence {
		for _, s := range sequence(brace) {
			options = append(options, []syntax.WordPart{&syntax.Lit{Value: s}})
		}
	} else {
		for _, elem := range brace.Elems {
			options = append(options, w.alternatives(elem.Parts, depth+1)...)
		}
	}
	if len(options) == 0 || len(options) > maxBraces {
		w.opaque = true
		return [][]syntax.WordPart{nil}
	}
	return options
}

// sequence lists {a..b} and {a..b..step}, numbers with leading zeros or single letters.
func sequence(brace *syntax.BraceExp) []string {
	if len(brace.Elems) < 2 {
		return nil
	}
	from, to := brace.Elems[0].Lit(), brace.Elems[1].Lit()
	step := 1
	if len(brace.Elems) > 2 {
		if n, err := strconv.Atoi(brace.Elems[2].Lit()); err == nil && n != 0 {
			step = max(n, -n)
		}
	}
	a, errA := strconv.Atoi(from)
	b, errB := strconv.Atoi(to)
	letters := errA != nil || errB != nil
	if letters {
		if len(from) != 1 || len(to) != 1 {
			return nil
		}
		a, b = int(from[0]), int(to[0])
	}
	width := 0
	if !letters && (strings.HasPrefix(from, "0") || strings.HasPrefix(to, "0")) {
		width = max(len(from), len(to))
	}
	var out []string
	for n := a; (a <= b && n <= b || a > b && n >= b) && len(out) <= maxBraces; {
		s := strconv.Itoa(n)
		if letters {
			s = string(rune(n))
		}
		for len(s) < width {
			s = "0" + s
		}
		out = append(out, s)
		if a <= b {
			n += step
		} else {
			n -= step
		}
	}
	return out
}

// tilde expands ~, ~/, ~+ and ~user at the start of a word.
func (w *walk) tilde(st *state, b *fieldBuilder, parts []syntax.WordPart) {
	if len(parts) == 0 {
		return
	}
	lit, ok := parts[0].(*syntax.Lit)
	if !ok || !strings.HasPrefix(lit.Value, "~") {
		return
	}
	name, _, slash := strings.Cut(lit.Value[1:], "/")
	if !slash && len(parts) > 1 || strings.ContainsAny(name, `\`) {
		return
	}
	home := ""
	switch name {
	case "":
		home = w.home(st)
	case "+":
		home = st.dirOr(Hole)
	case "-":
		home = Hole
	default:
		home = userHome(name)
	}
	b.quoted(home)
	b.tilde = 1 + len(name)
}

// userHome is where the home directory of another user is by custom.
func userHome(name string) string {
	switch {
	case name == "root" && runtime.GOOS == "darwin":
		return "/var/root"
	case name == "root":
		return "/root"
	case runtime.GOOS == "darwin":
		return "/Users/" + name
	}
	return "/home/" + name
}

func (w *walk) home(st *state) string {
	if v, ok := st.vars["HOME"]; ok {
		return v.text()
	}
	if w.f.in.Home == "" {
		return Hole
	}
	return w.f.in.Home
}

// part adds one part of a word; inside is true within double quotes.
func (w *walk) part(st *state, b *fieldBuilder, part syntax.WordPart, inside bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		text := p.Value
		if b.tilde > 0 {
			text, b.tilde = text[b.tilde:], 0
		}
		b.lit(text, inside)
	case *syntax.SglQuoted:
		if p.Dollar {
			b.quoted(ansiC(p.Value))
		} else {
			b.quoted(p.Value)
		}
	case *syntax.DblQuoted:
		b.started = b.started || len(p.Parts) == 0
		for _, in := range p.Parts {
			w.part(st, b, in, true)
		}
	case *syntax.ParamExp:
		w.param(st, b, p, inside)
	case *syntax.CmdSubst:
		flow := w.substitute(st, p.Stmts)
		b.fetched = b.fetched || flow.Fetched
		if !flow.Known {
			b.hole()
			return
		}
		b.value(st, strings.TrimRight(flow.Text, "\n"), inside)
	case *syntax.ProcSubst:
		w.procSubst(st, b, p)
	case *syntax.ExtGlob:
		// What it stands for is not worked out: it may be any name.
		b.plain("*")
	default: // arithmetic
		w.inner(st, part)
		b.hole()
	}
}

func (b *fieldBuilder) hole() {
	b.started = true
	b.text.WriteString(Hole)
	b.pat.WriteString(Hole)
}

// value adds the known result of an expansion.
func (b *fieldBuilder) value(st *state, s string, inside bool) {
	if st.grown += len(s); len(s) > maxValue || st.grown > maxText {
		b.hole()
		return
	}
	if inside {
		b.quoted(s)
		return
	}
	b.split(s, st.ifs())
}

// lit adds source text: outside of quotes a backslash quotes any character, inside only some.
func (b *fieldBuilder) lit(s string, inside bool) {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			break
		}
		b.lit1(s[:i], inside)
		switch c := s[i+1]; {
		case c == '\n':
		case inside && strings.IndexByte("$`\"\\", c) < 0:
			b.quoted(s[i : i+2])
		default:
			b.quoted(s[i+1 : i+2])
		}
		s = s[i+2:]
	}
	b.lit1(s, inside)
}

func (b *fieldBuilder) lit1(s string, inside bool) {
	if inside {
		b.quoted(s)
		return
	}
	b.plain(s)
}

// glob replaces a field by the names that it matches on the disk.
func (w *walk) glob(st *state, f field) []Word {
	word := Word{Text: f.text, Raw: f.raw, Fetched: f.fetched}
	if !f.glob {
		return []Word{word}
	}
	word.Glob = f.pat
	if strings.Contains(f.pat, Hole) {
		return []Word{word}
	}
	dir := st.dirOr("")
	if dir == "" && !strings.HasPrefix(f.pat, "/") {
		return []Word{word}
	}
	if w.globs++; w.globs > 200 {
		w.opaque = true
		return []Word{word}
	}
	names := shellGlob(f.pat, dir)
	if len(names) == 0 {
		return []Word{word}
	}
	out := make([]Word, len(names))
	for i, name := range names {
		out[i] = Word{Text: name, Raw: f.raw, Glob: f.pat}
	}
	return out
}
