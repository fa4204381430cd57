package main

import (
	"os"
	"strings"
	"syscall"
)

const fuseMagic = 0x65735546

// networkKinds are the magic numbers of statfs(2), linux/magic.h.
var networkKinds = map[uint32]string{
	0x6969: "nfs", 0x517B: "smb", 0xFF534D42: "cifs", 0xFE534D42: "smb2", 0x01021997: "9p", 0x5346414F: "afs",
	0x00C36400: "ceph", 0x73757245: "coda", 0x564C: "ncp", 0x47504653: "gpfs", 0x0BD00BD0: "lustre", 0x19830326: "beegfs", 0xAAD7AAEA: "panfs",
}

// networkFuse are file systems in user space that lie elsewhere; others, such as ntfs-3g, are on a local disk.
var networkFuse = map[string]bool{"sshfs": true, "rclone": true, "s3fs": true, "glusterfs": true, "davfs": true, "davfs2": true, "gcsfuse": true, "curlftpfs": true, "smbnetfs": true}

func readVolume(dir string) (volume, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return volume{}, err
	}
	v := volume{s.Bavail * uint64(s.Bsize), networkKinds[uint32(s.Type)]} //nolint:gosec // sizes and 32-bit magic numbers
	if uint32(s.Type) == fuseMagic {                                      //nolint:gosec // as above
		mounts, err := os.ReadFile("/proc/self/mounts")
		if err != nil {
			return v, nil //nolint:nilerr // its kind is not known
		}
		v.kind = fuseOf(string(mounts), dir)
	}
	return v, nil
}

// fuseOf is the kind of the mount that a folder lies in, where that is on a network; mounts is the text of /proc/self/mounts.
func fuseOf(mounts, dir string) (kind string) {
	longest := -1
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		at := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`).Replace(f[1])
		if dir != at && !strings.HasPrefix(dir, strings.TrimSuffix(at, "/")+"/") || len(at) < longest {
			continue
		}
		longest, kind = len(at), ""
		if name, ok := strings.CutPrefix(f[2], "fuse."); ok && networkFuse[name] {
			kind = f[2]
		}
	}
	return kind
}
