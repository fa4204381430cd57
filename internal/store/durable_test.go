package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// released lists a store of every schema that was ever released: four sessions of six entries, of which one entry and one
// session were forgotten. To add one, run the released program and copy its memory.db.
func released(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/schema*.db")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no released store to test with: %v", err)
	}
	return paths
}

func copyTo(t *testing.T, from, to string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestMigrateReleased(t *testing.T) {
	for _, path := range released(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			db := open(t, copyTo(t, path, filepath.Join(t.TempDir(), "memory.db")))
			if err := db.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			fresh := openNew(t)
			if diff := cmp.Diff(schema(t, fresh), schema(t, db)); diff != "" {
				t.Errorf("schema (-new store +migrated):\n%s", diff)
			}
			counts, err := db.Counts(t.Context())
			if err != nil || counts.Entries != 17 || counts.Sessions != 3 {
				t.Errorf("Counts = %+v, %v", counts, err)
			}
			if diff := cmp.Diff([]string{"s1e2"}, match(t, db, memory.Query{}, "target1")); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			// The tombstones of the old schema still hold, and their plain ids are gone.
			at := time.Date(2026, 11, 20, 8, 1, 0, 0, time.UTC)
			back := []memory.Entry{
				{ID: "s0e1", SessionID: "session-0", Kind: memory.KindPrompt, Time: at, Text: "back again"},
				{ID: "s3e1", SessionID: "session-3", Kind: memory.KindPrompt, Time: at, Text: "back again"},
				{ID: "new", SessionID: "session-0", Kind: memory.KindPrompt, Time: at, Text: "never seen"},
			}
			if n, _ := add(t, db, back...); n != 1 {
				t.Errorf("%d entries added, want the new one", n)
			}
			if err := db.Scrub(t.Context()); err != nil {
				t.Fatal(err)
			}
			if found := onDisk(t, db, "session-3"); len(found) > 0 {
				t.Errorf("the store still names %v", found)
			}
		})
	}
}

// schema is what a store consists of.
func schema(t *testing.T, db *DB) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := db.read(t.Context(), func(scan func(...any) error) error {
		var table, columns string
		err := scan(&table, &columns)
		out[table] = columns
		return err
	}, `SELECT t.name, (SELECT group_concat(c.name || ' ' || c.type, ', ') FROM pragma_table_info(t.name) c) FROM pragma_table_list t WHERE t.schema = 'main'
UNION SELECT name, coalesce(sql, '') FROM sqlite_schema WHERE type = 'index'`)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNewerSchemaIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	db := open(t, path)
	add(t, db, entry("a", "s1", memory.KindPrompt, 0, "kept"))
	if _, err := db.sql.ExecContext(t.Context(), "PRAGMA user_version = 999"); err != nil {
		t.Fatal(err)
	}
	if err := db.truncateWAL(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path, Options{})
	if e, ok := errors.AsType[*SchemaError](err); !ok || e.Have != 999 || e.Hint() == "" {
		t.Errorf("Open = %v", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the store was changed: %v", err)
	}
}

