package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// A shared settings file is edited as text: whoever wrote it finds every other byte as it was. The scanner below walks the
// strict form of a text that was checked, so it needs no errors.

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
	// Moved says that somebody changed the text between this splice and the next: At is not where it is any more.
	Moved bool `json:"moved,omitempty"`
}

func (s splice) apply(b []byte) []byte {
	return append(append(append([]byte(nil), b[:s.At]...), s.Put...), b[s.At+len(s.Cut):]...)
}

// done reports whether what the splice put is where it put it; a receipt is a file that anybody may have changed.
func (s splice) done(b []byte) bool {
	return s.At >= 0 && s.At <= len(b) && bytes.HasPrefix(b[s.At:], []byte(s.Put))
}

func (s splice) undo(b []byte) []byte { return splice{At: s.At, Cut: s.Put, Put: s.Cut}.apply(b) }

// style is how the text is laid out; what we add follows it.
type style struct{ newline, unit string }

func styleOf(d document) style {
	s, b := style{"\n", "  "}, d.json
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
func insert(d document, o object, indent, name string, value any, s style) splice {
	name = quote(name) + ": "
	if len(o.members) == 0 {
		return insertFirst(d, o, indent, name, value, s)
	}
	last := o.members[len(o.members)-1]
	from := o.before(d.json, len(o.members)-1)
	all, deep, broken := lead(d.json, from, last.start)
	if d.noted(from, last.start) { // its comments are not repeated
		if all = " "; broken {
			all = s.newline + deep
		}
	}
	put := all + name
	if broken {
		put += layout(value, deep, s)
	} else {
		put += layout(value, "", style{})
	}
	at := last.stop
	if comma := d.comma(at); comma >= 0 { // a trailing one
		at = comma + 1
	} else {
		put = "," + put
	}
	// What is said about the last member on its own line stays beside it.
	end := at
	for end < o.close && d.text[end] != '\n' && d.text[end] != '\r' {
		end++
	}
	cut := string(d.text[at:end])
	if !broken || end == o.close || !d.noted(at, end) || strings.LastIndex(cut, "/*") > strings.LastIndex(cut, "*/") {
		return splice{At: at, Put: put}
	}
	if rest, ok := strings.CutPrefix(put, ","); ok {
		return splice{At: at, Cut: cut, Put: "," + cut + rest}
	}
	return splice{At: at, Cut: cut, Put: cut + put}
}

// insertFirst adds a member to an object that has none.
func insertFirst(d document, o object, indent, name string, value any, s style) splice {
	inner := indent + s.unit
	member := inner + name + layout(value, inner, s)
	if !d.noted(o.open+1, o.close) {
		return splice{At: o.open + 1, Cut: string(d.text[o.open+1 : o.close]), Put: s.newline + member + s.newline + indent}
	}
	// Comments stay: the member goes below them.
	return splice{At: o.close, Put: s.newline + member + s.newline + indent}
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

// remove gives the splice that takes member i out of o, with the comma that becomes one too many. A comment stays.
func remove(d document, o object, i int) splice {
	from, to := o.members[i].start, o.members[i].stop
	last := len(o.members) - 1
	comma := d.comma(to)
	switch {
	case last == 0 && !d.noted(o.open+1, o.close):
		from, to = o.open+1, o.close
	case i > 0 && !d.noted(o.members[i-1].stop, from) && (i < last || comma < 0):
		from = o.members[i-1].stop
	case i < last && !d.noted(to, o.members[i+1].start):
		to = o.members[i+1].start
	case comma >= 0 && !d.noted(to, comma): // with comments about, a comma before the brace does not matter
		to = comma + 1
	case comma >= 0:
		return splice{At: from, Cut: string(d.text[from : comma+1]), Put: string(d.text[to:comma])}
	}
	return splice{At: from, Cut: string(d.text[from:to])}
}

// sameJSON compares two strict values by what they mean.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
