package facts

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param adds a parameter expansion.
func (w *walk) param(st *state, b *fieldBuilder, p *syntax.ParamExp, inside bool) {
	if p.Param == nil || p.Length || p.Width || p.IsSet || p.Names != 0 || p.NestedParam != nil {
		w.inner(st, p)
		b.hole()
		return
	}
	name := p.Param.Value
	if name == "@" || name == "*" {
		w.positional(st, b, name, inside)
		return
	}
	v, known := w.lookup(st, name)
	if p.Excl && known {
		v, known = w.lookup(st, v.text())
	}
	if p.Index != nil {
		if all, isAll := indexAll(p.Index); isAll && known && p.Exp == nil && p.Repl == nil && p.Slice == nil {
			b.fetched = b.fetched || v.fetched
			b.list(st, v.list, inside && all == "@", inside)
			return
		}
		v, known = indexed(v, p.Index, known)
	}
	b.fetched = b.fetched || v.fetched
	text := v.text()
	if len(v.list) > 0 && p.Index == nil {
		text = v.list[0] // $array is its first element
	}
	text, known = w.modify(st, p, text, known)
	if !known {
		b.hole()
		return
	}
	b.value(st, text, inside)
}

// list adds the elements of an array: a field each for "${a[@]}" and unquoted, one field for "${a[*]}".
func (b *fieldBuilder) list(st *state, list []string, separate, inside bool) {
	for i, s := range list {
		switch {
		case i == 0:
		case separate || !inside:
			b.cut()
		default:
			b.quoted(" ")
		}
		b.value(st, s, inside)
	}
}

func (w *walk) positional(st *state, b *fieldBuilder, name string, inside bool) {
	if st.params == nil {
		b.hole()
		return
	}
	list := make([]string, len(st.params))
	for i, p := range st.params {
		list[i] = p.Text
		b.fetched = b.fetched || p.Fetched
	}
	b.list(st, list, inside && name == "@", inside)
}

func indexAll(x syntax.ArithmExpr) (string, bool) {
	word, ok := x.(*syntax.Word)
	if !ok {
		return "", false
	}
	s := word.Lit()
	return s, s == "@" || s == "*"
}

func indexed(v value, x syntax.ArithmExpr, known bool) (value, bool) {
	word, ok := x.(*syntax.Word)
	if !ok || !known {
		return value{}, false
	}
	i, err := strconv.Atoi(word.Lit())
	if err != nil || i < 0 || i >= len(v.list) {
		return value{}, false
	}
	return value{list: v.list[i : i+1], fetched: v.fetched}, true
}

// lookup finds a variable; positional parameters, HOME, PWD and IFS are variables too.
func (w *walk) lookup(st *state, name string) (value, bool) {
	if v, ok := st.vars[name]; ok {
		return v, true
	}
	if n, err := strconv.Atoi(name); err == nil {
		if st.params == nil || n == 0 {
			return value{}, false
		}
		if n > len(st.params) {
			return value{list: []string{""}}, true
		}
		return value{list: []string{st.params[n-1].Text}, fetched: st.params[n-1].Fetched}, true
	}
	switch name {
	case "HOME":
		if w.f.in.Home != "" {
			return value{list: []string{w.f.in.Home}}, true
		}
	case "PWD":
		if dir := st.dirOr(""); dir != "" {
			return value{list: []string{dir}}, true
		}
	case "IFS":
		return value{list: []string{" \t\n"}}, true
	}
	return value{}, false
}

// modify applies ${x…}'s operator. An operator on what is not known gives nothing known.
func (w *walk) modify(st *state, p *syntax.ParamExp, text string, known bool) (string, bool) {
	switch {
	case p.Slice != nil:
		return sliceText(text, p.Slice, known)
	case p.Repl != nil:
		orig, with := w.literal(st, p.Repl.Orig), w.literal(st, p.Repl.With)
		if !known || strings.ContainsAny(orig.Text, "*?[#%"+Hole) || orig.Text == "" {
			return "", false
		}
		if p.Repl.All {
			if len(text)*max(1, len(with.Text)) > maxText {
				return "", false
			}
			return strings.ReplaceAll(text, orig.Text, with.Text), true
		}
		return strings.Replace(text, orig.Text, with.Text, 1), true
	case p.Exp == nil:
		return text, known
	}
	arg := w.literal(st, p.Exp.Word).Text
	if !known {
		return "", false
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.AssignUnset, syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return text, true
	case syntax.DefaultUnsetOrNull, syntax.AssignUnsetOrNull:
		if text == "" {
			return arg, true
		}
		return text, true
	case syntax.AlternateUnset:
		return arg, true
	case syntax.AlternateUnsetOrNull:
		if text == "" {
			return "", true
		}
		return arg, true
	case syntax.UpperAll:
		return strings.ToUpper(text), arg == ""
	case syntax.LowerAll:
		return strings.ToLower(text), arg == ""
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		return trimPattern(p.Exp.Op, text, arg)
	}
	return "", false
}

func sliceText(text string, s *syntax.Slice, known bool) (string, bool) {
	from, ok := number(s.Offset)
	if !known || !ok || from < 0 || from > len(text) {
		return "", false
	}
	if s.Length == nil {
		return text[from:], true
	}
	n, ok := number(s.Length)
	if !ok || n < 0 {
		return "", false
	}
	return text[from:min(len(text), from+n)], true
}

func number(x syntax.ArithmExpr) (int, bool) {
	word, ok := x.(*syntax.Word)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(word.Lit())
	return n, err == nil && n < 1<<20
}

// trimPattern is ${x#p}, ${x##p}, ${x%p} and ${x%%p}.
func trimPattern(op syntax.ParExpOperator, text, pat string) (string, bool) {
	if strings.Contains(text+pat, Hole) || len(text) > 4096 {
		return "", false
	}
	suffix := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix
	small := op == syntax.RemSmallSuffix || op == syntax.RemSmallPrefix
	for i := 0; i <= len(text); i++ {
		n := i
		if !small {
			n = len(text) - i
		}
		if suffix && matchSegment(pat, text[len(text)-n:]) {
			return text[:len(text)-n], true
		}
		if !suffix && matchSegment(pat, text[:n]) {
			return text[n:], true
		}
	}
	return text, true
}
