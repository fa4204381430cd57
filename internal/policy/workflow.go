package policy

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

var workflowKeys = []string{"name", "description", "blocking", "enabled", "on", "if", "env", "concurrency", "on-error", "steps"}

// decodeWorkflow reads what says whether the workflow speaks about a call, and leaves the rest to compile.
func (p *Policy) decodeWorkflow() {
	d := p.decoder
	p.Blocking, p.Enabled = true, true
	top := d.parse()
	if top == nil || top.Kind != yaml.MappingNode {
		if top != nil {
			d.errorf(top, "wrong-type", "", "a workflow must be a map, not %s", kindOf(top))
		}
		p.unreadable()
		return
	}
	fields, ok := d.fields(top, "the workflow", workflowKeys)
	if !ok {
		p.unreadable()
		return
	}
	seen := map[string]bool{}
	for _, e := range fields {
		seen[e.name] = true
		switch e.name {
		case "name":
			if s, ok := d.text(e.v, "name", true); ok {
				p.Name, p.nameAt = s, e.v
			}
		case "description":
			p.Description, _ = d.text(e.v, "description", false)
		case "enabled":
			p.Enabled = p.flag(e, true)
		case "blocking":
			p.Blocking = p.flag(e, true)
		case "on":
			p.decodeOn(e.v)
		default:
			p.later = append(p.later, func() { p.decodeField(e) })
		}
	}
	for _, need := range []string{"name", "on", "steps"} {
		if !seen[need] {
			d.errorf(top, "missing-key", "", "%s is missing", need)
		}
	}
	p.onUnreadable = p.onUnreadable || !seen["on"]
}

// flag reads a boolean, with a default where it cannot be read.
func (p *Policy) flag(e entry, otherwise bool) bool {
	if v, ok := p.boolean(e.v, e.name); ok {
		return v
	}
	return otherwise
}

// unreadable is a text that is no YAML: two lines of it can still be understood.
func (p *Policy) unreadable() {
	p.onUnreadable, p.mutatingOnly = true, true
	for line := range strings.Lines(string(p.src)) {
		switch strings.TrimRight(line, " \t\r\n") {
		case "enabled: false":
			p.Enabled = false
		case "blocking: false":
			p.Blocking = p.Blocking && p.Rule != nil
		case "action: warn", "action: inject", "action: allow":
			p.Blocking = p.Blocking && p.Rule == nil
		}
	}
}

func (p *Policy) decodeField(e entry) {
	d := p.decoder
	switch e.name {
	case "if":
		p.If = d.condition(e.v, "if")
	case "env":
		p.Env = d.variables(e.v, "env", false)
	case "concurrency":
		p.Concurrency = d.concurrency(e.v)
	case "on-error":
		if s, ok := d.choice(e.v, "on-error", onErrorWords...); ok {
			p.OnError = s
		}
	case "steps":
		p.Steps = d.steps(e.v, p)
	}
}

var onErrorWords = []string{"deny", "ask", "allow"}

// compile reads everything that is left, once. It is not safe for concurrent use.
func (p *Policy) compile() {
	if p.compiled {
		return
	}
	p.compiled = true
	for _, f := range p.later {
		f()
	}
	p.later = nil
	for i := range p.Triggers {
		p.Triggers[i].compile(p.decoder)
	}
	if p.Rule != nil && !p.mutatingOnly {
		p.compileRule()
	}
	p.noEffect()
	p.Problems = sorted(p.problems)
}

// sorted orders findings by place and drops repeats.
func sorted(in []Finding) []Finding {
	out := slices.Clone(in)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(out)
}

// InvalidText says what makes the policy invalid: the first error and how many more there are; "" for a valid one. It is
// complete after a Match or Compile.
func (p *Policy) InvalidText() string {
	return invalidText(p.Problems)
}

func invalidText(problems []Finding) string {
	text, more := "", 0
	for _, f := range problems {
		switch {
		case f.Severity != SeverityError:
		case text == "":
			text = f.String()
			if f.Hint != "" {
				text += " (" + f.Hint + ")"
			}
		default:
			more++
		}
	}
	if more == 1 {
		text += "; and one more error"
	} else if more > 1 {
		text += "; and " + itoa(more) + " more errors"
	}
	return text
}

// condition reads the value of an `if`: text or a YAML boolean. nil when it cannot be read, which is then reported.
func (d *decoder) condition(n *yaml.Node, what string) *expr.Expr {
	if n = d.resolve(n); n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		e, err := expr.Parse(strings.ToLower(n.Value))
		if err == nil {
			return e
		}
	}
	s, ok := d.text(n, what, true)
	if !ok {
		return nil
	}
	e, err := expr.ParseIf(s)
	if err != nil {
		d.exprError(n, what, err)
		return nil
	}
	for _, bad := range e.Check() {
		d.exprError(n, what, bad)
		e = nil
	}
	return e
}

// exprError reports an error of an expression inside a scalar at its place.
func (d *decoder) exprError(n *yaml.Node, what string, err error) {
	var at *expr.Error
	if errors.As(err, &at) {
		d.errorAt(n, at.Offset, "expression", "", "%s: %s", what, at.Msg)
		return
	}
	d.errorf(n, "expression", "", "%s: %v", what, err)
}

// template reads text with ${{ }} parts.
func (d *decoder) template(n *yaml.Node, what string, need bool) *expr.Text {
	s, ok := d.text(n, what, need)
	if !ok {
		return nil
	}
	return d.parts(n, s, what)
}

func (d *decoder) parts(n *yaml.Node, s, what string) *expr.Text {
	t, err := expr.ParseText(s)
	if err != nil {
		d.exprError(n, what, err)
		return nil
	}
	for _, part := range t.Parts {
		if part.Expr == nil {
			continue
		}
		for _, bad := range part.Expr.Check() {
			d.exprError(n, what, bad)
		}
	}
	return t
}

// variables reads a map of names to texts; numbers and booleans are texts where loose says so.
func (d *decoder) variables(n *yaml.Node, what string, loose bool) []EnvVar {
	fields, ok := d.fields(n, what, nil)
	if !ok {
		return nil
	}
	out := make([]EnvVar, 0, len(fields))
	for _, e := range fields {
		if e.name == "" || strings.ContainsAny(e.name, "=\x00") {
			d.errorf(e.k, "bad-value", "", "%q cannot be a name in %s", e.name, what)
			continue
		}
		s, ok := "", false
		if loose {
			s, ok = d.scalar(e.v, what+"."+e.name)
		} else {
			s, ok = d.text(e.v, what+"."+e.name, false)
		}
		if !ok {
			continue
		}
		if t := d.parts(e.v, s, what+"."+e.name); t != nil {
			out = append(out, EnvVar{e.name, t, e.k.Line + d.lineOff, e.k.Column})
		}
	}
	return out
}

func (d *decoder) concurrency(n *yaml.Node) *Concurrency {
	fields, ok := d.fields(n, "concurrency", []string{"group", "max-parallel"})
	if !ok {
		return nil
	}
	c := &Concurrency{MaxParallel: 1}
	found := false
	for _, e := range fields {
		switch e.name {
		case "group":
			found = true
			c.Group = d.template(e.v, "concurrency.group", true)
		case "max-parallel":
			if v, ok := d.whole(e.v, "concurrency.max-parallel", 1); ok {
				c.MaxParallel = v
			}
		}
	}
	if !found {
		d.errorf(n, "missing-key", "", "concurrency has no group")
	}
	if c.Group == nil {
		return nil
	}
	return c
}
