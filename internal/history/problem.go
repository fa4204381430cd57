package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

var errNotJSON = errors.New("not a JSON document")

// note is a problem that costs nothing that this program knows of.
type note struct{ text string }

func (n *note) Error() string { return n.text }

// badLine says what is wrong with a line, without any of its text: there may be a secret in it.
func badLine(err error) error { return badPart("", err) }

// badPart says what is wrong with the field of a line that has this name.
func badPart(part string, err error) error {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not a JSON document from byte %d on", s.Offset)
	}
	u, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return errNotJSON
	}
	field := u.Field
	if field != "" {
		field = strings.ToLower(field[:1]) + field[1:] // a name of Go's where nothing says the line's
	}
	at := "the line"
	if field = strings.Trim(part+"."+field, "."); field != "" {
		at = "field " + field
	}
	return fmt.Errorf("%s: %s where something else was meant", at, article(u.Value))
}

// article puts one before what encoding/json calls a value: "array", "number 5", "object".
func article(value string) string {
	if strings.HasPrefix(value, "a") || strings.HasPrefix(value, "o") {
		return "an " + value
	}
	return "a " + value
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
