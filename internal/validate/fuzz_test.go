package validate

import (
	"strings"
	"testing"
	"testing/fstest"
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
		c := &checker{fsys: fsys, name: "plug"}
		more := c.dir("/plug", Options{})
		findings, _ := finish(append(more, c))
		lines := strings.Count(s, "\n") + 1
		for _, f := range findings {
			if f.Line < 1 || f.Line > lines+1 || f.Column < 1 || f.Rule == "" || f.Message == "" || f.File == "" || f.Severity == "" {
				t.Fatalf("%q: %+v", s, f)
			}
		}
	})
}
