package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

// rerun runs another command of this program without a terminal; what it prints is told only when it fails.
func (e *env) rerun(ctx context.Context, args ...string) error {
	var out bytes.Buffer
	quiet := *e
	quiet.Stdin, quiet.Stdout, quiet.Stderr, quiet.TTY = strings.NewReader(""), &out, &out, false
	root := newRoot(&quiet)
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		return fmt.Errorf("copilot-mem %s: %w", args[0], err)
	}
	return nil
}

// initArgs is the command that finishes or refreshes an installation.
func initArgs(r install.Record) []string {
	args := []string{"init", "--scope", r.Scope, "--dir", r.Dir}
	for _, receipt := range r.Receipts {
		if slices.ContainsFunc(receipt.Files, func(f install.File) bool { return strings.HasPrefix(f.Path, ".github/copilot-mem/bin/") }) {
			args = append(args, "--vendor-binary")
			break
		}
	}
	return append(args, "--yes")
}

// quoteArgs writes arguments as a person types them in a shell of this system.
func quoteArgs(args []string) string {
	var words []string
	for _, a := range args {
		if a == "" || strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:\\@=+,") != "" {
			a = render.Bash(a)
			if onWindows {
				a = render.PowerShell(a)
			}
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

func (h *health) installed(context.Context) doctor.Outcome {
	if h.broken != nil {
		return broken(h.broken)
	}
	if len(h.records) == 0 {
		if slices.ContainsFunc(h.sources(), hookSource.ours) {
			return info("run `copilot-mem init` where you want it for yourself, too", "nothing is installed by you; the repository or a plugin brings the hooks")
		}
		return bad("run `copilot-mem init`", "nothing is installed")
	}
	var places, evidence []string
	for _, r := range h.records {
		if r.State != install.Done {
			return h.initAgain(bad("", "scope %s in %s was interrupted", r.Scope, r.Dir), r)
		}
		if _, err := os.Stat(r.Dir); errors.Is(err, fs.ErrNotExist) {
			return warn("run `copilot-mem init` where the folder is now, and `copilot-mem uninstall "+quoteArgs([]string{"--scope", r.Scope, "--dir", r.Dir})+"`",
				"%s: scope %s is installed there, and the folder is gone or was moved", r.Dir, r.Scope)
		}
		places = append(places, fmt.Sprintf("%s in %s (%s)", r.Scope, r.Dir, r.Version))
		for _, receipt := range r.Receipts {
			evidence = append(evidence, fmt.Sprintf("scope %s: %d files below %s", r.Scope, len(receipt.Files), receipt.Dir))
		}
	}
	return with(ok("%s", strings.Join(places, ", ")), evidence...)
}

func (h *health) installedVersion(context.Context) doctor.Outcome {
	if len(h.records) == 0 {
		return skipped("nothing is installed")
	}
	for _, r := range h.records {
		if r.Version != pluginVersion() {
			return h.initAgain(warn("", "scope %s in %s was installed by version %s, this is %s", r.Scope, r.Dir, r.Version, pluginVersion()), r)
		}
	}
	return ok("installed by this version, %s", pluginVersion())
}

func (h *health) files(context.Context) doctor.Outcome {
	var changed, missing, evidence []string
	var damaged []install.Record
	n := 0
	for _, r := range h.records {
		lost := false
		for _, f := range recordStates(r) {
			n++
			path := inDir(r.Dir, f.Path)
			switch f.State {
			case install.Changed:
				changed = append(changed, path)
			case install.Missing:
				missing = append(missing, path)
				lost = true
			}
			evidence = append(evidence, f.State+" "+path)
		}
		if lost {
			damaged = append(damaged, r)
		}
	}
	switch {
	case n == 0:
		return skipped("nothing is installed")
	case len(missing) > 0:
		return with(h.initAgain(bad("", "missing: %s", someOf(missing)), damaged...), evidence...)
	case len(changed) > 0:
		return with(warn("keep your changes, or put ours back with `copilot-mem init --force`, which leaves a copy of yours", "changed since init: %s", someOf(changed)), evidence...)
	}
	return with(ok("%d files as installed", n), evidence...)
}

func inDir(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

// someOf names the first of a list and counts the rest.
func someOf(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// ownFiles are the paths of all receipts.
func (h *health) ownFiles() map[string]bool {
	own := map[string]bool{}
	for _, r := range h.records {
		for _, receipt := range r.Receipts {
			for _, f := range receipt.Files {
				own[filepath.Join(receipt.Dir, filepath.FromSlash(f.Path))] = true
			}
		}
	}
	return own
}

// foreign looks for hooks that start our programs and no receipt knows, and for files in folders that are wholly ours.
func (h *health) foreign(context.Context) doctor.Outcome {
	own := h.ownFiles()
	for _, s := range h.sources() {
		if s.scope != render.User || own[s.file] || !s.ours() || h.broken != nil {
			continue // a repository's files may be those of a teammate
		}
		return warn("look at it, then remove it: `copilot-mem init` writes its own", "%s: starts copilot-mem, but init did not write it", s.file)
	}
	var strange []string
	for _, dir := range h.ownFolders() {
		// A folder that cannot be read is told by the check of the files.
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !own[path] && !strings.Contains(d.Name(), ".bak") {
				strange = append(strange, path)
			}
			return nil
		})
	}
	if len(strange) > 0 {
		return with(warn("look at them; what you do not know should not lie in a folder that the client loads, so remove it", "not ours: %s", someOf(strange)), strange...)
	}
	if len(own) == 0 {
		return skipped("nothing is installed")
	}
	return ok("no file of somebody else in our folders")
}

// ownFolders are those in which nothing lies but what init writes.
func (h *health) ownFolders() []string {
	var dirs []string
	add := func(dir string) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for path := range h.ownFiles() {
		switch dir := filepath.Dir(path); {
		case filepath.Base(path) == "SKILL.md", filepath.Base(dir) == "bin":
			add(dir)
		case strings.HasPrefix(path, h.data.Plugin()+string(filepath.Separator)):
			add(h.data.Plugin())
		}
	}
	slices.Sort(dirs)
	return dirs
}

// once: the client runs every copy of a hook that it finds (client 1.0.102).
func (h *health) once(context.Context) doctor.Outcome {
	var active, scopes []string
	for _, s := range h.sources() {
		if s.ours() {
			active, scopes = append(active, s.file), append(scopes, s.scope)
		}
	}
	switch len(active) {
	case 0:
		return skipped("no hook of ours is installed for this folder")
	case 1:
		return ok("one install is active here: %s", scopes[0])
	}
	hint := "remove " + active[0]
	for i, s := range scopes {
		if h.ownFiles()[active[i]] {
			hint = "choose one: `copilot-mem uninstall --scope " + s + "` takes the first of them out"
			break
		}
	}
	return with(warn(hint, "installed more than once for this folder: %s (%s); each event is stored once, but every hook runs %d times, and each policy's steps too",
		strings.Join(scopes, ", "), someOf(active), len(active)), active...)
}

// programPaths are the programs of ours that receipts list or installed hooks start, and whether a receipt lists them.
func (h *health) programPaths() map[string]bool {
	paths := map[string]bool{}
	for path := range h.ownFiles() {
		if name := strings.TrimSuffix(filepath.Base(path), ".exe"); (name == "copilot-mem" || name == "copilot-mem-hook") && filepath.Base(filepath.Dir(path)) != "skills" {
			paths[path] = true
		}
	}
	for _, c := range h.commandPaths() {
		// One that is gone is told by hooks/command.
		if _, err := os.Stat(c); err == nil && !paths[c] {
			paths[c] = false
		}
	}
	return paths
}

// programs looks at the files that the hooks start: there, runnable here, and of this version.
func (h *health) programs(context.Context) doctor.Outcome {
	var names, evidence []string
	paths := h.programPaths()
	for path := range paths {
		names = append(names, path)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return skipped("no program is installed, and no hook names one by its path")
	}
	for _, path := range names {
		o := h.program(path, paths[path])
		if o.Result != doctor.OK {
			return o
		}
		evidence = append(evidence, o.Detail)
	}
	return with(ok("%s", someOf(names)), evidence...)
}

func (h *health) program(path string, listed bool) doctor.Outcome {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h.initAgain(bad("", "%s: the program is gone, and what it captures and guards with it", path), h.recordsWith(path)...)
	case err != nil:
		return broken(err)
	case !info.Mode().IsRegular():
		return h.initAgain(bad("", "%s: not a file", path), h.recordsWith(path)...)
	case !onWindows && info.Mode().Perm()&0o111 == 0:
		o := bad("chmod +x "+quoteArgs([]string{path}), "%s: not executable", path)
		return repaired(o, "chmod 0755 "+path, func(context.Context) error { return os.Chmod(path, 0o755) })
	}
	platform, err := platformOf(path)
	if err != nil {
		return h.replaceProgram(bad("", "%s: not a program that this system can start (%v)", path, err), path)
	}
	if want := runtime.GOOS + "/" + runtime.GOARCH; platform != want && !strings.Contains(path, filepath.FromSlash("copilot-mem/bin/")+strings.ReplaceAll(platform, "/", "-")) {
		return h.replaceProgram(bad("", "%s: made for %s, this is %s", path, platform, want), path)
	}
	if listed && h.stateOf(path) == install.Changed {
		return h.replaceProgram(bad("", "%s: not the program that the receipt lists", path), path)
	}
	if o, other := h.otherBuild(path); other {
		return o
	}
	return ok("%s: %s", path, platform)
}

// stateOf is what has become of a file that a receipt lists.
func (h *health) stateOf(path string) string {
	for _, r := range h.records {
		for _, f := range recordStates(r) {
			if inDir(r.Dir, f.Path) == path {
				return f.State
			}
		}
	}
	return ""
}

// recordsWith are the installations that have a file, or whose hooks start it.
func (h *health) recordsWith(path string) []install.Record {
	var with []install.Record
	for _, r := range h.records {
		for _, receipt := range r.Receipts {
			for _, f := range receipt.Files {
				name := filepath.Join(receipt.Dir, filepath.FromSlash(f.Path))
				if name == path || slices.ContainsFunc(h.commandsIn(name), func(c string) bool { return c == path }) {
					with = append(with, r)
				}
			}
		}
	}
	return with
}

// replaceProgram offers to remove a program and have init put the right one there: nobody edits a program.
func (h *health) replaceProgram(o doctor.Outcome, path string) doctor.Outcome {
	records := h.recordsWith(path)
	if len(records) == 0 || !h.ownFiles()[path] {
		o.Hint = "replace the file by the one of this version and system, or run `copilot-mem init` again"
		return o
	}
	args := initArgs(records[0])
	o.Hint = fmt.Sprintf("remove the file and run `copilot-mem %s`", quoteArgs(args[:len(args)-1]))
	return repaired(o, "remove "+path+" and run copilot-mem "+quoteArgs(args), func(ctx context.Context) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return h.rerun(ctx, args...)
	})
}

// otherBuild compares the revision and the modules that a program was made of with those of this one.
func (h *health) otherBuild(path string) (doctor.Outcome, bool) {
	theirs, err := buildinfo.ReadFile(path)
	if err != nil {
		return doctor.Outcome{}, false // stripped: nothing to compare
	}
	exe := thisProgram()
	mine, err := buildinfo.ReadFile(exe)
	if err != nil || mine.Main.Path != theirs.Main.Path {
		return doctor.Outcome{}, false
	}
	revision := func(b *buildinfo.BuildInfo) string {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(12, len(s.Value))]
			}
		}
		return ""
	}
	if a, b := revision(mine), revision(theirs); a != "" && b != "" && a != b {
		return h.initAgain(warn("", "%s: built from %s, copilot-mem from %s", path, b, a), h.recordsWith(path)...), true
	}
	return doctor.Outcome{}, false
}
