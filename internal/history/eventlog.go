package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// logLine is one line of an event log: what memory-ingest (agent-memory 2.7) takes, what it stores, or a line of the files
// that `copilot sessions import` and `copilot memories import` (client 1.0.102) take.
type logLine struct {
	// what memory-ingest takes
	Event     string          `json:"hook_event_name"`
	Session   string          `json:"session_id"`
	Message   json.RawMessage `json:"message"`
	Tool      string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input"`
	Timestamp json.RawMessage `json:"timestamp"` // text, or milliseconds in what is stored
	Cwd       string          `json:"cwd"`
	Agent     string          `json:"agent"`
	// what it stores
	ID       string            `json:"event_id"`
	Type     string            `json:"event_type"`
	Text     json.RawMessage   `json:"text"`
	Metadata map[string]string `json:"metadata"`

	portable
}

// portable is a line of a session or memory file.
type portable struct {
	Kind             string `json:"type"`
	ExternalID       string `json:"externalId"`
	CreatedAt        string `json:"createdAt"`
	Name             string `json:"name"` // of the session, or of the tool
	WorkingDirectory string `json:"workingDirectory"`
	Source           struct{ Application string }
	LineID           string          `json:"id"`
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	Arguments        json.RawMessage `json:"arguments"`
	ToolCallID       string          `json:"toolCallId"`
	Success          *bool           `json:"success"`
	Subject          string          `json:"subject"`
	Fact             string          `json:"fact"`
	Reason           string          `json:"reason"`
	Scope            struct {
		Type       string
		Repository struct{ Host, Owner, Name string }
	} `json:"scope"`
	Citations json.RawMessage `json:"citations"`
}

// eventLog folds one log, of many sessions.
type eventLog struct {
	out    *sink
	at     time.Time
	count  map[[32]byte]int // how often a line was there: equal lines are two events
	header portable
	calls  map[string]memory.Entry
	places map[string]string
}

func newEventLog(out *sink, path string) *eventLog {
	l := &eventLog{out: out, count: map[[32]byte]int{}, calls: map[string]memory.Entry{}, places: map[string]string{}}
	l.header.ExternalID = strings.TrimSuffix(filepath.Base(path), ".jsonl")
	return l
}

func (l *eventLog) end() error { return nil }

func (l *eventLog) line(raw []byte) (problem, fatal error) {
	var e logLine
	if err := json.Unmarshal(raw, &e); err != nil {
		return badLine(err), nil
	}
	if at := anyTime(e.Timestamp); !at.IsZero() {
		l.at = at
	}
	sum := sha256.Sum256(bytes.TrimSpace(raw))
	l.count[sum]++
	id := fmt.Sprintf("%s#%d", hex.EncodeToString(sum[:16]), l.count[sum])
	switch {
	case e.Event != "" || e.Type != "":
		if e.Session == "" {
			return errors.New("an event without a session"), nil
		}
		return nil, l.event(e, first(e.ID, id))
	case e.Kind != "":
		return l.portable(e.portable, first(e.LineID, id))
	}
	return errors.New("neither an event nor a part of a session"), nil
}

// anyTime reads RFC 3339 text or unix milliseconds.
func anyTime(raw json.RawMessage) time.Time {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return stamp(s)
	}
	var ms float64
	if json.Unmarshal(raw, &ms) == nil && ms > 1e11 && ms < 1e14 {
		return time.UnixMilli(int64(ms)).UTC()
	}
	return time.Time{}
}

// event folds an event of memory-ingest, in either form.
func (l *eventLog) event(e logLine, id string) error {
	session := name(e.Session)
	cwd, tool := name(first(e.Cwd, e.Metadata["cwd"])), claudeTool(name(first(e.Tool, e.Metadata["tool_name"])))
	text := textOf(e.Message)
	if len(e.Message) == 0 {
		text = textOf(e.Text)
	}
	input := cleanJSON(e.ToolInput)
	m := memory.Entry{Tool: tool, ToolInput: json.RawMessage(input.text), Cwd: cwd}
	kind := first(e.Event, e.Type)
	if e.Type == "tool_result" && len(m.ToolInput) == 0 && strings.HasPrefix(text.text, "{") && json.Valid([]byte(text.text)) {
		// It stores calls and results alike; the text of a call is what the tool was given.
		kind, m.ToolInput, text.text = "PreToolUse", json.RawMessage(text.text), ""
	}
	switch kind {
	case "SessionStart", "session_start":
		m.Kind, m.Match = memory.KindSessionStart, memory.MatchKey(session, memory.ClassStart, "", "")
	case "UserPromptSubmit", "user_message":
		m.Kind, m.Match = memory.KindPrompt, memory.MatchKey(session, memory.ClassSaid, "", text.text)
	case "AssistantResponse", "assistant_message":
		m.Kind, m.Match = memory.KindResponse, memory.MatchKey(session, memory.ClassAnswer, "", text.text)
	case "PreToolUse":
		m.Kind, m.Match = memory.KindToolCall, memory.MatchKey(session, memory.ClassCall, tool, memory.CanonicalJSON(m.ToolInput))
	case "PostToolUse", "tool_result":
		m.Kind, m.ResultType, m.Match = memory.KindToolResult, "success", memory.MatchKey(session, memory.ClassResult, tool, text.text)
		m.ExitCode = memory.ShellExit(tool, text.text)
	case "Stop", "SessionEnd", "session_end":
		m.Kind, m.Match = memory.KindSessionEnd, memory.MatchKey(session, memory.ClassEnd, "", "")
	case "SubagentStart", "subagent_start", "SubagentStop", "subagent_stop":
		m.Kind = memory.KindSubagent
	default:
		m.Kind = memory.KindNotification
	}
	if m.Kind == memory.KindPrompt && strings.TrimSpace(text.text) == "" {
		m.Kind = memory.KindNotification
	}
	text.redacted += input.redacted
	text.truncated = text.truncated || input.truncated
	return l.send(m, session, name(first(e.Agent, "agent-memory")), first(e.Event, "event"), id, text)
}

