package facts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/hook"
)

// event builds what the hook decodes for one tool call.
func event(t testing.TB, cwd, tool string, args any) hook.Event {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"cwd": cwd, "toolName": tool, "toolArgs": args, "timestamp": 1795253522072, "sessionId": "s1"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := hook.Decode("preToolUse", payload)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func bash(t testing.TB, cwd, command string) *Facts {
	t.Helper()
	return New(Input{Event: event(t, cwd, "bash", map[string]string{"command": command}), Home: "/home/me"})
}

// tree makes a repository directory with the files named; a name that ends in a slash is a directory.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "repo")
	for _, name := range append([]string{".git/"}, names...) {
		p := filepath.Join(root, name)
		dir := filepath.Dir(p)
		if strings.HasSuffix(name, "/") {
			dir = p
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if dir != p {
			if err := os.WriteFile(p, []byte("a\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// brief writes file events as "action path".
func brief(files []File) []string {
	out := []string{}
	for _, f := range files {
		out = append(out, f.Action+" "+f.Path)
	}
	return out
}

// gitRepo makes a real repository by a script that bash would run; each line is one git command.
func gitRepo(t testing.TB, commands ...string) (dir string, git *countingGit) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("these tests need git")
	}
	home := t.TempDir()
	dir = filepath.Join(home, "repo")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	env := slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "GIT_") })
	env = append(env, "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"))
	for _, c := range append([]string{"git init -q -b main .", "git config user.email me@example.com", "git config user.name Me"}, commands...) {
		cmd := exec.Command("bash", "-ec", c)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", c, err, out)
		}
	}
	return dir, &countingGit{Git: NewGit(env)}
}

type countingGit struct {
	Git
	runs []string
}

func (g *countingGit) Run(dir string, args ...string) ([]byte, error) {
	g.runs = append(g.runs, strings.Join(args, " "))
	return g.Git.Run(dir, args...)
}

func inRepo(t testing.TB, dir string, git Git, command string) *Facts {
	t.Helper()
	return New(Input{Event: event(t, dir, "bash", map[string]string{"command": command}), Home: "/home/me", Git: git})
}
