package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/store"
)

// transcriptOf writes a transcript with one prompt and one answer that the client finished long ago.
func transcriptOf(t *testing.T, h *health, session, cwd, word string, at time.Time) {
	t.Helper()
	quoted, err := json.Marshal(cwd)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, line := range []string{
		`{"type":"session.start","data":{"sessionId":"` + session + `","version":1,"context":{"cwd":` + string(quoted) + `}}`,
		`{"type":"hook.start","data":{"hookType":"userPromptSubmitted"}`,
		`{"type":"user.message","data":{"content":"the ` + word + ` prompt"}`,
		`{"type":"assistant.message","data":{"content":"the ` + word + ` answer","messageId":"m"}`,
	} {
		fmt.Fprintf(&b, "%s,\"id\":\"%s-%d\",\"timestamp\":%q}\n", line, session, i, at.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	path := filepath.Join(h.home.SessionState(), session, "events.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestLedger(t *testing.T) {
	ctx := context.Background()
	h := testHealth(t)
	h.Stdout, h.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	db, err := h.db()
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := h.ledger(); err != nil || len(rows) != 0 {
		t.Fatalf("without sessions: %v, %v", rows, err)
	}
	if notice := h.captureNotice(ctx, db, ""); notice != "" {
		t.Errorf("without sessions: %s", notice)
	}
	ago := time.Now().Add(-time.Hour)
	transcriptOf(t, h, "lost", h.Dir, "lost", ago)
	fresh := func() *health {
		t.Helper()
		again, err := h.newHealth(ctx, hurried)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(again.close)
		return again
	}
	rows, err := fresh().ledger()
	if err != nil || len(rows) != 1 || rows[0].Missing != 2 || rows[0].Transcript != 2 || rows[0].Fired != 1 || rows[0].Stored != 0 {
		t.Fatalf("a session that was never captured: %+v, %v", rows, err)
	}
	if notice := h.captureNotice(ctx, db, "next"); !strings.Contains(notice, "2 of 2 events are not in memory") || strings.Contains(notice, "\n") {
		t.Errorf("notice: %q", notice)
	}
	if notice := h.captureNotice(ctx, db, "lost"); notice != "" {
		t.Errorf("the session that starts is told of itself: %s", notice)
	}

	// What the import brings is not missing any more, and what was forgotten is not missed.
	if err := h.rerun(ctx, "import"); err != nil {
		t.Fatal(err)
	}
	if rows, err = fresh().ledger(); err != nil || rows[0].mismatch() || rows[0].Transcript != 2 {
		t.Errorf("after the import: %+v, %v", rows, err)
	}
	if _, err := db.Forget(ctx, store.Selection{Session: "lost"}, time.Now(), false); err != nil {
		t.Fatal(err)
	}
	if rows, err = fresh().ledger(); err != nil || rows[0].Missing != 0 {
		t.Errorf("after forget: %+v, %v", rows, err)
	}

	// A failure that names its session is told with it.
	line := fmt.Sprintf(`{"time":%d,"event":"postToolUse","reason":"spool: write: no space left on device","session":"lost"}`+"\n", time.Now().UnixMilli())
	if err := os.WriteFile(h.data.Failures(), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if rows, err = fresh().ledger(); err != nil || !rows[0].mismatch() || !strings.Contains(rows[0].why(), "1 × postToolUse: spool: write: no space") {
		t.Errorf("with a failure: %+v, %v", rows, err)
	}
}

// TestLedgerWaits: what the client is still writing is not missed yet.
func TestLedgerWaits(t *testing.T) {
	h := testHealth(t)
	transcriptOf(t, h, "now", h.Dir, "fresh", time.Now())
	db, err := h.db()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.rerun(context.Background(), "import"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.home.SessionState(), "now", "events.jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"type":"assistant.message","data":{"content":"more","messageId":"n"},"id":"late","timestamp":"2026-11-21T10:00:00.000Z"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	rows, err := h.compare(context.Background(), db, h.newestTranscripts(), nil)
	if err != nil || len(rows) != 1 || rows[0].Missing != 0 {
		t.Errorf("while the client writes: %+v, %v", rows, err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if rows, err = h.compare(context.Background(), db, h.newestTranscripts(), nil); err != nil || rows[0].Missing != 1 {
		t.Errorf("an hour later: %+v, %v", rows, err)
	}
}

func TestReadSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	text := strings.Repeat(`{"v":1,"session":"old","hook":"agentStop"}`+"\n", 10+ledgerLog/43) +
		`{"v":1,"session":"a","hook":"postToolUse"}` + "\n" + `{"v":1,"session":"a","hook":"preToolUse"}` + "\nnonsense\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := readSeen(path)
	if seen["a"] != 1 || seen["old"] == 0 || len(seen) != 2 {
		t.Errorf("seen: %v", seen)
	}
	if seen := readSeen(path + "x"); len(seen) != 0 {
		t.Errorf("without a log: %v", seen)
	}
}
