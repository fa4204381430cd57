package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/history"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

// The bounds of the ledger: what a person still knows of, and what can be read in a moment.
const (
	ledgerSessions = 10
	ledgerAge      = 14 * 24 * time.Hour
	ledgerLog      = 4 << 20          // bytes of the session log that are read, from its end
	quiet          = 20 * time.Second // after which the client and its readers are done with a transcript
)

// ledgerRow is what is known of the capture of one session. Seen are the hook events that our program was started for, by its
// own log, which costs the hook nothing more; Fired those that the client says it started.
type ledgerRow struct {
	Session    string         `json:"session"`
	Time       time.Time      `json:"-"`
	Seen       int            `json:"seen"`
	Stored     int            `json:"stored"` // entries that a hook told of
	Failed     map[string]int `json:"failed,omitempty"`
	Transcript int            `json:"transcript"` // events in the client's transcript that memory should have
	Fired      int            `json:"fired"`
	Missing    int            `json:"missing"`          // of the transcript's events, those that are not in memory
	Silent     bool           `json:"silent,omitempty"` // the client started hooks of ours, and our program saw none
}

func (r ledgerRow) mismatch() bool { return r.Missing > 0 || r.Silent || len(r.Failed) > 0 }

// why says what is wrong in one session, in words for a person.
func (r ledgerRow) why() string {
	var parts []string
	if r.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d events are not in memory", r.Missing, r.Transcript))
	}
	if r.Silent {
		parts = append(parts, fmt.Sprintf("the client started %d hooks, and none of them reached the program", r.Fired))
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Failed)) {
		parts = append(parts, fmt.Sprintf("%d × %s", r.Failed[reason], reason))
	}
	return strings.Join(parts, "; ")
}

func (r ledgerRow) String() string {
	failed := 0
	for _, n := range r.Failed {
		failed += n
	}
	return fmt.Sprintf("session %s: %d hook events seen, %d stored, %d failed; transcript: %d events, %d hooks started; missing: %d",
		r.Session, r.Seen, r.Stored, failed, r.Transcript, r.Fired, r.Missing)
}

// readLedger compares the client's transcripts of the newest sessions with what is stored, newest first.
func (h *health) readLedger(ctx context.Context) ([]ledgerRow, error) {
	db, err := h.db()
	if err != nil {
		return nil, err
	}
	failures, err := h.readFailures()
	if err != nil {
		return nil, err
	}
	return h.compare(ctx, db, h.newestTranscripts(), failures)
}

// newestTranscripts lists the client's files of sessions that began after the installation.
func (h *health) newestTranscripts() []history.File {
	since := h.Now().Add(-ledgerAge)
	if at := h.installedAt(); at.After(since) {
		since = at
	}
	paths, err := filepath.Glob(filepath.Join(h.home.SessionState(), "*", "events.jsonl"))
	if err != nil {
		return nil // the pattern is a constant
	}
	var files []history.File
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxWhole || info.ModTime().Before(since) {
			continue
		}
		files = append(files, history.File{Path: path, Source: history.Copilot, Size: info.Size(), ModTime: info.ModTime(), Live: true})
	}
	slices.SortFunc(files, func(a, b history.File) int { return b.ModTime.Compare(a.ModTime) })
	return files[:min(len(files), ledgerSessions)]
}

