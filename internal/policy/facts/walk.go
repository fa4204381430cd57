package facts

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walk gathers what a shell text does. It follows the text as if every command succeeded; what only may happen counts as
// happening.
type walk struct {
	f        *Facts
	src      string // the text that the nodes at hand were parsed from
	opaque   bool
	cut      bool // a part of the text was not walked at all
	commands []Command
	files    []File
	gits     []gitCall
	written  map[string]Flow // absolute path → what an earlier command of the text wrote there
	made     map[string]bool // directories that an earlier command of the text makes
	strict   bool            // set -e: what fails ends the text

	steps, globs, depth int
	recorded            int                   // words of all commands
	parsed, trees       int                   // bytes parsed, directories walked
	active              map[*syntax.Stmt]bool // functions being walked
	called              map[*syntax.Stmt]bool
	procIn              Flow // what >( ) of the command at hand reads
	procs               map[string]Flow
}

// Bounds of the work on one event; beyond them the text is opaque. Beyond maxSteps the walk goes on, but goes everywhere only
// once, so that no loop and no filling hides what comes behind it. What is not walked at all is cut.
const (
	maxSteps = 4000
	maxWords = 2 << 20
	maxDepth = 100  // texts within texts, functions within functions
	maxNest  = 1000 // brackets within brackets, quoted or not: the parser recurses
	maxLoop  = 64   // rounds of a loop over known words
	maxTrees = 64   // directories whose files are listed

	maxParsed = 256 << 10 // bytes of texts within texts, beyond four times the text itself
)

// state is what the shell at hand knows; a subshell works on a copy.
type state struct {
	dirs    []string // directories it may be in, likeliest first; none: unknown
	old     []string // where cd - goes
	stack   [][]string
	shaky   bool // the last cd may have failed
	vars    map[string]value
	funcs   map[string]*syntax.Stmt
	aliases map[string]string
	params  []Word // nil: unknown
	branch  map[string]string
	shared  bool // the maps are another shell's, too: what is set there is known to neither
	*growth
}

// growth is what the whole text has in common.
type growth struct {
	grown int  // what expansions brought
	brief bool // the walk has passed maxSteps
}

// maxCopied is how many names a subshell gets copies of when there may be very many subshells.
const maxCopied = 32

func (st *state) clone() *state {
	c := *st
	c.dirs = slices.Clone(st.dirs)
	if c.shared = st.brief && len(st.vars)+len(st.funcs)+len(st.aliases)+len(st.branch) > maxCopied; c.shared {
		return &c
	}
	c.vars, c.funcs, c.aliases, c.branch = maps.Clone(st.vars), maps.Clone(st.funcs), maps.Clone(st.aliases), maps.Clone(st.branch)
	return &c
}

// dirOr is the likeliest directory, or other when there is none.
func (st *state) dirOr(other string) string {
	if len(st.dirs) == 0 {
		return other
	}
	return st.dirs[0]
}

func (st *state) ifs() string {
	if v, ok := st.vars["IFS"]; ok {
		return v.text()
	}
	return " \t\n"
}

func (st *state) set(name string, v value) {
	if st.shared {
		v.list = []string{Hole}
	}
	st.vars[name] = v
}

// addDirs makes further directories possible.
func (st *state) addDirs(dirs []string) {
	for _, d := range dirs {
		if !slices.Contains(st.dirs, d) && len(st.dirs) < 4 {
			st.dirs = append(st.dirs, d)
		}
	}
}

// merge takes in what another way through the text would have left: a variable that differs is unknown.
func (st *state) merge(other *state) {
	if !other.shared {
		st.mergeNames(other)
	}
	if len(st.dirs) == 0 || len(other.dirs) == 0 {
		st.dirs = nil
		return
	}
	st.addDirs(other.dirs)
}

func (st *state) mergeNames(other *state) {
	for name, v := range other.vars {
		if mine, ok := st.vars[name]; !ok || !slices.Equal(mine.list, v.list) {
			st.vars[name] = value{list: []string{Hole}, fetched: v.fetched || mine.fetched}
		}
	}
	for name := range st.vars {
		if _, ok := other.vars[name]; !ok {
			st.vars[name] = value{list: []string{Hole}, fetched: st.vars[name].fetched}
		}
	}
	for name, body := range other.funcs {
		if _, ok := st.funcs[name]; !ok {
			st.funcs[name] = body
		}
	}
	for dir, name := range other.branch {
		if st.branch[dir] != name {
			st.branch[dir] = Hole
		}
	}
}

