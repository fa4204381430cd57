package main

import (
	"path/filepath"
	"syscall"
	"unsafe"
)

const driveRemote = 4 // DRIVE_REMOTE of GetDriveTypeW

func readVolume(dir string) (volume, error) {
	kernel := syscall.NewLazyDLL("kernel32.dll")
	path, err := syscall.UTF16PtrFromString(dir)
	if err != nil {
		return volume{}, err
	}
	var v volume
	if ok, _, err := kernel.NewProc("GetDiskFreeSpaceExW").Call(uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&v.free)), 0, 0); ok == 0 {
		return volume{}, err
	}
	root, err := syscall.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err != nil {
		return volume{}, err
	}
	if kind, _, _ := kernel.NewProc("GetDriveTypeW").Call(uintptr(unsafe.Pointer(root))); kind == driveRemote {
		v.kind = "network drive"
	}
	return v, nil
}
