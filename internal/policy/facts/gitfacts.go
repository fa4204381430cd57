package facts

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/copilot-mem/copilot-mem/internal/hook"
)

// Commit is one commit that the call makes. The methods ask git when they are first called.
type Commit struct {
	Amend, All bool

	f       *Facts
	call    gitCall
	given   Given
	before  []gitCall // earlier git commands of the same text
	written []File    // what the text writes before the commit
	message func() string
	files   func() ([]ChangedFile, bool)
}

// ChangedFile is a path of a commit, relative to its repository; Status is added, modified, deleted, renamed or copied,
// Old the former path of a renamed one.
type ChangedFile struct{ Path, Status, Old string }

// Push is one push that the call makes.
type Push struct {
	Remote, Ref string   // Ref is the first of Refs: refs/heads/… or refs/tags/…
	Refs        []string // destinations
	RefsKnown   bool

	Force, Lease, Delete, Tags, Mirror bool

	f       *Facts
	dir     string
	sources []string // what is pushed to Refs[i]: a revision, "" deletes
	all     string   // --all and the like: the option of git log that names what goes out
	commits []*Commit
	files   func() ([]string, bool)
}

func (f *Facts) findCommits() []*Commit {
	w := f.walk()
	if w == nil {
		return nil
	}
	var out []*Commit
	for i, call := range w.gits {
		if call.sub != "commit" {
			continue
		}
		c := &Commit{f: f, call: call, given: commitOptions.Parse(call.args), before: w.gits[:i]}
		if c.given.Has("dry-run", "short", "porcelain", "long", "help", "h") {
			continue
		}
		c.written = w.files[:min(call.files, len(w.files))]
		c.Amend, c.All = c.given.Has("amend"), c.given.Has("a", "all")
		c.message = sync.OnceValue(c.findMessage)
		c.files = sync.OnceValues(c.findFiles)
		out = append(out, c)
	}
	return out
}

// Message is the commit's message as far as it is given; the last one for an amendment that keeps it.
func (c *Commit) Message() string { return c.message() }

func (c *Commit) findMessage() string {
	text := c.call.message
	if c.call.messageFile != "" {
		text = joinParts(text, readRegular(c.call.messageFile))
	}
	rev := ""
	switch reuse := c.given.Values("C", "c", "reuse-message", "reedit-message"); {
	case c.call.hasMessage:
	case len(reuse) > 0:
		rev = reuse[0].Text
	case c.Amend:
		rev = "HEAD"
	}
	for _, kind := range []string{"fixup", "squash"} {
		for _, v := range c.given.Values(kind) {
			_, target, found := strings.Cut(v.Text, ":")
			if !found {
				target = v.Text
			}
			text = joinParts(kind+"! "+c.lastMessage("%s", target), text)
		}
	}
	if rev != "" {
		text = c.lastMessage("%B", rev)
	}
	return strings.TrimRight(text, " \t\r\n")
}

func joinParts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.TrimRight(a, "\n") + "\n\n" + b
}

func (c *Commit) lastMessage(format, rev string) string {
	if c.call.dir == "" || rev == "" || strings.HasPrefix(rev, "-") || strings.Contains(rev, Hole) {
		return ""
	}
	out, err := c.f.repo.run(c.call.dir, "log", "-1", "--format="+format, rev, "--")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// readRegular reads an ordinary file, at most 1 MiB of it; what cannot be read is empty.
func readRegular(name string) string {
	if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return ""
	}
	return string(b)
}

// Author is the address of the commit's author.
func (c *Commit) Author() string {
	for _, a := range c.given.Values("author") {
		if _, rest, ok := strings.Cut(a.Text, "<"); ok {
			address, _, _ := strings.Cut(rest, ">")
			return address
		}
		return a.Text
	}
	if c.call.dir == "" {
		return ""
	}
	return c.f.repo.author(c.call.dir)
}

// Branch is the branch that is committed to; known is false when it cannot be told. A detached head is known to be none.
func (c *Commit) Branch() (name string, known bool) { return c.f.branchOf(c.call) }

func (f *Facts) branchOf(call gitCall) (name string, known bool) {
	switch {
	case strings.Contains(call.branch, Hole) || call.dir == "":
		return "", false
	case call.branch == "HEAD":
		return "", true
	case call.branch != "":
		return call.branch, true
	}
	return f.repo.branchAt(call.dir)
}

// Files are the paths that the commit changes; known is false when they cannot be told.
func (c *Commit) Files() (files []ChangedFile, known bool) { return c.files() }

