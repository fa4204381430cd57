package script

import (
	"errors"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// posix finds out what quotes each hole stands in, with the shell's own grammar, and writes the references.
func posix(shell string, m markText, holes []hole) (string, error) {
	lang := syntax.LangBash
	if shell == Sh {
		lang = syntax.LangPOSIX
	}
	file, err := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(strings.NewReader(m.text), "")
	if err != nil {
		var pe syntax.ParseError
		if errors.As(err, &pe) {
			return "", &Error{holes[0].offset, "the script does not parse, so ${{ }} has no safe form: " + pe.Text}
		}
		return "", &Error{holes[0].offset, "the script does not parse, so ${{ }} has no safe form: " + err.Error()}
	}
	w := walker{m: m, holes: holes, forced: map[syntax.Node]place{}}
	w.walk(file)
	for i := range holes {
		h := &holes[i]
		switch {
		case !h.seen:
			return "", forbidden.problem(h.offset)
		case h.as >= forbidden:
			return "", h.as.problem(h.offset)
		}
	}
	if err := escaped(m, holes); err != nil {
		return "", err
	}
	return m.fill(func(i int) string {
		ref := "${" + holes[i].name + "}"
		switch holes[i].as {
		case bare:
			return `"` + ref + `"`
		case single:
			return `'"` + ref + `"'`
		case dollar:
			return `'"` + ref + `"$'`
		}
		return ref
	}), nil
}

// escaped refuses a hole right after a backslash or a $ that would change what the reference means.
func escaped(m markText, holes []hole) error {
	pieces := strings.Split(m.text, m.mark)
	for i := range holes {
		before := pieces[2*i]
		if holes[i].as != bare && holes[i].as != quoted {
			continue
		}
		slashes := len(before) - len(strings.TrimRight(before, `\`))
		if slashes%2 == 1 {
			return &Error{holes[i].offset, "an expression cannot follow a backslash"}
		}
		if slashes == 0 && strings.HasSuffix(before, "$") {
			return &Error{holes[i].offset, "an expression cannot follow a $"}
		}
	}
	return nil
}

// walker assigns a place to every hole. The place of a node is that of what it stands in, unless its parent forces one.
type walker struct {
	m      markText
	holes  []hole
	forced map[syntax.Node]place
	stack  []place
}

func (w *walker) walk(root syntax.Node) {
	syntax.Walk(root, func(n syntax.Node) bool {
		if n == nil {
			w.stack = w.stack[:len(w.stack)-1]
			return true
		}
		at := bare
		if len(w.stack) > 0 {
			at = w.stack[len(w.stack)-1]
		}
		if p, ok := w.forced[n]; ok {
			at = p
		}
		at = w.enter(n, at)
		w.stack = append(w.stack, at)
		return true
	})
}

// enter notes the holes in n's own text, forces places on children, and gives the place of the children.
func (w *walker) enter(n syntax.Node, at place) place {
	switch n := n.(type) {
	case *syntax.Lit:
		w.note(n.Value, at)
	case *syntax.Comment:
		w.note(n.Text, comment)
	case *syntax.SglQuoted:
		p := single
		if n.Dollar {
			p = dollar
		}
		if at >= forbidden {
			p = at
		}
		w.note(n.Value, p)
	case *syntax.DblQuoted:
		if at < forbidden {
			return quoted
		}
	case *syntax.CmdSubst, *syntax.ProcSubst:
		if at == program {
			return at // "$( )" inside the text is read by the outer shell, but its output is the script
		}
		return bare
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		return arithmetic
	case *syntax.ParamExp:
		w.param(n)
	case *syntax.Stmt:
		w.fed(n)
	case *syntax.CallExpr:
		w.call(n)
	case *syntax.BinaryTest:
		// [[ a -eq b ]] evaluates both sides, and a subscript in a value may hold a command substitution.
		if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr {
			w.force(n.X, arithmetic)
			w.force(n.Y, arithmetic)
		}
	case *syntax.Assign:
		w.forceLit(n.Name, name)
		w.force(n.Index, arithmetic)
	case *syntax.ArrayElem:
		w.force(n.Index, arithmetic)
	case *syntax.FuncDecl:
		w.forceLit(n.Name, name)
	case *syntax.WordIter:
		w.forceLit(n.Name, name)
	case *syntax.DeclClause:
		w.forceLit(n.Variant, name)
	case *syntax.CoprocClause:
		if n.Name != nil {
			w.force(n.Name, name)
		}
	case *syntax.ExtGlob:
		w.forceLit(n.Pattern, glob)
	case *syntax.Redirect:
		w.redirect(n)
	}
	return at
}

// call: the first word is the program, and some programs run what they are given.
func (w *walker) call(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	w.force(n.Args[0], command)
	switch base := path.Base(n.Args[0].Lit()); {
	case base == "eval":
		for _, a := range n.Args[1:] {
			w.force(a, program)
		}
	case isShell(base):
		for i, a := range n.Args[1:] {
			if word := a.Lit(); strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c") && i+2 < len(n.Args) {
				w.force(n.Args[i+2], program)
				return
			}
		}
	}
}

// fed: a here-document or here-string that a shell reads is a script.
func (w *walker) fed(n *syntax.Stmt) {
	c, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || !isShell(path.Base(c.Args[0].Lit())) {
		return
	}
	for _, r := range n.Redirs {
		if r.Hdoc != nil {
			w.force(r.Hdoc, program)
		}
		if r.Op == syntax.WordHdoc {
			w.force(r.Word, program)
		}
	}
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh":
		return true
	}
	return false
}

func (w *walker) param(n *syntax.ParamExp) {
	w.forceLit(n.Param, name)
	w.force(n.Index, arithmetic)
	if n.Slice != nil {
		w.force(n.Slice.Offset, arithmetic)
		w.force(n.Slice.Length, arithmetic)
	}
}

// redirect: a here-document expands unless any part of its delimiter is quoted.
func (w *walker) redirect(n *syntax.Redirect) {
	w.forceLit(n.N, name)
	if n.Hdoc == nil {
		return
	}
	w.force(n.Word, name)
	inside := quoted
	for _, part := range n.Word.Parts {
		if lit, ok := part.(*syntax.Lit); !ok || strings.Contains(lit.Value, `\`) {
			inside = heredoc
		}
	}
	if _, ok := w.forced[n.Hdoc]; !ok {
		w.force(n.Hdoc, inside)
	}
}

func (w *walker) force(n syntax.Node, p place) {
	if n != nil {
		w.forced[n] = p
	}
}

func (w *walker) forceLit(n *syntax.Lit, p place) {
	if n != nil {
		w.forced[n] = p
	}
}

func (w *walker) note(text string, p place) {
	w.m.each(text, func(i int) {
		if i < len(w.holes) {
			w.holes[i].as, w.holes[i].seen = p, true
		}
	})
}
