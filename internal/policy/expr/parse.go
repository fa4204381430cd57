package expr

import (
	"slices"
	"strings"
)

const (
	maxDepth = 200 // parentheses, brackets, calls and "!" inside each other
	open     = "${{"
	closing  = "}}"
)

// Expr is one parsed expression; several goroutines may evaluate it at once.
type Expr struct {
	root node
	off  int // where it starts
}

// Text is text with ${{ }} parts, in order.
type Text struct{ Parts []Part }

// Part is literal text, or an expression if Expr is set. Offset is where it starts, an expression at its "${{".
type Part struct {
	Lit    string
	Expr   *Expr
	Offset int
}

// Parse reads one expression without braces. The error is an *Error, as of the other two.
func Parse(src string) (*Expr, error) {
	e, _, err := parse(src, 0, false)
	return e, err
}

// ParseIf reads the value of an `if` key: bare text, or exactly one ${{ }} with nothing around it.
func ParseIf(src string) (*Expr, error) {
	start := span(src, isSpace)
	if !strings.HasPrefix(src[start:], open) {
		return Parse(src)
	}
	e, after, err := parse(src, start+len(open), true)
	if err != nil {
		return nil, err
	}
	if after += span(src[after:], isSpace); after < len(src) {
		return nil, &Error{after, "unexpected text after ${{ }}: an if is one expression, with or without ${{ }} around the whole"}
	}
	return e, nil
}

// ParseText reads text with any number of ${{ }} parts.
func ParseText(src string) (*Text, error) {
	t := &Text{}
	for pos := 0; pos < len(src); {
		n := strings.Index(src[pos:], open)
		if n < 0 {
			n = len(src) - pos
		}
		if n > 0 {
			t.Parts = append(t.Parts, Part{Lit: src[pos : pos+n], Offset: pos})
		}
		if pos += n; pos == len(src) {
			break
		}
		e, after, err := parse(src, pos+len(open), true)
		if err != nil {
			return nil, err
		}
		t.Parts = append(t.Parts, Part{Expr: e, Offset: pos})
		pos = after
	}
	return t, nil
}

// parse reads one expression from pos on; braced ones end with "}}", and after is the offset behind it.
func parse(src string, pos int, braced bool) (e *Expr, after int, err error) {
	p := &parser{lexer: lexer{src: src, pos: pos, braced: braced}}
	if err := p.advance(); err != nil {
		return nil, 0, err
	}
	if p.tok.kind == end {
		return nil, 0, &Error{p.tok.off, "the expression is empty"}
	}
	off := p.tok.off
	root, err := p.or()
	if err != nil {
		return nil, 0, err
	}
	if p.tok.kind != end {
		return nil, 0, p.unexpected("after the expression")
	}
	after = p.pos
	if braced {
		after += len(closing)
	}
	return &Expr{root, off}, after, nil
}

type parser struct {
	lexer
	tok   token
	depth int
}

func (p *parser) advance() error {
	t, err := p.next()
	p.tok = t
	return err
}

func (p *parser) unexpected(where string) *Error {
	return p.fail(p.tok.off, "unexpected %s %s", p.tok, where)
}

func (p *parser) at(symbols ...string) bool {
	return p.tok.kind == symbol && slices.Contains(symbols, p.tok.src)
}

func (p *parser) expect(s, where string) error {
	if !p.at(s) {
		return p.fail(p.tok.off, "unexpected %s where %q closes %s", p.tok, s, where)
	}
	return p.advance()
}

func (p *parser) or() (node, error) { return p.logic("||", p.and) }

func (p *parser) and() (node, error) { return p.logic("&&", p.equality) }

func (p *parser) logic(op string, operand func() (node, error)) (node, error) {
	first, err := operand()
	if err != nil || !p.at(op) {
		return first, err
	}
	n := &logic{or: op == "||", operands: []node{first}}
	for p.at(op) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		x, err := operand()
		if err != nil {
			return nil, err
		}
		n.operands = append(n.operands, x)
	}
	return n, nil
}

func (p *parser) equality() (node, error) { return p.comparison(p.order, "==", "!=") }

func (p *parser) order() (node, error) { return p.comparison(p.unary, "<", "<=", ">", ">=") }

