package facts

import (
	"path/filepath"
	"strings"
)

// gitCall is one git command of a shell text whose facts may be asked for.
type gitCall struct {
	dir    string // where it runs; "" unknown
	sub    string
	args   []Word
	config []string // -c settings, key=value
	branch string   // the branch that an earlier command of the text moved to; "" none did, a hole: unknown
	files  int      // file events before it
	in     Flow
	// message is the text of -m and -F, as far as it can be known while walking.
	message     string
	hasMessage  bool
	messageFile string
}

// globalOptions of git, with values where they take one in the next word.
var globalOptions = Options{"Cc", []string{"git-dir", "work-tree", "namespace", "super-prefix", "config-env", "attr-source", "list-cmds"}}

// gitCommands are the commands of git that people and agents use; a name that is not here may be an alias.
var gitCommands = wordSet(`add am apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout checkout-index cherry
	cherry-pick clean clone commit commit-tree config count-objects credential daemon describe diff diff-files diff-index diff-tree
	difftool fast-export fast-import fetch filter-branch for-each-ref format-patch fsck gc grep hash-object help init interpret-trailers
	lfs log ls-files ls-remote ls-tree maintenance merge merge-base merge-file mergetool mktree mv name-rev notes pack-objects
	prune pull push range-diff read-tree rebase reflog remote repack replace rerere reset restore rev-list rev-parse revert rm
	send-email shortlog show show-branch show-ref sparse-checkout stage stash status submodule switch symbolic-ref tag unpack-objects
	update-index update-ref var verify-commit verify-tag version whatchanged worktree write-tree annotate`)

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(s) {
		set[word] = true
	}
	return set
}

// git walks one git command: args are the words after its name.
func (w *walk) git(args []Word, st *state, in Flow) Flow {
	g := globalOptions.Leading(args)
	out := Flow{From: true, Fetched: in.Fetched}
	if len(g.Operands) == 0 {
		return out
	}
	at := w.gitState(g, st)
	sub, rest := g.Operands[0], g.Operands[1:]
	if strings.Contains(sub.Text, Hole) {
		w.opaque = true
		return out
	}
	call := gitCall{dir: at.dirOr(""), sub: sub.Text, args: rest, files: len(w.files), in: in}
	for _, c := range g.Values("c") {
		call.config = append(call.config, c.Text)
	}
	if !gitCommands[sub.Text] {
		if flow, ok := w.gitAlias(call, at, in); ok {
			return flow
		}
		return out
	}
	call.branch = st.branch[w.f.disk.root(call.dir)]
	return w.gitCommand(call, at, st, in)
}

// gitState is the state with the directory that git's own options choose.
func (w *walk) gitState(g Given, st *state) *state {
	at := st
	move := func(word Word) {
		at = at.clone()
		at.dirs = w.resolve(at, word.Text)
	}
	for _, o := range g.Options {
		switch {
		case !o.HasValue:
		case o.Name == "C" && o.Value.Text != "":
			move(o.Value)
		case o.Name == "work-tree":
			move(o.Value)
		case o.Name == "git-dir":
			if dir, ok := strings.CutSuffix(strings.TrimSuffix(o.Value.Text, "/"), ".git"); ok && (dir == "" || strings.HasSuffix(dir, "/")) {
				move(part(o.Value, dir+"."))
			} else {
				move(o.Value)
			}
		}
	}
	return at
}

// gitAlias resolves an alias: given with -c, defined earlier in the text, or configured.
func (w *walk) gitAlias(call gitCall, st *state, in Flow) (Flow, bool) {
	text := st.aliases["git "+call.sub]
	for _, c := range call.config {
		if key, value, ok := strings.Cut(c, "="); ok && strings.EqualFold(key, "alias."+call.sub) {
			text = value
		}
	}
	if text == "" && call.dir != "" && w.f.in.Git != nil {
		text = w.f.repo.configValue(call.dir, "alias."+strings.ToLower(call.sub))
	}
	if text == "" {
		return Flow{}, false
	}
	if w.depth >= maxDepth {
		w.giveUp()
		return Flow{}, false
	}
	inner := st.clone()
	delete(inner.aliases, "git "+call.sub)
	if script, ok := strings.CutPrefix(text, "!"); ok {
		if call.dir != "" {
			inner.dirs = []string{w.f.disk.root(call.dir)}
		}
		inner.params = append([]Word{}, call.args...)
		return w.text(script+` "$@"`, inner, in), true
	}
	words := append(splitString(Word{Text: text, Raw: text}), call.args...)
	w.depth++
	defer func() { w.depth-- }()
	return w.git(words, inner, in), true
}

