package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/guard"
	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy"
	"github.com/copilot-mem/copilot-mem/internal/policy/bundled"
)

// policyFlags are those of every policy command.
type policyFlags struct {
	dir    string
	asJSON bool
}

func newPolicyCmd(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Look at, check, try out and trust the policies that hooks enforce",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyListCmd(e), newPolicyValidateCmd(e), newPolicyExplainCmd(e), newPolicyTestCmd(e), newPolicyTrustCmd(e), newPolicyAckCmd(e))
	for _, sub := range cmd.Commands() {
		usageArgs(sub)
	}
	return cmd
}

func (f *policyFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", "", "the folder that is asked about (default: the current one)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "one JSON document")
}

// folder is --dir as an absolute path.
func (e *env) folder(dir string) (string, error) {
	if dir == "" {
		return e.Dir, nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(e.Dir, dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s: not a folder", dir)
	}
	return filepath.Clean(dir), nil
}

// guardOptions are those of the hook, in the environment of the command.
func (e *env) guardOptions() (guard.Options, error) {
	data, err := e.dataDir()
	if err != nil {
		return guard.Options{}, err
	}
	home, client := guard.Homes(e.Getenv)
	return guard.Options{Dir: data, Home: home, Copilot: client, Env: os.Environ(), Getenv: e.Getenv, Now: e.Now, NoLog: true}, nil
}

func (e *env) look(dir string) (guard.View, string, error) {
	cwd, err := e.folder(dir)
	if err != nil {
		return guard.View{}, "", err
	}
	o, err := e.guardOptions()
	if err != nil {
		return guard.View{}, "", err
	}
	return guard.Look(o, cwd), cwd, nil
}

// policyDoc is the JSON document of `policy list`.
type policyDoc struct {
	SchemaVersion int              `json:"schemaVersion"`
	Root          string           `json:"root"`
	Trusted       bool             `json:"trusted"`
	Policies      []policyRow      `json:"policies"`
	Findings      []policy.Finding `json:"findings"`
}

type policyRow struct {
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Source   string   `json:"source"`
	Format   string   `json:"format"`
	Enabled  bool     `json:"enabled"`
	Blocking bool     `json:"blocking"`
	Triggers []string `json:"triggers"`
	Executes bool     `json:"executes"`
	State    string   `json:"state"` // active, disabled, invalid, untrusted or overridden
	Note     string   `json:"note"`
}

func newPolicyListCmd(e *env) *cobra.Command {
	var f policyFlags
	cmd := &cobra.Command{
		Use: "list", Short: "Every rule that applies here, where it comes from, and whether it is in force", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			view, _, err := e.look(f.dir)
			if err != nil {
				return err
			}
			doc := listDoc(view)
			if f.asJSON {
				return e.printJSON(doc)
			}
			return e.printPolicies(doc)
		},
	}
	f.add(cmd)
	return cmd
}

func listDoc(v guard.View) policyDoc {
	doc := policyDoc{1, v.Root, v.Trusted(v.Root), []policyRow{}, []policy.Finding{}}
	for _, p := range v.Set.Policies {
		doc.Policies = append(doc.Policies, fileRow(v, p))
	}
	for _, h := range v.Claude {
		doc.Policies = append(doc.Policies, claudeRow(v, h))
	}
	for _, r := range bundled.Rules() {
		doc.Policies = append(doc.Policies, bundledRow(v, r))
	}
	doc.Findings = append(doc.Findings, v.Set.Findings...)
	if v.Err != nil {
		doc.Findings = append(doc.Findings, policy.Finding{
			File: ".claude", Rule: "unreadable", Severity: policy.SeverityWarning, Message: v.Err.Error(), Hint: "none of its hooks runs",
		})
	}
	return doc
}

func fileRow(v guard.View, p *policy.Policy) policyRow {
	row := policyRow{
		Name: p.Name, File: p.File, Source: p.Source.String(), Format: string(p.Format), Enabled: p.Enabled, Blocking: p.Blocking,
		Triggers: []string{}, Executes: guard.Executes(p), State: "active",
	}
	for i := range p.Triggers {
		row.Triggers = append(row.Triggers, p.Triggers[i].String())
	}
	if p.Rule != nil {
		row.Triggers = p.Events()
	}
	switch invalid := p.InvalidText(); {
	case !p.Enabled:
		row.State = "disabled"
	case invalid != "":
		row.State, row.Note = "invalid", invalid
	case row.Executes && p.Source != policy.User && !v.Trusted(p.Dir):
		row.State, row.Note = "untrusted", "asks instead of running its steps: `copilot-mem policy trust`"
	}
	return row
}

