// Package script answers: how does event data reach a step's script without ever being script text? Each ${{ }} becomes
// a reference to an environment variable, written for the quotes that it stands in. It evaluates and starts nothing.
package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

// The shells that a step may name.
const (
	Bash       = "bash"
	Sh         = "sh"
	PowerShell = "pwsh"
	Cmd        = "cmd"
)

// Script is the text of one run step, ready for its shell.
type Script struct {
	Shell string
	Text  string // with references instead of expressions
	Vars  []Var  // in the order of the text
}

// Var is one expression of a script and the variable that carries its value.
type Var struct {
	Name string
	Expr *expr.Expr
}

// Error is an expression at a place where no reference is safe, or a text that cannot be read.
type Error struct {
	Offset int // bytes from the start of the source
	Msg    string
}

func (e *Error) Error() string { return e.Msg }

// Compile rewrites src for one of the four shells. A text without an expression stays as it is and is not parsed.
// Errors are *Error, or *expr.Error for an expression that does not parse.
func Compile(shell, src string) (*Script, error) {
	s := &Script{Shell: shell, Text: src}
	if !strings.Contains(src, "${{") {
		return s, nil
	}
	text, err := expr.ParseText(src)
	if err != nil {
		return nil, err
	}
	var holes []hole
	for _, p := range text.Parts {
		if p.Expr == nil {
			continue
		}
		name := "COPILOT_MEM_V" + strconv.Itoa(len(holes))
		holes = append(holes, hole{name: name, offset: p.Offset})
		s.Vars = append(s.Vars, Var{name, p.Expr})
	}
	if len(holes) == 0 {
		return s, nil
	}
	marked := mark(src, text.Parts)
	switch shell {
	case Bash, Sh:
		s.Text, err = posix(shell, marked, holes)
	case PowerShell:
		s.Text, err = powerShell(marked, holes)
	default:
		err = &Error{holes[0].offset, shell + " has no safe quoting: read the EVENT_… variables or " + eventPath + " instead of ${{ }}"}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

const eventPath = "COPILOT_MEM_EVENT_PATH"

// hole is one expression of the source.
type hole struct {
	name   string
	offset int // in the source
	as     place
	seen   bool
}

// place is what an expression stands in.
type place int

const (
	bare      place = iota // a word of its own or part of one
	quoted                 // "…" or a here-document that expands
	single                 // '…'
	dollar                 // $'…'
	comment                // # …
	forbidden              // from here on: an error with a message of its own
	command
	arithmetic
	heredoc
	name
	glob
	program
)

var problems = map[place]string{
	forbidden:  "an expression cannot stand here",
	command:    "an expression cannot be the name of a command",
	arithmetic: "an expression cannot stand inside arithmetic: assign it to a variable first",
	heredoc:    "an expression cannot stand in a here-document whose delimiter is quoted: leave the quotes of the delimiter out",
	name:       "an expression cannot be part of a name",
	glob:       "an expression cannot be part of an extended pattern",
	program:    "an expression cannot be part of a text that a shell runs: read the value from an environment variable there",
}

func (p place) problem(offset int) error { return &Error{offset, problems[p]} }

// markText is a text of several expressions' holes: each expression is replaced by its number between two marks, a
// letter of the private use area that the source does not have, so that no parser takes it for part of a name.
type markText struct {
	text string
	mark string
}

func mark(src string, parts []expr.Part) markText {
	m := 0xe000
	for strings.ContainsRune(src, rune(m)) && m < 0xf8ff {
		m++
	}
	out := markText{mark: string(rune(m))}
	var b strings.Builder
	i := 0
	for _, p := range parts {
		if p.Expr == nil {
			b.WriteString(p.Lit)
			continue
		}
		b.WriteString(out.mark + strconv.Itoa(i) + out.mark)
		i++
	}
	out.text = b.String()
	return out
}

// each calls f for every hole in a piece of the marked text.
func (m markText) each(piece string, f func(i int)) {
	for {
		_, rest, ok := strings.Cut(piece, m.mark)
		if !ok {
			return
		}
		digits, rest, ok := strings.Cut(rest, m.mark)
		if !ok {
			return
		}
		if i, err := strconv.Atoi(digits); err == nil {
			f(i)
		}
		piece = rest
	}
}

// fill puts with(i) in the place of each hole.
func (m markText) fill(with func(i int) string) string {
	pieces := strings.Split(m.text, m.mark)
	var b strings.Builder
	for n, p := range pieces {
		if n%2 == 0 {
			b.WriteString(p)
			continue
		}
		i, err := strconv.Atoi(p)
		if err != nil {
			panic(fmt.Sprintf("script: hole %q", p)) // only mark writes between two marks
		}
		b.WriteString(with(i))
	}
	return b.String()
}
