//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// event is one line of the client's transcript.
type event struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	AgentID string `json:"agentId"`
	Data    struct {
		Content        string            `json:"content"`
		Source         string            `json:"source"`
		SummaryContent string            `json:"summaryContent"`
		ToolRequests   []json.RawMessage `json:"toolRequests"`
	} `json:"data"`
}

func (w *world) transcript(id string) string {
	return filepath.Join(w.CopilotHome, "session-state", id, "events.jsonl")
}

// events reads a session's transcript as it is now.
func (w *world) events(id string) []event {
	w.t.Helper()
	data, err := os.ReadFile(w.transcript(id))
	if err != nil {
		w.t.Fatal(err)
	}
	var all []event
	for line := range strings.Lines(string(data)) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.t.Fatalf("%s: %v: %s", w.transcript(id), err, line)
		}
		all = append(all, e)
	}
	return all
}

// settled waits until the client has written what it has to say about a session.
func (w *world) settled(id string) []event {
	w.t.Helper()
	size := int64(-1)
	poll(20*time.Second, func() bool {
		info, err := os.Stat(w.transcript(id))
		same := err == nil && info.Size() == size && time.Since(info.ModTime()) > time.Second
		if err == nil {
			size = info.Size()
		}
		return same
	})
	return w.events(id)
}

// told is an entry of `copilot-mem show --json`, as far as a transcript tells of it.
type told struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Turn      int    `json:"turn"`
	Tool      string `json:"tool"`
	Text      string `json:"text"`
	AgentID   string `json:"agentId"`
	ExitCode  *int   `json:"exitCode"`
	Withdrawn bool   `json:"withdrawn"`
}

func (w *world) story(dir, id string) []told {
	w.t.Helper()
	var doc struct{ Entries []told }
	w.memJSON(&doc, dir, "show", id)
	return doc.Entries
}

// story counts what happened, by kind. Hooks tell of more (starts, ends, notifications): only what both tell is counted.
func storyOf(events []event) map[string]int {
	n := map[string]int{}
	add := func(kind string, by int) {
		if by > 0 {
			n[kind] += by
		}
	}
	for _, e := range events {
		where := ""
		if e.AgentID != "" {
			where = " in agent"
		}
		switch e.Type {
		case "user.message":
			if e.AgentID == "" && e.Data.Source == "" {
				add("prompt", 1)
			}
		case "assistant.message":
			if strings.TrimSpace(e.Data.Content) != "" {
				add("response"+where, 1)
			}
			add("toolCall"+where, len(e.Data.ToolRequests))
		case "tool.execution_complete":
			add("result"+where, 1)
		case "session.compaction_complete":
			if e.Data.SummaryContent != "" {
				add("summary", 1)
			}
		case "subagent.started", "subagent.completed":
			add("subagent", 1)
		}
	}
	return n
}

func storyIn(entries []told) map[string]int {
	n := map[string]int{}
	for _, e := range entries {
		if e.Withdrawn {
			continue
		}
		where := ""
		if e.AgentID != "" {
			where = " in agent"
		}
		switch e.Kind {
		case "prompt":
			n["prompt"]++
		case "response", "toolCall":
			n[e.Kind+where]++
		case "toolResult":
			n["result"+where]++
		case "error":
			if e.Tool != "" {
				n["result"+where]++
			}
		case "subagent":
			if e.Text != tourErrand("plover") { // its prompt, which is not the user's
				n["subagent"]++
			}
		}
	}
	return n
}

// checkStory asserts that the store says what the transcript says, each thing once.
func (w *world) checkStory(dir, id, when string) []told {
	w.t.Helper()
	want := storyOf(w.settled(id))
	delete(want, "summary")
	var entries []told
	ok := poll(20*time.Second, func() bool {
		entries = w.story(dir, id)
		return cmp.Equal(want, storyIn(entries))
	})
	if !ok {
		w.t.Errorf("%s: session %s (-transcript +store):\n%s", when, id, cmp.Diff(want, storyIn(entries)))
	}
	return entries
}

// importAll runs the import and gives what it says.
func (w *world) importAll(dir string) (sessions struct{ Found, Imported, Updated, Unchanged, Damaged int }, entries int) {
	w.t.Helper()
	var doc struct {
		Sessions struct{ Found, Imported, Updated, Unchanged, Damaged int }
		Entries  int
		Problems []json.RawMessage
	}
	w.memJSON(&doc, dir, "import")
	if len(doc.Problems) > 0 {
		w.t.Errorf("import: problems: %s", doc.Problems)
	}
	return doc.Sessions, doc.Entries
}

