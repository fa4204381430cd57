package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// answer is what the client makes of the hook's output.
type answer struct {
	decision, reason, context string
	object                    map[string]any
	problems                  []string
}

// read reads the output as the client does: nothing, or exactly one JSON object.
func read(event string, out []byte, err error) answer {
	a := answer{decision: "none"}
	pre := strings.EqualFold(event, "preToolUse") || strings.EqualFold(event, "permissionRequest")
	switch {
	case errors.Is(err, ErrTime):
		a.problems = []string{err.Error()}
		return a
	case err != nil:
		if pre {
			a.decision = "deny"
		}
		a.problems = []string{fmt.Sprintf("%v: the client takes it as a failed hook", err)}
		return a
	case len(out) == 0:
		return a
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	if err := dec.Decode(&a.object); err != nil || dec.More() || a.object == nil {
		a.problems = []string{fmt.Sprintf("the output is not one JSON object: %.200q", out)}
		return a
	}
	a.context = a.text("additionalContext")
	a.interpret(strings.EqualFold(event, "preToolUse"))
	return a
}

func (a *answer) interpret(tool bool) {
	decision, has := a.object["permissionDecision"]
	switch {
	case tool && (decision == "deny" || decision == "ask"):
		a.decision, a.reason = decision.(string), a.text("permissionDecisionReason")
	case tool && has && decision != "allow":
		a.problems = append(a.problems, fmt.Sprintf("permissionDecision %v is ignored by the client", decision))
	case tool && a.isObject("modifiedArgs"):
		a.decision = "modify"
	case tool && decision == "allow":
		a.decision, a.reason = "allow", a.text("permissionDecisionReason")
		a.problems = append(a.problems, "an explicit allow switches the permission prompt off")
	case a.object["decision"] == "block", a.object["behavior"] == "deny":
		a.decision, a.reason = "deny", a.text("reason")+a.text("message")
	case a.isObject("modifiedResult"), a.text("modifiedPrompt") != "":
		a.decision = "modify"
	case strings.TrimSpace(a.context) != "":
		a.decision = "context"
	default:
		a.problems = append(a.problems, "output without any effect on the client: print nothing instead")
	}
}

func (a *answer) text(key string) string {
	s, _ := a.object[key].(string)
	return s
}

func (a *answer) isObject(key string) bool {
	_, ok := a.object[key].(map[string]any)
	return ok
}

// judge compares the answer with what is expected.
func judge(exp expectation, a answer, repo string) []string {
	if a.decision != exp.Decision {
		return []string{fmt.Sprintf("want %s, got %s (%.300q)", exp.Decision, a.decision, a.reason+a.context)}
	}
	var out []string
	text := a.reason
	if text == "" {
		text = a.context
	}
	whole := strings.ToLower(text + "\n" + a.context)
	for _, s := range exp.ReasonContains {
		if !strings.Contains(whole, strings.ToLower(s)) {
			out = append(out, fmt.Sprintf("the reason lacks %q: %.300q", s, text))
		}
	}
	for _, s := range exp.ReasonNotContains {
		if strings.Contains(whole, strings.ToLower(s)) {
			out = append(out, fmt.Sprintf("the reason must not hold %q: %.300q", s, text))
		}
	}
	args, _ := a.object["modifiedArgs"].(map[string]any)
	for k, want := range exp.ModifiedArgs {
		if s, ok := want.(string); ok {
			want = strings.ReplaceAll(s, "$REPO", repo)
		}
		if !equal(args[k], want) {
			out = append(out, fmt.Sprintf("modifiedArgs.%s: want %v, got %v", k, want, args[k]))
		}
	}
	result, _ := a.object["modifiedResult"].(map[string]any)
	shown, _ := result["textResultForLlm"].(string)
	for _, s := range exp.ResultContains {
		if !strings.Contains(shown, s) {
			out = append(out, fmt.Sprintf("the modified result lacks %q: %.300q", s, shown))
		}
	}
	for _, s := range exp.ResultNotContains {
		if strings.Contains(shown, s) {
			out = append(out, fmt.Sprintf("the modified result must not hold %q", s))
		}
	}
	return out
}

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }
