package policy

import (
	"errors"
	"runtime"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
	"github.com/copilot-mem/copilot-mem/internal/policy/glob"
)

// Trigger is one entry of `on`. What could not be read in it narrows nothing.
type Trigger struct {
	Kind         string // "hooks", "tool", "file", "commit" or "push"
	Line, Column int
	Pre, Post    bool     // whether it speaks before and after a call; of hooks: see Types
	Types        []string // of hooks: canonical event names; of file: actions, empty for all but "read"

	anyType bool // the types cannot be read
	names   []namePattern
	args    []argPattern
	cond    *yaml.Node
	parsed  *expr.Expr
	home    string

	paths, pathsIgnore, branches, branchesIgnore, tags, tagsIgnore *globList
	compiled                                                       bool
}

type namePattern struct {
	text string
	node *yaml.Node
	glob glob.Pattern
	any  bool // malformed
}

type argPattern struct {
	name, text string
	node       *yaml.Node
	glob       glob.Pattern
	any        bool
}

// globList is a list of path, branch or tag globs.
type globList struct {
	what    string
	entries []string
	nodes   []*yaml.Node
	list    glob.List
	any     bool // cannot be read: includes everything, ignores nothing
}

// String names the trigger for lists: "file", "file:post", "tool bash", "hooks preToolUse,postToolUse".
func (t *Trigger) String() string {
	s := t.Kind
	switch t.Kind {
	case "hooks":
		s += " " + strings.Join(t.Types, ",")
		if len(t.names) > 0 {
			s += " " + t.nameList()
		}
	case "tool":
		s += " " + t.nameList()
	}
	switch {
	case t.Kind == "hooks", t.Kind == "tool" && t.Pre && t.Post:
	case t.Pre && t.Post:
		s += ":pre+post"
	case t.Post:
		s += ":post"
	case t.Kind == "tool":
		s += ":pre"
	}
	return s
}

func (t *Trigger) nameList() string {
	var names []string
	for _, n := range t.names {
		names = append(names, n.text)
	}
	return strings.Join(names, ",")
}

// Events are the events that the trigger can speak about.
func (t *Trigger) Events() []string {
	if t.Kind == "hooks" {
		return t.Types
	}
	var out []string
	if t.Pre {
		out = append(out, hook.PreToolUse)
	}
	if t.Post {
		out = append(out, hook.PostToolUse)
	}
	return out
}

var triggerNames = []string{"hooks", "tool", "tools", "file", "commit", "push"}

// decodeOn reads `on`: a trigger name, a list of them, or a map.
func (p *Policy) decodeOn(n *yaml.Node) {
	d := p.decoder
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		p.namedTrigger(n)
	case n.Kind == yaml.SequenceNode:
		list, ok := d.items(n, "on")
		if ok && len(list) == 0 {
			d.errorf(n, "bad-value", "", "on is empty")
			p.onUnreadable = true
		}
		for _, c := range list {
			if s, ok := d.text(c, "an entry of on", true); ok {
				p.namedTrigger(&yaml.Node{Value: s, Line: c.Line, Column: c.Column})
			} else {
				p.onUnreadable = true
			}
		}
	default:
		known := len(d.problems)
		fields, ok := d.fields(n, "on", triggerNames)
		if !ok || len(d.problems) > known { // an unknown kind may be of any kind; the first of two equal keys is readable
			p.onUnreadable = !ok || slices.ContainsFunc(d.problems[known:], func(f Finding) bool { return f.Rule != "duplicate-key" })
		}
		if ok && len(fields) == 0 && !p.onUnreadable {
			d.errorf(n, "bad-value", "", "on is empty")
			p.onUnreadable = true
		}
		for _, e := range fields {
			p.decodeTriggers(e)
		}
	}
}

func (p *Policy) namedTrigger(n *yaml.Node) {
	switch n.Value {
	case "hooks", "file", "commit", "push":
		p.decodeTrigger(n.Value, n, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column})
	case "tool", "tools":
		p.errorf(n, "missing-key", "write on: {"+n.Value+": …} with a name", "trigger %s needs the name of a tool", n.Value)
		p.Triggers = append(p.Triggers, Trigger{Kind: "tool", Line: n.Line + p.lineOff, Column: n.Column, Pre: true, Post: true, compiled: true})
	default:
		p.errorf(n, "bad-value", hintKey(n.Value, triggerNames), "unknown trigger %q", n.Value)
		p.onUnreadable = true
	}
}

