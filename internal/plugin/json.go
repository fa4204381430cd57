package plugin

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting is where the client stops reading nested JSON and YAML ("recursion limit exceeded").
const maxNesting = 128

// ParseJSON reads one strict JSON document: no comment, no trailing comma, no byte order mark. A repeated name is
// kept in Fields as often as it stands there. The error is a *SyntaxError.
func ParseJSON(data []byte) (*Value, error) {
	p := &jsonParser{in: data, line: 1, col: 1}
	v, err := p.document()
	if err != nil {
		return nil, err
	}
	return v, nil
}

type jsonParser struct {
	in        []byte
	pos       int
	line, col int
	depth     int
}

func (p *jsonParser) document() (*Value, error) {
	p.blanks()
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.blanks()
	if p.pos < len(p.in) {
		return nil, p.fail("trailing characters")
	}
	return v, nil
}

func (p *jsonParser) fail(problem string) error {
	e := &SyntaxError{Line: p.line, Column: p.col, Problem: problem}
	rest := p.in[p.pos:]
	switch {
	case len(p.in) >= 3 && p.pos == 0 && string(p.in[:3]) == "\xef\xbb\xbf":
		e.Advice = "save the file as UTF-8 without a byte order mark"
	case len(rest) > 1 && rest[0] == '/' && (rest[1] == '/' || rest[1] == '*'):
		e.Advice = "JSON has no comments: remove it"
	case problem == "trailing comma":
		e.Advice = "remove the comma before the closing bracket"
	case len(rest) > 0 && rest[0] == '\'':
		e.Advice = "write double quotes"
	}
	return e
}

func (p *jsonParser) peek() byte {
	if p.pos < len(p.in) {
		return p.in[p.pos]
	}
	return 0
}

func (p *jsonParser) end() bool { return p.pos >= len(p.in) }

// step moves over one character; bytes that are not UTF-8 count as one each.
func (p *jsonParser) step() {
	if p.in[p.pos] == '\n' {
		p.line, p.col = p.line+1, 1
		p.pos++
		return
	}
	_, n := utf8.DecodeRune(p.in[p.pos:])
	p.pos += n
	p.col++
}

func (p *jsonParser) blanks() {
	for !p.end() {
		switch p.in[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.step()
		default:
			return
		}
	}
}

func (p *jsonParser) value() (*Value, error) {
	if p.end() {
		return nil, p.fail("EOF while parsing a value")
	}
	v := &Value{Line: p.line, Column: p.col}
	switch c := p.peek(); {
	case c == '{':
		v.Kind = Map
		return v, p.nested(v, p.object)
	case c == '[':
		v.Kind = List
		return v, p.nested(v, p.array)
	case c == '"':
		v.Kind = String
		s, err := p.str()
		v.Text = s
		return v, err
	case c == '-' || c >= '0' && c <= '9':
		v.Kind = Number
		return v, p.number(v)
	}
	for word, kind := range map[string]Kind{"true": Bool, "false": Bool, "null": Null} {
		if p.peek() == word[0] {
			v.Kind, v.Text = kind, word
			return v, p.word(word)
		}
	}
	return nil, p.fail("expected value")
}

func (p *jsonParser) word(w string) error {
	for i := range len(w) {
		if p.end() {
			return p.fail("EOF while parsing a value")
		}
		if p.peek() != w[i] {
			return p.fail("expected ident")
		}
		p.step()
	}
	return nil
}

func (p *jsonParser) nested(v *Value, parse func(*Value) error) error {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth >= maxNesting {
		return p.fail("recursion limit exceeded")
	}
	p.step()
	return parse(v)
}

