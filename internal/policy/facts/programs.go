package facts

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// use says what a program does to the files that its operands name.
type use struct {
	opts   Options
	action string // "read", "edit", "write" (create if absent), "delete"
	script bool   // the first operand is a pattern or script, unless one of given brings it
	given  string // options that bring the script, or that hold files of scripts
	files  string // options whose values are files that are read
	out    string // options whose values are files that are written
}

// uses by program name. Sources: the programs' manuals.
var uses = map[string]use{
	"rm":       {action: "delete"},
	"unlink":   {action: "delete"},
	"rmdir":    {action: "delete"},
	"shred":    {opts: Options{"ns", []string{"iterations", "size", "random-source"}}, action: "delete"},
	"touch":    {opts: Options{"drtA", []string{"date", "reference", "time"}}, action: "write"},
	"truncate": {opts: Options{"sr", []string{"size", "reference"}}, action: "write"},
	"tee":      {action: "write"},

	"cat": {action: "read"}, "tac": {action: "read"}, "nl": {opts: Options{Short: "bdfhilnsvw"}, action: "read"},
	"less": {opts: Options{Short: "bhjkoOpPtTxyz"}, action: "read"}, "more": {opts: Options{Short: "n"}, action: "read"},
	"bat":     {opts: Options{"lHrmf", []string{"language", "theme", "style", "line-range", "color", "paging"}}, action: "read"},
	"head":    {opts: Options{"nc", []string{"lines", "bytes"}}, action: "read"},
	"tail":    {opts: Options{"nc", []string{"lines", "bytes", "pid", "sleep-interval"}}, action: "read"},
	"base64":  {opts: Options{"wi", []string{"wrap"}}, action: "read", files: "i"},
	"base32":  {opts: Options{"w", []string{"wrap"}}, action: "read"},
	"xxd":     {opts: Options{Short: "cgloRs"}, action: "read"},
	"od":      {opts: Options{"AjNtwS", []string{"address-radix", "skip-bytes", "read-bytes", "format"}}, action: "read"},
	"hexdump": {opts: Options{Short: "efns"}, action: "read"}, "strings": {opts: Options{"nteT", []string{"bytes", "radix", "encoding"}}, action: "read"},
	"wc": {action: "read"}, "sort": {opts: Options{"koSTt", []string{"key", "output", "field-separator"}}, action: "read", out: "o output"},
	"uniq": {opts: Options{Short: "fsw"}, action: "read"}, "cut": {opts: Options{"bcdf", []string{"delimiter", "fields"}}, action: "read"},
	"diff": {opts: Options{Short: "xXIUC"}, action: "read"}, "cmp": {opts: Options{Short: "in"}, action: "read"},
	"grep": grepUse, "egrep": grepUse, "fgrep": grepUse, "zgrep": grepUse,
	"rg": {opts: Options{"ABCMEdefgjmrtT", []string{"glob", "iglob", "type", "type-not", "regexp", "file", "max-depth", "max-count",
		"context", "after-context", "before-context", "replace", "encoding", "color", "sort", "max-columns", "threads", "ignore-file"}},
		action: "read", script: true, given: "e f regexp file files", files: "f file"},
	"awk": awkUse, "gawk": awkUse, "mawk": awkUse, "nawk": awkUse,
	"jq": {opts: Options{"fL", []string{"from-file", "indent"}}, action: "read", script: true, given: "f from-file", files: "f from-file"},
	"yq": {action: "read", script: true},
}

