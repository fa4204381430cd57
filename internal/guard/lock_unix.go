//go:build unix

package guard

import (
	"os"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// tryLock takes the lock of an open file, unless another holder has it.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// tryShare takes the lock together with other readers, unless a writer has it.
func tryShare(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
}

// foreign says whether somebody else owns a file or may write to it.
func foreign(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().Perm()&0o022 != 0 || ok && int(st.Uid) != os.Geteuid()
}
