package digest

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Decision is a place where the user seems to have decided something. It is found, not known.
type Decision struct {
	Entry memory.Entry
	Rule  string // chose, overrode, rejected or answered
	Quote string // the user's own words; for a rejected tool call, what was to run
}

// maxQuote is how many characters of a sentence are quoted.
const maxQuote = 300

// The rules are about English; they look at one sentence of the user's at a time.
var (
	overrode = regexp.MustCompile(`(?i)^(no[,.;:!]|no,? (don'?t|do not|not|use|please|that|i|we|let'?s|it)\b|nope\b|wait[,.! ]|stop[,.! ]|actually[, ]|rather[, ]|instead[, ]|not like that|that'?s (wrong|not)|(please )?(revert|undo|roll ?back)\b|i (said|meant|told you|asked)\b)`)
	chose    = regexp.MustCompile(`(?i)\b((let'?s|let us|we'?ll|we will|i'?ll|i will|we should|please)? ?(go|stick|stay) with\b|(i|we)('ve| have)? (decided|chose|choose|agreed|settled on|prefer|picked)\b|(let'?s|please|we'?ll|we will|we should|i want (you )?to|always|only|just|instead,?) use\b|use .{1,80}\b(instead|rather than|not)\b|\binstead of\b|\brather than\b|prefer .{1,80} (over|to)\b|(switch|move|migrate) (over )?to\b|from now on\b|never (use|do|call|commit|push|touch|edit|add)\b|(don'?t|do not) (use|ever|touch|add|change|commit|push)\b|the decision is\b|decision:)`)
	question = regexp.MustCompile(`(?i)^(should|shall|could|can|would|do|does|did|is|are|was|were|what|which|why|how|when|where|who|may|have|has)\b`)
)

// refusals are results of a tool call that the user did not let run, as clients name them.
var refusals = []string{"denied", "rejected", "declined", "refused"}

// Decisions finds decisions in entries, which are in the order of time. Withdrawn entries and sub-agents decide nothing.
func Decisions(entries []memory.Entry) (out []Decision) {
	for _, e := range entries {
		if e.Withdrawn || e.AgentID != "" {
			continue
		}
		switch e.Kind {
		case memory.KindPrompt:
			out = append(out, said(e)...)
		case memory.KindToolResult, memory.KindError:
			if d, ok := answered(e); ok {
				out = append(out, d)
			}
		}
	}
	return out
}

func said(e memory.Entry) (out []Decision) {
	for _, s := range sentences(e.Text) {
		rule := ""
		switch {
		case strings.HasSuffix(s, "?") || question.MatchString(s):
			continue
		case overrode.MatchString(s):
			rule = "overrode"
		case chose.MatchString(s):
			rule = "chose"
		default:
			continue
		}
		out = append(out, Decision{e, rule, clip(s, maxQuote)})
	}
	return out
}

// answered takes the answer to a question of the model's, and a call that the user refused.
func answered(e memory.Entry) (Decision, bool) {
	if e.Tool == "ask_user" && e.Kind == memory.KindToolResult && strings.TrimSpace(e.Text) != "" {
		var in struct {
			Question string `json:"question"`
		}
		_ = json.Unmarshal(e.ToolInput, &in) // without its question the answer is still one
		return Decision{e, "answered", clip(strings.TrimSpace(in.Question+" → "+e.Text), maxQuote)}, true
	}
	result := strings.ToLower(e.ResultType)
	for _, word := range refusals {
		if strings.Contains(result, word) {
			return Decision{e, "rejected", clip(strings.TrimSpace(e.Tool+" "+string(e.ToolInput)), maxQuote)}, true
		}
	}
	return Decision{}, false
}
