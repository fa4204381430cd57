package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// Match returns the enabled policies that speak about the event, in the order of Policies. env gives the functions that
// conditions may call; its contexts are not used, and it may be nil.
func (s *Set) Match(f *facts.Facts, env *expr.Env) []Match {
	var out []Match
	for _, p := range s.Policies {
		q := s.query(f, env, p)
		if m, ok := q.match(); ok {
			out = append(out, m)
		}
	}
	return out
}

// Explanation says for one policy whether it speaks about the event, and what was asked to find out.
type Explanation struct {
	Match
	Matched bool
}

// Explain is Match with reasons, for all policies. Every trigger is asked, also after one that matches.
func (s *Set) Explain(f *facts.Facts, env *expr.Env) []Explanation {
	out := make([]Explanation, 0, len(s.Policies))
	for _, p := range s.Policies {
		q := s.query(f, env, p)
		q.trace = &[]Check{}
		m, ok := q.match()
		m.Why = *q.trace
		out = append(out, Explanation{m, ok})
	}
	return out
}

// Compile reads all of every policy, as for lists and validation.
func (s *Set) Compile() {
	for _, p := range s.Policies {
		p.compile()
	}
}

// query is the question whether one policy speaks about one event.
type query struct {
	set   *Set
	p     *Policy
	f     *facts.Facts
	env   *expr.Env
	event string
	trace *[]Check // nil: nobody wants to know
}

func (s *Set) query(f *facts.Facts, env *expr.Env, p *Policy) *query {
	return &query{set: s, p: p, f: f, env: env, event: f.Event().Name}
}

// check notes a question and its answer, and returns the answer.
func (q *query) check(name, pattern, value string, result bool) bool {
	if q.trace != nil {
		*q.trace = append(*q.trace, Check{name, pattern, cut(value, 200), result})
	}
	return result
}

func (q *query) match() (Match, bool) {
	p := q.p
	m := Match{Policy: p, Trigger: -1, File: -1, Commit: -1, Push: -1}
	if !p.Enabled {
		q.check("enabled", "true", "false", false)
		return m, false
	}
	if !q.speaks(&m) {
		return m, false
	}
	p.compile()
	m.Invalid = p.InvalidText()
	if m.Invalid == "" {
		return m, true
	}
	return m, q.affected(&m)
}

// speaks finds the first trigger that matches; one whose `if` fails counts only if no other matches.
func (q *query) speaks(m *Match) bool {
	p := q.p
	switch {
	case p.mutatingOnly:
		return q.check("file", "readable", "not YAML: every call that may change something", q.event == hook.PreToolUse && q.mutating())
	case p.Rule != nil:
		return q.rule(m)
	}
	found := false
	for i := range p.Triggers {
		one := Match{Policy: p, Trigger: i, File: -1, Commit: -1, Push: -1}
		if !q.trigger(&p.Triggers[i], &one) || found && (m.Err == nil || one.Err != nil) {
			continue
		}
		*m, found = one, true
		if q.trace == nil && m.Err == nil {
			break
		}
	}
	if !found && p.onUnreadable {
		return q.check("on", "readable", "unreadable: every call", q.event == hook.PreToolUse)
	}
	return found
}

func (q *query) trigger(t *Trigger, m *Match) bool {
	before := q.event == hook.PreToolUse
	if t.Kind == "hooks" {
		return q.check("hooks.types", strings.Join(t.Types, ","), q.event, slices.Contains(t.Types, q.event)) && q.hooks(t, m)
	}
	held := before && t.Pre || q.event == hook.PostToolUse && t.Post
	if !q.check(t.Kind+".lifecycle", lifecycleText(t), q.event, held) {
		return false
	}
	switch t.Kind {
	case "tool":
		return q.tool(t, m)
	case "file":
		return q.file(t, m)
	case "commit":
		return q.commit(t, m)
	}
	return q.push(t, m)
}

func lifecycleText(t *Trigger) string {
	switch {
	case t.Pre && t.Post:
		return "pre,post"
	case t.Post:
		return "post"
	}
	return "pre"
}

func (q *query) hooks(t *Trigger, m *Match) bool {
	if len(t.names) == 0 {
		return true
	}
	t.compile(q.p.decoder)
	for i, c := range q.f.Tools() {
		if q.name("hooks.tools", t, c.Tool) {
			m.setCall(q.f, i)
			return true
		}
	}
	return false
}

// setCall remembers which of the calls matched, unless it is the call itself.
func (m *Match) setCall(f *facts.Facts, i int) {
	if i > 0 {
		c := f.Tools()[i]
		m.Call = &c
	}
}

func (q *query) name(what string, t *Trigger, tool string) bool {
	ok := tool != "" && slices.ContainsFunc(t.names, func(n namePattern) bool {
		return n.any || slices.ContainsFunc(spellings(tool), n.glob.Match)
	})
	return q.check(what, t.nameList(), tool, ok)
}

