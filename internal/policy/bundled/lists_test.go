package bundled

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// world is a repository beside a home directory.
type world struct {
	repo, home string
	git        facts.Git
}

func newWorld(t testing.TB) world {
	t.Helper()
	base := t.TempDir()
	w := world{repo: filepath.Join(base, "work", "repo"), home: filepath.Join(base, "home")}
	for _, name := range []string{".env", ".env.local", "secrets/x", "build/a", "src/main.go", "b.tmp", "c.tmp", ".github/hookflows/guard.yml", ".github/copilot-mem/policy.yml",
		".github/workflows/old.yml", "server.KEY", "config/prod.pem", "scripts/build.sh"} {
		write(t, filepath.Join(w.repo, name), "a\n")
	}
	for _, name := range []string{".ssh/id_rsa", ".copilot/hooks/mem.json", ".copilot/copilot-mem/policy.yml"} {
		write(t, filepath.Join(w.home, name), "a\n")
	}
	for name, target := range map[string]string{"link": "secrets", "secretlink": ".env"} {
		if err := os.Symlink(target, filepath.Join(w.repo, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+w.home, "GIT_CONFIG_GLOBAL="+os.DevNull)
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "."}, {"config", "user.email", "a@example.com"}, {"config", "user.name", "a"}, {"config", "alias.pf", "push --force"},
		{"config", "alias.shove", "!f() { git push \"$@\" --force; }; f"}, {"config", "alias.ci", "commit"}, {"add", "src"}, {"commit", "-q", "-m", "init"}, {"checkout", "-q", "-b", "topic"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = w.repo, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	w.git = facts.NewGit(env)
	return w
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// facts of one line of a list.
func (w world) facts(t testing.TB, line string) *facts.Facts {
	t.Helper()
	line = strings.ReplaceAll(line, "⏎", "\n")
	tool, input := "bash", ""
	if rest, ok := strings.CutPrefix(line, "@"); ok {
		tool, input, _ = strings.Cut(rest, " ")
	} else {
		b, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		input = string(b)
	}
	payload, err := json.Marshal(map[string]any{"cwd": w.repo, "toolName": tool, "toolArgs": json.RawMessage(input)})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	e, err := hook.Decode("preToolUse", payload)
	if err != nil {
		t.Fatal(err)
	}
	return facts.New(facts.Input{Event: e, Home: w.home, CopilotHome: filepath.Join(w.home, ".copilot"), Git: w.git})
}

func lines(t testing.TB, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "# One") && !strings.HasPrefix(line, "# policy") &&
			!strings.HasPrefix(line, "# Directory") && !strings.HasPrefix(line, "# Commands") {
			out = append(out, line)
		}
	}
	return out
}

func on(rule string) bool { return rule != "opaque-command" }

func TestEvasions(t *testing.T) {
	w := newWorld(t)
	list := lines(t, "evasions.txt")
	if len(list) < 150 {
		t.Fatalf("only %d evasions", len(list))
	}
	for _, line := range list {
		rule, command, ok := strings.Cut(line, "\t")
		if !ok {
			t.Errorf("no rule: %s", line)
			continue
		}
		if f := w.facts(t, command); !caught(f, rule) {
			t.Errorf("%s does not stop: %s\n\tgot %v", rule, command, Check(f, on, nil))
		}
	}
}

// caught reports whether a bundled rule or one of the example policies stops a call.
func caught(f *facts.Facts, rule string) bool {
	switch rule {
	case "file":
		for _, file := range f.Files() {
			for _, c := range file.Candidates {
				if file.Action != "read" && (c == "secrets" || strings.HasPrefix(c, "secrets/")) {
					return true
				}
			}
		}
		return false
	case "push":
		for _, p := range f.Pushes() {
			for _, ref := range p.Refs {
				if ref == "refs/heads/main" {
					return true
				}
			}
		}
		return false
	case "commit":
		return len(f.Commits()) > 0
	}
	for _, hit := range Check(f, on, nil) {
		if hit.Rule == rule {
			return true
		}
	}
	return false
}

func TestEveryday(t *testing.T) {
	w := newWorld(t)
	list := lines(t, "everyday.txt")
	if len(list) < 150 {
		t.Fatalf("only %d everyday commands", len(list))
	}
	for _, line := range list {
		for _, hit := range Check(w.facts(t, line), on, nil) {
			t.Errorf("%s %ss: %s\n\t%s", hit.Rule, hit.Action, line, hit.Text)
		}
	}
}
