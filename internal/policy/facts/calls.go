package facts

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// callStmt walks a simple command with its assignments and redirections.
func (w *walk) callStmt(s *syntax.Stmt, call *syntax.CallExpr, st *state, in Flow) Flow {
	if len(call.Args) == 0 {
		for _, a := range call.Assigns {
			w.assign(a, st)
		}
		w.inputs(s.Redirs, st, in)
		return w.outputs(s.Redirs, st, Flow{Known: true})
	}
	w.procIn = Flow{Fetched: in.Fetched}
	words := w.fields(st, call.Args)
	at := st
	if len(call.Assigns) > 0 { // they hold for this command alone, after its words were expanded
		at = st.clone()
		for _, a := range call.Assigns {
			w.assign(a, at)
		}
	}
	in = w.inputs(s.Redirs, at, in)
	if len(words) == 0 {
		return w.outputs(s.Redirs, st, Flow{Known: true})
	}
	before := at.dirs
	first := len(w.commands)
	out := w.invoke(words, at, in, false)
	if first < len(w.commands) {
		w.commands[first].Raw = w.source(call)
	}
	if at != st { // a command with assignments of its own still changes the shell's directory
		st.shaky = at.shaky
		if !slices.Equal(before, at.dirs) {
			st.dirs = at.dirs
		}
	}
	if len(words) == 1 && words[0].Text == "exec" {
		w.outputs(s.Redirs, st, Flow{})
		return Flow{Known: true}
	}
	return w.outputs(s.Redirs, st, out)
}

// invoke walks one command whose words are expanded.
func (w *walk) invoke(words []Word, st *state, in Flow, inner bool) Flow {
	if !w.room(st) {
		return Flow{}
	}
	if w.depth > maxDepth {
		w.giveUp()
		return Flow{}
	}
	w.depth++
	defer func() { w.depth-- }()

	program := words[0]
	if strings.Contains(program.Text, Hole) {
		w.opaque = true
		w.record("", words, st, in, inner)
		return Flow{Fetched: in.Fetched || program.Fetched}
	}
	if out, ok := w.alias(words, st, in); ok {
		return out
	}
	name := baseName(program.Text)
	at := w.record(name, words, st, in, inner)
	if body := st.funcs[program.Text]; body != nil && !inner {
		if known := w.active[body]; !known {
			call := *st
			call.params = append([]Word{}, words[1:]...)
			out := w.body(body, &call, in)
			st.dirs, st.vars = call.dirs, call.vars
			w.perform(at, name, words, st.clone(), in)
			return out
		}
		return Flow{}
	}
	return w.perform(at, name, words, st, in)
}

// body walks a function.
func (w *walk) body(body *syntax.Stmt, st *state, in Flow) Flow {
	switch again := w.called[body]; {
	case w.active[body]:
		return Flow{}
	case w.depth >= maxDepth || again && st.brief: // with other arguments it may do something else
		w.giveUp()
		return Flow{}
	}
	w.called[body] = true
	w.active[body] = true
	w.depth++
	out := w.stmt(body, st, in)
	w.depth--
	delete(w.active, body)
	return out
}

func (w *walk) record(name string, words []Word, st *state, in Flow, inner bool) int {
	w.recorded += len(words)
	c := Command{Name: name, Words: words, Dir: slices.Clone(st.dirs), Stdin: in, Inner: inner}
	raws := make([]string, 0, len(words))
	for i, word := range words {
		if i > 0 {
			text := word.Text
			if strings.Contains(text, Hole) {
				text = word.Raw
			}
			c.Args = append(c.Args, text)
		}
		if i == 0 || word.Glob == "" || words[i-1].Raw != word.Raw {
			raws = append(raws, word.Raw)
		}
	}
	c.Raw = strings.Join(raws, " ")
	w.commands = append(w.commands, c)
	return len(w.commands) - 1
}

