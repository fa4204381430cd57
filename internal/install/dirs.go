package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// withDisk hands a folder to fn as a file system that no link leads out of; a folder that is not there is empty.
func withDisk(dir string, fn func(fs.FS) (Plan, error)) (Plan, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fn(emptyFS{})
	}
	if err != nil {
		return Plan{}, &Error{dir, cause(err), "make the folder accessible for you, or choose another scope"}
	}
	defer root.Close()
	return fn(root.FS())
}

// ReadDrift is [Drift] for the folder that the receipt names.
func ReadDrift(receipt Receipt) ([]FileState, error) {
	var states []FileState
	_, err := withDisk(receipt.Dir, func(disk fs.FS) (Plan, error) {
		states = Drift(receipt, disk)
		return Plan{}, nil
	})
	return states, err
}

type emptyFS struct{}

func (emptyFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// absentDirs lists dir and the folders above it that are not there, outermost first.
func absentDirs(dir string) []string {
	var list []string
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		list = append(list, dir)
	}
	slices.Reverse(list)
	return list
}

// madeDirs remembers the folders that were made, to take them back when nothing comes of it.
type madeDirs struct {
	hand *hand
	list []string
}

func (m *madeDirs) all(dir string, mode fs.FileMode) error {
	for _, d := range absentDirs(dir) {
		if err := m.hand.mkdirAt(d, mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return &Error{d, cause(err), adviceFor(err) + ", or choose another scope"}
		}
		m.list = append(m.list, d)
	}
	return nil
}

func (m *madeDirs) keep() { m.list = nil }

func (m *madeDirs) undo() {
	for _, d := range slices.Backward(m.list) {
		m.hand.removeEmpty(d)
	}
}