// Shell is what the text of a shell tool does; nil for other tools.
func (f *Facts) Shell() *Shell {
	w := f.walk()
	if w == nil {
		return nil
	}
	return &Shell{Opaque: w.opaque, Cut: w.cut, Commands: w.commands}
}

func (f *Facts) walkShell() *walk {
	if !f.IsShell() {
		return nil
	}
	w := newWalk(f)
	st := newState([]string{f.cwd})
	w.text(f.ShellText(), st, Flow{})
	w.uncalled(st)
	return w
}

func newWalk(f *Facts) *walk {
	return &walk{
		f: f, written: map[string]Flow{}, made: map[string]bool{}, procs: map[string]Flow{},
		active: map[*syntax.Stmt]bool{}, called: map[*syntax.Stmt]bool{},
	}
}

func newState(dirs []string) *state {
	return &state{
		dirs: dirs, vars: map[string]value{}, funcs: map[string]*syntax.Stmt{}, aliases: map[string]string{}, branch: map[string]string{}, growth: &growth{},
	}
}

// text parses a script and walks it. Statements before one that does not parse are walked: bash runs them too.
func (w *walk) text(src string, st *state, in Flow) Flow {
	if strings.Contains(src, Hole) {
		w.opaque = true
	}
	w.parsed += len(src)
	if w.depth >= maxDepth || nesting(src) > maxNest || w.parsed > 4*len(w.f.ShellText())+maxParsed {
		w.giveUp()
		w.tokens(src, st)
		return Flow{}
	}
	src = singleNots(src)
	outer := w.src
	w.src = src
	w.depth++
	defer func() { w.src = outer; w.depth-- }()
	out := Flow{Known: true}
	for stmt, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(src)) {
		if err != nil {
			w.opaque = true
			w.tokens(src, st)
			return Flow{Fetched: out.Fetched}
		}
		out = out.then(w.stmt(stmt, st, in))
	}
	return out
}

// giveUp is for what is too deep or too long to be walked.
func (w *walk) giveUp() { w.opaque, w.cut = true, true }

// room counts one of the walk's steps and reports whether there is room for more of what they find.
func (w *walk) room(st *state) bool {
	if w.steps++; w.steps > maxSteps {
		w.opaque, st.brief = true, true
	}
	if w.recorded > maxWords {
		w.giveUp()
		return false
	}
	return true
}

// singleNots takes pairs of negations out of a text that does not parse, at the same length: bash reads `! !`, the parser
// does not.
func singleNots(src string) string {
	if !strings.Contains(src, "! !") {
		return src
	}
	if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), ""); err == nil {
		return src
	}
	return strings.ReplaceAll(src, "! !", "   ")
}

// nesting is how deep the brackets of a text go, quoted or not.
func nesting(src string) int {
	depth, deepest := 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '(', '{', '[':
			depth++
			deepest = max(deepest, depth)
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
	}
	return deepest
}

// uncalled walks the functions that the text defines without calling them: a later call of the session may.
func (w *walk) uncalled(st *state) {
	for _, name := range slices.Sorted(maps.Keys(st.funcs)) {
		if body := st.funcs[name]; !w.called[body] {
			inner := st.clone()
			inner.params = nil
			w.body(body, inner, Flow{})
		}
	}
}

func (w *walk) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(w.src) || from > to {
		return ""
	}
	return w.src[from:to]
}

// then joins what two commands print one after the other.
func (a Flow) then(b Flow) Flow {
	out := Flow{From: a.From || b.From, Known: a.Known && b.Known, Fetched: a.Fetched || b.Fetched}
	if out.Known && len(a.Text)+len(b.Text) <= maxFlow {
		out.Text = a.Text + b.Text
	} else {
		out.Known = false
	}
	if out.names = a.names; out.names == nil {
		out.names = b.names
	}
	return out
}

func (w *walk) stmts(list []*syntax.Stmt, st *state, in Flow) Flow {
	out := Flow{Known: true}
	for _, s := range list {
		out = out.then(w.stmt(s, st, in))
	}
	return out
}

// stmt walks one statement and gives what it prints.
func (w *walk) stmt(s *syntax.Stmt, st *state, in Flow) Flow {
	if !w.room(st) {
		return Flow{}
	}
	before := slices.Clone(st.dirs)
	st.shaky = false
	out := w.step(s, st, in)
	if st.shaky && !w.strict && len(st.dirs) > 0 {
		st.addDirs(before)
	}
	st.shaky = false
	return out
}