// alias replaces a name that `alias` defined earlier in the text.
func (w *walk) alias(words []Word, st *state, in Flow) (Flow, bool) {
	text, ok := st.aliases[words[0].Raw]
	if !ok {
		return Flow{}, false
	}
	inner := st.clone()
	delete(inner.aliases, words[0].Raw)
	inner.params = slices.Clone(words[1:])
	out := w.text(text+` "$@"`, inner, in)
	st.dirs = inner.dirs
	return out, true
}

// perform does what a command does, by its base name.
func (w *walk) perform(at int, name string, words []Word, st *state, in Flow) Flow {
	out := w.performed(at, name, words, st, in)
	for _, word := range words {
		out.Fetched = out.Fetched || word.Fetched
	}
	return out
}

func (w *walk) performed(at int, name string, words []Word, st *state, in Flow) Flow {
	args := words[1:]
	if strings.HasPrefix(name, "git-") && len(name) > 4 {
		return w.git(append([]Word{{Text: name[4:], Raw: name[4:]}}, args...), st, in)
	}
	if wr, ok := wrappers[name]; ok {
		return w.unwrap(wr, name, args, st, in)
	}
	if shells[name] {
		return w.shell(at, args, st, in)
	}
	if spec, ok := interpreters[interpreterName(name)]; ok {
		return w.interpret(at, spec, args, st, in)
	}
	if out, ok := w.builtin(at, name, args, st, in); ok {
		return out
	}
	switch name {
	case "git":
		return w.git(args, st, in)
	case "xargs", "gxargs", "parallel":
		return w.xargs(args, st, in)
	case "find", "gfind":
		return w.find(args, st, in)
	case "su":
		for _, text := range (Options{"cgGsTw", []string{"command", "session-command", "group", "shell"}}).Parse(args).Values("c", "command", "session-command") {
			return w.program(text, st, in)
		}
	case "script":
		for _, text := range (Options{"cEImoOTtB", []string{"command"}}).Parse(args).Values("c", "command") {
			return w.program(text, st, in)
		}
	case "watch":
		if rest := (Options{"n", []string{"interval"}}).Leading(args).Operands; len(rest) > 0 {
			return w.program(joined(rest), st, in)
		}
	case "cmd":
		for i, a := range args {
			if l := strings.ToLower(a.Text); (l == "/c" || l == "/k" || l == "//c") && i+1 < len(args) {
				return w.program(joined(args[i+1:]), st, in)
			}
		}
	}
	if out, ok := w.prints(name, args, st, in); ok {
		return out
	}
	return w.runFile(at, words[0], args, st, in, w.programFiles(name, args, st, in))
}

// runFile is the end of the way: a program that is not known may be a file that the same text wrote.
func (w *walk) runFile(at int, program Word, args []Word, st *state, in, out Flow) Flow {
	if !strings.Contains(program.Text, "/") {
		return out
	}
	for _, abs := range w.resolve(st, program.Text) {
		if text, ok := w.written[abs]; ok {
			return w.script(at, text, args, st, in)
		}
	}
	return out
}

// script walks a file that the text wrote and now runs.
func (w *walk) script(at int, text Flow, args []Word, st *state, in Flow) Flow {
	if text.Fetched {
		w.commands[at].Fetched = true
	}
	if !text.Known {
		w.opaque = true
		return Flow{Fetched: text.Fetched}
	}
	inner := st.clone()
	inner.params = append([]Word{}, args...)
	return w.text(text.Text, inner, in)
}

// joined is several words as one text, as eval and watch see them.
func joined(words []Word) Word {
	var text, raw strings.Builder
	fetched := false
	for i, word := range words {
		if i > 0 {
			text.WriteByte(' ')
			raw.WriteByte(' ')
		}
		text.WriteString(word.Text)
		raw.WriteString(word.Raw)
		fetched = fetched || word.Fetched
	}
	return Word{Text: text.String(), Raw: raw.String(), Fetched: fetched}
}

