package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits of one document. An alias counts for what it stands for, each time.
const (
	maxDepth    = 200
	maxNodes    = 200_000
	maxFindings = 200 // of one file; nobody reads on
)

// decoder reads one YAML document strictly and collects what is wrong with it.
type decoder struct {
	file     string // as findings name it
	lineOff  int    // lines before the document in its file
	src      []byte // the document
	problems []Finding
	nodes    int // visited so far
}

func (d *decoder) report(severity string, n *yaml.Node, rule, hint, format string, args ...any) {
	if len(d.problems) >= maxFindings {
		if len(d.problems) > maxFindings {
			return
		}
		rule, hint, format, args = "too-many", "", "more findings than are listed", nil
	}
	f := Finding{File: d.file, Rule: rule, Severity: severity, Message: fmt.Sprintf(format, args...), Hint: hint}
	if n != nil {
		f.Line, f.Column = n.Line+d.lineOff, n.Column
	}
	d.problems = append(d.problems, f)
}

func (d *decoder) errorf(n *yaml.Node, rule, hint, format string, args ...any) {
	d.report(SeverityError, n, rule, hint, format, args...)
}

func (d *decoder) warnf(n *yaml.Node, rule, hint, format string, args ...any) {
	d.report(SeverityWarning, n, rule, hint, format, args...)
}

// errorAt reports an error at a byte offset of a scalar's value.
func (d *decoder) errorAt(n *yaml.Node, offset int, rule, hint, format string, args ...any) {
	line, col := d.position(n, offset)
	d.errorf(&yaml.Node{Line: line, Column: col}, rule, hint, format, args...)
}

// parse returns the top node of the one document in d.src; nil when the text is no YAML, which is then reported.
func (d *decoder) parse() *yaml.Node {
	if top, ok := quick(d.src); ok {
		return top
	}
	if !utf8.Valid(d.src) {
		d.errorf(at(1+bytes.Count(d.src[:validPrefix(d.src)], []byte("\n")), 1), "yaml", "save the file as UTF-8", "the text is not UTF-8")
		return nil
	}
	if line := tooDeep(d.src); line > 0 {
		d.errorf(at(line, 1), "yaml", "", "nested more than %d levels deep", maxDepth)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(d.src))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		d.errorf(at(1, 1), "yaml", "", "the file is empty")
		return nil
	case err != nil:
		d.yamlError(err)
		return nil
	}
	if len(doc.Content) == 0 {
		d.errorf(at(1, 1), "yaml", "", "the file is empty")
		return nil
	}
	top := doc.Content[0]
	if n := deepest(top, 1); n != nil {
		d.errorf(n, "yaml", "", "nested more than %d levels deep", maxDepth)
		return nil
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		if err != nil {
			d.yamlError(err)
			return nil
		}
		d.errorf(&more, "yaml", "one file holds one policy", "a second document")
	}
	return top
}

func at(line, col int) *yaml.Node { return &yaml.Node{Line: line, Column: col} }

func validPrefix(b []byte) int {
	i := 0
	for i < len(b) {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return i
}

// yamlError takes the line out of the parser's message: "yaml: line 4: did not find …".
func (d *decoder) yamlError(err error) {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if num, tail, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(num); err == nil && n > 0 {
				line, msg = n, tail
			}
		}
	}
	col := 1
	if lines := bytes.SplitN(d.src, []byte("\n"), line+1); line <= len(lines) {
		text := lines[line-1]
		col += len(text) - len(bytes.TrimLeft(text, " "))
	}
	d.errorf(at(line, col), "yaml", "", "not YAML: %s", msg)
}

// tooDeep returns the line at which flow collections are certainly nested too deep, 0 if none. The parser's time grows with
// the square of that depth, so it does not get to see such a text.
func tooDeep(src []byte) int {
	depth, line := 0, 1
	for _, c := range src {
		switch c {
		case '\n':
			line++
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		if depth > 2000 {
			return line
		}
	}
	return 0
}

// deepest returns the first node below maxDepth levels, without following aliases.
func deepest(n *yaml.Node, depth int) *yaml.Node {
	if depth > maxDepth {
		return n
	}
	for _, c := range n.Content {
		if found := deepest(c, depth+1); found != nil {
			return found
		}
	}
	return nil
}

// resolve follows an alias and counts the visit; nil once the document has been visited too often (an alias bomb).
func (d *decoder) resolve(n *yaml.Node) *yaml.Node {
	d.nodes++
	if d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.errorf(n, "yaml", "write less with aliases", "more than %d nodes", maxNodes)
		}
		return nil
	}
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// entry is one key of a map with its value, aliases followed.
type entry struct {
	name string
	k, v *yaml.Node
}

