package store

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
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

// onDisk reports which words are anywhere in the store's files.
func onDisk(t *testing.T, db *DB, words ...string) []string {
	t.Helper()
	found := []string{}
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(db.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			// The index leaves out the beginning that a word shares with its neighbour.
			if bytes.Contains(b, []byte(w[2:])) {
				found = append(found, w)
			}
		}
	}
	return found
}

func TestForgetLeavesNothing(t *testing.T) {
	db := openNew(t)
	secret := entry("a", "s1", memory.KindPrompt, 0, "zxwonderful plain")
	other := entry("b", "s1", memory.KindPrompt, 10, "vqremains plain")
	gone := entry("c", "s2", memory.KindPrompt, 20, "kjsplendid plain")
	add(t, db, secret, other, gone)
	if got := onDisk(t, db, "zxwonderful", "vqremains", "kjsplendid"); len(got) < 3 {
		t.Fatalf("the test looks at nothing: %v", got)
	}
	for _, sel := range []Selection{{Entries: []string{"a"}}, {Session: "s2"}} {
		if f := forget(t, db, sel); f.Entries != 1 {
			t.Fatalf("Forget(%+v) = %+v", sel, f)
		}
	}
	if diff := cmp.Diff([]string{"vqremains"}, onDisk(t, db, "zxwonderful", "vqremains", "kjsplendid")); diff != "" {
		t.Errorf("on disk (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b"}, match(t, db, memory.Query{}, "plain")); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	// The next import brings the same again, and something that happened later.
	later := entry("d", "s2", memory.KindPrompt, 30, "later plain")
	if n, _ := add(t, db, secret, gone, other, later); n != 1 {
		t.Errorf("%d entries added, want the later one only", n)
	}
	if diff := cmp.Diff([]string{"d", "b"}, match(t, db, memory.Query{}, "plain")); diff != "" {
		t.Errorf("found after an import (-want +got):\n%s", diff)
	}
	s, err := db.Session(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if s.Turns != 1 || s.FirstPrompt != other.Text {
		t.Errorf("session = %+v", s)
	}
	e, err := db.Entry(t.Context(), "b")
	if err != nil || e.Turn != 1 {
		t.Errorf("turn of the rest = %d, %v", e.Turn, err)
	}
}

// forget deletes at the time of the last entry of the tests, and scrubs.
func forget(t *testing.T, db *DB, sel Selection) Forgotten {
	t.Helper()
	f, err := db.Forget(t.Context(), sel, t0.Add(25*time.Second), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// Many rows in many pages: SQLite moves cells about, and leaves copies of them behind.
func TestForgetLeavesNoByteOfMany(t *testing.T) {
	db := openNew(t)
	const n = 600
	word := func(i int) string { return fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))[:20] }
	var all []memory.Entry
	for i := range n {
		e := entry(fmt.Sprintf("id%d", i), fmt.Sprintf("s%d", i%20), memory.KindPrompt, i, strings.Repeat(word(i)+" ", 1+i%40))
		e.Project = fmt.Sprintf("p%d", i%3)
		if i%5 == 0 {
			e.Text += "tellNobody"
		}
		all = append(all, e)
	}
	add(t, db, all[:n/2]...)
	add(t, db, all[n/2:]...)
	gone := func(e memory.Entry) bool {
		return e.SessionID == "s7" || e.Project == "p1" || strings.Contains(e.Text, "tellNobody") || e.ID == "id44" || e.Time.Before(t0.Add(30*time.Second))
	}
	at := t0.Add(time.Hour)
	for _, sel := range []Selection{{Session: "s7"}, {Project: "p1"}, {Match: "TELLnobody"}, {Entries: []string{"id44"}}, {Before: t0.Add(30 * time.Second)}} {
		look, err := db.Forget(t.Context(), sel, at, true)
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.Forget(t.Context(), sel, at, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(look, got); diff != "" || got.Entries == 0 {
			t.Errorf("%+v: the dry run said otherwise (-look +got):\n%s", sel, diff)
		}
	}
	if err := db.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	var bytes []byte
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(db.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		bytes = append(bytes, b...)
	}
	for i, e := range all {
		// The index leaves out the beginning that a word shares with its neighbour.
		if found := strings.Contains(string(bytes), word(i)[5:]); found == gone(e) {
			t.Errorf("entry %d: gone %v, in the file %v", i, gone(e), found)
		}
	}
	if n, _ := add(t, db, all...); n != 0 {
		t.Errorf("%d entries came back", n)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTombstonesKeepOtherSourcesAway(t *testing.T) {
	db := openNew(t)
	said := entry("hook", "s1", memory.KindPrompt, 0, "say the word marmalade")
	said.Match = memory.MatchKey("s1", memory.ClassSaid, "", said.Text)
	add(t, db, said, entry("stays", "s1", memory.KindPrompt, 5, "something else"))
	forget(t, db, Selection{Entries: []string{"hook"}})
	forget(t, db, Selection{Match: "Peanut  butter"})

	again := said
	again.ID, again.Sources, again.Time = "transcript", memory.FromTranscript, t0.Add(2*time.Second)
	later := said
	later.ID, later.Time = "later", t0.Add(time.Minute)
	answer := entry("answer", "s1", memory.KindResponse, 3, "with PEANUT  butter")
	call := entry("call", "s1", memory.KindToolCall, 4, "")
	call.ToolInput = []byte(`{"command":"echo p\u0065anut  butter"}`)
	near := entry("near", "s1", memory.KindResponse, 4, "peanut butter")
	after := entry("after", "s1", memory.KindResponse, 60, "peanut  butter")
	add(t, db, again, later, answer, call, near, after)
	got := []string{}
	entries, err := db.Entries(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.ID)
	}
	if diff := cmp.Diff([]string{"near", "stays", "later", "after"}, got); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestForgetTakesTheTitle(t *testing.T) {
	db := openNew(t)
	s := memory.Session{ID: "s1", Title: "Plan the surprise party", StartedAt: t0}
	other := memory.Session{ID: "s2", Title: "Mend the roof", StartedAt: t0}
	entries := []memory.Entry{
		entry("a", "s1", memory.KindPrompt, 0, "plan a surprise party"), entry("b", "s1", memory.KindPrompt, 5, "and order pizza"),
		entry("c", "s2", memory.KindPrompt, 0, "mend the roof"), entry("d", "s2", memory.KindPrompt, 5, "and paint it"),
	}
	if _, _, err := db.Add(t.Context(), []memory.Session{s, other}, entries); err != nil {
		t.Fatal(err)
	}
	forget(t, db, Selection{Entries: []string{"a"}})
	forget(t, db, Selection{Match: "roof"})
	for range 2 {
		for _, id := range []string{"s1", "s2"} {
			if got, err := db.Session(t.Context(), id); err != nil || got.Title != "" {
				t.Errorf("session %s has the title %q, %v", id, got.Title, err)
			}
		}
		if _, _, err := db.Add(t.Context(), []memory.Session{s, other}, entries); err != nil { // an import
			t.Fatal(err)
		}
	}
}

func TestForgetNothingNamed(t *testing.T) {
	db := openNew(t)
	if _, err := db.Forget(t.Context(), Selection{}, t0, false); err == nil {
		t.Error("an empty selection was taken for everything")
	}
	f := forget(t, db, Selection{Entries: []string{"nothing"}})
	if f.Entries != 0 || len(f.Sessions) != 0 {
		t.Errorf("Forget = %+v", f)
	}
}

// A copy forgets what the store has forgotten since, also when it was made before there were tombstones.
func TestTakeTombstones(t *testing.T) {
	db := openNew(t)
	add(t, db, entry("a", "s1", memory.KindPrompt, 0, "zxwonderful"), entry("b", "s2", memory.KindPrompt, 1, "vqremains"))
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	forget(t, db, Selection{Session: "s1"})
	old := open(t, path)
	if n, err := old.TakeTombstones(t.Context(), db); n != 1 || err != nil {
		t.Fatalf("TakeTombstones = %d, %v", n, err)
	}
	if diff := cmp.Diff([]string{"vqremains"}, onDisk(t, old, "zxwonderful", "vqremains")); diff != "" {
		t.Errorf("on disk (-want +got):\n%s", diff)
	}
	if n, _ := add(t, old, entry("a", "s1", memory.KindPrompt, 0, "zxwonderful")); n != 0 {
		t.Error("the copy takes it back")
	}
}

func FuzzForgottenText(f *testing.F) {
	db := openNew(f)
	f.Add("some text with a word", "Word", 0)
	f.Add("ÄÖÜ straße", "ö", 0)
	f.Add("aaaaaaab", "aaab", 0)
	f.Fuzz(func(t *testing.T, text, word string, _ int) {
		if word == "" {
			return
		}
		err := db.write(t.Context(), func(tx *sql.Tx) error {
			tombs, err := openTombstones(t.Context(), tx)
			if err != nil {
				return err
			}
			defer tombs.close()
			tombs.texts = nil
			if err := tombs.putText(tx, word, 10); err != nil {
				return err
			}
			want := strings.Contains(strings.ToLower(text), strings.ToLower(word))
			if got := tombs.holdsForgotten(5, text); got != want {
				t.Errorf("%q in %q: %v, want %v", word, text, got, want)
			}
			if tombs.holdsForgotten(11, text) {
				t.Errorf("%q in %q, but it is newer", word, text)
			}
			return errOnlyLooking
		})
		if !errors.Is(err, errOnlyLooking) {
			t.Fatal(err)
		}
	})
}