// checkImportChangesNothing asserts that an import beside the capture doubles nothing.
func (w *world) checkImportChangesNothing(dir string, ids ...string) {
	w.t.Helper()
	before := map[string][]told{}
	for _, id := range ids {
		before[id] = w.checkStory(dir, id, "before the import")
	}
	w.importAll(dir)
	for _, id := range ids {
		after := w.checkStory(dir, id, "after the import")
		if len(after) < len(before[id]) {
			w.t.Errorf("session %s: %d entries before the import, %d after it", id, len(before[id]), len(after))
		}
	}
	if s, n := w.importAll(dir); n != 0 || s.Imported+s.Updated != 0 {
		w.t.Errorf("a second import: %+v, %d entries; want nothing new", s, n)
	}
}

func hasText(entries []told, kind, part string, withdrawn bool) bool {
	return slices.ContainsFunc(entries, func(e told) bool {
		return e.Kind == kind && strings.Contains(e.Text, part) && e.Withdrawn == withdrawn
	})
}

// threeTurns answers three prompts; the later ones come first because all of them are in the conversation by then.
func threeTurns(t *testing.T) *endpoint {
	return newEndpoint(t,
		script{Match: "knot three", Steps: []step{{Text: "third answer"}}},
		script{Match: "knot two", Steps: []step{use("bash", map[string]any{"command": "echo two; exit 3", "description": "d"}), {Text: "second answer"}}},
		script{Match: "knot one", Steps: []step{use("bash", map[string]any{"command": "echo one", "description": "d"}), {Text: "first answer"}}},
	)
}

func TestRewindIsMarked(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("alder")
	w.install("user", repo)
	c := w.talk(repo, threeTurns(t))
	c.create()
	c.say("tie knot one")
	c.say("tie knot two")
	w.settled(c.ID)
	entries := w.checkStory(repo, c.ID, "before the rewind")
	if i := slices.IndexFunc(entries, func(e told) bool { return e.Kind == "toolResult" && strings.HasPrefix(e.Text, "two") }); i < 0 || entries[i].ExitCode == nil || *entries[i].ExitCode != 3 {
		t.Errorf("no result with exit code 3 in %+v", entries)
	}
	var done struct{ EventsRemoved int }
	c.do("session.history.rewind", map[string]any{"eventId": c.userMessages()[1], "mode": "conversation"}, &done)
	if done.EventsRemoved == 0 {
		t.Fatal("the client removed nothing")
	}
	entries = w.checkStory(repo, c.ID, "after the rewind")
	for _, tt := range []struct {
		kind, part string
		withdrawn  bool
	}{
		{"prompt", "knot one", false}, {"response", "first answer", false},
		{"prompt", "knot two", true}, {"response", "second answer", true}, {"toolResult", "two", true},
	} {
		if !hasText(entries, tt.kind, tt.part, tt.withdrawn) {
			t.Errorf("no %s %q with withdrawn %t in %+v", tt.kind, tt.part, tt.withdrawn, entries)
		}
	}
	c.say("tie knot three")
	c.stop()
	w.checkImportChangesNothing(repo, c.ID)
	if entries = w.story(repo, c.ID); !hasText(entries, "prompt", "knot two", true) || !hasText(entries, "prompt", "knot three", false) {
		t.Errorf("after the next turn: %+v", entries)
	}
	w.keepTranscript(c.ID, "rewind")
}

func TestCompactionResumeAndClear(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("birch")
	w.install("user", repo)
	c := w.talk(repo, threeTurns(t))
	c.create()
	first := c.ID
	c.say("tie knot one")
	var done json.RawMessage
	c.do("session.history.compact", map[string]any{"trigger": "manual", "customInstructions": "in few words"}, &done)
	c.say("tie knot two")
	c.clear()
	second := c.ID
	if second == first {
		t.Fatal("the client gave the session after the clear the same id")
	}
	c.say("tie knot three")
	c.stop()
	w.settled(first)

	again := w.talk(repo, newEndpoint(t, script{Match: "knot four", Steps: []step{{Text: "fourth answer"}}}))
	again.resume(first)
	again.say("tie knot four")
	again.stop()
	w.checkImportChangesNothing(repo, first, second)

	entries := w.story(repo, first)
	for _, tt := range []struct{ kind, part string }{
		{"prompt", "knot one"}, {"prompt", "knot two"}, {"prompt", "knot four"}, {"response", "fourth answer"}, {"compaction", ""},
	} {
		if !hasText(entries, tt.kind, tt.part, false) {
			t.Errorf("session %s: no %s %q in %+v", first, tt.kind, tt.part, entries)
		}
	}
	if want := storyOf(w.events(first))["summary"]; want != 1 {
		t.Errorf("the transcript holds %d summaries, want 1: the test sees no compaction", want)
	}
	if hasText(entries, "prompt", "knot three", false) {
		t.Error("the prompt after the clear is in the session before it")
	}
	if entries := w.story(repo, second); !hasText(entries, "prompt", "knot three", false) || hasText(entries, "prompt", "knot two", false) {
		t.Errorf("the session after the clear: %+v", entries)
	}
	w.keepTranscript(first, "compaction-resume")
}

