package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseYAML reads one YAML document by the rules of the client's parser (1.0.102), which are not those of yaml.v3:
// scalars by scalarKind, repeated keys refused at any depth, one document, merge keys not applied, control characters
// and alias bombs refused. firstLine is the line of the file on which data begins. Empty data is a Null.
// The error is a *SyntaxError.
func ParseYAML(data []byte, firstLine int) (*Value, error) {
	if e := controlCharacter(data, firstLine); e != nil {
		return nil, e
	}
	// A byte order mark at the beginning of a line counts as a blank. (yaml.v3 takes it for nothing.)
	dec := yaml.NewDecoder(strings.NewReader(strings.ReplaceAll(string(data), "\n\uFEFF", "\n ")))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &Value{Kind: Null, Line: firstLine, Column: 1}, nil
	case err != nil:
		return nil, yamlError(data, err, firstLine)
	}
	switch err := dec.Decode(&more); {
	case err == nil:
		return nil, &SyntaxError{Line: fileLine(countLines(data), more.Line, firstLine), Column: 1,
			Problem: "deserializing from YAML containing more than one document is not supported",
			Advice:  "keep one document between the two `---` lines"}
	case !errors.Is(err, io.EOF):
		return nil, yamlError(data, err, firstLine)
	}
	if len(doc.Content) == 0 {
		return &Value{Kind: Null, Line: firstLine, Column: 1}, nil
	}
	root := doc.Content[0]
	c := &converter{lines: countLines(data), firstLine: firstLine, done: map[*yaml.Node]*Value{}, jumps: map[*yaml.Node]int{}}
	n := c.countJumps(root, 0)
	if c.err == nil && n > 100*c.events {
		c.fail(root, "repetition limit exceeded", "write the repeated value out, or drop the aliases")
	}
	if c.err != nil {
		return nil, c.err
	}
	v := c.value(root, "")
	if c.err != nil {
		return nil, c.err
	}
	return v, nil
}

type converter struct {
	lines     int // of the block
	firstLine int
	done      map[*yaml.Node]*Value
	jumps     map[*yaml.Node]int // aliases followed while reading the node; -1 while it is being counted
	events    int
	err       *SyntaxError
}

func (c *converter) fail(n *yaml.Node, problem, advice string) {
	if c.err == nil {
		c.err = &SyntaxError{Line: fileLine(c.lines, n.Line, c.firstLine), Column: n.Column, Problem: problem, Advice: advice}
	}
}

// jumpCeiling keeps the sum of jumps from overflowing; any document with that many is refused.
const jumpCeiling = 1 << 40

func (c *converter) countJumps(n *yaml.Node, depth int) int {
	if known, ok := c.jumps[n]; ok {
		if known < 0 {
			c.fail(n, "recursion limit exceeded", "an alias must not stand inside its own anchor")
			return 0
		}
		return known
	}
	if depth > maxNesting {
		c.fail(n, "recursion limit exceeded", "nest less deeply")
		return 0
	}
	c.jumps[n] = -1
	total := 0
	c.events++
	switch n.Kind {
	case yaml.AliasNode:
		total = 1 + c.countJumps(n.Alias, depth)
	case yaml.MappingNode, yaml.SequenceNode:
		c.events++
		for _, child := range n.Content {
			total += c.countJumps(child, depth+1)
			if total > jumpCeiling || c.err != nil {
				break
			}
		}
	}
	c.jumps[n] = min(total, jumpCeiling)
	return c.jumps[n]
}

// value converts each node once: an alias shares the value of its anchor.
func (c *converter) value(n *yaml.Node, path string) *Value {
	if n.Kind == yaml.AliasNode {
		return c.value(n.Alias, path)
	}
	if v, ok := c.done[n]; ok {
		return v
	}
	v := &Value{Line: fileLine(c.lines, n.Line, c.firstLine), Column: n.Column}
	c.done[n] = v
	switch n.Kind {
	case yaml.SequenceNode:
		v.Kind = List
		for i, child := range n.Content {
			v.Items = append(v.Items, c.value(child, path+"["+strconv.Itoa(i)+"]"))
		}
	case yaml.MappingNode:
		v.Kind = Map
		c.fields(v, n, path)
	default:
		c.scalar(v, n, path)
	}
	return v
}

func (c *converter) fields(v *Value, n *yaml.Node, path string) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := c.value(n.Content[i], path)
		name := ""
		if key.Kind != List && key.Kind != Map {
			name = key.Text
			shown := name
			if key.Kind == String {
				shown = strconv.Quote(name)
			}
			if id := string(key.Kind) + " " + name; seen[id] {
				c.fail(n.Content[i], "duplicate entry with key "+shown, "keep one "+shown+" and remove the other")
			} else {
				seen[id] = true
			}
		}
		below := name
		if path != "" {
			below = path + "." + name
		}
		v.Fields = append(v.Fields, Field{Name: name, Key: key, Value: c.value(n.Content[i+1], below)})
	}
}

func (c *converter) scalar(v *Value, n *yaml.Node, path string) {
	v.Text, v.Kind = n.Value, String
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		v.Plain = true
	}
	where := ""
	if path != "" {
		where = path + ": "
	}
	if n.Style&yaml.TaggedStyle != 0 {
		switch tag := n.ShortTag(); tag {
		case "!!str":
			return
		case "!!null", "!!bool", "!!int", "!!float":
			want := map[string]Kind{"!!null": Null, "!!bool": Bool, "!!int": Number, "!!float": Number}[tag]
			expected := map[Kind]string{Null: "null", Bool: "a boolean", Number: "a number"}[want]
			v.Kind = want
			if got, _ := scalarKind(n.Value); got != want {
				c.fail(n, fmt.Sprintf("%sinvalid value: string %q, expected %s", where, n.Value, expected),
					"remove the tag "+tag)
			}
			return
		}
	}
	if !v.Plain {
		return
	}
	kind, problem := scalarKind(n.Value)
	v.Kind = kind
	if problem != "" {
		c.fail(n, where+problem, "quote the number")
	}
}

// controlCharacter finds what the client's YAML reader refuses before it parses anything.
func controlCharacter(data []byte, firstLine int) error {
	line, col := firstLine, 1
	for _, r := range string(data) {
		if r == '\n' {
			line, col = line+1, 1
			continue
		}
		ok := r == '\t' || r == '\r' || r >= 0x20 && r <= 0x7e || r == 0x85 || r >= 0xa0 && r <= 0xfffd || r >= 0x10000
		if !ok {
			return &SyntaxError{Line: line, Column: col, Problem: "control characters are not allowed",
				Advice: fmt.Sprintf("remove the character U+%04X", r)}
		}
		col++
	}
	return nil
}

var yamlPlace = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// yamlError gives the parser's words the place and the advice that yaml.v3 leaves out.
func yamlError(data []byte, err error, firstLine int) *SyntaxError {
	text := err.Error()
	line := 1
	if m := yamlPlace.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if n, e := strconv.Atoi(m[1]); e == nil {
			line = n
		}
	}
	e := &SyntaxError{Line: line, Column: 1, Problem: text}
	diagnose(strings.Split(string(data), "\n"), e)
	e.Line = fileLine(countLines(data), e.Line, firstLine)
	return e
}

func countLines(data []byte) int { return bytes.Count(data, []byte("\n")) + 1 }

// fileLine is a line of a block of that many lines as a line of the file. YAML counts a bare CR and three more
// characters as line breaks, editors do not: such a block must not point beyond its end.
func fileLine(lines, line, firstLine int) int { return min(line, lines) + firstLine - 1 }
