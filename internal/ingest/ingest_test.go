package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
	"github.com/copilot-mem/copilot-mem/internal/spool"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

func newSpool(t *testing.T, lines ...string) spool.Spool {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "spool")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	sp := spool.Spool{Dir: dir}
	for _, l := range lines {
		if err := sp.Append([]byte(l)); err != nil {
			t.Fatal(err)
		}
	}
	return sp
}

func spoolLine(id, event, payload string) string {
	return fmt.Sprintf(`{"v":1,"id":%q,"event":%q,"at":1795257469999,"payload":%s}`, id, event, payload)
}

func TestRunIntoTheStore(t *testing.T) {
	sp := newSpool(t,
		spoolLine("1", "userPromptSubmitted", `{"sessionId":"s1","timestamp":1795257460001,"cwd":"/x","prompt":"rotate the key"}`),
		spoolLine("2", "UserPromptSubmit", `{"session_id":"s1","timestamp":"2026-11-21T10:37:40.001Z","cwd":"/x","prompt":"rotate the key"}`),
		spoolLine("3", "agentStop", `{"sessionId":"s1","timestamp":1795257460002,"cwd":"/x","transcriptPath":"/t"}`),
		spoolLine("4", "preToolUse", `["no event"]`),
		"this is no line",
	)
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), store.Options{Words: search.Document, Stem: search.Stem})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	r, err := Run(t.Context(), sp, db)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Report{Entries: 1, Duplicates: 1, Failed: 2}, r); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	kept, err := os.ReadFile(filepath.Join(sp.Dir, UnfoldedFile))
	if err != nil || !strings.Contains(string(kept), `["no event"]`) || !strings.Contains(string(kept), `"problem"`) {
		t.Errorf("kept: %s, %v", kept, err)
	}
	if files, _, err := sp.Pending(); files != 0 || err != nil {
		t.Errorf("%d files wait, %v", files, err)
	}
	s, err := db.Session(t.Context(), "s1")
	if err != nil || s.TranscriptPath != "/t" || s.Turns != 1 || s.FirstPrompt != "rotate the key" {
		t.Errorf("session %+v, %v", s, err)
	}
	a, err := search.Find(t.Context(), db, search.Question{Query: memory.Query{Text: "rotating keys"}}, search.Standard)
	if err != nil || len(a.Hits) != 1 {
		t.Errorf("hits %v, %v", a.Hits, err)
	}
	if r, err := Run(t.Context(), sp, db); err != nil || r != (Report{}) {
		t.Errorf("a second run = %+v, %v", r, err)
	}
}

// full is a store that takes nothing.
type full struct{}

func (full) Add(context.Context, []memory.Session, []memory.Entry) (int, int, error) {
	return 0, 0, errors.New("disk full")
}
func (full) AgentSession(context.Context, string) (string, error)                 { return "", nil }
func (full) KnowProject(context.Context, string, string, func(string) bool) error { return nil }

func TestNothingIsLostWhenTheStoreFails(t *testing.T) {
	sp := newSpool(t, spoolLine("1", "userPromptSubmitted", `{"sessionId":"s1","timestamp":1795257460001,"cwd":"/x","prompt":"x"}`))
	if _, err := Run(t.Context(), sp, full{}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("Run: %v", err)
	}
	if files, _, err := sp.Pending(); files != 1 || err != nil {
		t.Errorf("%d files wait, %v", files, err)
	}
}

func TestEmptySpool(t *testing.T) {
	if r, err := Run(t.Context(), spool.Spool{Dir: filepath.Join(t.TempDir(), "none")}, full{}); err != nil || r != (Report{}) {
		t.Errorf("Run = %+v, %v", r, err)
	}
}
