package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// A shared settings file is edited as text: whoever wrote it finds every other byte as it was. The text was checked to
// be strict JSON before it comes here, so the scanner below needs no errors.

// member is one entry of an object, as offsets into the text.
type member struct {
	name             string
	start, val, stop int // of the name's quote, of the value, behind the value
}

// object is an object of the text: where its braces are, and what is between them.
type object struct {
	open, close int // of the braces
	members     []member
}

func blanks(b []byte, i int) int {
	for i < len(b) && strings.IndexByte(" \t\r\n", b[i]) >= 0 {
		i++
	}
	return i
}

func stringEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			for i < len(b) && strings.IndexByte(" \t\r\n,:{}[]\"", b[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
		for i < len(b) && strings.IndexByte(" \t\r\n,:", b[i]) >= 0 {
			i++
		}
	}
	return i
}

// readObject reads the object whose brace is the next thing at i; ok is false when something else is there.
func readObject(b []byte, i int) (o object, ok bool) {
	i = blanks(b, i)
	if i >= len(b) || b[i] != '{' {
		return o, false
	}
	o.open = i
	for i = blanks(b, i+1); b[i] != '}'; i = blanks(b, i) {
		if b[i] == ',' {
			i = blanks(b, i+1)
		}
		m := member{start: i}
		end := stringEnd(b, i)
		if err := json.Unmarshal(b[i:end], &m.name); err != nil {
			return o, false
		}
		m.val = blanks(b, blanks(b, end)+1)
		m.stop = valueEnd(b, m.val)
		o.members = append(o.members, m)
		i = m.stop
	}
	o.close = i
	return o, true
}

// find gives the last member of a name: the one that counts where a name is repeated.
func (o object) find(name string) (member, int) {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			return o.members[i], i
		}
	}
	return member{}, -1
}

// splice replaces the bytes Cut at offset At by Put. The inverse swaps the two.
type splice struct {
	At  int    `json:"at"`
	Cut string `json:"cut,omitempty"`
	Put string `json:"put"`
}

func (s splice) apply(b []byte) []byte {
	return append(append(append([]byte(nil), b[:s.At]...), s.Put...), b[s.At+len(s.Cut):]...)
}

func (s splice) undo(b []byte) []byte { return splice{s.At, s.Put, s.Cut}.apply(b) }

// style is how the text is laid out; what we add follows it.
type style struct{ newline, unit string }

func styleOf(b []byte) style {
	s := style{"\n", "  "}
	if bytes.Contains(b, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	top, _ := readObject(b, 0)
	if len(top.members) > 0 {
		if _, indent, broken := lead(b, top.open+1, top.members[0].start); broken && indent != "" {
			s.unit = indent
		}
	}
	return s
}

// lead splits the blanks before a name into all of them and the indentation after the last line break.
func lead(b []byte, from, to int) (all, indent string, broken bool) {
	all = string(b[from:to])
	i := strings.LastIndexByte(all, '\n')
	return all, all[i+1:], i >= 0
}

// insert gives the splice that adds a member to the object o, whose own line is indented by indent.
func insert(b []byte, o object, indent, name string, value any, s style) splice {
	name = quote(name) + ": "
	if len(o.members) == 0 {
		inner := indent + s.unit
		put := s.newline + inner + name + layout(value, inner, s) + s.newline + indent
		return splice{At: o.open + 1, Cut: string(b[o.open+1 : o.close]), Put: put}
	}
	last := o.members[len(o.members)-1]
	all, deep, broken := lead(b, o.before(b, len(o.members)-1), last.start)
	put := "," + all + name
	if broken {
		put += layout(value, deep, s)
	} else {
		put += layout(value, "", style{})
	}
	return splice{At: last.stop, Put: put}
}

// before gives where the blanks begin that stand before member i.
func (o object) before(b []byte, i int) int {
	if i == 0 {
		return o.open + 1
	}
	from := o.members[i-1].stop
	return from + bytes.IndexByte(b[from:], ',') + 1
}

// layout writes a value as lines, or on one line for the zero style.
func layout(v any, indent string, s style) string {
	data, err := json.Marshal(v)
	if err == nil && s != (style{}) {
		data, err = json.MarshalIndent(v, indent, s.unit)
	}
	if err != nil {
		panic(fmt.Sprintf("install: settings value: %v", err)) // only our own maps, strings and booleans come here
	}
	return strings.ReplaceAll(string(data), "\n", s.newline)
}

func quote(s string) string {
	data, _ := json.Marshal(s) //nolint:errchkjson // a string always marshals
	return string(data)
}

// remove gives the splice that takes member i out of o, with the comma that becomes one too many.
func remove(b []byte, o object, i int) splice {
	from, to := o.members[i].start, o.members[i].stop
	switch {
	case len(o.members) == 1:
		from, to = o.open+1, o.close
	case i > 0:
		from = o.members[i-1].stop
	default:
		to = o.members[1].start
	}
	return splice{At: from, Cut: string(b[from:to])}
}

// sameJSON compares two values by what they mean.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
