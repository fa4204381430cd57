package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	root := t.TempDir() // absolute on every system
	in := func(elem ...string) string { return filepath.Join(append([]string{root}, elem...)...) }
	tests := []struct {
		name string
		goos string
		env  map[string]string
		want string
		err  string
	}{
		{name: "own variable wins", goos: "linux", env: map[string]string{"COPILOT_MEM_HOME": in("mem"), "XDG_DATA_HOME": in("xdg"), "HOME": in("home")}, want: in("mem")},
		{name: "own variable is cleaned", goos: "linux", env: map[string]string{"COPILOT_MEM_HOME": in("a") + "/../mem/"}, want: in("mem")},
		{name: "own variable relative", goos: "linux", env: map[string]string{"COPILOT_MEM_HOME": "mem", "HOME": in("home")}, err: "mem: COPILOT_MEM_HOME is not an absolute path"},
		{name: "own variable with tilde", goos: "linux", env: map[string]string{"COPILOT_MEM_HOME": "~/mem", "HOME": in("home")}, err: "~/mem: COPILOT_MEM_HOME is not an absolute path"},
		{name: "xdg", goos: "linux", env: map[string]string{"XDG_DATA_HOME": in("xdg"), "HOME": in("home")}, want: in("xdg", "copilot-mem")},
		{name: "relative xdg is ignored", goos: "linux", env: map[string]string{"XDG_DATA_HOME": "xdg", "HOME": in("home")}, want: in("home", ".local", "share", "copilot-mem")},
		{name: "home", goos: "darwin", env: map[string]string{"HOME": in("home")}, want: in("home", ".local", "share", "copilot-mem")},
		{name: "windows", goos: "windows", env: map[string]string{"LOCALAPPDATA": in("local"), "HOME": in("home")}, want: in("local", "copilot-mem")},
		{name: "windows profile", goos: "windows", env: map[string]string{"USERPROFILE": in("user")}, want: in("user", "AppData", "Local", "copilot-mem")},
		{name: "windows nothing", goos: "windows", err: "no data folder: LOCALAPPDATA is not set"},
		{name: "nothing", goos: "linux", err: "no data folder: HOME is not set"},
		{name: "relative home", goos: "linux", env: map[string]string{"HOME": "home"}, err: "no data folder: HOME is not set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := find(tt.goos, func(k string) string { return tt.env[k] })
			if tt.err != "" {
				if err == nil || err.Error() != tt.err || got != "" {
					t.Fatalf("find = %q, %v; want error %q", got, err, tt.err)
				}
				var hinted interface{ Hint() string }
				if !errors.As(err, &hinted) || hinted.Hint() == "" {
					t.Error("the error gives no advice")
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("find = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestFindUsesThisSystem(t *testing.T) {
	root := t.TempDir()
	got, err := Find(func(k string) string {
		if k == "HOME" || k == "LOCALAPPDATA" {
			return root
		}
		return ""
	})
	want := filepath.Join(root, ".local", "share", "copilot-mem")
	if runtime.GOOS == "windows" {
		want = filepath.Join(root, "copilot-mem")
	}
	if err != nil || string(got) != want {
		t.Errorf("Find = %q, %v; want %q", got, err, want)
	}
}

func TestNames(t *testing.T) {
	d := Dir(filepath.FromSlash("/data"))
	got := []string{d.Spool(), d.DB(), d.State(), d.Failures(), d.Receipts(), d.Bin(), d.Plugin()}
	for i := range got {
		got[i] = filepath.ToSlash(got[i])
	}
	want := []string{"/data/spool", "/data/memory.db", "/data/state", "/data/failures.jsonl", "/data/receipts", "/data/bin", "/data/marketplace"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func perm(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestEnsure(t *testing.T) {
	t.Run("makes the folder and nothing else", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a", "b")
		for range 2 {
			if err := Dir(path).Ensure(); err != nil {
				t.Fatal(err)
			}
		}
		if p := perm(t, path); private && p != 0o700 {
			t.Errorf("mode %o, want 700", p)
		}
		if entries, err := os.ReadDir(path); err != nil || len(entries) != 0 {
			t.Errorf("entries %v, %v; want none", entries, err)
		}
	})
	t.Run("a file in its place", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Dir(path).Ensure(); err == nil || !strings.HasSuffix(err.Error(), ": not a folder") {
			t.Errorf("Ensure = %v", err)
		}
	})
	t.Run("below a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Dir(filepath.Join(path, "x")).Ensure(); err == nil {
			t.Error("Ensure = nil, want an error")
		}
	})
}
