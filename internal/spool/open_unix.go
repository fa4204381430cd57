//go:build unix

package spool

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// errBusy is what renaming or deleting a file gives that somebody has open.
const errBusy = syscall.EBUSY

// openNoFollow opens path unless it is a symlink. O_NONBLOCK makes a planted pipe an error rather than a wait.
func openNoFollow(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
}

func tooOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

func isBusy(err error) bool { return errors.Is(err, errBusy) }
