//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// terminal is the client as a person has it in front of them: in a terminal, with what they type.
type terminal struct {
	w      *world
	socket string
}

// terminal starts the client in tmux. On a machine without it the other tests drive the same through the client's RPC.
func (w *world) terminal(dir string, model *endpoint) *terminal {
	w.t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		w.t.Skip("NOT TESTED: what a person types in the client's terminal, because tmux is not installed (apt-get install tmux)")
	}
	slots <- struct{}{}
	c := &terminal{w, filepath.Join(w.Root, "tmux")}
	w.t.Cleanup(func() {
		_ = exec.Command(tmux, "-S", c.socket, "kill-server").Run() // gone already where the client ended
		<-slots
	})
	cmd := exec.Command(tmux, "-S", c.socket, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", clientBin, "--no-auto-update", "--no-auto-login")
	cmd.Dir, cmd.Env = dir, append(w.env("COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL="+model.URL,
		"COPILOT_PROVIDER_API_KEY=loopback-key-that-occurs-nowhere-else", "COPILOT_MODEL=gpt-4.1", trust), "TERM=xterm")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("tmux: %v\n%s", err, out)
	}
	return c
}

func (c *terminal) tmux(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-S", c.socket}, args...)...).CombinedOutput()
	return string(out), err
}

// see waits until the screen shows a text.
func (c *terminal) see(text string) {
	c.w.t.Helper()
	screen := ""
	if !poll(time.Minute, func() bool { screen, _ = c.tmux("capture-pane", "-p"); return strings.Contains(screen, text) }) {
		c.w.t.Fatalf("the client's screen never showed %q:\n%s", text, screen)
	}
}

// enter types a line; the client's editor has to show it before the key that sends it.
func (c *terminal) enter(line string) {
	c.w.t.Helper()
	if out, err := c.tmux("send-keys", "-l", line); err != nil {
		c.w.t.Fatalf("tmux: %v\n%s", err, out)
	}
	c.see(line)
	time.Sleep(300 * time.Millisecond) // keys that come together are a paste to the client, in which Enter is a line end
	if out, err := c.tmux("send-keys", "Enter"); err != nil {
		c.w.t.Fatalf("tmux: %v\n%s", err, out)
	}
}

func TestClearTypedInTheTerminal(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("alder")
	w.install("user", repo)
	c := w.terminal(repo, threeTurns(t))
	c.see("❯")
	c.see("gpt-4.1")
	c.enter("tie knot one")
	c.see("first answer")
	c.enter("/clear")
	if !poll(time.Minute, func() bool { screen, _ := c.tmux("capture-pane", "-p"); return !strings.Contains(screen, "knot one") }) {
		t.Fatal("the client's screen was not cleared")
	}
	c.enter("tie knot two")
	c.see("second answer")
	c.enter("/exit")
	if !poll(time.Minute, func() bool { _, err := c.tmux("list-sessions"); return err != nil }) {
		t.Fatal("the client did not end")
	}
	var list struct {
		Sessions []struct{ ID, FirstPrompt, EndedAt string }
	}
	w.memJSON(&list, repo, "sessions", "--json")
	prompts := map[string]string{}
	for _, s := range list.Sessions {
		w.settled(s.ID)
		prompts[s.FirstPrompt] = s.ID
	}
	if len(list.Sessions) != 2 || prompts["tie knot one"] == "" || prompts["tie knot two"] == "" {
		t.Fatalf("sessions: %+v; want one before the clear and one after it", list.Sessions)
	}
	w.checkImportChangesNothing(repo, prompts["tie knot one"], prompts["tie knot two"])
	for _, tt := range []struct{ id, prompt, answer, other string }{
		{prompts["tie knot one"], "knot one", "first answer", "knot two"}, {prompts["tie knot two"], "knot two", "second answer", "knot one"},
	} {
		entries := w.story(repo, tt.id)
		if !hasText(entries, "prompt", tt.prompt, false) || !hasText(entries, "response", tt.answer, false) || hasText(entries, "prompt", tt.other, false) {
			t.Errorf("session %s: %+v", tt.id, entries)
		}
	}
}
