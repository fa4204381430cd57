package policy

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

// Rule is what a markdown file says in its front matter.
type Rule struct {
	Event     string // "bash", "file", "all", or a canonical event name; "" cannot be read
	Action    string // "block", "warn", "ask", "inject" or "allow"
	Pre, Post bool   // for bash, file and all
	Body      string // without the blank space around it

	conditions  []condition
	both        bool // the first condition is a pattern beside conditions: a mistake, and either may be what was meant
	toolMatcher *yaml.Node
	toolRegex   *regexp.Regexp // nil: matches
	cond        *yaml.Node
}

type condition struct {
	field, operator, pattern string
	node                     *yaml.Node // of the pattern
	regex                    *regexp.Regexp
	unreadable               bool // counts as holding
}

var (
	ruleKeys = []string{"name", "description", "enabled", "event", "action", "lifecycle", "pattern", "conditions", "tool_matcher", "if"}
	// markKeys make a markdown file with front matter a rule; other files are documentation.
	markKeys     = []string{"event", "action", "pattern", "conditions", "tool_matcher", "lifecycle", "enabled"}
	ruleActions  = []string{"warn", "block", "ask", "inject", "allow"}
	ruleEvents   = []string{"bash", "file", "all", "prompt", "stop"}
	operators    = []string{"regex_match", "contains", "not_contains", "starts_with", "ends_with", "equals"}
	ruleFields   = []string{"command", "file_path", "new_text", "old_text", "content", "transcript", "tool_name", "tool_args", "tool_result", "message", "agent_name", "agent_type", "hook_event", "session_id"}
	conditionKey = []string{"field", "operator", "pattern"}
)

// splitFront takes the front matter out of a markdown file: the lines between two "---" lines at its start, after an optional
// byte order mark and blank lines. skipped counts the lines before it. A front matter that does not end is all the rest.
func splitFront(src []byte) (front, body []byte, skipped int, ok, closed bool) {
	rest := bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	for {
		line, tail, _ := bytes.Cut(rest, []byte("\n"))
		skipped++
		if trimmed := bytes.TrimRight(line, " \t\r"); len(bytes.TrimSpace(line)) > 0 {
			if string(trimmed) != "---" {
				return nil, nil, 0, false, false
			}
			rest = tail
			break
		}
		if len(tail) == 0 {
			return nil, nil, 0, false, false
		}
		rest = tail
	}
	for at := 0; at < len(rest); {
		line, _, _ := bytes.Cut(rest[at:], []byte("\n"))
		end := min(at+len(line)+1, len(rest))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return rest[:at], rest[end:], skipped, true, true
		}
		at = end
	}
	return rest, nil, skipped, true, false
}

// decodeRule reads a markdown file; it reports whether the file is a rule at all.
func (p *Policy) decodeRule() bool {
	front, body, skipped, ok, closed := splitFront(p.src)
	if !ok {
		return false
	}
	p.Blocking, p.Enabled = false, true
	p.src, p.lineOff = front, skipped
	p.Rule = &Rule{Action: "warn", Pre: true, Body: string(bytes.TrimSpace(body))}
	d := p.decoder
	var top *yaml.Node
	if closed {
		top = d.parse()
	} else {
		d.errorf(at(1, 1), "yaml", "end it with a line ---", "the front matter does not end")
	}
	if top == nil {
		if !marked(front) {
			return false
		}
		p.Blocking = true
		p.unreadable()
		return true
	}
	if top.Kind != yaml.MappingNode || !slices.ContainsFunc(top.Content, func(n *yaml.Node) bool { return slices.Contains(markKeys, n.Value) }) {
		return false
	}
	p.decodeFront(top)
	return true
}

// marked reports whether a line of the text starts with a key that makes it a rule.
func marked(front []byte) bool {
	for line := range bytes.Lines(front) {
		key, _, found := bytes.Cut(line, []byte(":"))
		if found && slices.Contains(markKeys, strings.Trim(string(bytes.TrimRight(key, " \t")), `"'`)) {
			return true
		}
	}
	return false
}

func (p *Policy) decodeFront(top *yaml.Node) {
	d, r := p.decoder, p.Rule
	fields, ok := d.fields(top, "the front matter", ruleKeys)
	if !ok {
		p.onUnreadable = true
		return
	}
	var pattern, conditions *yaml.Node
	seen := map[string]bool{}
	for _, e := range fields {
		seen[e.name] = true
		switch e.name {
		case "name":
			if s, ok := d.text(e.v, "name", true); ok {
				p.Name, p.nameAt = s, e.v
			}
		case "description":
			p.Description, _ = d.text(e.v, "description", false)
		case "enabled":
			p.Enabled = p.flag(e, true)
		case "event":
			r.Event = d.ruleEvent(e.v)
		case "action":
			if r.Action, ok = d.choice(e.v, "action", ruleActions...); !ok {
				r.Action = "block"
			}
		case "lifecycle":
			word, ok := d.choice(e.v, "lifecycle", "pre", "post")
			r.Pre, r.Post = !ok || word == "pre", !ok || word == "post"
		case "pattern":
			pattern = e.v
		case "conditions":
			conditions = e.v
		case "tool_matcher":
			r.toolMatcher = e.v
		case "if":
			r.cond = e.v
		}
	}
	for _, need := range []string{"name", "event"} {
		if !seen[need] {
			d.errorf(top, "missing-key", "", "%s is missing", need)
		}
	}
	p.onUnreadable = r.Event == ""
	p.Blocking = r.Action == "block" || r.Action == "ask"
	if pattern != nil && conditions != nil {
		r.both = true
		d.errorf(pattern, "bad-value", "make the pattern one of the conditions", "pattern and conditions exclude each other")
	}
	d.ruleConditions(r, pattern, conditions)
}

