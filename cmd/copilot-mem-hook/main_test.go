package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain lets the test binary be the hook, so that the tests run the real main in real processes.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_BE_THE_HOOK") == "1" || len(os.Args) > 1 && os.Args[1] == "--read-transcript" {
		main()
	}
	os.Exit(m.Run())
}

// hookCommand is one hook process. Its PATH is empty: B12 holds for every test here.
func hookCommand(t *testing.T, home string, stdin string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = []string{"TEST_BE_THE_HOOK=1", "COPILOT_MEM_HOME=" + home, "PATH=", "SystemRoot=" + os.Getenv("SystemRoot")}
	cmd.Stdin = strings.NewReader(stdin)
	return cmd
}

// silent runs the hook and checks that the client would see nothing.
func silent(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %v", cmd.Args[1:], err)
	}
	if out.Len() > 0 {
		t.Errorf("%v printed %q", cmd.Args[1:], out.String())
	}
}

type line struct {
	ID, Event, Session string
	Payload            struct {
		SessionID string `json:"sessionId"`
		Prompt    string `json:"prompt"`
		Content   string `json:"content"`
	}
}

// stored reads the spool; torn counts the lines that do not parse.
func stored(t *testing.T, home string) (lines []line, torn int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(home, "spool", "events.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for raw := range bytes.Lines(b) {
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		var l line
		if json.Unmarshal(raw, &l) != nil {
			torn++
			continue
		}
		lines = append(lines, l)
	}
	return lines, torn
}

func TestB12NothingOnPath(t *testing.T) {
	home := filepath.Join(t.TempDir(), "data")
	silent(t, hookCommand(t, home, `{"sessionId":"s1","prompt":"hello"}`, "userPromptSubmitted"))
	lines, torn := stored(t, home)
	if len(lines) != 1 || torn != 0 || lines[0].Payload.Prompt != "hello" {
		t.Errorf("stored %+v, torn %d", lines, torn)
	}
}

func TestB15TwoHundredAtOnce(t *testing.T) {
	home := filepath.Join(t.TempDir(), "data")
	filler := strings.Repeat("some longer text ", 6000) // more than a page, more than a pipe holds
	var all sync.WaitGroup
	for i := range 200 {
		cmd := hookCommand(t, home, fmt.Sprintf(`{"sessionId":"s1","prompt":"p%d %s"}`, i, filler), "userPromptSubmitted")
		all.Go(func() { silent(t, cmd) })
	}
	all.Wait()
	lines, torn := stored(t, home)
	ids, prompts := map[string]bool{}, map[string]bool{}
	for _, l := range lines {
		ids[l.ID] = true
		number, _, _ := strings.Cut(l.Payload.Prompt, " ")
		prompts[number] = true
	}
	if len(lines) != 200 || torn != 0 || len(ids) != 200 || len(prompts) != 200 {
		t.Errorf("%d lines, %d torn, %d ids, %d prompts; want 200, 0, 200, 200", len(lines), torn, len(ids), len(prompts))
	}
}

func TestB15OneSessionForManyWithoutAnID(t *testing.T) {
	home := filepath.Join(t.TempDir(), "data")
	var all sync.WaitGroup
	for range 40 {
		cmd := hookCommand(t, home, `{"cwd":"/a","prompt":"x"}`, "userPromptSubmitted")
		all.Go(func() { silent(t, cmd) })
	}
	all.Wait()
	lines, _ := stored(t, home)
	sessions := map[string]int{}
	for _, l := range lines {
		sessions[l.Session]++
	}
	if len(lines) != 40 || len(sessions) != 1 {
		t.Errorf("%d lines in sessions %v", len(lines), sessions)
	}
}

// A process killed at any moment loses at most its own line.
func TestKilledProcessesLoseOnlyTheirOwn(t *testing.T) {
	home := filepath.Join(t.TempDir(), "data")
	filler := strings.Repeat("some longer text ", 20000)
	survivors := 0
	for i := range 60 {
		victim := hookCommand(t, home, fmt.Sprintf(`{"sessionId":"victim","prompt":"v%d %s"}`, i, filler), "userPromptSubmitted")
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 250 * time.Microsecond)
		_ = victim.Process.Kill()
		_ = victim.Wait()
		silent(t, hookCommand(t, home, fmt.Sprintf(`{"sessionId":"survivor","prompt":"s%d"}`, i), "userPromptSubmitted"))
		survivors++
	}
	lines, torn := stored(t, home)
	kept := map[string]bool{}
	for _, l := range lines {
		if l.Payload.SessionID == "survivor" {
			kept[l.Payload.Prompt] = true
		}
	}
	if len(kept) != survivors {
		t.Errorf("%d of %d survivors kept, %d torn lines", len(kept), survivors, torn)
	}
}

func TestB16SilentWhateverHappens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const payload = `{"sessionId":"s1","prompt":"x"}`
	tests := []struct {
		name, home, stdin string
		args              []string
	}{
		{"empty stdin", "", "", []string{"agentStop"}},
		{"broken JSON", "", "{", []string{"agentStop"}},
		{"deep nesting", "", strings.Repeat(`{"a":`, 100), []string{"agentStop"}},
		{"deepest nesting", "", strings.Repeat(`[`, 1<<20), []string{"preToolUse"}},
		{"invalid UTF-8", "", "{\"a\":\"\xff\"}", []string{"agentStop"}},
		{"home below a file", filepath.Join(file, "data"), payload, []string{"preToolUse"}},
		{"home is a file", file, payload, []string{"preToolUse"}},
		{"relative home", "data", payload, []string{"preToolUse"}},
		{"reader without arguments", "", "", []string{"--read-transcript"}},
		{"reader of a device", "", "", []string{"--read-transcript", os.DevNull, "s1"}},
		{"reader of a relative path", "", "", []string{"--read-transcript", "x.jsonl", "s1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := tt.home
			if home == "" {
				home = filepath.Join(t.TempDir(), "data")
			}
			silent(t, hookCommand(t, home, tt.stdin, tt.args...))
		})
	}
	for _, args := range [][]string{nil, {""}, {"--help"}, {"moonPhase", "more"}} {
		t.Run("usage "+strings.Join(args, " "), func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "data")
			var out, errs bytes.Buffer
			cmd := hookCommand(t, home, payload, args...)
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil || out.Len() > 0 || !strings.HasPrefix(errs.String(), "usage: copilot-mem-hook EVENT") {
				t.Errorf("%v, stdout %q, stderr %q; want exit code 0, nothing, the usage", err, &out, &errs)
			}
			// An event that only a later client knows is not lost.
			if lines, _ := stored(t, home); (len(lines) == 1) != (len(args) == 2) {
				t.Errorf("stored %+v", lines)
			}
		})
	}
	t.Run("missing home", func(t *testing.T) {
		cmd := hookCommand(t, "", payload, "preToolUse")
		cmd.Env = []string{"TEST_BE_THE_HOOK=1"}
		silent(t, cmd)
	})
	t.Run("working folder is gone", func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "gone")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		home := filepath.Join(t.TempDir(), "data")
		cmd := hookCommand(t, home, payload, "preToolUse")
		cmd.Dir = folder
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(folder); err != nil {
			t.Logf("the folder stays: %v", err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}
