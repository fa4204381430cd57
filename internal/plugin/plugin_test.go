package plugin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestParseDocumentFrames(t *testing.T) {
	tests := []struct{ name, text, hint string }{
		{"blank line first", "\n---\na: 1\n---\n", "remove what stands before the first `---`: it must be the first line, at the margin"},
		{"indented", " ---\na: 1\n---\n", "remove what stands before the first `---`: it must be the first line, at the margin"},
		{"four dashes close", "---\na: 1\n----\nb\n", "close the frontmatter with exactly `---`, at the margin"},
		{"dots close", "---\na: 1\n...\nb\n", "close the frontmatter with exactly `---`, at the margin"},
		{"unclosed", "---\na: 1\n", "close the frontmatter with a `---` line"},
		{"toml", "+++\na = 1\n+++\n", "write YAML between `---` lines: `+++` (TOML) is not read"},
		{"empty", "", "begin the file with `---`, the fields, and `---`"},
	}
	for _, tt := range tests {
		_, err := ParseDocument([]byte(tt.text))
		var frame *FrameError
		if !errors.As(err, &frame) || !errors.Is(err, ErrFrontmatter) {
			t.Errorf("%s: %v, want a FrameError", tt.name, err)
		} else if frame.Hint() != tt.hint {
			t.Errorf("%s: hint %q, want %q", tt.name, frame.Hint(), tt.hint)
		}
	}
}

// Mistakes are found where they are, in lines of the file.
func TestParseDocumentPlaces(t *testing.T) {
	tests := []struct {
		text      string
		line, col int
	}{
		{"---\nname: x\ndescription: Use when: asked\n---\n", 3, 22},
		{"---\nname: x\ndescription: @mention first\n---\n", 3, 14},
		{"---\nname: x\ndescription: [tag] then text\n---\n", 3, 20},
		{"---\nname: x\ndescription: \"never closed\n---\n", 3, 14},
		{"---\nname: x\nmetadata:\n\tkey: v\n---\n", 4, 1},
		{"---\nname: x\nname: y\n---\n", 3, 1},
		{"---\nmetadata:\n  é: 99999999999999999999999\n---\n", 3, 6},
	}
	for _, tt := range tests {
		_, err := ParseDocument([]byte(tt.text))
		var e *SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v, want a SyntaxError", tt.text, err)
		} else if e.Line != tt.line || e.Column != tt.col || e.Hint() == "" {
			t.Errorf("%q: %d:%d %q (hint %q), want %d:%d", tt.text, e.Line, e.Column, e.Problem, e.Hint(), tt.line, tt.col)
		}
	}
}

// As client 1.0.102 shows the descriptions: a block that ends the frontmatter has no line end of its own.
func TestParseDocumentBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"---\ndescription: |\n  block\n---\nB":                "block",
		"---\r\ndescription: |\r\n  block\r\n---\r\nB":        "block",
		"---\ndescription: |\n  block\nname: a\n---\nB":       "block\n",
		"---\nname: a\ndescription: |+\n  block\n\n\n---\nB":  "block\n\n",
		"---\nname: a\ndescription: >\n  block\n\n---\nB":     "block\n",
		"---\nname: a\ndescription: >-\n  one\n  two\n---\nB": "one two",
		"---\ndescription: |\n---\nB":                         "",
	} {
		d, err := ParseDocument([]byte(text))
		if err != nil || !d.Fields.Get("description").Is(String) || d.Fields.Get("description").Text != want {
			t.Errorf("%q: %+v, %v, want %q", text, d.Fields.Get("description"), err, want)
		}
	}
}

func TestParseYAMLRefusesBombs(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'z'; c++ {
		p := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [*" + p + ",*" + p + ",*" + p + ",*" + p + ",*" + p + ",*" + p + "]\n"
	}
	for _, s := range []string{bomb, "a: &a [*a]\n"} {
		if _, err := ParseYAML([]byte(s), 1); err == nil {
			t.Errorf("%.30q: accepted", s)
		}
	}
}

func TestParseCommand(t *testing.T) {
	for _, tt := range []struct{ text, body, description string }{
		{"---\ndescription: d\n---\nDo it.\n", "Do it.\n", "d"},
		{"Do it.\n", "Do it.\n", ""},
		{"", "", ""},
	} {
		d, err := ParseCommand([]byte(tt.text))
		if err != nil || d.Body != tt.body || d.Fields.Get("description").Str() != tt.description {
			t.Errorf("%q: %+v, %v", tt.text, d, err)
		}
	}
}

