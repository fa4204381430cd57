package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/guard"
)

// policies says what is in force for the current folder, and from where.
func (h *health) policies(context.Context) doctor.Outcome {
	view, _, err := h.look("")
	if err != nil {
		return broken(err)
	}
	doc := listDoc(view)
	states, sources := map[string]int{}, map[string]int{}
	var invalid []string
	for _, p := range doc.Policies {
		states[p.State]++
		if p.State == "active" || p.State == "overridden" && p.Enabled {
			sources[p.Source]++
		}
		if p.State == "invalid" {
			invalid = append(invalid, p.Note)
		}
	}
	var parts []string
	for _, s := range []string{"user", "repo", "hookflow", "claude", "bundled"} {
		if sources[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", sources[s], s))
		}
	}
	detail := "in force: " + orText(strings.Join(parts, ", "), "none")
	switch {
	case len(invalid) > 0:
		return bad("run `copilot-mem policy validate`: what these files could guard is denied", "%s; invalid: %s", detail, strings.Join(invalid, "; "))
	case states["untrusted"] > 0:
		return doctor.Outcome{
			Result: doctor.Info, Detail: fmt.Sprintf("%s; not trusted to run programs: %d", detail, states["untrusted"]),
			Hint: "look at them with `copilot-mem policy trust --show`",
		}
	}
	return ok("%s", detail)
}

// policyTrust looks at the list of trusted repositories, and at the variable that trusts every one.
func (h *health) policyTrust(context.Context) doctor.Outcome {
	if h.Getenv("COPILOT_MEM_TRUST_ALL") == "1" && h.Getenv("CI") == "" {
		return warn("unset it outside of tests and CI", "COPILOT_MEM_TRUST_ALL=1: the policies of every repository may run programs")
	}
	repos, err := guard.ReadTrust(string(h.data))
	if err != nil {
		return broken(err)
	}
	return ok("%d trusted", len(repos))
}

// policyLog: the record that transcript functions and `policy` look back at.
func (h *health) policyLog(context.Context) doctor.Outcome {
	path := filepath.Join(string(h.data), "logs", "session-events.jsonl")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return skipped("no event was logged yet")
	case err != nil:
		return broken(err)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return bad("chmod go-rwx "+path, "%s: others may read it (%04o)", path, info.Mode().Perm())
	}
	return ok("%d KiB in %s", (info.Size()+1023)/1024, path)
}
