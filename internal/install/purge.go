package install

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Purge removes from the data folder everything whose name begins with one of ours, then the folder if nothing is left.
// A folder that was named by mistake keeps the rest; left names it.
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
		if !slices.ContainsFunc(ours, func(name string) bool { return e.Name() == name || strings.HasPrefix(e.Name(), name+"-") }) {
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