func (c *Commit) findFiles() ([]ChangedFile, bool) {
	if c.call.dir == "" {
		return nil, false
	}
	if c.f.in.Event.Name == hook.PostToolUse {
		out, err := c.f.repo.run(c.call.dir, "diff-tree", "--root", "--no-commit-id", "--name-status", "-z", "-r", "-M", "HEAD")
		return parseNameStatus(string(out)), err == nil
	}
	sel, ok := c.selection()
	if !ok {
		return nil, false
	}
	entries, ok := c.f.repo.statusOf(sel.root, sel.untracked)
	if !ok {
		return nil, false
	}
	return sel.files(entries, c.written), true
}

// selection is which changes of a working tree a commit takes.
type selection struct {
	root, dir string
	all       bool       // every tracked change
	untracked bool       // some pathspec may take in new files
	specs     []pathspec // of the commit, and of earlier git add; they hold in turn
	removed   []string   // paths of git rm and git mv
}

type pathspec struct {
	text    string // relative to the repository; "" is everything
	tracked bool   // only files that git knows
	not     bool
}

func (c *Commit) selection() (selection, bool) {
	s := selection{dir: c.call.dir, all: c.All}
	root := c.f.disk.root
	s.root = root(s.dir)
	ok := true
	for _, call := range c.before {
		if call.sub == "push" || call.sub == "tag" || call.sub == "commit" || root(call.dir) != s.root {
			ok = ok && (call.dir != "" || call.sub == "push" || call.sub == "tag")
			continue
		}
		ok = s.earlier(call) && ok
	}
	for _, spec := range c.given.Operands {
		ok = s.spec(spec.Text, c.call.dir, true) && ok
	}
	if len(c.given.Values("pathspec-from-file")) > 0 {
		ok = false
	}
	return s, ok
}

// earlier takes in what a git add, rm or mv before the commit stages.
func (s *selection) earlier(call gitCall) bool {
	g := Options{"", []string{"chmod", "pathspec-from-file"}}.Parse(call.args)
	if len(g.Values("pathspec-from-file")) > 0 {
		return false
	}
	if call.sub == "rm" || call.sub == "mv" {
		for _, file := range g.Operands {
			for _, abs := range resolve([]string{call.dir}, file.Text) {
				if rel, ok := below(abs, s.root); ok {
					s.removed = append(s.removed, filepath.ToSlash(rel))
				}
			}
		}
		return true
	}
	if g.Has("n", "dry-run") {
		return true
	}
	tracked := g.Has("u", "update")
	s.untracked = s.untracked || !tracked
	if len(g.Operands) == 0 && (tracked || g.Has("A", "all", "p", "patch", "i", "interactive")) {
		s.specs = append(s.specs, pathspec{tracked: tracked})
		return true
	}
	ok := true
	for _, spec := range g.Operands {
		ok = s.spec(spec.Text, call.dir, tracked) && ok
	}
	return ok
}

// spec adds one pathspec; false: it cannot be known.
func (s *selection) spec(text, dir string, tracked bool) bool {
	if strings.Contains(text, Hole) {
		return false
	}
	p := pathspec{tracked: tracked}
	switch {
	case strings.HasPrefix(text, ":!"), strings.HasPrefix(text, ":^"):
		p.not, text = true, text[2:]
	case strings.HasPrefix(text, ":(exclude)"):
		p.not, text = true, text[len(":(exclude)"):]
	case strings.HasPrefix(text, ":/"):
		dir, text = s.root, text[2:]
	case strings.HasPrefix(text, ":(top)"):
		dir, text = s.root, text[len(":(top)"):]
	case strings.HasPrefix(text, ":("):
		s.specs = append(s.specs, p)
		return true
	}
	abs := filepath.Join(dir, filepath.FromSlash(text))
	if filepath.IsAbs(filepath.FromSlash(text)) {
		abs = filepath.Clean(filepath.FromSlash(text))
	}
	rel, ok := below(abs, s.root)
	if !ok {
		if rel, ok = below(realPath(abs), realPath(s.root)); !ok {
			return true
		}
	}
	if p.text = filepath.ToSlash(rel); p.text == "." {
		p.text = ""
	}
	s.specs = append(s.specs, p)
	return true
}

func (p pathspec) matches(path string) bool {
	return p.text == "" || p.text == path || strings.HasPrefix(path, p.text+"/") || strings.ContainsAny(p.text, "*?[") && matchSegment(p.text, path)
}

// takes reports whether the pathspecs choose a path.
func (s *selection) takes(path string, untracked bool) bool {
	takes := false
	for _, p := range s.specs {
		switch {
		case !p.matches(path):
		case p.not:
			takes = false
		case !untracked || !p.tracked:
			takes = true
		}
	}
	return takes
}

