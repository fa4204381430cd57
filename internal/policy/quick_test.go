package policy

import (
	"bytes"
	"fmt"
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
