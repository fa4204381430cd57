package ingest

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestProjectOf(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	const remote = "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = https://example.com/x/y\n[remote \"origin\"]\n\turl = git@GitHub.com:acme/app.git\n"
	write(t, p("app", ".git", "HEAD"), "ref: refs/heads/feature/x\n")
	write(t, p("app", ".git", "config"), remote)
	write(t, p("app", "sub", "file"), "")
	write(t, p("app", ".git", "worktrees", "wt", "HEAD"), "ref: refs/heads/other\n")
	write(t, p("app", ".git", "worktrees", "wt", "commondir"), "../..\n")
	write(t, p("wt", ".git"), "gitdir: "+p("app", ".git", "worktrees", "wt")+"\n")
	write(t, p("app", ".git", "modules", "lib", "HEAD"), "0123456789012345678901234567890123456789\n")
	write(t, p("app", ".git", "modules", "lib", "config"), "[core]\n")
	write(t, p("app", "lib", ".git"), "gitdir: ../.git/modules/lib\n")
	write(t, p("local", ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, p("local", ".git", "config"), "[core]\n")
	write(t, p("local", ".git", "worktrees", "wt", "HEAD"), "ref: refs/heads/w\n")
	write(t, p("local", ".git", "worktrees", "wt", "commondir"), "../..\n")
	write(t, p("localwt", ".git"), "gitdir: ../local/.git/worktrees/wt\n")
	write(t, p("fork", ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, p("fork", ".git", "config"), "[remote \"origin\"]\n\turl = git@github.com:me/app.git\n[remote \"upstream\"]\n\turl = https://github.com/acme/app\n")
	write(t, p("chosen", ".git", "HEAD"), "0123456789012345678901234567890123456789\n")
	write(t, p("chosen", ".git", "config"), "[remote \"origin\"]\n\turl = git@github.com:me/app.git\n[remote \"up\"]\n\turl = https://github.com/acme/other\n\tgh-resolved = base\n")
	write(t, p("plain", "file"), "")
	write(t, p("nogit", ".git", "odd"), "")
	for _, tt := range []struct{ dir, project, branch string }{
		{p("app"), "github.com/acme/app", "feature/x"},
		{p("app", "sub"), "github.com/acme/app", "feature/x"},
		{p("app", "gone", "deeper"), "github.com/acme/app", "feature/x"},
		{p("wt"), "github.com/acme/app", "other"},
		{p("app", "lib"), p("app", "lib"), ""},
		{p("local"), p("local"), "main"},
		{p("localwt"), p("local"), "w"},
		{p("fork"), "github.com/acme/app", "main"},
		{p("chosen"), "github.com/acme/other", ""},
		{p("plain"), "", ""}, // temporary
		{p("nogit"), "", ""},
		{"/srv/plain/", filepath.FromSlash("/srv/plain"), ""},
		{"", "", ""},
	} {
		if project, branch := ProjectOf(tt.dir); project != tt.project || branch != tt.branch {
			t.Errorf("ProjectOf(%s) = %q, %q; want %q, %q", tt.dir, project, branch, tt.project, tt.branch)
		}
	}
	if _, _, ok := GitProject(p("plain")); ok {
		t.Error("a plain folder is in git")
	}
}

func TestNormalRemote(t *testing.T) {
	for in, want := range map[string]string{
		"https://github.com/acme/app.git":               "github.com/acme/app",
		"https://user:secret@GitHub.com/acme/app/":      "github.com/acme/app",
		"git@github.com:acme/app.git":                   "github.com/acme/app",
		"ssh://git@github.com:22/acme/app.git":          "github.com/acme/app",
		"ssh://git@ssh.github.com:443/acme/app.git":     "github.com/acme/app",
		"github.com:acme/app":                           "github.com/acme/app",
		"https://gitlab.example.com/group/sub/App.git/": "gitlab.example.com/group/sub/App",
		"git@github.com:Acme/App.git":                   "github.com/acme/app",
		"git@ssh.dev.azure.com:v3/Org/proj/repo":        "dev.azure.com/org/proj/_git/repo",
		"https://org@dev.azure.com/org/proj/_git/repo":  "dev.azure.com/org/proj/_git/repo",
		"git://host/x":  "host/x",
		"../elsewhere":  "",
		"https://host/": "",
		"::::":          "",
		"":              "",
	} {
		if got := normalRemote(in); got != want {
			t.Errorf("normalRemote(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMarkGoesWithTheFolder(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"one", "two"} {
		write(t, filepath.Join(root, name, ".git", "HEAD"), "ref: refs/heads/main\n")
		write(t, filepath.Join(root, name, ".git", "logs", "HEAD"), "0000 1111 Ann <a@example.com> 1795257460 +0000\tcommit (initial): "+name+"\n")
	}
	one, two := PlaceOf(filepath.Join(root, "one")), PlaceOf(filepath.Join(root, "two"))
	if one.Mark == "" || one.Mark == two.Mark {
		t.Errorf("marks %q and %q: want two that differ", one.Mark, two.Mark)
	}
	if err := os.Rename(filepath.Join(root, "one"), filepath.Join(root, "moved")); err != nil {
		t.Fatal(err)
	}
	if got := PlaceOf(filepath.Join(root, "moved")); got.Mark != one.Mark || got.Project == one.Project {
		t.Errorf("after a move: %+v, was %+v", got, one)
	}
}

func TestTemporary(t *testing.T) {
	for dir, want := range map[string]bool{
		t.TempDir(): true, os.TempDir(): true, "/tmp/x/y": true, "/var/tmp": true, "/tmpx": false, "/home/ann/tmp": false, "/": false,
	} {
		if got := Temporary(filepath.FromSlash(dir)); got != want && filepath.Separator == '/' {
			t.Errorf("Temporary(%s) = %t", dir, got)
		}
	}
}
