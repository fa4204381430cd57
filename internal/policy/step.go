package policy

import (
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/copilot-mem/copilot-mem/internal/policy/script"
)

var (
	stepActions = []StepKind{StepRun, StepUses, StepDeny, StepAsk, StepWarn, StepContext, StepAllow, StepModify, StepRedact, StepTruncate,
		StepApprove, StepBlock, StepError}
	stepKeys = []string{"name", "id", "if", "run", "uses", "with", "shell", "env", "working-directory", "timeout", "continue-on-error",
		"deny", "ask", "warn", "context", "allow", "modify", "redact", "truncate", "approve", "block", "error"}
	runKeys      = []string{"shell", "env", "working-directory", "timeout"}
	shellWords   = []string{script.Bash, script.Sh, script.PowerShell, script.Cmd}
	handlingWord = []string{"retry", "skip", "abort"}
)

func itoa(n int) string { return strconv.Itoa(n) }

// steps reads the steps of a workflow, or of a composite action when p is nil.
func (d *decoder) steps(n *yaml.Node, p *Policy) []Step {
	list, ok := d.items(n, "steps")
	if !ok {
		return nil
	}
	if len(list) == 0 {
		d.errorf(n, "bad-value", "", "steps is empty")
		return nil
	}
	out := make([]Step, 0, len(list))
	ids := map[string]int{}
	for i, c := range list {
		s, ok := d.step(c, "step "+itoa(i+1), p)
		if !ok {
			continue
		}
		if s.ID != "" {
			if first, twice := ids[s.ID]; twice {
				d.errorf(c, "duplicate-id", "", "id %q is already that of step %d", s.ID, first)
			}
			ids[s.ID] = i + 1
		}
		out = append(out, s)
	}
	return out
}

func (d *decoder) step(n *yaml.Node, what string, p *Policy) (Step, bool) {
	fields, ok := d.fields(n, what, stepKeys)
	if !ok {
		return Step{}, false
	}
	s := Step{Line: n.Line + d.lineOff, Column: n.Column}
	kind, ok := d.stepKind(n, fields, what)
	if !ok {
		return Step{}, false
	}
	s.Kind = kind
	for _, e := range fields {
		if !kind.Executes() && slices.Contains(runKeys, e.name) || e.name == "with" && kind != StepUses {
			d.errorf(e.k, "unknown-key", "", "%s: %s has no meaning beside %s", what, e.name, kind)
			continue
		}
		d.stepField(&s, e, what, p)
	}
	if kind == StepRun {
		d.script(&s, fields, what, p)
	}
	return s, true
}

// stepKind finds the one key that says what the step does.
func (d *decoder) stepKind(n *yaml.Node, fields []entry, what string) (StepKind, bool) {
	var found []StepKind
	for _, e := range fields {
		if k := StepKind(e.name); slices.Contains(stepActions, k) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 1:
		return found[0], true
	case 0:
		d.errorf(n, "missing-key", "add run, uses, deny, ask, warn, context, allow, modify, redact, truncate, approve, block or error",
			"%s does nothing", what)
	default:
		d.errorf(n, "bad-value", "make it two steps", "%s has both %s and %s", what, found[0], found[1])
	}
	return "", false
}

func (d *decoder) stepField(s *Step, e entry, what string, p *Policy) {
	label := what + ": " + e.name
	switch e.name {
	case "name":
		s.Name, _ = d.text(e.v, label, false)
	case "id":
		s.ID, _ = d.text(e.v, label, true)
	case "if":
		s.If = d.condition(e.v, label)
	case "continue-on-error":
		s.ContinueOnError, _ = d.boolean(e.v, label)
	case "shell":
		s.Shell, _ = d.choice(e.v, label, shellWords...)
	case "env":
		s.Env = d.variables(e.v, label, false)
	case "with":
		s.With = d.variables(e.v, label, true)
	case "working-directory":
		s.WorkingDirectory = d.template(e.v, label, true)
	case "timeout":
		if v, ok := d.whole(e.v, label, 1); ok {
			s.Timeout = time.Duration(v) * time.Second
		}
	case "uses":
		if text, ok := d.text(e.v, label, true); ok {
			s.Uses = text
			if msg, hint := badUses(text, p); msg != "" {
				d.errorf(e.v, "uses", hint, "%s %q %s", label, text, msg)
			}
		}
	case "deny", "ask", "warn", "context", "block":
		s.Text = d.template(e.v, label, true)
	case "allow", "approve":
		d.onlyTrue(s, e, label, p)
	case "modify":
		s.Modify = d.modify(e.v, label)
	case "redact":
		s.Redact = d.redactions(e.v, label)
	case "truncate":
		s.MaxBytes = d.truncate(e.v, label)
	case "error":
		s.Handling, _ = d.choice(e.v, label, handlingWord...)
	}
}

func (d *decoder) onlyTrue(s *Step, e entry, label string, p *Policy) {
	if v, ok := d.boolean(e.v, label); ok && !v {
		d.errorf(e.v, "bad-value", "leave the step out", "%s can only be true", label)
	}
	if s.Kind == StepApprove && (p == nil || p.Source != User) {
		d.errorf(e.k, "approve", "only policies in the user's own folder may approve", "%s: a repository may not switch the permission prompt off", label)
	}
}

