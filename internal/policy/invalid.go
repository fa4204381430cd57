package policy

import (
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

// mutating reports whether the call may change something: a shell tool, or a file event other than read.
func (q *query) mutating() bool {
	return q.f.IsShell() || slices.ContainsFunc(q.f.Files(), written)
}

// affected reports whether an invalid policy that speaks about the event does stop it (section 11): never a tool that only
// reads, nor a call that only repairs invalid files, nor one that a readable `if` of the workflow rules out.
func (q *query) affected(m *Match) bool {
	if q.event == hook.PreToolUse || q.event == hook.PostToolUse {
		if q.f.IsRead() {
			return q.check("invalid", "", "a tool that only reads", false)
		}
		if q.set.repairs(q.f, true) {
			return q.check("invalid", "", "the call only repairs invalid policy files", false)
		}
	}
	if p := q.p; p.Rule == nil && p.If != nil && onlyOf(p.If, "event", "policy") {
		if v, err := p.If.Eval(q.environment(m)); err == nil && !expr.Truthy(v) {
			return q.check("if", "", expr.ToText(v), false)
		}
	}
	return q.check("invalid", "", m.Invalid, true)
}

// Denies reports whether the answer to a match of an invalid policy is a denial; else the model is told.
func (m *Match) Denies(event string) bool {
	return m.Invalid != "" && m.Policy.Blocking && event == hook.PreToolUse
}

// onlyOf reports whether an expression reads no contexts but these.
func onlyOf(e *expr.Expr, contexts ...string) bool {
	return !slices.ContainsFunc(e.Roots(), func(root string) bool {
		name, _, _ := strings.Cut(root, ".")
		return !slices.Contains(contexts, name)
	})
}
