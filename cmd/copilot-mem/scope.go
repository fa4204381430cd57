package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/copilot-mem/copilot-mem/internal/copilot"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

func checkScope(scope string) error {
	if scope == "" || slices.Contains([]string{render.User, render.Repo, render.Bundle}, scope) {
		return nil
	}
	return &usageError{fmt.Errorf("--scope %s: not one of user, repo, plugin", scope), "run `copilot-mem init --help`"}
}

// scopeDir gives the folder of a scope: the git root, or the client's folder. dir is --dir and may be empty.
func (e *env) scopeDir(scope, dir string) (string, error) {
	if dir != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(e.Dir, dir)
	}
	if scope == render.Repo {
		if dir == "" {
			dir = e.Dir
		}
		return copilot.GitRoot(dir)
	}
	if dir != "" {
		return filepath.Clean(dir), nil
	}
	home, err := copilot.FindHome(e.Getenv)
	return home.Dir, err
}

// operation is one line of a plan, as `init` and `uninstall` print it.
type operation struct {
	Op     string `json:"op"`
	Path   string `json:"path"` // below dir, or absolute where it lies elsewhere
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
}

// outcome is the JSON document of `init` and `uninstall`.
type outcome struct {
	SchemaVersion int         `json:"schemaVersion"`
	Scope         string      `json:"scope"`
	Dir           string      `json:"dir"`
	DryRun        bool        `json:"dryRun"`
	Operations    []operation `json:"operations"`
}

func newOutcome(scope, dir string, dryRun bool, job *install.Job) outcome {
	out := outcome{SchemaVersion: 1, Scope: scope, Dir: dir, DryRun: dryRun, Operations: []operation{}}
	if job == nil {
		return out
	}
	for _, p := range job.Plans {
		for _, op := range p.Ops {
			out.Operations = append(out.Operations, operation{op.Op, shownPath(dir, p.Dir, op.Path), fmt.Sprintf("%04o", op.Mode.Perm()), op.Reason})
		}
	}
	return out
}

// shownPath is short for what lies in the scope's folder; joining it to that folder is right for both forms.
func shownPath(scopeDir, dir, name string) string {
	if dir == scopeDir {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

func (o outcome) print(w io.Writer) {
	fmt.Fprintf(w, "scope %s in %s\n", o.Scope, o.Dir)
	for _, op := range o.Operations {
		line := fmt.Sprintf("  %-7s %s", op.Op, op.Path)
		if op.Reason != "" {
			line += "  (" + op.Reason + ")"
		}
		fmt.Fprintln(w, line)
	}
}