// script compiles the text of a run step for the shell that it will run in.
func (d *decoder) script(s *Step, fields []entry, what string, p *Policy) {
	for _, e := range fields {
		if e.name != "run" {
			continue
		}
		text, ok := d.text(e.v, what+": run", true)
		if !ok {
			return
		}
		shell := s.Shell
		if shell == "" {
			shell = script.Bash
			if p != nil && p.shell != nil {
				shell = p.shell(p.Source)
			}
		}
		compiled, err := script.Compile(shell, text)
		var place *script.Error
		switch {
		case errors.As(err, &place):
			d.errorAt(e.v, place.Offset, "script", "put the value into env and write \"$NAME\"", "%s: run: %s", what, place.Msg)
		case err != nil:
			d.exprError(e.v, what+": run", err)
		default:
			s.Script = compiled
			for _, v := range compiled.Vars {
				for _, bad := range v.Expr.Check() {
					d.errorf(e.v, "expression", "", "%s: run: %s", what, bad.Msg)
				}
			}
		}
	}
}

// badUses says what is wrong with a `uses` value. Local actions stay inside the repository that the policy file is in.
func badUses(uses string, p *Policy) (msg, hint string) {
	if strings.HasPrefix(uses, "./") || strings.HasPrefix(uses, "../") {
		base := "."
		if p != nil {
			base = p.base
		}
		if clean := path.Join(base, uses); clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(uses, "\\") {
			return "leaves the repository", ""
		}
		return "", ""
	}
	hint = "write ./path of an action in this repository, or owner/repo@ with the 40 digits of a commit"
	name, ref, pinned := strings.Cut(uses, "@")
	parts := strings.Split(name, "/")
	if len(parts) < 2 || slices.ContainsFunc(parts, func(s string) bool { return s == "" || s == "." || s == ".." || !plainName(s) }) {
		return "is neither a path nor owner/repo@commit", hint
	}
	if !pinned || len(ref) != 40 || strings.Trim(ref, "0123456789abcdef") != "" {
		return "is not pinned to a commit", hint
	}
	return "", ""
}

func plainName(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}) < 0
}

func (d *decoder) modify(n *yaml.Node, label string) []ModifyArg {
	fields, ok := d.fields(n, label, nil)
	if ok && len(fields) == 0 {
		d.errorf(n, "bad-value", "", "%s is empty", label)
	}
	out := make([]ModifyArg, 0, len(fields))
	for _, e := range fields {
		if v, ok := d.value(e.v, label+"."+e.name, 0); ok {
			out = append(out, ModifyArg{e.name, v})
		}
	}
	return out
}

// value reads any YAML value as JSON would have it; texts with ${{ }} become *expr.Text.
func (d *decoder) value(n *yaml.Node, label string, depth int) (any, bool) {
	if n = d.resolve(n); n == nil {
		return nil, false
	}
	if depth > maxDepth {
		d.errorf(n, "yaml", "", "%s contains itself", label)
		return nil, false
	}
	switch n.Kind {
	case yaml.MappingNode:
		fields, ok := d.fields(n, label, nil)
		out := make(map[string]any, len(fields))
		for _, e := range fields {
			v, good := d.value(e.v, label, depth+1)
			out[e.name], ok = v, ok && good
		}
		return out, ok
	case yaml.SequenceNode:
		list, ok := d.items(n, label)
		out := make([]any, 0, len(list))
		for _, c := range list {
			v, good := d.value(c, label, depth+1)
			out, ok = append(out, v), ok && good
		}
		return out, ok
	}
	return d.leaf(n, label)
}

func (d *decoder) leaf(n *yaml.Node, label string) (any, bool) {
	switch n.Tag {
	case "!!null":
		return nil, true
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), true
	case "!!int", "!!float":
		var v any
		if n.Decode(&v) == nil {
			if b, err := json.Marshal(v); err == nil {
				return json.Number(b), true
			}
		}
		d.errorf(n, "bad-value", "", "%s: %s is not a number that JSON can hold", label, n.Value)
		return nil, false
	}
	if !strings.Contains(n.Value, "${{") {
		return n.Value, true
	}
	t := d.parts(n, n.Value, label)
	return t, t != nil
}

func (d *decoder) redactions(n *yaml.Node, label string) []Redaction {
	list, ok := d.items(n, label)
	if ok && len(list) == 0 {
		d.errorf(n, "bad-value", "", "%s is empty", label)
	}
	var out []Redaction
	for _, c := range list {
		fields, ok := d.fields(c, label, []string{"pattern", "with"})
		if !ok {
			continue
		}
		r, found := Redaction{With: "[redacted]"}, false
		for _, e := range fields {
			if e.name == "with" {
				if s, ok := d.text(e.v, label+".with", false); ok {
					r.With = s
				}
				continue
			}
			found = true
			if s, ok := d.text(e.v, label+".pattern", true); ok && d.regex(e.v, "", s, label+".pattern") != nil {
				r.Pattern = s
			}
		}
		if !found {
			d.errorf(c, "missing-key", "", "%s has no pattern", label)
		}
		if r.Pattern != "" {
			out = append(out, r)
		}
	}
	return out
}

// regex compiles an RE2 expression of a sane size; flags such as "(?i)" come before it. nil when it cannot, which is then reported.
func (d *decoder) regex(n *yaml.Node, flags, s, label string) *regexp.Regexp {
	if len(s) > maxRegex {
		d.errorf(n, "regex", "", "%s: a regular expression of more than %d bytes", label, maxRegex)
		return nil
	}
	re, err := regexp.Compile(s)
	if err == nil && flags != "" {
		re, err = regexp.Compile(flags + s) // not only this one: a "*" at the start must not mean the flags
	}
	if err != nil {
		d.errorf(n, "regex", "RE2 syntax: no look-around and no back references", "%s: %s", label, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	return re
}

const maxRegex = 16 << 10

func (d *decoder) truncate(n *yaml.Node, label string) int {
	fields, ok := d.fields(n, label, []string{"max-bytes"})
	for _, e := range fields {
		v, _ := d.whole(e.v, label+".max-bytes", 1)
		return v
	}
	if ok {
		d.errorf(n, "missing-key", "", "%s has no max-bytes", label)
	}
	return 0
}
