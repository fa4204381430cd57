package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/index"
	"github.com/copilot-mem/copilot-mem/internal/memory"
)

const childPath = "STORE_TEST_CHILD_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := child(path, os.Getenv("STORE_TEST_CHILD_NAME")); err != nil {
			fmt.Println("child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var t0 = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

func open(tb testing.TB, path string) *DB {
	tb.Helper()
	db, err := Open(tb.Context(), path, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func openNew(tb testing.TB) *DB {
	tb.Helper()
	return open(tb, filepath.Join(tb.TempDir(), "data", "memory.db"))
}

func entry(id, session string, kind memory.Kind, second int, text string) memory.Entry {
	return memory.Entry{
		ID: id, SessionID: session, Kind: kind, Time: t0.Add(time.Duration(second) * time.Second), Text: text,
		Sources: memory.FromHook, Cwd: "/src/app", Project: "github.com/acme/app", Branch: "main",
	}
}

func add(t *testing.T, db *DB, entries ...memory.Entry) (added, duplicates int) {
	t.Helper()
	added, duplicates, err := db.Add(t.Context(), nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	return added, duplicates
}

func ids(hits []memory.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func match(t *testing.T, db *DB, q memory.Query, words ...string) []string {
	t.Helper()
	if len(words) == 0 {
		hits, err := db.Newest(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return ids(hits)
	}
	x := index.Query{Limit: q.Limit}
	for i, w := range words {
		x.Terms = append(x.Terms, index.Term{Word: w, Weight: 1, Group: uint8(i)})
	}
	entries, hits, err := db.Find(t.Context(), q, x)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for i, h := range hits {
		if h.Groups == 1<<len(words)-1 {
			out = append(out, entries[i].ID)
		}
	}
	return out
}

func TestAddKeepsEveryField(t *testing.T) {
	db := openNew(t)
	want := entry("e1", "s1", memory.KindToolResult, 1, "all tests passed\x00é")
	want.Tool, want.ToolInput, want.ResultType = "bash", json.RawMessage(`{"command":"go test"}`), "success"
	want.AgentID, want.Truncated, want.Redacted = "a1", true, 3
	if n, d := add(t, db, want); n != 1 || d != 0 {
		t.Errorf("first Add = %d added, %d duplicates", n, d)
	}
	if n, d := add(t, db, want); n != 0 || d != 1 {
		t.Errorf("second Add = %d added, %d duplicates", n, d)
	}
	got, err := db.Entries(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]memory.Entry{want}, got); diff != "" {
		t.Errorf("Entries (-want +got):\n%s", diff)
	}
	s, err := db.Session(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	wantSession := memory.Session{ID: "s1", Project: want.Project, Cwd: want.Cwd, Branch: "main", Client: "copilot", StartedAt: want.Time, Entries: 1}
	if diff := cmp.Diff(wantSession, s); diff != "" {
		t.Errorf("Session (-want +got):\n%s", diff)
	}
}

func TestTurnsFollowTimeNotOrderOfArrival(t *testing.T) {
	db := openNew(t)
	add(t, db, entry("p2", "s", memory.KindPrompt, 20, "second"), entry("r2", "s", memory.KindToolResult, 21, "x"))
	add(t, db, entry("p1", "s", memory.KindPrompt, 10, "first"), entry("s0", "s", memory.KindSessionStart, 5, ""))
	add(t, db, entry("p3", "s", memory.KindPrompt, 30, "third"), entry("r1", "s", memory.KindResponse, 15, "y"))
	entries, err := db.Entries(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, e := range entries {
		got = append(got, fmt.Sprint(e.ID, e.Turn))
	}
	if diff := cmp.Diff([]string{"s00", "p11", "r11", "p22", "r22", "p33"}, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	s, err := db.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if s.Turns != 3 || s.Entries != 6 || s.FirstPrompt != "first" || !s.StartedAt.Equal(t0.Add(5*time.Second)) {
		t.Errorf("session = %+v", s)
	}
}

func TestSessionEndsAndOpensAgain(t *testing.T) {
	db := openNew(t)
	end := entry("e1", "s", memory.KindSessionEnd, 10, "")
	end.ResultType = "complete"
	add(t, db, entry("s1", "s", memory.KindSessionStart, 1, ""), end, entry("late", "s", memory.KindResponse, 11, "said"))
	s, err := db.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if !s.EndedAt.Equal(end.Time) || s.EndReason != "complete" {
		t.Errorf("ended %v, %q; want %v", s.EndedAt, s.EndReason, end.Time)
	}
	add(t, db, entry("s2", "s", memory.KindSessionStart, 20, ""))
	if s, err = db.Session(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if !s.EndedAt.IsZero() || s.EndReason != "" {
		t.Errorf("resumed session ended %v, %q", s.EndedAt, s.EndReason)
	}
}

func TestTranscriptEntryGetsTheFolderOfItsSession(t *testing.T) {
	db := openNew(t)
	add(t, db, entry("p", "s", memory.KindPrompt, 1, "hello"))
	add(t, db, memory.Entry{ID: "r", SessionID: "s", Kind: memory.KindResponse, Time: t0.Add(time.Minute), Text: "answer"})
	if got := match(t, db, memory.Query{Project: "acme/app", Branch: "main"}, "answer"); len(got) != 1 {
		t.Errorf("Match in the project = %v", got)
	}
}

func TestMatchFilters(t *testing.T) {
	db := openNew(t)
	a := entry("a", "s1", memory.KindPrompt, 0, "rotate the key")
	b := entry("b", "s2", memory.KindToolResult, 100, "rotate the key")
	b.Tool, b.ToolInput, b.Project, b.Branch = "view", json.RawMessage(`{"path":"/src/lib/Key.go"}`), "github.com/acme/lib", "dev"
	c := entry("c", "s2", memory.KindNotification, 200, "rotate the key")
	c.Project = "github.com/acme/lib"
	add(t, db, a, b, c)
	for _, tt := range []struct {
		name string
		q    memory.Query
		want []string
	}{
		{"none: the shorter first, no notification", memory.Query{}, []string{"a", "b"}},
		{"project", memory.Query{Project: "github.com/acme/app"}, []string{"a"}},
		{"end of the project", memory.Query{Project: "lib"}, []string{"b"}},
		{"not the middle of a name", memory.Query{Project: "pp"}, []string{}},
		{"session prefix", memory.Query{Session: "s1"}, []string{"a"}},
		{"session is no pattern", memory.Query{Session: "%"}, []string{}},
		{"branch", memory.Query{Branch: "dev"}, []string{"b"}},
		{"kind", memory.Query{Kind: memory.KindPrompt}, []string{"a"}},
		{"notifications when asked", memory.Query{Kind: memory.KindNotification}, []string{"c"}},
		{"tool", memory.Query{Tool: "View"}, []string{"b"}},
		{"file", memory.Query{File: "lib/Key.go"}, []string{"b"}},
		{"since", memory.Query{Since: t0.Add(time.Second)}, []string{"b"}},
		{"until is exclusive", memory.Query{Until: t0.Add(100 * time.Second)}, []string{"a"}},
		{"limit", memory.Query{Limit: 1}, []string{"a"}},
	} {
		if diff := cmp.Diff(tt.want, match(t, db, tt.q, "rotate")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := match(t, db, memory.Query{}); !cmp.Equal(got, []string{"b", "a"}) {
		t.Errorf("without terms = %v, want the newest first", got)
	}
}

func TestFindTakesAnyText(t *testing.T) {
	db := openNew(t)
	add(t, db, entry("a", "s", memory.KindPrompt, 0, "plain words running"))
	for _, w := range []string{`"`, `a"b`, "(", "NOT", "AND OR", "text:plain", "^x", "-", "*", "a*b", "\x00", "{", "plain\x00", "'", ";--", strings.Repeat("x", 1000)} {
		if got := match(t, db, memory.Query{}, w); len(got) != 0 {
			t.Errorf("Find(%q) = %v", w, got)
		}
		if _, err := db.Words(t.Context(), w, true, 5); err != nil {
			t.Errorf("Words(%q): %v", w, err)
		}
	}
	if got, err := db.Words(t.Context(), "pla", false, 5); err != nil || len(got) != 1 || got[0].Word != "plain" {
		t.Errorf("Words(pla) = %v, %v", got, err)
	}
}

func TestIDPrefix(t *testing.T) {
	db := openNew(t)
	add(t, db, entry("abc1", "ses-1", memory.KindPrompt, 0, "x"), entry("abc2", "ses-2", memory.KindPrompt, 0, "y"), entry("abc", "ses-22", memory.KindPrompt, 0, "z"))
	if e, err := db.Entry(t.Context(), "abc1"); err != nil || e.ID != "abc1" {
		t.Errorf("Entry(abc1) = %v, %v", e.ID, err)
	}
	if e, err := db.Entry(t.Context(), "abc"); err != nil || e.ID != "abc" {
		t.Errorf("a whole id that others start with: %v, %v", e.ID, err)
	}
	_, err := db.Entry(t.Context(), "ab")
	ambiguous, ok := errors.AsType[*AmbiguousError](err)
	if !ok {
		t.Fatalf("Entry(ab): %v, want an AmbiguousError", err)
	}
	if diff := cmp.Diff([]string{"abc", "abc1", "abc2"}, ambiguous.Candidates); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
	for _, id := range []string{"zzz", "", "%", "_bc1"} {
		if _, ok := errors.AsType[*NotFoundError](func() error { _, err := db.Entry(t.Context(), id); return err }()); !ok {
			t.Errorf("Entry(%q) is found", id)
		}
	}
	told := entry("from-hook", "ses-3", memory.KindPrompt, 9, "w")
	told.Match = 7
	again := told
	again.ID, again.Sources = "def-script", memory.FromTranscript
	add(t, db, told)
	add(t, db, again)
	for _, id := range []string{"def-script", "def", "from"} {
		if e, err := db.Entry(t.Context(), id); err != nil || e.ID != "from-hook" {
			t.Errorf("Entry(%s), an id that another source gave = %v, %v", id, e.ID, err)
		}
	}
	if s, err := db.Session(t.Context(), "ses-1"); err != nil || s.ID != "ses-1" {
		t.Errorf("Session(ses-1) = %v, %v", s.ID, err)
	}
}

func TestSessions(t *testing.T) {
	db := openNew(t)
	b := entry("b", "s2", memory.KindToolResult, 100, "x")
	b.Tool, b.Project = "view", "github.com/acme/lib"
	add(t, db, entry("a", "s1", memory.KindPrompt, 0, "x"), b)
	for _, tt := range []struct {
		q    memory.Query
		want []string
	}{
		{memory.Query{}, []string{"s2", "s1"}},
		{memory.Query{Limit: 1}, []string{"s2"}},
		{memory.Query{Project: "app"}, []string{"s1"}},
		{memory.Query{Tool: "view"}, []string{"s2"}},
		{memory.Query{Since: t0.Add(time.Second)}, []string{"s2"}},
		{memory.Query{Until: t0.Add(time.Second)}, []string{"s1"}},
		{memory.Query{Session: "s2", Kind: memory.KindPrompt}, []string{}},
	} {
		sessions, err := db.Sessions(t.Context(), tt.q)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, s := range sessions {
			got = append(got, s.ID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Sessions(%+v) (-want +got):\n%s", tt.q, diff)
		}
	}
}

func TestFilesAreOurs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not those of Unix")
	}
	db := openNew(t)
	add(t, db, entry("a", "s", memory.KindPrompt, 0, "x"))
	for name, want := range map[string]os.FileMode{"": 0o600, "-wal": 0o600, "-shm": 0o600} {
		info, err := os.Stat(db.Path() + name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("memory.db%s has mode %v", name, info.Mode().Perm())
		}
	}
	if info, err := os.Stat(filepath.Dir(db.Path())); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info.Mode(), err)
	}
}

func TestOpenOddPaths(t *testing.T) {
	for _, name := range []string{"a b", "per%20cent", "que?stion", "ha#sh", "ünï", "a&b=c"} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "?") {
			continue
		}
		path := filepath.Join(t.TempDir(), name, "memory.db")
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 && !exists(path+"-wal") {
			t.Errorf("%q: the store is elsewhere: %v", name, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func TestOpenRefuses(t *testing.T) {
	newer := filepath.Join(t.TempDir(), "memory.db")
	open(t, newer)
	raw, err := sql.Open("sqlite", newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "memory.db")
	if err := os.WriteFile(damaged, []byte(strings.Repeat("no database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{newer: "schema version 99 is newer", damaged: damaged} {
		_, err := Open(t.Context(), path, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open: %v, want %q", err, want)
			continue
		}
		var hinted interface{ Hint() string }
		if !errors.As(err, &hinted) || hinted.Hint() == "" {
			t.Errorf("no hint: %v", err)
		}
	}
	got, err := os.ReadFile(damaged)
	if err != nil || !strings.HasPrefix(string(got), "no database") {
		t.Errorf("the damaged file was touched: %v", err)
	}
}

// child is one of many processes that open, migrate, write and read at once.
func child(path, name string) error {
	ctx := context.Background()
	// All start at once.
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	const opened = 10 // entries for each time the store is opened
	for from := 0; from < childEntries; from += opened {
		db, err := Open(ctx, path, Options{})
		if err != nil {
			return err
		}
		for i := from; i < from+opened && err == nil; i++ {
			err = childStep(ctx, db, name, i)
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	return nil
}

func childStep(ctx context.Context, db *DB, name string, i int) error {
	if strings.HasPrefix(name, "reader") {
		_, _, err := db.Find(ctx, memory.Query{}, index.Query{Terms: []index.Term{{Word: "word", Weight: 1}}})
		if err == nil {
			_, err = db.Counts(ctx)
		}
		return err
	}
	if strings.HasPrefix(name, "import") {
		text := fmt.Sprintf("{\"copilotMemExport\":1}\n{\"session\":{\"id\":\"imported-%d\"}}\n", i%10)
		text += fmt.Sprintf("{\"entry\":{\"id\":\"%s-%d\",\"sessionId\":\"imported-%d\",\"kind\":\"prompt\",\"time\":%d,\"text\":\"imported\",\"match\":\"0\"}}\n", name, i, i%10, i)
		_, _, err := db.ImportExport(ctx, strings.NewReader(text))
		return err
	}
	_, _, err := db.Add(ctx, nil, []memory.Entry{
		entry(fmt.Sprint(name, "-", i), "shared", memory.KindPrompt, i, "word of "+name),
		entry(fmt.Sprint("both-", i), "shared", memory.KindResponse, i, "word of both"),
	})
	return err
}

func TestManyProcesses(t *testing.T) {
	const writers, readers, importers = 8, 3, 1
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "data", "memory.db")
	var all []*exec.Cmd
	var gates []interface{ Close() error }
	for i := range writers + readers + importers {
		name := fmt.Sprint("writer", i)
		switch {
		case i >= writers+readers:
			name = "import"
		case i >= writers:
			name = fmt.Sprint("reader", i)
		}
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), childPath+"="+path, "STORE_TEST_CHILD_NAME="+name)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		gate, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := gate.Write([]byte("go\n")); err != nil {
			t.Fatal(err)
		}
		all, gates = append(all, cmd), append(gates, gate)
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, cmd.Stdout)
		}
		_ = gates[i].Close() // Wait has closed it
	}
	db := open(t, path)
	entries, err := db.Entries(t.Context(), "shared")
	if err != nil {
		t.Fatal(err)
	}
	if want := writers*childEntries + childEntries; len(entries) != want {
		t.Errorf("%d entries, want %d", len(entries), want)
	}
	s, err := db.Session(t.Context(), "shared")
	if err != nil {
		t.Fatal(err)
	}
	if s.Turns != writers*childEntries || s.Entries != len(entries) {
		t.Errorf("session has %d turns and %d entries", s.Turns, s.Entries)
	}
	if last := entries[len(entries)-1]; last.Turn != s.Turns {
		t.Errorf("the last entry is in turn %d of %d", last.Turn, s.Turns)
	}
	if hits := match(t, db, memory.Query{Limit: 1000}, "word"); len(hits) != len(entries) {
		t.Errorf("the index finds %d of %d entries", len(hits), len(entries))
	}
	if hits := match(t, db, memory.Query{Limit: 1000}, "imported"); len(hits) != childEntries {
		t.Errorf("%d of %d imported entries", len(hits), childEntries)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
