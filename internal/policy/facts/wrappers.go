package facts

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrapper is a program that runs the program named by its operands.
type wrapper struct {
	opts    Options
	skip    int    // operands before the program
	assigns bool   // NAME=value operands come before the program
	lookup  string // option letters that make it only look the program up
	dir     string // option that sets the directory: a letter or a long name, separated by blanks
	text    string // option whose value is a text for a shell: the same
	words   string // first operands that stand for the rest: "run", "exec"
}

// wrappers by base name. Sources: the manuals of coreutils, util-linux, sudo, doas, findutils, busybox.
var wrappers = map[string]wrapper{
	"sudo": {opts: Options{"ughpCrtTUDR", []string{"user", "group", "host", "prompt", "close-from", "role", "type", "command-timeout",
		"other-user", "chdir", "chroot"}}, assigns: true, dir: "D chdir"},
	"doas":             {opts: Options{Short: "uCa"}},
	"env":              {opts: Options{"uCSP", []string{"unset", "chdir", "split-string"}}, assigns: true, dir: "C chdir"},
	"command":          {lookup: "vV"},
	"builtin":          {},
	"exec":             {opts: Options{Short: "a"}},
	"nohup":            {},
	"time":             {opts: Options{"fo", []string{"format", "output"}}},
	"timeout":          {opts: Options{"ks", []string{"kill-after", "signal"}}, skip: 1},
	"gtimeout":         {opts: Options{"ks", []string{"kill-after", "signal"}}, skip: 1},
	"nice":             {opts: Options{"n", []string{"adjustment"}}},
	"ionice":           {opts: Options{"cnpPu", []string{"class", "classdata", "pid"}}},
	"chrt":             {opts: Options{Short: "TPD"}, skip: 1},
	"taskset":          {skip: 1},
	"setsid":           {},
	"stdbuf":           {opts: Options{"ioe", []string{"input", "output", "error"}}},
	"unbuffer":         {},
	"busybox":          {},
	"toybox":           {},
	"flock":            {opts: Options{"wEc", []string{"timeout", "wait", "conflict-exit-code", "command"}}, skip: 1, text: "c command"},
	"chroot":           {opts: Options{"", []string{"userspec", "groups"}}, skip: 1},
	"setarch":          {},
	"linux64":          {},
	"linux32":          {},
	"fakeroot":         {opts: Options{Short: "lsib"}},
	"caffeinate":       {opts: Options{Short: "tw"}},
	"pkexec":           {opts: Options{"", []string{"user"}}},
	"run0":             {opts: Options{"ugD", []string{"user", "group", "chdir", "unit", "property"}}, dir: "D chdir"},
	"systemd-run":      {opts: Options{"ptMHu", []string{"unit", "property", "description", "slice", "uid", "gid", "setenv", "working-directory"}}},
	"runuser":          {opts: Options{"ugGc", []string{"user", "group", "command"}}, text: "c command"},
	"gosu":             {skip: 1},
	"su-exec":          {skip: 1},
	"strace":           {opts: Options{Short: "abeEIoOpPsSuUX"}},
	"ltrace":           {opts: Options{Short: "aAeFlnopsuwx"}},
	"unshare":          {opts: Options{"SGRw", []string{"setuid", "setgid", "root", "wd", "propagation", "map-users", "map-groups"}}},
	"xvfb-run":         {opts: Options{"efnpsw", []string{"error-file", "auth-file", "server-num", "server-args", "wait"}}},
	"dbus-run-session": {},
	"torsocks":         {},
	"proxychains":      {opts: Options{Short: "f"}},
	"eatmydata":        {},
	"direnv":           {skip: 1, words: "exec"},
	"poetry":           {words: "run"},
	"pipenv":           {words: "run"},
	"uv":               {opts: Options{"p", []string{"with", "python", "project", "directory", "env-file", "extra", "group"}}, words: "run"},
	"rye":              {words: "run"},
	"pdm":              {words: "run"},
	"bundle":           {words: "exec"},
	"dotenv":           {opts: Options{"fe", []string{"file"}}},
	"doppler":          {words: "run"},
}

// isAssignment reports NAME=value.
func isAssignment(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && syntax.ValidName(name)
}

func isOption(names, name string) bool {
	for n := range strings.FieldsSeq(names) {
		if n == name {
			return true
		}
	}
	return false
}

