package main

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/copilot-mem/copilot-mem/internal/install"
)

// showPlan prints what would be done: a tree on a terminal, a list for everybody else; with the changes in each file that
// is there already, where diff is set. job is nil when there is nothing to do.
func (e *env) showPlan(out outcome, job *install.Job, diff bool) {
	drawn := e.TTY && !e.plainTerminal()
	if !drawn || job == nil {
		out.print(e.Stdout)
	} else {
		p := planPrinter{w: e.Stdout, out: out, color: e.Getenv("NO_COLOR") == ""}
		p.tree()
	}
	if !diff || job == nil {
		return
	}
	for _, plan := range job.Plans {
		for _, op := range plan.Ops {
			if op.Op == install.OpUpdate {
				printDiff(e.Stdout, shownPath(out.Dir, plan.Dir, op.Path), op.Old, op.Data, drawn && e.Getenv("NO_COLOR") == "")
			}
		}
	}
}

// plainTerminal: lines that read in order, for a dumb terminal and for a reader of the screen.
func (e *env) plainTerminal() bool {
	return e.Accessible || e.Getenv("TERM") == "dumb" || e.Getenv("ACCESSIBLE") != ""
}

// planPrinter draws operations as a tree of folders.
type planPrinter struct {
	w     io.Writer
	out   outcome
	color bool
}

// branch is one folder of the tree, or one file with its operation.
type branch struct {
	name string
	op   *operation
	sub  []*branch
}

func (b *branch) child(name string) *branch {
	for _, c := range b.sub {
		if c.name == name && c.op == nil {
			return c
		}
	}
	c := &branch{name: name}
	b.sub = append(b.sub, c)
	return c
}

func (p planPrinter) tree() {
	here := &branch{name: fmt.Sprintf("scope %s in %s", p.out.Scope, p.out.Dir)}
	roots := []*branch{here}
	other := map[string]*branch{}
	for i := range p.out.Operations {
		op := &p.out.Operations[i]
		at, name := here, filepath.ToSlash(op.Path)
		if filepath.IsAbs(op.Path) { // the data folder, or a program on PATH
			dir := filepath.Dir(op.Path)
			if other[dir] == nil {
				other[dir] = &branch{name: dir}
				roots = append(roots, other[dir])
			}
			at, name = other[dir], filepath.Base(op.Path)
		} else {
			for part := range strings.SplitSeq(path.Dir(name), "/") {
				if part != "." {
					at = at.child(part)
				}
			}
			name = path.Base(name)
		}
		at.sub = append(at.sub, &branch{name: name, op: op})
	}
	for _, r := range roots {
		if len(r.sub) > 0 || r == here {
			fmt.Fprintln(p.w, printable(r.name))
			p.branches(r.sub, "")
		}
	}
}

func (p planPrinter) branches(list []*branch, indent string) {
	slices.SortStableFunc(list, func(a, b *branch) int { return strings.Compare(a.name, b.name) })
	for i, b := range list {
		line, deeper := "├─ ", "│  "
		if i == len(list)-1 {
			line, deeper = "└─ ", "   "
		}
		if b.op == nil {
			fmt.Fprintf(p.w, "%s%s%s/\n", indent, line, printable(b.name))
			p.branches(b.sub, indent+deeper)
			continue
		}
		text := fmt.Sprintf("%s %s", paint(p.color, b.op.Op, opColor[b.op.Op]), printable(b.name))
		if b.op.Reason != "" {
			text += "  (" + printable(b.op.Reason) + ")"
		}
		fmt.Fprintln(p.w, indent+line+text)
	}
}

var opColor = map[string]string{install.OpCreate: "32", install.OpUpdate: "33", install.OpRemove: "31"}

// paint puts a colour around a text; none without one.
func paint(color bool, text, code string) string {
	if !color || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// printDiff shows how a file changes. What is in it may be anybody's, so nothing of it reaches the terminal as a command.
func printDiff(w io.Writer, name string, before, after []byte, color bool) {
	if !isText(before) || !isText(after) {
		fmt.Fprintf(w, "\n%s: %d bytes become %d\n", printable(name), len(before), len(after))
		return
	}
	fmt.Fprintln(w)
	for line := range strings.Lines(udiff.Unified(name, name, string(before), string(after))) {
		line = printable(strings.TrimRight(line, "\r\n"))
		code := ""
		switch {
		case strings.HasPrefix(line, "+"):
			code = "32"
		case strings.HasPrefix(line, "-"):
			code = "31"
		}
		fmt.Fprintln(w, paint(color, line, code))
	}
}

func isText(b []byte) bool { return utf8.Valid(b) && !bytes.ContainsRune(b, 0) }

// printable shows control characters instead of sending them.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '�'
		}
		return r
	}, s)
}
