package facts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPaths(t *testing.T) {
	root := tree(t, "sub/", "secrets/x", "public/", "real/deep/")
	link(t, "../public", filepath.Join(root, "secrets", "out"))
	link(t, "secrets", filepath.Join(root, "alias"))
	link(t, "secrets/new", filepath.Join(root, "dangling"))
	link(t, "/etc", filepath.Join(root, "etc"))
	link(t, root, filepath.Join(filepath.Dir(root), "link"))
	for _, tt := range []struct {
		name, cwd, arg, canonical string
		candidates, not           []string
	}{
		{"plain", root, "src/x", "src/x", []string{"src/x"}, nil},
		{"cleaned", root, "./a/../secrets//x", "secrets/x", []string{"secrets/x"}, nil},
		{"leaves by dots", root, "secrets/../public/x", "public/x", []string{"public/x"}, []string{"secrets/x"}},
		{"absolute", root, filepath.Join(root, "src/x"), "src/x", []string{"src/x", filepath.Join(root, "src/x")}, nil},
		{"sub-directory", filepath.Join(root, "sub"), "../secrets/x", "secrets/x", []string{"secrets/x"}, nil},
		{"below cwd", filepath.Join(root, "sub"), "x", "sub/x", []string{"sub/x", "x"}, nil},
		{"link to a directory", root, "alias/x", "secrets/x", []string{"alias/x", "secrets/x"}, nil},
		{"link leads out of the guarded one", root, "secrets/out/x", "public/x", []string{"secrets/out/x", "public/x"}, nil},
		{"dangling link", root, "dangling", "secrets/new", []string{"dangling", "secrets/new"}, nil},
		{"cwd is a link", filepath.Join(filepath.Dir(root), "link"), "secrets/x", "secrets/x", []string{"secrets/x"}, nil},
		{"outside", root, "/nonexistent/secrets/x", "/nonexistent/secrets/x", []string{"nonexistent/secrets/x", "/nonexistent/secrets/x"}, []string{"secrets/x"}},
		{"link outside", root, "etc/passwd", "/etc/passwd", []string{"etc/passwd", "/etc/passwd"}, nil},
		{"home", root, "~/x", "/home/me/x", []string{"home/me/x", "/home/me/x"}, nil},
		{"the root", root, ".", ".", []string{"."}, nil},
	} {
		f := New(Input{Event: event(t, tt.cwd, "view", map[string]string{}), Home: "/home/me"})
		candidates, canonical := f.Paths(tt.arg)
		if canonical != tt.canonical {
			t.Errorf("%s: canonical %q, want %q", tt.name, canonical, tt.canonical)
		}
		for _, c := range tt.candidates {
			if !slices.Contains(candidates, c) {
				t.Errorf("%s: no candidate %q in %q", tt.name, c, candidates)
			}
		}
		for _, c := range tt.not {
			if slices.Contains(candidates, c) {
				t.Errorf("%s: candidate %q", tt.name, c)
			}
		}
	}
}

func TestRootAndSources(t *testing.T) {
	root := tree(t, "a/b/", "mod/sub/")
	if err := os.WriteFile(filepath.Join(root, "mod", ".git"), []byte("gitdir: ../.git/modules/mod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, isGit := Root(filepath.Join(root, "a", "b")); got != root || !isGit {
		t.Errorf("Root = %q, %v", got, isGit)
	}
	want := []string{filepath.Join(root, "a", "b"), filepath.Join(root, "a"), root}
	if diff := cmp.Diff(want, Sources(filepath.Join(root, "a", "b"))); diff != "" {
		t.Errorf("Sources (-want +got):\n%s", diff)
	}
	want = []string{filepath.Join(root, "mod", "sub"), filepath.Join(root, "mod"), root}
	if diff := cmp.Diff(want, Sources(filepath.Join(root, "mod", "sub"))); diff != "" {
		t.Errorf("Sources of a submodule (-want +got):\n%s", diff)
	}
	plain := t.TempDir()
	if got, isGit := Root(plain); got != plain || isGit {
		t.Errorf("Root without git = %q, %v", got, isGit)
	}
}