func (p *parser) comparison(operand func() (node, error), ops ...string) (node, error) {
	first, err := operand()
	if err != nil || !p.at(ops...) {
		return first, err
	}
	n := &comparison{first: first}
	for p.at(ops...) {
		op := p.tok.src
		if err := p.advance(); err != nil {
			return nil, err
		}
		x, err := operand()
		if err != nil {
			return nil, err
		}
		n.rest = append(n.rest, compared{op, x})
	}
	return n, nil
}

// deeper guards the recursion; the caller takes one off depth afterwards.
func (p *parser) deeper() error {
	if p.depth++; p.depth > maxDepth {
		return p.fail(p.tok.off, "nested more than %d deep", maxDepth)
	}
	return nil
}

func (p *parser) unary() (node, error) {
	if !p.at("!") {
		return p.postfix()
	}
	defer func() { p.depth-- }()
	if err := p.deeper(); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	return &not{x}, nil
}

func (p *parser) postfix() (node, error) {
	first := p.tok
	base, err := p.primary()
	if err != nil {
		return nil, err
	}
	var path []accessor
	for p.at(".", "[") {
		if _, ok := base.(*literal); ok && first.kind != symbol {
			return nil, p.unexpected("after a literal, which has no properties")
		}
		a, err := p.accessor()
		if err != nil {
			return nil, err
		}
		path = append(path, a)
	}
	if path == nil {
		return base, nil
	}
	return &access{base, path}, nil
}

func (p *parser) accessor() (accessor, error) {
	var a accessor
	if p.at(".") {
		if err := p.advance(); err != nil {
			return a, err
		}
		switch {
		case p.at("*"):
			a.all = true
		case p.tok.kind == name:
			a.index = &literal{p.tok.src}
		default:
			return a, p.unexpected(`where a property name or "*" follows "."`)
		}
		return a, p.advance()
	}
	defer func() { p.depth-- }()
	if err := p.deeper(); err != nil {
		return a, err
	}
	if err := p.advance(); err != nil {
		return a, err
	}
	var err error
	if p.at("*") {
		a.all = true
		err = p.advance()
	} else {
		a.index, err = p.or()
	}
	if err != nil {
		return a, err
	}
	return a, p.expect("]", "the index")
}

func (p *parser) primary() (node, error) {
	t := p.tok
	switch {
	case t.kind == number:
		return &literal{t.num}, p.advance()
	case t.kind == text:
		return &literal{t.str}, p.advance()
	case t.kind == name:
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.at("(") {
			return p.call(t)
		}
		return p.named(t)
	case p.at("("):
		return p.group()
	}
	return nil, p.unexpected("where a value is expected")
}

func (p *parser) group() (node, error) {
	defer func() { p.depth-- }()
	if err := p.deeper(); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.or()
	if err != nil {
		return nil, err
	}
	return x, p.expect(")", "the group")
}

func (p *parser) named(t token) (node, error) {
	switch lower := strings.ToLower(t.src); lower {
	case "null":
		return &literal{nil}, nil
	case "true", "false":
		return &literal{lower == "true"}, nil
	case "env", "event", "inputs", "policy", "steps":
		return &context{lower}, nil
	}
	return nil, p.fail(t.off, "unknown name %s: contexts are env, event, inputs, policy and steps, text stands in single quotes", shown(t.src))
}

// call reads the arguments; the current token is "(".
func (p *parser) call(t token) (node, error) {
	fn, ok := lookup(strings.ToLower(t.src))
	if !ok {
		return nil, p.fail(t.off, "unknown function %s", shown(t.src))
	}
	defer func() { p.depth-- }()
	if err := p.deeper(); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n := &call{fn: fn, off: t.off}
	for !p.at(")") {
		if len(n.args) > 0 {
			if !p.at(",") {
				return nil, p.fail(p.tok.off, `unexpected %s where "," or ")" follows an argument`, p.tok)
			}
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		x, err := p.or()
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, x)
	}
	if len(n.args) < fn.min || len(n.args) > fn.max {
		return nil, p.fail(t.off, "%s takes %s, not %d", fn.name, fn.arity(), len(n.args))
	}
	return n, p.advance()
}