// files chooses among the entries of git status, and adds what the same text writes or removes before the commit.
func (s *selection) files(entries []statusEntry, written []File) []ChangedFile {
	var out []ChangedFile
	seen := map[string]bool{}
	add := func(f ChangedFile) {
		if !seen[f.Path] {
			seen[f.Path] = true
			out = append(out, f)
		}
	}
	changed := map[string]bool{}
	for _, e := range entries {
		changed[e.path] = true
		untracked := e.index == '?'
		switch {
		case e.index != ' ' && !untracked:
			add(ChangedFile{e.path, statusWord(e.index), e.old})
		case s.all && !untracked, s.takes(e.path, untracked):
			add(ChangedFile{e.path, statusWord(e.tree), e.old})
		}
	}
	for _, f := range written {
		rel, ok := below(realPath(f.Abs), realPath(s.root))
		if rel = filepath.ToSlash(rel); !ok || f.Action == "read" || changed[rel] || f.Dir {
			continue
		}
		if fresh := f.Is("create"); s.takes(rel, fresh) || s.all && !fresh {
			add(ChangedFile{rel, writtenStatus(f), ""})
		}
	}
	for _, p := range s.specs { // a file that something unknown makes before the commit
		if p.text != "" && !p.not && !strings.ContainsAny(p.text, "*?[") && !changed[p.text] && !seen[p.text] && !exists(filepath.Join(s.root, p.text)) {
			add(ChangedFile{p.text, "added", ""})
		}
	}
	for _, path := range s.removed {
		add(ChangedFile{path, "deleted", ""})
	}
	return out
}

func writtenStatus(f File) string {
	switch {
	case f.Is("create"):
		return "added"
	case f.Is("delete"):
		return "deleted"
	}
	return "modified"
}

// statusEntry is one line of git status: the state of the index and of the working tree.
type statusEntry struct {
	index, tree byte
	path, old   string
}

func statusWord(c byte) string {
	switch c {
	case 'A', '?':
		return "added"
	case 'D':
		return "deleted"
	case 'R':
		return "renamed"
	case 'C':
		return "copied"
	}
	return "modified"
}

type statusAnswer struct {
	entries []statusEntry
	ok      bool
}

// statusOf is the state of a working tree against its index and head.
func (r *gitRunner) statusOf(root string, untracked bool) ([]statusEntry, bool) {
	mode := "-uno"
	if untracked {
		mode = "-uall"
	}
	key := mode + root
	r.mu.Lock()
	got, known := r.status[key]
	r.mu.Unlock()
	if known {
		return got.entries, got.ok
	}
	out, err := r.run(root, "status", "--porcelain=v1", "-z", mode, "--ignore-submodules=none", "--find-renames")
	got = statusAnswer{parseStatus(string(out)), err == nil}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status == nil {
		r.status = map[string]statusAnswer{}
	}
	r.status[key] = got
	return got.entries, got.ok
}

func parseStatus(out string) []statusEntry {
	var entries []statusEntry
	fields := strings.Split(out, "\x00")
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		if len(f) < 4 {
			continue
		}
		e := statusEntry{index: f[0], tree: f[1], path: f[3:]}
		if (e.index == 'R' || e.index == 'C' || e.tree == 'R') && i+1 < len(fields) {
			i++
			e.old = fields[i]
		}
		entries = append(entries, e)
	}
	return entries
}

// parseNameStatus reads git diff --name-status -z.
func parseNameStatus(out string) []ChangedFile {
	var files []ChangedFile
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] == "" {
			continue
		}
		f := ChangedFile{Path: fields[i+1], Status: statusWord(fields[i][0])}
		if (fields[i][0] == 'R' || fields[i][0] == 'C') && i+2 < len(fields) {
			f.Old, f.Path = fields[i+1], fields[i+2]
			i++
		}
		files = append(files, f)
	}
	return files
}

func (f *Facts) findPushes() []*Push {
	w := f.walk()
	if w == nil {
		return nil
	}
	var out []*Push
	for i, call := range w.gits {
		if call.sub != "push" {
			continue
		}
		g := pushOptions.Parse(fullNames(call.args, pushNames))
		if g.Has("n", "dry-run", "help", "h") {
			continue
		}
		p := &Push{f: f, dir: call.dir, RefsKnown: true}
		p.flags(g, call.config)
		p.refspecs(g, call, w.gits[:i])
		if len(p.Refs) > 0 {
			p.Ref = p.Refs[0]
		}
		for _, c := range f.Commits() {
			if c.call.dir != "" && f.disk.root(c.call.dir) == f.disk.root(call.dir) && len(c.before) < i {
				p.commits = append(p.commits, c)
			}
		}
		p.files = sync.OnceValues(p.findFiles)
		out = append(out, p)
	}
	return out
}

