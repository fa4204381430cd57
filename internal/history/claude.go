package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// claudeLine is one line of a Claude Code transcript (2.x). Its content has the form of the Anthropic Messages API.
type claudeLine struct {
	Type             string          `json:"type"`
	Subtype          string          `json:"subtype"`
	UUID             string          `json:"uuid"`
	ParentUUID       string          `json:"parentUuid"`
	SessionID        string          `json:"sessionId"`
	Timestamp        string          `json:"timestamp"`
	Cwd              string          `json:"cwd"`
	GitBranch        string          `json:"gitBranch"`
	AgentID          string          `json:"agentId"`
	IsSidechain      bool            `json:"isSidechain"`
	IsMeta           bool            `json:"isMeta"`
	IsCompactSummary bool            `json:"isCompactSummary"`
	Summary          string          `json:"summary"`
	LeafUUID         string          `json:"leafUuid"`
	CustomTitle      string          `json:"customTitle"`
	AITitle          string          `json:"aiTitle"`
	Content          json.RawMessage `json:"content"`
	Message          struct {
		Role    string          `json:"role"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// block is one part of a message.
type block struct {
	Type      string          `json:"type"`
	Text      json.RawMessage `json:"text"`
	Thinking  json.RawMessage `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// claude folds one file of Claude Code.
type claude struct {
	out      *sink
	fallback string // the session of lines that name none
	at       time.Time
	line1    claudeLine
	titles   map[string]string       // leaf → summary of the conversation that ends there
	calls    map[string]memory.Entry // by id, until the result is there
	tree     map[string]node         // by uuid
	order    []string
	places   map[string]string // folder → project
}

// node is a line in the tree of a conversation.
type node struct {
	parent string
	prompt bool
	ids    []string // entries made of it
}

func newClaude(out *sink, path string) *claude {
	return &claude{
		out: out, fallback: strings.TrimSuffix(filepath.Base(path), ".jsonl"), titles: map[string]string{},
		calls: map[string]memory.Entry{}, tree: map[string]node{}, places: map[string]string{},
	}
}

func (c *claude) line(raw []byte) (problem, fatal error) {
	var l claudeLine
	if err := json.Unmarshal(raw, &l); err != nil {
		if _, partly := err.(*json.UnmarshalTypeError); !partly { //nolint:errorlint // json returns it bare
			return badLine(err), nil
		}
		problem = badLine(err)
	}
	if l.UUID == "" {
		sum := sha256.Sum256(raw)
		l.UUID = "line-" + hex.EncodeToString(sum[:12])
	}
	if at := stamp(l.Timestamp); !at.IsZero() {
		c.at = at
	}
	l.SessionID = name(first(l.SessionID, c.fallback))
	c.line1 = l
	if l.Type == "summary" {
		if l.Summary != "" && l.LeafUUID != "" {
			c.titles[l.LeafUUID] = name(l.Summary)
		}
		return problem, nil
	}
	if title := name(first(l.CustomTitle, l.AITitle)); title != "" {
		m, err := c.out.session(l.SessionID, "claude")
		if err == nil {
			m.Title = title
		}
		return problem, err
	}
	if l.Type != "user" && l.Type != "assistant" && l.Type != "system" {
		return problem, nil
	}
	meta, fatal := c.out.session(l.SessionID, "claude")
	if fatal != nil {
		return problem, fatal
	}
	c.place(meta)
	if title := c.titles[l.UUID]; title != "" && meta.Title == "" {
		meta.Title = title
	}
	c.tree[l.UUID] = node{parent: l.ParentUUID}
	c.order = append(c.order, l.UUID)
	switch l.Type {
	case "user":
		return problem, c.user()
	case "assistant":
		return problem, c.assistant()
	}
	if text := textOf(l.Content); strings.HasPrefix(l.Subtype, "api_error") {
		return problem, c.emit(memory.Entry{Kind: memory.KindError, ResultType: name(l.Subtype)}, 0, text)
	}
	return problem, nil
}

// place notes where the session works, as far as this line says.
func (c *claude) place(meta *memory.Session) {
	if c.line1.Cwd == "" || c.line1.IsSidechain {
		return
	}
	if meta.Cwd == "" {
		meta.Cwd, meta.Project = name(c.line1.Cwd), c.project(c.line1.Cwd)
	}
	if b := name(c.line1.GitBranch); b != "" && b != "HEAD" {
		meta.Branch = b
	}
}

func (c *claude) project(dir string) string {
	if dir == "" {
		return ""
	}
	p, ok := c.places[dir]
	if !ok {
		p = projectOf(place{Cwd: dir}, c.out.o.World)
		c.places[dir] = p
	}
	return p
}

// blocks gives the parts of a message; a text alone is one part.
func blocks(raw json.RawMessage) []block {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		return []block{{Type: "text", Text: raw}}
	}
	var all []block
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

// flat joins the texts of a content: a string, or blocks.
func flat(raw json.RawMessage) cleaned {
	var out cleaned
	for i, b := range blocks(raw) {
		if b.Type != "text" {
			continue
		}
		c := textOf(b.Text)
		if i > 0 && out.text != "" {
			out.text += "\n"
		}
		out.text += c.text
		out.redacted += c.redacted
		out.truncated = out.truncated || c.truncated
	}
	return out
}

func (c *claude) user() error {
	all := blocks(c.line1.Message.Content)
	results := false
	for i, b := range all {
		if b.Type == "tool_result" {
			results = true
			if err := c.result(i, b); err != nil {
				return err
			}
		}
	}
	text := flat(c.line1.Message.Content)
	if results || strings.TrimSpace(text.text) == "" {
		return nil
	}
	m := memory.Entry{Kind: memory.KindPrompt}
	words := strings.TrimSpace(text.text)
	switch {
	case c.line1.IsCompactSummary:
		m.Kind = memory.KindCompaction
	case c.line1.IsSidechain:
		m.Kind = memory.KindSubagent
	case strings.HasPrefix(words, "[Request interrupted by user"):
		m.Kind = memory.KindAbort
	case c.line1.IsMeta || inserted(words):
		m.Kind = memory.KindNotification
	default:
		if typed, ok := command(words); ok {
			text.text = typed
		}
		n := c.tree[c.line1.UUID]
		n.prompt = true
		c.tree[c.line1.UUID] = n
	}
	if m.Kind != memory.KindAbort && m.Kind != memory.KindCompaction {
		m.Match = memory.MatchKey(c.line1.SessionID, memory.ClassSaid, "", text.text)
	}
	return c.emit(m, len(all), text)
}

// inserted tells what the client wrote in the user's name.
func inserted(s string) bool {
	for _, p := range []string{"<local-command-", "<bash-", "<system-reminder>", "<task-notification>", "Caveat: The messages below"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// command gives what the user typed where the client wrote it as tags.
func command(s string) (string, bool) {
	if !strings.HasPrefix(s, "<command-") {
		return "", false
	}
	tag := func(name string) string {
		_, rest, _ := strings.Cut(s, "<"+name+">")
		in, _, _ := strings.Cut(rest, "</"+name+">")
		return strings.TrimSpace(in)
	}
	typed := strings.TrimSpace(tag("command-name") + " " + tag("command-args"))
	return typed, typed != ""
}

func (c *claude) assistant() error {
	model := name(c.line1.Message.Model)
	for i, b := range blocks(c.line1.Message.Content) {
		var err error
		switch b.Type {
		case "text":
			if text := textOf(b.Text); strings.TrimSpace(text.text) != "" {
				m := memory.Entry{Kind: memory.KindResponse, Model: model, Match: memory.MatchKey(c.line1.SessionID, memory.ClassAnswer, "", text.text)}
				err = c.emit(m, i, text)
			}
		case "thinking":
			if text := textOf(b.Thinking); c.out.o.Reasoning && strings.TrimSpace(text.text) != "" {
				err = c.emit(memory.Entry{Kind: memory.KindReasoning, Model: model}, i, text)
			}
		case "tool_use":
			input := cleanJSON(b.Input)
			m := memory.Entry{
				Kind: memory.KindToolCall, Tool: claudeTool(name(b.Name)), CallID: name(b.ID), ToolInput: json.RawMessage(input.text), Model: model,
			}
			m.Match = memory.MatchKey(c.line1.SessionID, memory.ClassCall, m.Tool, memory.CanonicalJSON(m.ToolInput))
			input.text = ""
			c.calls[b.ID] = m
			err = c.emit(m, i, input)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *claude) result(i int, b block) error {
	call := c.calls[b.ToolUseID]
	delete(c.calls, b.ToolUseID)
	text := flat(b.Content)
	m := memory.Entry{Kind: memory.KindToolResult, ResultType: "success", Tool: call.Tool, ToolInput: call.ToolInput, CallID: name(b.ToolUseID)}
	if b.IsError {
		m.Kind, m.ResultType = memory.KindError, "failure"
		if rest, ok := strings.CutPrefix(text.text, "Exit code "); ok {
			number, _, _ := strings.Cut(rest, "\n")
			if n, err := strconv.Atoi(strings.TrimSpace(number)); err == nil {
				m.Kind, m.ResultType, m.ExitCode = memory.KindToolResult, "success", &n
			}
		}
	} else if p := editedPath(call); p != "" {
		m.Files = []string{p}
	}
	m.Match = memory.MatchKey(c.line1.SessionID, memory.ClassResult, m.Tool, text.text)
	return c.emit(m, i, text)
}

func editedPath(call memory.Entry) string {
	var in struct {
		FilePath     string `json:"file_path"`
		NotebookPath string `json:"notebook_path"`
	}
	if call.Tool != "edit" && call.Tool != "create" && call.Tool != "NotebookEdit" || json.Unmarshal(call.ToolInput, &in) != nil {
		return ""
	}
	return first(in.FilePath, in.NotebookPath)
}

// claudeTool gives the name that the same tool has in Copilot CLI.
func claudeTool(tool string) string {
	switch tool {
	case "Bash":
		return "bash"
	case "Read":
		return "view"
	case "Write":
		return "create"
	case "Edit", "MultiEdit":
		return "edit"
	case "Grep":
		return "grep"
	case "Glob":
		return "glob"
	case "Task", "Agent":
		return "task"
	}
	return tool
}

func (c *claude) emit(m memory.Entry, part int, text cleaned) error {
	l := c.line1
	m.ID = memory.TranscriptID(l.SessionID, "claude."+l.Type, l.UUID, fmt.Sprint(part))
	m.SessionID, m.Sources, m.Time, m.Text = l.SessionID, memory.FromTranscript, c.at, text.text
	m.Redacted, m.Truncated = text.redacted, text.truncated
	m.Cwd, m.Branch, m.Project = name(l.Cwd), name(l.GitBranch), c.project(l.Cwd)
	if l.IsSidechain {
		m.AgentID = name(first(l.AgentID, "sidechain"))
	}
	n := c.tree[l.UUID]
	n.ids = append(n.ids, m.ID)
	c.tree[l.UUID] = n
	return c.out.add(m)
}

// end marks what the user took back: where two prompts answer the same message, all but the last with what follows them.
func (c *claude) end() error {
	last := map[string]string{} // parent → its last prompt
	for _, id := range c.order {
		if n := c.tree[id]; n.prompt && n.parent != "" {
			last[n.parent] = id
		}
	}
	gone := map[string]bool{}
	for _, id := range c.order {
		n := c.tree[id]
		if n.prompt && n.parent != "" && last[n.parent] != id || gone[n.parent] {
			gone[id] = true
			for _, entry := range n.ids {
				c.out.marks[entry] = true
			}
		}
	}
	return nil
}
