package install

import (
	"fmt"
	"os"
	"path/filepath"
)

// The two programs, without the ending of the system.
const (
	hookName = "copilot-mem-hook"
	mainName = "copilot-mem"
)

// Program is what the hooks run.
type Program struct {
	Name   string   // copilot-mem-hook, or copilot-mem where the small one was not found
	Source string   // the file to copy
	Args   []string // what stands before the event's name
	Stable string   // its absolute place on PATH when it is found there; empty otherwise
}

// FindProgram finds the capture program beside the executable exe, else takes exe itself, which captures too. path is
// the value of PATH: a package manager's link there survives the next upgrade, while the place that it leads to does not.
func FindProgram(exe, path string) (Program, error) {
	real, err := filepath.EvalSymlinks(exe)
	if err != nil {
		return Program{}, fmt.Errorf("%s: %w", exe, err)
	}
	p := Program{Name: mainName, Source: real, Args: []string{"capture"}}
	for _, dir := range []string{filepath.Dir(exe), filepath.Dir(real)} {
		if hook := filepath.Join(dir, hookName+ending); isProgram(hook) {
			p = Program{Name: hookName, Source: hook}
			break
		}
	}
	source, err := os.Stat(p.Source)
	if err != nil {
		return Program{}, err
	}
	p.Stable = stable(path, p.Name, source)
	return p, nil
}

// FindMain is FindProgram for exe itself, which is copilot-mem.
func FindMain(exe, path string) (Program, error) {
	real, err := filepath.EvalSymlinks(exe)
	if err != nil {
		return Program{}, fmt.Errorf("%s: %w", exe, err)
	}
	source, err := os.Stat(real)
	if err != nil {
		return Program{}, err
	}
	return Program{Name: mainName, Source: real, Stable: stable(path, mainName, source)}, nil
}

// stable is the place on PATH where a program is found under its name; empty where it is not.
func stable(path, name string, source os.FileInfo) string {
	for _, dir := range filepath.SplitList(path) {
		candidate := filepath.Join(dir, name+ending)
		if !filepath.IsAbs(candidate) {
			continue
		}
		if info, err := os.Stat(candidate); err == nil && os.SameFile(info, source) {
			return candidate
		}
	}
	return ""
}

// OnPath reports whether a program of that name is in one of the folders of PATH.
func OnPath(name, path string) bool {
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) && isProgram(filepath.Join(dir, name+ending)) {
			return true
		}
	}
	return false
}

func isProgram(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && (windows || info.Mode().Perm()&0o111 != 0)
}