func (p *Policy) decodeTriggers(e entry) {
	if e.name != "tools" {
		p.decodeTrigger(e.name, e.k, e.v)
		return
	}
	list, ok := p.items(e.v, "tools")
	if ok && len(list) == 0 {
		p.errorf(e.v, "bad-value", "", "tools is empty")
	}
	if !ok || len(list) == 0 {
		p.Triggers = append(p.Triggers, Trigger{Kind: "tool", Line: e.k.Line + p.lineOff, Column: e.k.Column, Pre: true, Post: true})
	}
	for _, c := range list {
		p.decodeTrigger("tool", c, c)
	}
}

// triggerKeys are the keys of one kind of trigger.
func triggerKeys(kind string) []string {
	switch kind {
	case "hooks":
		return []string{"types", "tools"}
	case "tool":
		return []string{"name", "args", "if", "lifecycle"}
	case "file":
		return []string{"lifecycle", "types", "paths", "paths-ignore", "if"}
	case "commit":
		return []string{"lifecycle", "paths", "paths-ignore", "branches", "branches-ignore"}
	}
	return []string{"lifecycle", "branches", "branches-ignore", "tags", "tags-ignore", "paths", "paths-ignore"}
}

// decodeTrigger reads one trigger; place is where it starts.
func (p *Policy) decodeTrigger(kind string, place, body *yaml.Node) {
	d := p.decoder
	t := Trigger{Kind: kind, Line: place.Line + d.lineOff, Column: place.Column, Pre: true, Post: kind == "tool", home: p.home}
	if kind == "hooks" {
		t.Types = []string{hook.PreToolUse, hook.PostToolUse}
	}
	null := body.Kind == yaml.ScalarNode && body.Tag == "!!null"
	switch {
	case null && kind != "tool":
	case null:
		d.errorf(place, "missing-key", "", "trigger tool needs the name of a tool")
	default:
		fields, ok := d.fields(body, kind, triggerKeys(kind))
		if !ok {
			t.Pre, t.Post, t.anyType = true, true, true
		}
		named := kind != "tool" || !ok
		for _, e := range fields {
			named = named || e.name == "name"
			d.triggerField(&t, e)
		}
		if !named {
			d.errorf(place, "missing-key", "", "trigger tool needs the name of a tool")
		}
	}
	p.Triggers = append(p.Triggers, t)
}

func (d *decoder) triggerField(t *Trigger, e entry) {
	label := t.Kind + "." + e.name
	switch e.name {
	case "lifecycle":
		word, ok := d.choice(e.v, label, "pre", "post")
		t.Pre, t.Post = !ok || word == "pre", !ok || word == "post"
	case "types":
		if t.Kind == "hooks" {
			d.hookTypes(t, e, label)
		} else {
			d.fileTypes(t, e, label)
		}
	case "tools":
		names, nodes, ok := d.texts(e.v, label)
		for i, s := range names {
			t.names = append(t.names, namePattern{text: s, node: nodes[i]})
		}
		if !ok {
			t.names = nil
		}
	case "name":
		if s, ok := d.text(e.v, label, true); ok {
			t.names = []namePattern{{text: s, node: e.v}}
		}
	case "args":
		d.triggerArgs(t, e, label)
	case "if":
		t.cond = e.v
	case "paths":
		t.paths = d.globs(e, label)
	case "paths-ignore":
		t.pathsIgnore = d.globs(e, label)
	case "branches":
		t.branches = d.globs(e, label)
	case "branches-ignore":
		t.branchesIgnore = d.globs(e, label)
	case "tags":
		t.tags = d.globs(e, label)
	case "tags-ignore":
		t.tagsIgnore = d.globs(e, label)
	}
}

func (d *decoder) hookTypes(t *Trigger, e entry, label string) {
	names, nodes, ok := d.texts(e.v, label)
	var types []string
	for i, name := range names {
		canonical, known := hook.CanonicalName(name)
		if !known {
			d.errorf(nodes[i], "bad-value", hintKey(name, eventNames()), "%s: unknown event %q", label, name)
			ok = false
			continue
		}
		if !slices.Contains(types, canonical) {
			types = append(types, canonical)
		}
	}
	if ok && len(names) == 0 {
		d.errorf(e.v, "bad-value", "leave types out for preToolUse and postToolUse", "%s is empty", label)
		ok = false
	}
	if ok {
		t.Types = types
		return
	}
	for _, known := range []string{hook.PreToolUse, hook.PostToolUse} { // the unreadable one may be any call
		if !slices.Contains(types, known) {
			types = append(types, known)
		}
	}
	t.Types = types
}

