package capture

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/hook"
)

// world is one user's machine: a data folder and a clock.
type world struct {
	t   *testing.T
	dir datadir.Dir
	now time.Time
	env map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t, dir: datadir.Dir(filepath.Join(t.TempDir(), "data")), now: time.Now(), env: map[string]string{}}
}

func (w *world) options(event, payload string) Options {
	return Options{
		Event: event, Stdin: strings.NewReader(payload), Dir: w.dir,
		Getenv: func(k string) string { return w.env[k] }, Now: func() time.Time { return w.now },
	}
}

func (w *world) send(event, payload string) {
	w.t.Helper()
	Run(w.options(event, payload))
}

// stored is a spool line as docs and readers see it.
type stored struct {
	V         int             `json:"v"`
	ID        string          `json:"id"`
	Event     string          `json:"event"`
	At        int64           `json:"at"`
	Session   string          `json:"session"`
	Redacted  int             `json:"redacted"`
	Truncated bool            `json:"truncated"`
	Payload   json.RawMessage `json:"payload"`
}

func (w *world) lines() []stored {
	w.t.Helper()
	return readLines[stored](w.t, filepath.Join(w.dir.Spool(), "events.jsonl"))
}

type failure struct {
	Time          int64
	Event, Reason string
}

func (w *world) failures() []failure {
	w.t.Helper()
	return readLines[failure](w.t, w.dir.Failures())
}

func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	for raw := range bytes.Lines(b) {
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatalf("%s: %v in %.300s", path, err, raw)
		}
		all = append(all, v)
	}
	return all
}

// event decodes a stored line as ingest does.
func (w *world) event(l stored) hook.Event {
	w.t.Helper()
	e, err := hook.Decode(l.Event, l.Payload)
	if err != nil {
		w.t.Fatalf("decode %s: %v", l.Event, err)
	}
	return e
}

// session is the session that a stored line belongs to.
func (w *world) session(l stored) string {
	w.t.Helper()
	if id := w.event(l).SessionID; id != "" {
		if l.Session != "" {
			w.t.Errorf("line of session %s names a second one, %s", id, l.Session)
		}
		return id
	}
	return l.Session
}

// only returns the single stored line.
func (w *world) only() stored {
	w.t.Helper()
	lines := w.lines()
	if len(lines) != 1 {
		w.t.Fatalf("%d lines stored, want 1; failures %+v", len(lines), w.failures())
	}
	return lines[0]
}

// checkPrivate looks at every file of the data folder.
func (w *world) checkPrivate() {
	w.t.Helper()
	if os.PathSeparator == '\\' {
		return // no permission bits
	}
	err := filepath.Walk(string(w.dir), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			w.t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func quote(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
