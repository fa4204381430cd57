package capture

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow has no counterpart here: making a symlink needs a privilege, and every file is looked at before it is opened.
const noFollow = 0

// fileID is unknown here without opening the file again; the bytes before the position tell a rewritten file.
func fileID(fs.FileInfo) uint64 { return 0 }

const detachedProcess = 0x00000008

// detach starts a program without a console and with all three handles closed to it, and does not wait for it.
func detach(exe string, args, env []string, dir string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	p, err := os.StartProcess(exe, append([]string{exe}, args...), &os.ProcAttr{
		Dir:   dir,
		Env:   env,
		Files: []*os.File{null, null, null},
		Sys:   &syscall.SysProcAttr{HideWindow: true, CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		return err
	}
	return p.Release()
}