func eventNames() []string {
	return []string{hook.SessionStart, hook.SessionEnd, hook.UserPromptSubmitted, hook.UserPromptTransformed, hook.PreToolUse, hook.PostToolUse,
		hook.PostToolUseFailure, hook.AgentStop, hook.SubagentStart, hook.SubagentStop, hook.PreCompact, hook.Notification, hook.PermissionRequest,
		hook.PreMcpToolCall, hook.ErrorOccurred}
}

var fileActions = []string{"create", "edit", "delete", "rename", "read"}

func (d *decoder) fileTypes(t *Trigger, e entry, label string) {
	names, nodes, ok := d.texts(e.v, label)
	for i, name := range names {
		if !slices.Contains(fileActions, name) {
			d.errorf(nodes[i], "bad-value", hintKey(name, fileActions), "%s: unknown action %q", label, name)
			ok = false
		}
	}
	t.Types, t.anyType = names, !ok
}

func (d *decoder) triggerArgs(t *Trigger, e entry, label string) {
	fields, _ := d.fields(e.v, label, nil)
	for _, f := range fields {
		if s, ok := d.scalar(f.v, label+"."+f.name); ok {
			t.args = append(t.args, argPattern{name: f.name, text: s, node: f.v})
		}
	}
}

func (d *decoder) globs(e entry, label string) *globList {
	g := &globList{what: label}
	var ok bool
	g.entries, g.nodes, ok = d.texts(e.v, label)
	g.any = !ok
	if ok && len(g.entries) == 0 {
		return nil // as if it were not there
	}
	return g
}

// compile compiles the trigger's patterns and its condition, once.
func (t *Trigger) compile(d *decoder) {
	if t.compiled {
		return
	}
	t.compiled = true
	for i := range t.names {
		n := &t.names[i]
		var err error
		if n.glob, err = glob.CompileName(n.text); err != nil {
			d.errorf(n.node, "glob", "", "%q: %v", n.text, err)
			n.any = true
		}
	}
	for i := range t.args {
		a := &t.args[i]
		var err error
		if a.glob, err = glob.CompileArg(a.text); err != nil {
			d.errorf(a.node, "glob", "", "args.%s: %q: %v", a.name, a.text, err)
			a.any = true
		}
	}
	for _, g := range []*globList{t.paths, t.pathsIgnore} {
		g.compile(d, t.home, foldPaths())
	}
	for _, g := range []*globList{t.branches, t.branchesIgnore, t.tags, t.tagsIgnore} {
		g.compile(d, "", false)
	}
	if t.cond != nil {
		t.parsed = d.condition(t.cond, t.Kind+".if")
		if t.parsed != nil && !onlyOf(t.parsed, "event", "policy", "env") {
			d.errorf(t.cond, "expression", "a trigger knows event, env and policy", "%s.if: no step has run when triggers are asked", t.Kind)
			t.parsed = nil
		}
	}
}

// foldPaths reports whether file names ignore case where we run.
func foldPaths() bool { return runtime.GOOS == "windows" || runtime.GOOS == "darwin" }

func (g *globList) compile(d *decoder, home string, fold bool) {
	if g == nil || g.any {
		return
	}
	entries := slices.Clone(g.entries)
	for i := range entries {
		if home != "" {
			entries[i] = glob.ExpandHome(entries[i], home)
		}
	}
	list, err := glob.CompileList(entries)
	if err != nil {
		g.any = true
		for _, bad := range listErrors(err) {
			d.errorf(g.nodes[bad.Index], "glob", "", "%s: %q: %v", g.what, g.entries[bad.Index], bad.Err)
		}
		return
	}
	for i, e := range g.entries {
		if len(e) > 1 && strings.HasSuffix(e, "/") {
			d.warnf(g.nodes[i], "glob", "write "+e+"** for what is in the folder", "%s: %q matches nothing: no path ends in /", g.what, e)
		}
	}
	if list.OnlyNegations() {
		d.warnf(g.nodes[0], "only-negations", "put a positive pattern first, such as '**'", "%s has only negations and matches nothing", g.what)
	}
	if fold {
		list = list.FoldCase()
	}
	g.list = list
}

// listErrors takes the errors of the single entries out of what glob.CompileList returns.
func listErrors(err error) []*glob.ListError {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*glob.ListError
		for _, e := range joined.Unwrap() {
			out = append(out, listErrors(e)...)
		}
		return out
	}
	var one *glob.ListError
	if errors.As(err, &one) {
		return []*glob.ListError{one}
	}
	return nil
}
