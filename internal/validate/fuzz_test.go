package validate

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Whatever stands in the files, the checks end, and every finding has a place in its file, a rule and a message.
func FuzzPlugin(f *testing.F) {
	for _, s := range []string{"---\nname: a b\ndescription: x # y\n---\n", "---\ndescription: d\nhooks:\n  preToolUse:\n    - {}\nmcp-servers: {s: {}}\n---\n",
		`{"version":1,"hooks":{"PreToolUse":[{"matcher":"(","hooks":[{"type":"http","url":"x"}]}]}}`,
		`{"$schema":"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json","name":"A","author":1,"extensions":{"a":1}}`,
		`{"name":"x","skills":["../x",1],"hooks":{"stop":[]},"mcpServers":[]}`,
		`{"name":"m","owner":{"name":"n","email":"x"},"plugins":[{"name":"d","source":"./d"},{"name":"d","source":{"source":"npm"}}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		file := &fstest.MapFile{Data: []byte(s)}
		fsys := fstest.MapFS{
			"plugin.json": file, "skills/s/SKILL.md": file, "agents/a.md": file, "commands/c.md": file, "hooks.json": file, ".mcp.json": file,
			".github/skills/s/SKILL.md": file, ".github/agents/a.agent.md": file, ".github/hooks/h.json": file, "marketplace.json": file,
		}
		c := &checker{fsys: fsys, name: "plug", options: Options{fix: true}}
		more := c.dir("/plug", c.options)
		findings, _ := finish(append(more, c))
		lines := strings.Count(s, "\n") + 1
		for _, f := range findings {
			if f.Line < 1 || f.Line > lines+1 || f.Column < 1 || f.Rule == "" || f.Message == "" || f.File == "" || f.Severity == "" {
				t.Fatalf("%q: %+v", s, f)
			}
			if _, known := knownRule(f.Rule); !known {
				t.Fatalf("%q: no rule %s", s, f.Rule)
			}
		}
	})
}

// A repair leaves nothing to repair, keeps the text below the frontmatter, and never makes a valid file invalid.
func FuzzFix(f *testing.F) {
	for _, s := range []string{"\ufeff---\nname: a\ndescription: Use when: x\nallowed-tools: a (b c) d\n---\nB", "---\rname: 1\r---\r", "---\nargument-hint: [x]\nname: true # y\ndescription: see #12\n---\n",
		"---\ndescription: @x\nlicense: 0x1\n---\n", "---\n- a: b: c\n---\n", "---\nallowed-tools: |\n  a b\n---\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fix := func(data []byte) []byte {
			c := &checker{fsys: fstest.MapFS{"SKILL.md": {Data: data}}, options: Options{fix: true}}
			c.skill("SKILL.md", "x")
			if f, ok := c.fixes["SKILL.md"]; ok {
				return f.After
			}
			return data
		}
		once := fix([]byte(s))
		if twice := fix(once); !bytes.Equal(once, twice) {
			t.Fatalf("%q becomes %q, then %q", s, once, twice)
		}
		before, err := plugin.ParseDocument([]byte(s))
		if err != nil {
			return
		}
		after, err := plugin.ParseDocument(once)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", s, once, err)
		}
		if plain := strings.NewReplacer("\r\n", "\n", "\r", "\n"); plain.Replace(before.Body) != plain.Replace(after.Body) {
			t.Fatalf("%q becomes %q: another text", s, once)
		}
	})
}

// Whatever is quoted compiles; the check ends.
func FuzzMatcher(f *testing.F) {
	for _, s := range []string{"a|b", "(?<n>x)\\k<n>", "[a-\\d]", "x{2,1}", "(?i-s:x)", "\\u{41}", "((((", "[^]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_ = checkMatcher(s)
		if err := checkMatcher(regexp.QuoteMeta(s)); err != nil {
			t.Fatalf("%q: %v", regexp.QuoteMeta(s), err)
		}
	})
}

// What stands behind the host does not make an address invalid.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"https://a", "a:b", "https://[::1", "http://1.2.3.400", "file://c:/x", "ssh://h:x", "\thttps:a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = webURL(s)
		if _, ok := webURL("https://example.com/" + s); !ok {
			t.Fatalf("https://example.com/%q", s)
		}
	})
}
