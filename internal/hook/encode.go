package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Response is what a hook answers. The client (1.0.102) reads it flat: it honours a nested hookSpecificOutput for one
// event of one dialect only.
type Response struct {
	AdditionalContext        string          `json:"additionalContext,omitempty"`
	PermissionDecision       string          `json:"permissionDecision,omitempty"` // "allow", "deny" or "ask"; any other is no decision
	PermissionDecisionReason string          `json:"permissionDecisionReason,omitempty"`
	ModifiedArgs             json.RawMessage `json:"modifiedArgs,omitempty"` // replaces the whole tool input
	Decision                 string          `json:"decision,omitempty"`     // "block"
	Reason                   string          `json:"reason,omitempty"`
	Handled                  bool            `json:"handled,omitempty"`         // userPromptSubmitted: no model is asked
	ResponseContent          string          `json:"responseContent,omitempty"` // what the user reads then
}

// Encode returns the response as one line of JSON without a line end. An empty response is nothing at all: the client
// takes empty output for no answer.
func (r Response) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("response: %w", err)
	}
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if string(out) == "{}" {
		return nil, nil
	}
	return out, nil
}
