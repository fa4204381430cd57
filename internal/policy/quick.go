package policy

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// quick parses the plain part of YAML that most policy files keep to: block maps and lists with simple keys, one-line scalars,
// one-line flow collections, "|" texts, comments. The nodes are those that the YAML library gives, but for comments. ok is false
// for everything else, mistakes included, and then the library has the word. It takes a twentieth of the library's time, which
// is what a hook with a hundred files has.
func quick(src []byte) (top *yaml.Node, ok bool) {
	q := quickParser{line: -1}
	if !q.split(src) || len(q.lines) == 0 || q.next(0) == len(q.lines) {
		return nil, false
	}
	i := q.next(0)
	if q.lines[i].indent != 0 {
		return nil, false
	}
	n, i, ok := q.block(i, 0, 0)
	return n, ok && q.next(i) == len(q.lines)
}

// quickLine is one line; text has neither the indentation nor blank space at its end, which raw keeps.
type quickLine struct {
	raw, text string
	indent    int // in characters, and therefore bytes: only spaces
}

type quickParser struct {
	lines []quickLine
	nodes []yaml.Node

	line, bytes, chars int // the last column that was asked for: line, offset, characters before it
}

// split cuts the text into lines and refuses characters that mean something special to YAML.
func (q *quickParser) split(src []byte) bool {
	if len(src) == 0 || src[len(src)-1] != '\n' || !plainBytes(src) {
		return false
	}
	q.lines = make([]quickLine, 0, bytes.Count(src, []byte("\n")))
	for line := range strings.Lines(string(src)) {
		line = line[:len(line)-1]
		text := strings.TrimLeft(line, " ")
		q.lines = append(q.lines, quickLine{line, strings.TrimRight(text, " "), len(line) - len(text)})
	}
	q.nodes = make([]yaml.Node, 0, min(2*len(q.lines)+8, 1024))
	return true
}

func plainBytes(src []byte) bool {
	for i := 0; i < len(src); {
		c := src[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		if r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0xd800 {
			return false
		}
		i += n
	}
	return true
}

// next is the first line from i on that is neither blank nor a comment.
func (q *quickParser) next(i int) int {
	for i < len(q.lines) && (q.lines[i].text == "" || q.lines[i].text[0] == '#') {
		i++
	}
	return i
}

func (q *quickParser) node(n yaml.Node) *yaml.Node {
	if len(q.nodes) == cap(q.nodes) {
		q.nodes = make([]yaml.Node, 0, 32)
	}
	q.nodes = append(q.nodes, n)
	return &q.nodes[len(q.nodes)-1]
}

// column is where a part of a line starts, from 1; offset counts the bytes after the indentation.
func (q *quickParser) column(i, offset int) int {
	l := &q.lines[i]
	if i != q.line || offset < q.bytes {
		q.line, q.bytes, q.chars = i, 0, 0
	}
	q.chars += utf8.RuneCountInString(l.text[q.bytes:offset])
	q.bytes = offset
	return l.indent + q.chars + 1
}

// block parses the map or list whose first line is i, at exactly the given indentation; it returns the line after it.
func (q *quickParser) block(i, indent, depth int) (*yaml.Node, int, bool) {
	if depth > 40 {
		return nil, 0, false
	}
	if isItem(q.lines[i].text) {
		return q.list(i, indent, depth)
	}
	return q.mapping(i, indent, depth)
}

func isItem(text string) bool { return strings.HasPrefix(text, "- ") || text == "-" }

func (q *quickParser) mapping(i, indent, depth int) (*yaml.Node, int, bool) {
	out := q.node(yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: i + 1, Column: indent + 1})
	out.Content = make([]*yaml.Node, 0, 8)
	for {
		key, rest := quickKey(q.lines[i].text)
		if key == "" {
			return nil, 0, false
		}
		k := q.node(yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: i + 1, Column: indent + 1})
		v, after, ok := q.value(i, rest, len(key), indent, depth, true)
		if !ok {
			return nil, 0, false
		}
		out.Content = append(out.Content, k, v)
		if i = q.next(after); i == len(q.lines) || q.lines[i].indent < indent {
			return out, i, true
		}
		if q.lines[i].indent != indent || isItem(q.lines[i].text) {
			return nil, 0, false
		}
	}
}

// quickKey splits "key: rest"; rest is the offset of what follows the colon and its blanks. A key is a plain word, "" is none.
func quickKey(text string) (key string, rest int) {
	n := 0
	for n < len(text) && wordByte(text[n], n == 0) {
		n++
	}
	if n == 0 || n == len(text) || text[n] != ':' || n+1 < len(text) && text[n+1] != ' ' || quickTag(text[:n]) != "!!str" {
		return "", 0
	}
	rest = n + 1
	for rest < len(text) && text[rest] == ' ' {
		rest++
	}
	return text[:n], rest
}