// step is stmt inside of an && list, where what follows runs only if this succeeds.
func (w *walk) step(s *syntax.Stmt, st *state, in Flow) Flow {
	if s.Background {
		st = st.clone()
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		return w.callStmt(s, call, st, in)
	}
	in = w.inputs(s.Redirs, st, in)
	out := Flow{Known: true}
	if s.Cmd != nil {
		out = w.command(s.Cmd, st, in)
	}
	return w.outputs(s.Redirs, st, out)
}

func (w *walk) command(cmd syntax.Command, st *state, in Flow) Flow {
	switch c := cmd.(type) {
	case *syntax.Block:
		return w.stmts(c.Stmts, st, in)
	case *syntax.Subshell:
		return w.stmts(c.Stmts, st.clone(), in)
	case *syntax.BinaryCmd:
		return w.binary(c, st, in)
	case *syntax.IfClause:
		return w.ifClause(c, st, in)
	case *syntax.WhileClause:
		out := w.stmts(c.Cond, st, in)
		round := st.clone()
		out = out.then(w.stmts(c.Do, round, in))
		st.merge(round)
		out.Known = false
		return out
	case *syntax.ForClause:
		return w.forClause(c, st, in)
	case *syntax.CaseClause:
		w.literal(st, c.Word)
		out := Flow{}
		before := st.clone()
		for _, item := range c.Items {
			way := before.clone()
			out = out.then(w.stmts(item.Stmts, way, in))
			st.merge(way)
		}
		return out
	case *syntax.FuncDecl:
		if c.Name != nil {
			st.funcs[c.Name.Value] = c.Body
		}
		return Flow{Known: true}
	case *syntax.DeclClause:
		w.declare(c, st)
		return Flow{Known: true}
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return Flow{Known: true}
		}
		return w.step(c.Stmt, st, in)
	case *syntax.CoprocClause:
		return w.stmt(c.Stmt, st.clone(), in)
	}
	w.inner(st, cmd) // [[ ]], (( )), let
	return Flow{Known: true}
}

func (w *walk) binary(c *syntax.BinaryCmd, st *state, in Flow) Flow {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		out := w.stmt(c.X, st.clone(), in)
		out.From = true
		return w.stmt(c.Y, st.clone(), out)
	case syntax.OrStmt:
		before := slices.Clone(st.dirs)
		out := w.step(c.X, st, in)
		if leaves(c.Y) { // cd x || exit
			w.step(c.Y, st.clone(), in)
			st.shaky = false
			return out
		}
		other := st.clone()
		if st.shaky {
			other.dirs = before
		}
		out = out.then(w.step(c.Y, other, in))
		out.Known = false
		st.merge(other)
		return out
	}
	out := w.step(c.X, st, in)
	middle := slices.Clone(st.dirs)
	out = out.then(w.step(c.Y, st, in))
	if !slices.Equal(middle, st.dirs) && !sure(c.X) {
		st.shaky = true
	}
	return out
}

// sure reports whether a statement hardly ever fails, so that what follows its && runs.
func sure(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.DeclClause:
		return true
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && sure(c.X) && sure(c.Y)
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return true
		}
		switch c.Args[0].Lit() {
		case "cd", "pushd", "popd", "mkdir", "echo", "printf", "true", ":", "set", "export", "umask", "pwd", "date", "source", ".":
			return true
		}
	}
	return false
}

// leaves reports whether a statement ends the script.
func leaves(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 {
			switch c.Args[0].Lit() {
			case "exit", "return", "break", "continue":
				return true
			}
		}
	case *syntax.Block:
		return len(c.Stmts) > 0 && leaves(c.Stmts[len(c.Stmts)-1])
	}
	return false
}

func (w *walk) ifClause(c *syntax.IfClause, st *state, in Flow) Flow {
	out := w.stmts(c.Cond, st, in)
	then := st.clone()
	out = out.then(w.stmts(c.Then, then, in))
	if c.Else != nil {
		out = out.then(w.ifClause(c.Else, st, in))
	}
	if n := len(c.Then); n == 0 || !leaves(c.Then[n-1]) {
		st.merge(then)
	}
	out.Known = false
	return out
}

