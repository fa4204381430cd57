package history

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

// made is a generated session: the client's transcript of it, what hooks would have told, and what there is to remember.
type made struct {
	ID    string
	Lines []string   // of events.jsonl
	Hooks []hookLine // in the order of their times
	Want  []fact
}

// hookLine is a line of the spool.
type hookLine struct {
	Event   string
	Payload map[string]any
	At      time.Time
}

// fact is what must be found again of one entry.
type fact struct {
	Kind      memory.Kind
	Tool      string
	Text      string
	Agent     string
	Exit      string
	Files     string
	Model     string
	OnlyHooks bool `json:"-"`
}

// maker writes one session.
type maker struct {
	made
	r     *rand.Rand
	at    time.Time
	n     int
	agent string
	pad   string
}

// start is the time at which the first generated session begins.
var start = time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)

// makeSession generates session i. size is how many bytes of output its tools give about.
func makeSession(i, size int) made {
	m := &maker{r: rand.New(rand.NewPCG(uint64(i), 7)), at: start.Add(time.Duration(i) * time.Hour)}
	m.ID = fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i)
	m.event("session.start", map[string]any{
		"sessionId": m.ID, "version": 1, "copilotVersion": "1.0.102", "selectedModel": "model-a",
		"context": map[string]any{"cwd": "/home/dev/app", "gitRoot": "/home/dev/app", "repository": "acme/app", "repositoryHost": "github.com", "hostType": "github", "branch": "main", "headCommit": strings.Repeat("ab", 20)},
	})
	m.fact(fact{Kind: memory.KindSessionStart})
	m.hook("sessionStart", map[string]any{"source": "new"})
	turns := 1 + m.r.IntN(4)
	m.pad = strings.Repeat("lorem ipsum dolor ", size/turns/18/3)
	for t := range turns {
		m.turn(t)
	}
	m.event("session.shutdown", map[string]any{"shutdownType": "routine"})
	m.fact(fact{Kind: memory.KindSessionEnd})
	m.hook("sessionEnd", map[string]any{"reason": "complete"})
	return m.made
}

func (m *maker) fact(f fact) {
	if f.Agent == "" {
		f.Agent = m.agent
	}
	m.Want = append(m.Want, f)
}

func (m *maker) event(typ string, data map[string]any) {
	m.n++
	m.at = m.at.Add(time.Duration(1+m.r.IntN(40)) * time.Millisecond)
	e := map[string]any{"id": fmt.Sprintf("%s-e%d", m.ID, m.n), "timestamp": m.at.Format("2006-01-02T15:04:05.000Z"), "data": data, "parentId": nil}
	if m.agent != "" {
		e["agentId"] = m.agent
	}
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	m.Lines = append(m.Lines, `{"type":"`+typ+`",`+string(b[1:]))
}

// hook notes what a hook is told at about this time, and what the client records of the hook.
func (m *maker) hook(event string, payload map[string]any) {
	at := m.at.Add(time.Duration(m.r.IntN(30)-15) * time.Millisecond)
	payload["sessionId"], payload["timestamp"], payload["cwd"] = m.ID, at.UnixMilli(), "/home/dev/app"
	if m.agent != "" {
		payload["agentId"], payload["parentAgentId"], payload["sessionId"] = m.agent, m.ID, m.agent
	}
	m.Hooks = append(m.Hooks, hookLine{event, payload, at})
	if m.r.IntN(2) == 0 {
		m.event("hook.start", map[string]any{"hookType": event, "input": map[string]any{"prompt": "not to be remembered"}})
	}
}

func (m *maker) word(what string) string { return fmt.Sprintf("%s%dx%d", what, m.n, m.r.IntN(1e6)) }

func (m *maker) turn(t int) {
	prompt := fmt.Sprintf("please do %s, %q of turn %d\n", m.word("task"), "that", t)
	if m.r.IntN(6) == 0 {
		prompt = "continue" // people say it again and again
	}
	m.hook("userPromptSubmitted", map[string]any{"prompt": prompt})
	m.event("user.message", map[string]any{"content": prompt, "transformedContent": "<reminder>not to be remembered</reminder>" + prompt})
	m.event("system.message", map[string]any{"role": "system", "content": "not to be remembered"})
	m.fact(fact{Kind: memory.KindPrompt, Text: prompt})
	for range 1 + m.r.IntN(3) {
		m.calls()
	}
	switch m.r.IntN(6) {
	case 0:
		m.subagent()
	case 1:
		m.odds()
	case 2:
		m.continuation()
	}
	m.answer(m.word("answer")+" "+m.pad, nil)
}

