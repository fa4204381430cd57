package main

import (
	"strings"
	"syscall"
)

const mntLocal = 0x1000 // MNT_LOCAL of sys/mount.h

func readVolume(dir string) (volume, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return volume{}, err
	}
	v := volume{free: s.Bavail * uint64(s.Bsize)}
	if s.Flags&mntLocal == 0 {
		var name strings.Builder
		for _, c := range s.Fstypename {
			if c == 0 {
				break
			}
			name.WriteByte(byte(c))
		}
		v.kind = name.String()
	}
	return v, nil
}
