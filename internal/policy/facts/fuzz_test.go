package facts

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// endless is far beyond the 50 ms that 64 KiB may take: it finds loops, the benchmarks find the rest.
const endless = 20 * time.Second

func FuzzShell(f *testing.F) {
	for _, s := range []string{"rm -rf /", "echo $(cat <<E\nx\nE\n)", "a() { a; }; a", "for i in {1..9}; do for j in {1..9}; do echo $i$j; done; done", "x=$x$x; x=$x$x; echo $x",
		"bash -c 'bash -c \"rm\"'", "git commit -m x && git push origin +a:b", "find . \\( -name a -o -name b \\) -exec rm {} +", "${x//a/b} ${x%%*} ${x:1:2} ${!x}", "alias a='a b'\na", "echo $'\\x41\\u00e9'"} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, s string) {
		start := time.Now()
		x := bash(t, dir, s)
		sh := x.Shell()
		for _, file := range x.Files() {
			if file.Abs == "" || !filepath.IsAbs(file.Abs) || strings.Contains(file.Abs, Hole) {
				t.Errorf("%q: path %q", s, file.Abs)
			}
		}
		x.Commits()
		x.Pushes()
		if took := time.Since(start); took > endless {
			t.Errorf("%q took %v", s, took)
		}
		if sh == nil {
			t.Error("a shell tool without a shell")
		}
	})
}

func FuzzPatch(f *testing.F) {
	for _, s := range []string{"*** Begin Patch\n*** Add File: a\n+b\n*** Update File: c\n*** Move to: d\n@@\n-x\n+y\n*** Delete File: e\n*** End Patch",
		"diff --git a/x b/y\nrename from x\nrename to y\n", "--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n--- b\n", "--- \"a/\\303\\251\"\n+++ \"b/\\303\\251\"\n@@ -0,0 +1 @@\n+x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		start := time.Now()
		for _, p := range parsePatch(s) {
			if p.path == "" {
				t.Errorf("%q: a file without a name", s)
			}
			if len(p.added) > 2*len(s)+1 || len(p.removed) > 2*len(s)+1 {
				t.Errorf("%q: more lines than the patch has", s)
			}
		}
		if took := time.Since(start); took > endless {
			t.Errorf("%q took %v", s, took)
		}
	})
}

func FuzzPaths(f *testing.F) {
	for _, s := range []string{"a/../b", "~/x", "/etc/passwd", "../..", "", ".", "link/../x", "a\x00b", strings.Repeat("a/", 300)} {
		f.Add(s)
	}
	root := tree(f, "a", "dir/b")
	f.Fuzz(func(t *testing.T, s string) {
		x := New(Input{Event: event(t, root, "view", map[string]string{"path": "a"}), Home: "/home/me"})
		candidates, canonical := x.Paths(s)
		if canonical == ".." || strings.HasPrefix(canonical, "../") || strings.Contains(canonical, "/../") {
			t.Errorf("%q: canonical %q leaves the root", s, canonical)
		}
		for _, c := range candidates {
			if strings.HasPrefix(c, "../") || filepath.IsAbs(c) != strings.HasPrefix(c, "/") {
				t.Errorf("%q: candidate %q", s, c)
			}
		}
	})
}
