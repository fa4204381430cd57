package copilot

import (
	"fmt"
	"os"
	"path/filepath"
)

// GitRoot gives the top folder of the repository that dir is in: the nearest one with a .git folder or, in a linked
// working tree or a submodule, a .git file. The client reads repository hooks there and nowhere else.
func GitRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s: not a folder", dir)
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d, nil
		}
		if isBare(d) {
			return "", &BareError{d}
		}
		if d == filepath.Dir(d) {
			return "", &NoRepositoryError{dir}
		}
	}
}

// NoRepositoryError says that a folder is in no git repository.
type NoRepositoryError struct{ Dir string }

func (e *NoRepositoryError) Error() string { return e.Dir + ": not in a git repository" }

// Hint says what to do.
func (e *NoRepositoryError) Hint() string {
	return "run `git init` first, name a repository with --dir, or use --scope user"
}

// isBare: a folder that is git's own, and lies in no working tree of that name.
func isBare(dir string) bool {
	if filepath.Base(dir) == ".git" {
		return false
	}
	head, err := os.Stat(filepath.Join(dir, "HEAD"))
	if err != nil || !head.Mode().IsRegular() {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// BareError says that a repository has no working tree.
type BareError struct{ Dir string }

func (e *BareError) Error() string {
	return e.Dir + ": a bare repository: there are no files to install hooks for"
}

// Hint says what to do.
func (e *BareError) Hint() string {
	return "name a clone, or a folder that `git worktree add` made, with --dir; or use --scope user"
}