// spellings are the names that a policy may use for a tool, the canonical one first.
func spellings(tool string) []string {
	switch tool {
	case "bash":
		return []string{"bash", "Bash"}
	case "view":
		return []string{"view", "Read"}
	case "create":
		return []string{"create", "Write"}
	case "edit":
		return []string{"edit", "Edit", "MultiEdit"}
	case "task":
		return []string{"task", "Agent", "Task"}
	case "grep":
		return []string{"grep", "Grep", "rg"}
	case "glob":
		return []string{"glob", "Glob"}
	}
	return []string{tool}
}

func (q *query) tool(t *Trigger, m *Match) bool {
	t.compile(q.p.decoder)
	var failed error
	for i, c := range q.f.Tools() {
		if len(t.names) > 0 && !q.name("tool.name", t, c.Tool) || !q.args(t, c.Args) {
			continue
		}
		one := *m
		one.setCall(q.f, i)
		ok, err := q.condition(t, &one)
		if err != nil {
			failed = err
			continue
		}
		if ok {
			*m = one
			return true
		}
	}
	m.Err = failed
	return failed != nil
}

func (q *query) args(t *Trigger, args map[string]any) bool {
	for _, a := range t.args {
		value, there := args[a.name]
		if !q.check("tool.args."+a.name, a.text, argText(value, there), there && q.arg(a, value)) {
			return false
		}
	}
	return true
}

func (q *query) arg(a argPattern, value any) bool {
	text := argText(value, true)
	if a.any || a.glob.Match(text) {
		return true
	}
	if s, ok := value.(string); ok && pathArg(a.name) {
		candidates, _ := q.f.Paths(s)
		return slices.ContainsFunc(candidates, a.glob.Match)
	}
	return false
}

// pathArg reports whether tools use the argument for a path.
func pathArg(name string) bool {
	switch name {
	case "path", "file_path", "filePath", "filename", "file", "notebook_path", "target_file", "destination", "new_path":
		return true
	}
	return false
}

// argText is an argument as globs see it: texts as they are, everything else as compact JSON.
func argText(v any, there bool) string {
	if !there {
		return ""
	}
	if s, ok := v.(string); ok {
		return s
	}
	return compactJSON(v)
}

func compactJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (q *query) file(t *Trigger, m *Match) bool {
	t.compile(q.p.decoder)
	var failed error
	files := q.f.Files()
	for i := range files {
		file := &files[i]
		if !q.check("file.types", typesText(t), file.Action+" "+file.Path, t.action(file)) || !q.paths(t, file) {
			continue
		}
		one := *m
		one.File = i
		ok, err := q.condition(t, &one)
		if err != nil {
			failed = err
			continue
		}
		if ok {
			*m = one
			return true
		}
	}
	if len(files) == 0 {
		q.check("file", "a file event", "none", false)
	}
	m.Err = failed
	return failed != nil
}

func typesText(t *Trigger) string {
	if len(t.Types) == 0 {
		return "create,edit,delete,rename"
	}
	return strings.Join(t.Types, ",")
}

func (t *Trigger) action(f *facts.File) bool {
	if t.anyType {
		return true
	}
	if len(t.Types) == 0 {
		return f.Action != "read"
	}
	return slices.ContainsFunc(t.Types, f.Is)
}

func (q *query) paths(t *Trigger, f *facts.File) bool {
	if g := t.pathsIgnore; g != nil && !q.check("file.paths-ignore", g.text(), f.Path, !g.ignores(f.Path)) {
		return false
	}
	if g := t.paths; g != nil {
		return q.check("file.paths", g.text(), f.Path, g.any || g.list.Match(f.Candidates, f.Path))
	}
	return true
}

func (g *globList) text() string { return strings.Join(g.entries, " ") }

func (g *globList) ignores(canonical string) bool { return !g.any && g.list.Ignores(canonical) }

// has applies the list to a name that has one spelling only.
func (g *globList) has(name string) bool { return g.any || g.list.Match([]string{name}, name) }

func (q *query) commit(t *Trigger, m *Match) bool {
	t.compile(q.p.decoder)
	commits := q.f.Commits()
	for i, c := range commits {
		if t.branches != nil || t.branchesIgnore != nil {
			branch, known := c.Branch()
			if !known {
				q.check("commit.branches", "", "unknown: counts as matching", true)
			} else if !q.ref("commit.branches", branch, t.branches, t.branchesIgnore) {
				continue
			}
		}
		if !q.changed(t, func() ([]string, bool) { return commitPaths(c) }) {
			continue
		}
		m.Commit = i
		return true
	}
	if len(commits) == 0 {
		q.check("commit", "a commit", "none", false)
	}
	return false
}

// commitPaths are the paths that a commit changes, both names of a renamed file.
func commitPaths(c *facts.Commit) ([]string, bool) {
	files, known := c.Files()
	out := make([]string, 0, len(files))
	for _, f := range files {
		out = append(out, f.Path)
		if f.Old != "" {
			out = append(out, f.Old)
		}
	}
	return out, known
}

// ref applies the lists of one kind to a branch or tag name.
func (q *query) ref(what, name string, include, ignore *globList) bool {
	if ignore != nil && !q.check(what+"-ignore", ignore.text(), name, !ignore.ignores(name)) {
		return false
	}
	return include == nil || q.check(what, include.text(), name, include.has(name))
}