// gitCommand does what the built-in command does to files, and keeps the call.
func (w *walk) gitCommand(call gitCall, at, st *state, in Flow) Flow {
	out := Flow{From: true, Fetched: in.Fetched}
	switch call.sub {
	case "commit":
		w.message(&call, at)
	case "checkout", "switch":
		w.checkout(call, at, st)
	case "branch":
		if g := (Options{"u", []string{"set-upstream-to"}}).Parse(call.args); g.Has("m", "M", "move") && len(g.Operands) == 1 {
			st.branch[w.f.disk.root(call.dir)] = g.Operands[0].Text
		}
	case "symbolic-ref":
		if n := len(call.args); n >= 2 && call.args[n-2].Text == "HEAD" {
			st.branch[w.f.disk.root(call.dir)] = strings.TrimPrefix(call.args[n-1].Text, "refs/heads/")
		}
	case "restore":
		g := Options{"s", []string{"source", "pathspec-from-file"}}.Parse(call.args)
		if !g.Has("staged", "S") || g.Has("worktree", "W") {
			w.pathEvents(at, "edit", g.Operands)
		}
	case "rm":
		g := Options{"", []string{"pathspec-from-file"}}.Parse(call.args)
		if !g.Has("cached") {
			for _, file := range g.Operands {
				w.remove(at, file, g.Has("r"))
			}
		}
	case "mv":
		w.copyFiles(call.args, Options{}, at, true)
	case "apply", "am":
		w.gitApply(call, at, in)
	case "config":
		g := Options{"f", []string{"file", "type", "default", "blob"}}.Parse(call.args)
		rest := g.Operands
		if len(rest) > 0 && (rest[0].Text == "set" || rest[0].Text == "add") {
			rest = rest[1:]
		}
		if len(rest) > 1 && !g.Has("get", "unset", "get-all") && len(rest[0].Text) > 6 && strings.EqualFold(rest[0].Text[:6], "alias.") {
			st.aliases["git "+rest[0].Text[6:]] = rest[1].Text
		}
	case "clone":
		w.gitClone(call, at)
		return out
	case "init":
		for _, dir := range (Options{"b", []string{"initial-branch", "template", "separate-git-dir"}}).Parse(call.args).Operands {
			for _, abs := range w.resolve(at, dir.Text) {
				w.made[abs] = true
			}
		}
		return out
	case "rev-parse":
		if len(call.args) == 1 && call.args[0].Text == "--show-toplevel" && call.dir != "" {
			return Flow{From: true, Known: true, Text: w.f.disk.root(call.dir) + "\n"}
		}
	}
	switch call.sub {
	case "commit", "push", "add", "stage", "rm", "mv", "tag":
		w.gits = append(w.gits, call)
	}
	return out
}

func (w *walk) pathEvents(st *state, action string, words []Word) {
	for _, word := range words {
		if strings.HasPrefix(word.Text, ":") && !strings.HasPrefix(word.Text, ":/") {
			continue
		}
		w.event(st, action, word, Flow{})
	}
}

// checkout moves to a branch or restores files.
func (w *walk) checkout(call gitCall, at, st *state) {
	spec := Options{"bBcC", []string{"orphan", "conflict", "pathspec-from-file", "create", "force-create", "track"}}
	args, files, dashes := call.args, []Word(nil), false
	for i, a := range args {
		if a.Text == "--" {
			args, files, dashes = args[:i], args[i+1:], true
			break
		}
	}
	g := spec.Parse(args)
	key := w.f.disk.root(call.dir)
	if made := g.Values("b", "B", "c", "C", "orphan", "create", "force-create"); len(made) > 0 {
		st.branch[key] = made[0].Text
		return
	}
	switch {
	case dashes:
		w.pathEvents(at, "edit", files)
	case len(g.Operands) > 1 && call.sub == "checkout": // a tree and files, or files
		start := 1
		if len(w.resolve(at, g.Operands[0].Text)) > 0 && exists(w.resolve(at, g.Operands[0].Text)[0]) {
			start = 0
		}
		w.pathEvents(at, "edit", g.Operands[start:])
	case len(g.Operands) == 1:
		name := g.Operands[0].Text
		if has, _ := hasRef(call.dir, "refs/heads/"+name); call.sub == "checkout" && !has && call.dir != "" {
			if paths := w.resolve(at, name); name == "." || len(paths) > 0 && exists(paths[0]) {
				w.pathEvents(at, "edit", g.Operands)
				return
			}
		}
		if name == "-" || strings.HasPrefix(name, "@{") {
			name = Hole
		}
		if g.Has("detach", "d") {
			name = "HEAD" // no branch can be called so
		}
		st.branch[key] = name
	}
}