// forClause walks the body once for each word that is known, so that the loop's variable is.
func (w *walk) forClause(c *syntax.ForClause, st *state, in Flow) Flow {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.inner(st, c.Loop)
		round := st.clone()
		out := w.stmts(c.Do, round, in)
		st.merge(round)
		out.Known = false
		return out
	}
	items := w.fields(st, iter.Items)
	if !iter.InPos.IsValid() {
		items = st.params
		if items == nil {
			items = []Word{{Text: Hole}}
		}
	}
	if st.brief && len(items) > 1 {
		items = []Word{{Text: Hole}}
	}
	if len(items) > maxLoop {
		items = append(slices.Clone(items[:maxLoop]), Word{Text: Hole})
	}
	out := Flow{Known: true}
	for i, item := range items {
		if i > 0 && st.brief { // the rest at once
			item, items = Word{Text: Hole}, nil
		}
		st.set(iter.Name.Value, value{list: []string{item.Text}, fetched: item.Fetched})
		out = out.then(w.stmts(c.Do, st, in))
		if items == nil {
			break
		}
	}
	return out
}

// inner walks the substitutions inside a node that is not followed otherwise.
func (w *walk) inner(st *state, n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch s := n.(type) {
		case *syntax.CmdSubst:
			w.substitute(st, s.Stmts)
			return false
		case *syntax.ProcSubst:
			w.procSubst(st, &fieldBuilder{}, s)
			return false
		}
		return true
	})
}

// substitute walks $( ) and gives what it prints. $(< file) reads the file.
func (w *walk) substitute(st *state, stmts []*syntax.Stmt) Flow {
	if w.depth >= maxDepth {
		w.giveUp()
		return Flow{}
	}
	w.depth++
	defer func() { w.depth-- }()
	if len(stmts) == 1 && stmts[0].Cmd == nil && len(stmts[0].Redirs) == 1 {
		return w.inputs(stmts[0].Redirs, st.clone(), Flow{})
	}
	return w.stmts(stmts, st.clone(), Flow{})
}

// procSubst walks <( ) and >( ); the word is a name that stands for the flow.
func (w *walk) procSubst(st *state, b *fieldBuilder, p *syntax.ProcSubst) {
	name := "/dev/fd/" + string(rune('a'+len(w.procs)%26)) + strings.Repeat("x", len(w.procs)/26%100)
	b.quoted(name)
	if p.Op == syntax.CmdOut {
		in := w.procIn
		in.From = true
		w.stmts(p.Stmts, st.clone(), in)
		return
	}
	flow := w.substitute(st, p.Stmts)
	flow.From = true
	w.procs[name] = flow
	b.fetched = b.fetched || flow.Fetched
}

// declare is export, local, declare, readonly and typeset.
func (w *walk) declare(c *syntax.DeclClause, st *state) {
	for _, a := range c.Args {
		if a.Name == nil { // an option, or a word that expands to an assignment
			if text := w.literal(st, a.Value); !strings.HasPrefix(text.Text, "-") {
				if name, val, ok := strings.Cut(text.Text, "="); ok && syntax.ValidName(name) {
					st.set(name, value{list: []string{val}, fetched: text.Fetched})
				}
			}
			continue
		}
		if !a.Naked {
			w.assign(a, st)
		}
	}
}

func (w *walk) assign(a *syntax.Assign, st *state) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	v := value{}
	switch {
	case a.Index != nil:
		w.literal(st, a.Value)
		v.list = []string{Hole}
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Value == nil || e.Index != nil {
				v.list = append(v.list, Hole)
				continue
			}
			for _, f := range w.expand(st, e.Value) {
				v.list = append(v.list, f.Text)
				v.fetched = v.fetched || f.Fetched
			}
		}
	default:
		text := w.literal(st, a.Value)
		v.list, v.fetched = []string{text.Text}, text.Fetched
	}
	if a.Append {
		old, ok := w.lookup(st, name)
		switch {
		case !ok:
			v.list = append([]string{Hole}, v.list...)
		case a.Array != nil:
			v.list = append(slices.Clone(old.list), v.list...)
		default:
			v.list = []string{old.text() + v.text()}
		}
		v.fetched = v.fetched || old.fetched
		if len(v.text()) > maxText {
			v.list = []string{Hole}
		}
	}
	st.set(name, v)
}

// resolve gives the absolute paths that a word may name, nothing when it cannot be known.
func (w *walk) resolve(st *state, text string) []string { return resolve(st.dirs, text) }

func resolve(dirs []string, text string) []string {
	if text == "" || strings.Contains(text, Hole) {
		return nil
	}
	text = filepath.FromSlash(text)
	if filepath.IsAbs(text) {
		return []string{filepath.Clean(text)}
	}
	var out []string
	for _, dir := range dirs {
		if len(dir)+len(text) < maxPath {
			out = append(out, filepath.Join(dir, text))
		}
	}
	return out
}

// Resolve gives the absolute paths that a text of the command names, one for each directory that it may run in.
func (c Command) Resolve(text string) []string { return resolve(c.Dir, text) }
