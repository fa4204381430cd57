package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

func TestRetainByAge(t *testing.T) {
	db := openNew(t)
	note := entry("note", "s1", memory.KindNote, 0, "a note zxkept")
	all := []memory.Entry{note, entry("old", "s1", memory.KindPrompt, 1, "zxwonderful"), entry("older", "s2", memory.KindPrompt, 0, "kjsplendid"), entry("new", "s1", memory.KindPrompt, 60, "vqremains")}
	add(t, db, all...)
	if n, err := db.Retain(t.Context(), Limits{}); n != 0 || err != nil {
		t.Fatalf("no limits: %d, %v", n, err)
	}
	limits := Limits{Since: t0.Add(30 * time.Second)}
	for i, want := range []int{2, 0} {
		if n, err := db.Retain(t.Context(), limits); n != want || err != nil {
			t.Errorf("Retain %d = %d, %v; want %d", i, n, err, want)
		}
	}
	if diff := cmp.Diff([]string{"a note zxkept", "vqremains"}, onDisk(t, db, "zxwonderful", "kjsplendid", "a note zxkept", "vqremains")); diff != "" {
		t.Errorf("on disk (-want +got):\n%s", diff)
	}
	if s, err := db.Sessions(t.Context(), memory.Query{}); err != nil || len(s) != 1 || s[0].Entries != 2 || s[0].FirstPrompt != "vqremains" {
		t.Errorf("sessions: %+v, %v", s, err)
	}
	if n, _ := add(t, db, all...); n != 0 {
		t.Errorf("%d entries came back with an import", n)
	}
	if _, err := db.Retain(t.Context(), Limits{}); err != nil {
		t.Fatal(err)
	}
	if n, _ := add(t, db, all...); n != 2 {
		t.Errorf("%d entries came back when there was no limit any more, want 2", n)
	}
}

func TestRetainBySize(t *testing.T) {
	db := openNew(t)
	r := rand.New(rand.NewPCG(1, 2))
	var all []memory.Entry
	for i := range 1500 {
		text := ""
		for range r.IntN(200) {
			text += fmt.Sprintf("%x ", r.Uint32())
		}
		all = append(all, entry(fmt.Sprint("id", i), fmt.Sprint("s", i%50), memory.KindPrompt, i, text))
	}
	add(t, db, all...)
	const limit = 1 << 20
	before := fileSize(t, db)
	n, err := db.Retain(t.Context(), Limits{MaxBytes: limit})
	if err != nil || n == 0 {
		t.Fatalf("Retain = %d, %v", n, err)
	}
	after := fileSize(t, db)
	if before <= limit || after > limit || after < limit/3 {
		t.Errorf("%d bytes became %d, the limit is %d", before, after, limit)
	}
	left, err := db.Newest(t.Context(), memory.Query{Limit: 5000})
	if err != nil || len(left) != len(all)-n || left[len(left)-1].ID != fmt.Sprint("id", n) {
		t.Errorf("%d left, the oldest is not the one after those deleted: %v", len(left), err)
	}
	if again, err := db.Retain(t.Context(), Limits{MaxBytes: limit}); again != 0 || err != nil {
		t.Errorf("a second time: %d, %v", again, err)
	}
}

func fileSize(t *testing.T, db *DB) int64 {
	t.Helper()
	if err := db.truncateWAL(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