// gitApply reads the patch that git applies.
func (w *walk) gitApply(call gitCall, st *state, in Flow) {
	g := Options{"pCd", []string{"directory", "exclude", "include", "whitespace"}}.Parse(call.args)
	if g.Has("stat", "numstat", "summary", "check", "cached", "abort", "continue", "skip", "quit") {
		return
	}
	for _, file := range g.Operands {
		in = w.read(st, file)
	}
	if !in.Known {
		w.opaque = true
		return
	}
	w.patches(in.Text, st)
}

// gitClone makes a directory that a later cd may go to.
func (w *walk) gitClone(call gitCall, st *state) {
	g := Options{"bocujC", []string{"branch", "origin", "config", "depth", "reference", "template", "upload-pack", "jobs", "filter", "separate-git-dir",
		"shallow-since", "shallow-exclude", "server-option", "bundle-uri"}}.Parse(call.args)
	var dir string
	switch len(g.Operands) {
	case 0:
		return
	case 1:
		dir = strings.TrimSuffix(filepath.Base(strings.TrimSuffix(g.Operands[0].Text, "/")), ".git")
		if i := strings.LastIndexByte(dir, ':'); i >= 0 {
			dir = dir[i+1:]
		}
	default:
		dir = g.Operands[1].Text
	}
	for _, abs := range w.resolve(st, dir) {
		w.made[abs] = true
	}
}

var commitOptions = Options{"mFCct", []string{"message", "file", "reuse-message", "reedit-message", "fixup", "squash", "author", "date", "template",
	"trailer", "cleanup", "pathspec-from-file"}}

// commitNames are the long options of git commit that matter here; git takes unique beginnings of them.
var commitNames = []string{"message", "file", "reuse-message", "reedit-message", "fixup", "squash", "author", "date", "template", "trailer", "cleanup",
	"pathspec-from-file", "amend", "no-edit", "edit", "all", "dry-run", "include", "only", "allow-empty", "allow-empty-message", "no-verify", "no-status",
	"signoff", "short", "branch", "porcelain", "long", "null", "patch", "interactive", "quiet", "verbose", "reset-author", "gpg-sign", "no-gpg-sign",
	"untracked-files", "status", "no-post-rewrite", "no-signoff"}

var pushOptions = Options{"o", []string{"push-option", "repo", "receive-pack", "exec"}}

var pushNames = []string{"force", "force-with-lease", "force-if-includes", "no-force", "no-force-with-lease", "mirror", "all", "branches", "tags",
	"follow-tags", "no-follow-tags", "delete", "set-upstream", "push-option", "repo", "receive-pack", "exec", "signed", "no-signed", "atomic", "no-atomic",
	"dry-run", "prune", "no-verify", "verify", "quiet", "verbose", "porcelain", "progress", "no-progress", "thin", "no-thin", "recurse-submodules", "ipv4", "ipv6"}

// fullNames writes unique beginnings of long options out, as git's own parser takes them.
func fullNames(args []Word, names []string) []Word {
	out := make([]Word, len(args))
	for i, a := range args {
		out[i] = a
		if a.Text == "--" {
			copy(out[i:], args[i:])
			return out
		}
		name, value, attached := strings.Cut(a.Text, "=")
		name, long := strings.CutPrefix(name, "--")
		if !long || name == "" {
			continue
		}
		if full := fullName(name, names); full != "" {
			out[i].Text = "--" + full
			if attached {
				out[i].Text += "=" + value
			}
		}
	}
	return out
}

func fullName(name string, names []string) string {
	found := ""
	for _, n := range names {
		switch {
		case n == name:
			return n
		case strings.HasPrefix(n, name) && found != "":
			return ""
		case strings.HasPrefix(n, name):
			found = n
		}
	}
	return found
}

// message notes what the commit's message will be, as long as the texts at hand are known.
func (w *walk) message(call *gitCall, st *state) {
	call.args = fullNames(call.args, commitNames)
	g := commitOptions.Parse(call.args)
	var parts []string
	for _, m := range g.Values("m", "message") {
		parts = append(parts, strings.ReplaceAll(m.Text, Hole, ""))
		call.hasMessage = true
	}
	for _, file := range g.Values("F", "file") {
		call.hasMessage = true
		if file.Text == "-" || file.Text == "/dev/stdin" {
			parts = append(parts, call.in.Text)
			continue
		}
		if flow, ok := w.procs[file.Text]; ok {
			parts = append(parts, flow.Text)
			continue
		}
		for _, abs := range w.resolve(st, file.Text) {
			if got, ok := w.written[abs]; ok && got.Known {
				parts = append(parts, got.Text)
			} else {
				call.messageFile = abs
			}
		}
	}
	call.message = strings.Join(parts, "\n\n")
}