var (
	grepUse = use{opts: Options{"ABCDdefm", []string{"regexp", "file", "context", "after-context", "before-context", "max-count", "include",
		"exclude", "exclude-dir", "label", "binary-files", "devices", "directories"}},
		action: "read", script: true, given: "e f regexp file", files: "f file"}
	awkUse = use{opts: Options{"Ffv", []string{"field-separator", "file", "assign"}}, action: "read", script: true, given: "f file", files: "f file"}
	sedUse = Options{"efl", []string{"expression", "file", "line-length"}}

	curlOptions = Options{"AbcCdDeEFhHKmoPQrtTuUwxXyYz", []string{"output", "output-dir", "data", "data-binary", "data-raw", "data-urlencode", "data-ascii",
		"header", "user", "user-agent", "referer", "form", "form-string", "request", "url", "max-time", "connect-timeout", "retry", "retry-delay", "retry-max-time",
		"cookie", "cookie-jar", "cacert", "cert", "key", "proxy", "upload-file", "write-out", "config", "dump-header", "range", "resolve", "json",
		"interface", "limit-rate", "max-filesize", "netrc-file", "trace", "trace-ascii", "stderr", "unix-socket", "capath", "cert-type", "key-type", "pass"}}
	wgetOptions = Options{"aAbBDeiIloOPQRtTUwX", []string{"output-document", "output-file", "directory-prefix", "header", "post-file", "post-data", "body-file",
		"user", "password", "user-agent", "tries", "timeout", "input-file", "load-cookies", "save-cookies", "method", "quota", "limit-rate", "certificate", "private-key"}}
)

// programFiles makes the file events of a program and gives what it prints.
func (w *walk) programFiles(name string, args []Word, st *state, in Flow) Flow {
	out := Flow{From: true, Fetched: in.Fetched}
	switch name {
	case "cp", "gcp", "copy", "Copy-Item":
		w.copyFiles(args, Options{"tS", []string{"target-directory", "suffix"}}, st, false)
	case "mv", "gmv", "move", "Move-Item":
		w.copyFiles(args, Options{"tS", []string{"target-directory", "suffix"}}, st, true)
	case "ln", "install", "rsync":
		w.place(name, args, st)
	case "sed", "gsed":
		w.sed(args, st)
	case "dd":
		w.dd(args, st)
	case "scp":
		w.scp(args, st)
	case "tar", "bsdtar", "gtar":
		w.tar(args, st)
	case "curl", "wget", "fetch", "wget2", "iwr", "irm", "Invoke-WebRequest", "Invoke-RestMethod":
		return w.fetch(name, args, st)
	case "mkdir":
		for _, dir := range (Options{"m", []string{"mode"}}).Parse(args).Operands {
			for _, abs := range w.resolve(st, dir.Text) {
				for ; len(abs) > 1; abs = filepath.Dir(abs) {
					w.made[abs] = true
				}
			}
		}
		return Flow{Known: true}
	case "patch":
		w.patch(in, args, st)
	case "chmod", "chown", "chgrp", "Write-Host", "kill", "printenv":
	case "Remove-Item", "ri", "del", "erase", "rd":
		w.useFiles(use{action: "delete"}, true, args, st, in)
	case "Get-Content", "gc", "type":
		w.useFiles(use{action: "read"}, false, args, st, in)
	default:
		spec, ok := uses[strings.TrimPrefix(name, "g")]
		if !ok || uses[name].action != "" {
			spec, ok = uses[name]
		}
		if ok {
			return w.useFiles(spec, recursive(name, args), args, st, in)
		}
	}
	return out
}

// recursive reports -r of rm.
func recursive(name string, args []Word) bool {
	if strings.TrimPrefix(name, "g") != "rm" {
		return false
	}
	for _, o := range (Options{}).Parse(args).Options {
		if o.Name == "r" || o.Name == "R" || len(o.Name) > 2 && strings.HasPrefix("recursive", o.Name) {
			return true
		}
	}
	return false
}

