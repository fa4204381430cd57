package policy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// dump writes a node so that two parsers can be compared: comments left out.
func dump(n *yaml.Node) string {
	var b strings.Builder
	var walk func(n *yaml.Node, depth int)
	walk = func(n *yaml.Node, depth int) {
		fmt.Fprintf(&b, "%s%d %s %q style %d at %d:%d\n", strings.Repeat(" ", depth), n.Kind, n.Tag, n.Value, n.Style, n.Line, n.Column)
		for _, c := range n.Content {
			walk(c, depth+1)
		}
	}
	walk(n, 0)
	return b.String()
}

func library(src []byte) (*yaml.Node, error) {
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(src))
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	var more yaml.Node
	if dec.Decode(&more) == nil {
		return nil, fmt.Errorf("a second document")
	}
	return doc.Content[0], nil
}

var quickTexts = []string{
	"name: a\non:\n  file:\n    paths: ['a/**', \"b\", c]\n    types: [create,edit]\nsteps:\n  - name: x\n    deny: |\n      one\n\n       two\n  - run: echo 'x' # note\n",
	"name: a\n# comment\non: file   # more\nsteps:\n- deny: no\n- ask: 'it''s'\nenabled: true\n",
	"a: |-\n  x\n  y\n\nb: |+\n  z\n\n\nc: |\n\n  q\n",
	"a:\nb: null\nc: 12\nd: {}\ne: []\nf: {g: h, i: 'j', k: [l, m]}\n",
	"on:\n  hooks:\n    types:\n      - preToolUse\n      - postToolUse\n",
	"a: x y z\nb: $HOME/x:y\nc: ^a(b|c)$\n",
	"a: ünï — x\nb: ['ü', z]\n",
	"a:\n  - b: c\n    d:\n      - e\n  - f\n",
	"a: # none\nb: #none\n",
	"# only a comment\na: b\n\n",
	"a: b\n  # indented comment\nc: d\n",
	"a:\n  b: |\n    text\n   # what\n  c: d\n",
	"a: 'x' #c\nb: 'x'#c\n",
	"a: b\n   c\n",
	"on: true\nyes: no\n",
}

func TestQuickIsTheLibrary(t *testing.T) {
	hits := 0
	for _, src := range quickTexts {
		got, ok := quick([]byte(src))
		if !ok {
			continue
		}
		hits++
		want, err := library([]byte(src))
		if err != nil {
			t.Errorf("%q: the library says %v", src, err)
			continue
		}
		if diff := cmp.Diff(dump(want), dump(got)); diff != "" {
			t.Errorf("%q (-library +quick):\n%s", src, diff)
		}
	}
	if hits < 10 {
		t.Errorf("only %d of %d texts are plain", hits, len(quickTexts))
	}
}

func FuzzQuick(f *testing.F) {
	for _, src := range quickTexts {
		f.Add([]byte(src))
	}
	files, err := filepath.Glob("testdata/*/*.yml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, ok := quick(src)
		if !ok {
			return
		}
		want, err := library(src)
		if err != nil {
			t.Fatalf("%q: the library says %v", src, err)
		}
		if diff := cmp.Diff(dump(want), dump(got)); diff != "" {
			t.Fatalf("%q (-library +quick):\n%s", src, diff)
		}
	})
}

// Random lines from pieces that mean something find more than random bytes do.
func TestQuickOnRandomLines(t *testing.T) {
	values := []string{"a", "'q'", "[a, 'b']", "|", "", `"d"`, "{a: b, c: [d]}", "{}", "[]", "12", "0", "007", "1.5", "1_0", "0x1", "~", "true", "yes", "Null", "a # c", "a#c", "a: b", "-x", "- x", "*a", "&a x",
		"x:", "x : y", `a\b`, "'it''s'", "'a' # c", "'a'b", "#c", "# c", "ünï — x", "|", "|-", "|+", "|2", ">", "[a, ]", "[a b, c]", "[a", "{a: }", "{'a': b}", "!!str a", "a,b", "[a:b]", "a]", "? a", "%x", "@x", "`x`", "...", "---",
		"2001-01-01", "12:30", "<<", "=", ".", "/x/**", "$X", "^a$", "(a)", "+1", "a  b", "a ", "  a", `"a\n"`, `"`, "'", "", "", "", ""}
	keys := []string{"a", "b", "on", "paths-ignore", "c", "a.b", "a b", "'q'", "12", "true", "_x", "<<", "-a", "ü"}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list []string) string {
		if r.IntN(4) > 0 { // the plain ones come first
			return list[r.IntN(min(len(list), 5))]
		}
		return list[r.IntN(len(list))]
	}
	hits := 0
	for range 60000 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			b.WriteString(strings.Repeat(" ", []int{0, 0, 0, 2, 2, 4, 1, 3}[r.IntN(8)]))
			switch r.IntN(10) {
			case 0:
				b.WriteString("# c")
			case 1:
				b.WriteString(pick(values))
			case 2, 3:
				b.WriteString("- " + pick(values))
			case 4:
				b.WriteString("- " + pick(keys) + ": " + pick(values))
			case 5:
			default:
				b.WriteString(pick(keys) + ":" + strings.Repeat(" ", r.IntN(3)) + pick(values))
			}
			b.WriteByte('\n')
		}
		src := b.String()
		got, ok := quick([]byte(src))
		if !ok {
			continue
		}
		hits++
		want, err := library([]byte(src))
		if err != nil {
			t.Fatalf("%q: the library says %v", src, err)
		}
		if diff := cmp.Diff(dump(want), dump(got)); diff != "" {
			t.Fatalf("%q (-library +quick):\n%s", src, diff)
		}
	}
	if hits < 2000 {
		t.Errorf("only %d texts are plain", hits)
	}
}
