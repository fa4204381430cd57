//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// throughShell starts the hook with descriptors that only a shell can arrange.
func throughShell(t *testing.T, home, script string) *exec.Cmd {
	t.Helper()
	hook := hookCommand(t, home, "")
	cmd := exec.Command("/bin/sh", "-c", script, "sh", hook.Path)
	cmd.Env = hook.Env
	return cmd
}

func TestB16Descriptors(t *testing.T) {
	for _, script := range []string{
		`exec "$1" agentStop <&-`,
		`exec "$1" agentStop >&- 2>&-`,
		`exec "$1" agentStop <&- >&- 2>&-`,
		`exec "$1" agentStop </`,
		`ulimit -f 0; exec "$1" agentStop </dev/null`,
	} {
		silent(t, throughShell(t, filepath.Join(t.TempDir(), "data"), script))
	}
	t.Run("stdin closed in the data folder is not taken for stdin", func(t *testing.T) {
		home := filepath.Join(t.TempDir(), "data")
		silent(t, throughShell(t, home, `exec "$1" agentStop <&- >&- 2>&-`))
		if lines, torn := stored(t, home); len(lines) != 0 || torn != 0 {
			t.Errorf("stored %+v, torn %d", lines, torn)
		}
	})
}

func TestB16FullDisk(t *testing.T) {
	home := filepath.Join(t.TempDir(), "data")
	silent(t, hookCommand(t, home, `{"sessionId":"s1","prompt":"before"}`, "userPromptSubmitted"))
	// A file size limit stands in for a full disk: the write ends short, with a signal that must not end the process.
	script := `ulimit -f 1; printf '{"sessionId":"s1","prompt":"%s"}' "` + strings.Repeat("long text ", 2000) + `" | "$1" userPromptSubmitted`
	silent(t, throughShell(t, home, script))
	silent(t, hookCommand(t, home, `{"sessionId":"s1","prompt":"after"}`, "userPromptSubmitted"))
	lines, _ := stored(t, home)
	if len(lines) != 2 || lines[0].Payload.Prompt != "before" || lines[1].Payload.Prompt != "after" {
		t.Errorf("stored %+v", lines)
	}
	if b, err := os.ReadFile(filepath.Join(home, "failures.jsonl")); err != nil || !strings.Contains(string(b), `"reason":"spool: `) {
		t.Errorf("failures: %s, %v", b, err)
	}
}

// A stop event leaves a reader behind that outlives the hook, holds none of its descriptors, and stores the answer.
func TestDetachedReader(t *testing.T) {
	home := filepath.Join(t.TempDir(), "data")
	folder := filepath.Join(t.TempDir(), "s1")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	transcript := filepath.Join(folder, "events.jsonl")
	start := time.Now()
	// silent reads stdout and stderr to their end: a reader that held them would be waited for.
	silent(t, hookCommand(t, home, `{"sessionId":"s1","cwd":"/a","stopReason":"end_turn","transcriptPath":"`+transcript+`"}`, "agentStop"))
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("the hook took %v", d)
	}
	const text = `{"type":"assistant.message","data":{"content":"the answer","toolRequests":[]},"id":"m1"}` + "\n" +
		`{"type":"assistant.turn_end","data":{},"id":"m2"}` + "\n"
	if err := os.WriteFile(transcript, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		lines, _ := stored(t, home)
		if len(lines) == 2 {
			if l := lines[1]; l.Event != "transcript.assistant.message" || l.Session != "s1" || l.Payload.Content != "the answer" {
				t.Errorf("stored %+v", l)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("stored %+v", lines)
		}
	}
	// The end of the session names no transcript: the remembered one is read once more, and nothing twice.
	f, err := os.OpenFile(transcript, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Replace(strings.Replace(text, "m1", "m3", 1), "the answer", "one more", 1)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	silent(t, hookCommand(t, home, `{"sessionId":"s1","cwd":"/a","reason":"complete"}`, "sessionEnd"))
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		lines, _ := stored(t, home)
		if len(lines) == 4 {
			if l := lines[3]; l.Payload.Content != "one more" {
				t.Errorf("stored %+v", l)
			}
			break
		}
		if len(lines) > 4 || time.Now().After(deadline) {
			t.Fatalf("stored %+v", lines)
		}
	}
}