// program walks a text given to a shell in a subshell of its own.
func (w *walk) program(text Word, st *state, in Flow) Flow {
	return w.programFlow(Flow{From: true, Known: true, Text: text.Text, Fetched: text.Fetched}, st, in)
}

// programFlow walks a program text that a shell reads. The command that reads it is the last one recorded.
func (w *walk) programFlow(text Flow, st *state, in Flow) Flow {
	if text.Fetched && len(w.commands) > 0 {
		w.commands[len(w.commands)-1].Fetched = true
	}
	if !text.Known {
		w.opaque = w.opaque || text.From
		return Flow{Fetched: text.Fetched}
	}
	return w.text(text.Text, st.clone(), in)
}

// shells read bash, or something near enough to look at it as bash.
var shells = map[string]bool{"sh": true, "bash": true, "zsh": true, "dash": true, "ash": true, "ksh": true, "ksh93": true, "mksh": true,
	"rbash": true, "fish": true, "hush": true, "lash": true, "yash": true}

var shellOptions = Options{"oO", []string{"rcfile", "init-file"}}

// shell is sh and its kin: -c TEXT, a script file, or a program on standard input.
func (w *walk) shell(at int, args []Word, st *state, in Flow) Flow {
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "+") { // bash +x
		args = args[1:]
	}
	g := shellOptions.Leading(args)
	switch {
	case g.Has("c"):
		if len(g.Operands) == 0 {
			return w.programFlow(Flow{Known: !in.From, From: in.From, Fetched: in.Fetched}, st, Flow{})
		}
		inner := st.clone()
		inner.funcs, inner.aliases = maps.Clone(st.funcs), map[string]string{}
		if len(g.Operands) > 1 {
			inner.params = append([]Word{}, g.Operands[2:]...)
		} else {
			inner.params = []Word{}
		}
		in.Fetched = false // it is read as data
		return w.program(g.Operands[0], inner, in)
	case g.Has("version", "help", "n"): // -n only reads
		return Flow{}
	case len(g.Operands) == 0 || g.Has("s") || g.Operands[0].Text == "-" || g.Operands[0].Text == "/dev/stdin":
		if !in.From {
			return Flow{}
		}
		inner := st.clone()
		inner.params = append([]Word{}, g.Operands...)
		return w.programFlow(in, inner, Flow{})
	}
	return w.scriptFile(at, g.Operands[0], g.Operands[1:], st, in)
}

// scriptFile is a script that is named: of <( ), written by the same text, or unknown.
func (w *walk) scriptFile(at int, file Word, args []Word, st *state, in Flow) Flow {
	if flow, ok := w.procs[file.Text]; ok {
		return w.script(at, flow, args, st, in)
	}
	if file.Fetched {
		w.commands[at].Fetched = true
	}
	w.event(st, "read", file, Flow{})
	for _, abs := range w.resolve(st, file.Text) {
		if text, ok := w.written[abs]; ok {
			return w.script(at, text, args, st, in)
		}
	}
	return Flow{Fetched: in.Fetched}
}

// interpreter is a program that runs texts in another language.
type interpreter struct {
	opts Options
	code string // options that hold or announce the program, so that standard input is data
	eval string // first operand that announces the program
	bash string // options whose value is worth reading as a shell text (PowerShell)
}