// installedAt is when the newest of the receipts was written: what the client did before is not held against capture. It is
// the zero time where nothing is installed.
func (h *health) installedAt() (at time.Time) {
	entries, err := os.ReadDir(h.data.Receipts())
	if err != nil {
		return at
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at
}

func (h *health) compare(ctx context.Context, db *store.DB, files []history.File, failures []failure) ([]ledgerRow, error) {
	seen := readSeen(filepath.Join(string(h.data), "logs", "session-events.jsonl"))
	var rows []ledgerRow
	for i, f := range files {
		r := ledgerRow{Session: filepath.Base(filepath.Dir(f.Path)), Time: f.ModTime, Failed: map[string]int{}}
		tally, err := history.Count(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return rows, err
		}
		r.Transcript = tally.Events()
		outline, err := db.Outline(ctx, r.Session)
		if err != nil {
			return rows, err
		}
		agents := map[string]bool{r.Session: true}
		var prompts, answers, results int
		for _, o := range outline {
			if o.Sources == 0 || o.Sources&memory.FromHook != 0 {
				r.Stored++
			}
			if o.AgentID != "" {
				agents[o.AgentID] = true
				continue
			}
			switch o.Kind {
			case memory.KindPrompt, memory.KindNotification: // what a stop hook asked for is one to us and the other to the client
				prompts++
			case memory.KindResponse:
				answers++
			case memory.KindToolResult, memory.KindError:
				results++
			}
		}
		for id := range agents {
			r.Seen += seen[id]
		}
		for _, event := range captured {
			r.Fired += tally.Hooks[event]
		}
		settled := h.Now().Sub(f.ModTime) > quiet
		// The client starts all hooks of an event one after the other and writes one record: ours are among them only where
		// they were installed then, which the newest session shows best.
		r.Silent = i == 0 && settled && r.Fired > 0 && r.Seen == 0 && h.expected()
		if settled || len(outline) == 0 && r.Transcript > 0 {
			r.Missing = max(0, tally.Prompts-prompts) + max(0, tally.Answers-answers) + max(0, tally.Results-results)
		}
		if r.Missing > 0 {
			if r.Missing, err = h.wanted(ctx, db, f, r.Missing); err != nil {
				return rows, err
			}
		}
		for _, one := range failures {
			if one.Session == r.Session {
				r.Failed[one.Event+": "+one.Reason]++
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// expected reports whether hooks of the user or of a plugin are installed, which run in every folder.
func (h *health) expected() bool {
	return slices.ContainsFunc(h.records, func(r install.Record) bool { return r.State == install.Done && r.Scope != "repo" })
}

// wanted is how many of the missing events an import would bring: what was forgotten, or is not to be kept, is not missed.
func (h *health) wanted(ctx context.Context, db *store.DB, f history.File, missing int) (int, error) {
	o := history.Options{Files: []history.File{f}, DryRun: true}
	if err := h.historyWorld(ctx, db, &o); err != nil {
		return 0, err
	}
	r, err := history.Run(ctx, db, o)
	return min(missing, r.Entries), err
}

// readSeen counts the events of each session in the session log, sub-agents under their own id.
func readSeen(path string) map[string]int {
	seen := map[string]int{}
	f, err := os.Open(path)
	if err != nil {
		return seen // no event was logged yet
	}
	defer func() { _ = f.Close() }() // only read
	if info, err := f.Stat(); err == nil && info.Size() > ledgerLog {
		if _, err := f.Seek(-ledgerLog, io.SeekEnd); err != nil {
			return seen
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, ledgerLog))
	if err != nil {
		return seen
	}
	for line := range bytes.Lines(data) {
		var e struct{ Session, Hook string }
		if json.Unmarshal(line, &e) == nil && e.Session != "" && e.Hook != "preToolUse" {
			seen[e.Session]++
		}
	}
	return seen
}

func (h *health) ledgerCheck(context.Context) doctor.Outcome {
	rows, err := h.ledger()
	if h.locked() != nil || err != nil && len(rows) == 0 {
		return skipped("the store does not open")
	}
	if err != nil {
		return broken(err)
	}
	var evidence []string
	var wrong []ledgerRow
	seen, stored, transcript := 0, 0, 0
	for _, r := range rows {
		evidence = append(evidence, r.String())
		seen, stored, transcript = seen+r.Seen, stored+r.Stored, transcript+r.Transcript
		if r.mismatch() {
			wrong = append(wrong, r)
		}
	}
	switch {
	case len(rows) == 0:
		return skipped("the client has no session since the installation")
	case len(wrong) == 0:
		return with(ok("%d sessions: %d hook events seen, %d stored; their transcripts have %d events, and none is missing", len(rows), seen, stored, transcript), evidence...)
	}
	worst := slices.MaxFunc(wrong, func(a, b ledgerRow) int { return cmp.Compare(a.Missing, b.Missing) })
	o := warn("run `copilot-mem doctor --live`: it sends events through the hooks", "session %s: %s", worst.Session, worst.why())
	if len(wrong) > 1 {
		o.Detail += fmt.Sprintf("; %d more sessions", len(wrong)-1)
	}
	if worst.Missing > 0 {
		o.Hint = "run `copilot-mem import`: it reads what the transcripts have; then `copilot-mem doctor --live` tests the hooks"
		o = repaired(o, "copilot-mem import", func(ctx context.Context) error { return h.rerun(ctx, "import") })
	}
	return with(o, evidence...)
}

// captureNotice is one sentence about sessions that did not reach memory, for the start of the next one; empty where all is
// well. session is the one that starts, which has nothing to show yet. It reads the newest transcripts and the end of the
// session log, and takes some milliseconds. It opens no store, and drains nothing: db must be up to date.
func (e *env) captureNotice(ctx context.Context, db *store.DB, session string) string {
	h, err := e.newHealth(ctx, hurried)
	if err != nil {
		return ""
	}
	failures, err := h.readFailures()
	if err != nil {
		return ""
	}
	const most = 3 // sessions that are looked at
	files := slices.DeleteFunc(h.newestTranscripts(), func(f history.File) bool { return filepath.Base(filepath.Dir(f.Path)) == session })
	rows, err := h.compare(ctx, db, files[:min(len(files), most)], failures)
	if err != nil {
		return ""
	}
	for _, r := range rows {
		if r.mismatch() {
			return fmt.Sprintf("copilot-mem: session %s is not wholly in memory: %s. Tell the user, and that `copilot-mem doctor` says what to do.", r.Session, r.why())
		}
	}
	return ""
}
