package ingest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/spool"
)

// Folded is what lines of the spool became.
type Folded struct {
	Sessions []memory.Session // in the order of their first line
	Entries  []memory.Entry   // in the order of their lines
	Failed   []Failure
}

// Failure is a line that is no event.
type Failure struct {
	Line spool.Line
	Err  error
}

// World is what lines do not say. Each function answers the same for the same question.
type World struct {
	// Project returns the project and the branch of a folder.
	Project func(dir string) (project, branch string)
	// AgentSession returns the session of a sub-agent that earlier lines told of, or "".
	AgentSession func(agent string) string
}

// transcriptPrefix marks the lines that were read from a transcript.
const transcriptPrefix = "transcript."

// unknownSession holds the events that name no session at all.
const unknownSession = "copilot-unknown"

// Fold turns lines into sessions and entries: one event is one entry, or none.
func Fold(lines []spool.Line, w World) Folded {
	f := folder{world: w, parents: map[string]string{}, roots: map[string]string{}, at: map[string]int{}}
	events := make([]hook.Event, len(lines))
	errs := make([]error, len(lines))
	for i, l := range lines {
		if events[i], errs[i] = decode(l); errs[i] == nil {
			f.family(events[i])
		}
	}
	for i, l := range lines {
		if errs[i] != nil {
			f.out.Failed = append(f.out.Failed, Failure{l, errs[i]})
			continue
		}
		f.add(l, events[i])
	}
	return f.out
}

// message is the payload of a line from a transcript.
type message struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	Content   string `json:"content"`
	AgentID   string `json:"agentId"`
}

func decode(l spool.Line) (hook.Event, error) {
	var e hook.Event
	if !strings.HasPrefix(l.Event, transcriptPrefix) {
		var err error
		if e, err = hook.Decode(l.Event, l.Payload); err != nil {
			return e, err
		}
	} else {
		var m message
		if err := json.Unmarshal(l.Payload, &m); err != nil {
			return e, fmt.Errorf("%s: %w", l.Event, err)
		}
		e = hook.Event{Name: l.Event, ToolCallID: m.ID, Message: m.Content, AgentID: m.AgentID}
		if t, err := time.Parse(time.RFC3339, m.Timestamp); err == nil {
			e.Time = t.UTC().Truncate(time.Millisecond)
		}
	}
	if e.SessionID == "" {
		e.SessionID = l.Session
	}
	if e.SessionID == "" {
		e.SessionID = unknownSession
	}
	return e, nil
}

type folder struct {
	world   World
	parents map[string]string // agent → its parent: an agent or a session
	roots   map[string]string // what World.AgentSession answered
	at      map[string]int    // session → index in out.Sessions
	out     Folded
}

// family learns from an event whose sub-agent an agent is.
func (f *folder) family(e hook.Event) {
	if e.AgentID == "" || strings.HasPrefix(e.Name, transcriptPrefix) {
		return
	}
	parent := e.ParentAgentID
	if parent == "" && e.SessionID != e.AgentID {
		parent = e.SessionID
	}
	if parent != "" && parent != e.AgentID {
		f.parents[e.AgentID] = parent
	}
}

// session returns the session of the user in which an event happened. Inside a sub-agent the client (1.0.102) gives
// the agent's id as session.
func (f *folder) session(e hook.Event) string {
	if strings.HasPrefix(e.Name, transcriptPrefix) {
		return e.SessionID // the file is the session's own
	}
	id := e.SessionID
	if e.AgentID != "" {
		if id = f.parents[e.AgentID]; id == "" {
			id = e.AgentID
		}
	}
	for range 32 { // deeper is a circle
		if parent, ok := f.parents[id]; ok {
			id = parent
			continue
		}
		root, ok := f.roots[id]
		if !ok {
			root = f.world.AgentSession(id)
			f.roots[id] = root
		}
		if root == "" || root == id {
			return id
		}
		id = root
	}
	return id
}

func (f *folder) add(l spool.Line, e hook.Event) {
	session := f.session(e)
	agent := e.AgentID
	if agent == "" && session != e.SessionID {
		agent = e.SessionID
	}
	at := e.Time
	if at.IsZero() {
		at = time.UnixMilli(l.At).UTC()
	}
	entry := memory.Entry{
		ID: entryID(l, e), SessionID: session, Time: at, AgentID: agent, Cwd: e.Cwd,
		Tool: e.Tool, ToolInput: e.ToolInput, ResultType: e.ResultType,
		Truncated: l.Truncated, Redacted: l.Redacted, Sources: memory.FromHook,
	}
	if strings.HasPrefix(e.Name, transcriptPrefix) {
		entry.Sources = memory.FromTranscript
	}
	if e.Cwd != "" {
		entry.Project, entry.Branch = f.world.Project(e.Cwd)
	}
	f.touch(entry, e.TranscriptPath)
	if content(&entry, l, e) {
		entry.Match = match(entry, e)
		f.out.Entries = append(f.out.Entries, entry)
	}
}

func (f *folder) touch(e memory.Entry, transcript string) {
	i, ok := f.at[e.SessionID]
	if !ok {
		i = len(f.out.Sessions)
		f.at[e.SessionID] = i
		f.out.Sessions = append(f.out.Sessions, memory.Session{ID: e.SessionID, Client: "copilot", StartedAt: e.Time})
	}
	s := &f.out.Sessions[i]
	if s.Cwd == "" {
		s.Cwd, s.Project = e.Cwd, e.Project
	}
	if e.Branch != "" && e.AgentID == "" {
		s.Branch = e.Branch
	}
	if e.Time.Before(s.StartedAt) {
		s.StartedAt = e.Time
	}
	if transcript != "" {
		s.TranscriptPath = transcript
	}
}

