package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// collector is a writer that keeps what it gets.
type collector struct{ entries []memory.Entry }

func (c *collector) Import(_ context.Context, _ []memory.Session, entries []memory.Entry, _ *memory.Transcript, _ bool) (memory.Change, error) {
	c.entries = append(c.entries, entries...)
	return memory.Change{Added: len(entries)}, nil
}
func (c *collector) HasSession(context.Context, string) (bool, error)          { return false, nil }
func (c *collector) SetTranscript(context.Context, memory.Transcript) error    { return nil }
func (c *collector) MarkWithdrawn(context.Context, map[string]bool) error      { return nil }
func (c *collector) Outline(context.Context, string) ([]memory.Outline, error) { return nil, nil }
func (c *collector) Transcript(context.Context, string) (memory.Transcript, error) {
	return memory.Transcript{}, nil
}

// planted is a secret as a provider makes them.
var planted = "gh" + "p_" + strings.Repeat("Zx9", 12)

// fuzzReader checks what must hold of any file: it is read twice with the same result, every entry has an id, a session and
// a kind, inputs are JSON, and a secret that stands by itself in a text never comes through.
func fuzzReader(f *testing.F, source Source, seeds string) {
	files, err := filepath.Glob(seeds)
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			if i < 40 {
				f.Add(line)
			}
		}
		f.Add(data[:min(len(data), 4<<10)])
	}
	secret, err := json.Marshal("say " + planted + " aloud")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"type":"user.message","id":"1","timestamp":"2026-09-01T12:00:00Z","data":{"content":` + string(secret) + `}}`))
	path := filepath.Join(f.TempDir(), "events.jsonl")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var first []memory.Entry
		for round := range 2 {
			c := &collector{}
			if _, err := Run(t.Context(), c, Options{Files: []File{{Path: path, Source: source, Size: int64(len(data))}}, Reasoning: true}); err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				first = c.entries
				continue
			}
			if len(first) != len(c.entries) {
				t.Fatalf("%d entries, then %d", len(first), len(c.entries))
			}
			for i, e := range c.entries {
				if e.ID != first[i].ID && len(e.ToolInput) == 0 {
					t.Errorf("entry %d has id %s, then %s", i, first[i].ID, e.ID)
				}
				if len(e.ID) != 20 || e.SessionID == "" || e.Kind == "" {
					t.Errorf("entry without id, session or kind: %+v", e)
				}
				if len(e.ToolInput) > 0 && !json.Valid(e.ToolInput) {
					t.Errorf("tool input is no JSON: %q", e.ToolInput)
				}
				if strings.Contains(" "+e.Text+" ", " "+planted+" ") {
					t.Errorf("a secret came through: %q", e.Text)
				}
			}
		}
	})
}

func FuzzCopilot(f *testing.F) {
	fuzzReader(f, Copilot, filepath.Join("testdata", "recorded", "*", "*", "events.jsonl"))
}

func FuzzClaude(f *testing.F) {
	fuzzReader(f, Claude, filepath.Join("testdata", "claude", "*", "*.jsonl"))
}

func FuzzEventLog(f *testing.F) {
	fuzzReader(f, AgentMemory, filepath.Join("testdata", "agent-memory.jsonl"))
}

func FuzzWorkspace(f *testing.F) {
	f.Add([]byte("id: x\ncwd: /a\nname: 'Two words'\nuser_named: false\ncreated_at: 2026-11-21T14:42:25.830Z\n"))
	f.Add([]byte("- : :\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var w workspace
		if err := parseWorkspace(data, &w); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("a message of more than one line: %q", err)
		}
	})
}

// FuzzLines: the lines of a file, put together, are the file again but for its ends of lines.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"))
	f.Add([]byte(strings.Repeat("x", 300<<10) + "\nend"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l := newLines(bytes.NewReader(data))
		var got []byte
		n := 0
		for {
			line, err := l.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			n++
			if l.n != n {
				t.Fatalf("line %d says that it is line %d", n, l.n)
			}
			got = append(got, line...)
		}
		strip := func(b []byte) string { return strings.NewReplacer("\n", "", "\r", "").Replace(string(b)) }
		if strip(got) != strip(data) || l.read != int64(len(data)) {
			t.Errorf("%q became %q", data, got)
		}
	})
}
