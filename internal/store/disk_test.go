package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// A disk that does not take more is said in words, with advice, and harms nothing.
func TestFullDiskIsExplained(t *testing.T) {
	db := openNew(t)
	add(t, db, entry("a", "s", memory.KindPrompt, 1, "before"))
	if _, err := db.sql.ExecContext(t.Context(), "PRAGMA max_page_count = 1"); err != nil { // as many as there are
		t.Fatal(err)
	}
	big := entry("b", "s", memory.KindResponse, 2, string(make([]byte, 1<<20)))
	_, _, err := db.Add(t.Context(), nil, []memory.Entry{big})
	disk, ok := errors.AsType[*DiskError](err)
	if !ok || disk.Code != codeFull || disk.Hint() == "" {
		t.Fatalf("%v, want a DiskError of a full disk", err)
	}
	if got, want := err.Error(), "write store: "+db.Path()+": no space is left on the disk"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if e, err := db.Entries(t.Context(), "s"); err != nil || len(e) != 1 {
		t.Errorf("afterwards %d entries, %v", len(e), err)
	}
}

func TestFolderThatIsNotWritable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere: run the tests as another user")
	}
	path := filepath.Join(t.TempDir(), "mem", "memory.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	_, err := Open(t.Context(), path, Options{})
	if disk, ok := errors.AsType[*DiskError](err); !ok || disk.Hint() == "" {
		t.Errorf("%v, want a DiskError", err)
	}
}
