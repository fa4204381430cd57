package guard_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/guard"
)

// BenchmarkJudge is deciding alone, without the start of a process.
func BenchmarkJudge(b *testing.B) {
	for _, row := range []struct{ name, file, text string }{
		{"nothing", "", ""},
		{"no match", "a.yml", "name: a\non:\n  file:\n    paths: ['secrets/**']\nsteps:\n  - deny: no\n"},
		{"deny", "a.yml", "name: a\non:\n  tool:\n    name: bash\nsteps:\n  - deny: no\n"},
	} {
		b.Run(row.name, func(b *testing.B) {
			repo, data := b.TempDir(), b.TempDir()
			flows := filepath.Join(repo, ".github", "hookflows")
			if row.file != "" {
				if err := os.MkdirAll(flows, 0o755); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(flows, row.file), []byte(row.text), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			in := []byte(`{"sessionId":"s","timestamp":1795257460555,"cwd":"` + repo + `","toolName":"bash","toolArgs":{"command":"go test ./... && git log --oneline -5","description":"run the tests"}}`)
			for b.Loop() {
				out := guard.Answer(guard.Options{Event: "preToolUse", Input: in, Dir: datadir.Dir(data), Env: os.Environ()})
				if (len(out) > 0) != (row.name == "deny") {
					b.Fatalf("%s", out)
				}
			}
		})
	}
}
