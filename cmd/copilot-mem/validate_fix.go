package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aymanbagabas/go-udiff"

	"github.com/copilot-mem/copilot-mem/internal/validate"
)

// repairs are the flags around --fix.
type repairs struct{ wanted, dryRun, yes bool }

// run shows what can be repaired, asks, and repairs. text says that stdout is for people.
func (r repairs) run(e *env, paths []string, o validate.Options, text bool) error {
	ask := e.interactive(r.yes, !text)
	if !r.yes && !r.dryRun && !ask {
		return &usageError{errors.New("nobody to ask whether to change files"), "add --yes to repair, or --dry-run to look"}
	}
	fixes, err := validate.Fixes(paths, o)
	if err != nil || len(fixes) == 0 {
		return err
	}
	out := e.Stderr
	if text {
		out = e.Stdout
	}
	if err := showFixes(out, fixes); err != nil || r.dryRun {
		return err
	}
	if ask {
		if ok, err := e.confirm("Change "+count(len(fixes), "file")+"?", true); err != nil || !ok {
			return err
		}
	}
	var problems []error
	for _, f := range fixes {
		path := f.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.Dir, path)
		}
		if err := applyFix(path, f); err != nil {
			problems = append(problems, fmt.Errorf("%s: not changed: %w", f.File, err))
		}
	}
	return errors.Join(problems...)
}

func showFixes(w io.Writer, fixes []validate.Fix) error {
	for _, f := range fixes {
		text := udiff.Unified(f.File, f.File+" (repaired)", visible(f.Before), visible(f.After))
		if f.Executable {
			text += f.File + ": becomes executable\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// visible shows what a repair is about and a terminal would not: byte order marks and carriage returns. It also keeps
// what a file says from steering the terminal.
func visible(data []byte) string {
	data = bytes.ReplaceAll(data, []byte("\uFEFF"), []byte("<U+FEFF>"))
	return screen(string(bytes.ReplaceAll(data, []byte("\r"), []byte("<CR>"))))
}

// applyFix writes beside the file, syncs and renames; it refuses links, and files that changed since they were read.
func applyFix(path string, f validate.Fix) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("a link, or no regular file")
	}
	mode := info.Mode().Perm()
	if f.Executable {
		mode |= 0o111 & (mode >> 2) // for everybody who may read it
	}
	if bytes.Equal(f.Before, f.After) {
		return os.Chmod(path, mode)
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, f.Before) {
		return errors.New("changed meanwhile")
	}
	return replaceFile(path, f.After, mode)
}

func replaceFile(path string, data []byte, mode fs.FileMode) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".copilot-mem-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
