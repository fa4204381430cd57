package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

type tools struct {
	memory Memory
	Options
}

// The arguments. What is not needed has omitempty, so that the schema does not require it.
type (
	searchArgs struct {
		Query     string `json:"query" jsonschema:"words, an error message or an identifier"`
		Project   string `json:"project,omitempty" jsonschema:"default: this folder's"`
		All       bool   `json:"all,omitempty" jsonschema:"every project"`
		Since     string `json:"since,omitempty" jsonschema:"2026-03-01, 7d, last week"`
		Until     string `json:"until,omitempty"`
		Kind      string `json:"kind,omitempty" jsonschema:"prompt, response, toolCall, toolResult, error or note"`
		Limit     int    `json:"limit,omitempty"`
		MaxTokens int    `json:"maxTokens,omitempty" jsonschema:"size of the answer, default 1500"`
	}
	showArgs struct {
		ID        string `json:"id" jsonschema:"of a session, a turn (SESSION:3) or an entry"`
		Around    int    `json:"around,omitempty" jsonschema:"entries before and after it"`
		MaxTokens int    `json:"maxTokens,omitempty"`
	}
	timelineArgs struct {
		By      string `json:"by,omitempty" jsonschema:"day, week, month or year"`
		Project string `json:"project,omitempty"`
		All     bool   `json:"all,omitempty"`
		Since   string `json:"since,omitempty"`
		Until   string `json:"until,omitempty"`
	}
	fileArgs struct {
		Path  string `json:"path"`
		Limit int    `json:"limit,omitempty"`
	}
	rememberArgs struct {
		Text string   `json:"text"`
		Kind string   `json:"kind,omitempty" jsonschema:"decision, fact, preference or procedure"`
		Tags []string `json:"tags,omitempty"`
	}
	forgetArgs struct {
		ID string `json:"id"`
	}
)

// The answers. Every tool also writes them as text.
type (
	hitsOut struct {
		Project string   `json:"project"`
		Hits    []hitOut `json:"hits"`
		More    string   `json:"more,omitempty"`
	}
	hitOut struct {
		ID      string  `json:"id"`
		Session string  `json:"session"`
		Turn    int     `json:"turn"`
		Kind    string  `json:"kind"`
		Time    string  `json:"time"`
		Score   float64 `json:"score"`
		Text    string  `json:"text"`
	}
	entriesOut struct {
		Session string     `json:"session"`
		Project string     `json:"project"`
		Entries []entryOut `json:"entries"`
		More    string     `json:"more,omitempty"`
	}
	entryOut struct {
		ID   string `json:"id"`
		Turn int    `json:"turn"`
		Kind string `json:"kind"`
		Time string `json:"time"`
		Tool string `json:"tool,omitempty"`
		Text string `json:"text"`
	}
	linesOut struct {
		Lines []lineOut `json:"lines"`
		More  string    `json:"more,omitempty"`
	}
	lineOut struct {
		ID   string `json:"id"`
		Time string `json:"time"`
		Text string `json:"text"`
	}
	noteOut struct {
		ID string `json:"id"`
	}
	forgotOut struct {
		ID      string `json:"id"`
		Entries int    `json:"entries"`
		Deleted bool   `json:"deleted"`
	}
)

const (
	defaultTokens = 1500
	maxTokens     = 8000
	defaultLimit  = 8
	maxLimit      = 50
)

func (t tools) register(s *mcp.Server) {
	yes, no := true, false
	read := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
	add(s, "search", "Search past sessions and notes. Best matches first, with ids.", read, t.search)
	add(s, "show", "Expand an id: a session, a turn or an entry with its surroundings.", read, t.show)
	add(s, "timeline", "What happened when, newest first.", read, t.timeline)
	add(s, "about_file", "What past sessions did with a file and why.", read, t.aboutFile)
	add(s, "remember", "Save a note for later sessions. Only what the user wants kept.",
		&mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}, t.remember)
	mcp.AddTool(s, &mcp.Tool{
		Name: "forget", Description: "Delete an entry, a turn or a session for good. Asks the user.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &no},
	}, t.forget)
}

