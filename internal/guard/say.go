package guard

import (
	"github.com/copilot-mem/copilot-mem/internal/policy"
)

// verb is what a rule wants.
type verb string

const (
	sayDeny     verb = "deny"
	sayAsk      verb = "ask"
	sayBlock    verb = "block"
	sayModify   verb = "modify"
	sayContext  verb = "context"
	sayRedact   verb = "redact"
	sayTruncate verb = "truncate"
	sayApprove  verb = "approve"
	sayAllow    verb = "allow" // logged, nothing else
)

// say is one thing that one rule says about the event.
type say struct {
	rule   ruleRef
	verb   verb
	text   string
	args   []setArg           // modify
	redact []policy.Redaction // redact
	max    int                // truncate: bytes
	gate   bool               // after a tool: the next call waits until the text was read
}

// setArg gives an argument a new value, which has a JSON form.
type setArg struct {
	name  string
	value any
}

// key tells two sayings of the same thing apart from others: a changed call is judged twice.
func (s say) key() string {
	return string(s.verb) + "\x00" + s.rule.Name + "\x00" + s.rule.File + "\x00" + s.text
}

// unique keeps the first of equal sayings, in order.
func unique(says []say) []say {
	seen := map[string]bool{}
	out := says[:0:0]
	for _, s := range says {
		if s.verb == sayModify || s.verb == sayRedact || !seen[s.key()] {
			seen[s.key()] = true
			out = append(out, s)
		}
	}
	return out
}
