package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// knownVersion is the format of the client's transcripts that this was written for (client 1.0.102).
const knownVersion = 1

// event is one line of the client's transcript. The types and their fields stand in the client's own
// schemas/session-events.schema.json.
type event struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	AgentID   string `json:"agentId"`
	Data      view   `json:"data"`
}

// view is a part of the line that is read, not a copy of it: it is valid until the next line.
type view []byte

// UnmarshalJSON keeps b, which json.Unmarshal takes from the line itself.
func (v *view) UnmarshalJSON(b []byte) error {
	*v = b
	return nil
}

// place is where a session works.
type place struct {
	Cwd            string `json:"cwd"`
	GitRoot        string `json:"gitRoot"`
	Repository     string `json:"repository"`
	RepositoryHost string `json:"repositoryHost"`
	HostType       string `json:"hostType"`
	Branch         string `json:"branch"`
	HeadCommit     string `json:"headCommit"`
}

// call is a tool call that has no result yet.
type call struct {
	entry   memory.Entry
	emitted bool
}

// transcript folds the events of one file of the client.
type transcript struct {
	out     *sink
	session string
	meta    *memory.Session
	agent   string // of the line that is folded
	id      string
	at      time.Time

	cwd, branch, project string
	calls                map[string]*call
	said                 map[string]string // agent → its last words
	blocked              string            // what a stop hook asked for
	notified             string            // the last system notification
}

func newTranscript(out *sink, session string) (*transcript, error) {
	meta, err := out.session(session, "copilot")
	return &transcript{out: out, session: session, meta: meta, calls: map[string]*call{}, said: map[string]string{}}, err
}

// idle are the types that say nothing to remember; they are not looked into. System messages, transformed prompts and hook
// records hold memories that were put in, and must not come back as new ones.
var idle = map[string]bool{
	"hook.start": true, "system.message": true, "session.usage_record": true, "session.usage_checkpoint": true,
	"assistant.turn_start": true, "assistant.turn_end": true, "permission.requested": true, "session.binary_asset": true,
}

// quickType reads the type where the client writes it: at the beginning of the line.
func quickType(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	if !ok {
		return ""
	}
	i := bytes.IndexByte(rest, '"')
	if i < 0 || i > 64 {
		return ""
	}
	return string(rest[:i])
}

// line folds one line; the error is what is wrong with it.
func (t *transcript) line(raw []byte) (problem, fatal error) {
	if typ := quickType(raw); idle[typ] || strings.HasPrefix(typ, "model.") {
		if !json.Valid(raw) {
			return errNotJSON, nil
		}
		return nil, nil
	}
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return badLine(err), nil
	}
	if e.Type == "" {
		return fmt.Errorf("an event without a type"), nil
	}
	if e.ID == "" {
		sum := sha256.Sum256(raw)
		e.ID = "line-" + hex.EncodeToString(sum[:12])
	}
	if at := stamp(e.Timestamp); !at.IsZero() {
		t.at = at
	}
	t.agent, t.id = e.AgentID, e.ID
	return t.fold(e)
}

// decode reads the data of an event; a part of an unexpected shape leaves its field empty and is told.
func decode(raw view, v any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return badPart("data", err)
	}
	return nil
}

func (t *transcript) fold(e event) (problem, fatal error) {
	switch e.Type {
	case "session.start", "session.resume":
		return t.start(e)
	case "session.context_changed":
		var p place
		problem = decode(e.Data, &p)
		t.move(p)
	case "session.model_change":
		var d struct{ NewModel string }
		problem = decode(e.Data, &d)
		if t.agent == "" && d.NewModel != "" {
			t.meta.Model = name(d.NewModel)
		}
	case "session.shutdown":
		return t.shutdown(e)
	case "user.message":
		return t.prompt(e)
	case "assistant.message":
		return t.answer(e)
	case "assistant.reasoning":
		var d struct{ Content view }
		problem = decode(e.Data, &d)
		fatal = t.reasoning(d.Content)
	case "tool.user_requested", "tool.execution_start":
		return t.callStarts(e)
	case "tool.execution_complete":
		return t.callEnds(e)
	case "subagent.started", "subagent.completed", "subagent.failed":
		return t.subagent(e)
	case "hook.end":
		t.hookEnd(e)
	default:
		return t.other(e)
	}
	return problem, fatal
}