// add registers a tool whose answer is a value and a text. The value's schema is left out of the list: it would cost the
// model more than it tells.
func add[In, Out any](s *mcp.Server, name, description string, hints *mcp.ToolAnnotations, do func(context.Context, *mcp.CallToolRequest, In) (Out, string, error)) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: description, Annotations: hints},
		func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			out, text, err := do(ctx, req, in)
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: out}, nil, nil
		})
}

func (t tools) search(ctx context.Context, _ *mcp.CallToolRequest, in searchArgs) (hitsOut, string, error) {
	if strings.TrimSpace(in.Query) == "" {
		return hitsOut{}, "", errors.New("query is empty: say what to look for; timeline lists what happened lately")
	}
	return t.hits(ctx, Ask{
		Query: in.Query, Project: in.Project, All: in.All, Since: in.Since, Until: in.Until, Kind: in.Kind, Limit: limit(in.Limit),
	}, in.MaxTokens)
}

func (t tools) aboutFile(ctx context.Context, _ *mcp.CallToolRequest, in fileArgs) (hitsOut, string, error) {
	if strings.TrimSpace(in.Path) == "" {
		return hitsOut{}, "", errors.New("path is empty: name a file, or a part of its path")
	}
	return t.hits(ctx, Ask{File: in.Path, Limit: limit(in.Limit)}, defaultTokens)
}

func limit(n int) int {
	if n <= 0 {
		return defaultLimit
	}
	return min(n, maxLimit)
}

func budget(tokens int) int {
	if tokens <= 0 {
		return defaultTokens
	}
	return min(tokens, maxTokens)
}

func (t tools) hits(ctx context.Context, a Ask, tokens int) (hitsOut, string, error) {
	hits, project, err := t.memory.Search(ctx, a)
	if err != nil {
		return hitsOut{}, "", err
	}
	out := hitsOut{Project: project, Hits: []hitOut{}}
	p := t.page(budget(tokens))
	p.head(recalled(project))
	for _, h := range hits {
		text, ok := p.entry(h.Entry, h.Snippet)
		if !ok {
			break
		}
		out.Hits = append(out.Hits, hitOut{h.ID, h.SessionID, h.Turn, string(h.Kind), t.when(h.Entry), h.Score, text})
	}
	switch n := len(out.Hits); {
	case len(hits) == 0:
		p.line("Nothing found. " + t.elsewhere(a))
	case n < len(hits):
		out.More = fmt.Sprintf("%d more: ask with a larger maxTokens", len(hits)-n)
	case n == a.Limit:
		out.More = "there may be more: ask with a larger limit"
	}
	return out, p.end(out.More), nil
}

// elsewhere is what to try when nothing was found.
func (t tools) elsewhere(a Ask) string {
	switch {
	case a.Since != "" || a.Until != "":
		return "Try without since and until."
	case !a.All && a.Project == "":
		return "Try other words, or all: true for every project."
	}
	return "Try other words."
}

func (t tools) show(ctx context.Context, _ *mcp.CallToolRequest, in showArgs) (entriesOut, string, error) {
	if in.ID == "" {
		return entriesOut{}, "", errors.New("id is empty: search and timeline give ids")
	}
	around := min(max(in.Around, 0), maxLimit)
	s, entries, err := t.memory.Show(ctx, in.ID, around, around)
	if err != nil {
		return entriesOut{}, "", err
	}
	out := entriesOut{Session: s.ID, Project: s.Project, Entries: []entryOut{}}
	p := t.page(budget(in.MaxTokens))
	p.head(fmt.Sprintf("%s Session %s, branch %s.", recalled(s.Project), s.ID, s.Branch))
	each := max(120, p.left/max(1, len(entries)))
	for _, e := range entries {
		text, ok := p.entry(e, p.fit(full(e), each))
		if !ok {
			break
		}
		out.Entries = append(out.Entries, entryOut{e.ID, e.Turn, string(e.Kind), t.when(e), e.Tool, text})
	}
	if n := len(out.Entries); n < len(entries) {
		out.More = fmt.Sprintf("%d more entries from %s on: show that id, or give a larger maxTokens", len(entries)-n, entries[n].ID)
	}
	return out, p.end(out.More), nil
}

