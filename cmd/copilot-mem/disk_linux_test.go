package main

import "testing"

func TestFuseOf(t *testing.T) {
	const mounts = "/dev/sda1 / ext4 rw 0 0\nann@host: /mnt/my\\040files fuse.sshfs rw 0 0\n/dev/sdb1 /mnt/my\\040files/local fuse.ntfs-3g rw 0 0\n"
	for dir, want := range map[string]string{
		"/home": "", "/mnt/my files": "fuse.sshfs", "/mnt/my files/data": "fuse.sshfs", "/mnt/my files/local/data": "", "/mnt/my filesystem": "",
	} {
		if got := fuseOf(mounts, dir); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