func TestTwoSessionsWithSubagentsBesideImport(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	alder, birch := w.repo("alder"), w.repo("birch")
	w.install("user", alder)
	one, two := tourSession(t, alder, "plover"), tourSession(t, birch, "plover")
	stop := make(chan struct{})
	imports := make(chan error, 1)
	go func() { // an import beside the capture, again and again
		for {
			select {
			case <-stop:
				imports <- nil
				return
			case <-time.After(300 * time.Millisecond):
			}
			if out, errs, code := w.run(alder, w.env(), w.program("copilot-mem"), "import", "--json"); code != 0 {
				imports <- fmt.Errorf("import: exit %d: %s%s", code, out, errs)
				return
			}
		}
	}()
	w.runSessions(one, two)
	close(stop)
	if err := <-imports; err != nil {
		t.Error(err)
	}
	w.checkSessions(t, one, two)
	w.checkImportChangesNothing(alder, one.ID, two.ID)
	agents := 0
	for _, e := range w.story(alder, one.ID) {
		if e.AgentID != "" {
			agents++
		}
	}
	if agents < 4 {
		t.Errorf("%d entries of the sub-agent, want its prompt, call, result and answer at least", agents)
	}
	w.keepTranscript(one.ID, "subagent")
}

// TestImportWithoutHooks is a person who comes with sessions from before.
func TestImportWithoutHooks(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("cedar")
	parallel := session{ID: newID(), Dir: repo, Prompt: "look at the godwit twice", Model: newEndpoint(t, script{Match: "godwit", Steps: []step{
		{Text: "Both at once.", Tools: []toolUse{
			{Name: "bash", Args: map[string]any{"command": "echo godwit", "description": "d"}},
			{Name: "bash", Args: map[string]any{"command": "echo godwit", "description": "d"}},
		}},
		{Text: "Seen twice."},
	}})}
	patch := "*** Begin Patch\n*** Add File: heron.txt\n+patched heron\n*** End Patch\n"
	patched := session{ID: newID(), Dir: repo, Prompt: "look after the heron", Env: []string{"COPILOT_MODEL=gpt-5.1-codex", "COPILOT_PROVIDER_WIRE_API=responses"},
		Model: newEndpoint(t, script{Match: "heron", Steps: []step{{Tools: []toolUse{{Name: "apply_patch", Input: patch}}}, {Text: "The heron is in place."}}})}
	w.runSessions(parallel, patched)
	w.settled(parallel.ID)
	w.settled(patched.ID)
	if s, n := w.importAll(repo); s.Found != 2 || s.Imported != 2 || n == 0 {
		t.Errorf("import: %+v, %d entries; want 2 sessions imported", s, n)
	}
	w.checkImportChangesNothing(repo, parallel.ID, patched.ID)
	calls := 0
	for _, e := range w.story(repo, parallel.ID) {
		if e.Kind == "toolCall" && e.Tool == "bash" {
			calls++
		}
	}
	if calls != 2 {
		t.Errorf("%d calls of bash, want both of the two equal ones", calls)
	}
	w.install("user", repo)
	w.checkSessions(t, parallel, session{ID: patched.ID, Prompt: patched.Prompt})
	w.keepTranscript(parallel.ID, "parallel")
	w.keepTranscript(patched.ID, "apply-patch")
}

var keptNoise = regexp.MustCompile(`"(stack|toolTelemetry)":"[^"]*"`)

// keepTranscript records a transcript for internal/history/testdata where COPILOT_MEM_E2E_RECORD names a folder: without the
// client's own prompts, and with made-up folders in place of this machine's.
func (w *world) keepTranscript(id, name string) {
	dir := os.Getenv("COPILOT_MEM_E2E_RECORD")
	if dir == "" {
		return
	}
	data, err := os.ReadFile(w.transcript(id))
	if err != nil {
		w.t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, `{"type":"system.message"`) {
			line = regexp.MustCompile(`"content":"(?:[^"\\]|\\.)*"`).ReplaceAllString(line, `"content":"<system prompt>"`)
		}
		if typ, _, ok := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`); ok && strings.HasPrefix(typ, "model.") {
			line = `{"type":"` + typ + `","data":{}}` + "\n"
		}
		line = keptNoise.ReplaceAllString(line, `"$1":""`)
		line = strings.ReplaceAll(line, w.Root, "/home/dev")
		out.WriteString(line)
	}
	w.write(filepath.Join(dir, name, id, "events.jsonl"), out.String())
}
