package facts

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ErrGitLimit says that an event has asked git often enough.
var ErrGitLimit = errors.New("git: asked four times for this event already")

const (
	gitRuns    = 4
	gitTimeout = 2 * time.Second
)

// NewGit runs the git of the given environment, 2 s at most, without taking optional locks.
func NewGit(env []string) Git { return execGit{env} }

type execGit struct{ env []string }

func (g execGit) Run(dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	// A pager, a credential helper or a monitor of the repository would be somebody else's program.
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(append([]string(nil), g.env...), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = 100 * time.Millisecond
	return cmd.Output()
}

// gitRunner counts what one event asks of git, and remembers the answers that are asked for twice.
type gitRunner struct {
	git  Git
	home string

	mu      sync.Mutex
	count   int
	configs map[string]map[string][]string
	status  map[string]statusAnswer
}

func (r *gitRunner) run(dir string, args ...string) ([]byte, error) {
	if r.git == nil {
		return nil, errors.New("git: not available")
	}
	r.mu.Lock()
	r.count++
	over := r.count > gitRuns
	r.mu.Unlock()
	if over {
		return nil, ErrGitLimit
	}
	return r.git.Run(dir, args...)
}

// config gives the aliases, branches, remotes and users of a repository and its user, keys in lower case (a name in the
// middle as it is), values in order. Nil when git cannot tell.
func (r *gitRunner) config(dir string) map[string][]string {
	r.mu.Lock()
	c, known := r.configs[dir]
	r.mu.Unlock()
	if known {
		return c
	}
	out, err := r.run(dir, "config", "-z", "--get-regexp", `^(alias|branch|remote|user)\.`)
	if err == nil || len(out) == 0 && !errors.Is(err, ErrGitLimit) {
		c = map[string][]string{}
		for entry := range strings.SplitSeq(string(out), "\x00") {
			if key, value, _ := strings.Cut(entry, "\n"); key != "" {
				c[key] = append(c[key], value)
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.configs == nil {
		r.configs = map[string]map[string][]string{}
	}
	r.configs[dir] = c
	return c
}

func (r *gitRunner) configValue(dir, key string) string {
	values := r.config(dir)[key]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

func (r *gitRunner) author(dir string) string { return r.configValue(dir, "user.email") }

// gitDirs finds the git directory of a worktree and the directory that its refs are in.
func gitDirs(dir string) (gitDir, common string, ok bool) {
	root, isGit := Root(dir)
	if !isGit {
		if exists(filepath.Join(dir, "HEAD")) && isDir(filepath.Join(dir, "refs")) { // a bare repository
			return dir, dir, true
		}
		return "", "", false
	}
	gitDir = filepath.Join(root, ".git")
	if !isDir(gitDir) { // a worktree or submodule
		to, found := strings.CutPrefix(strings.TrimSpace(readRegular(gitDir)), "gitdir:")
		if !found {
			return "", "", false
		}
		gitDir = filepath.FromSlash(strings.TrimSpace(to))
		if !filepath.IsAbs(gitDir) {
			gitDir = filepath.Join(root, gitDir)
		}
	}
	common = gitDir
	if to := strings.TrimSpace(readRegular(filepath.Join(gitDir, "commondir"))); to != "" {
		common = filepath.FromSlash(to)
		if !filepath.IsAbs(common) {
			common = filepath.Join(gitDir, common)
		}
	}
	return gitDir, common, true
}

// branchAt reads the branch that is checked out; a detached head is known to be none.
func (r *gitRunner) branchAt(dir string) (name string, known bool) {
	gitDir, _, ok := gitDirs(dir)
	if !ok {
		return "", false
	}
	head := strings.TrimSpace(readRegular(filepath.Join(gitDir, "HEAD")))
	if head == "" {
		return "", false
	}
	ref, symbolic := strings.CutPrefix(head, "ref:")
	if !symbolic {
		return "", true
	}
	ref = strings.TrimSpace(ref)
	if ref == "refs/heads/.invalid" { // the refs are in a table
		out, err := r.run(dir, "symbolic-ref", "-q", "HEAD")
		if err != nil {
			return "", false
		}
		ref = strings.TrimSpace(string(out))
	}
	return strings.TrimPrefix(ref, "refs/heads/"), true
}

// hasRef reports whether a full ref name exists, and whether that can be told.
func hasRef(dir, ref string) (has, known bool) {
	_, common, ok := gitDirs(dir)
	if !ok || exists(filepath.Join(common, "reftable")) {
		return false, false
	}
	if fi, err := os.Stat(filepath.Join(common, filepath.FromSlash(ref))); err == nil && !fi.IsDir() {
		return true, true
	}
	for _, name := range packedRefs(common) {
		if name == ref {
			return true, true
		}
	}
	return false, true
}

func packedRefs(common string) []string {
	b, err := os.ReadFile(filepath.Join(common, "packed-refs"))
	if err != nil {
		return nil
	}
	var names []string
	for line := range strings.Lines(string(b)) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(name, "refs/") {
			names = append(names, name)
		}
	}
	return names
}

// refsBelow lists the refs with a prefix such as "refs/heads/", as full names.
func refsBelow(dir, prefix string) (refs []string, known bool) {
	_, common, ok := gitDirs(dir)
	if !ok || exists(filepath.Join(common, "reftable")) {
		return nil, false
	}
	seen := map[string]bool{}
	add := func(name string) {
		if strings.HasPrefix(name, prefix) && !seen[name] {
			seen[name] = true
			refs = append(refs, name)
		}
	}
	for _, p := range filesBelow(filepath.Join(common, filepath.FromSlash(prefix))) {
		if rel, ok := below(p, common); ok {
			add(filepath.ToSlash(rel))
		}
	}
	for _, name := range packedRefs(common) {
		add(name)
	}
	return refs, true
}
