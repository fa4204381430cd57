package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/doctor"
)

// openToOthers lists what in the data folder others may read, and what of the installed files they may change. The bits of
// the folder itself shut everything in it, so it is looked at before a reader tightens it.
func (h *health) openToOthers() []string {
	if onWindows {
		return nil
	}
	var open []string
	// What cannot be walked is told by the checks that read it.
	_ = filepath.WalkDir(string(h.data), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if d.IsDir() && (path == h.data.Bin() || path == h.data.Plugin()) {
			return fs.SkipDir // programs and the plugin are nobody's secret
		}
		if info, err := d.Info(); err == nil && d.Type()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			open = append(open, path)
		}
		return nil
	})
	for path := range h.ownFiles() {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o002 != 0 {
			open = append(open, path)
		}
	}
	return open
}

func (h *health) modes(context.Context) doctor.Outcome {
	if onWindows {
		return skipped("modes say nothing on Windows")
	}
	info, err := os.Stat(string(h.data))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return skipped("there is no data folder yet")
	case err != nil:
		return broken(err)
	case info.Mode().Perm()&0o300 != 0o300:
		return repaired(bad("chmod u+rwx "+quoteArgs([]string{string(h.data)}), "%s: you may not write to it (%04o): nothing is captured", h.data, info.Mode().Perm()),
			"chmod 0700 "+string(h.data), func(context.Context) error { return os.Chmod(string(h.data), 0o700) })
	case len(h.open) == 0:
		return ok("only you can read %s", h.data)
	}
	o := bad("chmod go-rwx "+quoteArgs(h.open[:1]), "others may read or change: %s", someOf(h.open))
	return with(repaired(o, fmt.Sprintf("chmod go-rwx %s", someOf(h.open)), func(context.Context) error {
		var errs []error
		for _, path := range h.open {
			errs = append(errs, shut(path, h.ownFiles()[path]))
		}
		return errors.Join(errs...)
	}), h.open...)
}

// shut takes the bits of others away; an installed file only loses the bit to change it.
func shut(path string, installed bool) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a reader took it
	}
	if err != nil {
		return err
	}
	bits := fs.FileMode(0o077)
	if installed {
		bits = 0o002
	}
	return os.Chmod(path, info.Mode().Perm()&^bits)
}

// choices: a file that is not understood stops capture, or leaves a default where something was chosen.
func (h *health) choices(context.Context) doctor.Outcome {
	c, err := capture.Choices(h.data, h.Dir)
	switch {
	case err != nil:
		return broken(err)
	case !c.Capture.Enabled:
		return info("`copilot-mem config list` says by whom", "capture is switched off here")
	}
	return ok("the files of choices are understood")
}
