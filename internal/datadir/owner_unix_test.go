//go:build unix

package datadir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEnsureTightens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	for _, mode := range []os.FileMode{0o755, 0o777, 0o750, 0o701} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := Dir(path).Ensure(); err != nil {
			t.Fatal(err)
		}
		if p := perm(t, path); p != 0o700 {
			t.Errorf("mode %o became %o, want 700", mode, p)
		}
	}
}

func TestEnsureLeavesSharedFolders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tmp")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := Dir(path).Ensure(); err == nil || !strings.Contains(err.Error(), "shared with other users") {
		t.Errorf("Ensure = %v", err)
	}
	if p := perm(t, path); p != 0o777 {
		t.Errorf("mode became %o", p)
	}
}

func TestEnsureSymlink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.Mkdir(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := Dir(link).Ensure(); err != nil {
		t.Fatalf("own symlink: %v", err)
	}
	if p := perm(t, target); p != 0o700 {
		t.Errorf("target mode %o, want 700", p)
	}

	if os.Geteuid() != 0 {
		t.Skip("only root can give a symlink away")
	}
	if err := os.Lchown(link, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Dir(link).Ensure(); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("foreign symlink: %v", err)
	}
	if p := perm(t, target); p != 0o755 {
		t.Errorf("a foreign symlink's target was changed to %o", p)
	}
}

func TestEnsureDanglingSymlink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "missing"), link); err != nil {
		t.Fatal(err)
	}
	if err := Dir(link).Ensure(); err == nil {
		t.Error("Ensure = nil, want an error")
	}
}
