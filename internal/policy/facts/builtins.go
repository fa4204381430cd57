package facts

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin is what the shell does itself; ok is false for other names.
func (w *walk) builtin(at int, name string, args []Word, st *state, in Flow) (out Flow, ok bool) {
	none := Flow{Known: true}
	switch name {
	case "cd", "pushd", "chdir", "Set-Location", "sl":
		if name == "pushd" {
			st.stack = append(slices.Clip(st.stack), st.dirs)
		}
		w.cd(args, st)
		return none, true
	case "popd":
		st.popd()
		return none, true
	case "eval":
		if len(args) > 0 && args[0].Text == "--" {
			args = args[1:]
		}
		text := joined(args)
		if text.Fetched {
			w.commands[at].Fetched = true
		}
		return w.text(text.Text, st, in), true
	case "iex", "Invoke-Expression":
		text := joined(args)
		if text.Fetched || in.Fetched {
			w.commands[at].Fetched = true
		}
		w.opaque = w.opaque || len(args) == 0
		return w.text(text.Text, st, Flow{}), true
	case "source", ".":
		return w.sourceFile(at, args, st, in), true
	case "trap":
		if len(args) > 1 && args[0].Text != "-" && !strings.HasPrefix(args[0].Text, "-") {
			w.text(args[0].Text, st.clone(), Flow{})
		}
		return none, true
	case "alias":
		for _, a := range args {
			if key, text, found := strings.Cut(a.Text, "="); found {
				st.aliases[key] = text
			}
		}
		return none, true
	case "unalias":
		for _, a := range args {
			delete(st.aliases, a.Text)
		}
		return none, true
	case "set":
		w.set(args, st)
		return none, true
	case "shift":
		if len(st.params) > 0 {
			st.params = st.params[1:]
		}
		return none, true
	case "unset":
		for _, a := range args {
			delete(st.vars, a.Text)
			delete(st.funcs, a.Text)
		}
		return none, true
	case "read":
		w.readVars(args, st, in)
		return none, true
	case "mapfile", "readarray":
		if n := len(args); n > 0 {
			st.set(args[n-1].Text, value{list: []string{Hole}, fetched: in.Fetched})
		}
		return none, true
	case "export", "readonly", "declare", "local", "typeset": // where the name was quoted or wrapped
		for _, a := range args {
			if key, text, found := strings.Cut(a.Text, "="); found && syntax.ValidName(key) {
				st.set(key, value{list: []string{text}, fetched: a.Fetched})
			}
		}
		return none, true
	case "true", ":", "false", "exit", "return", "break", "continue", "test", "[", "wait", "umask", "ulimit", "shopt", "sleep", "exec":
		return none, true
	}
	return Flow{}, false
}

// cd moves the tracked directory. An unknown target makes it unknown, one that is not there makes it doubtful.
func (w *walk) cd(args []Word, st *state) {
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' {
		args = args[1:]
	}
	target := Word{Text: w.home(st)}
	if len(args) > 0 {
		target = args[0]
	}
	old := st.dirs
	defer func() { st.old = old }()
	switch {
	case target.Text == "-":
		st.dirs = st.old
		return
	case target.Text == "" && len(args) == 0, strings.HasPrefix(target.Text, "+"):
		st.dirs = nil
		return
	}
	if target.Text == "" { // cd "" stays
		return
	}
	if strings.Contains(target.Text, Hole) {
		w.opaque = true
		st.dirs = nil
		return
	}
	dirs := w.resolve(st, target.Text)
	for _, d := range dirs {
		if !w.made[d] && !isDir(d) {
			st.shaky = true
		}
	}
	st.dirs = dirs
}

// popd goes back to where pushd came from.
func (st *state) popd() {
	st.dirs = nil
	if n := len(st.stack); n > 0 {
		st.dirs, st.stack = st.stack[n-1], st.stack[:n-1]
	}
}

func (w *walk) sourceFile(at int, args []Word, st *state, in Flow) Flow {
	if len(args) == 0 {
		return Flow{}
	}
	file := args[0]
	flow, ok := w.procs[file.Text]
	if file.Text == "/dev/stdin" {
		flow, ok = in, in.From
	}
	if !ok {
		w.event(st, "read", file, Flow{})
		for _, abs := range w.resolve(st, file.Text) {
			if got, found := w.written[abs]; found {
				flow, ok = got, true
			}
		}
	}
	if !ok {
		return Flow{}
	}
	if flow.Fetched || file.Fetched {
		w.commands[at].Fetched = true
	}
	if !flow.Known {
		w.opaque = true
		return Flow{}
	}
	return w.text(flow.Text, st, in)
}

// set is `set -e` and `set -- words`.
func (w *walk) set(args []Word, st *state) {
	for i, a := range args {
		switch {
		case a.Text == "--":
			st.params = append([]Word{}, args[i+1:]...)
			return
		case strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "-o") && strings.Contains(a.Text, "e"), a.Text == "errexit":
			w.strict = true
		case !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "+") && (i == 0 || args[i-1].Text != "-o"):
			st.params = append([]Word{}, args[i:]...)
			return
		}
	}
}