// fields returns the entries of a map in order, those that "<<" merges in after the map's own. It reports what is no map, keys that are no
// text, twice there or not in known (nil: any), and says whether n was a map.
func (d *decoder) fields(n *yaml.Node, what string, known []string) ([]entry, bool) {
	if n = d.resolve(n); n == nil {
		return nil, false
	}
	if n.Kind != yaml.MappingNode {
		d.errorf(n, "wrong-type", "", "%s must be a map, not %s", what, kindOf(n))
		return nil, false
	}
	out := make([]entry, 0, len(n.Content)/2)
	d.collect(n, what, known, &out, 0)
	return out, true
}

func (d *decoder) collect(n *yaml.Node, what string, known []string, out *[]entry, depth int) {
	var merges []*yaml.Node
	var index map[string]int // of large maps
	if len(n.Content) > 64 {
		index = make(map[string]int, len(n.Content)/2)
		for i, e := range *out {
			index[e.name] = i
		}
	}
	seen := func(name string) int {
		if index == nil {
			return slices.IndexFunc(*out, func(e entry) bool { return e.name == name })
		}
		if i, ok := index[name]; ok {
			return i
		}
		return -1
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := d.resolve(n.Content[i]), d.resolve(n.Content[i+1])
		if k == nil || v == nil {
			return
		}
		if k.Kind == yaml.ScalarNode && k.Tag == "!!merge" {
			merges = append(merges, v)
			continue
		}
		if k.Kind != yaml.ScalarNode {
			d.errorf(n.Content[i], "wrong-type", "", "a key of %s must be text, not %s", what, kindOf(k))
			continue
		}
		name := k.Value
		if j := seen(name); j >= 0 {
			if depth == 0 {
				d.errorf(n.Content[i], "duplicate-key", "", "key %q is there twice, first in line %d", name, (*out)[j].k.Line+d.lineOff)
			}
			continue
		}
		if known != nil && !slices.Contains(known, name) {
			if len(d.problems) <= maxFindings {
				d.errorf(n.Content[i], "unknown-key", hintKey(name, known), "unknown key %q in %s", cut(name, 60), what)
			}
			continue
		}
		if index != nil {
			index[name] = len(*out)
		}
		*out = append(*out, entry{name, n.Content[i], v})
	}
	for _, m := range merges {
		d.merge(m, what, known, out, depth)
	}
}

func (d *decoder) merge(m *yaml.Node, what string, known []string, out *[]entry, depth int) {
	switch {
	case depth > 20:
		d.errorf(m, "yaml", "", "merge keys nest too deep")
	case m.Kind == yaml.MappingNode:
		d.collect(m, what, known, out, depth+1)
	case m.Kind == yaml.SequenceNode:
		for _, c := range m.Content {
			if c = d.resolve(c); c == nil {
				return
			}
			d.merge(c, what, known, out, depth+1)
		}
	default:
		d.errorf(m, "wrong-type", "", "<< takes a map or a list of maps, not %s", kindOf(m))
	}
}

// items returns the elements of a list, aliases followed.
func (d *decoder) items(n *yaml.Node, what string) ([]*yaml.Node, bool) {
	if n = d.resolve(n); n == nil {
		return nil, false
	}
	if n.Kind != yaml.SequenceNode {
		hint := ""
		if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
			hint = "write [" + n.Value + "]"
		}
		d.errorf(n, "wrong-type", hint, "%s must be a list, not %s", what, kindOf(n))
		return nil, false
	}
	out := make([]*yaml.Node, 0, len(n.Content))
	for _, c := range n.Content {
		if c = d.resolve(c); c == nil {
			return nil, false
		}
		out = append(out, c)
	}
	return out, true
}

// text reads a text; empty texts are an error where need says so.
func (d *decoder) text(n *yaml.Node, what string, need bool) (string, bool) {
	if n = d.resolve(n); n == nil {
		return "", false
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		hint := ""
		if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			hint = "put it in quotes: '" + n.Value + "'"
		}
		d.errorf(n, "wrong-type", hint, "%s must be text, not %s", what, kindOf(n))
		return "", false
	}
	if need && strings.TrimSpace(n.Value) == "" {
		d.errorf(n, "bad-value", "", "%s is empty", what)
		return "", false
	}
	return n.Value, true
}