var interpreters = map[string]interpreter{
	"python":     {opts: Options{Short: "cmWXQ"}, code: "c m"},
	"pypy":       {opts: Options{Short: "cmWX"}, code: "c m"},
	"node":       {opts: Options{"epCr", []string{"eval", "print", "require", "import", "env-file", "input-type", "conditions"}}, code: "e p eval print"},
	"nodejs":     {opts: Options{"epCr", []string{"eval", "print", "require"}}, code: "e p eval print"},
	"perl":       {opts: Options{Short: "eEIMmF"}, code: "e E"},
	"ruby":       {opts: Options{Short: "eIrCEF"}, code: "e"},
	"php":        {opts: Options{Short: "rRBEFdcz"}, code: "r R B E"},
	"lua":        {opts: Options{Short: "el"}, code: "e"},
	"luajit":     {opts: Options{Short: "ejlb"}, code: "e"},
	"Rscript":    {opts: Options{Short: "e"}, code: "e"},
	"R":          {opts: Options{Short: "ef"}, code: "e"},
	"deno":       {eval: "eval"},
	"bun":        {opts: Options{"ep", []string{"eval", "print"}}, code: "e p eval print", eval: "run x add install i build test"},
	"tclsh":      {},
	"osascript":  {opts: Options{Short: "el"}, code: "e"},
	"groovy":     {opts: Options{Short: "e"}, code: "e"},
	"scala":      {opts: Options{Short: "e"}, code: "e"},
	"elixir":     {opts: Options{"e", []string{"eval"}}, code: "e eval"},
	"pwsh":       {bash: "-c -command -com -comm"},
	"powershell": {bash: "-c -command -com -comm"},
}

// interpreterName takes the version off python3.12 and the like.
func interpreterName(name string) string {
	if short := strings.TrimRight(name, "0123456789."); short != "" {
		return short
	}
	return name
}

// interpret judges where the program text comes from; the text itself is not understood.
func (w *walk) interpret(at int, spec interpreter, args []Word, st *state, in Flow) Flow {
	out := Flow{Fetched: in.Fetched}
	if spec.bash != "" {
		return w.powershell(spec, args, st, in)
	}
	g := spec.opts.Leading(args)
	given := false
	for _, o := range g.Options {
		if isOption(spec.code, o.Name) {
			given = true
			w.opaque = w.opaque || o.Name != "m"
			if o.Value.Fetched {
				w.commands[at].Fetched = true
			}
		}
	}
	inPlace(w, g, st)
	if given || g.Has("version", "help", "v", "V") {
		return out
	}
	if len(g.Operands) == 0 || g.Operands[0].Text == "-" || g.Operands[0].Text == "/dev/stdin" {
		if in.From {
			w.opaque = true
			w.commands[at].Fetched = w.commands[at].Fetched || in.Fetched
		}
		return out
	}
	if isOption(spec.eval, g.Operands[0].Text) {
		w.opaque = w.opaque || g.Operands[0].Text == "eval"
		return out
	}
	file := g.Operands[0]
	if file.Fetched {
		w.commands[at].Fetched = true
	}
	w.event(st, "read", file, Flow{})
	for _, abs := range w.resolve(st, file.Text) {
		if text, ok := w.written[abs]; ok {
			w.opaque = true
			w.commands[at].Fetched = w.commands[at].Fetched || text.Fetched
		}
	}
	return out
}

// inPlace is perl -i and ruby -i: the operands are edited.
func inPlace(w *walk, g Given, st *state) {
	if !g.Has("i") {
		return
	}
	for _, file := range g.Operands {
		w.event(st, "edit", file, Flow{})
	}
}

// powershell reads the text of -Command as far as it looks like a shell's.
func (w *walk) powershell(spec interpreter, args []Word, st *state, in Flow) Flow {
	for i, a := range args {
		switch l := strings.ToLower(a.Text); {
		case isOption(spec.bash, l) && i+1 < len(args):
			w.opaque = true
			return w.program(joined(args[i+1:]), st, in)
		case strings.HasPrefix(l, "-e") && l != "-executionpolicy" && l != "-ep" && l != "-ex":
			w.opaque = true // -EncodedCommand
			return Flow{}
		}
	}
	if len(args) == 0 && in.From {
		w.opaque = true
		if in.Fetched {
			w.commands[len(w.commands)-1].Fetched = true
		}
	}
	return Flow{Fetched: in.Fetched}
}
