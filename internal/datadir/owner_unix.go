//go:build unix

package datadir

import (
	"io/fs"
	"os"
	"syscall"
)

// private says that permission bits mean something here.
const private = true

func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