// answer is a message of the model, with the calls that it asks for.
func (m *maker) answer(text string, requests []any) {
	data := map[string]any{"content": text, "model": "model-b", "toolRequests": requests}
	if m.r.IntN(3) == 0 {
		data["reasoningText"] = "not to be remembered unless asked for"
	}
	m.event("assistant.message", data)
	if text != "" {
		m.fact(fact{Kind: memory.KindResponse, Text: text, Model: "model-b"})
	}
}

// calls lets the model use one to three tools at once, now and then the same twice.
func (m *maker) calls() {
	type use struct {
		id, tool, text, exit string
		input                map[string]any
		files                []string
		failed               bool
	}
	var uses []use
	var requests []any
	for i := range 1 + m.r.IntN(3) {
		u := use{id: fmt.Sprintf("call_%d_%d", m.n, i), tool: "bash"}
		switch m.r.IntN(4) {
		case 0:
			u.exit = fmt.Sprint(m.r.IntN(3))
			u.input = map[string]any{"command": "make " + m.word("target"), "description": "d"}
			u.text = fmt.Sprintf("%s %s\n<shellId: %d completed with exit code %s>", m.word("output"), m.pad, i, u.exit)
		case 1:
			u.tool, u.input = "edit", map[string]any{"path": "/home/dev/app/" + m.word("file") + ".go", "old_str": "a", "new_str": m.pad}
			u.text, u.files = "File updated with changes.", []string{u.input["path"].(string)}
		case 2:
			u.tool, u.input = "view", map[string]any{"path": "/home/dev/app/missing.txt"}
			u.text, u.failed = "Path does not exist", true
		case 3: // the same, again
			u.exit, u.input = "0", map[string]any{"command": "git status", "description": "d"}
			u.text = "clean\n<shellId: 1 completed with exit code 0>"
		}
		uses = append(uses, u)
		requests = append(requests, map[string]any{"toolCallId": u.id, "name": u.tool, "arguments": u.input})
	}
	m.answer("", requests)
	for _, u := range uses {
		m.hook("preToolUse", map[string]any{"toolName": u.tool, "toolArgs": u.input})
		m.event("tool.execution_start", map[string]any{"toolCallId": u.id, "toolName": u.tool, "arguments": u.input})
		m.fact(fact{Kind: memory.KindToolCall, Tool: u.tool, Model: "model-b"})
	}
	for _, u := range uses {
		data := map[string]any{"toolCallId": u.id, "success": !u.failed, "model": "model-b"}
		f := fact{Kind: memory.KindToolResult, Tool: u.tool, Text: u.text, Exit: u.exit, Files: strings.Join(u.files, " "), Model: "model-b"}
		if u.failed {
			data["error"], f.Kind = map[string]any{"message": u.text, "code": "failure"}, memory.KindError
			m.hook("postToolUseFailure", map[string]any{"toolName": u.tool, "toolArgs": u.input, "error": u.text})
		} else {
			data["result"] = map[string]any{"content": u.text, "detailedContent": "not to be remembered"}
			m.hook("postToolUse", map[string]any{"toolName": u.tool, "toolArgs": u.input, "toolResult": map[string]any{"resultType": "success", "textResultForLlm": u.text}})
		}
		if u.exit != "" {
			var code int
			fmt.Sscan(u.exit, &code)
			data["shellExecution"] = map[string]any{"exitCode": code}
		}
		if u.files != nil {
			data["fileEdits"] = []any{map[string]any{"path": u.files[0], "kind": "edit"}}
		}
		m.event("tool.execution_complete", data)
		m.fact(f)
	}
}

func (m *maker) subagent() {
	agent := m.word("agent")
	start := map[string]any{"agentName": "explore", "agentId": agent, "agentType": "explore", "parentAgentId": m.ID}
	m.hook("subagentStart", start)
	m.agent = agent
	m.event("subagent.started", map[string]any{"agentName": "explore", "toolCallId": "t"})
	m.fact(fact{Kind: memory.KindSubagent, Text: "explore"})
	errand := "errand " + m.word("errand")
	m.hook("userPromptSubmitted", map[string]any{"prompt": errand})
	m.event("user.message", map[string]any{"content": errand, "source": "agent-" + m.ID})
	m.fact(fact{Kind: memory.KindSubagent, Text: errand})
	m.calls()
	report := "report " + m.word("report")
	m.answer(report, nil)
	m.event("subagent.completed", map[string]any{"agentName": "explore"})
	m.fact(fact{Kind: memory.KindSubagent, Text: report})
	m.agent = ""
	m.hook("subagentStop", map[string]any{"agentName": "explore", "agentId": agent, "agentType": "explore", "parentAgentId": m.ID, "response": report, "stopReason": "end_turn"})
}

