package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// errBusy is what renaming or deleting a file gives that somebody has open: ERROR_SHARING_VIOLATION.
const errBusy = syscall.Errno(32)

// openNoFollow opens path unless it is a link. Between the look and the opening somebody could plant one, but making a
// link takes a privilege.
func openNoFollow(path string, flag int) (*os.File, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, flag, 0o600)
}

// Permission bits say nothing here; the profile folder's access list is inherited.
func tooOpen(fs.FileInfo) bool { return false }

// A file that is about to be deleted gives access denied.
func isBusy(err error) bool {
	return errors.Is(err, errBusy) || errors.Is(err, syscall.ERROR_ACCESS_DENIED)
}
