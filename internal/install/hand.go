package install

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	copier "github.com/otiai10/copy"
)

// hand makes every change on the disk, one system call at a time. before, which only tests set, hears of each call
// first: it may fail it, or end the process there. A nil hand just works.
type hand struct {
	before func(op, name string) error
}

func (h *hand) at(op, name string) error {
	if h == nil || h.before == nil {
		return nil
	}
	return h.before(op, name)
}

func (h *hand) mkdir(root *os.Root, name string, mode fs.FileMode) error {
	if err := h.at("mkdir", name); err != nil {
		return err
	}
	return root.Mkdir(name, mode)
}

// mkdirAt makes a folder that lies above or beside every root: path is absolute.
func (h *hand) mkdirAt(path string, mode fs.FileMode) error {
	if err := h.at("mkdir", path); err != nil {
		return err
	}
	return os.Mkdir(path, mode)
}

func (h *hand) remove(root *os.Root, name string) error {
	if err := h.at("remove", name); err != nil {
		return err
	}
	return root.Remove(name)
}

func (h *hand) rename(root *os.Root, from, to string) error {
	if err := h.at("rename", to); err != nil {
		return err
	}
	return root.Rename(from, to)
}

// removeEmpty removes a folder that nothing is in; anything else stays. path is absolute.
func (h *hand) removeEmpty(path string) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() && h.at("rmdir", path) == nil {
		os.Remove(path) //nolint:errcheck // not empty: it stays
	}
}

// rmdir is removeEmpty for a folder below root.
func (h *hand) rmdir(root *os.Root, name string) {
	if info, err := root.Lstat(name); err == nil && info.IsDir() && h.at("rmdir", name) == nil {
		root.Remove(name) //nolint:errcheck // not empty: it stays
	}
}

// writeNew writes a file that is not there yet, with exactly this mode, and syncs it.
func (h *hand) writeNew(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	if _, err := root.Lstat(name); err == nil {
		if err := h.remove(root, name); err != nil { // the rest of an interrupted run
			return err
		}
	}
	if err := h.at("create", name); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(h.fill(f, name, data, mode), f.Close())
}

// fill writes in two halves, so that a test can end the process between them.
func (h *hand) fill(f *os.File, name string, data []byte, mode fs.FileMode) error {
	for _, part := range [][]byte{data[:len(data)/2], data[len(data)/2:]} {
		if err := h.at("write", name); err != nil {
			return err
		}
		if _, err := f.Write(part); err != nil {
			return err
		}
	}
	if err := h.at("chmod", name); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := h.at("sync", name); err != nil {
		return err
	}
	return f.Sync()
}

// copyFile copies one file, or a link as a link, with its mode and time. The copy appears whole or not at all: temp is
// where it is made.
func (h *hand) copyFile(root *os.Root, from, temp, to string) error {
	if err := h.at("copy", to); err != nil {
		return err
	}
	full := func(name string) string { return filepath.Join(root.Name(), filepath.FromSlash(name)) }
	err := copier.Copy(full(from), full(temp), copier.Options{
		OnSymlink:         func(string) copier.SymlinkAction { return copier.Shallow },
		PermissionControl: copier.PerservePermission,
		PreserveTimes:     true,
		Sync:              true,
	})
	if err != nil {
		return err
	}
	if err := h.rename(root, temp, to); err != nil {
		return err
	}
	h.syncDir(root, path.Dir(to))
	return nil
}

// syncDir makes a rename last; systems that cannot sync a folder do without.
func (h *hand) syncDir(root *os.Root, dir string) {
	if h.at("syncdir", dir) != nil {
		return
	}
	if f, err := root.Open(dir); err == nil {
		f.Sync() //nolint:errcheck // see above
		f.Close()
	}
}
