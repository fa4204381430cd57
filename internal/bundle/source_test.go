package bundle

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// write makes files of a map from slash paths to texts.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func paths(t *testing.T, s Source) []string {
	t.Helper()
	tree, err := Read(s)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range tree {
		names = append(names, f.Path)
	}
	return names
}

func TestReadLeavesOut(t *testing.T) {
	top := t.TempDir()
	write(t, top, map[string]string{
		".gitignore":              "*.log\n/secret\n!keep.log\n",
		"sub/.gitignore":          "node_modules/\n!/deep.log\n",
		"sub/p/.gitignore":        "# comment\nbuild/\n/root-only\n",
		"sub/p/plugin.json":       "{}",
		"sub/p/a.log":             "",
		"sub/p/keep.log":          "",
		"sub/p/secret":            "carried: the rule is for the top",
		"sub/p/root-only":         "",
		"sub/p/x/root-only":       "",
		"sub/p/node_modules/m.js": "",
		"sub/p/build/out.js":      "",
		"sub/p/build/forced.js":   "",
		"sub/p/.git/config":       "",
		"sub/p/.svn/entries":      "",
		"sub/p/.DS_Store":         "",
		"sub/p/x/Thumbs.db":       "",
		"sub/p/.env.example":      "",
		"sub/p/dist/old.zip":      "",
	})
	got := paths(t, Source{Dir: filepath.Join(top, "sub/p"), Top: top, Out: filepath.Join(top, "sub/p/dist"), Tracked: []string{"sub/p/build/forced.js"}})
	want := []string{".env.example", ".gitignore", "build/forced.js", "keep.log", "plugin.json", "secret", "x/root-only"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestMarkScripts(t *testing.T) {
	tree := plugin.Tree{{Path: "a", Data: []byte("#!/bin/sh\n"), Mode: 0o666}, {Path: "b", Data: []byte("# no"), Mode: 0o666}}
	markScripts(tree)
	if mode(tree[0]) != 0o755 || mode(tree[1]) != 0o644 {
		t.Errorf("modes %v and %v", tree[0].Mode, tree[1].Mode)
	}
}

func TestReadLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows: nothing about links is tested there")
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"p/plugin.json": "{}", "p/real/a.txt": "A", "outside.txt": "secret"})
	for from, to := range map[string]string{"p/file": "real/a.txt", "p/folder": "real", "p/real/up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	got := paths(t, Source{Dir: filepath.Join(dir, "p")})
	for _, want := range []string{"file", "folder/a.txt", "real/a.txt"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing: %v", want, got)
		}
	}
	for _, to := range []string{"../outside.txt", filepath.Join(dir, "outside.txt"), "nowhere"} {
		bad := filepath.Join(dir, "p", "bad")
		if err := os.Symlink(to, bad); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(Source{Dir: filepath.Join(dir, "p")}); err == nil || !strings.Contains(err.Error(), "bad") {
			t.Errorf("a link to %s: %v", to, err)
		}
		if err := os.Remove(bad); err != nil {
			t.Fatal(err)
		}
	}
}

// TestIgnoreAgreesWithGit asks git itself, for many patterns and paths.
func TestIgnoreAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine: the reading of .gitignore is not compared with git's")
	}
	patterns := []string{"*.log", "/a", "a/", "a/b", "**/b", "a/**", "a/**/d", "!b", "b*", "?x", "[ab]", "[!a]", "[^a]x", "[a-c]?", "\\#x", "#x",
		"\\!x", "x ", "x\\ ", "  ", "/", "//", "**", "a//b", "*/b", "[]a]", "[", "a[", "\\", "é*", "a\\*", "**/d/", "c/**/", "!/a/b", "***", "x\t", "[[:alpha:]]x"}
	names := []string{"a", "b", "c", "ax", "bx", "x", "x ", "#x", "!x", "a.log", "a*", "]", "éa", "d", "[", "a["} // no lone é: git counts bytes
	dir := t.TempDir()
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "core.excludesFile=", "-c", "core.quotePath=false"}, args...)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: nothing is ignored
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	git("", "init", "-q")
	var files []string
	for _, a := range names {
		files = append(files, a)
		for _, b := range names {
			files = append(files, "D"+a+"/"+b, "a/"+a+"/"+b)
		}
	}
	for i, p := range patterns {
		for _, q := range append([]string{""}, patterns[(i*7)%len(patterns)]) {
			text := p + "\n" + q + "\n"
			if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			out := git(strings.Join(files, "\x00"), "check-ignore", "--no-index", "-z", "--stdin")
			want := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
			rules := ignoreRules("", text)
			k := kept{FS: fstest.MapFS{}}
			for _, f := range files {
				if got := k.ignored(rules, f, false); got != slices.Contains(want, f) {
					t.Errorf("%q: %q: ignored %v, git says %v", text, f, got, !got)
				}
			}
		}
	}
}

// FuzzIgnore: no text is too odd to be read.
func FuzzIgnore(f *testing.F) {
	f.Add("a/**/[!b]?\n!x\\ \n", "a/b/c")
	f.Add("[[:x\n\\", "x")
	f.Fuzz(func(t *testing.T, text, name string) {
		k := kept{FS: fstest.MapFS{}}
		rules := ignoreRules("", text)
		if k.ignored(rules, name, false) && len(rules) == 0 {
			t.Error("ignored by no rule")
		}
	})
}