// other folds the events that become one entry each.
func (t *transcript) other(e event) (problem, fatal error) {
	var d struct {
		SummaryContent, Summary, Content, Message, Name, Trigger, Reason, ErrorType string
		ToolCallID                                                                  string
		Result                                                                      struct{ Kind, Feedback string }
		Response                                                                    view
	}
	var m memory.Entry
	switch e.Type {
	case "session.compaction_complete", "session.handoff", "session.error", "system.notification", "skill.invoked", "skill.invoked_ref",
		"permission.completed", "human_response.recorded", "abort":
		problem = decode(e.Data, &d)
	default:
		return nil, nil
	}
	text := ""
	switch e.Type {
	case "session.compaction_complete":
		m.Kind, text = memory.KindCompaction, d.SummaryContent
	case "session.handoff":
		m.Kind, m.ResultType, text = memory.KindCompaction, "handoff", d.Summary
	case "session.error":
		m.Kind, m.ResultType, text = memory.KindError, name(d.ErrorType), d.Message
	case "system.notification":
		m.Kind, text = memory.KindNotification, d.Content
	case "skill.invoked", "skill.invoked_ref":
		m.Kind, m.Tool, m.ResultType, text = memory.KindSkill, "skill", name(d.Trigger), d.Name
	case "permission.completed":
		if !strings.HasPrefix(d.Result.Kind, "denied") {
			return problem, nil
		}
		m.Kind, m.ResultType, m.CallID = memory.KindPermission, name(d.Result.Kind), name(d.ToolCallID)
		if c := t.calls[d.ToolCallID]; c != nil {
			m.Tool, m.ToolInput = c.entry.Tool, c.entry.ToolInput
		}
		text = first(d.Result.Feedback, m.ResultType)
	case "human_response.recorded":
		m.Kind, text = "humanResponse", textOf(d.Response).text
		m.CallID = name(d.ToolCallID)
	case "abort":
		m.Kind, text = memory.KindAbort, first(d.Reason, "stopped")
	}
	if strings.TrimSpace(text) == "" {
		return problem, nil
	}
	c := cleanText(text)
	switch m.Kind {
	case memory.KindError:
		m.Match = memory.MatchKey(t.session, memory.ClassError, "", c.text)
	case memory.KindNotification:
		t.notified = strings.TrimSpace(c.text)
		m.Match = memory.MatchKey(t.session, memory.ClassSaid, "", c.text)
	}
	return problem, t.emit(m, e.Type, "", c)
}

// emit completes an entry and hands it on. part tells apart what one line says of several things.
func (t *transcript) emit(m memory.Entry, typ, part string, c cleaned) error {
	m.ID = memory.TranscriptID(t.session, typ, t.id, part)
	return t.send(m, c)
}

func (t *transcript) send(m memory.Entry, c cleaned) error {
	m.SessionID, m.Sources = t.session, memory.FromTranscript
	if m.Time.IsZero() {
		m.Time = t.at
	}
	if m.AgentID == "" {
		m.AgentID = t.agent
	}
	m.Cwd, m.Branch, m.Project = t.cwd, t.branch, t.project
	m.Text = c.text
	m.Redacted += c.redacted
	m.Truncated = m.Truncated || c.truncated
	return t.out.add(m)
}