var periods = []string{"", "day", "week", "month", "year"}

func (t tools) timeline(ctx context.Context, _ *mcp.CallToolRequest, in timelineArgs) (linesOut, string, error) {
	if !slices.Contains(periods, in.By) {
		return linesOut{}, "", fmt.Errorf("by is %q: use day, week, month or year", in.By)
	}
	lines, err := t.memory.Timeline(ctx, Ask{Project: in.Project, All: in.All, Since: in.Since, Until: in.Until}, in.By)
	if err != nil {
		return linesOut{}, "", err
	}
	out := linesOut{Lines: []lineOut{}}
	p := t.page(defaultTokens)
	p.head(recalled(in.Project))
	for _, l := range lines {
		at := l.Time.In(t.Zone).Format("2006-01-02 15:04")
		if !p.line(fmt.Sprintf("%s%s [%s] %s", strings.Repeat("  ", l.Depth), at, l.ID, oneLine(l.Text))) {
			break
		}
		out.Lines = append(out.Lines, lineOut{l.ID, at, l.Text})
	}
	switch n := len(out.Lines); {
	case len(lines) == 0:
		p.line("Nothing happened in that time.")
	case n < len(lines):
		out.More = fmt.Sprintf("%d more lines: narrow it with since and until", len(lines)-n)
	}
	return out, p.end(out.More), nil
}

func (t tools) remember(ctx context.Context, _ *mcp.CallToolRequest, in rememberArgs) (noteOut, string, error) {
	if strings.TrimSpace(in.Text) == "" {
		return noteOut{}, "", errors.New("text is empty: say what to remember")
	}
	e, err := t.memory.Remember(ctx, in.Text, in.Kind, in.Tags)
	if err != nil {
		return noteOut{}, "", err
	}
	return noteOut{e.ID}, "Saved as note " + e.ID + ".", nil
}

// consent is the name of the question that forget asks.
const consent = "consent"

// forget asks the user by way of the client, which calls again with the answer. A client that cannot ask deletes nothing.
func (t tools) forget(ctx context.Context, req *mcp.CallToolRequest, in forgetArgs) (*mcp.CallToolResult, any, error) {
	if in.ID == "" {
		return nil, nil, errors.New("id is empty: search and timeline give ids")
	}
	answer, asked := req.Params.InputResponses[consent].(*mcp.ElicitResult)
	n, err := t.memory.Forget(ctx, in.ID, !asked || answer.Action != "accept")
	if err != nil {
		return nil, nil, err
	}
	out := forgotOut{ID: in.ID, Entries: n}
	say := func(text string) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: out}, nil, nil
	}
	switch {
	case asked && answer.Action == "accept":
		out.Deleted = true
		return say(fmt.Sprintf("Deleted %d entries for good.", n))
	case asked:
		return say("The user did not agree. Nothing was deleted.")
	case !canAsk(req.Session):
		return say(fmt.Sprintf("Nothing was deleted: this client cannot ask the user. It would be %d entries; the user can run: copilot-mem forget %s", n, in.ID))
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{consent: &mcp.ElicitParams{
		Message:         fmt.Sprintf("Delete %d entries of memory (%s) for good?", n, in.ID),
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}}}, nil, nil
}

func canAsk(s *mcp.ServerSession) bool {
	p := s.InitializeParams()
	return p != nil && p.Capabilities != nil && p.Capabilities.Elicitation != nil
}

func full(e memory.Entry) string {
	if len(e.ToolInput) > 0 && e.Kind == memory.KindToolCall {
		return strings.TrimSpace(string(e.ToolInput) + "\n" + e.Text)
	}
	return e.Text
}