func (w *walk) useFiles(spec use, deep bool, args []Word, st *state, in Flow) Flow {
	g := spec.opts.Parse(args)
	out := Flow{From: true, Fetched: in.Fetched}
	for _, o := range g.Options {
		if o.HasValue && isOption(spec.files, o.Name) {
			w.event(st, "read", o.Value, Flow{})
		}
		if o.HasValue && isOption(spec.out, o.Name) {
			w.write(st, o.Value, Flow{Fetched: in.Fetched}, false)
		}
	}
	files := g.Operands
	if spec.script && len(files) > 0 && !hasAny(g, spec.given) {
		files = files[1:]
	}
	for _, file := range files {
		if w.full() {
			break
		}
		switch spec.action {
		case "delete":
			w.remove(st, file, deep)
		case "write":
			w.write(st, file, in, g.Has("a", "append"))
		case "read":
			if file.Text == "-" {
				continue
			}
			got := w.read(st, file)
			out.Fetched = out.Fetched || got.Fetched
		}
	}
	if spec.action == "read" && spec.script {
		return out
	}
	return w.passes(g, files, st, in, out)
}

func hasAny(g Given, names string) bool {
	for _, o := range g.Options {
		if isOption(names, o.Name) {
			return true
		}
	}
	return false
}

// passes is what cat and tee print: what they read.
func (w *walk) passes(g Given, files []Word, st *state, in, out Flow) Flow {
	for _, o := range g.Options {
		if o.Name != "a" && o.Name != "append" {
			return out
		}
	}
	if len(w.commands) == 0 {
		return out
	}
	switch w.commands[len(w.commands)-1].Name {
	case "tee":
		in.From = true
		return in
	case "cat":
		if len(files) == 0 || len(files) == 1 && files[0].Text == "-" {
			in.From = true
			return in
		}
		if len(files) == 1 {
			for _, abs := range w.resolve(st, files[0].Text) {
				if got, ok := w.written[abs]; ok {
					got.From = true
					return got
				}
			}
			if got, ok := w.procs[files[0].Text]; ok {
				return got
			}
		}
	}
	return out
}

// event records what a command does to a file, once for each directory that it may run in.
func (w *walk) event(st *state, action string, word Word, content Flow) {
	if w.procs[word.Text].From {
		return
	}
	if word.Text == "" {
		return
	}
	paths := w.resolve(st, word.Text)
	if len(paths) == 0 {
		w.opaque = true
		return
	}
	for _, abs := range paths {
		if noFile(abs) || w.full() {
			continue
		}
		f := w.f.newFile(abs, action)
		if action == "write" {
			f.Action = "create"
			if _, earlier := w.written[abs]; earlier || exists(abs) {
				f.Action = "edit"
				if w.f.isPost() {
					f.Also = []string{"create"} // it may not have been there before
				}
			}
		}
		f.Content, f.HasContent = content.Text, content.Known && content.From
		w.add(f)
	}
}

// maxFiles bounds the file events of one call.
const maxFiles = 4000

func (w *walk) full() bool {
	full := len(w.files) >= maxFiles
	w.opaque = w.opaque || full
	return full
}

func (w *walk) add(f File) {
	if !w.full() {
		w.files = append(w.files, f)
	}
}

// tree reports whether one more directory may be listed.
func (w *walk) tree() bool {
	w.trees++
	w.opaque = w.opaque || w.trees > maxTrees
	return w.trees <= maxTrees && !w.full()
}

// remove is a deletion, of everything below a directory too.
func (w *walk) remove(st *state, word Word, deep bool) {
	w.event(st, "delete", word, Flow{})
	for _, abs := range w.resolve(st, word.Text) {
		if !deep || !isRealDir(abs) || !w.tree() {
			continue
		}
		dir := w.f.newFile(abs, "delete")
		for i := range w.files {
			w.files[i].Dir = w.files[i].Dir || w.files[i].Abs == abs
		}
		for _, f := range w.f.filesIn(dir, "delete") {
			w.add(f)
		}
	}
}