func (t *transcript) start(e event) (problem, fatal error) {
	var d struct {
		Version       json.Number
		SelectedModel string
		StartTime     string
		Context       place
	}
	problem = decode(e.Data, &d)
	t.move(d.Context)
	if d.SelectedModel != "" {
		t.meta.Model = name(d.SelectedModel)
	}
	if t.meta.HeadCommit == "" {
		t.meta.HeadCommit = name(d.Context.HeadCommit)
	}
	m := memory.Entry{Kind: memory.KindSessionStart, ResultType: "new", Match: memory.MatchKey(t.session, memory.ClassStart, "", "")}
	if e.Type == "session.resume" {
		m.ResultType = "resume"
	}
	if v, err := d.Version.Int64(); err == nil && v > knownVersion && problem == nil {
		problem = &note{fmt.Sprintf("format version %d; %d is known here: what is not understood is passed over", v, knownVersion)}
	}
	return problem, t.emit(m, e.Type, "", cleaned{})
}

// move notes where the session works from here on.
func (t *transcript) move(p place) {
	if p.Cwd == "" || t.agent != "" {
		return
	}
	t.cwd, t.branch = name(p.Cwd), name(p.Branch)
	t.project = projectOf(p, t.out.o.World)
	if t.meta.Cwd == "" {
		t.meta.Cwd, t.meta.Project = t.cwd, t.project
	}
	if t.branch != "" {
		t.meta.Branch = t.branch
	}
}

// projectOf names the project of a place: as the folder says now, else as the client knew it then, else the folder.
func projectOf(p place, w World) string {
	if w.Place != nil {
		if project, _ := w.Place(p.Cwd); project != "" {
			return project
		}
	}
	if p.Repository != "" {
		host := p.RepositoryHost
		if host == "" && (p.HostType == "github" || p.HostType == "") {
			host = "github.com"
		}
		if host != "" {
			return name(strings.ToLower(host) + "/" + p.Repository)
		}
	}
	dir := first(p.GitRoot, p.Cwd)
	if w.Temporary != nil && w.Temporary(dir) && p.GitRoot == "" {
		return ""
	}
	return name(filepath.Clean(dir))
}

func (t *transcript) shutdown(e event) (problem, fatal error) {
	var d struct{ ShutdownType, ErrorReason string }
	problem = decode(e.Data, &d)
	c := cleanText(d.ErrorReason)
	how := name(d.ShutdownType)
	if how == "routine" {
		how = "complete" // as hooks say it
	}
	return problem, t.emit(memory.Entry{
		Kind: memory.KindSessionEnd, ResultType: how, Match: memory.MatchKey(t.session, memory.ClassEnd, "", ""),
	}, e.Type, "", c)
}

// prompt folds what was said to the agent; whoever said it.
func (t *transcript) prompt(e event) (problem, fatal error) {
	var d struct {
		Content                 view
		Source                  string
		IsAutopilotContinuation bool
	}
	problem = decode(e.Data, &d)
	c := textOf(d.Content)
	if strings.TrimSpace(c.text) == "" {
		return problem, nil
	}
	m := memory.Entry{Kind: memory.KindPrompt, Match: memory.MatchKey(t.session, memory.ClassSaid, "", c.text)}
	text := strings.TrimSpace(c.text)
	switch {
	case t.agent != "":
		m.Kind = memory.KindSubagent
	case d.Source != "" && d.Source != "user":
		m.Kind, m.ResultType = memory.KindNotification, name(d.Source)
	case d.IsAutopilotContinuation:
		m.Kind, m.ResultType = memory.KindNotification, "autopilot"
	case strings.HasPrefix(text, "<system_notification>"):
		m.Kind, m.ResultType = memory.KindNotification, "system"
	case t.blocked != "" && text == t.blocked:
		m.Kind, m.ResultType = memory.KindNotification, "stop-hook"
	}
	if t.agent == "" {
		t.blocked = ""
		if fatal = t.flushCalls(); fatal != nil {
			return problem, fatal
		}
	}
	if m.Kind == memory.KindNotification && text == t.notified {
		t.notified = "" // the client writes it twice
		t.out.saw(t.session, memory.TranscriptID(t.session, e.Type, t.id, ""))
		return problem, nil
	}
	return problem, t.emit(m, e.Type, "", c)
}

