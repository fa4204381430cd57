package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

// proofError is an installation that is written, and does not work.
type proofError struct{ problem, hint string }

func (e *proofError) Error() string { return "installed, but " + e.problem }
func (e *proofError) Hint() string  { return e.hint }

// prove looks whether the installation took: every file is there as planned, and the program and the command line of
// every hook start. The programs are told to do nothing, so nothing is stored.
func (e *env) prove(ctx context.Context, p plan) (proof string, err error) {
	n, err := e.proveFiles(p)
	if err != nil {
		return "", err
	}
	start := time.Now()
	program := p.hookProgram()
	if err := e.starts(ctx, p, program, append(slices.Clone(p.program.Args), "userPromptSubmitted")); err != nil {
		return "", &proofError{fmt.Sprintf("the program that the hooks run does not start: %v", err), "see whether its folder allows programs (mount option noexec), then run `copilot-mem doctor`"}
	}
	took := time.Since(start)
	lines := p.hookLines()
	for _, line := range lines {
		if err := e.starts(ctx, p, "/bin/bash", []string{"--norc", "--noprofile", "-c", line}); err != nil {
			return "", &proofError{fmt.Sprintf("a hook does not start: %v", err), "run `copilot-mem doctor`; `copilot-mem uninstall` takes everything out"}
		}
	}
	return fmt.Sprintf("Checked: %s in place, %s start (%d ms).", plural(n, "file is", "files are"), plural(len(lines)+1, "program and hook", "programs and hooks"), took.Milliseconds()), nil
}

// proveFiles compares the disk with the receipts. What was kept for a person is theirs.
func (e *env) proveFiles(p plan) (n int, err error) {
	data, err := e.dataDir()
	if err != nil {
		return 0, err
	}
	records, err := install.Records(data.Receipts())
	if err != nil {
		return 0, err
	}
	kept := map[string]bool{}
	for _, plan := range p.job.Plans {
		for _, op := range plan.Ops {
			if op.Op == install.OpKeep && (op.Foreign || op.Reason != "up to date") {
				kept[filepath.Join(plan.Dir, filepath.FromSlash(op.Path))] = true
			}
		}
	}
	for _, r := range records {
		if r.Scope != p.request.Scope || r.Dir != p.request.Dir {
			continue
		}
		for _, receipt := range r.Receipts {
			states, err := install.ReadDrift(receipt)
			if err != nil {
				return n, err
			}
			for _, s := range states {
				name := filepath.Join(receipt.Dir, filepath.FromSlash(s.Path))
				if s.State != install.OK && !kept[name] {
					return n, &proofError{name + " is " + s.State, "something else changes this file: find out what, then run init again"}
				}
				n++
			}
		}
	}
	return n, nil
}

// hookProgram is the place of the program that this machine's hooks run.
func (p plan) hookProgram() string {
	if p.request.Scope != render.Bundle && p.program.Stable != "" {
		return p.program.Stable
	}
	for _, part := range p.request.Parts {
		for _, f := range part.Tree {
			base := strings.TrimSuffix(filepath.Base(f.Path), ".exe")
			folder := filepath.Base(filepath.Dir(filepath.FromSlash(f.Path)))
			if base == p.program.Name && (folder == "bin" || folder == hostFolder()) {
				return filepath.Join(part.Dir, filepath.FromSlash(f.Path))
			}
		}
	}
	return p.program.Source
}

// pluginRoot is what the client calls the plugin's folder in scope plugin.
func (p plan) pluginRoot() string {
	return filepath.Join(datadir.Dir(p.request.Data).Plugin(), render.PluginName)
}

// hookLines are the shell lines of every installed hook, once each. On Windows they are PowerShell's and not run.
func (p plan) hookLines() (lines []string) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		return nil
	}
	for _, part := range p.request.Parts {
		for _, f := range part.Tree {
			if !strings.HasSuffix(f.Path, "hooks/copilot-mem.json") && !strings.HasSuffix(f.Path, "com.github.copilot/hooks/hooks.json") {
				continue
			}
			for _, line := range bashLines(f) {
				if !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

func bashLines(f plugin.File) (lines []string) {
	config, err := plugin.ParseHooks(f.Data)
	if err != nil {
		return nil // what we render was validated before
	}
	for _, hooks := range config.Hooks {
		for _, h := range hooks {
			if h.Bash != "" {
				lines = append(lines, h.Bash)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// starts runs a program as the client would, but told to do nothing: it must end well and say nothing.
func (e *env) starts(ctx context.Context, p plan, name string, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader("{}")
	cmd.Env = append(os.Environ(), "COPILOT_MEM_DISABLE=1", "COPILOT_CLI=1", "COPILOT_PROJECT_DIR="+p.request.Dir, "PLUGIN_ROOT="+p.pluginRoot())
	out, err := cmd.CombinedOutput()
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("it says %q", out)
	}
	return err
}