// copyFiles is cp and mv: sources, then a destination that may be a directory.
func (w *walk) copyFiles(args []Word, opts Options, st *state, move bool) {
	g := opts.Parse(args)
	sources, target := g.Operands, Word{}
	into := false
	if t := g.Values("t", "target-directory"); len(t) > 0 {
		target, into = t[0], true
	} else if n := len(sources); n > 1 {
		target, sources = sources[n-1], sources[:n-1]
		into = len(sources) > 1
	} else {
		return
	}
	for _, src := range sources {
		w.transfer(st, src, target, into, move)
	}
}

func (w *walk) transfer(st *state, src, target Word, into, move bool) {
	if !move {
		w.event(st, "read", src, Flow{})
	}
	from, to := w.resolve(st, src.Text), w.resolve(st, target.Text)
	if len(from) == 0 || len(to) == 0 {
		w.opaque = true
	}
	if move {
		for _, abs := range from {
			w.renamed(abs, "delete")
		}
	}
	for i, dst := range to {
		if into || strings.HasSuffix(target.Text, "/") || isDir(dst) {
			if len(from) == 0 && strings.HasSuffix(src.Text, Hole) {
				continue
			}
			dst = filepath.Join(dst, path.Base(filepath.ToSlash(src.Text)))
		}
		var origin string
		if len(from) > 0 {
			origin = from[min(i, len(from)-1)]
		}
		w.arrives(origin, dst, move)
	}
}

// renamed is one end of a rename, a directory with everything below it.
func (w *walk) renamed(abs, also string) {
	if w.full() {
		return
	}
	f := w.f.newFile(abs, "rename")
	f.Also = []string{also}
	f.Dir = isRealDir(abs)
	w.add(f)
	if !f.Dir || !w.tree() {
		return
	}
	for _, g := range w.f.filesIn(f, "rename") {
		g.Also = []string{also}
		w.add(g)
	}
}

// arrives is the destination of a copy or a rename; what is below a directory arrives below it.
func (w *walk) arrives(origin, dst string, move bool) {
	if got, ok := w.written[origin]; ok {
		w.written[dst] = got
	}
	one := func(abs string, below bool) {
		if noFile(abs) || w.full() {
			return
		}
		f := w.f.newFile(abs, "create")
		f.Below = below
		switch {
		case move:
			f.Action, f.Also = "rename", []string{"create"}
		case exists(abs):
			f.Action = "edit"
		}
		w.add(f)
	}
	one(dst, false)
	if origin != "" && isRealDir(origin) && w.tree() {
		for _, p := range filesBelow(origin) {
			if rel, ok := below(p, origin); ok {
				one(filepath.Join(dst, rel), true)
			}
		}
	}
}

// place is ln, install and rsync.
func (w *walk) place(name string, args []Word, st *state) {
	spec := map[string]Options{
		"ln":      {"tS", []string{"target-directory", "suffix"}},
		"install": {"mogtS", []string{"mode", "owner", "group", "target-directory", "suffix"}},
		"rsync": {"efTBM", []string{"rsh", "filter", "exclude", "include", "exclude-from", "include-from", "files-from", "temp-dir", "block-size",
			"max-size", "min-size", "bwlimit", "log-file", "password-file", "port", "chmod", "chown", "compare-dest", "copy-dest", "link-dest"}},
	}[name]
	g := spec.Parse(args)
	if name == "install" && g.Has("d", "directory") {
		return
	}
	sources, target, into := g.Operands, Word{}, false
	switch t := g.Values("t", "target-directory"); {
	case len(t) > 0:
		target, into = t[0], true
	case len(sources) == 1 && name == "ln":
		target = Word{Text: path.Base(sources[0].Text)}
	case len(sources) > 1:
		n := len(sources)
		target, sources = sources[n-1], sources[:n-1]
		into = len(sources) > 1
	default:
		return
	}
	if name == "rsync" && strings.Contains(target.Text, ":") {
		return
	}
	if len(w.resolve(st, target.Text)) == 0 {
		w.opaque = true
	}
	for _, src := range sources {
		for _, dst := range w.resolve(st, target.Text) {
			if into || strings.HasSuffix(target.Text, "/") || isDir(dst) && !g.Has("T", "n", "no-dereference") {
				dst = filepath.Join(dst, path.Base(filepath.ToSlash(strings.ReplaceAll(src.Text, Hole, ""))))
			}
			w.arrives(slices.Concat(w.resolve(st, src.Text), []string{""})[0], dst, false)
		}
	}
}

