package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing/fstest"
)

// Read returns every regular file below fsys, .git left out. Symbolic links are followed, as the client does; one that
// leads nowhere, or out of an os.Root, is an error: what is packed must be whole, and nobody else's.
func Read(fsys fs.FS) (Tree, error) {
	var t Tree
	w := walker{fsys: fsys, broken: func(p string, err error) error { return fmt.Errorf("%s: link: %w", p, err) }}
	w.fn = func(p string, d fs.DirEntry) error {
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		info, err := fs.Stat(fsys, p)
		if err != nil {
			return err
		}
		t = append(t, File{Path: p, Data: data, Mode: info.Mode().Perm()})
		return nil
	}
	err := w.walk(".", nil)
	t.Sort()
	return t, err
}

// Walk calls fn for every directory and regular file below dir, in order of names, following symbolic links; broken
// links and links that lead back up are passed over. fn may return fs.SkipDir for a directory.
func Walk(fsys fs.FS, dir string, fn func(path string, d fs.DirEntry) error) error {
	w := walker{fsys: fsys, fn: fn, broken: func(string, error) error { return nil }}
	return w.walk(dir, nil)
}

type walker struct {
	fsys   fs.FS
	fn     func(string, fs.DirEntry) error
	broken func(string, error) error
}

func (w walker) walk(dir string, above []fs.FileInfo) error {
	info, err := fs.Stat(w.fsys, dir)
	if err != nil {
		return err
	}
	if Loops(info, above) {
		return nil
	}
	above = append(above, info)
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil {
		return err
	}
	for _, d := range entries {
		p := path.Join(dir, d.Name())
		if d.Type()&fs.ModeSymlink != 0 {
			info, err := fs.Stat(w.fsys, p)
			if err != nil {
				if err := w.broken(p, err); err != nil {
					return err
				}
				continue
			}
			d = named{fs.FileInfoToDirEntry(info), d.Name()}
		}
		if !d.IsDir() && !d.Type().IsRegular() {
			continue
		}
		err := w.fn(p, d)
		if d.IsDir() && errors.Is(err, fs.SkipDir) {
			continue
		}
		if err == nil && d.IsDir() {
			err = w.walk(p, above)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Loops reports whether a link has led back to one of the folders above.
func Loops(dir fs.FileInfo, above []fs.FileInfo) bool {
	return slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, dir) })
}

// named is what a link leads to, under the link's name.
type named struct {
	fs.DirEntry
	name string
}

func (n named) Name() string { return n.name }

// Sort puts the files in order of their paths.
func (t Tree) Sort() {
	slices.SortFunc(t, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// Get returns the file at path.
func (t Tree) Get(path string) (File, bool) {
	i, ok := slices.BinarySearchFunc(t, path, func(f File, p string) int { return strings.Compare(f.Path, p) })
	if !ok {
		return File{}, false
	}
	return t[i], true
}

// Under returns the files below the folder dir.
func (t Tree) Under(dir string) Tree {
	var out Tree
	for _, f := range t {
		if strings.HasPrefix(f.Path, dir+"/") {
			out = append(out, f)
		}
	}
	return out
}

// FS shows the tree as a file system.
func (t Tree) FS() fs.FS {
	m := fstest.MapFS{}
	for _, f := range t {
		m[f.Path] = &fstest.MapFile{Data: f.Data, Mode: f.Mode}
	}
	return m
}

// Check refuses paths that leave the folder, name no file, or come twice.
func (t Tree) Check() error {
	for i, f := range t {
		if !fs.ValidPath(f.Path) || f.Path == "." || strings.Contains(f.Path, `\`) {
			return fmt.Errorf("%q: not a path inside the plugin", f.Path)
		}
		if i > 0 && t[i-1].Path >= f.Path {
			return fmt.Errorf("%s: out of order or twice in the tree", f.Path)
		}
	}
	return nil
}