func wordByte(c byte, first bool) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || !first && ('0' <= c && c <= '9' || c == '-' || c == '.')
}

func (q *quickParser) list(i, indent, depth int) (*yaml.Node, int, bool) {
	out := q.node(yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: i + 1, Column: indent + 1})
	for {
		l := &q.lines[i]
		at := 1
		for at < len(l.text) && l.text[at] == ' ' {
			at++
		}
		if at == len(l.text) || isItem(l.text[at:]) {
			return nil, 0, false
		}
		var n *yaml.Node
		var after int
		var ok bool
		if key, _ := quickKey(l.text[at:]); key != "" {
			l.indent, l.text = l.indent+at, l.text[at:] // all blanks and a dash: one byte each
			q.line = -1
			n, after, ok = q.mapping(i, l.indent, depth+1)
		} else {
			n, after, ok = q.value(i, at, 0, indent, depth, false)
		}
		if !ok {
			return nil, 0, false
		}
		out.Content = append(out.Content, n)
		if i = q.next(after); i == len(q.lines) || q.lines[i].indent < indent {
			return out, i, true
		}
		if q.lines[i].indent != indent {
			return nil, 0, false
		}
		if !isItem(q.lines[i].text) {
			return out, i, true // the next key of a map whose lists are not indented
		}
	}
}

// value parses what stands at an offset of line i, for a parent with the given indentation; colon is where the key ends.
func (q *quickParser) value(i, offset, colon, indent, depth int, ofKey bool) (*yaml.Node, int, bool) {
	text := q.lines[i].text
	rest := text[offset:]
	if rest == "" || rest[0] == '#' && ofKey {
		return q.below(i, colon, indent, depth)
	}
	if rest[0] == '|' {
		return q.literal(i, offset, indent)
	}
	n, end, ok := q.inline(i, offset, false, 0)
	if !ok || !blankTail(text[end:]) {
		return nil, 0, false
	}
	after := i + 1
	if j := q.next(after); j < len(q.lines) && q.lines[j].indent > indent {
		return nil, 0, false // goes on, or is indented wrongly
	}
	return n, after, true
}

// blankTail reports whether only blanks and a comment follow a value.
func blankTail(s string) bool {
	t := strings.TrimLeft(s, " ")
	return t == "" || t[0] == '#' && len(t) < len(s)
}

// below parses the block under a key, or the nothing that is there.
func (q *quickParser) below(i, colon, indent, depth int) (*yaml.Node, int, bool) {
	j := q.next(i + 1)
	if j < len(q.lines) {
		l := q.lines[j]
		if l.indent > indent {
			return q.block(j, l.indent, depth+1)
		}
		if l.indent == indent && isItem(l.text) {
			return q.list(j, indent, depth+1)
		}
	}
	return q.node(yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: i + 1, Column: q.column(i, colon) + 1}), i + 1, true
}

// literal parses a "|" text with its chomping.
func (q *quickParser) literal(i, offset, indent int) (*yaml.Node, int, bool) {
	head := q.lines[i].text[offset:]
	if head != "|" && head != "|-" && head != "|+" {
		return nil, 0, false
	}
	j := i + 1
	for j < len(q.lines) && q.lines[j].raw == "" {
		j++
	}
	if j == len(q.lines) || q.lines[j].text == "" || q.lines[j].indent <= indent {
		return nil, 0, false
	}
	width := len(q.lines[j].raw) - len(strings.TrimLeft(q.lines[j].raw, " "))
	var b strings.Builder
	b.WriteString(strings.Repeat("\n", j-i-1))
	blank := 0
	for ; j < len(q.lines); j++ {
		raw := q.lines[j].raw
		if len(raw) < width && strings.Trim(raw, " ") == "" {
			blank++
			continue
		}
		if strings.TrimLeft(raw[:min(width, len(raw))], " ") != "" {
			break
		}
		b.WriteString(strings.Repeat("\n", blank))
		blank = 0
		b.WriteString(raw[width:])
		b.WriteByte('\n')
	}
	value := b.String()
	switch head {
	case "|-":
		value = strings.TrimRight(value, "\n")
	case "|+":
		value += strings.Repeat("\n", blank)
	default:
		value = strings.TrimRight(value, "\n") + "\n"
	}
	return q.node(yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Style: yaml.LiteralStyle, Line: i + 1, Column: q.column(i, offset)}), j, true
}