// odds are the rarer events.
func (m *maker) odds() {
	note := "<system_notification>" + m.word("notice") + "</system_notification>"
	m.event("system.notification", map[string]any{"content": note})
	m.hook("userPromptSubmitted", map[string]any{"prompt": note})
	m.event("user.message", map[string]any{"content": note, "source": "system"})
	m.fact(fact{Kind: memory.KindNotification, Text: note})
	summary := "summary " + m.word("summary")
	m.event("session.compaction_start", map[string]any{})
	m.event("session.compaction_complete", map[string]any{"success": true, "summaryContent": summary})
	m.fact(fact{Kind: memory.KindCompaction, Text: summary})
	bad := "model said no: " + m.word("error")
	m.hook("errorOccurred", map[string]any{"error": map[string]any{"message": bad, "name": "Error"}, "errorContext": "model_call", "recoverable": true})
	m.event("session.error", map[string]any{"errorType": "query", "message": bad})
	m.fact(fact{Kind: memory.KindError, Text: bad})
	m.event("skill.invoked", map[string]any{"name": "tidy", "content": "not to be remembered", "trigger": "user-invoked"})
	m.fact(fact{Kind: memory.KindSkill, Tool: "skill", Text: "tidy"})
	m.event("abort", map[string]any{"reason": "user_initiated"})
	m.fact(fact{Kind: memory.KindAbort, Text: "user_initiated"})
	m.event("session.of_a_later_version", map[string]any{"text": "not to be remembered"})
	m.event("session.resume", map[string]any{"context": map[string]any{"cwd": "/home/dev/app", "branch": "main", "repository": "acme/app", "repositoryHost": "github.com"}})
	m.fact(fact{Kind: memory.KindSessionStart})
	m.hook("sessionStart", map[string]any{"source": "resume"})
}

// continuation is what a stop hook asks for: a prompt that is not the user's.
func (m *maker) continuation() {
	reason := "go on with " + m.word("check")
	m.event("hook.end", map[string]any{"hookType": "agentStop", "success": true, "output": map[string]any{"decision": "block", "reason": reason}})
	m.hook("userPromptSubmitted", map[string]any{"prompt": reason})
	m.event("user.message", map[string]any{"content": reason})
	m.fact(fact{Kind: memory.KindNotification, Text: reason})
	auto := "keep going"
	m.event("user.message", map[string]any{"content": auto, "isAutopilotContinuation": true, "source": "autopilot"})
	m.fact(fact{Kind: memory.KindNotification, Text: auto})
}

// write puts the transcript where the client would.
func (m made) write(tb testing.TB, home string) string {
	tb.Helper()
	path := filepath.Join(home, "session-state", m.ID, "events.jsonl")
	writeFile(tb, path, strings.Join(m.Lines, "\n")+"\n")
	writeFile(tb, filepath.Join(filepath.Dir(path), "workspace.yaml"), "id: "+m.ID+"\ncwd: /home/dev/app\nbranch: main\nname: Title of "+m.ID+"\nuser_named: false\ncreated_at: "+start.Format(time.RFC3339)+"\n")
	return path
}

func writeFile(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func openStore(tb testing.TB, path string) *store.DB {
	tb.Helper()
	db, err := store.Open(context.Background(), path, store.Options{Words: search.Document, Stem: search.Stem})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func newStore(tb testing.TB) *store.DB {
	tb.Helper()
	return openStore(tb, filepath.Join(tb.TempDir(), "memory.db"))
}

// importAll finds and reads everything below root.
func importAll(tb testing.TB, db *store.DB, root string, change func(*Options)) Report {
	tb.Helper()
	files, bad, err := Find(root, "")
	if err != nil || len(bad) > 0 {
		tb.Fatal(err, bad)
	}
	o := Options{Files: files}
	if change != nil {
		change(&o)
	}
	r, err := Run(context.Background(), db, o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// facts gives what the store knows of a session, in the form of what was meant.
func facts(tb testing.TB, db *store.DB, session string) []fact {
	tb.Helper()
	entries, err := db.Entries(context.Background(), session)
	if err != nil {
		tb.Fatal(err)
	}
	var out []fact
	for _, e := range entries {
		f := fact{Kind: e.Kind, Tool: e.Tool, Text: e.Text, Agent: e.AgentID, Files: strings.Join(e.Files, " "), Model: e.Model}
		if e.ExitCode != nil {
			f.Exit = fmt.Sprint(*e.ExitCode)
		}
		out = append(out, f)
	}
	return out
}
