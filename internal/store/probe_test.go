package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestProbe(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "memory.db")
	if err := Probe(ctx, path, time.Millisecond); err != nil {
		t.Errorf("without a store: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the probe made a file")
	}
	db, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := Probe(ctx, path, time.Millisecond); err != nil {
		t.Errorf("a store that nobody writes to: %v", err)
	}
	err = db.write(ctx, func(*sql.Tx) error {
		var locked *LockedError
		if err := Probe(ctx, path, time.Millisecond); !errors.As(err, &locked) || locked.Hint() == "" {
			t.Errorf("a store that is being written: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.db")
	if err := os.WriteFile(broken, []byte("this is no database, and long enough to be looked at"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Probe(ctx, broken, time.Millisecond); err != nil {
		t.Errorf("a damaged store is not locked: %v", err)
	}
}
