package expr

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// maxWork bounds what one evaluation may build: bytes of text and members of arrays. Nested format() calls would grow without end.
const maxWork = 64 << 20

// run is one evaluation.
type run struct {
	env  *Env
	left int
}

// spend takes n units of work off what is left.
func (r *run) spend(n int) error {
	if r.left -= n; r.left < 0 {
		return fmt.Errorf("the expression builds more than %d MiB", maxWork>>20)
	}
	return nil
}

// Eval computes the value; the error is an *Error. Members of an array or object may still be Lazy. A nil env has no contexts.
func (e *Expr) Eval(env *Env) (Value, error) {
	v, err := newRun(env).value(e)
	if f, ok := v.(filtered); ok {
		v = []any(f)
	}
	return v, err
}

func newRun(env *Env) *run {
	if env == nil {
		env = &Env{}
	}
	return &run{env: env, left: maxWork}
}

func (r *run) value(e *Expr) (any, error) {
	v, err := e.root.eval(r)
	if err == nil {
		return v, nil
	}
	var at *Error
	if !errors.As(err, &at) {
		at = &Error{e.off, err.Error()}
	}
	return nil, at
}

// Eval fills in the parts.
func (t *Text) Eval(env *Env) (string, error) {
	r := newRun(env)
	var b strings.Builder
	for _, p := range t.Parts {
		s := p.Lit
		if p.Expr != nil {
			v, err := r.value(p.Expr)
			if err != nil {
				return "", err
			}
			s = ToText(v)
		}
		if err := r.spend(len(s)); err != nil {
			return "", &Error{p.Offset, err.Error()}
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// node is a part of a parsed expression. eval gives a plain value; walk calls visit for the node and all below it.
type node interface {
	eval(*run) (any, error)
	walk(visit func(node))
}

type literal struct{ value any }

func (n *literal) eval(*run) (any, error) { return n.value, nil }
func (n *literal) walk(visit func(node))  { visit(n) }

type context struct{ name string }

func (n *context) eval(r *run) (any, error) { return plain(r.env.Contexts[n.name]), nil }
func (n *context) walk(visit func(node))    { visit(n) }

type not struct{ operand node }

func (n *not) eval(r *run) (any, error) {
	v, err := n.operand.eval(r)
	return !Truthy(v), err
}

func (n *not) walk(visit func(node)) {
	visit(n)
	n.operand.walk(visit)
}

// logic is a chain of && or of ||; its value is the operand that decides.
type logic struct {
	or       bool
	operands []node
}

func (n *logic) eval(r *run) (v any, err error) {
	for _, x := range n.operands {
		if v, err = x.eval(r); err != nil || Truthy(v) == n.or {
			break
		}
	}
	return v, err
}

func (n *logic) walk(visit func(node)) {
	visit(n)
	for _, x := range n.operands {
		x.walk(visit)
	}
}

// comparison is a chain of == and !=, or of < <= > >=, from left to right: (a < b) < c.
type comparison struct {
	first node
	rest  []compared
}

type compared struct {
	op string
	x  node
}

func (n *comparison) eval(r *run) (any, error) {
	v, err := n.first.eval(r)
	for _, c := range n.rest {
		if err != nil {
			return nil, err
		}
		var x any
		x, err = c.x.eval(r)
		v = compare(c.op, v, x)
	}
	return v, err
}

func compare(op string, a, b any) bool {
	c, ok := order(a, b)
	switch op {
	case "==":
		return ok && c == 0
	case "!=":
		return !ok || c != 0
	case "<":
		return ok && c < 0
	case "<=":
		return ok && c <= 0
	case ">":
		return ok && c > 0
	default:
		return ok && c >= 0
	}
}

func (n *comparison) walk(visit func(node)) {
	visit(n)
	n.first.walk(visit)
	for _, c := range n.rest {
		c.x.walk(visit)
	}
}

// access is a value with the properties and indexes that follow it.
type access struct {
	base node
	path []accessor
}

// accessor is one step: `.*` or `[*]` if all, else an index, which for `.name` is a literal.
type accessor struct {
	all   bool
	index node
}

func (n *access) eval(r *run) (any, error) {
	v, err := n.base.eval(r)
	for _, a := range n.path {
		if err != nil {
			return nil, err
		}
		v, err = r.step(v, a)
	}
	return v, err
}

func (r *run) step(v any, a accessor) (any, error) {
	var index any
	if !a.all {
		var err error
		if index, err = a.index.eval(r); err != nil {
			return nil, err
		}
	}
	f, ok := v.(filtered)
	switch {
	case ok:
		return r.each(f, a.all, index)
	case a.all:
		found := append(filtered{}, members(v)...)
		return found, r.spend(len(found))
	}
	x, _ := at(v, index)
	return x, nil
}

// each applies a step to the members of a filtered array, and leaves out those that have nothing there.
func (r *run) each(f filtered, all bool, index any) (any, error) {
	out := filtered{}
	for _, x := range f {
		x = plain(x)
		if all {
			out = append(out, members(x)...)
		} else if y, ok := at(x, index); ok {
			out = append(out, y)
		}
		if err := r.spend(1); err != nil {
			return nil, err
		}
	}
	return out, r.spend(len(out))
}

// at gives the member of an object by name, or of an array by number; ok is false where there is none.
func at(v, index any) (x any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		if isPrimitive(index) {
			return member(v, ToText(index))
		}
	case []any:
		if i := math.Floor(toNumber(index)); i >= 0 && i < float64(len(v)) {
			return plain(v[int(i)]), true
		}
	}
	return nil, false
}

func (n *access) walk(visit func(node)) {
	visit(n)
	n.base.walk(visit)
	for _, a := range n.path {
		if a.index != nil {
			a.index.walk(visit)
		}
	}
}