// inline parses a value that ends in its line; end is the offset after it.
func (q *quickParser) inline(i, offset int, flow bool, depth int) (n *yaml.Node, end int, ok bool) {
	text := q.lines[i].text
	if offset >= len(text) || depth > 20 {
		return nil, 0, false
	}
	out := yaml.Node{Kind: yaml.ScalarNode, Line: i + 1, Column: q.column(i, offset)}
	switch c := text[offset]; {
	case c == '\'':
		out.Style, out.Tag = yaml.SingleQuotedStyle, "!!str"
		out.Value, end, ok = singleQuoted(text, offset+1)
	case c == '"':
		out.Style, out.Tag = yaml.DoubleQuotedStyle, "!!str"
		if n := strings.IndexAny(text[offset+1:], `"\`); n >= 0 && text[offset+1+n] == '"' {
			out.Value, end, ok = text[offset+1:offset+1+n], offset+n+2, true
		}
	case c == '[' || c == '{':
		return q.flow(i, offset, depth)
	default:
		out.Value, end, ok = plainScalar(text, offset, flow)
		if out.Tag = quickTag(out.Value); out.Tag == "" {
			ok = false
		}
	}
	if !ok {
		return nil, 0, false
	}
	return q.node(out), end, true
}

func singleQuoted(text string, from int) (value string, end int, ok bool) {
	for at := from; at < len(text); at++ {
		if text[at] != '\'' {
			continue
		}
		if at+1 < len(text) && text[at+1] == '\'' {
			at++
			continue
		}
		return strings.ReplaceAll(text[from:at], "''", "'"), at + 1, true
	}
	return "", 0, false
}

// plainScalar takes a scalar without quotes that starts with a letter, a digit or another character without meaning.
func plainScalar(text string, from int, flow bool) (value string, end int, ok bool) {
	if c := text[from]; !wordByte(c, false) && c != '/' && c != '(' && c != '^' && c != '$' && c != '\\' && c != '+' || c == '-' || c == '.' {
		return "", 0, false
	}
	end = len(text)
	for at := from; at < len(text); at++ {
		switch c := text[at]; {
		case c == '#' && text[at-1] == ' ':
			end = at
		case c == ':' && (flow || at+1 == len(text) || text[at+1] == ' '):
			return "", 0, false
		case flow && (c == ',' || c == ']' || c == '}'):
			end = at
		case flow && strings.IndexByte("[{?&*!|>'\"%@`#", c) >= 0:
			return "", 0, false
		default:
			continue
		}
		break
	}
	value = strings.TrimRight(text[from:end], " ")
	return value, from + len(value), true
}

// quickTag is what a plain scalar is; "" = the library has to say.
func quickTag(s string) string {
	switch s {
	case "true", "false", "True", "False", "TRUE", "FALSE":
		return "!!bool"
	case "null", "Null", "NULL", "":
		return "!!null"
	}
	if '1' <= s[0] && s[0] <= '9' && len(s) < 10 && strings.Trim(s, "0123456789") == "" {
		return "!!int"
	}
	if c := s[0] | 0x20; 'a' <= c && c <= 'z' || strings.IndexByte("_/(^$\\", s[0]) >= 0 {
		return "!!str"
	}
	return ""
}

// flow parses a flow list or map of one line.
func (q *quickParser) flow(i, offset, depth int) (*yaml.Node, int, bool) {
	text := q.lines[i].text
	out := q.node(yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle, Line: i + 1, Column: q.column(i, offset)})
	closing := byte(']')
	if text[offset] == '{' {
		out.Kind, out.Tag, closing = yaml.MappingNode, "!!map", '}'
	}
	at := skipBlanks(text, offset+1)
	if at < len(text) && text[at] == closing {
		return out, at + 1, true
	}
	for {
		if closing == '}' {
			key, rest := quickKey(text[min(at, len(text)):])
			if key == "" {
				return nil, 0, false
			}
			out.Content = append(out.Content, q.node(yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: i + 1, Column: q.column(i, at)}))
			at += rest
		}
		n, end, ok := q.inline(i, at, true, depth+1)
		if !ok {
			return nil, 0, false
		}
		out.Content = append(out.Content, n)
		at = skipBlanks(text, end)
		switch {
		case at >= len(text):
			return nil, 0, false
		case text[at] == closing:
			return out, at + 1, true
		case text[at] != ',':
			return nil, 0, false
		}
		at = skipBlanks(text, at+1)
	}
}

func skipBlanks(s string, at int) int {
	for at < len(s) && s[at] == ' ' {
		at++
	}
	return at
}