func (t *transcript) answer(e event) (problem, fatal error) {
	var d struct {
		Content, ReasoningText view
		Model                  string
		ToolRequests           []struct {
			ToolCallID string `json:"toolCallId"`
			Name       string `json:"name"`
			Arguments  view   `json:"arguments"`
		}
	}
	problem = decode(e.Data, &d)
	if fatal = t.reasoning(d.ReasoningText); fatal != nil {
		return problem, fatal
	}
	model := name(d.Model)
	if c := textOf(d.Content); strings.TrimSpace(c.text) != "" {
		t.said[t.agent] = c.text
		m := memory.Entry{Kind: memory.KindResponse, Model: model, Match: memory.MatchKey(t.session, memory.ClassAnswer, "", c.text)}
		if fatal = t.emit(m, e.Type, "", c); fatal != nil {
			return problem, fatal
		}
	}
	for i, r := range d.ToolRequests {
		key := first(r.ToolCallID, fmt.Sprintf("%s/%d", t.id, i))
		if err := t.flushCall(key); err != nil { // a provider that gives one id twice
			return problem, err
		}
		m := t.newCall(r.Name, r.ToolCallID, r.Arguments)
		m.Model = model
		m.ID = memory.TranscriptID(t.session, "toolCall", t.id, key)
		m.Time = t.at
		t.calls[key] = &call{entry: m}
		t.out.saw(t.session, m.ID)
	}
	return problem, nil
}

// newCall is a tool call before it is known when it ran.
func (t *transcript) newCall(tool, id string, args view) memory.Entry {
	input := cleanJSON(args)
	m := memory.Entry{
		Kind: memory.KindToolCall, Tool: nativeTool(name(tool)), CallID: name(id), ToolInput: json.RawMessage(input.text),
		Redacted: input.redacted, Truncated: input.truncated, AgentID: t.agent,
	}
	if len(m.ToolInput) == 0 {
		m.ToolInput = nil
	}
	m.Match = memory.MatchKey(t.session, memory.ClassCall, m.Tool, memory.CanonicalJSON(m.ToolInput))
	return m
}

// nativeTool is the one name of tools that have two (client 1.0.102).
func nativeTool(tool string) string {
	if tool == "rg" {
		return "grep"
	}
	return tool
}

func (t *transcript) reasoning(raw view) error {
	c := textOf(raw)
	if strings.TrimSpace(c.text) == "" {
		return nil
	}
	if !t.out.o.Reasoning {
		t.out.saw(t.session, memory.TranscriptID(t.session, "reasoning", t.id, ""))
		return nil
	}
	return t.emit(memory.Entry{Kind: memory.KindReasoning}, "reasoning", "", c)
}

func (t *transcript) callStarts(e event) (problem, fatal error) {
	var d struct {
		ToolCallID string `json:"toolCallId"`
		ToolName   string `json:"toolName"`
		Arguments  view   `json:"arguments"`
		Model      string `json:"model"`
	}
	problem = decode(e.Data, &d)
	c := t.calls[d.ToolCallID]
	if c == nil || c.emitted {
		c = &call{entry: t.newCall(d.ToolName, d.ToolCallID, d.Arguments)}
		c.entry.ID = memory.TranscriptID(t.session, "toolCall", t.id, d.ToolCallID)
		c.entry.Model, c.entry.Time = name(d.Model), t.at
		if e.Type == "tool.user_requested" {
			c.entry.ResultType = "userRequested"
		}
		if d.ToolCallID != "" {
			t.calls[d.ToolCallID] = c
		}
	}
	if e.Type == "tool.user_requested" {
		t.out.saw(t.session, c.entry.ID)
		return problem, nil
	}
	c.entry.Time = t.at
	return problem, t.emitCall(c)
}

func (t *transcript) emitCall(c *call) error {
	if c.emitted {
		return nil
	}
	c.emitted = true
	agent := t.agent
	t.agent = c.entry.AgentID
	defer func() { t.agent = agent }()
	return t.send(c.entry, cleaned{})
}