func TestBackupAndRestore(t *testing.T) {
	db := openNew(t)
	add(t, db, entry("a", "s1", memory.KindPrompt, 0, "first words"))
	path := filepath.Join(t.TempDir(), "sub", "copy.db")
	if err := db.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second backup to the same file: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := Check(t.Context(), path); err != nil {
		t.Errorf("Check = %v", err)
	}
	add(t, db, entry("b", "s1", memory.KindPrompt, 1, "second words"))
	reader := open(t, db.Path()) // another process
	if diff := cmp.Diff([]string{"b", "a"}, match(t, reader, memory.Query{}, "words")); diff != "" {
		t.Fatal(diff)
	}
	if err := db.Restore(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	for name, db := range map[string]*DB{"this process": db, "another": reader} {
		if diff := cmp.Diff([]string{"a"}, match(t, db, memory.Query{}, "words")); diff != "" {
			t.Errorf("%s, after restore (-want +got):\n%s", name, diff)
		}
		if err := db.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestExportRoundTrip(t *testing.T) {
	db := openNew(t)
	code := 7
	full := entry("a", "s1", memory.KindToolResult, 0, "line one\nline two <&> \u2028 \x00 end")
	full.Tool, full.ToolInput, full.ResultType, full.AgentID = "bash", []byte(`{"command":"a \u0026 b","n":12345678901234567890}`), "failure", "agent-1"
	full.CallID, full.ExitCode, full.Files, full.Model = "call_1", &code, []string{"/src/app/a.go", "b"}, "some-model"
	full.Withdrawn, full.Truncated, full.Redacted, full.Sources, full.Match = true, true, 3, 3, -7
	spaced := entry("b", "s1", memory.KindToolCall, 1, "")
	spaced.ToolInput = []byte("{\n  \"spaced\": [1,  2]\n}")
	text := entry("c", "s2", memory.KindToolCall, 2, "")
	text.ToolInput = []byte("not JSON at all")
	twin := entry("d", "s1", memory.KindToolCall, 3, "")
	twin.ToolInput, twin.Sources, twin.Match = []byte(`{"x":1}`), memory.FromTranscript, 42
	twin2 := twin
	twin2.ID, twin2.Time = "e", twin.Time.Add(time.Second)
	note := entry("n", "copilot-notes", memory.KindNote, 4, "remember this")
	note.ToolInput, note.Sources = []byte(`{"kind":"fact","tags":["x"]}`), memory.FromElsewhere
	sessions := []memory.Session{
		{ID: "s1", Project: "github.com/acme/app", Cwd: "/src/app", Branch: "main", HeadCommit: "abc", Client: "copilot", Title: "A title", Model: "m",
			StartedAt: t0.Add(-time.Minute), EndedAt: t0.Add(time.Hour), EndReason: "complete", TranscriptPath: "/home/u/events.jsonl"},
		{ID: "empty", Client: "claude", StartedAt: t0.Add(-time.Hour)},
	}
	if _, _, err := db.Add(t.Context(), sessions, []memory.Entry{full, spaced, text, twin, twin2, note, entry("p", "s1", memory.KindPrompt, 5, "ask")}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.sql.ExecContext(t.Context(), "INSERT INTO aliases SELECT 'other-' || id, seq FROM entries WHERE id IN ('a', 'p')"); err != nil {
		t.Fatal(err)
	}
	export := func(db *DB) string {
		var out strings.Builder
		if _, err := db.Export(t.Context(), memory.Query{}, &out, t0); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	first := export(db)
	if !IsExport([]byte(first)) {
		t.Errorf("not recognised: %.60s", first)
	}
	other := openNew(t)
	for range 2 {
		if _, n, err := other.ImportExport(t.Context(), strings.NewReader(first)); err != nil || n.Entries != 7 || n.Sessions != 4 {
			t.Fatalf("ImportExport = %+v, %v", n, err)
		}
		if diff := cmp.Diff(strings.Split(first, "\n"), strings.Split(export(other), "\n")); diff != "" {
			t.Fatalf("round trip (-want +got):\n%s", diff)
		}
		for _, table := range []string{"sessions", "entries", "aliases"} {
			if diff := cmp.Diff(dump(t, db, table), dump(t, other, table)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", table, diff)
			}
		}
	}
}

// dump is a table, but for the numbers of its rows.
func dump(t *testing.T, db *DB, table string) []string {
	t.Helper()
	names, err := tableColumns(t.Context(), db.sql, table)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range names {
		if n == "seq" {
			names[i] = "0"
		}
	}
	var out []string
	err = db.read(t.Context(), func(scan func(...any) error) error {
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range into {
			into[i] = &row[i]
		}
		err := scan(into...)
		out = append(out, fmt.Sprintf("%q", row))
		return err
	}, "SELECT "+strings.Join(names, ", ")+" FROM "+table+" ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestImportExportRefuses(t *testing.T) {
	const head = `{"copilotMemExport":1,"createdAt":"2026-11-20T08:00:00Z"}` + "\n"
	session := `{"session":{"id":"s1","startedAt":1}}` + "\n"
	good := `{"entry":{"id":"a","sessionId":"s1","kind":"prompt","time":5,"text":"kept","match":"0"}}` + "\n"
	for name, tt := range map[string]struct {
		text  string
		line  int
		added int
	}{
		"empty":           {"", 0, 0},
		"other version":   {`{"copilotMemExport":9}`, 1, 0},
		"other JSON":      {head + session + good + `{"x":1}`, 4, 1},
		"torn":            {head + session + good + `{"entry":{"id":"b","sess`, 4, 1},
		"entry of no one": {head + good, 2, 0},
		"not JSON":        {"hello", 1, 0},
	} {
		db := openNew(t)
		c, _, err := db.ImportExport(t.Context(), strings.NewReader(tt.text))
		e, ok := errors.AsType[*ExportError](err)
		if !ok || e.Line != tt.line || c.Added != tt.added {
			t.Errorf("%s: added %d, %v", name, c.Added, err)
		}
	}
}

func FuzzImportExport(f *testing.F) {
	f.Add([]byte(`{"copilotMemExport":1}` + "\n" + `{"session":{"id":"s"}}` + "\n" + `{"entry":{"id":"a","sessionId":"s","kind":"prompt","time":5,"text":"x","match":"0"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		db := openNew(t)
		_, n, err := db.ImportExport(t.Context(), bytes.NewReader(data))
		if err != nil {
			return
		}
		// What was taken can be written, and read again.
		var first, second bytes.Buffer
		if _, err := db.Export(t.Context(), memory.Query{}, &first, t0); err != nil {
			t.Fatalf("%+v: %v", n, err)
		}
		other := openNew(t)
		if _, _, err := other.ImportExport(t.Context(), bytes.NewReader(first.Bytes())); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Export(t.Context(), memory.Query{}, &second, t0); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first.String(), second.String()); diff != "" {
			t.Errorf("round trip (-want +got):\n%s", diff)
		}
	})
}

// filled is a closed store of many pages, with one entry forgotten.
func filled(t *testing.T) (path string, n int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "memory.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n = 400
	var all []memory.Entry
	for i := range n {
		all = append(all, entry(fmt.Sprintf("id%03d", i), fmt.Sprintf("s%d", i%10), memory.KindPrompt, i, fmt.Sprintf("entry number%d %s", i, strings.Repeat("text ", 60))))
	}
	add(t, db, all...)
	forget(t, db, Selection{Entries: []string{"id007"}})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path, n - 1
}

func TestSalvage(t *testing.T) {
	const page = 4096
	for name, tt := range map[string]struct {
		damage func(b []byte) []byte
		least  int // percent of the entries that must come back
	}{
		"nothing wrong":      {func(b []byte) []byte { return b }, 100},
		"no magic":           {func(b []byte) []byte { copy(b, "XXXXXXXXXXXXXXXX"); return b }, 100},
		"cut in the middle":  {func(b []byte) []byte { return b[:len(b)/2/page*page] }, 25},
		"end cut off":        {func(b []byte) []byte { return b[:len(b)*9/10/page*page] }, 80},
		"first page lost":    {func(b []byte) []byte { clear(b[:page]); return b }, 95},
		"every eighth page":  {func(b []byte) []byte { return zeroPages(b, 9, 8) }, 80},
		"a few pages":        {func(b []byte) []byte { return zeroPages(b, 20, 40) }, 60},
		"random in one page": {func(b []byte) []byte { copy(b[30*page:], bytes.Repeat([]byte{0xa5, 0x17, 0xff}, 1000)); return b }, 80},
	} {
		t.Run(name, func(t *testing.T) {
			path, n := filled(t)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tt.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			db := openNew(t)
			got, err := db.Salvage(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if got.Entries*100 < n*tt.least {
				t.Errorf("%d of %d entries came back, want %d %%", got.Entries, n, tt.least)
			}
			t.Logf("%d of %d entries", got.Entries, n)
			if err := db.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if hits := match(t, db, memory.Query{Limit: 1000}, "entry"); len(hits) != got.Entries {
				t.Errorf("the index has %d of %d entries", len(hits), got.Entries)
			}
			if tt.least == 100 {
				if n, _ := add(t, db, entry("id007", "s7", memory.KindPrompt, 7, "x")); n != 0 {
					t.Error("a forgotten entry came back")
				}
			}
		})
	}
}

// zeroPages empties every nth page from the first on.
func zeroPages(b []byte, first, nth int) []byte {
	const page = 4096
	for i := first; i < len(b)/page; i += nth {
		clear(b[i*page : (i+1)*page])
	}
	return b
}

func TestCheckSeesDamage(t *testing.T) {
	path, _ := filled(t)
	if err := Check(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, zeroPages(b, 9, 8), 0o600); err != nil {
		t.Fatal(err)
	}
	err = Check(t.Context(), path)
	if e, ok := errors.AsType[*DamagedError](err); !ok || e.Path != path || e.Hint() == "" {
		t.Errorf("Check = %v", err)
	}
	if err := Check(context.Background(), path+".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Check of no file = %v", err)
	}
}

// Whatever stands in a file, reading its leaves ends, and gives texts and numbers only.
func FuzzLeaves(f *testing.F) {
	whole, err := os.ReadFile("testdata/schema1.db")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[:2*pageSize], 0, byte(1))
	f.Add(whole[4*pageSize:7*pageSize], 100, byte(0xff))
	f.Fuzz(func(t *testing.T, data []byte, at int, to byte) {
		data = append(bytes.Clone(data), make([]byte, (pageSize-len(data)%pageSize)%pageSize)...)
		if at >= 0 && at < len(data) {
			data[at] = to
		}
		err := leaves{data}.rows(func(_ int64, row []any) error {
			for _, v := range row {
				switch v.(type) {
				case nil, int64, float64, string, []byte:
				default:
					t.Errorf("%T", v)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// The pages of a store that is whole give each of its rows.
func TestLeavesGiveEveryRow(t *testing.T) {
	path, n := filled(t)
	l, err := openLeaves(path)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	if err := l.rows(func(_ int64, row []any) error {
		for _, s := range shapes {
			if s.fits(row) {
				found[s.table]++
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if found["entries"] != n || found["sessions"] != 10 || found["tombstones"] == 0 {
		t.Errorf("found %v, want %d entries of 10 sessions", found, n)
	}
}
