package facts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommits(t *testing.T) {
	dir, git := gitRepo(t, "mkdir docs src", "echo a > f; echo d > docs/d.md; git add f docs; git commit -q -m 'first words'", "git config alias.ci commit", "git config alias.shell '!git commit'",
		"echo b > f; echo e > docs/d.md; echo n > new.txt; echo s > src/s; git add docs", "echo 'from a file' > msg")
	f := func(path, status string) ChangedFile { return ChangedFile{path, status, ""} }
	for _, tt := range []struct {
		command, message, branch string
		files                    []ChangedFile
	}{
		{"git commit -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"git commit -m a -m 'b c'", "a\n\nb c", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"git commit -am \"it's\"", "it's", "main", []ChangedFile{f("docs/d.md", "modified"), f("f", "modified")}},
		{"git commit --all --message=x", "x", "main", []ChangedFile{f("docs/d.md", "modified"), f("f", "modified")}},
		{"git commit --mess=x", "x", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"git commit -F msg", "from a file", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"git commit -F - <<E\nfrom input\nE", "from input", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"git commit -m \"$(cat <<'E'\nfeat: x\n\nbody\nE\n)\"", "feat: x\n\nbody", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"git commit --amend --no-edit", "first words", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"git commit --fixup HEAD", "fixup! first words", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"git commit -m x f", "x", "main", []ChangedFile{f("docs/d.md", "modified"), f("f", "modified")}},
		{"git commit -m x -- f", "x", "main", []ChangedFile{f("docs/d.md", "modified"), f("f", "modified")}},
		{"git add new.txt && git commit -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified"), f("new.txt", "added")}},
		{"git add . && git commit -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified"), f("f", "modified"), f("msg", "added"), f("new.txt", "added"), f("src/s", "added")}},
		{"git add -u; git commit -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified"), f("f", "modified")}},
		{"git add -A ':!src' && git commit -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"cd src && git add s && git commit -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified"), f("src/s", "added")}},
		{"git -C src add . && git commit -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified"), f("src/s", "added")}},
		{"echo x > later && git add later && git commit -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified"), f("later", "added")}},
		{"git rm -q f && git commit -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified"), f("f", "deleted")}},
		{"git checkout -b topic && git commit -m x", "x", "topic", []ChangedFile{f("docs/d.md", "modified")}},
		{"git switch -c topic; git commit -m x", "x", "topic", []ChangedFile{f("docs/d.md", "modified")}},
		{"git ci -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"git shell -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"git -c alias.z='commit -m x' z", "x", "main", []ChangedFile{f("docs/d.md", "modified")}},
		{"GIT_EDITOR=true git --no-pager -c a.b=c --git-dir=.git --work-tree . commit -m x", "x", "main", []ChangedFile{f("docs/d.md", "modified")}},
	} {
		git.runs = nil
		commits := inRepo(t, dir, git, tt.command).Commits()
		if len(commits) != 1 {
			t.Errorf("%s: %d commits", tt.command, len(commits))
			continue
		}
		c := commits[0]
		if got := c.Message(); got != tt.message {
			t.Errorf("%s: message %q, want %q", tt.command, got, tt.message)
		}
		if got, known := c.Branch(); got != tt.branch || !known {
			t.Errorf("%s: branch %q, %v", tt.command, got, known)
		}
		files, known := c.Files()
		if diff := cmp.Diff(tt.files, files); diff != "" || !known {
			t.Errorf("%s: known %v (-want +got):\n%s", tt.command, known, diff)
		}
		if got := c.Author(); got != "me@example.com" {
			t.Errorf("%s: author %q", tt.command, got)
		}
		if len(git.runs) > gitRuns {
			t.Errorf("%s: git ran %d times: %q", tt.command, len(git.runs), git.runs)
		}
	}
	for _, command := range []string{"git status # git commit -m x", `echo "git commit -m x"`, "git help commit", "man git-commit", "git commit-tree HEAD^{tree}", "git commit --dry-run", "git log --grep commit"} {
		if got := inRepo(t, dir, git, command).Commits(); len(got) != 0 {
			t.Errorf("%s: a commit", command)
		}
	}
}

