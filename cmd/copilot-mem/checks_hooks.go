package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/render"
	"github.com/copilot-mem/copilot-mem/internal/validate"
)

// The shell forms that package render writes; assets/hooks has them.
var (
	guardedPath = regexp.MustCompile(`^\[ -x '((?:[^']|'\\'')*)' \]`)
	inPlugin    = regexp.MustCompile(`^p="\$PLUGIN_ROOT/bin/([A-Za-z0-9-]+)"`)
	lookedUp    = regexp.MustCompile(`command -v copilot-mem-hook`)
)

// program is the file that an entry of ours starts; empty where the entry looks for it when it runs, or is not understood.
func (e hookEntry) program() string {
	if e.Exec != "" {
		return e.Exec
	}
	if m := guardedPath.FindStringSubmatch(e.Bash); m != nil {
		return strings.ReplaceAll(m[1], `'\''`, "'")
	}
	if m := inPlugin.FindStringSubmatch(e.Bash); m != nil {
		return filepath.Join(e.root, "bin", m[1])
	}
	return ""
}

// commandPaths are the programs that our installed hooks name by their path.
func (h *health) commandPaths() []string {
	var out []string
	for _, s := range h.sources() {
		for _, e := range s.entries {
			if p := e.program(); e.ours() && p != "" && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// commandsIn are those of one hook file.
func (h *health) commandsIn(file string) []string {
	var out []string
	for _, s := range h.sources() {
		if s.file != file {
			continue
		}
		for _, e := range s.entries {
			if p := e.program(); e.ours() && p != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

// lookUp finds the program as assets/hooks/lookup.bash does, empty where there is none.
func (h *health) lookUp() string {
	for _, name := range []string{"copilot-mem-hook", "copilot-mem"} {
		places := []string{filepath.Join(h.data.Bin(), name)}
		if name == "copilot-mem-hook" {
			places = append(places, filepath.Join(h.root, ".github", "copilot-mem", "bin", runtime.GOOS+"-"+runtime.GOARCH, name))
		}
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
		for _, p := range places {
			if onWindows {
				p += ".exe"
			}
			if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
				return p
			}
		}
	}
	return ""
}

func (h *health) command(context.Context) doctor.Outcome {
	var programs []string
	ours, looks := false, false
	for _, s := range h.sources() {
		for _, e := range s.entries {
			if !e.ours() {
				continue
			}
			ours = true
			looks = looks || e.program() == "" && lookedUp.MatchString(e.Bash)
		}
	}
	if !ours {
		return skipped("no hook of ours is installed for this folder")
	}
	for _, c := range h.commandPaths() {
		if _, err := os.Stat(c); errors.Is(err, fs.ErrNotExist) {
			o := h.initAgain(bad("", "%s: the program that the hooks run is gone or was moved: nothing is captured", c), h.recordsWith(c)...)
			if o.Repair == nil {
				o.Hint = "remove the hook file that names it, and run `copilot-mem init`"
			}
			return o
		}
		programs = append(programs, c)
	}
	if looks {
		p := h.lookUp()
		if p == "" {
			return bad("put copilot-mem and copilot-mem-hook on PATH, or run `copilot-mem init` again", "the hooks look for copilot-mem-hook on PATH and in %s, and it is in neither: nothing is captured", h.data.Bin())
		}
		programs = append(programs, p+" (found as the hooks look for it)")
	}
	// Recall runs copilot-mem itself; where no entry runs the small program, that one captures too.
	small := slices.ContainsFunc(programs, func(p string) bool { return strings.HasPrefix(filepath.Base(p), "copilot-mem-hook") })
	if len(programs) > 0 && !small {
		return info("put copilot-mem-hook beside copilot-mem (`make build` makes both) and run `copilot-mem init` again", "%s captures; the small copilot-mem-hook is faster", programs[0])
	}
	return ok("%s", someOf(programs))
}

// valid asks package validate what the client would refuse of our hook files, and whether its settings can be read.
func (h *health) valid(context.Context) doctor.Outcome {
	var files []string
	for _, s := range h.sources() {
		switch {
		case s.err != nil && (s.settings || h.ownFiles()[s.file]):
			o := bad("correct the file; `copilot-mem validate "+quoteArgs([]string{s.file})+"` names the place", "%s: the client drops the whole file: %v", s.file, s.err)
			if h.ownFiles()[s.file] {
				o.Hint = "put ours back with `copilot-mem init --force`, which leaves a copy of what is there"
			}
			return o
		case s.ours() && !s.settings:
			files = append(files, s.file)
		}
	}
	if len(files) == 0 {
		return skipped("no hook file of ours is installed for this folder")
	}
	findings, _, err := validate.Paths(files, validate.Options{Dir: h.Dir, Kind: "hooks"})
	if err != nil {
		return broken(err)
	}
	for _, f := range findings {
		if f.Severity == validate.Error {
			return bad("put ours back with `copilot-mem init --force`, which leaves a copy of what is there", "%s:%d: %s", f.File, f.Line, f.Message)
		}
	}
	for _, s := range h.sources() {
		if s.ours() && !s.settings && len(missingEvents(s)) > 0 {
			return warn("put ours back with `copilot-mem init --force`, which leaves a copy of what is there", "%s: no hook for %s", s.file, strings.Join(missingEvents(s), ", "))
		}
	}
	return ok("%s", someOf(files))
}

// captured are the events without which memory has holes.
var captured = []string{"sessionStart", "userPromptSubmitted", "postToolUse", "postToolUseFailure", "agentStop", "sessionEnd"}

func missingEvents(s hookSource) []string {
	var missing []string
	for _, event := range captured {
		if !slices.ContainsFunc(s.entries, func(e hookEntry) bool { return e.event == event && e.ours() }) {
			missing = append(missing, event)
		}
	}
	return missing
}

// failsClosed: a preToolUse or permissionRequest hook that cannot start denies every tool call, whoever installed it.
func (h *health) failsClosed(ctx context.Context) doctor.Outcome {
	n := 0
	for _, s := range h.sources() {
		for _, e := range s.entries {
			if e.event != "preToolUse" && e.event != "permissionRequest" || e.Type != "" && e.Type != "command" {
				continue
			}
			n++
			why := h.wouldFail(ctx, e)
			if why == "" {
				continue
			}
			hint := "mend the hook, or remove it from the file"
			if e.ours() && h.ownFiles()[s.file] {
				hint = "put ours back with `copilot-mem init --force`, which leaves a copy of what is there"
			}
			return bad(hint, "%s: %s %s: the client denies every tool call", s.file, e.event, why)
		}
	}
	if n == 0 {
		return skipped("no hook that could deny a tool call")
	}
	return ok("%d hooks that could deny a tool call can start", n)
}

// wouldFail says why a hook cannot start, as far as that shows without running it.
func (h *health) wouldFail(ctx context.Context, e hookEntry) string {
	dir := h.root
	if e.root != "" {
		dir = e.root
	}
	if e.Cwd != "" && !strings.Contains(e.Cwd, "$") {
		if dir = e.Cwd; !filepath.IsAbs(dir) {
			dir = filepath.Join(h.root, dir)
		}
		if !isFolder(dir) {
			return "has the folder " + e.Cwd + ", which is not there"
		}
	}
	line := e.line()
	switch {
	case e.Exec != "":
		if missingProgram(e.Exec, dir) {
			return "starts " + e.Exec + ", which is not there"
		}
		return ""
	case line == "" && e.PowerShell != "" && !onWindows:
		if _, err := exec.LookPath("pwsh"); err != nil {
			return "has only a powershell command, and pwsh is not on PATH"
		}
		return ""
	case line == "" || onWindows:
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, hurried)
	defer cancel()
	check := exec.CommandContext(ctx, "/bin/bash", "--norc", "--noprofile", "-n", "-c", line)
	if _, failed := errors.AsType[*exec.ExitError](check.Run()); failed && ctx.Err() == nil {
		return "is no command that bash understands"
	}
	// A command with any condition in it may well be prepared for a program that is gone.
	if strings.ContainsAny(line, "|&;<>()$`{}[]\n=") {
		return ""
	}
	if words := strings.Fields(line); len(words) > 0 && !strings.ContainsAny(words[0], `'"\`) && missingProgram(words[0], dir) && !shellWords[words[0]] {
		return "starts " + words[0] + ", which is not there"
	}
	return ""
}

// shellWords are the first words of a simple command that bash knows by itself.
var shellWords = map[string]bool{
	":": true, ".": true, "source": true, "exit": true, "cd": true, "echo": true, "printf": true, "true": true, "false": true, "test": true,
	"eval": true, "exec": true, "command": true, "builtin": true, "export": true, "set": true, "unset": true, "read": true, "return": true,
	"if": true, "for": true, "while": true, "case": true, "trap": true, "type": true, "wait": true, "kill": true, "umask": true, "!": true,
}

func missingProgram(name, dir string) bool {
	if strings.Contains(name, "$") {
		return false
	}
	if !strings.ContainsRune(name, '/') && !strings.ContainsRune(name, filepath.Separator) {
		_, err := exec.LookPath(name)
		return errors.Is(err, exec.ErrNotFound)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, filepath.FromSlash(name))
	}
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// enabled: disableAllHooks in a trusted repository's settings silences hooks of users and plugins too, in a hook file that
// file, and in the user's settings nothing (client 1.0.102).
func (h *health) enabled(context.Context) doctor.Outcome {
	if h.Getenv("COPILOT_MEM_DISABLE") == "1" {
		return warn("unset it: `unset COPILOT_MEM_DISABLE`", "COPILOT_MEM_DISABLE=1: the hooks do nothing where the client is started with it")
	}
	var harmless []string
	for _, s := range h.sources() {
		switch {
		case !s.disabled:
		case s.settings && s.scope == render.Repo && strings.Contains(s.file, filepath.FromSlash(".github/copilot/")):
			return bad("remove the key from the file, or set it to false", "%s: disableAllHooks silences every hook in this repository, yours too, once it is trusted", s.file)
		case !s.settings && s.ours():
			return bad("remove the key from the file, or put ours back with `copilot-mem init --force`", "%s: disableAllHooks: nothing in this file runs", s.file)
		default:
			harmless = append(harmless, s.file)
		}
	}
	if len(harmless) > 0 {
		return ok("disableAllHooks in %s does not silence our hooks", someOf(harmless))
	}
	return ok("nothing turns hooks off here")
}

// trust: the client passes over a repository's hooks in silence until its folder is trusted.
func (h *health) trust(context.Context) doctor.Outcome {
	i := slices.IndexFunc(h.sources(), func(s hookSource) bool { return s.scope == render.Repo && s.ours() })
	if i < 0 {
		return skipped("no hook of ours in this repository")
	}
	for _, name := range []string{"COPILOT_ALLOW_ALL", "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS"} {
		if h.Getenv(name) == "true" {
			return ok("%s=true: every folder is trusted", name)
		}
	}
	var config struct {
		TrustedFolders []string `json:"trustedFolders"`
	}
	if err := readSettings(h.home.Config(), &config); err != nil {
		return warn("start `copilot` once and see what it says", "%s: %v", h.home.Config(), err)
	}
	for _, t := range config.TrustedFolders {
		if rel, err := filepath.Rel(t, h.root); err == nil && filepath.IsLocal(rel) {
			return with(ok("%s is trusted", h.root), h.home.Config()+": trustedFolders has "+t)
		}
	}
	o := warn("start `copilot` there and trust the folder; without a terminal `copilot --trust-folder`, or COPILOT_ALLOW_ALL=true where that is safe",
		"%s is not a trusted folder: the client passes over its hooks in silence", h.root)
	if slices.ContainsFunc(h.sources(), func(s hookSource) bool { return s.scope != render.Repo && s.ours() }) {
		o.Result = doctor.Info
		o.Detail += "; those of the user or the plugin run all the same"
	}
	return o
}
