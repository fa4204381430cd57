package history

import (
	"encoding/json"
	"errors"
	"fmt"
)

var errNotJSON = errors.New("not a JSON document")

// note is a problem that costs nothing that this program knows of.
type note struct{ text string }

func (n *note) Error() string { return n.text }

// badLine says what is wrong with a line, without any of its text: there may be a secret in it.
func badLine(err error) error {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not a JSON document from byte %d on", s.Offset)
	}
	if u, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("field %s: a %s where something else was meant", u.Field, u.Value)
	}
	return errNotJSON
}

// problems collects what is wrong with one file.
type problems struct {
	path    string
	list    []Problem
	more    int
	damaged bool
}

func (p *problems) add(line int, err error) {
	if err == nil {
		return
	}
	if _, harmless := errors.AsType[*note](err); !harmless {
		p.damaged = true
	}
	if len(p.list) >= maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, Problem{p.path, line, err.Error()})
}

func (p *problems) all() []Problem {
	if p.more == 0 {
		return p.list
	}
	return append(p.list, Problem{p.path, 0, fmt.Sprintf("and %d more lines with problems", p.more)})
}
