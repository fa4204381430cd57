//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

// terminal is a program on a terminal of a size, as somebody sees it.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	term vt10x.Terminal
	done chan struct{}

	mu  sync.Mutex
	raw strings.Builder
}

func onScreen(t *testing.T, dir string, cols, rows int, env []string, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		asProgram + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "COPILOT_HOME=" + filepath.Join(dir, "client"), "COPILOT_MEM_HOME=" + filepath.Join(dir, "data"),
		"TERM=xterm-256color", "LANG=C.UTF-8",
	}, env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		t.Fatal(err)
	}
	s := &terminal{t: t, cmd: cmd, tty: tty, term: vt10x.New(vt10x.WithSize(cols, rows), vt10x.WithWriter(tty)), done: make(chan struct{})}
	go s.read()
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // it has ended by then, or the test failed
		tty.Close()
	})
	return s
}

func (s *terminal) read() {
	defer close(s.done)
	buf := make([]byte, 4096)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		s.raw.Write(buf[:n])
		s.mu.Unlock()
		s.term.Write(buf[:n]) //nolint:errcheck // it takes everything
		if err != nil {
			return
		}
	}
}

// see waits until a text is on the screen; a line may be broken anywhere between words.
func (s *terminal) see(text string) {
	s.t.Helper()
	words := strings.Fields(text)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if strings.Contains(strings.Join(strings.FieldsFunc(s.term.String(), drawn), " "), strings.Join(words, " ")) {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%q is not on the screen:\n%s", text, s.term.String())
		}
	}
}

func drawn(r rune) bool { return strings.ContainsRune(" \n\t┃│", r) }

func (s *terminal) press(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *terminal) wait() (code int) {
	s.t.Helper()
	timer := time.AfterFunc(60*time.Second, func() { s.cmd.Process.Kill() }) //nolint:errcheck // then the exit code tells
	defer timer.Stop()
	s.cmd.Wait() //nolint:errcheck // the exit code says it
	select {
	case <-s.done:
	case <-time.After(5 * time.Second):
	}
	return s.cmd.ProcessState.ExitCode()
}

func (s *terminal) everything() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

const enter, down, back = "\r", "\x1b[B", "\x1b[Z"

// A whole installation by the keyboard alone, on a wide and on a narrow terminal, with and without colours.
func TestInitOnATerminal(t *testing.T) {
	tests := []struct {
		name       string
		cols, rows int
		env        []string
	}{
		{"wide", 120, 50, nil}, {"narrow", 40, 30, nil}, {"no colour", 80, 50, []string{"NO_COLOR=1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			settings := filepath.Join(dir, "client", "settings.json")
			if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(settings, []byte("{\n  \"theme\": \"dark\"\n}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			s := onScreen(t, dir, tt.cols, tt.rows, tt.env, "init")
			s.see("Where should copilot-mem be installed?")
			s.press(down + enter) // the plugin: there is no repository here
			s.see("What should be remembered?")
			s.press(back) // and back again
			s.see("Where should copilot-mem be installed?")
			s.press(enter)
			s.see("What should be remembered?")
			s.press(enter)
			s.see("Tell the agent by itself")
			s.press(enter)
			s.see("Which guardrails should hold")
			s.press(enter)
			s.see("Hand each stored event to another program too?")
			s.press(enter)
			s.see("Go ahead?")
			if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
				t.Error("something was written before the answer")
			}
			s.press("y")
			if code := s.wait(); code != 0 {
				t.Fatalf("exit code %d:\n%s", code, s.everything())
			}
			all := s.everything()
			for _, want := range []string{"├─ ", "update", "settings.json", `+  "enabledPlugins": {`, "Checked: ", "copilot-mem doctor"} {
				if !strings.Contains(all, want) {
					t.Errorf("%q was not shown", want)
				}
			}
			if coloured := strings.Contains(all, "\x1b[32m") || strings.Contains(all, "\x1b[38;5;") || strings.Contains(all, "\x1b[33m"); coloured != (tt.env == nil) {
				t.Errorf("coloured: %v", coloured)
			}
			if data, err := os.ReadFile(settings); err != nil || !strings.Contains(string(data), `"copilot-mem@copilot-mem": true`) {
				t.Errorf("settings: %s, %v", data, err)
			}
		})
	}
}

// Ctrl-C at any question ends it, and nothing is written.
func TestCtrlCOnATerminal(t *testing.T) {
	t.Parallel()
	for n, question := range []string{"Where should", "What should be remembered?", "Tell the agent", "Which guardrails", "Hand each stored event", "Go ahead?"} {
		dir := t.TempDir()
		s := onScreen(t, dir, 100, 40, []string{"NO_COLOR=1"}, "init")
		for i, q := range []string{"Where should", "What should be remembered?", "Tell the agent", "Which guardrails", "Hand each stored event", "Go ahead?"} {
			s.see(q)
			if i == n {
				break
			}
			s.press(enter)
		}
		s.press("\x03")
		if code := s.wait(); code != exitInterrupted {
			t.Errorf("%s: exit code %d:\n%s", question, code, s.everything())
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: %v, %v", question, entries, err)
		}
	}
}

// For a reader of the screen: lines in order, no cursor that moves, answers as numbers and words.
func TestAccessibleOnATerminal(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{"--accessible": nil, "ACCESSIBLE": {"ACCESSIBLE=1"}, "dumb": {"TERM=dumb"}} {
		dir := t.TempDir()
		args := []string{"init"}
		if env == nil {
			args = append(args, name)
		}
		s := onScreen(t, dir, 80, 60, append([]string{"NO_COLOR=1"}, env...), args...)
		for _, step := range [][2]string{
			{"1. user (recommended)", "1\n"}, {"What should be remembered?", "0\n"}, {"Tell the agent", "\n"}, {"Which guardrails", "2\n"}, {"Hand each stored event", "\n"}, {"Go ahead?", "y\n"},
		} {
			s.see(step[0])
			s.press(step[1])
		}
		if code := s.wait(); code != 0 {
			t.Fatalf("%s: exit code %d:\n%s", name, code, s.everything())
		}
		all := s.everything()
		if strings.Contains(all, "\x1b[?25l") || strings.Contains(all, "\x1b[A") || strings.Contains(all, "├") {
			t.Errorf("%s: the cursor moves, or a tree is drawn:\n%q", name, all)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "client", "copilot-mem", "policy.yml")); err != nil || !strings.Contains(string(data), "warn") {
			t.Errorf("%s: the answer was not taken: %s, %v", name, data, err)
		}
	}
}