// unwrap finds the command that a wrapper runs and walks it; it prints what that prints.
func (w *walk) unwrap(wr wrapper, name string, args []Word, st *state, in Flow) Flow {
	if name == "ionice" || name == "nice" || name == "chrt" {
		args = dropNumbers(args)
	}
	g := wr.opts.Leading(args)
	for _, o := range g.Options {
		if len(o.Name) == 1 && strings.Contains(wr.lookup, o.Name) {
			return Flow{}
		}
	}
	st = w.wrapped(wr, g, st)
	for _, o := range g.Options {
		if o.HasValue && isOption(wr.text, o.Name) {
			return w.program(o.Value, st, in)
		}
		if name == "env" && o.HasValue && (o.Name == "S" || o.Name == "split-string") {
			words := append(splitString(o.Value), g.Operands...)
			return w.unwrap(wr, name, words, st, in)
		}
	}
	rest := g.Operands
	if wr.words != "" {
		if len(rest) == 0 || !isOption(wr.words, rest[0].Text) {
			return Flow{Fetched: in.Fetched}
		}
		rest = wr.opts.Leading(rest[1:]).Operands
	}
	for wr.assigns && len(rest) > 0 && isAssignment(rest[0].Text) {
		rest = rest[1:]
	}
	if name == "env" {
		rest = trimDash(rest)
	}
	if len(rest) <= wr.skip {
		if name == "sudo" && g.Has("s", "i", "shell", "login") && in.From {
			return w.programFlow(in, st, Flow{})
		}
		return Flow{Fetched: in.Fetched}
	}
	rest = rest[wr.skip:]
	if name == "flock" && len(rest) > 1 && (rest[0].Text == "-c" || rest[0].Text == "--command") {
		return w.program(rest[1], st, in)
	}
	return w.invoke(rest, st, in, true)
}

// wrapped is the state that a wrapper's options make.
func (w *walk) wrapped(wr wrapper, g Given, st *state) *state {
	for _, o := range g.Options {
		if o.HasValue && isOption(wr.dir, o.Name) {
			st = st.clone()
			st.dirs = w.resolve(st, o.Value.Text)
		}
	}
	return st
}

// trimDash drops the lone "-" of env, which is -i.
func trimDash(words []Word) []Word {
	for len(words) > 0 && (words[0].Text == "-" || isAssignment(words[0].Text)) {
		words = words[1:]
	}
	return words
}

// dropNumbers takes out options such as -5 and -c2, which would look like clusters.
func dropNumbers(args []Word) []Word {
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "-0123456789") == "" && args[0].Text != "--" {
		args = args[1:]
	}
	return args
}

// splitString cuts the text of env -S into words: blanks separate, quotes and backslashes as in a shell.
func splitString(word Word) []Word {
	var out []Word
	for _, t := range tokens(word.Text, "") {
		out = append(out, part(word, t.text))
	}
	return out
}

// xargs runs its operands with the words that it reads.
func (w *walk) xargs(args []Word, st *state, in Flow) Flow {
	opts := Options{"adEILnPs", []string{"arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "replace", "process-slot-var"}}
	g := opts.Leading(args)
	command := g.Operands
	if len(command) == 0 {
		return in
	}
	for _, word := range g.Values("a", "arg-file") {
		in = w.read(st, word)
	}
	given := listed(in)
	replace := ""
	for _, o := range g.Options {
		if o.Name == "I" || o.Name == "replace" || o.Name == "i" {
			replace = "{}"
			if o.HasValue && o.Value.Text != "" {
				replace = o.Value.Text
			}
		}
	}
	if replace == "" {
		return w.invoke(append(append([]Word(nil), command...), given...), st, Flow{}, true)
	}
	out := Flow{}
	for _, item := range given {
		words := make([]Word, len(command))
		for i, c := range command {
			words[i] = c
			if strings.Contains(c.Text, replace) {
				words[i].Text = strings.ReplaceAll(c.Text, replace, item.Text)
				words[i].Fetched = c.Fetched || item.Fetched
			}
		}
		out = out.then(w.invoke(words, st, Flow{}, true))
	}
	return out
}

// listed are the words that a flow holds; what is unknown is one word that is a hole.
func listed(in Flow) []Word {
	var out []Word
	switch {
	case in.Known:
		for _, t := range tokens(in.Text, "") {
			out = append(out, Word{Text: t.text, Raw: t.text, Fetched: in.Fetched})
		}
	case in.names != nil:
		for _, s := range in.names() {
			out = append(out, Word{Text: s, Raw: s})
		}
	default:
		out = []Word{{Text: Hole, Raw: Hole, Fetched: in.Fetched}}
	}
	if len(out) > maxLoop {
		out = out[:maxLoop]
	}
	return out
}

// baseName is the program that a path names, without the suffix that Windows adds.
func baseName(text string) string {
	base := text
	if i := strings.LastIndexAny(text, `/\`); i >= 0 {
		base = text[i+1:]
	}
	if ext := strings.ToLower(filepath.Ext(base)); ext == ".exe" || ext == ".cmd" || ext == ".bat" {
		base = base[:len(base)-len(ext)]
	}
	return base
}