// changed applies paths-ignore and paths to all files of a commit or push; unknown files match.
func (q *query) changed(t *Trigger, files func() ([]string, bool)) bool {
	if t.paths == nil && t.pathsIgnore == nil {
		return true
	}
	paths, known := files()
	if !known {
		return q.check(t.Kind+".paths", "", "unknown files: counts as matching", true)
	}
	value := strings.Join(paths, " ")
	if g := t.pathsIgnore; g != nil {
		all := len(paths) > 0 && !slices.ContainsFunc(paths, func(s string) bool { return !g.ignores(s) })
		if !q.check(t.Kind+".paths-ignore", g.text(), value, !all) {
			return false
		}
	}
	if g := t.paths; g != nil {
		return q.check(t.Kind+".paths", g.text(), value, g.any || slices.ContainsFunc(paths, g.has))
	}
	return true
}

func (q *query) push(t *Trigger, m *Match) bool {
	t.compile(q.p.decoder)
	pushes := q.f.Pushes()
	for i, p := range pushes {
		if q.refs(t, p) && q.changed(t, p.Files) {
			m.Push = i
			return true
		}
	}
	if len(pushes) == 0 {
		q.check("push", "a push", "none", false)
	}
	return false
}

// refs applies the branch and tag filters: a ref of a kind that has no filter matches only if the other kind has none either.
func (q *query) refs(t *Trigger, p *facts.Push) bool {
	forBranches, forTags := t.branches != nil || t.branchesIgnore != nil, t.tags != nil || t.tagsIgnore != nil
	if !forBranches && !forTags {
		return true
	}
	for _, g := range []*globList{t.branches, t.branchesIgnore, t.tags, t.tagsIgnore} {
		if g != nil && g.any {
			return q.check("push."+strings.TrimPrefix(g.what, "push."), "", "unreadable: counts as matching", true)
		}
	}
	if !p.RefsKnown {
		return q.check("push.refs", "", "unknown: counts as matching", true)
	}
	for _, ref := range p.Refs {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && forBranches && q.ref("push.branches", name, t.branches, t.branchesIgnore) {
			return true
		}
		if name, ok := strings.CutPrefix(ref, "refs/tags/"); ok && forTags && q.ref("push.tags", name, t.tags, t.tagsIgnore) {
			return true
		}
	}
	return q.check("push.refs", "", strings.Join(p.Refs, " "), false)
}

// condition evaluates a trigger's `if`; one that cannot be read holds.
func (q *query) condition(t *Trigger, m *Match) (bool, error) {
	if t.cond == nil || t.parsed == nil {
		return true, nil
	}
	env := q.environment(m)
	var err error
	if !onlyOf(t.parsed, "event", "policy") {
		err = q.variables(env)
	}
	var v expr.Value
	if err == nil {
		v, err = t.parsed.Eval(env)
	}
	if err != nil {
		q.check(t.Kind+".if", t.cond.Value, err.Error(), true)
		return false, errors.New(Finding{File: q.p.File, Line: t.Line, Column: t.Column, Message: t.Kind + ".if: " + message(err)}.String())
	}
	return q.check(t.Kind+".if", t.cond.Value, expr.ToText(v), expr.Truthy(v)), nil
}

// message is the text of an expression's error without the offset.
func message(err error) string {
	var at *expr.Error
	if errors.As(err, &at) {
		return at.Msg
	}
	return err.Error()
}

func (q *query) environment(m *Match) *expr.Env {
	env := expr.Env{}
	if q.env != nil {
		env = *q.env
	}
	env.Contexts = m.Contexts(q.f)
	return &env
}

// variables puts the workflow's `env` into an environment; each variable sees those before it.
func (q *query) variables(env *expr.Env) error {
	q.p.compile()
	vars := map[string]expr.Value{}
	env.Contexts["env"] = vars
	for _, v := range q.p.Env {
		text, err := v.Value.Eval(env)
		if err != nil {
			return err
		}
		vars[v.Name] = text
	}
	return nil
}

// Contexts are the contexts that depend on the match: `event`, with the file, commit, push or call that matched, and
// `policy`. Each call gives a new map.
func (m *Match) Contexts(f *facts.Facts) map[string]expr.Value {
	event := f.Context()
	if m.File >= 0 {
		event["file"] = f.Files()[m.File].Value()
	}
	if m.Commit >= 0 {
		event["commit"] = f.Commits()[m.Commit].Value()
	}
	if m.Push >= 0 {
		event["push"] = f.Pushes()[m.Push].Value()
	}
	if tool, ok := event["tool"].(map[string]any); ok && m.Call != nil {
		as := maps.Clone(tool)
		as["name"], as["args"] = m.Call.Tool, m.Call.Args
		event["tool"] = as
	}
	return map[string]expr.Value{
		"event":  event,
		"policy": map[string]any{"name": m.Policy.Name, "file": m.Policy.File, "source": m.Policy.Source.String()},
	}
}
