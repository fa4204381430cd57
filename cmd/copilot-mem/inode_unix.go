//go:build !windows

package main

import (
	"os"
	"syscall"
)

func inode(path string) (uint64, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(s.Ino), true //nolint:unconvert // 32 bits on some systems
}