// ruleEvent returns the canonical event; "prompt" and "stop" are names for one.
func (d *decoder) ruleEvent(n *yaml.Node) string {
	s, ok := d.text(n, "event", true)
	switch {
	case !ok:
		return ""
	case s == "prompt":
		return hook.UserPromptSubmitted
	case s == "stop":
		return hook.AgentStop
	case slices.Contains(ruleEvents, s):
		return s
	}
	name, known := hook.CanonicalName(s)
	if !known {
		d.errorf(n, "bad-value", hintKey(s, append(slices.Clone(ruleEvents), eventNames()...)), "unknown event %q", s)
		return ""
	}
	return name
}

func (d *decoder) ruleConditions(r *Rule, pattern, conditions *yaml.Node) {
	if pattern != nil {
		c := condition{field: shorthand(r.Event), operator: "regex_match", node: pattern}
		var ok bool
		c.pattern, ok = d.text(pattern, "pattern", true)
		c.unreadable = !ok
		r.conditions = append(r.conditions, c)
	}
	if conditions == nil {
		return
	}
	list, ok := d.items(conditions, "conditions")
	if ok && len(list) == 0 {
		d.errorf(conditions, "bad-value", "leave conditions out for every call of the event", "conditions is empty")
	}
	for i, n := range list {
		r.conditions = append(r.conditions, d.ruleCondition(n, "condition "+itoa(i+1)))
	}
}

// shorthand is the field that a bare pattern is for.
func shorthand(event string) string {
	switch event {
	case "bash":
		return "command"
	case "file":
		return "file_path"
	case "all", "", hook.PreToolUse, hook.PostToolUse, hook.PostToolUseFailure, hook.PermissionRequest, hook.PreMcpToolCall:
		return "content"
	}
	return "message"
}

func (d *decoder) ruleCondition(n *yaml.Node, what string) condition {
	c := condition{node: n}
	fields, ok := d.fields(n, what, conditionKey)
	seen := map[string]bool{}
	for _, e := range fields {
		seen[e.name] = true
		good := false
		switch e.name {
		case "field":
			c.field, good = d.choice(e.v, what+": field", ruleFields...)
		case "operator":
			c.operator, good = d.choice(e.v, what+": operator", operators...)
		case "pattern":
			c.node = e.v
			c.pattern, good = d.scalar(e.v, what+": pattern")
		}
		ok = ok && good
	}
	if fields != nil || ok {
		for _, need := range conditionKey {
			if !seen[need] {
				d.errorf(n, "missing-key", "", "%s has no %s", what, need)
				ok = false
			}
		}
	}
	if ok && c.pattern == "" && c.operator != "equals" {
		d.errorf(c.node, "bad-value", "", "%s: pattern is empty", what)
		ok = false
	}
	c.unreadable = !ok
	return c
}

// compileRule compiles the regexes and makes the rule's one step.
func (p *Policy) compileRule() {
	d, r := p.decoder, p.Rule
	if r.toolMatcher != nil {
		if s, ok := d.text(r.toolMatcher, "tool_matcher", true); ok {
			r.toolRegex = d.regex(r.toolMatcher, "(?i)", s, "tool_matcher")
		}
	}
	for i := range r.conditions {
		c := &r.conditions[i]
		if c.unreadable || c.operator != "regex_match" {
			continue
		}
		c.regex = d.regex(c.node, "(?i)", c.pattern, "pattern")
		c.unreadable = c.regex == nil
	}
	if r.cond != nil {
		p.If = d.condition(r.cond, "if")
	}
	text := r.Body
	if text == "" {
		text = "rule " + p.Name
	}
	step := Step{Text: &expr.Text{Parts: []expr.Part{{Lit: text}}}, Line: 1 + d.lineOff, Column: 1}
	switch r.Action {
	case "block":
		step.Kind = StepDeny
		if r.Event == hook.UserPromptSubmitted || r.Event == hook.AgentStop || r.Event == hook.SubagentStop {
			step.Kind = StepBlock
		}
	case "warn":
		step.Kind = StepWarn
	case "ask":
		step.Kind = StepAsk
	case "inject":
		step.Kind = StepContext
	case "allow":
		step.Kind, step.Text = StepAllow, nil
	}
	p.Steps = []Step{step}
}