// sed edits with -i, whose suffix is attached; else it reads.
func (w *walk) sed(args []Word, st *state) {
	edit := false
	kept := make([]Word, 0, len(args))
	for _, a := range args {
		flags := a.Text
		if i := strings.IndexByte(flags, 'i'); len(flags) > 1 && flags[0] == '-' && flags[1] != '-' && i > 0 && !strings.ContainsAny(flags[:i], "efl") {
			edit = true
			a = part(a, flags[:i]) // the rest is a suffix
			if a.Text == "-" {
				continue
			}
		}
		edit = edit || strings.HasPrefix(flags, "--in-place")
		kept = append(kept, a)
	}
	g := sedUse.Parse(kept)
	files := g.Operands
	for len(files) > 0 && files[0].Text == "" { // sed -i '' of BSD
		files = files[1:]
	}
	if len(files) > 0 && !g.Has("e", "f", "expression", "file") {
		files = files[1:]
	}
	for _, file := range files {
		if edit {
			w.event(st, "edit", file, Flow{})
		} else {
			w.event(st, "read", file, Flow{})
		}
	}
}

func (w *walk) dd(args []Word, st *state) {
	for _, a := range args {
		if v, ok := strings.CutPrefix(a.Text, "of="); ok {
			w.write(st, part(a, v), Flow{}, false)
		}
		if v, ok := strings.CutPrefix(a.Text, "if="); ok {
			w.event(st, "read", part(a, v), Flow{})
		}
	}
}

// scp reads the local ones of its operands and writes the last, if that is local.
func (w *walk) scp(args []Word, st *state) {
	g := Options{Short: "cDFiJloPSX"}.Parse(args)
	for _, key := range g.Values("i") {
		w.event(st, "read", key, Flow{})
	}
	for i, word := range g.Operands {
		host, _, remote := strings.Cut(word.Text, ":")
		switch {
		case remote && !strings.Contains(host, "/"):
		case i+1 < len(g.Operands):
			w.event(st, "read", word, Flow{})
		default:
			w.write(st, word, Flow{}, false)
		}
	}
}

// tar reads what it packs, or the archive.
func (w *walk) tar(args []Word, st *state) {
	if len(args) > 0 && args[0].Text != "" && args[0].Text[0] != '-' {
		args = append([]Word{part(args[0], "-"+args[0].Text)}, args[1:]...)
	}
	g := Options{"fCTXbI", []string{"file", "directory", "exclude", "files-from", "exclude-from", "transform", "owner", "group", "mode"}}.Parse(args)
	pack := g.Has("c", "create", "r", "append", "u", "update")
	for _, archive := range g.Values("f", "file") {
		switch {
		case archive.Text == "-" || strings.Contains(archive.Text, ":"):
		case pack:
			w.write(st, archive, Flow{}, false)
		default:
			w.event(st, "read", archive, Flow{})
		}
	}
	if dir := g.Values("C", "directory"); len(dir) > 0 {
		st = st.clone()
		st.dirs = w.resolve(st, dir[0].Text)
	}
	if pack {
		for _, file := range g.Operands {
			w.event(st, "read", file, Flow{})
		}
	}
}

