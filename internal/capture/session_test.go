package capture

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sent is one event of a client that gives no session id.
type sent struct{ event, cwd, reason string }

// sessionsOf returns a number for the session of each event, counted from the first seen.
func sessionsOf(w *world, events []sent) []int {
	w.t.Helper()
	for _, e := range events {
		w.now = w.now.Add(time.Minute)
		w.send(e.event, `{"timestamp":1,"cwd":`+quote(w.t, e.cwd)+`,"reason":`+quote(w.t, e.reason)+`}`)
	}
	seen := map[string]int{}
	var got []int
	for _, l := range w.lines() {
		id := w.session(l)
		if !strings.HasPrefix(id, "copilot-") {
			w.t.Errorf("session id %q", id)
		}
		if seen[id] == 0 {
			seen[id] = len(seen) + 1
		}
		got = append(got, seen[id])
	}
	return got
}

func TestSynthesisedSessions(t *testing.T) {
	tests := []struct {
		name   string
		events []sent
		want   []int
	}{
		{"P7 two folders", []sent{{"sessionStart", "/a", ""}, {"sessionStart", "/b", ""}, {"preToolUse", "/a", ""}, {"preToolUse", "/b", ""}}, []int{1, 2, 1, 2}},
		{"P8 second start without an end", []sent{{"sessionStart", "/a", ""}, {"sessionStart", "/a", ""}}, []int{1, 1}},
		{"P9 user_exit closes", []sent{{"sessionStart", "/a", ""}, {"sessionEnd", "/a", "user_exit"}, {"sessionStart", "/a", ""}}, []int{1, 1, 2}},
		{"P9 only a session end closes", []sent{{"sessionStart", "/a", ""}, {"agentStop", "/a", "user_exit"}, {"sessionStart", "/a", ""}}, []int{1, 1, 1}},
		{"P10 another reason keeps", []sent{{"sessionStart", "/a", ""}, {"sessionEnd", "/a", "complete"}, {"sessionStart", "/a", ""}}, []int{1, 1, 1}},
		{"B7 three times start, prompt, end", []sent{
			{"sessionStart", "/a", ""}, {"userPromptSubmitted", "/a", ""}, {"sessionEnd", "/a", "complete"},
			{"sessionStart", "/a", ""}, {"userPromptSubmitted", "/a", ""}, {"sessionEnd", "/a", "complete"},
			{"sessionStart", "/a", ""}, {"userPromptSubmitted", "/a", ""}, {"sessionEnd", "/a", "complete"},
		}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"B8 events before any start", []sent{{"postToolUse", "/a", ""}, {"sessionStart", "/a", ""}, {"postToolUse", "/a", ""}}, []int{1, 1, 1}},
		{"no folder either", []sent{{"postToolUse", "", ""}, {"postToolUse", "", ""}}, []int{1, 1}},
		{"the same folder, written differently", []sent{{"postToolUse", "/a", ""}, {"postToolUse", "/a/", ""}}, []int{1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, sessionsOf(newWorld(t), tt.events)); diff != "" {
				t.Errorf("sessions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSecondHookEndsTheSameSession(t *testing.T) {
	w := newWorld(t)
	w.send("sessionStart", `{"cwd":"/a"}`)
	w.send("sessionEnd", `{"cwd":"/a","reason":"user_exit"}`)
	w.send("SessionEnd", `{"cwd":"/a","reason":"user_exit"}`)
	lines := w.lines()
	if len(lines) != 3 || lines[1].Session != lines[0].Session || lines[2].Session != lines[0].Session {
		t.Errorf("lines %+v", lines)
	}
	w.now = w.now.Add(time.Hour)
	w.send("sessionEnd", `{"cwd":"/a","reason":"user_exit"}`)
	if l := w.lines()[3]; l.Session == lines[0].Session {
		t.Error("an end long after reopened the closed session")
	}
}

func TestB9TwoSessionsInOneFolder(t *testing.T) {
	w := newWorld(t)
	w.send("userPromptSubmitted", `{"sessionId":"one","cwd":"/a","prompt":"x"}`)
	w.send("UserPromptSubmit", `{"session_id":"two","cwd":"/a","prompt":"x"}`)
	w.send("userPromptSubmitted", `{"cwd":"/a","prompt":"x"}`)
	lines := w.lines()
	if len(lines) != 3 || w.session(lines[0]) != "one" || w.session(lines[1]) != "two" || !strings.HasPrefix(w.session(lines[2]), "copilot-") {
		t.Errorf("lines %+v", lines)
	}
}

func TestB10StateIsNotLedAstray(t *testing.T) {
	find := func(w *world) string {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(w.dir.State(), "session-*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("state files %v, %v", files, err)
		}
		return files[0]
	}
	t.Run("planted symlink to a file", func(t *testing.T) {
		w := newWorld(t)
		w.send("sessionStart", `{"cwd":"/a"}`)
		path := find(w)
		target := filepath.Join(t.TempDir(), "target")
		if err := os.WriteFile(target, []byte("copilot-0123456789abcdef"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err)
		}
		w.send("sessionStart", `{"cwd":"/a"}`)
		w.send("sessionEnd", `{"cwd":"/a","reason":"user_exit"}`)
		lines := w.lines()
		if lines[1].Session == "copilot-0123456789abcdef" || lines[1].Session != lines[2].Session {
			t.Errorf("lines %+v", lines)
		}
		if b, err := os.ReadFile(target); err != nil || string(b) != "copilot-0123456789abcdef" {
			t.Errorf("target now %q, %v", b, err)
		}
	})
	t.Run("planted symlink for the folder", func(t *testing.T) {
		w := newWorld(t)
		if err := w.dir.Ensure(); err != nil {
			t.Fatal(err)
		}
		elsewhere := t.TempDir()
		if err := os.Symlink(elsewhere, w.dir.State()); err != nil {
			t.Skip(err)
		}
		w.send("sessionStart", `{"cwd":"/a"}`)
		w.send("agentStop", `{"cwd":"/a","transcriptPath":"/x/events.jsonl"}`)
		if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) != 0 {
			t.Errorf("written elsewhere: %v, %v", entries, err)
		}
		lines := w.lines()
		if len(lines) != 2 || lines[0].Session == "" || lines[0].Session != lines[1].Session {
			t.Errorf("lines %+v", lines)
		}
	})
	t.Run("planted symlink for the failures", func(t *testing.T) {
		w := newWorld(t)
		if err := w.dir.Ensure(); err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(t.TempDir(), "target")
		if err := os.Symlink(target, w.dir.Failures()); err != nil {
			t.Skip(err)
		}
		w.send("sessionStart", "")
		if _, err := os.Lstat(target); !os.IsNotExist(err) {
			t.Errorf("written elsewhere: %v", err)
		}
	})
	t.Run("rubbish in the state", func(t *testing.T) {
		w := newWorld(t)
		w.send("sessionStart", `{"cwd":"/a"}`)
		for _, rubbish := range []string{"", "copilot-", "copilot-../../etc", strings.Repeat("x", 2<<20)} {
			if err := os.WriteFile(find(w), []byte(rubbish), 0o666); err != nil {
				t.Fatal(err)
			}
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(find(w), old, old); err != nil {
				t.Fatal(err)
			}
			w.send("sessionStart", `{"cwd":"/a"}`)
			if id := readID(find(w)); id == "" || w.lines()[len(w.lines())-1].Session != id {
				t.Errorf("after %.20q the state holds %q", rubbish, id)
			}
		}
	})
	t.Run("wide permissions", func(t *testing.T) {
		w := newWorld(t)
		w.send("sessionStart", `{"cwd":"/a"}`)
		for _, p := range []string{find(w), w.dir.State(), string(w.dir)} {
			if err := os.Chmod(p, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		w.send("sessionStart", `{"cwd":"/a"}`)
		w.checkPrivate()
	})
	t.Run("hostile session ids", func(t *testing.T) {
		w := newWorld(t)
		for _, id := range []string{"../../x", "..", "/etc/passwd", "a\x00b", "C:\\x", strings.Repeat("y", 5000), "\n"} {
			transcript := filepath.Join(t.TempDir(), "events.jsonl")
			w.send("agentStop", `{"sessionId":`+quote(t, id)+`,"cwd":"/a","transcriptPath":`+quote(t, transcript)+`}`)
			w.send("userPromptSubmitted", `{"sessionId":`+quote(t, id)+`,"cwd":"/a","prompt":"x"}`)
			l := w.lines()[len(w.lines())-1]
			if got := w.session(l); got != id {
				t.Errorf("session %q stored as %q", id, got)
			}
		}
		above, err := os.ReadDir(filepath.Dir(string(w.dir)))
		if err != nil || len(above) != 1 {
			t.Errorf("beside the data folder: %v, %v", above, err)
		}
		inside, err := os.ReadDir(string(w.dir))
		if err != nil || len(inside) != 2 { // spool and state
			t.Errorf("in the data folder: %v, %v", inside, err)
		}
	})
}

func TestOneIDForManyAtOnce(t *testing.T) {
	w := newWorld(t)
	if err := w.dir.Ensure(); err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 64)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() { ids[i] = identify(w.dir, "/a", w.now, false, false) })
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] || id == fixedID("/a") {
			t.Fatalf("ids %q and %q", ids[0], id)
		}
	}
	entries, err := os.ReadDir(w.dir.State())
	if err != nil || len(entries) != 1 {
		t.Errorf("left in the state: %v, %v", entries, err)
	}
}
