package store

import (
	"bytes"
	"os"
	"testing"

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
	if n, err := db.ForgetEntry(t.Context(), "a"); n != 1 || err != nil {
		t.Fatalf("ForgetEntry = %d, %v", n, err)
	}
	if n, err := db.ForgetSession(t.Context(), "s2"); n != 1 || err != nil {
		t.Fatalf("ForgetSession = %d, %v", n, err)
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

func TestForgetUnknown(t *testing.T) {
	db := openNew(t)
	if n, err := db.ForgetEntry(t.Context(), "nothing"); n != 0 || err != nil {
		t.Errorf("ForgetEntry = %d, %v", n, err)
	}
}
