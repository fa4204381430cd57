package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/guard"
	"github.com/copilot-mem/copilot-mem/internal/policy"
)

// fetchLimit is how long fetching one pinned action may take.
const fetchLimit = 2 * time.Minute

type trustDoc struct {
	SchemaVersion int         `json:"schemaVersion"`
	Root          string      `json:"root"`
	Trusted       bool        `json:"trusted"` // after the command
	Executes      []trustStep `json:"executes"`
	Relaxes       []string    `json:"relaxes"`
	Fetched       []string    `json:"fetched"`
}

// trustStep is one thing that would run.
type trustStep struct {
	File    string `json:"file"`
	Policy  string `json:"policy"`
	Step    string `json:"step"`
	Command string `json:"command"`
}

func newPolicyTrustCmd(e *env) *cobra.Command {
	var f policyFlags
	var revoke, show, yes bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Let the policies of this repository run programs and relax bundled rules",
		Long: "Shows what would run, asks, and records a hash of all policies, settings, Claude hooks and local actions here.\n" +
			"Any change to one of them ends the trust. Pinned actions of other repositories are fetched now; hooks never fetch.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if show && revoke {
				return &usageError{errors.New("--show and --revoke: only one of them"), "leave one out"}
			}
			view, _, err := e.look(f.dir)
			if err != nil {
				return err
			}
			return e.trust(cmd.Context(), view, f.asJSON, revoke, show, yes)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&revoke, "revoke", false, "end the trust")
	cmd.Flags().BoolVar(&show, "show", false, "only show what would run, and whether it may")
	cmd.Flags().BoolVar(&yes, "yes", false, "ask nothing")
	return cmd
}

func (e *env) trust(ctx context.Context, v guard.View, asJSON, revoke, show, yes bool) error {
	data, err := e.dataDir()
	if err != nil {
		return err
	}
	dirs := repoDirs(v)
	doc := trustDoc{SchemaVersion: 1, Root: v.Root, Executes: []trustStep{}, Relaxes: []string{}, Fetched: []string{}}
	doc.Executes = append(doc.Executes, executes(v)...)
	for _, f := range v.Set.Findings {
		if f.Rule == "relaxation-ignored" {
			doc.Relaxes = append(doc.Relaxes, f.String())
		}
	}
	switch {
	case revoke:
		err = revokeTrust(data, v.Dirs)
	case show:
		doc.Trusted = allTrusted(v, dirs)
	case len(dirs) == 0:
		return errNothing
	default:
		if !asJSON {
			e.printTrust(doc)
		}
		if !yes {
			if !e.interactive(yes, asJSON) {
				return &usageError{errors.New("policy trust: a person has to agree"), "look at the list, then run it with --yes"}
			}
			if ok, err := e.confirm("Trust "+v.Root+" as it is now?", false); err != nil || !ok {
				return err
			}
		}
		if doc.Fetched, err = fetchActions(ctx, data, v); err == nil {
			err = e.recordTrust(data, v, dirs)
		}
		doc.Trusted = err == nil
	}
	if err != nil {
		return err
	}
	if asJSON {
		return e.printJSON(doc)
	}
	if show {
		e.printTrust(doc)
	}
	word := map[bool]string{true: "trusted", false: "not trusted"}[doc.Trusted]
	_, err = fmt.Fprintf(e.Stdout, "%s: %s\n", v.Root, word)
	return err
}

func allTrusted(v guard.View, dirs []string) bool {
	for _, d := range dirs {
		if !v.Trusted(d) {
			return false
		}
	}
	return len(dirs) > 0
}

func revokeTrust(data datadir.Dir, dirs []string) error {
	repos, err := guard.ReadTrust(string(data))
	if err != nil {
		return err
	}
	for _, d := range dirs {
		repos = guard.Revoke(repos, d)
	}
	return guard.WriteTrust(string(data), repos)
}

func (e *env) recordTrust(data datadir.Dir, v guard.View, dirs []string) error {
	if err := data.Ensure(); err != nil {
		return err
	}
	repos, err := guard.ReadTrust(string(data))
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if repos, err = guard.Trust(repos, d, v.Actions(d), e.Now()); err != nil {
			return err
		}
	}
	return guard.WriteTrust(string(data), repos)
}

// executes lists what the repository's policies and Claude hooks would start.
func executes(v guard.View) []trustStep {
	var out []trustStep
	for _, p := range v.Set.Policies {
		if p.Source == policy.User {
			continue
		}
		for i, s := range p.Steps {
			if !s.Kind.Executes() {
				continue
			}
			step := trustStep{File: p.File, Policy: p.Name, Step: orText(s.Name, fmt.Sprintf("step %d", i+1)), Command: "uses " + s.Uses}
			if s.Script != nil {
				step.Command = s.Script.Text
			}
			out = append(out, step)
		}
	}
	for _, h := range v.Claude {
		if h.Type == "command" {
			out = append(out, trustStep{File: h.File, Policy: "claude", Step: h.Event + " " + h.Matcher, Command: h.Command})
		}
	}
	return out
}

func (e *env) printTrust(doc trustDoc) {
	if len(doc.Executes) == 0 {
		fmt.Fprintln(e.Stdout, "Nothing here would run a program.")
	}
	for _, x := range doc.Executes {
		fmt.Fprintf(e.Stdout, "%s: %s: %s\n    %s\n", x.File, x.Policy, strings.TrimSpace(x.Step), strings.ReplaceAll(strings.TrimSpace(x.Command), "\n", "\n    "))
	}
	for _, x := range doc.Relaxes {
		fmt.Fprintf(e.Stdout, "relaxes: %s\n", x)
	}
}

// fetchActions gets the pinned actions that are not there yet.
func fetchActions(ctx context.Context, data datadir.Dir, v guard.View) ([]string, error) {
	fetched := []string{}
	for _, p := range v.Set.Policies {
		for _, s := range p.Steps {
			if s.Kind != policy.StepUses || guard.IsLocalAction(s.Uses) {
				continue
			}
			repo, dir, commit := guard.ActionSource(string(data), s.Uses)
			if _, err := os.Stat(dir); err == nil {
				continue
			}
			if err := fetch(ctx, repo, dir, commit); err != nil {
				return fetched, fmt.Errorf("%s: %w", s.Uses, err)
			}
			fetched = append(fetched, s.Uses)
		}
	}
	return fetched, nil
}

// fetch puts one commit of a repository into dir, whole or not at all. git checks that the content has the commit's hash.
func fetch(ctx context.Context, repo, dir, commit string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".fetch-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	for _, args := range [][]string{
		{"init", "-q"}, {"fetch", "-q", "--depth", "1", "https://github.com/" + repo, commit}, {"checkout", "-q", "--detach", commit},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = temp
		cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
	}
	return os.Rename(temp, dir)
}