func TestCommitUnknown(t *testing.T) {
	dir, git := gitRepo(t, "echo a > f; git add f; git commit -q -m a")
	c := inRepo(t, dir, git, `git checkout "$B" && git add "$X" && git commit -m x`).Commits()[0]
	if _, known := c.Branch(); known {
		t.Error("an unknown branch is known")
	}
	if _, known := c.Files(); known {
		t.Error("unknown paths are known")
	}
	c = inRepo(t, dir, git, `cd "$X" && git commit -m x`).Commits()[0]
	if _, known := c.Branch(); known {
		t.Error("the branch of an unknown directory is known")
	}
	c = inRepo(t, dir, nil, "git commit -m x").Commits()[0]
	if _, known := c.Files(); known {
		t.Error("files are known without git")
	}
	dir, git = gitRepo(t, "echo a > f; git add f")
	files, known := inRepo(t, dir, git, "git commit -m x").Commits()[0].Files()
	if diff := cmp.Diff([]ChangedFile{{"f", "added", ""}}, files); diff != "" || !known {
		t.Errorf("first commit: known %v\n%s", known, diff)
	}
	if name, known := inRepo(t, dir, git, "git commit -m x").Commits()[0].Branch(); name != "main" || !known {
		t.Errorf("branch without commits: %q, %v", name, known)
	}
}

func TestPostCommit(t *testing.T) {
	dir, git := gitRepo(t, "echo a > f; git add f; git commit -q -m a", "echo b > g; git add g; git commit -q -m b")
	e := event(t, dir, "bash", map[string]string{"command": "git commit -m b"})
	e.Name = "postToolUse"
	files, known := New(Input{Event: e, Git: git}).Commits()[0].Files()
	if diff := cmp.Diff([]ChangedFile{{"g", "added", ""}}, files); diff != "" || !known {
		t.Errorf("known %v\n%s", known, diff)
	}
}

// nothing asks git before the fact is needed.
func TestGitIsLazy(t *testing.T) {
	dir, git := gitRepo(t, "echo a > f; git add f; git commit -q -m a")
	f := inRepo(t, dir, git, "git commit -m x && git push origin main")
	f.Files()
	f.Shell()
	f.Branch()
	f.Context()
	for _, c := range f.Commits() {
		c.Message()
		c.Branch()
	}
	f.Pushes()
	if len(git.runs) > 0 {
		t.Errorf("git ran: %q", git.runs)
	}
}

func TestGitLimit(t *testing.T) {
	dir, git := gitRepo(t, "echo a > f; git add f; git commit -q -m a")
	f := inRepo(t, dir, git, strings.Repeat("git commit --fixup HEAD;", 9))
	for _, c := range f.Commits() {
		c.Message()
		c.Files()
	}
	if len(git.runs) != gitRuns {
		t.Errorf("git ran %d times", len(git.runs))
	}
}

