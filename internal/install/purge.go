package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Purge removes from the data folder everything whose name is one of ours, or begins with one and a hyphen, then
// the folder if nothing is left. A folder that was named by mistake keeps the rest; left names it.
func Purge(dir string, ours []string) (left []string, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !isOurs(e.Name(), ours) {
			left = append(left, e.Name())
			continue
		}
		if err := root.RemoveAll(e.Name()); err != nil {
			return left, err
		}
	}
	if len(left) == 0 {
		(*hand)(nil).removeEmpty(dir)
	}
	return left, nil
}

func isOurs(name string, ours []string) bool {
	return slices.ContainsFunc(ours, func(our string) bool {
		rest, ok := strings.CutPrefix(name, our)
		return ok && (rest == "" || rest[0] == '-')
	})
}

// Weigh counts the files that Purge would remove, and their bytes.
func Weigh(dir string, ours []string) (files int, bytes int64, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if filepath.Dir(p) == filepath.Clean(dir) && !isOurs(d.Name(), ours) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			files, bytes = files+1, bytes+info.Size()
		}
		return nil
	})
	return files, bytes, err
}
