package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

const (
	hookProgram = "copilot-mem-hook"
	mainProgram = "copilot-mem"
)

func hostTarget() string { return runtime.GOOS + "/" + runtime.GOARCH }

// parseTargets gives the targets once each, sorted.
func parseTargets(words []string) ([]string, error) {
	var targets []string
	for _, w := range words {
		switch {
		case w == "all":
			targets = append(targets, render.Targets...)
		case slices.Contains(render.Targets, w):
			targets = append(targets, w)
		default:
			return nil, &usageError{fmt.Errorf("--target %s: unknown target", w), "write all, or one of " + strings.Join(render.Targets, ", ")}
		}
	}
	slices.Sort(targets)
	return slices.Compact(targets), nil
}

// programs finds what each target brings. Without --target and --binaries a plugin in SRC has none.
func (p *packing) programs() ([]render.Programs, error) {
	targets := p.targets
	if len(targets) == 0 && p.dir == "" {
		targets = []string{hostTarget()}
	}
	if len(targets) == 0 && p.flags.binaries != "" {
		return nil, &usageError{errors.New("--binaries: for which systems?"), "add --target all, or --target os/arch"}
	}
	var sets []render.Programs
	for _, t := range targets {
		files, err := p.programsOf(t)
		if err != nil {
			return nil, err
		}
		sets = append(sets, render.Programs{Target: t, Files: files})
	}
	if p.dir == "" && len(sets) > 1 {
		sets = hooksOnly(sets)
	}
	return sets, nil
}

// hooksOnly leaves the main program out where the bundle is for several systems: six copies are 80 MB, and no hook
// starts it. Who wants to search installs it anyway, to have it on PATH.
func hooksOnly(sets []render.Programs) []render.Programs {
	for i, s := range sets {
		sets[i].Files = slices.DeleteFunc(slices.Clone(s.Files), func(f plugin.File) bool { return !hasName(f, hookProgram) })
	}
	return sets
}

func hasName(f plugin.File, name string) bool { return strings.TrimSuffix(f.Path, ".exe") == name }

func hasProgram(s render.Programs, name string) bool {
	return slices.ContainsFunc(s.Files, func(f plugin.File) bool { return hasName(f, name) })
}

func (p *packing) programsOf(target string) ([]plugin.File, error) {
	dir := ""
	switch {
	case p.flags.binaries != "":
		dir = filepath.Join(p.e.absolute(p.flags.binaries), strings.ReplaceAll(target, "/", "-"))
	case p.dir != "":
		return nil, nil // the plugin brings its own
	case target == hostTarget():
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return ourPrograms(filepath.Dir(exe), filepath.Base(exe))
	default:
		return nil, &noProgramError{target, "beside this program for another system"}
	}
	files, err := readPrograms(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(files) == 0:
		return nil, &noProgramError{target, "in " + dir}
	case err != nil:
		return nil, err
	}
	if p.dir == "" && !hasProgram(render.Programs{Files: files}, hookProgram) {
		return nil, &noProgramError{target, "in " + dir}
	}
	return files, nil
}

// ourPrograms are this program and the hook program, where it lies beside this one.
func ourPrograms(dir, exe string) ([]plugin.File, error) {
	ending := filepath.Ext(exe)
	if ending != ".exe" {
		ending = ""
	}
	var files []plugin.File
	for from, to := range map[string]string{exe: mainProgram + ending, hookProgram + ending: hookProgram + ending} {
		data, err := os.ReadFile(filepath.Join(dir, from))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, plugin.File{Path: to, Data: data, Mode: 0o755})
	}
	return files, nil
}

// readPrograms takes every regular file of the folder.
func readPrograms(dir string) ([]plugin.File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []plugin.File
	for _, d := range entries {
		if !d.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, d.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, plugin.File{Path: d.Name(), Data: data, Mode: 0o755})
	}
	return files, nil
}

type noProgramError struct{ target, where string }

func (n *noProgramError) Error() string {
	return fmt.Sprintf("%s: no %s %s", n.target, hookProgram, n.where)
}

func (n *noProgramError) Hint() string {
	return "in a checkout, `make programs` builds them for every system: then add `--binaries bin/release`"
}
