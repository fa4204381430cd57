//go:build unix

package capture

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow refuses a symlink in the last place of a path; a fifo does not block.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// fileID tells a rewritten file from one that grew.
func fileID(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

// detach starts a program in its own session with all three descriptors closed to it, and does not wait for it.
// package os would fork a probe process first, to learn whether the kernel has process descriptors.
func detach(exe string, args, env []string, dir string) error {
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(null) }()
	fd := uintptr(null)
	_, err = syscall.ForkExec(exe, append([]string{exe}, args...), &syscall.ProcAttr{
		Dir:   dir,
		Env:   env,
		Files: []uintptr{fd, fd, fd},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	return err
}
