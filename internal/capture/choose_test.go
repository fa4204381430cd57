package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestChoicesDecideWhatIsStored(t *testing.T) {
	const all = "sessionStart userPromptSubmitted preToolUse postToolUse errorOccurred sessionEnd"
	for name, tt := range map[string]struct {
		user, repo string
		want       string
		failures   int
	}{
		"nothing chosen":        {"", "", all, 0},
		"user off":              {"capture: off\n", "", "", 0},
		"no tools":              {"capture:\n  tools: false\n", "", "sessionStart userPromptSubmitted errorOccurred sessionEnd", 0},
		"no results, no errors": {"capture:\n  toolResults: false\n", "capture:\n  errors: false\n", "sessionStart userPromptSubmitted preToolUse sessionEnd", 0},
		"repository off":        {"", "capture: off\n", "", 0},
		"repository cannot add": {"capture:\n  prompts: false\n", "capture:\n  prompts: true\n", "preToolUse postToolUse errorOccurred sessionEnd", 0},
		"user file broken":      {"capture\n", "", "", 6},
		"repository broken":     {"", "capture:\n\tenabled: true\n", "", 6},
		"broken elsewhere":      {"retention:\n  maxAge: often\n", "", all, 6},
	} {
		w := newWorld(t)
		repo := t.TempDir()
		writeFile(t, filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/main\n")
		if tt.user != "" {
			writeFile(t, w.dir.Config(), tt.user)
		}
		if tt.repo != "" {
			writeFile(t, filepath.Join(repo, ".github", "copilot-mem.yaml"), tt.repo)
		}
		cwd := filepath.Join(repo, "sub")
		got := ""
		for _, event := range []string{"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "errorOccurred", "sessionEnd"} {
			w.send(event, fmt.Sprintf(`{"sessionId":"s","timestamp":1,"cwd":%q,"prompt":"p"}`, cwd))
		}
		if _, err := os.Stat(w.dir.Spool()); err == nil {
			for i, l := range w.lines() {
				if i > 0 {
					got += " "
				}
				got += l.Event
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if n := len(readLines[failure](t, w.dir.Failures())); n != tt.failures {
			t.Errorf("%s: %d failures noted, want %d", name, n, tt.failures)
		}
	}
}

func TestChoicesDecideWhatIsForwarded(t *testing.T) {
	for name, tt := range map[string]struct {
		env, user, repo string
		want            bool
	}{
		"nothing":           {"", "", "", false},
		"environment":       {"memory-ingest", "", "", true},
		"config":            {"", "forward: memory-ingest\n", "", true},
		"repository":        {"", "", "forward: memory-ingest\n", false},
		"repository forbid": {"memory-ingest", "forward: memory-ingest\n", "forward: none\n", false},
	} {
		w := newWorld(t)
		w.env["COPILOT_MEM_FORWARD"] = tt.env
		repo := t.TempDir()
		writeFile(t, filepath.Join(repo, ".git", "HEAD"), "")
		writeFile(t, w.dir.Config(), tt.user)
		writeFile(t, filepath.Join(repo, ".github", "copilot-mem.yaml"), tt.repo)
		w.send("userPromptSubmitted", fmt.Sprintf(`{"sessionId":"s","timestamp":1,"cwd":%q,"prompt":"p"}`, repo))
		if len(w.lines()) != 1 {
			t.Errorf("%s: not stored", name)
		}
		if _, err := os.Stat(filepath.Join(w.dir.Forward(), "events.jsonl")); (err == nil) != tt.want {
			t.Errorf("%s: forwarded: %v, want %v", name, err == nil, tt.want)
		}
	}
}

func BenchmarkChoices(b *testing.B) {
	repo := b.TempDir()
	cwd := filepath.Join(repo, "a", "b", "c")
	for _, dir := range []string{cwd, filepath.Join(repo, ".git")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
	}
	w := filepath.Join(b.TempDir(), "data")
	for b.Loop() {
		if _, err := Choices(datadir.Dir(w), cwd); err != nil {
			b.Fatal(err)
		}
	}
}