// content fills what differs from event to event, and reports whether the event is an entry at all.
func content(m *memory.Entry, l spool.Line, e hook.Event) bool {
	switch e.Name {
	case hook.PreToolUse:
		m.Kind = memory.KindToolCall
	case hook.PostToolUse:
		m.Kind, m.Text = memory.KindToolResult, e.ResultText
		m.ExitCode = memory.ShellExit(m.Tool, m.Text)
	case hook.PostToolUseFailure:
		m.Kind, m.Text, m.ResultType = memory.KindError, errorText(e), "failure"
	case hook.ErrorOccurred:
		m.Kind, m.Text, m.ResultType = memory.KindError, errorText(e), e.ErrorContext
	case hook.UserPromptSubmitted:
		m.Text = e.Prompt
		switch {
		case e.FromUser() && m.AgentID == "":
			m.Kind = memory.KindPrompt
		case m.AgentID != "":
			m.Kind = memory.KindSubagent
		default:
			m.Kind = memory.KindNotification
		}
	case hook.SessionStart:
		m.Kind, m.Text, m.ResultType = memory.KindSessionStart, e.Prompt, e.Source
	case hook.SessionEnd:
		m.Kind, m.ResultType = memory.KindSessionEnd, e.Reason
	case hook.SubagentStart:
		m.Kind, m.Text = memory.KindSubagent, e.AgentName
	case hook.SubagentStop:
		m.Kind, m.Text, m.ResultType = memory.KindSubagent, e.Response, e.StopReason
	case hook.PreCompact:
		m.Kind, m.Text, m.ResultType = memory.KindCompaction, e.CustomInstructions, e.Trigger
	case hook.Notification:
		m.Kind, m.Text, m.ResultType = memory.KindNotification, strings.TrimSpace(e.Title+"\n"+e.Message), e.NotificationType
	case hook.AgentStop, hook.UserPromptTransformed, hook.PermissionRequest, hook.PreMcpToolCall:
		return false // another event says it too
	case "transcript.assistant.message":
		m.Kind, m.Text = memory.KindResponse, e.Message
	case "transcript.session.compaction_complete":
		m.Kind, m.Text = memory.KindCompaction, e.Message
	case "transcript.subagent.completed", "transcript.subagent.failed":
		m.Kind, m.Text = memory.KindSubagent, e.Message
	default:
		if name, ok := strings.CutPrefix(e.Name, transcriptPrefix); ok {
			m.Kind, m.Text = kindOf(name), e.Message
			break
		}
		m.Kind, m.Text = kindOf(e.Name), string(l.Payload)
	}
	return true
}

// match is the key by which the store knows what the transcript tells again.
func match(m memory.Entry, e hook.Event) int64 {
	switch e.Name {
	case hook.PreToolUse:
		return memory.MatchKey(m.SessionID, memory.ClassCall, m.Tool, memory.CanonicalJSON(m.ToolInput))
	case hook.PostToolUse, hook.PostToolUseFailure:
		return memory.MatchKey(m.SessionID, memory.ClassResult, m.Tool, m.Text)
	case "transcript.assistant.message":
		return memory.MatchKey(m.SessionID, memory.ClassAnswer, "", m.Text)
	case hook.ErrorOccurred:
		return memory.MatchKey(m.SessionID, memory.ClassError, "", m.Text)
	case hook.UserPromptSubmitted:
		return memory.MatchKey(m.SessionID, memory.ClassSaid, "", m.Text)
	case hook.SessionStart:
		return memory.MatchKey(m.SessionID, memory.ClassStart, "", "")
	case hook.SessionEnd:
		return memory.MatchKey(m.SessionID, memory.ClassEnd, "", "")
	case hook.SubagentStart:
		return memory.MatchKey(m.SessionID, memory.ClassAgentStart, "", e.AgentName)
	case hook.SubagentStop:
		return memory.MatchKey(m.SessionID, memory.ClassAgentStop, "", e.AgentName)
	}
	return 0
}

// kindOf keeps an unknown event from passing for something the user said.
func kindOf(name string) memory.Kind {
	switch k := memory.Kind(name); k {
	case memory.KindPrompt, memory.KindResponse, memory.KindNote, "":
		return "event." + k
	default:
		return k
	}
}

func errorText(e hook.Event) string {
	if e.Error == nil {
		return e.Message
	}
	return e.Error.Message
}

// entryID is the same for one event seen by two hooks, in either dialect, and differs for two events.
func entryID(l spool.Line, e hook.Event) string {
	at := strconv.FormatInt(e.Time.UnixMilli(), 10)
	if e.Time.IsZero() {
		at = l.ID
	}
	said := memory.Identity{
		Session: e.SessionID, Event: e.Name, At: at, Prompt: e.Prompt, Source: e.Source, Reason: e.Reason, Tool: e.Tool,
		Input: memory.CanonicalJSON(e.ToolInput), ResultType: e.ResultType, ResultText: e.ResultText,
		ErrorContext: e.ErrorContext, Agent: e.AgentID, Response: e.Response, Trigger: e.Trigger, Asked: e.CustomInstructions,
		Notification: e.NotificationType, Message: e.Message, Title: e.Title, Call: e.ToolCallID,
	}
	if e.Error != nil {
		said.Error = e.Error
	}
	switch _, known := hook.CanonicalName(e.Name); {
	case strings.HasPrefix(e.Name, transcriptPrefix):
		// The transcript's own id is enough: its other fields may be filled in when it is written again.
		if e.ToolCallID != "" {
			said.At, said.Message, said.Agent = "", "", ""
		}
	case !known:
		said.Payload = memory.CanonicalJSON(l.Payload)
	}
	return said.ID()
}