func (p *jsonParser) object(v *Value) error {
	for first := true; ; first = false {
		p.blanks()
		if p.end() {
			return p.fail("EOF while parsing an object")
		}
		c := p.peek()
		switch {
		case c == '}':
			p.step()
			return nil
		case first:
		case c != ',':
			return p.fail("expected `,` or `}`")
		default:
			p.step()
			p.blanks()
			if p.peek() == '}' {
				return p.fail("trailing comma")
			}
		}
		if p.end() {
			return p.fail("EOF while parsing a value")
		}
		if p.peek() != '"' {
			return p.fail("key must be a string")
		}
		key := &Value{Kind: String, Line: p.line, Column: p.col}
		name, err := p.str()
		if err != nil {
			return err
		}
		key.Text = name
		p.blanks()
		if p.end() {
			return p.fail("EOF while parsing an object")
		}
		if p.peek() != ':' {
			return p.fail("expected `:`")
		}
		p.step()
		p.blanks()
		val, err := p.value()
		if err != nil {
			return err
		}
		v.Fields = append(v.Fields, Field{Name: name, Key: key, Value: val})
	}
}

func (p *jsonParser) array(v *Value) error {
	for first := true; ; first = false {
		p.blanks()
		if p.end() {
			return p.fail("EOF while parsing a list")
		}
		c := p.peek()
		switch {
		case c == ']':
			p.step()
			return nil
		case first:
		case c != ',':
			return p.fail("expected `,` or `]`")
		default:
			p.step()
			p.blanks()
			if p.peek() == ']' {
				return p.fail("trailing comma")
			}
		}
		item, err := p.value()
		if err != nil {
			return err
		}
		v.Items = append(v.Items, item)
	}
}

func (p *jsonParser) digits() bool {
	start := p.pos
	for !p.end() && p.peek() >= '0' && p.peek() <= '9' {
		p.step()
	}
	return p.pos > start
}

func (p *jsonParser) number(v *Value) error {
	start := p.pos
	if p.peek() == '-' {
		p.step()
	}
	if p.peek() == '0' {
		p.step()
		if c := p.peek(); c >= '0' && c <= '9' {
			return p.fail("invalid number")
		}
	} else if !p.digits() {
		return p.fail("invalid number")
	}
	if p.peek() == '.' {
		p.step()
		if !p.digits() {
			return p.fail("invalid number")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.step()
		if c := p.peek(); c == '+' || c == '-' {
			p.step()
		}
		if !p.digits() {
			return p.fail("invalid number")
		}
	}
	v.Text = string(p.in[start:p.pos])
	if f, _ := strconv.ParseFloat(v.Text, 64); math.IsInf(f, 0) {
		return p.fail("number out of range")
	}
	return nil
}

func (p *jsonParser) str() (string, error) {
	p.step()
	var out []byte
	for {
		if p.end() {
			return "", p.fail("EOF while parsing a string")
		}
		switch c := p.peek(); {
		case c == '"':
			p.step()
			return string(out), nil
		case c < 0x20:
			return "", p.fail("control character (\\u0000-\\u001F) found while parsing a string")
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		default:
			r, _ := utf8.DecodeRune(p.in[p.pos:])
			out = utf8.AppendRune(out, r)
			p.step()
		}
	}
}

var jsonEscapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *jsonParser) escape() (rune, error) {
	p.step()
	if p.end() {
		return 0, p.fail("EOF while parsing a string")
	}
	if r, ok := jsonEscapes[p.peek()]; ok {
		p.step()
		return r, nil
	}
	if p.peek() != 'u' {
		return 0, p.fail("invalid escape")
	}
	r, err := p.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if r < 0xdc00 && (p.peek() != '\\' || p.pos+1 >= len(p.in) || p.in[p.pos+1] != 'u') {
		return 0, p.fail("unexpected end of hex escape")
	}
	if r >= 0xdc00 {
		return 0, p.fail("lone leading surrogate in hex escape")
	}
	p.step()
	low, err := p.hex4()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, p.fail("lone leading surrogate in hex escape")
	}
	return r, nil
}

func (p *jsonParser) hex4() (rune, error) {
	p.step()
	if p.pos+4 > len(p.in) {
		return 0, p.fail("EOF while parsing a string")
	}
	n, err := strconv.ParseUint(string(p.in[p.pos:p.pos+4]), 16, 16)
	if err != nil {
		return 0, p.fail("invalid escape")
	}
	for range 4 {
		p.step()
	}
	return rune(n), nil
}
