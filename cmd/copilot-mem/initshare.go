package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

// readmeLine adds what teammates need to know below the README. A repository that calls it otherwise keeps its name.
func readmeLine(dir string) install.Merge {
	return install.Merge{Path: readmeName(dir), Mode: 0o644, Reason: "a line for teammates added at its end", Edit: func(text []byte) ([]byte, error) {
		line, err := copilotmem.Files.ReadFile("assets/messages/readme.md")
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSpace(line)
		if bytes.Contains(text, line) {
			return text, nil
		}
		nl := "\n"
		if bytes.Contains(text, []byte("\r\n")) {
			nl = "\r\n"
		}
		out := bytes.Clone(text)
		switch {
		case len(out) == 0:
		case bytes.HasSuffix(out, []byte("\n")):
			out = append(out, nl...)
		default:
			out = append(out, nl+nl...)
		}
		return append(append(out, line...), nl...), nil
	}}
}

func readmeName(dir string) string {
	entries, err := os.ReadDir(dir)
	if err == nil {
		for _, d := range entries {
			if strings.EqualFold(d.Name(), "readme.md") && !d.IsDir() {
				return d.Name()
			}
		}
	}
	return "README.md"
}

// afterShare tells what would keep teammates, or the cloud agent, from getting it.
func (e *env) afterShare(ctx context.Context, p plan) {
	if ignored := e.ignored(ctx, p); len(ignored) > 0 {
		fmt.Fprintf(e.Stderr, "copilot-mem: hint: git ignores %s: teammates will not get it; `git check-ignore -v` names the rule\n", strings.Join(ignored, ", "))
	}
	if !strings.Contains(strings.Join(p.flags.vendor, ","), cloudTarget) {
		fmt.Fprintf(e.Stderr, "copilot-mem: hint: the cloud agent has no copilot-mem: --vendor-binary=%s puts the capture program into the repository\n", cloudTarget)
	}
}

// ignored asks git which of the files of the repository it would leave out. Without git nothing is known.
func (e *env) ignored(ctx context.Context, p plan) []string {
	git, err := exec.LookPath("git")
	if err != nil || p.flags.scope != render.Repo {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	args := []string{"-C", p.request.Dir, "check-ignore", "--"}
	for _, f := range p.request.Parts[len(p.request.Parts)-1].Tree {
		args = append(args, filepath.FromSlash(f.Path))
	}
	out, err := exec.CommandContext(ctx, git, args...).Output()
	if err != nil { // exit code 1: none is ignored
		return nil
	}
	return strings.Fields(string(out))
}
