// Package bundled answers whether a call breaks one of the rules that come with the program. It knows the rules and
// their exceptions; whether a rule is on, softened or excepted is decided elsewhere.
package bundled

import "github.com/copilot-mem/copilot-mem/internal/policy/facts"

// Rule is one bundled rule: its short name, what it does unless it is softened, and what it watches.
type Rule struct {
	Name   string
	Action string // "deny", "ask" or "off"
	Doc    string
}

// Hit is one call's breach of one rule.
type Hit struct {
	Rule   string
	Action string   // "deny" or "ask"; some rules only ask about what they cannot be sure of
	Text   string   // one sentence for the model
	Paths  []string // canonical, for exceptions; empty where the rule is not about files
}

// Rules lists the bundled rules in the order in which they are reported.
func Rules() []Rule { return nil }

// Check gives the breaches of the rules that on reports true for. guarded is asked about the absolute path of a file that
// is a policy file by its place; false excuses it. A nil guarded excuses none.
func Check(f *facts.Facts, on func(rule string) bool, guarded func(path string) bool) []Hit {
	return nil
}
