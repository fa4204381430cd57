package policy

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/copilot-mem/copilot-mem/internal/policy/bundled"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
	"github.com/copilot-mem/copilot-mem/internal/policy/glob"
)

// Settings is what the settings files say together.
type Settings struct {
	ClaudeBridge string // "on", "off" or "auto"
	RepoLog      bool   // the user wants the session log in the repository, too
	PostGate     bool   // some source wants the gate; Policy.PostGate says which
	Tools        map[string]facts.FileTool

	rules   map[string]BundledSetting
	invalid []string // paths of settings files with errors
}

// BundledSetting is what the settings make of one bundled rule.
type BundledSetting struct {
	Action string // "off", "deny", "ask" or "warn"; "" = the rule's own
	Note   string // why a setting of the repository does not count; "" when none is ignored

	own    string
	except []glob.List
}

// Bundled returns the setting of a rule by its short name.
func (s *Settings) Bundled(rule string) BundledSetting { return s.rules[rule] }

// On reports whether the rule is to be asked at all.
func (b BundledSetting) On() bool { return b.Action != "off" && (b.Action != "" || b.own != "off") }

// ActionFor is the action of one hit of the rule, which has an action of its own ("deny" or "ask").
func (b BundledSetting) ActionFor(hit string) string {
	switch {
	case b.Action == "":
		return hit
	case rank(b.Action) > rank(b.own) || rank(b.Action) < rank(hit):
		return b.Action
	}
	return hit
}

// Excepted reports whether all of the canonical paths that a hit is about are excepted.
func (b BundledSetting) Excepted(paths []string) bool {
	return len(paths) > 0 && len(b.except) > 0 && !slices.ContainsFunc(paths, func(p string) bool {
		return !slices.ContainsFunc(b.except, func(l glob.List) bool { return l.Ignores(p) })
	})
}

var bundledActions = []string{"off", "warn", "ask", "deny"}

func rank(action string) int { return slices.Index(bundledActions, action) }

// settingsFile is one settings file as it was read.
type settingsFile struct {
	*decoder
	path, dir string
	source    Source
	valid     bool // no errors: what relaxes counts

	defaultsOff bool
	defaults    *yaml.Node
	rules       []ruleSetting
	lock        []string
	lockAll     bool // which rules are locked cannot be read
	onError     string
	postGate    bool
	bridge      string
	repoLog     bool
	tools       map[string]facts.FileTool
}

type ruleSetting struct {
	name   string
	node   *yaml.Node
	action string // "" = not given
	except *globList
}

var settingsKeys = []string{"rules", "defaults", "lock", "on-error", "post-gate", "claude-bridge", "telemetry", "tools"}

// settings reads one settings file; nil when there is none.
func (s *Set) settings(l Loader, dir, path string, source Source) *settingsFile {
	at := place{folder: path, dir: dir, source: source}
	if info, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err == nil && info.Mode()&fs.ModeSymlink != 0 && source != User && !l.inside(path, at) {
		s.warn(l.name(path), "link", "copy the file into the repository", "not read: the link leads out of the repository")
		return nil
	}
	f := newSettings(l.name(path), path, dir, source)
	src, problem := readFile(path)
	if problem != "" {
		f.errorf(nil, "unreadable", "", "%s", problem)
		f.lockAll = true
	} else {
		f.src = trimMark(src)
		f.decode(l.Home)
	}
	f.finish()
	return f
}

func newSettings(name, path, dir string, source Source) *settingsFile {
	return &settingsFile{decoder: &decoder{file: name}, path: path, dir: dir, source: source}
}

func (f *settingsFile) finish() {
	f.valid = !slices.ContainsFunc(f.problems, func(p Finding) bool { return p.Severity == SeverityError })
}

func (f *settingsFile) decode(home string) {
	if onlyComments(f.src) {
		return // all settings are optional
	}
	top := f.parse()
	if top == nil {
		f.lockAll = true
		return
	}
	fields, ok := f.fields(top, "the settings", settingsKeys)
	f.lockAll = !ok
	for _, e := range fields {
		f.field(e, home)
	}
}