// fetch is curl and wget: what they save, what they send, and that what they print comes from the network.
func (w *walk) fetch(name string, args []Word, st *state) Flow {
	got := Flow{From: true, Fetched: true}
	save := func(word Word) { w.write(st, word, got, false) }
	if name != "curl" {
		return w.wget(name, args, st, save)
	}
	g := curlOptions.Parse(args)
	dir := ""
	for _, d := range g.Values("output-dir") {
		dir = d.Text + "/"
	}
	for _, o := range g.Options {
		switch o.Name {
		case "o", "output":
			if o.HasValue && o.Value.Text != "-" {
				save(part(o.Value, dir+o.Value.Text))
			}
		case "O", "remote-name", "remote-name-all":
			for _, u := range append(g.Values("url"), g.Operands...) {
				save(part(u, dir+urlBase(u.Text)))
			}
		case "T", "upload-file", "K", "config", "cert", "key", "E", "netrc-file":
			w.event(st, "read", o.Value, Flow{})
		case "c", "cookie-jar", "D", "dump-header":
			if o.HasValue && o.Value.Text != "-" {
				w.event(st, "write", o.Value, Flow{})
			}
		case "d", "data", "data-binary", "data-ascii", "data-urlencode", "json", "F", "form", "H", "header":
			if _, file, ok := strings.Cut(o.Value.Text, "@"); ok && sends(o.Name, o.Value.Text) {
				file, _, _ = strings.Cut(file, ";")
				if file != "-" {
					w.event(st, "read", part(o.Value, file), Flow{})
				}
			}
		}
	}
	return got
}

// sends reports whether a value of curl's options is read from a file: "@file", and "name=@file" of forms.
func sends(option, text string) bool {
	before, _, _ := strings.Cut(text, "@")
	return before == "" || (option == "F" || option == "form") && strings.HasSuffix(before, "=") || option == "data-urlencode" && !strings.Contains(before, "=")
}

func (w *walk) wget(name string, args []Word, st *state, save func(Word)) Flow {
	got := Flow{From: true, Fetched: true}
	opts := wgetOptions
	if name == "fetch" {
		opts = Options{Short: "oBNSTwi"}
	}
	if name != "wget" && name != "wget2" && name != "fetch" {
		return got
	}
	g := opts.Parse(args)
	outs := g.Values("O", "output-document")
	if name == "fetch" {
		outs = g.Values("o")
	}
	for _, word := range g.Values("post-file", "body-file", "i", "input-file") {
		w.event(st, "read", word, Flow{})
	}
	if len(outs) == 0 {
		dir := ""
		for _, d := range g.Values("P", "directory-prefix") {
			dir = d.Text + "/"
		}
		for _, u := range g.Operands {
			save(part(u, dir+urlBase(u.Text)))
		}
		return Flow{Known: true}
	}
	for _, o := range outs {
		if o.Text != "-" && o.Text != "/dev/stdout" {
			save(o)
		}
	}
	return got
}

// urlBase is the file name that curl -O and wget make of a URL.
func urlBase(text string) string {
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		text = text[:i]
	}
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		rest = text
	}
	base := "index.html"
	if i := strings.LastIndexByte(rest, '/'); i >= 0 && i+1 < len(rest) {
		base = rest[i+1:]
	}
	return base
}

// patch applies a patch that it is given on its input.
func (w *walk) patch(in Flow, args []Word, st *state) {
	g := Options{"pidoDrFBVYz", []string{"strip", "input", "directory", "output"}}.Parse(args)
	for _, word := range g.Values("i", "input") {
		in = w.read(st, word)
	}
	if !in.Known {
		w.opaque = true
		return
	}
	for _, dir := range g.Values("d", "directory") {
		st = st.clone()
		st.dirs = w.resolve(st, dir.Text)
	}
	w.patches(in.Text, st)
}

func (w *walk) patches(text string, st *state) {
	for _, p := range parsePatch(text) {
		for _, abs := range w.resolve(st, p.path) {
			for _, f := range w.f.patchFiles(p, abs, func(to string) string { return slices.Concat(w.resolve(st, to), []string{abs})[0] }) {
				w.add(f)
			}
		}
	}
}
