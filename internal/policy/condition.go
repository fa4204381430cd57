package policy

import (
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// view is one way to look at an event: one call, and one file of it. Conditions hold together for one view.
type view struct {
	call facts.Call
	of   int         // index of the call; 0 is the call itself
	file *facts.File // nil: none
	at   int         // its index
}

// rule reports whether a markdown rule speaks about the event.
func (q *query) rule(m *Match) bool {
	r := q.p.Rule
	if !q.ruleEvent(r) {
		return false
	}
	q.p.compile()
	var failed error
	for _, v := range q.views(r) {
		if !q.view(r, &v) {
			continue
		}
		one := *m
		one.File = v.at
		one.setCall(q.f, v.of)
		if q.p.If == nil {
			*m = one
			return true
		}
		value, err := q.p.If.Eval(q.environment(&one))
		if err != nil {
			failed = err
			*m = one
			continue
		}
		if q.check("if", r.cond.Value, expr.ToText(value), expr.Truthy(value)) {
			*m = one
			return true
		}
	}
	return failed != nil // evaluated again with the steps, where its failure counts
}

func (q *query) ruleEvent(r *Rule) bool {
	tool := q.f.Tool() != ""
	held := q.event == hook.PreToolUse && r.Pre || q.event == hook.PostToolUse && r.Post
	switch r.Event {
	case "":
		return q.check("event", "unreadable: every call", q.event, held && tool)
	case "bash":
		return q.check("event", "bash", q.f.Tool()+" "+q.event, held && q.f.IsShell())
	case "file":
		return q.check("event", "file", q.f.Tool()+" "+q.event, held && slices.ContainsFunc(q.f.Files(), written))
	case "all":
		return q.check("event", "all", q.event, held)
	}
	return q.check("event", r.Event, q.event, r.Event == q.event)
}

func written(f facts.File) bool { return f.Action != "read" }

// views lists what the conditions may hold for. Files are looked up only if something asks for them.
func (q *query) views(r *Rule) []view {
	calls := []facts.Call{{}}
	if q.f.Tool() != "" {
		calls = q.f.Tools()
	}
	var out []view
	if r.Event == "file" || r.cond != nil || slices.ContainsFunc(r.conditions, condition.ofFile) {
		for i := range q.f.Files() {
			file := &q.f.Files()[i]
			if r.Event == "file" && !written(*file) {
				continue
			}
			for c := range calls {
				if c == 0 || q.about(calls[c], file) {
					out = append(out, view{calls[c], c, file, i})
				}
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for c := range calls {
		out = append(out, view{calls[c], c, nil, -1})
	}
	return out
}

func (c condition) ofFile() bool {
	return c.field == "file_path" || c.field == "new_text" || c.field == "old_text"
}

// about reports whether a call that a patch amounts to is the one for the file.
func (q *query) about(c facts.Call, f *facts.File) bool {
	path, ok := c.Args["path"].(string)
	if !ok {
		return false
	}
	_, canonical := q.f.Paths(path)
	return canonical == f.Path
}

func (q *query) view(r *Rule, v *view) bool {
	if r.toolRegex != nil {
		ok := v.call.Tool != "" && slices.ContainsFunc(spellings(v.call.Tool), r.toolRegex.MatchString)
		if !q.check("tool_matcher", r.toolMatcher.Value, v.call.Tool, ok) {
			return false
		}
	}
	if r.both {
		return q.conditions(r.conditions[:1], v) || q.conditions(r.conditions[1:], v)
	}
	return q.conditions(r.conditions, v)
}

func (q *query) conditions(list []condition, v *view) bool {
	for i := range list {
		c := &list[i]
		if c.unreadable {
			q.check(c.field, c.pattern, "unreadable: counts as holding", true)
			continue
		}
		value := q.field(c.field, v)
		if !q.check(c.field+" "+c.operator, c.pattern, value, c.holds(value)) {
			return false
		}
	}
	return true
}

// holds applies the operator; all but equals ignore case.
func (c *condition) holds(value string) bool {
	switch c.operator {
	case "regex_match":
		return c.regex.MatchString(value)
	case "equals":
		return value == c.pattern
	}
	value, pattern := strings.ToLower(value), strings.ToLower(c.pattern)
	switch c.operator {
	case "contains":
		return strings.Contains(value, pattern)
	case "not_contains":
		return !strings.Contains(value, pattern)
	case "starts_with":
		return strings.HasPrefix(value, pattern)
	}
	return strings.HasSuffix(value, pattern)
}

// field is the text that a condition looks at; an absent one is empty.
func (q *query) field(name string, v *view) string {
	e := q.f.Event()
	switch name {
	case "command":
		if q.f.IsShell() {
			return q.f.ShellText()
		}
		return textArg(v.call.Args, "command", "script", "code")
	case "file_path":
		return q.filePath(v)
	case "new_text":
		if v.file != nil && v.file.Action != "read" {
			return v.file.Content
		}
		return textArg(v.call.Args, "file_text", "content", "new_str", "new_string", "text")
	case "old_text":
		if v.file != nil && v.file.Action != "read" {
			return v.file.Old
		}
		return textArg(v.call.Args, "old_str", "old_string")
	case "content":
		return allTexts(v.call.Args)
	case "transcript":
		return q.transcript()
	case "tool_name":
		return v.call.Tool
	case "tool_args":
		if v.call.Args == nil {
			return ""
		}
		return compactJSON(v.call.Args)
	case "tool_result":
		return e.ResultText
	case "message":
		return eventMessage(e)
	case "agent_name":
		return e.AgentName
	case "agent_type":
		return e.AgentType
	case "hook_event":
		return e.Name
	case "session_id":
		return e.SessionID
	}
	return ""
}

func (q *query) filePath(v *view) string {
	if v.file != nil {
		return v.file.Path
	}
	arg := textArg(v.call.Args, "path", "file_path", "filePath", "filename", "file", "notebook_path", "target_file", "destination", "new_path")
	if arg == "" {
		return ""
	}
	_, canonical := q.f.Paths(arg)
	return canonical
}

// textArg is the first of the arguments that is text.
func textArg(args map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := args[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// allTexts joins the text arguments in the order of their names.
func allTexts(args map[string]any) string {
	names := make([]string, 0, len(args))
	for name, v := range args {
		if _, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(args[name].(string))
	}
	return b.String()
}

// eventMessage is what an event without a tool says.
func eventMessage(e hook.Event) string {
	switch {
	case e.Prompt != "":
		return e.Prompt
	case e.Message != "":
		return e.Message
	case e.Error != nil:
		return e.Error.Message
	}
	return e.Response
}

// transcript is the session's record as one text, a line for each call; empty where there is none.
func (q *query) transcript() string {
	if q.env == nil || q.env.Transcript == nil {
		return ""
	}
	v, err := q.env.Transcript("transcript", "")
	if err != nil {
		return ""
	}
	list, ok := v.([]any)
	if !ok {
		return expr.ToText(v)
	}
	lines := make([]string, len(list))
	for i, entry := range list {
		if s, ok := entry.(string); ok {
			lines[i] = s
		} else {
			lines[i] = compactJSON(entry)
		}
	}
	return strings.Join(lines, "\n")
}