func (f *settingsFile) field(e entry, home string) {
	switch e.name {
	case "rules":
		fields, _ := f.fields(e.v, "rules", ruleNames())
		for _, r := range fields {
			f.rule(r, home)
		}
	case "defaults":
		if word, ok := f.onOff(e.v, "defaults", "on", "off"); ok {
			f.defaults, f.defaultsOff = e.k, word == "off"
		}
	case "lock":
		f.locked(e)
	case "on-error":
		f.onError, _ = f.choice(e.v, "on-error", onErrorWords...)
	case "post-gate":
		word, ok := f.onOff(e.v, "post-gate", "on", "off")
		f.postGate = ok && word == "on"
	case "claude-bridge":
		f.bridge, _ = f.onOff(e.v, "claude-bridge", "on", "off", "auto")
	case "telemetry":
		f.telemetry(e)
	case "tools":
		f.fileTools(e)
	}
}

// onlyComments reports a text that says nothing.
func onlyComments(src []byte) bool {
	for line := range bytes.Lines(src) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// ruleNames are the short names of the bundled rules.
func ruleNames() []string {
	var out []string
	for _, r := range bundled.Rules() {
		out = append(out, r.Name)
	}
	return out
}

// onOff reads one of the words; on and off may be YAML booleans.
func (d *decoder) onOff(n *yaml.Node, what string, words ...string) (string, bool) {
	if n = d.resolve(n); n == nil {
		return "", false
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		if strings.EqualFold(n.Value, "true") {
			return "on", true
		}
		return "off", true
	}
	return d.choice(n, what, words...)
}

func (f *settingsFile) rule(e entry, home string) {
	r := ruleSetting{name: e.name, node: e.k}
	words := append([]string{"on"}, bundledActions...)
	if e.v.Kind != yaml.MappingNode {
		r.action, _ = f.onOff(e.v, "rules."+e.name, words...)
		f.rules = append(f.rules, r)
		return
	}
	fields, _ := f.fields(e.v, "rules."+e.name, []string{"action", "except"})
	for _, x := range fields {
		if x.name == "action" {
			r.action, _ = f.onOff(x.v, "rules."+e.name+".action", words...)
			continue
		}
		if r.except = f.globs(x, "rules."+e.name+".except"); r.except != nil {
			r.except.compile(f.decoder, home, foldPaths())
		}
	}
	f.rules = append(f.rules, r)
}

func (f *settingsFile) locked(e entry) {
	if f.source != User {
		f.warnf(e.k, "no-effect", "put it into the user's settings", "lock counts only in the user's settings")
		return
	}
	names, nodes, ok := f.texts(e.v, "lock")
	f.lock, f.lockAll = names, !ok
	for i, name := range names {
		if known := ruleNames(); !slices.Contains(known, name) {
			f.errorf(nodes[i], "bad-value", hintKey(name, known), "lock: unknown rule %q", name)
		}
	}
}

func (f *settingsFile) telemetry(e entry) {
	if f.source != User {
		f.warnf(e.k, "no-effect", "put it into the user's settings", "telemetry counts only in the user's settings")
		return
	}
	fields, _ := f.fields(e.v, "telemetry", []string{"repo-log"})
	for _, x := range fields {
		word, ok := f.onOff(x.v, "telemetry.repo-log", "on", "off")
		f.repoLog = ok && word == "on"
	}
}

func (f *settingsFile) fileTools(e entry) {
	fields, _ := f.fields(e.v, "tools", nil)
	for _, tool := range fields {
		if t, ok := f.fileTool(tool); ok {
			if f.tools == nil {
				f.tools = map[string]facts.FileTool{}
			}
			f.tools[tool.name] = t
		}
	}
}

func (f *settingsFile) fileTool(e entry) (facts.FileTool, bool) {
	var t facts.FileTool
	what := "tools." + e.name
	fields, ok := f.fields(e.v, what, []string{"action", "path", "content"})
	if !ok {
		return t, false
	}
	if _, err := glob.CompileName(e.name); err != nil {
		f.errorf(e.k, "glob", "", "tools: %q: %v", e.name, err)
		return t, false
	}
	for _, x := range fields {
		good := false
		switch x.name {
		case "action":
			t.Action, good = f.choice(x.v, what+".action", fileActions...)
		case "path":
			t.Path, good = f.text(x.v, what+".path", true)
		case "content":
			t.Content, good = f.text(x.v, what+".content", true)
		}
		ok = ok && good
	}
	if ok && (t.Action == "" || t.Path == "") {
		f.errorf(e.k, "missing-key", "", "%s needs an action and a path", what)
		return t, false
	}
	return t, ok
}

// merge puts the files together: the user's word counts, a repository may tighten what the user left open, and relax it where it
// is trusted and the rule is not locked. A file with errors relaxes nothing.
func (s *Set) merge(l Loader, files []*settingsFile) Settings {
	out := Settings{ClaudeBridge: "auto", rules: map[string]BundledSetting{}}
	for _, f := range files {
		s.Findings = append(s.Findings, sorted(f.problems)...)
		if !f.valid {
			out.invalid = append(out.invalid, f.path)
		}
		out.add(f)
	}
	for _, r := range bundled.Rules() {
		out.rules[r.Name] = s.bundled(l, files, r)
	}
	return out
}

// add takes over what concerns no bundled rule; the first file that says something counts, and the user's comes first.
func (out *Settings) add(f *settingsFile) {
	out.PostGate = out.PostGate || f.postGate
	if f.source == User {
		out.RepoLog = f.repoLog
	}
	if out.ClaudeBridge == "auto" && f.bridge != "" {
		out.ClaudeBridge = f.bridge
	}
	for name, t := range f.tools {
		if out.Tools == nil {
			out.Tools = map[string]facts.FileTool{}
		}
		if _, there := out.Tools[name]; !there {
			out.Tools[name] = t
		}
	}
}

// setting returns what a file says about a rule: an action ("" = nothing) and whether it names the rule.
func (f *settingsFile) setting(r bundled.Rule) (action string, except *globList, at *yaml.Node) {
	if f.defaultsOff {
		action, at = "off", f.defaults
	}
	for _, s := range f.rules {
		if s.name != r.Name {
			continue
		}
		at, except = s.node, s.except
		switch s.action {
		case "":
		case "on":
			if action = r.Action; action == "off" {
				action = "ask"
			}
		default:
			action = s.action
		}
	}
	return action, except, at
}

func (s *Set) bundled(l Loader, files []*settingsFile, r bundled.Rule) BundledSetting {
	b := BundledSetting{own: r.Action}
	current, fixed, locked := r.Action, false, false
	repo := ""
	for _, f := range files {
		action, except, at := f.setting(r)
		if f.source == User {
			locked = f.lockAll || slices.Contains(f.lock, r.Name)
			if action != "" && (f.valid || rank(action) > rank(current)) {
				current, fixed = action, true
			}
			if except != nil && !except.any && f.valid {
				b.except = append(b.except, except.list)
			}
			continue
		}
		if action != "" && !fixed {
			switch why := ""; {
			case rank(action) >= rank(current) || s.mayRelax(l, f, locked, &why):
				if repo == "" || rank(action) > rank(repo) {
					repo = action
				}
			default:
				b.Note = s.ignored(f, at, r.Name+": "+action, why)
			}
		}
		if except != nil && !except.any {
			if why := ""; s.mayRelax(l, f, locked, &why) {
				b.except = append(b.except, except.list)
			} else {
				b.Note = s.ignored(f, at, r.Name+": except", why)
			}
		}
	}
	if repo != "" {
		current = repo
	}
	if current != r.Action {
		b.Action = current
	}
	return b
}

func (s *Set) mayRelax(l Loader, f *settingsFile, locked bool, why *string) bool {
	switch {
	case !f.valid:
		*why = "the file has errors"
	case locked:
		*why = "the user's settings lock the rule"
	case l.Trusted == nil || !l.Trusted(f.dir):
		*why = "the repository is not trusted"
	default:
		return true
	}
	return false
}

func (s *Set) ignored(f *settingsFile, at *yaml.Node, what, why string) string {
	found := Finding{File: f.file, Rule: "relaxation-ignored", Severity: SeverityWarning, Message: what + " does not count: " + why}
	if at != nil {
		found.Line, found.Column = at.Line, at.Column
	}
	if why == "the repository is not trusted" {
		found.Hint = "run `copilot-mem policy trust`"
	}
	s.Findings = append(s.Findings, found)
	return found.Message
}
