package history

import (
	"encoding/json"
	"errors"
	"io"
	"os"
)

// Tally counts what the client itself wrote down of one session: the events of which memory should have one entry each, and
// the hooks that it says it ran.
type Tally struct {
	Prompts int            // of the user, not those that the client sent by itself
	Answers int            // messages of the model with text, outside of sub-agents
	Results int            // of tools, failed ones too, outside of sub-agents
	Hooks   map[string]int // by the camelCase name of the event: hooks that were started
	Failed  map[string]int // and those of them that did not succeed
}

// Events is the number of events that memory should have.
func (t Tally) Events() int { return t.Prompts + t.Answers + t.Results }

// Count reads a transcript of the client. Lines that are not understood are passed over, as an import names them.
func Count(path string) (Tally, error) {
	t := Tally{Hooks: map[string]int{}, Failed: map[string]int{}}
	f, err := os.Open(path)
	if err != nil {
		return t, err
	}
	defer func() { _ = f.Close() }() // only read
	l := newLines(f)
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		if !l.long {
			t.line(line)
		}
	}
}

func (t *Tally) line(raw []byte) {
	switch typ := quickType(raw); typ {
	case "", "user.message", "assistant.message", "tool.execution_complete", "hook.start", "hook.end":
	default:
		return
	}
	var e struct {
		Type    string
		AgentID string
		Data    struct {
			Content          json.RawMessage
			Source           string
			Autopilot        bool `json:"isAutopilotContinuation"`
			ParentToolCallID string
			HookType         string
			Success          *bool
		}
	}
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	main := e.AgentID == "" && e.Data.ParentToolCallID == ""
	switch {
	case e.Type == "hook.start":
		t.Hooks[e.Data.HookType]++
	case e.Type == "hook.end" && e.Data.Success != nil && !*e.Data.Success:
		t.Failed[e.Data.HookType]++
	case !main:
	case e.Type == "user.message" && e.Data.Source == "" && !e.Data.Autopilot && len(e.Data.Content) > 2:
		t.Prompts++
	case e.Type == "assistant.message" && len(e.Data.Content) > 2 && e.Data.Content[0] == '"':
		t.Answers++
	case e.Type == "tool.execution_complete":
		t.Results++
	}
}
