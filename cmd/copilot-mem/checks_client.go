package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/copilot"
	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

// testedClient is the client that the facts of docs/hooks.md come from.
const testedClient = "1.0.102"

// clientProgram is the client on PATH.
type clientProgram struct {
	path    string
	version string
	older   func(than string) bool
}

// findClient reads the version from the client's package, and asks the client where there is none.
func (h *health) findClient(ctx context.Context) (clientProgram, error) {
	ctx, cancel := context.WithTimeout(ctx, h.patient)
	defer cancel()
	path, v, err := copilot.FindClient(exec.LookPath, func(path string, args ...string) ([]byte, error) {
		if v, err := copilot.PackageVersion(path); err == nil {
			return []byte(v.String()), nil
		}
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.WaitDelay = hurried
		return cmd.Output()
	})
	if err != nil {
		return clientProgram{path: path}, err
	}
	return clientProgram{path, v.String(), func(than string) bool { return copilot.Older(v, than) }}, nil
}

func (h *health) clientVersion(context.Context) doctor.Outcome {
	c, err := h.client()
	switch {
	case c.path == "":
		return warn("install Copilot CLI: npm install -g @github/copilot", "copilot is not on PATH")
	case err != nil:
		return warn("run `copilot --version` and see what it says", "%v", err)
	}
	return with(ok("%s, version %s (tested with %s)", c.path, c.version, testedClient), "PATH="+h.Getenv("PATH"))
}

// clientFeatures: a client that is older than something that is in use does not say so; it just does not do it.
func (h *health) clientFeatures(context.Context) doctor.Outcome {
	c, err := h.client()
	if err != nil {
		return skipped("the client's version is not known")
	}
	var missing, unsure, evidence []string
	for _, f := range h.featuresInUse() {
		evidence = append(evidence, fmt.Sprintf("%s: since %s (%s)", f.Name, f.Since, f.Source))
		switch {
		case !c.older(f.Since):
		case f.Seen:
			unsure = append(unsure, fmt.Sprintf("%s (seen since %s)", f.Name, f.Since))
		default:
			missing = append(missing, fmt.Sprintf("%s (since %s)", f.Name, f.Since))
		}
	}
	const update = "update the client: npm install -g @github/copilot@latest"
	switch {
	case len(missing) > 0:
		return with(bad(update, "version %s is too old for what is in use: %s", c.version, strings.Join(append(missing, unsure...), ", ")), evidence...)
	case len(unsure) > 0:
		return with(warn(update, "version %s is older than any client that was seen to do this: %s", c.version, strings.Join(unsure, ", ")), evidence...)
	}
	return with(ok("version %s has all %d features that are in use", c.version, len(evidence)), evidence...)
}

// featuresInUse are those that the installed files rely on.
func (h *health) featuresInUse() []copilot.Feature {
	names := map[string]bool{}
	for _, s := range h.sources() {
		if !s.ours() {
			continue
		}
		names["session ids in hook events"] = true
		for _, e := range s.entries {
			switch e.event {
			case "preToolUse":
				names["hooks that may deny a tool call"], names["changed arguments of a tool call"] = true, true
			case "agentStop", "subagentStop":
				names["agentStop and subagentStop"] = true
			case "preCompact":
				names["preCompact"] = true
			case "postToolUseFailure":
				names["postToolUseFailure"] = true
			}
			if e.Exec != "" {
				names["hooks that start a program directly"] = true
			}
			if strings.Contains(e.line(), " recall ") || len(e.Args) > 0 && e.Args[0] == "recall" {
				names["context at the start of a session"], names["context with a prompt"] = true, true
			}
		}
		switch s.scope {
		case render.User:
			names["hook files of the user"] = true
		case render.Repo:
			names["repository hooks without a terminal"] = true
		case render.Bundle:
			names["PLUGIN_ROOT in a plugin's hooks"], names["Agent Plugins parts in com.github.copilot/"] = true, true
		}
	}
	if len(h.serverEntries()) > 0 {
		names["session id in MCP servers"] = true
	}
	var used []copilot.Feature
	for _, f := range copilot.Features {
		if names[f.Name] {
			used = append(used, f)
		}
	}
	return used
}