func (l *eventLog) send(m memory.Entry, session, client, typ, id string, text cleaned) error {
	if !l.out.o.Since.IsZero() && l.at.Before(l.out.o.Since) {
		return nil
	}
	meta, err := l.out.session(session, strings.ToLower(client))
	if err != nil {
		return err
	}
	m.ID = memory.TranscriptID(session, typ, id, "")
	m.SessionID, m.Sources, m.Time, m.Text = session, memory.FromElsewhere, l.at, text.text
	m.Redacted, m.Truncated = text.redacted, text.truncated
	if m.Cwd != "" {
		p, ok := l.places[m.Cwd]
		if !ok {
			p = projectOf(place{Cwd: m.Cwd}, l.out.o.World)
			l.places[m.Cwd] = p
		}
		m.Project = p
		if meta.Cwd == "" {
			meta.Cwd, meta.Project = m.Cwd, p
		}
	}
	if len(m.ToolInput) == 0 {
		m.ToolInput = nil
	}
	return l.out.add(m)
}

// portable folds a line of a session file, whose first line names the session, or of a memory file.
func (l *eventLog) portable(p portable, id string) (problem, fatal error) {
	session := name(l.header.ExternalID)
	client := name(first(l.header.Source.Application, "import"))
	m := memory.Entry{Cwd: name(l.header.WorkingDirectory)}
	text := flat(p.Content)
	switch p.Kind {
	case "session":
		l.header = p
		if l.header.ExternalID == "" {
			return errors.New("a session without an id"), nil
		}
		if at := stamp(p.CreatedAt); !at.IsZero() {
			l.at = at
		}
		meta, err := l.out.session(name(p.ExternalID), strings.ToLower(name(first(p.Source.Application, "import"))))
		if err != nil {
			return nil, err
		}
		meta.Title = name(p.Name)
		return nil, nil
	case "memory":
		return l.memory(p, id)
	case "message":
		m.Kind, m.Match = memory.KindPrompt, memory.MatchKey(session, memory.ClassSaid, "", text.text)
		if p.Role == "assistant" {
			m.Kind, m.Match = memory.KindResponse, memory.MatchKey(session, memory.ClassAnswer, "", text.text)
		} else if p.Role != "user" {
			m.Kind = memory.KindNotification
		}
		if strings.TrimSpace(text.text) == "" {
			return nil, nil
		}
	case "tool-call":
		input := cleanJSON(p.Arguments)
		m.Kind, m.Tool, m.CallID, m.ToolInput = memory.KindToolCall, claudeTool(name(p.Name)), name(id), json.RawMessage(input.text)
		m.Match = memory.MatchKey(session, memory.ClassCall, m.Tool, memory.CanonicalJSON(m.ToolInput))
		text, text.text = input, ""
		l.calls[id] = m
	case "tool-result":
		call := l.calls[p.ToolCallID]
		delete(l.calls, p.ToolCallID)
		m.Kind, m.ResultType, m.Tool, m.ToolInput, m.CallID = memory.KindToolResult, "success", call.Tool, call.ToolInput, name(p.ToolCallID)
		if p.Success != nil && !*p.Success {
			m.Kind, m.ResultType = memory.KindError, "failure"
		}
		m.Match = memory.MatchKey(session, memory.ClassResult, m.Tool, text.text)
	default:
		return fmt.Errorf("a line of a kind that is not known here"), nil
	}
	return nil, l.send(m, session, client, p.Kind, id, text)
}

// notes is the session of imported memories, as of the user's own notes.
const notes = "copilot-notes"

func (l *eventLog) memory(p portable, id string) (problem, fatal error) {
	if strings.TrimSpace(p.Fact) == "" {
		return errors.New("a memory without a fact"), nil
	}
	words := p.Fact
	if p.Subject != "" {
		words = p.Subject + ": " + words
	}
	if p.Reason != "" {
		words += " (" + p.Reason + ")"
	}
	about, err := json.Marshal(map[string]any{"kind": "fact", "tags": []string{}, "citations": json.RawMessage(first(string(p.Citations), "[]"))})
	if err != nil {
		return badLine(err), nil
	}
	if l.at.IsZero() {
		l.at = time.Now().UTC().Truncate(time.Millisecond)
	}
	m := memory.Entry{Kind: memory.KindNote, ToolInput: json.RawMessage(cleanJSON(about).text)}
	if r := p.Scope.Repository; p.Scope.Type == "repository" && r.Name != "" {
		m.Project = name(memory.RemoteProject(r.Host, r.Owner+"/"+r.Name))
	}
	// A memory has no time of its own: the same fact is the same memory, wherever in the file it stands.
	sum := sha256.Sum256([]byte(words))
	return nil, l.send(m, notes, "copilot", "memory", hex.EncodeToString(sum[:16]), cleanText(words))
}
