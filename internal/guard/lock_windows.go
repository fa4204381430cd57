package guard

import (
	"os"

	"golang.org/x/sys/windows"
)

const noFollow = 0

// tryLock takes the lock of an open file, unless another holder has it.
func tryLock(f *os.File) bool {
	return lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

// tryShare takes the lock together with other readers, unless a writer has it.
func tryShare(f *os.File) bool { return lockFile(f, windows.LOCKFILE_FAIL_IMMEDIATELY) }

// lockFile locks one byte far behind the content: locks are mandatory here, and content must stay readable.
func lockFile(f *os.File, flags uint32) bool {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30}) == nil
}

// foreign: the profile folder's access list is inherited; permission bits say nothing here.
func foreign(os.FileInfo) bool { return false }
