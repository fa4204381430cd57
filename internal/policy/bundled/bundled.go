// Package bundled answers whether a call breaks one of the rules that come with the program. It knows the rules and
// their exceptions; whether a rule is on, softened or excepted is decided elsewhere.
package bundled

import (
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// Rule is one bundled rule: its short name, what it does unless it is softened, and what it watches.
type Rule struct {
	Name   string
	Action string // "deny", "ask" or "off"
	Doc    string
	check  func(*facts.Facts, func(string) bool) []Hit
}

// Hit is one call's breach of one rule.
type Hit struct {
	Rule   string
	Action string   // "deny" or "ask"; some rules only ask about what they cannot be sure of
	Text   string   // one sentence for the model
	Paths  []string // canonical, for exceptions; empty where the rule is not about files
}

// Rules lists the bundled rules in the order in which they are reported.
func Rules() []Rule {
	return []Rule{
		{"recursive-delete", "deny", "recursive deletion of the system, a home directory or the repository", recursiveDelete},
		{"force-push", "deny", "git push that rewrites what is on the remote", forcePush},
		{"secret-files", "deny", "any access to files that hold keys, passwords and tokens", secretFiles},
		{"secret-content", "deny", "private keys and tokens of known forms in what is written", secretContent},
		{"pipe-to-shell", "deny", "programs from the network that run unseen", pipeToShell},
		{"disk-tools", "deny", "formatting, partitioning and overwriting of devices", diskTools},
		{"policy-files", "ask", "changes to policies, hooks and their settings", policyFiles},
		{"self-trust", "deny", "the agent trusting, acknowledging, uninstalling or forgetting by itself", selfTrust},
		{"opaque-command", "off", "commands that cannot be resolved", opaqueCommand},
	}
}

// Check gives the breaches of the rules that on reports true for. guarded is asked about the absolute path of a file that
// is a policy file by its place; false excuses it. A nil guarded excuses none.
func Check(f *facts.Facts, on func(rule string) bool, guarded func(path string) bool) []Hit {
	if f.Tool() == "" {
		return nil
	}
	var out []Hit
	for _, rule := range Rules() {
		if !on(rule.Name) {
			continue
		}
		hits := rule.check(f, guarded)
		if sh := f.Shell(); len(hits) == 0 && rule.Name == "recursive-delete" && sh != nil && sh.Cut {
			hits = []Hit{{Action: "ask", Text: "this command is nested too deeply, or too long, to be followed to its end; run its parts one by one"}}
		}
		for _, hit := range hits {
			hit.Rule = rule.Name
			out = append(out, hit)
		}
	}
	return out
}

func commands(f *facts.Facts) []facts.Command {
	if sh := f.Shell(); sh != nil {
		return sh.Commands
	}
	return nil
}

// short cuts a command for a sentence.
func short(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, facts.Hole, "?")), " ")
	if r := []rune(text); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return text
}

func forcePush(f *facts.Facts, _ func(string) bool) []Hit {
	var out []Hit
	for _, p := range f.Pushes() {
		switch {
		case p.Force || p.Mirror:
			out = append(out, Hit{Action: "deny", Text: "this push overwrites what is on the remote; push without force"})
		case p.Lease:
			out = append(out, Hit{Action: "ask", Text: "this push may overwrite what is on the remote (--force-with-lease)"})
		}
	}
	return unique(out)
}

func pipeToShell(f *facts.Facts, _ func(string) bool) []Hit {
	for _, c := range commands(f) {
		if c.Fetched {
			return []Hit{{Action: "deny", Text: "`" + short(c.Raw) + "` runs a program straight from the network; download it, look at it, then run it"}}
		}
	}
	return nil
}

func opaqueCommand(f *facts.Facts, _ func(string) bool) []Hit {
	if sh := f.Shell(); sh != nil && sh.Opaque {
		return []Hit{{Action: "ask", Text: "what this command does cannot be seen from its text"}}
	}
	return nil
}

func selfTrust(f *facts.Facts, _ func(string) bool) []Hit {
	for _, c := range commands(f) {
		if !slices.Contains([]string{"copilot-mem", "copilot-mem-hook"}, c.Name) && !runsFromSource(c) {
			continue
		}
		if what := selfCommand(c.Words); what != "" {
			return []Hit{{Action: "deny", Text: "`copilot-mem " + what + "` is for a person to decide; ask the user to run it"}}
		}
	}
	return nil
}

// runsFromSource reports `go run …/copilot-mem …`.
func runsFromSource(c facts.Command) bool {
	return c.Name == "go" && len(c.Words) > 2 && c.Words[1].Text == "run" &&
		slices.ContainsFunc(c.Words, func(w facts.Word) bool { return strings.HasSuffix(strings.TrimSuffix(w.Text, "/"), "cmd/copilot-mem") })
}

// selfCommand finds the sub-command that only a person may run. Options may stand anywhere, some with a value.
func selfCommand(words []facts.Word) string {
	words = words[1:]
	for i, w := range words { // what `go run` takes before the program's own arguments
		if strings.HasSuffix(strings.TrimSuffix(w.Text, "/"), "cmd/copilot-mem") {
			words = words[i+1:]
			break
		}
	}
	given := facts.Options{Short: "C", Long: []string{"dir", "scope", "project", "from", "out"}}.Parse(words).Operands
	switch {
	case len(given) == 0:
		return ""
	case given[0].Text == "uninstall" || given[0].Text == "forget":
		return given[0].Text
	case given[0].Text == "policy" && len(given) > 1 && (given[1].Text == "trust" || given[1].Text == "ack"):
		return "policy " + given[1].Text
	}
	return ""
}

func unique(hits []Hit) []Hit {
	var out []Hit
	for _, h := range hits {
		if !slices.ContainsFunc(out, func(o Hit) bool { return o.Action == h.Action && o.Text == h.Text && slices.Equal(o.Paths, h.Paths) }) {
			out = append(out, h)
		}
	}
	return out
}