// flags reads the options; the last of --force and --no-force counts.
func (p *Push) flags(g Given, config []string) {
	for _, o := range g.Options {
		switch o.Name {
		case "f", "force":
			p.Force = true
		case "no-force":
			p.Force = false
		case "force-with-lease":
			p.Lease = true
		case "no-force-with-lease":
			p.Lease = false
		case "mirror":
			p.Mirror = true
		case "d", "delete":
			p.Delete = true
		case "tags":
			p.Tags = true
		}
		if strings.Contains(o.Name, Hole) {
			p.RefsKnown = false
		}
	}
	for _, c := range config { // -c remote.origin.mirror=true, -c remote.origin.push=+main
		key, value, _ := strings.Cut(strings.ToLower(c), "=")
		if strings.HasPrefix(key, "remote.") {
			p.Mirror = p.Mirror || strings.HasSuffix(key, ".mirror") && value != "false"
			p.Force = p.Force || strings.HasSuffix(key, ".push") && strings.HasPrefix(value, "+")
		}
	}
}

// refspecs works out what goes where.
func (p *Push) refspecs(g Given, call gitCall, before []gitCall) {
	var specs []Word
	if len(g.Operands) > 0 {
		p.Remote, specs = g.Operands[0].Text, g.Operands[1:]
	}
	current, known := p.f.branchOf(call)
	if p.Remote == "" {
		for _, r := range g.Values("repo") {
			p.Remote = r.Text
		}
	}
	if strings.Contains(p.Remote, Hole) {
		p.Remote = ""
	}
	if p.Remote == "" {
		p.Remote = defaultRemote(call.dir, current)
	}
	switch {
	case p.Mirror:
		p.everything("refs/", "--all")
		return
	case g.Has("all", "branches"):
		p.everything("refs/heads/", "--branches")
	}
	tags := p.f.newTags(before, call.dir)
	if p.Tags {
		p.everything("refs/tags/", "--tags")
		for _, tag := range tags {
			p.add("refs/tags/"+tag, "HEAD")
		}
	}
	for i := 0; i < len(specs); i++ {
		text := specs[i].Text
		if text == "tag" && i+1 < len(specs) {
			i++
			p.add("refs/tags/"+specs[i].Text, "refs/tags/"+specs[i].Text)
			continue
		}
		p.refspec(text, current, known, tags)
	}
	if len(specs) == 0 && !p.Tags && !g.Has("all", "branches") {
		if !known || current == "" {
			p.RefsKnown = false
			return
		}
		p.add("refs/heads/"+current, "HEAD")
	}
}

func (p *Push) add(dst, src string) {
	p.Refs = append(p.Refs, dst)
	p.sources = append(p.sources, src)
}

// everything stands for all refs with a prefix.
func (p *Push) everything(prefix, logOption string) {
	p.all = logOption
	refs, known := refsBelow(p.dir, prefix)
	p.RefsKnown = p.RefsKnown && known
	for _, ref := range refs {
		if !strings.HasPrefix(ref, "refs/remotes/") && ref != "refs/stash" {
			p.add(ref, ref)
		}
	}
}

// refspec reads [+]src[:dst]. Without a place in refs/, dst is where src is: a tag, or else a branch.
func (p *Push) refspec(text, current string, currentKnown bool, tags []string) {
	if rest, forced := strings.CutPrefix(text, "+"); forced {
		p.Force, text = true, rest
	}
	if strings.Contains(text, Hole) {
		p.RefsKnown = false
		return
	}
	src, dst, hasDst := strings.Cut(text, ":")
	if p.Delete {
		src, dst, hasDst = "", text, true
	}
	if text == ":" || strings.Contains(text, "*") {
		p.RefsKnown = false
		if base := strings.TrimSuffix(dst, "*"); strings.HasPrefix(base, "refs/") {
			p.everything(base, "--all")
		}
		return
	}
	if src == "@" {
		src = "HEAD"
	}
	if !hasDst || dst == "" {
		dst = src
		if src == "HEAD" {
			if !currentKnown || current == "" {
				p.RefsKnown = false
				return
			}
			dst = current
		}
	}
	if src == "" {
		p.Delete = true
	}
	p.add(p.fullRef(dst, src, tags), src)
}