// scalar reads a text, number or boolean as text.
func (d *decoder) scalar(n *yaml.Node, what string) (string, bool) {
	if n = d.resolve(n); n == nil {
		return "", false
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.errorf(n, "wrong-type", "", "%s must be text, not %s", what, kindOf(n))
		return "", false
	}
	return n.Value, true
}

func (d *decoder) boolean(n *yaml.Node, what string) (value, ok bool) {
	if n = d.resolve(n); n == nil {
		return false, false
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		d.errorf(n, "wrong-type", "write true or false", "%s must be true or false, not %s", what, kindOf(n))
		return false, false
	}
	return strings.EqualFold(n.Value, "true"), true
}

// whole reads a whole number of at least least.
func (d *decoder) whole(n *yaml.Node, what string, least int) (int, bool) {
	if n = d.resolve(n); n == nil {
		return 0, false
	}
	v, ok := 0, false
	if n.Kind == yaml.ScalarNode && (n.Tag == "!!int" || n.Tag == "!!float") {
		var f float64
		if n.Decode(&f) == nil && f == math.Trunc(f) && math.Abs(f) < 1<<31 {
			v, ok = int(f), true
		}
	}
	switch {
	case !ok:
		d.errorf(n, "wrong-type", "", "%s must be a whole number, not %s", what, kindOf(n))
	case v < least:
		d.errorf(n, "bad-value", "", "%s must be at least %d, not %d", what, least, v)
		ok = false
	}
	return v, ok
}

// choice reads one of the given words.
func (d *decoder) choice(n *yaml.Node, what string, words ...string) (string, bool) {
	s, ok := d.text(n, what, false)
	if !ok {
		return "", false
	}
	if !slices.Contains(words, s) {
		d.errorf(n, "bad-value", hintKey(s, words), "%s must be %s, not %q", what, orList(words), s)
		return "", false
	}
	return s, true
}

// texts reads a list of texts.
func (d *decoder) texts(n *yaml.Node, what string) (values []string, nodes []*yaml.Node, ok bool) {
	list, ok := d.items(n, what)
	if !ok {
		return nil, nil, false
	}
	for _, c := range list {
		s, good := d.text(c, "an entry of "+what, true)
		if !good {
			ok = false
			continue
		}
		values, nodes = append(values, s), append(nodes, c)
	}
	return values, nodes, ok
}

// kindOf names what is there, for people.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "the boolean " + n.Value
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!str":
		return "the text " + strconv.Quote(cut(n.Value, 40))
	}
	return "a " + strings.TrimPrefix(n.Tag, "!!")
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

func orList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// hintKey suggests the nearest known word, else lists them all.
func hintKey(got string, known []string) string {
	best, dist := "", 3
	for _, k := range known {
		if n := distance(strings.ToLower(got), k); n < dist {
			best, dist = k, n
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "known: " + strings.Join(known, ", ")
}

// distance counts the letters to insert, delete or replace; texts of over 40 bytes are far from everything.
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 40
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost = 1 + min(prev, row[j], row[j+1])
			}
			prev, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// position is the line and column in the document of a byte offset in a scalar's value. It is exact for block texts ("|") and for
// texts of one line; elsewhere it is the scalar's start.
func (d *decoder) position(n *yaml.Node, offset int) (line, col int) {
	offset = min(max(offset, 0), len(n.Value))
	before := n.Value[:offset]
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		row := strings.Count(before, "\n")
		inLine := before[strings.LastIndex(before, "\n")+1:]
		line = n.Line + 1 + row
		return line, d.blockIndent(n) + utf8.RuneCountInString(inLine) + 1
	case n.Style&yaml.FoldedStyle != 0, strings.Contains(n.Value, "\n"):
		return n.Line, n.Column
	case n.Style&yaml.SingleQuotedStyle != 0:
		return n.Line, n.Column + 1 + utf8.RuneCountInString(before) + strings.Count(before, "'")
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return n.Line, n.Column + 1 + utf8.RuneCountInString(before)
	}
	return n.Line, n.Column + utf8.RuneCountInString(before)
}

// blockIndent is the indentation of a block scalar's text: that of its first line with content.
func (d *decoder) blockIndent(n *yaml.Node) int {
	lines := bytes.Split(d.src, []byte("\n"))
	for i := n.Line; i < len(lines); i++ {
		if text := bytes.TrimLeft(lines[i], " "); len(bytes.TrimSpace(text)) > 0 {
			return len(lines[i]) - len(text)
		}
	}
	return 0
}
