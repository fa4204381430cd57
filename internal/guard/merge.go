package guard

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy"
)

// Limits of what the client and its model get to see.
const (
	maxText        = 8 << 10
	maxTexts       = 32 << 10
	maxPostContext = 10000 // the client cuts at 10 KiB in silence
)

// reply is the document on stdout; only keys that the client (1.0.102) honours flat in both dialects.
type reply struct {
	PermissionDecision       string          `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string          `json:"permissionDecisionReason,omitempty"`
	ModifiedArgs             json.RawMessage `json:"modifiedArgs,omitempty"`
	ModifiedResult           *result         `json:"modifiedResult,omitempty"`
	ModifiedPrompt           *string         `json:"modifiedPrompt,omitempty"`
	ModifiedTransformed      *string         `json:"modifiedTransformedPrompt,omitempty"`
	ModifiedResponse         *string         `json:"modifiedResponse,omitempty"`
	Decision                 string          `json:"decision,omitempty"`
	Reason                   string          `json:"reason,omitempty"`
	Behavior                 string          `json:"behavior,omitempty"`
	Message                  string          `json:"message,omitempty"`
	AdditionalContext        string          `json:"additionalContext,omitempty"`
}

type result struct {
	ResultType string `json:"resultType"`
	Text       string `json:"textResultForLlm"`
}

// bytes is the one document; nothing at all where there is nothing to say.
func (r reply) bytes() []byte {
	if r.decision() == "none" && r.PermissionDecision == "" {
		return nil
	}
	b, err := encode(r)
	if err != nil {
		return nil // texts and checked JSON always have a form
	}
	return b
}

// decision is the word for the session log.
func (r reply) decision() string {
	switch {
	case r.PermissionDecision == "deny", r.Decision == "block", r.Behavior == "deny":
		return "deny"
	case r.PermissionDecision == "ask":
		return "ask"
	case r.ModifiedArgs != nil, r.ModifiedResult != nil, r.ModifiedPrompt != nil, r.ModifiedTransformed != nil, r.ModifiedResponse != nil:
		return "modify"
	case r.AdditionalContext != "":
		return "context"
	}
	return "none"
}

// merge makes one reply of what all rules say, in their order: deny over ask over modify over nothing; context joins any
// of them. What the client does not honour on the event is left out.
func merge(e hook.Event, can policy.Effects, says []say) reply {
	var r reply
	var stop, ask, block, context []say
	for _, s := range says {
		switch s.verb {
		case sayDeny:
			stop = append(stop, s)
		case sayAsk:
			ask = append(ask, s)
		case sayBlock:
			block = append(block, s)
		case sayContext:
			context = append(context, s)
		}
	}
	switch {
	case can.Deny:
		stop, block = inOrder(says, sayDeny, sayBlock), nil
	case can.Block && e.Name != hook.PostToolUse:
		stop, block = nil, inOrder(says, sayDeny, sayBlock)
	case can.Block: // after a tool a violation is feedback; only an explicit block hides the result
		context, stop = inOrder(says, sayDeny, sayContext), nil
	case can.Context && !can.Turn:
		context, stop = inOrder(says, sayDeny, sayBlock, sayContext), nil
	default:
		stop, block = nil, nil
	}
	if e.StopHookActive {
		block = nil // a stop that was blocked once is not blocked again: a sub-agent would loop without end
	}
	args, conflict := setArgs(e, says)
	switch {
	case len(stop) > 0 && can.Ask:
		r.PermissionDecision, r.PermissionDecisionReason = "deny", texts(inOrder(says, sayDeny, sayBlock, sayAsk), maxTexts)
	case len(stop) > 0:
		r.Behavior, r.Message = "deny", texts(stop, maxTexts)
	case len(block) > 0:
		r.Decision, r.Reason = "block", texts(block, maxTexts)
	case can.Ask && (len(ask) > 0 || conflict != ""):
		if conflict != "" {
			ask = append(ask, say{text: conflict})
		}
		r.PermissionDecision, r.PermissionDecisionReason = "ask", texts(ask, maxTexts)
	}
	if can.Context {
		limit := maxTexts
		if e.Name == hook.PostToolUse || e.Name == hook.PostToolUseFailure {
			limit = maxPostContext
		}
		r.AdditionalContext = texts(context, limit)
	}
	if r.PermissionDecision != "deny" && r.Decision == "" && conflict == "" {
		r.modify(e, can, args)
	}
	if can.Redact && r.Decision == "" {
		r.redact(e, says)
	}
	if can.Ask && r.decision() == "none" && approved(says) {
		r.PermissionDecision = "allow"
	}
	return r
}

func inOrder(says []say, verbs ...verb) []say {
	var out []say
	for _, s := range says {
		for _, v := range verbs {
			if s.verb == v {
				out = append(out, s)
			}
		}
	}
	return out
}

func approved(says []say) bool {
	for _, s := range says {
		if s.verb != sayApprove && s.verb != sayAllow {
			return false
		}
	}
	return len(inOrder(says, sayApprove)) > 0
}

// texts joins "NAME: TEXT", with a blank line between; too much of it is cut and said so.
func texts(says []say, limit int) string {
	var parts []string
	for _, s := range says {
		text := strings.TrimSpace(s.text)
		if s.rule.Name != "" {
			text = s.rule.Name + ": " + text
		}
		parts = append(parts, middle(clean(text), maxText))
	}
	return cut(strings.Join(parts, "\n\n"), limit)
}

// clean leaves out what no terminal and no model should get: control characters and broken UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// middle shortens a text to at most limit bytes from its middle: the cause of a failed check is mostly at the end.
func middle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	keep := max(0, limit-48) / 2 // room for the mark
	head, tail := keep, len(s)-keep
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n[… " + strconv.Itoa(tail-head) + " bytes left out …]\n" + s[tail:]
}

// cut shortens a text to at most limit bytes, at a rune boundary, and says how much is missing.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	keep := max(0, limit-48) // room for the mark
	for keep > 0 && !utf8.RuneStart(s[keep]) {
		keep--
	}
	return s[:keep] + "\n[… " + strconv.Itoa(len(s)-keep) + " more bytes]"
}

// setArgs collects what rules want arguments to be. Two rules that want different things are a conflict.
func setArgs(e hook.Event, says []say) (args []setArg, conflict string) {
	by := map[string]say{}
	values := map[string]any{}
	for _, s := range says {
		for _, a := range s.args {
			if s.verb != sayModify {
				continue
			}
			if other, ok := by[a.name]; ok && !reflect.DeepEqual(values[a.name], a.value) && other.rule != s.rule {
				return nil, other.rule.Name + " and " + s.rule.Name + " want different values for the argument " + strconv.Quote(a.name)
			}
			by[a.name], values[a.name] = s, a.value
			args = append(args, a)
		}
	}
	return args, ""
}

// modify fills in the key that the event has for changes.
func (r *reply) modify(e hook.Event, can policy.Effects, args []setArg) {
	if len(args) == 0 {
		return
	}
	switch can.Modify {
	case "modifiedArgs":
		if changed, ok := applyArgs(e.ToolInput, args); ok {
			r.ModifiedArgs = changed
		}
	case "modifiedResult":
		res := result{e.ResultType, e.ResultText}
		for _, a := range args {
			switch a.name {
			case "resultType", "type":
				res.ResultType = plain(a.value)
			default:
				res.Text = plain(a.value)
			}
		}
		if res != (result{e.ResultType, e.ResultText}) {
			r.ModifiedResult = &res
		}
	case "modifiedPrompt":
		r.ModifiedPrompt = changedText(e.Prompt, args)
	case "modifiedTransformedPrompt":
		r.ModifiedTransformed = changedText(e.TransformedPrompt, args)
	case "modifiedResponse":
		r.ModifiedResponse = changedText(e.Response, args)
	}
}

func changedText(now string, args []setArg) *string {
	text := plain(args[len(args)-1].value)
	if text == now {
		return nil
	}
	return &text
}

func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := encode(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// applyArgs gives the complete argument object with the changes, and whether it is another one. Arguments that are plain
// text are an object with the key "input", as policies see them.
func applyArgs(input json.RawMessage, args []setArg) (json.RawMessage, bool) {
	if len(args) == 0 {
		return nil, false
	}
	object := map[string]json.RawMessage{}
	if len(input) > 0 && input[0] == '{' {
		if json.Unmarshal(input, &object) != nil {
			return nil, false
		}
	} else if len(input) > 0 {
		object["input"] = input
	}
	changed := false
	for _, a := range args {
		b, err := encode(a.value)
		if err != nil {
			return nil, false
		}
		changed = changed || string(object[a.name]) != string(b)
		object[a.name] = b
	}
	out, err := encode(object)
	return out, changed && err == nil
}

// redact replaces and shortens the result, in the order of the rules.
func (r *reply) redact(e hook.Event, says []say) {
	text, kind := e.ResultText, e.ResultType
	if r.ModifiedResult != nil {
		text, kind = r.ModifiedResult.Text, r.ModifiedResult.ResultType
	}
	before := text
	for _, s := range says {
		switch s.verb {
		case sayRedact:
			for _, rd := range s.redact {
				re, err := regexp.Compile(rd.Pattern)
				if err != nil {
					continue // refused when the policy was loaded
				}
				text = re.ReplaceAllLiteralString(text, rd.With)
			}
		case sayTruncate:
			text = truncate(text, s.max)
		}
	}
	if text != before {
		r.ModifiedResult = &result{kind, text}
	}
}

// truncate keeps at most limit bytes of a result and says how many are missing.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	keep := max(0, limit)
	for keep > 0 && !utf8.RuneStart(s[keep]) {
		keep--
	}
	return s[:keep] + "\n[truncated: " + strconv.Itoa(len(s)-keep) + " more bytes]"
}