func TestPushes(t *testing.T) {
	dir, git := gitRepo(t, "mkdir src docs; echo a > f; git add f; git commit -q -m a; git init -q --bare ../remote.git; git remote add origin ../remote.git; git push -q -u origin main",
		"echo s > src/s; git add src; git commit -q -m s; git tag v1", "git checkout -q -b topic; echo d > docs/d; git add docs; git commit -q -m d", "git branch release/1")
	type want struct {
		ref                                     string
		refs                                    []string
		force, lease, del, tags, mirror, refsOK bool
		files                                   []string
		filesOK                                 bool
	}
	for _, tt := range []struct {
		command string
		want    want
	}{
		{"git push", want{ref: "refs/heads/topic", refs: []string{"refs/heads/topic"}, refsOK: true, files: []string{"docs/d", "src/s"}, filesOK: true}},
		{"git push origin main", want{ref: "refs/heads/main", refs: []string{"refs/heads/main"}, refsOK: true, files: []string{"src/s"}, filesOK: true}},
		{"git push origin HEAD:main", want{ref: "refs/heads/main", refs: []string{"refs/heads/main"}, refsOK: true, files: []string{"docs/d", "src/s"}, filesOK: true}},
		{"git push origin HEAD", want{ref: "refs/heads/topic", refs: []string{"refs/heads/topic"}, refsOK: true, files: []string{"docs/d", "src/s"}, filesOK: true}},
		{"git push origin main:review", want{ref: "refs/heads/review", refs: []string{"refs/heads/review"}, refsOK: true, files: []string{"src/s"}, filesOK: true}},
		{"git push origin +main", want{ref: "refs/heads/main", refs: []string{"refs/heads/main"}, force: true, refsOK: true, files: []string{"src/s"}, filesOK: true}},
		{"git push -fu origin topic", want{ref: "refs/heads/topic", refs: []string{"refs/heads/topic"}, force: true, refsOK: true, files: []string{"docs/d", "src/s"}, filesOK: true}},
		{"git push --force-with-lease", want{ref: "refs/heads/topic", refs: []string{"refs/heads/topic"}, lease: true, refsOK: true, files: []string{"docs/d", "src/s"}, filesOK: true}},
		{"git push --force --no-force", want{ref: "refs/heads/topic", refs: []string{"refs/heads/topic"}, refsOK: true, files: []string{"docs/d", "src/s"}, filesOK: true}},
		{"git push origin :main", want{ref: "refs/heads/main", refs: []string{"refs/heads/main"}, del: true, refsOK: true, filesOK: true}},
		{"git push -d origin main v1", want{ref: "refs/heads/main", refs: []string{"refs/heads/main", "refs/tags/v1"}, del: true, refsOK: true, filesOK: true}},
		{"git push origin v1", want{ref: "refs/tags/v1", refs: []string{"refs/tags/v1"}, refsOK: true, files: []string{"src/s"}, filesOK: true}},
		{"git push origin tag v1", want{ref: "refs/tags/v1", refs: []string{"refs/tags/v1"}, refsOK: true, files: []string{"src/s"}, filesOK: true}},
		{"git tag v2 && git push origin v2", want{ref: "refs/tags/v2", refs: []string{"refs/tags/v2"}, refsOK: true}},
		{"git push --tags", want{ref: "refs/tags/v1", refs: []string{"refs/tags/v1"}, tags: true, refsOK: true, files: []string{"src/s"}, filesOK: true}},
		{"git push --all", want{ref: "refs/heads/main", refs: []string{"refs/heads/main", "refs/heads/release/1", "refs/heads/topic"}, refsOK: true, files: []string{"docs/d", "src/s"}, filesOK: true}},
		{"git push origin refs/heads/topic:refs/heads/x/y", want{ref: "refs/heads/x/y", refs: []string{"refs/heads/x/y"}, refsOK: true, files: []string{"docs/d", "src/s"}, filesOK: true}},
		{"git push origin $B", want{}},
		{"git push elsewhere topic", want{ref: "refs/heads/topic", refs: []string{"refs/heads/topic"}, refsOK: true}},
		{"echo n > n && git add n && git commit -m n && git push", want{ref: "refs/heads/topic", refs: []string{"refs/heads/topic"}, refsOK: true, files: []string{"docs/d", "n", "src/s"}, filesOK: true}},
	} {
		f := inRepo(t, dir, git, tt.command)
		if len(f.Pushes()) != 1 {
			t.Errorf("%s: %d pushes", tt.command, len(f.Pushes()))
			continue
		}
		p := f.Pushes()[0]
		got := want{p.Ref, p.Refs, p.Force, p.Lease, p.Delete, p.Tags, p.Mirror, p.RefsKnown, nil, false}
		got.files, got.filesOK = p.Files()
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(want{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.command, diff)
		}
	}
	if got := inRepo(t, dir, git, "git push --dry-run").Pushes(); len(got) != 0 {
		t.Error("a dry run is a push")
	}
	if p := inRepo(t, dir, git, "git push --mirror").Pushes()[0]; !p.Mirror || p.Remote != "origin" {
		t.Errorf("mirror: %+v", p)
	}
}

func TestWorktreeBranch(t *testing.T) {
	dir, git := gitRepo(t, "echo a > f; git add f; git commit -q -m a; git worktree add -q -b side ../wt")
	if got := inRepo(t, filepath.Join(filepath.Dir(dir), "wt"), git, "git commit -m x").Branch(); got != "side" {
		t.Errorf("branch of a worktree: %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("0123456789012345678901234567890123456789\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if name, known := inRepo(t, dir, git, "git commit -m x").Commits()[0].Branch(); name != "" || !known {
		t.Errorf("detached head: %q, %v", name, known)
	}
}
