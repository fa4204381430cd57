//go:build unix

package spool

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	s := newSpool(t)
	appendIDs(t, s, "a1")
	if d, f := mode(t, s.Dir), mode(t, s.path(current)); d != 0o700 || f != 0o600 {
		t.Errorf("folder %o, file %o; want 700, 600", d, f)
	}
	if err := os.Chmod(s.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.path(current), 0o644); err != nil {
		t.Fatal(err)
	}
	appendIDs(t, s, "a2")
	if d, f := mode(t, s.Dir), mode(t, s.path(current)); d != 0o700 || f != 0o600 {
		t.Errorf("after they were opened: folder %o, file %o; want 700, 600", d, f)
	}
	appendRaw(t, s, "broken\n")
	drain(t, s)
	if f := mode(t, s.path(damaged)); f != 0o600 {
		t.Errorf("damaged.jsonl %o; want 600", f)
	}
}

func TestPlantedSymlinks(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	untouched := func() {
		t.Helper()
		if b, err := os.ReadFile(victim); err != nil || string(b) != "mine" || mode(t, victim) != 0o644 {
			t.Errorf("the target is now %q, %o, %v", b, mode(t, victim), err)
		}
	}
	t.Run("current file", func(t *testing.T) {
		s := newSpool(t)
		appendIDs(t, s, "a1")
		if err := os.Rename(s.path(current), s.path("claimed-1-1.jsonl")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(victim, s.path(current)); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(lineOf("a2")); err == nil {
			t.Error("Append = nil, want an error")
		}
		var ids []string
		_, err := s.Drain(10, func(l []Line) error { ids = append(ids, l[0].ID); return nil })
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("Drain = %v", err)
		}
		if len(ids) != 1 || ids[0] != "a1" {
			t.Errorf("drained %v; the link must not keep other files waiting", ids)
		}
		untouched()
	})
	t.Run("claimed file", func(t *testing.T) {
		s := newSpool(t)
		appendIDs(t, s, "a1")
		if err := os.Symlink(victim, s.path("claimed-1-1.jsonl")); err != nil {
			t.Fatal(err)
		}
		if n, _, err := s.Pending(); n != 1 || err != nil {
			t.Errorf("Pending = %d, %v", n, err)
		}
		if ids, r := drain(t, s); len(ids) != 1 || r.Damaged != 0 {
			t.Errorf("drained %v, %+v", ids, r)
		}
		untouched()
	})
	t.Run("damaged file", func(t *testing.T) {
		s := newSpool(t)
		appendIDs(t, s, "a1")
		appendRaw(t, s, "broken\n")
		if err := os.Symlink(victim, s.path(damaged)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Drain(10, func([]Line) error { return nil }); err == nil {
			t.Error("Drain = nil, want an error")
		}
		if n, _, _ := s.Pending(); n != 1 {
			t.Errorf("%d files pending; what cannot be kept must not be deleted", n)
		}
		untouched()
	})
	t.Run("folder", func(t *testing.T) {
		s := newSpool(t)
		target := t.TempDir()
		if err := os.Symlink(target, s.Dir); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(lineOf("a1")); err == nil {
			t.Error("Append = nil, want an error")
		}
		if names := files(t, Spool{Dir: target}); names != nil {
			t.Errorf("written through the link: %v", names)
		}
	})
}

func TestPlantedPipeIsNotWaitedFor(t *testing.T) {
	s := newSpool(t)
	if err := os.Mkdir(s.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(s.path(current), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Append(lineOf("a1")) }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("Append = nil, want an error")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Append waits for a reader of the pipe")
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	s := newSpool(t)
	appendIDs(t, s, "a1")
	if err := os.Chmod(s.Dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(s.Dir, 0o700) })
	appendIDs(t, s, "a2") // the file is there and ours
	if _, err := s.Drain(10, func([]Line) error { return nil }); err == nil {
		t.Error("Drain = nil, want an error")
	}
	if n, _, err := s.Pending(); n != 1 || err != nil {
		t.Errorf("Pending = %d, %v", n, err)
	}
}
