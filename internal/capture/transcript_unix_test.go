//go:build unix

package capture

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestB10FifoDoesNotBlock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	w := newWorld(t)
	start := time.Now()
	if n, err := ReadTranscript(w.dir, path, "s1", time.Minute); err == nil || n != 0 {
		t.Errorf("ReadTranscript = %d, %v", n, err)
	}
	r := reader{dir: w.dir, path: path, session: "s1", now: time.Now}
	if err := w.dir.Ensure(); err != nil {
		t.Fatal(err)
	}
	if n, err := r.readNew(inHook); err == nil || n != 0 {
		t.Errorf("readNew = %d, %v", n, err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}
