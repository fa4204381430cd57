package facts

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Root is the repository that a directory belongs to: the nearest ancestor with a .git entry. Without one it is the
// directory itself.
func Root(cwd string) (root string, isGit bool) {
	cwd = filepath.Clean(cwd)
	for dir := cwd; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return cwd, false
		}
	}
}

// Sources are the directories whose policies hold at cwd, innermost first: every one from cwd up to the root, and for a
// submodule on to the root of the repository around it.
func Sources(cwd string) []string {
	cwd = filepath.Clean(cwd)
	root, isGit := Root(cwd)
	if !isGit {
		return []string{cwd}
	}
	for isSubmodule(root) {
		outer, ok := Root(filepath.Dir(root))
		if !ok {
			break
		}
		root = outer
	}
	var dirs []string
	for dir := cwd; ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == root || dir == filepath.Dir(dir) {
			return dirs
		}
	}
}

// isSubmodule reports whether .git is a file that points into another repository's modules.
func isSubmodule(root string) bool {
	return strings.Contains(filepath.ToSlash(readRegular(filepath.Join(root, ".git"))), "/modules/")
}

// Paths gives every form of a path that a pattern may match, and the canonical one (4.2): real, with slashes, relative
// to the root, or absolute when it lies outside.
func (f *Facts) Paths(arg string) (candidates []string, canonical string) {
	abs := f.absolute(arg)
	return f.forms(abs, f.disk.realPath(abs))
}

// absolute resolves a path as a tool's argument: "~" is home, relative paths start at the event's directory.
func (f *Facts) absolute(arg string) string {
	if arg == "~" || strings.HasPrefix(arg, "~/") || runtime.GOOS == "windows" && strings.HasPrefix(arg, `~\`) {
		if f.in.Home != "" {
			return filepath.Join(f.in.Home, arg[1:])
		}
	}
	arg = filepath.FromSlash(arg)
	if !filepath.IsAbs(arg) {
		arg = filepath.Join(f.cwd, arg)
	}
	return filepath.Clean(arg)
}

// forms are the forms of an absolute path whose real path is known.
func (f *Facts) forms(abs, real string) (candidates []string, canonical string) {
	root := f.Root()
	realRoot, realCwd := f.real()
	add := func(s string) {
		if s = filepath.ToSlash(s); !slices.Contains(candidates, s) {
			candidates = append(candidates, s)
		}
	}
	for _, p := range []string{abs, real} {
		inside := false
		for _, base := range []string{root, realRoot} {
			if rel, ok := below(p, base); ok {
				add(rel)
				inside = true
			}
		}
		for _, base := range []string{f.cwd, realCwd} {
			if rel, ok := below(p, base); ok && inside {
				add(rel)
			}
		}
		if !inside {
			add(strings.TrimPrefix(filepath.ToSlash(p), "/"))
		}
	}
	add(abs)
	add(real)
	if rel, ok := below(real, realRoot); ok {
		return candidates, filepath.ToSlash(rel)
	}
	return candidates, filepath.ToSlash(real)
}

// below gives p relative to base if p is base or lies below it.
func below(p, base string) (string, bool) {
	if p == base {
		return ".", true
	}
	if base == "" {
		return "", false
	}
	if !strings.HasSuffix(base, string(filepath.Separator)) {
		base += string(filepath.Separator)
	}
	if rel, ok := strings.CutPrefix(p, base); ok && rel != "" {
		return rel, true
	}
	return "", false
}

// Within reports whether an absolute clean path is dir or lies below it.
func Within(p, dir string) bool { _, ok := below(p, dir); return ok }

// realPath resolves the links of the part of an absolute path that exists; the rest is appended.
func realPath(abs string) string {
	rest := ""
	for p := abs; ; {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		// A link whose target is missing still leads there.
		if target, err := os.Readlink(p); err == nil && strings.Count(rest, string(filepath.Separator)) < 64 {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(p), target)
			}
			if target = filepath.Clean(target); target != p && !Within(target, p) {
				return filepath.Join(realDangling(target, 8), rest)
			}
		}
		parent := filepath.Dir(p)
		if parent == p {
			return abs
		}
		rest = filepath.Join(filepath.Base(p), rest)
		p = parent
	}
}

// realDangling follows links that lead to nothing yet, at most so many.
func realDangling(p string, links int) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(p))
	if err != nil {
		return p
	}
	p = filepath.Join(dir, filepath.Base(p))
	target, err := os.Readlink(p)
	if err != nil || links == 0 {
		return p
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return realDangling(filepath.Clean(target), links-1)
}

// Exists reports whether there is a file, directory or link of that name.
func Exists(abs string) bool { return exists(abs) }

// diskCache remembers what is asked again and again of directories while one event is judged.
type diskCache struct {
	mu    sync.Mutex
	reals map[string]string
	roots map[string]string
}

// realPath is realPath with the directory's answer remembered.
func (c *diskCache) realPath(abs string) string {
	if fi, err := os.Lstat(abs); err == nil && fi.Mode()&os.ModeSymlink != 0 || filepath.Dir(abs) == abs {
		return realPath(abs)
	}
	dir := filepath.Dir(abs)
	return filepath.Join(remember(&c.mu, &c.reals, dir, func() string { return realPath(dir) }), filepath.Base(abs))
}

// RealPath resolves the links of an absolute path, whose last parts need not exist.
func (f *Facts) RealPath(abs string) string { return f.disk.realPath(abs) }

// root is Root, remembered.
func (c *diskCache) root(dir string) string {
	return remember(&c.mu, &c.roots, dir, func() string { root, _ := Root(dir); return root })
}

func remember(mu *sync.Mutex, m *map[string]string, key string, find func() string) string {
	mu.Lock()
	defer mu.Unlock()
	if *m == nil {
		*m = map[string]string{}
	}
	got, ok := (*m)[key]
	if !ok {
		got = find()
		(*m)[key] = got
	}
	return got
}

func exists(abs string) bool { _, err := os.Lstat(abs); return err == nil }

func isDir(abs string) bool { fi, err := os.Stat(abs); return err == nil && fi.IsDir() }

// isRealDir is isDir for what a deletion reaches: a link to a directory is only a link.
func isRealDir(abs string) bool { fi, err := os.Lstat(abs); return err == nil && fi.IsDir() }

// maxBelow bounds the files that an event on a directory stands for.
const maxBelow = 1000

// filesBelow lists the files below a directory, at most maxBelow of them, links not followed.
func filesBelow(dir string) []string {
	var out []string
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error { // what cannot be read is not listed
		switch {
		case err != nil:
			return nil
		case len(out) >= maxBelow:
			return filepath.SkipAll
		case !d.IsDir():
			out = append(out, p)
		}
		return nil
	})
	return out
}
