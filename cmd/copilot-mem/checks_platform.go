package main

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"io"
	"os"
)

// The machines of the programs that are released, in Go's words.
var (
	elfMachines   = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}
	machoMachines = map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}
	peMachines    = map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}
)

var errNoProgram = errors.New("neither ELF, Mach-O nor PE")

// platformOf reads from the head of a program what it was made for: "linux/arm64". A machine that is not in the tables is "?".
func platformOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	magic := make([]byte, 4)
	if _, err := io.ReadFull(f, magic); err != nil {
		return "", errNoProgram
	}
	switch {
	case string(magic) == elf.ELFMAG:
		p, err := elf.NewFile(f)
		if err != nil {
			return "", err
		}
		return "linux/" + machine(elfMachines, p.Machine), nil
	case string(magic[:2]) == "MZ":
		p, err := pe.NewFile(f)
		if err != nil {
			return "", err
		}
		return "windows/" + machine(peMachines, p.Machine), nil
	}
	p, err := macho.NewFile(f)
	if err != nil {
		return "", errNoProgram
	}
	return "darwin/" + machine(machoMachines, p.Cpu), nil
}

func machine[K comparable](names map[K]string, k K) string {
	if name, ok := names[k]; ok {
		return name
	}
	return "?"
}