func (w *walk) readVars(args []Word, st *state, in Flow) {
	g := Options{Short: "adinNptu"}.Leading(args)
	line, known := "", in.Known
	if known {
		line, _, _ = strings.Cut(in.Text, "\n")
	}
	for i, name := range append(g.Values("a"), g.Operands...) {
		v := value{list: []string{Hole}, fetched: in.Fetched}
		if known && i == 0 && len(g.Operands) == 1 && !g.Has("a") {
			v.list = []string{strings.TrimSpace(line)}
		}
		st.set(name.Text, v)
	}
}

// prints is what the commands print whose output can be known.
func (w *walk) prints(name string, args []Word, st *state, in Flow) (Flow, bool) {
	switch name {
	case "echo", "Write-Output":
		return echo(args), true
	case "printf":
		if len(args) > 2 && args[0].Text == "-v" {
			out := printf(args[2:])
			text := Hole
			if out.Known {
				text = out.Text
			}
			st.set(args[1].Text, value{list: []string{text}, fetched: out.Fetched})
			return Flow{Known: true}, true
		}
		return printf(args), true
	case "pwd":
		if dir := st.dirOr(""); dir != "" {
			return Flow{From: true, Known: true, Text: dir + "\n"}, true
		}
		return Flow{From: true}, true
	case "basename", "dirname":
		if len(args) == 1 && !strings.Contains(args[0].Text, Hole) {
			text := filepath.ToSlash(filepath.Dir(args[0].Text))
			if name == "basename" {
				text = filepath.Base(args[0].Text)
			}
			return Flow{From: true, Known: true, Text: text + "\n"}, true
		}
	case "realpath", "readlink":
		if n := len(args); n > 0 {
			if abs := w.resolve(st, args[n-1].Text); len(abs) == 1 && (name == "realpath" || n > 1) {
				return Flow{From: true, Known: true, Text: realPath(abs[0]) + "\n"}, true
			}
		}
	case "mktemp":
		return Flow{From: true, Known: true, Text: temporary(args) + "\n"}, true
	}
	return Flow{}, false
}

// temporary is the name that mktemp makes, its random part unknown.
func temporary(args []Word) string {
	g := Options{"pt", []string{"suffix"}}.Parse(args)
	if len(g.Operands) == 0 || len(g.Values("p", "t", "tmpdir")) > 0 || g.Has("p", "t", "tmpdir") {
		return "/tmp/tmp." + Hole
	}
	return strings.TrimRight(g.Operands[0].Text, "X") + Hole
}

func known(args []Word) (known, fetched bool) {
	known = true
	for _, a := range args {
		known = known && !strings.Contains(a.Text, Hole)
		fetched = fetched || a.Fetched
	}
	return known, fetched
}

func echo(args []Word) Flow {
	newline, escapes := "\n", false
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "neE") == "" {
		if strings.Contains(args[0].Text, "n") {
			newline = ""
		}
		escapes = escapes || strings.Contains(args[0].Text, "e")
		args = args[1:]
	}
	isKnown, fetched := known(args)
	text := joined(args).Text + newline
	if escapes {
		text = ansiC(text)
	}
	return Flow{From: true, Known: isKnown && !strings.Contains(text, Hole), Text: text, Fetched: fetched}
}

// printf formats with %s, %b, %d, %q and %%; the format is used again for further arguments.
func printf(args []Word) Flow {
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return Flow{Known: true}
	}
	isKnown, fetched := known(args)
	out := Flow{From: true, Known: isKnown, Fetched: fetched}
	if !isKnown {
		return out
	}
	rest := args[1:]
	var b strings.Builder
	for round := 0; round == 0 || len(rest) > 0 && round < maxGlob && b.Len() < maxText; round++ {
		left := len(rest)
		rest = printfOnce(&b, args[0].Text, rest)
		if len(rest) == left {
			break
		}
	}
	if out.Text = b.String(); strings.Contains(out.Text, Hole) {
		out.Known = false
	}
	return out
}

func printfOnce(b *strings.Builder, format string, args []Word) []Word {
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 == len(format) {
			b.WriteString(ansiC(format))
			return args
		}
		b.WriteString(ansiC(format[:i]))
		format = format[i+1:]
		n := digits(format, len(format), "-+ #0123456789.")
		if n == len(format) {
			return args
		}
		verb := format[n]
		format = format[n+1:]
		if verb == '%' {
			b.WriteByte('%')
			continue
		}
		arg := ""
		if len(args) > 0 {
			arg, args = args[0].Text, args[1:]
		}
		switch verb {
		case 'b':
			arg = ansiC(arg)
		case 'c':
			arg = arg[:min(1, len(arg))]
		case 'd', 'i', 'u':
			if v, err := strconv.Atoi(arg); err == nil {
				arg = strconv.Itoa(v)
			}
		case 'x', 'o', 'X':
			arg = Hole
		}
		b.WriteString(arg)
	}
}