func (t *transcript) flushCall(key string) error {
	c := t.calls[key]
	if c == nil {
		return nil
	}
	delete(t.calls, key)
	return t.emitCall(c)
}

// flushCalls hands on the calls that never ran: denied, or cut off.
func (t *transcript) flushCalls() error {
	for key, c := range t.calls {
		if c.entry.AgentID == "" {
			if err := t.flushCall(key); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *transcript) callEnds(e event) (problem, fatal error) {
	var d struct {
		ToolCallID string `json:"toolCallId"`
		Success    *bool  `json:"success"`
		Model      string `json:"model"`
		Result     struct {
			Content view `json:"content"`
		} `json:"result"`
		Error struct {
			Message view   `json:"message"`
			Code    string `json:"code"`
		} `json:"error"`
		ShellExecution struct {
			ExitCode *int `json:"exitCode"`
		} `json:"shellExecution"`
		FileEdits []struct {
			Path string `json:"path"`
		} `json:"fileEdits"`
	}
	problem = decode(e.Data, &d)
	m := memory.Entry{CallID: name(d.ToolCallID), Model: name(d.Model), ExitCode: d.ShellExecution.ExitCode}
	if c := t.calls[d.ToolCallID]; c != nil {
		if fatal = t.flushCall(d.ToolCallID); fatal != nil {
			return problem, fatal
		}
		m.Tool, m.ToolInput, m.AgentID = c.entry.Tool, c.entry.ToolInput, c.entry.AgentID
	}
	for _, f := range d.FileEdits {
		if p := name(f.Path); p != "" {
			m.Files = append(m.Files, p)
		}
	}
	c := textOf(d.Result.Content)
	m.Kind, m.ResultType = memory.KindToolResult, "success"
	if d.Success != nil && !*d.Success {
		m.Kind, m.ResultType = memory.KindError, first(name(d.Error.Code), "failure")
		if failed := textOf(d.Error.Message); failed.text != "" {
			c = failed
		}
	}
	if m.ExitCode == nil {
		m.ExitCode = memory.ShellExit(m.Tool, c.text)
	}
	m.Match = memory.MatchKey(t.session, memory.ClassResult, m.Tool, c.text)
	return problem, t.emit(m, e.Type, "", c)
}

func (t *transcript) subagent(e event) (problem, fatal error) {
	var d struct{ AgentName, Error, Model string }
	problem = decode(e.Data, &d)
	agent := name(d.AgentName)
	m := memory.Entry{Kind: memory.KindSubagent, Model: name(d.Model)}
	if e.Type == "subagent.started" {
		m.Match = memory.MatchKey(t.session, memory.ClassAgentStart, "", agent)
		return problem, t.emit(m, e.Type, "", cleaned{text: agent})
	}
	// The words were cleaned when they were said.
	c := cleaned{text: t.said[t.agent]}
	m.ResultType = "completed"
	if e.Type == "subagent.failed" {
		m.ResultType, c = "failed", cleanText(d.Error)
	}
	delete(t.said, t.agent)
	m.Match = memory.MatchKey(t.session, memory.ClassAgentStop, "", agent)
	return problem, t.emit(m, e.Type, "", c)
}

// hookEnd looks for a stop hook that made the agent go on: what it asked for comes back as a prompt without a source.
func (t *transcript) hookEnd(e event) {
	var d struct {
		HookType string
		Output   struct{ Decision, Reason string }
	}
	// Whatever else a hook printed has no meaning here.
	if json.Unmarshal(e.Data, &d) == nil && d.HookType == "agentStop" && d.Output.Decision == "block" {
		t.blocked = strings.TrimSpace(cleanText(d.Output.Reason).text)
	}
}

// end hands on what never got its end.
func (t *transcript) end() error {
	for key := range t.calls {
		if err := t.flushCall(key); err != nil {
			return err
		}
	}
	return nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
