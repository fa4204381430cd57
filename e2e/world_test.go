//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// world is one person's machine: a home, the client's folder, our data folder and our programs.
type world struct {
	t           *testing.T
	Root        string
	Home        string
	CopilotHome string
	MemHome     string
	Bin         string // copies of the two programs, so that a test can remove them
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := os.MkdirTemp(tempDir, "world-")
	if err != nil {
		t.Fatal(err)
	}
	// t.TempDir would fail a test whose detached transcript reader is still writing when it ends.
	t.Cleanup(func() { poll(10*time.Second, func() bool { return os.RemoveAll(root) == nil }) })
	w := &world{
		t: t, Root: root,
		Home:        filepath.Join(root, "home"),
		CopilotHome: filepath.Join(root, "home", "copilot"),
		MemHome:     filepath.Join(root, "home", "mem"),
		Bin:         filepath.Join(root, "bin"),
	}
	for _, d := range []string{w.Home, w.CopilotHome, w.Bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// newMemWorld also has our two programs.
func newMemWorld(t *testing.T) *world {
	t.Helper()
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	w := newWorld(t)
	if err := os.CopyFS(w.Bin, os.DirFS(binDir)); err != nil {
		t.Fatal(err)
	}
	return w
}

// repo makes a git repository with a remote, a file and one commit.
func (w *world) repo(name string) string {
	w.t.Helper()
	dir := filepath.Join(w.Root, "src", name)
	w.write(filepath.Join(dir, "README.md"), "# "+name+"\n\nThe readme of "+name+".\n")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"remote", "add", "origin", "https://github.com/acme/" + name + ".git"},
		{"add", "."},
		{"-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "-q", "-m", "first"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, w.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return dir
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// env holds nothing of the machine that runs the tests but PATH: no tokens, no settings, no proxies.
func (w *world) env(more ...string) []string {
	return append([]string{
		"PATH=" + w.Bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + w.Home,
		"USERPROFILE=" + w.Home,
		"XDG_CACHE_HOME=" + cacheDir,
		"COPILOT_HOME=" + w.CopilotHome,
		"COPILOT_MEM_HOME=" + w.MemHome,
		"GIT_CONFIG_NOSYSTEM=1",
		"LANG=C.UTF-8",
		"TERM=dumb",
		"NO_COLOR=1",
	}, more...)
}

// run starts a program and waits; a program that does not end is the test's failure.
func (w *world) run(dir string, env []string, bin string, args ...string) (stdout, stderr string, code int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, 5*time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		w.t.Fatalf("%s %s: no end after two minutes\n%s%s", filepath.Base(bin), strings.Join(args, " "), &out, &errs)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%s: %v", bin, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// session is one run of the client.
type session struct {
	ID     string
	Dir    string
	Prompt string
	Model  *endpoint
	Env    []string // beyond offline, provider and model
	Args   []string // beyond prompt and permissions
}

// maxSessions keeps two cores from making every client slow.
var slots = make(chan struct{}, maxSessions)

const maxSessions = 2

// slotsMu lets a test take several slots without another one taking the last between them.
var slotsMu sync.Mutex

// runSessions runs the sessions at the same time, at most [maxSessions], and gives what each printed.
func (w *world) runSessions(ss ...session) []string {
	w.t.Helper()
	if len(ss) > maxSessions {
		w.t.Fatalf("%d sessions at once, at most %d are meant", len(ss), maxSessions)
	}
	slotsMu.Lock()
	for range ss {
		slots <- struct{}{}
	}
	slotsMu.Unlock()
	defer func() {
		for range ss {
			<-slots
		}
	}()
	printed := make([]string, len(ss))
	problems := make([]error, len(ss))
	var wg sync.WaitGroup
	for i, s := range ss {
		wg.Go(func() { printed[i], problems[i] = w.runSession(s) })
	}
	wg.Wait()
	if err := errors.Join(problems...); err != nil {
		w.t.Fatal(err)
	}
	return printed
}

func (w *world) runSession(s session) (string, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	args := append([]string{"-p", s.Prompt, "--session-id", s.ID, "--allow-all-tools", "--allow-all-paths", "--no-auto-update", "--log-level", "debug"}, s.Args...)
	cmd := exec.CommandContext(ctx, clientBin, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.Dir, w.env(append([]string{
		"COPILOT_OFFLINE=true",
		"COPILOT_PROVIDER_BASE_URL=" + s.Model.URL,
		// The client hides its key wherever it prints or records text, so the key must not occur in any.
		"COPILOT_PROVIDER_API_KEY=loopback-key-that-occurs-nowhere-else",
		"COPILOT_MODEL=gpt-4.1",
	}, s.Env...)...), 5*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("session %s: %w\n%s\n%s", s.ID, err, out, w.clientLog())
	}
	return string(out), nil
}

// clientLog gives the client's own complaints, which it prints nowhere else.
func (w *world) clientLog() string {
	files, err := filepath.Glob(filepath.Join(w.CopilotHome, "logs", "*.log"))
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err.Error()
		}
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, "[ERROR]") || strings.Contains(line, "[WARNING]") {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

// newID gives a random UUID, as the client wants one for --session-id.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
