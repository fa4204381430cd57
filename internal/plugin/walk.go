package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing/fstest"
)

// maxDepth ends the walk where symbolic links form a loop.
const maxDepth = 32

// Read returns every regular file below fsys, .git left out. Symbolic links are followed, as the client does.
func Read(fsys fs.FS) (Tree, error) {
	var t Tree
	err := Walk(fsys, ".", func(p string, d fs.DirEntry) error {
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
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
	})
	t.Sort()
	return t, err
}

// Walk calls fn for every directory and regular file below dir, in order of names, following symbolic links;
// broken links are passed over. fn may return fs.SkipDir for a directory.
func Walk(fsys fs.FS, dir string, fn func(path string, d fs.DirEntry) error) error {
	return walk(fsys, dir, 0, fn)
}

func walk(fsys fs.FS, dir string, depth int, fn func(string, fs.DirEntry) error) error {
	if depth > maxDepth {
		return nil
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return err
	}
	for _, d := range entries {
		p := path.Join(dir, d.Name())
		if d.Type()&fs.ModeSymlink != 0 {
			info, err := fs.Stat(fsys, p)
			if err != nil {
				continue
			}
			d = named{fs.FileInfoToDirEntry(info), d.Name()}
		}
		if !d.IsDir() && !d.Type().IsRegular() {
			continue
		}
		err := fn(p, d)
		if d.IsDir() && errors.Is(err, fs.SkipDir) {
			continue
		}
		if err == nil && d.IsDir() {
			err = walk(fsys, p, depth+1, fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
