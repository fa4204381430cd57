package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/hook"
)

// Effects is what the client honours in the answer to one event. A text field is the key that the answer uses.
type Effects struct {
	Deny     bool   // permissionDecision, on permissionRequest behavior
	Ask      bool   // permissionDecision
	Modify   string // modifiedArgs, modifiedResult, …; "" = nothing can be modified
	Context  bool   // additionalContext
	Redact   bool   // a result can be redacted and truncated
	Block    bool   // decision:"block"
	Handling bool   // retry, skip, abort
	Turn     bool   // the context starts a model turn of its own
}

// effects is what was seen of each event, oldest client first: the last row whose version is not newer than the client holds.
// A later client is one more row. An event without a row honours nothing.
var effects = []struct {
	since, event string
	Effects
}{
	{"1.0.0", hook.PreToolUse, Effects{Deny: true, Ask: true, Modify: "modifiedArgs", Context: true}},
	{"1.0.0", hook.PostToolUse, Effects{Modify: "modifiedResult", Context: true, Redact: true, Block: true}},
	{"1.0.0", hook.PostToolUseFailure, Effects{Context: true}},
	{"1.0.0", hook.UserPromptSubmitted, Effects{Modify: "modifiedPrompt", Context: true, Block: true}},
	{"1.0.0", hook.UserPromptTransformed, Effects{Modify: "modifiedTransformedPrompt"}},
	{"1.0.0", hook.AgentStop, Effects{Block: true}},
	{"1.0.0", hook.SubagentStop, Effects{Modify: "modifiedResponse", Block: true}},
	{"1.0.0", hook.SessionStart, Effects{Context: true}},
	{"1.0.0", hook.SubagentStart, Effects{Context: true}},
	{"1.0.0", hook.PermissionRequest, Effects{Deny: true}},
	{"1.0.0", hook.Notification, Effects{Context: true, Turn: true}},
}

// EffectsOf returns what a client of the given version ("" = the newest known) honours on an event, by its canonical name.
func EffectsOf(event, version string) Effects {
	var out Effects
	for i := range effects {
		if effects[i].event == event && (version == "" || !older(version, effects[i].since)) {
			out = effects[i].Effects
		}
	}
	return out
}

// older reports whether version a comes before version b; what follows the numbers (a pre-release) does not count.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		x, y := number(as, i), number(bs, i)
		if x != y {
			return x < y
		}
	}
	return false
}

func number(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	s := strings.TrimLeft(parts[i], "v")
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return 0
	}
	return n
}

// honours reports whether the client does what a step of the kind says in the answer to an event.
func (e Effects) honours(k StepKind) bool {
	switch k {
	case StepDeny:
		return e.Deny
	case StepAsk:
		return e.Ask
	case StepBlock:
		return e.Block
	case StepWarn, StepContext:
		return e.Context
	case StepModify:
		return e.Modify != ""
	case StepRedact, StepTruncate:
		return e.Redact
	case StepApprove:
		return e.Ask
	case StepError:
		return e.Handling
	}
	return true // run and uses act by themselves, allow is logged
}

// Events are the events that a policy can speak about, by its canonical names.
func (p *Policy) Events() []string {
	var out []string
	add := func(names ...string) {
		for _, name := range names {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	if r := p.Rule; r != nil {
		switch {
		case r.Event == "": // cannot be read
		case !slices.Contains(ruleEvents, r.Event):
			add(r.Event)
		default:
			if r.Pre {
				add(hook.PreToolUse)
			}
			if r.Post {
				add(hook.PostToolUse)
			}
		}
		return out
	}
	for i := range p.Triggers {
		add(p.Triggers[i].Events()...)
	}
	return out
}

// noEffect warns of steps that the client honours on none of the policy's events, and of context that costs a model turn.
func (p *Policy) noEffect() {
	events := p.Events()
	if len(events) == 0 {
		return
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		heard := false
		for _, e := range events {
			row := EffectsOf(e, "")
			heard = heard || row.honours(s.Kind)
			if row.Turn && (s.Kind == StepContext || s.Kind == StepWarn) {
				p.stepWarning(s, string(s.Kind)+" on "+e+" starts a model turn of its own", "")
			}
		}
		if !heard && !(p.Rule != nil && slices.Contains(events, hook.PostToolUse)) {
			p.stepWarning(s, string(s.Kind)+" has no effect on this client at "+strings.Join(events, ", "), instead(s.Kind, events))
		}
	}
}

// instead says what a step that cannot have its effect does.
func instead(k StepKind, events []string) string {
	row := EffectsOf(events[0], "")
	switch {
	case k != StepDeny && k != StepBlock && k != StepAsk:
		return ""
	case k == StepBlock && row.Deny:
		return "it counts as deny: write deny"
	case k == StepDeny && row.Block && events[0] != hook.PostToolUse:
		return "it counts as block: write block"
	case row.Context:
		return "the model is told instead"
	}
	return ""
}

func (p *Policy) stepWarning(s *Step, message, hint string) {
	p.problems = append(p.problems, Finding{File: p.File, Line: s.Line, Column: s.Column, Rule: "no-effect", Severity: SeverityWarning, Message: message, Hint: hint})
}
