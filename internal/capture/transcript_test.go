package capture

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// said is what a transcript line became.
type said struct{ Event, Session, ID, Content, Agent string }

func (w *world) said() []said {
	w.t.Helper()
	var all []said
	for _, l := range w.lines() {
		if !strings.HasPrefix(l.Event, "transcript.") {
			continue
		}
		var p struct{ ID, Timestamp, Content, AgentID, Model string }
		if err := json.Unmarshal(l.Payload, &p); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, said{l.Event, l.Session, p.ID, p.Content, p.AgentID})
	}
	return all
}

// contents are the texts alone.
func (w *world) contents() []string {
	w.t.Helper()
	var all []string
	for _, s := range w.said() {
		all = append(all, s.Content)
	}
	return all
}

// read reads without waiting.
func (w *world) read(path string) int {
	w.t.Helper()
	n, err := ReadTranscript(w.dir, path, "s1", 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func message(id, content string) string {
	return fmt.Sprintf(`{"type":"assistant.message","data":{"content":%q,"toolRequests":[],"model":"m1"},"id":%q,"timestamp":"2026-11-21T10:37:40.323Z","parentId":null}`+"\n", content, id)
}

const turnEnd = `{"type":"assistant.turn_end","data":{"turnId":"0"},"id":"end","timestamp":"2026-11-21T10:37:40.323Z"}` + "\n"

func write(t *testing.T, path string, parts ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(parts, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func extend(t *testing.T, path string, parts ...string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Join(parts, "")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadRecordedTranscript(t *testing.T) {
	w := newWorld(t)
	path, err := filepath.Abs(filepath.Join("testdata", "events-sample.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := w.read(path); n != 2 {
		t.Errorf("added %d, want 2", n)
	}
	want := []said{
		{"transcript.assistant.message", "s1", "3858a57e-6b71-4226-98d6-b4159e952a05", "sub result text", "b96c2a27-a048-44a7-82e6-36e1568ec84a"},
		{"transcript.assistant.message", "s1", "cc94faf7-c540-43cd-9c54-80640ec40ae3", "All done.", ""},
	}
	if diff := cmp.Diff(want, w.said()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if n := w.read(path); n != 0 {
		t.Errorf("second reading added %d", n)
	}
	start := time.Now()
	w2 := newWorld(t)
	if n, err := ReadTranscript(w2.dir, path, "s1", 30*time.Second); n != 2 || err != nil {
		t.Errorf("ReadTranscript = %d, %v", n, err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("waited %v for a session that has ended", d)
	}
	w.checkPrivate()
}

// Injected memories, system prompts and hook records would come back as new memories.
func TestTranscriptTakesOnlyWhatHooksDoNotCarry(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "events.jsonl")
	key := "ghp_" + strings.Repeat("aB3dE5fG", 5)[:36]
	write(t, path,
		`{"type":"user.message","data":{"content":"typed","transformedContent":"injected"},"id":"1"}`+"\n",
		`{"type":"system.message","data":{"content":"injected"},"id":"2"}`+"\n",
		`{"type":"hook.end","data":{"content":"injected","output":{"additionalContext":"injected"}},"id":"3"}`+"\n",
		`{"type":"assistant.message","data":{"content":"  ","reasoningText":"thoughts"},"id":"4"}`+"\n",
		`{"type":"assistant.message","data":{"content":["parts"]},"id":"5"}`+"\n",
		`{"type":"session.compaction_complete","data":{"summaryContent":"what happened","success":true},"id":"6","timestamp":"2026-11-21T10:37:40.323Z"}`+"\n",
		"not JSON\n", "\n", `{"type":7,"data":[]}`+"\n", `{"type":"assistant.message"}`+"\n",
		`{"type":"assistant.message","data":{"content":"\u001b[31mthe key is `+key+`"},"id":"7"}`+"\n",
		message("8", "last"),
	)
	if n := w.read(path); n != 3 {
		t.Errorf("added %d, want 3", n)
	}
	got := w.said()
	if len(got) != 3 || got[0].Event != "transcript.session.compaction_complete" || got[0].Content != "what happened" || got[2].Content != "last" {
		t.Errorf("lines %+v", got)
	}
	raw, err := os.ReadFile(filepath.Join(w.dir.Spool(), "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, not := range []string{"injected", "typed", "thoughts", key, "u001b"} {
		if strings.Contains(string(raw), not) {
			t.Errorf("%q is on disk", not)
		}
	}
	if lines := w.lines(); lines[1].Redacted != 1 {
		t.Errorf("redacted %d", lines[1].Redacted)
	}
	state, err := filepath.Glob(filepath.Join(w.dir.State(), "*"))
	if err != nil || len(state) == 0 {
		t.Fatal(state, err)
	}
	for _, file := range state {
		if b, err := os.ReadFile(file); err != nil || strings.Contains(string(b), "last") || strings.Contains(string(b), "happened") {
			t.Errorf("%s: %v, %s", file, err, b)
		}
	}
}

func TestReadTranscriptGoesOn(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if n := w.read(path); n != 0 {
		t.Errorf("missing file: added %d", n)
	}
	write(t, path, message("1", "one"), message("2", "two")[:40])
	w.read(path)
	extend(t, path, message("2", "two")[40:])
	w.read(path)
	w.read(path)
	if diff := cmp.Diff([]string{"one", "two"}, w.contents()); diff != "" {
		t.Errorf("half a line (-want +got):\n%s", diff)
	}

	// /rewind: a new file with fewer lines, then other ones.
	next := path + ".new"
	write(t, next, message("1", "one"), message("3", "three"))
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	w.read(path)
	// The same file, rewritten in place, shorter and then as long as before.
	write(t, path, message("1", "one"))
	w.read(path)
	write(t, path, message("4", "four"), message("5", "five"))
	w.read(path)
	if diff := cmp.Diff([]string{"one", "two", "three", "four", "five"}, w.contents()); diff != "" {
		t.Errorf("rewritten (-want +got):\n%s", diff)
	}

	// A damaged position costs a second reading and nothing else.
	files, err := filepath.Glob(filepath.Join(w.dir.State(), "*.pos"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	write(t, files[0], "zz zz")
	if n := w.read(path); n != 2 {
		t.Errorf("after damage added %d, want 2", n)
	}
	if n := w.read(path); n != 0 {
		t.Errorf("and then %d", n)
	}
}

func TestReadTranscriptWaitsForTheEnd(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "events.jsonl")
	var writer sync.WaitGroup
	writer.Go(func() {
		time.Sleep(150 * time.Millisecond)
		write(t, path, `{"type":"user.message","data":{"content":"x"},"id":"u"}`+"\n", message("1", "almost")[:30])
		time.Sleep(150 * time.Millisecond)
		extend(t, path, message("1", "almost")[30:], turnEnd)
	})
	start := time.Now()
	n, err := ReadTranscript(w.dir, path, "s1", 20*time.Second)
	writer.Wait()
	if n != 1 || err != nil {
		t.Errorf("ReadTranscript = %d, %v", n, err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("returned after %v", d)
	}

	// The end of the turn before is not the end of this one.
	writer.Go(func() {
		time.Sleep(200 * time.Millisecond)
		extend(t, path, message("2", "second turn"), turnEnd)
	})
	if n, err := ReadTranscript(w.dir, path, "s1", 20*time.Second); n != 1 || err != nil {
		t.Errorf("second turn: %d, %v", n, err)
	}
	writer.Wait()

	start = time.Now()
	extend(t, path, `{"type":"assistant.message","data":{"content":"calling","toolRequests":[{"name":"bash"}]},"id":"3"}`+"\n", turnEnd)
	if n, err := ReadTranscript(w.dir, path, "s1", 300*time.Millisecond); n != 1 || err != nil {
		t.Errorf("with tool requests: %d, %v", n, err)
	}
	if d := time.Since(start); d < 300*time.Millisecond {
		t.Errorf("gave up after %v in the middle of a turn", d)
	}
}

func TestTwoReadersAtOnce(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "events.jsonl")
	var parts []string
	want := map[string]bool{}
	for i := range 200 {
		parts = append(parts, message(fmt.Sprint(i), fmt.Sprintf("m%d", i)))
		want[fmt.Sprintf("m%d", i)] = true
	}
	write(t, path, append(parts, turnEnd)...)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := ReadTranscript(w.dir, path, "s1", 0); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := map[string]bool{}
	for _, c := range w.contents() { // doubles have the same event id, which is all the store looks at
		got[c] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if n := w.read(path); n != 0 {
		t.Errorf("afterwards added %d", n)
	}
}

func TestPromptReadsWhatTheReaderMissed(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(t.TempDir(), "s1")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "events.jsonl")
	// In a short session the file does not exist yet when the agent stops.
	w.send("agentStop", `{"sessionId":"s1","cwd":"/a","transcriptPath":`+quote(t, path)+`}`)
	write(t, path, message("1", "answer"), turnEnd)
	w.send("userPromptSubmitted", `{"sessionId":"other","cwd":"/a","prompt":"x"}`)
	if got := w.contents(); got != nil {
		t.Errorf("another session's prompt read %q", got)
	}
	w.send("userPromptSubmitted", `{"sessionId":"s1","cwd":"/a","prompt":"next"}`)
	if diff := cmp.Diff([]string{"answer"}, w.contents()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}

	// A prompt waits for a bounded part only; the next reader takes the rest.
	var parts []string
	for i := range 300 {
		parts = append(parts, message(fmt.Sprint("big", i), strings.Repeat("long words ", 200)))
	}
	extend(t, path, parts...)
	w.send("userPromptSubmitted", `{"sessionId":"s1","cwd":"/a","prompt":"next"}`)
	n := len(w.contents()) - 1
	if n < 50 || n > inHook/2200+1 {
		t.Errorf("one prompt read %d messages", n)
	}
	w.read(path)
	if n := len(w.contents()) - 1; n != 300 {
		t.Errorf("in the end %d messages, want 300", n)
	}
	if f := w.failures(); f != nil {
		t.Errorf("failures %+v", f)
	}
}

func TestSubagentStopBelongsToTheRootSession(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(t.TempDir(), "root-session")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "events.jsonl")
	write(t, path, strings.Replace(message("1", "from the agent"), `"parentId"`, `"agentId":"a7","parentId"`, 1))
	w.send("agentStop", `{"sessionId":"a7","agentId":"a7","parentAgentId":"root-session","cwd":"/a","transcriptPath":`+quote(t, path)+`}`)
	w.send("userPromptSubmitted", `{"sessionId":"root-session","cwd":"/a","prompt":"next"}`)
	want := []said{{"transcript.assistant.message", "root-session", "1", "from the agent", "a7"}}
	if diff := cmp.Diff(want, w.said()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestB10TranscriptPathsAreNotTrusted(t *testing.T) {
	folder := t.TempDir()
	secret := filepath.Join(folder, "secret.txt")
	write(t, secret, message("1", "secret"))
	link := filepath.Join(folder, "events.jsonl")
	if err := os.Symlink(secret, link); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "dir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	write(t, "relative.jsonl", message("1", "secret"))
	for _, path := range []string{secret, link, filepath.Join(folder, "dir.jsonl"), "relative.jsonl", "/dev/zero", "", "/dev/stdin", "a\x00.jsonl"} {
		w := newWorld(t)
		if n, err := ReadTranscript(w.dir, path, "s1", 0); err == nil || n != 0 {
			t.Errorf("ReadTranscript(%q) = %d, %v", path, n, err)
		}
		w.send("agentStop", `{"sessionId":"s1","transcriptPath":`+quote(t, path)+`}`)
		w.send("userPromptSubmitted", `{"sessionId":"s1","prompt":"x"}`)
		if got := w.contents(); got != nil {
			t.Errorf("%q was read: %q", path, got)
		}
		if n := len(w.lines()); n != 2 {
			t.Errorf("%q: %d events stored, want 2", path, n)
		}
	}
}

func TestOldTranscriptStateIsPruned(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "events.jsonl")
	write(t, path, message("1", "one"), turnEnd)
	w.send("sessionStart", `{"cwd":"/a"}`)
	w.read(path)
	files, err := filepath.Glob(filepath.Join(w.dir.State(), "*"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	old := time.Now().Add(-keepState - time.Hour)
	for _, file := range files {
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadTranscript(w.dir, filepath.Join(t.TempDir(), "none.jsonl"), "s2", 0); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(w.dir.State(), "*"))
	if err != nil || len(left) != 1 || !strings.HasPrefix(filepath.Base(left[0]), "session-") {
		t.Errorf("left %v, %v", left, err)
	}
}
