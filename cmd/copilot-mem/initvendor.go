package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

// vendorThis is --vendor-binary without a word: the system that this program runs on.
const vendorThis = "this"

// cloudTarget is the system that GitHub's cloud agent runs on.
const cloudTarget = "linux/amd64"

func hostFolder() string { return folderOf(hostTarget()) }

func folderOf(target string) string { return strings.ReplaceAll(target, "/", "-") }

// parseVendor gives targets, sorted and once each; none is an empty list.
func parseVendor(words []string) ([]string, error) {
	var targets []string
	for _, w := range words {
		switch {
		case w == vendorThis || w == "true":
			targets = append(targets, hostTarget())
		case w == "none" || w == "false":
		case slices.Contains(render.Targets, w):
			targets = append(targets, w)
		default:
			return nil, &usageError{fmt.Errorf("--vendor-binary %s: unknown system", w), "write this, none, or some of " + strings.Join(render.Targets, ",")}
		}
	}
	slices.Sort(targets)
	return slices.Compact(targets), nil
}

func vendorsHost(all []render.Program) bool {
	return slices.ContainsFunc(all, func(p render.Program) bool { return p.Target == hostFolder() })
}

// vendored reads the program of every target: that of this system beside this program, others from --binaries, or from
// the repository where the last init has put them.
func (e *env) vendored(f *initFlags, own install.Program) ([]render.Program, error) {
	var all []render.Program
	for _, target := range f.vendor {
		source, err := e.vendorSource(f, target, own)
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(source)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &vendorError{target, source}
		}
		if err != nil {
			return nil, err
		}
		if got := targetOf(data); got != "" && got != target {
			return nil, &vendorError{target, source + " is for " + got}
		}
		all = append(all, render.Program{Name: hookProgram, Target: folderOf(target), Data: data})
	}
	return all, nil
}

func (e *env) vendorSource(f *initFlags, target string, own install.Program) (string, error) {
	name := hookProgram
	if strings.HasPrefix(target, "windows/") {
		name += ".exe"
	}
	switch {
	case f.binaries != "":
		dir := f.binaries
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(e.Dir, dir)
		}
		return filepath.Join(dir, folderOf(target), name), nil
	case target == hostTarget() && own.Name == hookProgram:
		return own.Source, nil
	case !f.given["vendor-binary"]:
		dir, err := e.scopeDir(f.scope, f.dir)
		return filepath.Join(dir, ".github", "copilot-mem", "bin", folderOf(target), name), err
	}
	return "", &vendorError{target, "beside this program"}
}

// vendorError says that there is no program that may go into a repository.
type vendorError struct{ target, where string }

func (e *vendorError) Error() string {
	return fmt.Sprintf("%s: no %s to put into the repository: %s", e.target, hookProgram, e.where)
}

func (e *vendorError) Hint() string {
	if e.target == hostTarget() {
		return "put copilot-mem-hook beside copilot-mem, or leave out --vendor-binary"
	}
	return "unpack the release for " + e.target + " into DIR/" + folderOf(e.target) + " and add --binaries DIR (in a checkout, `make programs` and --binaries bin/release)"
}

// targetOf reads from the first bytes of an executable which system it is for; empty where that cannot be known.
func targetOf(b []byte) string {
	var system, machine string
	switch {
	case len(b) > 20 && string(b[:4]) == "\x7fELF":
		system = "linux"
		machine = map[uint16]string{62: "amd64", 183: "arm64"}[binary.LittleEndian.Uint16(b[18:])]
	case len(b) > 8 && binary.LittleEndian.Uint32(b) == 0xfeedfacf: // Mach-O, 64 bit
		system = "darwin"
		machine = map[uint32]string{0x01000007: "amd64", 0x0100000c: "arm64"}[binary.LittleEndian.Uint32(b[4:])]
	case len(b) > 0x40 && string(b[:2]) == "MZ":
		system = "windows"
		if at := int64(binary.LittleEndian.Uint32(b[0x3c:])); at+6 <= int64(len(b)) {
			machine = map[uint16]string{0x8664: "amd64", 0xaa64: "arm64"}[binary.LittleEndian.Uint16(b[at+4:])]
		}
	}
	if machine == "" {
		return ""
	}
	return system + "/" + machine
}