func TestLoad(t *testing.T) {
	fsys := fstest.MapFS{
		".claude-plugin/plugin.json":              {Data: []byte(`{"name":"other"}`)},
		".git/config":                             {Data: []byte("x")},
		"plugin.json":                             {Data: []byte(`{"$schema":"` + Schema + `","name":"demo","version":"1.2.3","author":{"name":"A"},"keywords":["k"]}`)},
		"skills/one/SKILL.md":                     {Data: []byte("---\ndescription: d\n---\nB\n")},
		"skills/bad/SKILL.md":                     {Data: []byte("no frontmatter\n")},
		"agents/ignored.agent.md":                 {Data: []byte("---\ndescription: d\n---\n")},
		"com.github.copilot/agents/a.agent.md":    {Data: []byte("---\nname: A\ndescription: d\n---\n")},
		"com.github.copilot/agents/deep/b.md":     {Data: []byte("---\ndescription: d\n---\n")},
		"com.github.copilot/hooks/hooks.json":     {Data: []byte(`{"version":1,"hooks":{}}`)},
		"com.anthropic.claude-code/hooks/hooks.x": {Data: []byte(``), Mode: 0o755},
	}
	p, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if p.Manifest.Name != "demo" || !p.Manifest.Spec() || p.Manifest.Author.Name != "A" || p.Manifest.Path != "plugin.json" {
		t.Errorf("manifest %+v", p.Manifest)
	}
	if p.Hooks != "com.github.copilot/hooks/hooks.json" {
		t.Errorf("hooks %q", p.Hooks)
	}
	var got []string
	for _, s := range p.Skills {
		got = append(got, s.Name)
		if (s.Err != nil) != (s.Name == "bad") {
			t.Errorf("%s: %v", s.Path, s.Err)
		}
	}
	for _, a := range p.Agents {
		got = append(got, a.ID+"="+a.Name)
	}
	if diff := cmp.Diff([]string{"bad", "one", "a=A"}, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if _, ok := p.Tree.Get(".git/config"); ok {
		t.Error(".git was read")
	}
	if f, ok := p.Tree.Get("com.anthropic.claude-code/hooks/hooks.x"); !ok || f.Mode != 0o755 {
		t.Errorf("mode %v", f.Mode)
	}
	if err := p.Tree.Check(); err != nil {
		t.Error(err)
	}
	if _, err := Load(fstest.MapFS{"x": {}}); !errors.Is(err, ErrNoManifest) {
		t.Errorf("no manifest: %v", err)
	}
}

func TestReadLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir := t.TempDir()
	for _, d := range []string{"in", "out"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "in/file"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	link("file", "in/alias")
	link("..", "in/up") // leads back to dir, and from there down again
	root, err := os.OpenRoot(filepath.Join(dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := Read(root.FS()); err == nil {
		t.Error("a link out of the folder was followed")
	}
	seen := 0
	err = Walk(os.DirFS(filepath.Join(dir, "in")), ".", func(string, fs.DirEntry) error { seen++; return nil })
	if err != nil || seen == 0 || seen > 50 {
		t.Errorf("walk through a loop: %d entries, %v", seen, err)
	}
	if err := os.Remove(filepath.Join(dir, "in/up")); err != nil {
		t.Fatal(err)
	}
	tree, err := Read(root.FS())
	if err != nil || len(tree) != 2 || string(tree[0].Data) != "x" {
		t.Errorf("%v, %v", tree, err)
	}
}

func TestTreeCheck(t *testing.T) {
	for _, bad := range []Tree{{{Path: "../x"}}, {{Path: "/x"}}, {{Path: "a"}, {Path: "a"}}, {{Path: "b"}, {Path: "a"}}, {{Path: `a\b`}}, {{Path: ""}}} {
		if bad.Check() == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestEventNames(t *testing.T) {
	if len(EventNames) != 29 {
		t.Errorf("%d names, want the 15 and 14 that the client takes", len(EventNames))
	}
	for name, pascal := range map[string]string{"agentStop": "Stop", "userPromptSubmitted": "UserPromptSubmit", "userPromptTransformed": ""} {
		if got := PascalName(name); got != pascal {
			t.Errorf("PascalName(%s) = %q, want %q", name, got, pascal)
		}
	}
}