func (p *Push) fullRef(dst, src string, tags []string) string {
	switch {
	case strings.HasPrefix(dst, "refs/"):
		return dst
	case strings.HasPrefix(dst, "heads/"), strings.HasPrefix(dst, "tags/"):
		return "refs/" + dst
	case strings.HasPrefix(src, "refs/tags/"), strings.HasPrefix(src, "tags/"):
		return "refs/tags/" + dst
	}
	name := src
	if name == "" {
		name = dst
	}
	if branch, _ := hasRef(p.dir, "refs/heads/"+name); branch {
		return "refs/heads/" + dst
	}
	if tag, _ := hasRef(p.dir, "refs/tags/"+name); tag || slices.Contains(tags, name) {
		return "refs/tags/" + dst
	}
	return "refs/heads/" + dst
}

// newTags are the tags that earlier commands of the text make.
func (f *Facts) newTags(before []gitCall, dir string) []string {
	var out []string
	for _, call := range before {
		if call.sub != "tag" || f.disk.root(call.dir) != f.disk.root(dir) {
			continue
		}
		g := Options{"mFu", []string{"message", "file", "local-user", "cleanup", "sort", "format", "points-at", "contains"}}.Parse(call.args)
		if len(g.Operands) > 0 && !g.Has("d", "delete", "l", "list", "v", "verify") && !strings.Contains(g.Operands[0].Text, Hole) {
			out = append(out, g.Operands[0].Text)
		}
	}
	return out
}

// defaultRemote is where a branch is pushed to when nothing is said, read from the repository's own configuration.
func defaultRemote(dir, branch string) string {
	_, common, ok := gitDirs(dir)
	if !ok {
		return "origin"
	}
	section, remote, push, pushDefault := "", "", "", ""
	for line := range strings.Lines(readRegular(filepath.Join(common, "config"))) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.Trim(strings.TrimSpace(value), `"`)
		switch {
		case section == `[branch "`+branch+`"]` && key == "remote":
			remote = value
		case section == `[branch "`+branch+`"]` && key == "pushremote":
			push = value
		case strings.EqualFold(section, "[remote]") && key == "pushdefault":
			pushDefault = value
		}
	}
	for _, name := range []string{push, pushDefault, remote} {
		if name != "" {
			return name
		}
	}
	return "origin"
}

// Files are the paths that change with what goes out, sorted; known is false when the range cannot be told.
func (p *Push) Files() (files []string, known bool) { return p.files() }

func (p *Push) findFiles() ([]string, bool) {
	if p.dir == "" || !p.RefsKnown {
		return nil, false
	}
	var out []string
	add := func(path string) {
		if path != "" && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	for _, c := range p.commits {
		files, known := c.Files()
		if !known {
			return nil, false
		}
		for _, f := range files {
			add(f.Path)
			add(f.Old)
		}
	}
	for _, revs := range p.ranges() {
		if revs == nil {
			return nil, false
		}
		// A merge changes what differs from all its parents; its other changes are in the commits that it brings.
		args := append([]string{"log", "-c", "--name-only", "-z", "--format=", "--no-renames"}, revs...)
		text, err := p.f.repo.run(p.dir, append(args, "--")...)
		if err != nil {
			return nil, false
		}
		for path := range strings.SplitSeq(string(text), "\x00") {
			add(strings.TrimLeft(path, "\n"))
		}
	}
	slices.Sort(out)
	return out, true
}

// ranges are the arguments of git log for what goes out; a nil one is unknown.
func (p *Push) ranges() [][]string {
	if p.all != "" {
		return [][]string{{p.all, "--not", "--remotes=" + p.Remote}}
	}
	var out [][]string
	for i, dst := range p.Refs {
		src := p.sources[i]
		if src == "" { // a deletion sends nothing
			continue
		}
		base := p.base(dst)
		if base == "" || strings.HasPrefix(src, "-") {
			return [][]string{nil}
		}
		out = append(out, []string{src, "--not", base})
	}
	return out
}

// base is what the remote has already: its branch, or else its default branch.
func (p *Push) base(dst string) string {
	remote := "refs/remotes/" + p.Remote + "/"
	if branch, ok := strings.CutPrefix(dst, "refs/heads/"); ok {
		if has, _ := hasRef(p.dir, remote+branch); has {
			if p.f.isPost() {
				return remote + branch + "@{1}"
			}
			return remote + branch
		}
	}
	for _, name := range []string{"HEAD", "main", "master", "develop", "trunk"} {
		if has, _ := hasRef(p.dir, remote+name); has {
			return remote + name
		}
	}
	return ""
}