func claudeRow(v guard.View, h guard.ClaudeHook) policyRow {
	name := h.Command
	if h.Matcher != "" {
		name = h.Matcher + ": " + h.Command
	}
	row := policyRow{
		Name: name, File: h.File, Source: "claude", Format: "claude", Enabled: true, Blocking: true,
		Triggers: []string{h.Event}, Executes: true, State: "active",
	}
	switch {
	case h.Type != "command":
		row.State, row.Note = "disabled", "no effect: hooks of type "+h.Type+" are not run"
	case !v.Bridged:
		row.State, row.Note = "disabled", "not run by us: the client runs it, or the bridge is off"
	case !v.Trusted(v.Root):
		row.State, row.Note = "untrusted", "not run: `copilot-mem policy trust`"
	}
	return row
}

func bundledRow(v guard.View, r bundled.Rule) policyRow {
	b := v.Set.Settings.Bundled(r.Name)
	row := policyRow{
		Name: "copilot-mem/" + r.Name, Source: "bundled", Format: "bundled", Enabled: b.On(), Triggers: []string{hook.PreToolUse},
		State: "active", Note: r.Action + ": " + r.Doc,
	}
	row.Blocking = b.ActionFor(r.Action) != "warn"
	switch {
	case b.Action != "":
		row.State, row.Note = "overridden", "settings: "+b.Action
	case !b.On():
		row.State = "disabled"
	}
	if b.Note != "" {
		row.Note += "; " + b.Note
	}
	return row
}

func (e *env) printPolicies(doc policyDoc) error {
	trusted := "not trusted"
	if doc.Trusted {
		trusted = "trusted"
	}
	fmt.Fprintf(e.Stdout, "%s (%s)\n\n", doc.Root, trusted)
	w := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "STATE\tSOURCE\tNAME\tSPEAKS ON\tFILE")
	for _, p := range doc.Policies {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.State, p.Source, oneLine(p.Name, 60), strings.Join(p.Triggers, " "), p.File)
		if p.Note != "" && p.State != "active" {
			fmt.Fprintf(w, "\t\t→ %s\t\t\n", oneLine(p.Note, 160))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(doc.Findings) > 0 {
		fmt.Fprintln(e.Stdout)
	}
	return e.printPolicyFindings(doc.Findings)
}

func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

func (e *env) printPolicyFindings(findings []policy.Finding) error {
	for _, f := range findings {
		text := fmt.Sprintf("%s:%d:%d: %s: %s [%s]\n", f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule)
		if f.Hint != "" {
			text += "    hint: " + f.Hint + "\n"
		}
		if _, err := fmt.Fprint(e.Stdout, text); err != nil {
			return err
		}
	}
	return nil
}

func newPolicyAckCmd(e *env) *cobra.Command {
	var f policyFlags
	cmd := &cobra.Command{
		Use: "ack", Short: "Let the next tool call pass although the feedback of the last one was not read", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			data, err := e.dataDir()
			if err != nil {
				return err
			}
			n, err := guard.Ack(data)
			if err != nil {
				return err
			}
			if f.asJSON {
				return e.printJSON(struct {
					SchemaVersion int `json:"schemaVersion"`
					Opened        int `json:"opened"`
				}{1, n})
			}
			_, err = fmt.Fprintf(e.Stdout, "%s opened\n", count(n, "gate"))
			return err
		},
	}
	f.add(cmd)
	return cmd
}

// repoDirs are the folders of the view that hold something to trust.
func repoDirs(v guard.View) []string {
	return slices.DeleteFunc(slices.Clone(v.Dirs), func(dir string) bool {
		for _, name := range []string{".github/hookflows", ".github/copilot-mem", ".claude/settings.json", ".claude/settings.local.json"} {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
				return false
			}
		}
		return true
	})
}

var errNothing = errors.New("nothing to trust here: no policies, settings or Claude hooks")
