//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// hit is one answer of `copilot-mem search --json`.
type hit struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	SessionID string `json:"sessionId"`
	Turn      int    `json:"turn"`
	Project   string `json:"project"`
	Branch    string `json:"branch"`
	Cwd       string `json:"cwd"`
	Tool      string `json:"tool"`
	Text      string `json:"text"`
}

// entry is one entry of `copilot-mem show --json`.
type entry struct {
	ID        string          `json:"id"`
	Kind      string          `json:"kind"`
	Tool      string          `json:"tool"`
	ToolInput json.RawMessage `json:"toolInput"`
	Text      string          `json:"text"`
}

// mem runs our program in dir and ends the test when it fails.
func (w *world) mem(dir string, args ...string) string {
	w.t.Helper()
	out, errs, code := w.run(dir, w.env(), w.program("copilot-mem"), args...)
	if code != 0 {
		w.t.Fatalf("copilot-mem %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

func (w *world) memJSON(v any, dir string, args ...string) {
	w.t.Helper()
	out := w.mem(dir, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		w.t.Fatalf("copilot-mem %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (w *world) program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(w.Bin, name)
}

func (w *world) search(dir, query string, flags ...string) []hit {
	w.t.Helper()
	var doc struct{ Hits []hit }
	w.memJSON(&doc, dir, append([]string{"search", query}, flags...)...)
	return doc.Hits
}

func (w *world) show(dir, id string) []entry {
	w.t.Helper()
	var doc struct{ Entries []entry }
	w.memJSON(&doc, dir, "show", id)
	return doc.Entries
}

// findHit searches until a hit satisfies ok: the assistant's words arrive some time after the session's end.
func (w *world) findHit(dir, query string, ok func(hit) bool) hit {
	w.t.Helper()
	var hits []hit
	var found hit
	done := poll(30*time.Second, func() bool {
		hits = w.search(dir, query)
		i := slices.IndexFunc(hits, ok)
		if i >= 0 {
			found = hits[i]
		}
		return i >= 0
	})
	if !done {
		w.t.Errorf("search %s: not found; hits: %+v", query, hits)
	}
	return found
}

// toolInput gives one field of what the tool of the hit was given.
func (w *world) toolInput(dir string, h hit, field string) string {
	w.t.Helper()
	for _, e := range w.show(dir, h.ID) {
		if e.ID != h.ID {
			continue
		}
		var input map[string]any
		if err := json.Unmarshal(e.ToolInput, &input); err != nil {
			w.t.Errorf("show %s: toolInput is no object: %v: %s", h.ID, err, e.ToolInput)
			return ""
		}
		text, _ := input[field].(string)
		return text
	}
	w.t.Errorf("show %s: does not hold the entry", h.ID)
	return ""
}

// checkTour asserts that memory holds all that happened on the tour, in this session and project and nowhere else.
func (w *world) checkTour(s session, word, project string) {
	w.t.Helper()
	tests := []struct {
		what, query string
		ok          func(hit) bool
	}{
		{"prompt", word + "prompt", func(h hit) bool { return h.Kind == "prompt" && h.Text == s.Prompt && h.Turn == 1 }},
		{"output", tourOutput(word), func(h hit) bool {
			return h.Kind == "toolResult" && h.Tool == "bash" && strings.Contains(h.Text, tourOutput(word))
		}},
		{"failure", word + "missing", func(h hit) bool { return h.Kind == "error" && h.Tool == "view" }},
		{"report of the sub-agent", word + "report", func(h hit) bool { return strings.Contains(h.Text, tourReport(word)) }},
		{"output inside the sub-agent", tourErrandOutput(word), func(h hit) bool { return h.Tool == "bash" && strings.Contains(h.Text, tourErrandOutput(word)) }},
		{"final answer", word + "finalanswer", func(h hit) bool { return h.Kind == "response" && h.Text == tourAnswer(word) }},
	}
	for _, tt := range tests {
		h := w.findHit(s.Dir, tt.query, tt.ok)
		if h.SessionID != s.ID || h.Project != project || h.Branch != "main" {
			w.t.Errorf("%s: session %s, project %s, branch %s; want %s, %s, main", tt.what, h.SessionID, h.Project, h.Branch, s.ID, project)
		}
	}
	command := w.findHit(s.Dir, word+"command", func(h hit) bool { return h.Tool == "bash" && h.SessionID == s.ID })
	if got := w.toolInput(s.Dir, command, "command"); got != tourCommand(word) {
		w.t.Errorf("the command is kept as %q, want %q", got, tourCommand(word))
	}
	file := w.findHit(s.Dir, word+"filetext", func(h hit) bool { return h.Tool == "create" && h.SessionID == s.ID })
	if got := w.toolInput(s.Dir, file, "file_text"); got != tourFile(word) {
		w.t.Errorf("the created file is kept as %q, want %q", got, tourFile(word))
	}
	for _, h := range w.search(s.Dir, word+"errand", "--kind", "prompt") {
		w.t.Errorf("the sub-agent's errand is kept as a prompt of the user: %+v", h)
	}
}

// checkApart asserts that no word of the tour is found outside its session, from any folder.
func (w *world) checkApart(s session, word string) {
	w.t.Helper()
	for _, q := range []string{word + "prompt", word + "command", tourOutput(word), word + "filetext", word + "finalanswer"} {
		hits := w.search(w.Root, q, "--all")
		if len(hits) == 0 {
			w.t.Errorf("search %s --all: nothing", q)
		}
		for _, h := range hits {
			if h.SessionID != s.ID {
				w.t.Errorf("search %s --all: in session %s, want %s only", q, h.SessionID, s.ID)
			}
		}
	}
}

// sessionDoc is one session of `copilot-mem sessions --json`.
type sessionDoc struct {
	ID, Project, FirstPrompt string
	EndReason                string
	Turns                    int
}

// checkSessions asserts that exactly these sessions are known: sub-agents are no sessions, and nothing is doubled.
func (w *world) checkSessions(t *testing.T, ss ...session) {
	t.Helper()
	var doc struct{ Sessions []sessionDoc }
	w.memJSON(&doc, w.Root, "sessions", "--all")
	if len(doc.Sessions) != len(ss) {
		t.Errorf("%d sessions are kept, want %d: %+v", len(doc.Sessions), len(ss), doc.Sessions)
	}
	for _, s := range ss {
		i := slices.IndexFunc(doc.Sessions, func(d sessionDoc) bool { return d.ID == s.ID })
		if i < 0 {
			t.Errorf("session %s is missing", s.ID)
			continue
		}
		if d := doc.Sessions[i]; d.Turns != 1 || d.FirstPrompt != s.Prompt || d.EndReason != "complete" {
			t.Errorf("session %s: %+v; want one turn, its prompt, end reason complete", s.ID, d)
		}
	}
}
