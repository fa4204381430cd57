package ingest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/spool"
)

func line(event, payload string) spool.Line {
	return spool.Line{Version: 1, ID: fmt.Sprintf("%016x", len(payload)), Event: event, At: 1795257469999, Payload: json.RawMessage(payload)}
}

var world = World{
	Project:      func(dir string) (string, string) { return "project of " + dir, "main" },
	AgentSession: func(string) string { return "" },
}

func TestFoldKinds(t *testing.T) {
	const common = `"sessionId":"s1","timestamp":1795257460555,"cwd":"/src/app"`
	type said struct {
		Kind                   memory.Kind
		Text, Result, Tool, In string
	}
	for _, tt := range []struct {
		event, fields string
		want          said // no kind: no entry
	}{
		{"userPromptSubmitted", `"prompt":"0010"`, said{Kind: "prompt", Text: "0010"}},
		{"userPromptSubmitted", `"prompt":"{\"a\":1}"`, said{Kind: "prompt", Text: `{"a":1}`}},
		{"userPromptSubmitted", `"prompt":"<system_notification>shell done</system_notification>"`,
			said{Kind: "notification", Text: "<system_notification>shell done</system_notification>"}},
		{"userPromptSubmitted", `"prompt":"sub task","agentId":"a1","parentAgentId":"s1"`, said{Kind: "subagent", Text: "sub task"}},
		{"sessionStart", `"source":"new","initialPrompt":"first"`, said{Kind: "sessionStart", Text: "first", Result: "new"}},
		{"sessionEnd", `"reason":"user_exit"`, said{Kind: "sessionEnd", Result: "user_exit"}},
		{"preToolUse", `"toolName":"bash","toolArgs":{"command":"ls"}`, said{Kind: "toolCall", Tool: "bash", In: `{"command":"ls"}`}},
		{"preToolUse", `"toolName":"apply_patch","toolArgs":"*** Begin Patch"`, said{Kind: "toolCall", Tool: "apply_patch", In: `"*** Begin Patch"`}},
		{"postToolUse", `"toolName":"bash","toolArgs":{"command":"ls"},"toolResult":{"resultType":"success","textResultForLlm":"a b"}`,
			said{"toolResult", "a b", "success", "bash", `{"command":"ls"}`}},
		{"postToolUseFailure", `"toolName":"view","toolArgs":{"path":"/x"},"error":"no such file"`, said{"error", "no such file", "failure", "view", `{"path":"/x"}`}},
		{"errorOccurred", `"error":{"message":"429","name":"E","stack":""},"errorContext":"model_call"`, said{Kind: "error", Text: "429", Result: "model_call"}},
		{"subagentStart", `"agentId":"a1","agentName":"explore","parentAgentId":"s1"`, said{Kind: "subagent", Text: "explore"}},
		{"subagentStop", `"agentId":"a1","parentAgentId":"s1","response":"found","stopReason":"end_turn"`, said{Kind: "subagent", Text: "found", Result: "end_turn"}},
		{"preCompact", `"trigger":"manual","customInstructions":"keep names"`, said{Kind: "compaction", Text: "keep names", Result: "manual"}},
		{"notification", `"notification_type":"agent_idle","title":"T","message":"m"`, said{Kind: "notification", Text: "T\nm", Result: "agent_idle"}},
		{"agentStop", `"transcriptPath":"/t"`, said{}},
		{"userPromptTransformed", `"prompt":"x","transformedPrompt":"y"`, said{}},
		{"permissionRequest", `"toolName":"bash","toolInput":{"command":"ls"}`, said{}},
		{"preMcpToolCall", `"serverName":"m","toolName":"t","arguments":{}`, said{}},
		{"somethingNew", `"prompt":"not the user"`, said{Kind: "somethingNew", Text: `{"sessionId":"s1","timestamp":1795257460555,"cwd":"/src/app","prompt":"not the user"}`}},
		{"prompt", `"prompt":"not the user"`, said{Kind: "event.prompt", Text: `{"sessionId":"s1","timestamp":1795257460555,"cwd":"/src/app","prompt":"not the user"}`}},
	} {
		f := Fold([]spool.Line{line(tt.event, "{"+common+","+tt.fields+"}")}, world)
		if len(f.Sessions) != 1 || f.Sessions[0].ID != "s1" || len(f.Failed) != 0 {
			t.Errorf("%s: sessions %+v, failed %v", tt.event, f.Sessions, f.Failed)
		}
		var got said
		for _, e := range f.Entries {
			got = said{e.Kind, e.Text, e.ResultType, e.Tool, string(e.ToolInput)}
			if e.SessionID != "s1" || e.Cwd != "/src/app" || e.Project != "project of /src/app" || e.Branch != "main" ||
				!e.Time.Equal(time.UnixMilli(1795257460555)) || len(e.ID) != 20 {
				t.Errorf("%s: entry %+v", tt.event, e)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.event, tt.fields, diff)
		}
	}
}

func TestFoldSession(t *testing.T) {
	f := Fold([]spool.Line{
		line("userPromptSubmitted", `{"sessionId":"s1","timestamp":2000000000000,"cwd":"/b","prompt":"x"}`),
		line("agentStop", `{"sessionId":"s1","timestamp":1900000000000,"cwd":"/b/c","transcriptPath":"/t/events.jsonl"}`),
		{ID: "1", Event: "sessionStart", At: 1795257469999, Session: "copilot-1", Payload: json.RawMessage(`{"cwd":"/b"}`), Redacted: 2, Truncated: true},
	}, world)
	want := []memory.Session{
		{ID: "s1", Project: "project of /b", Cwd: "/b", Branch: "main", Client: "copilot", StartedAt: time.UnixMilli(1900000000000).UTC(), TranscriptPath: "/t/events.jsonl"},
		{ID: "copilot-1", Project: "project of /b", Cwd: "/b", Branch: "main", Client: "copilot", StartedAt: time.UnixMilli(1795257469999).UTC()},
	}
	if diff := cmp.Diff(want, f.Sessions); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	if e := f.Entries[1]; e.Redacted != 2 || !e.Truncated {
		t.Errorf("redacted %d, truncated %v", e.Redacted, e.Truncated)
	}
}

func TestFoldTranscript(t *testing.T) {
	transcript := func(event, payload string) spool.Line {
		l := line(event, payload)
		l.Session = "s1"
		return l
	}
	lines := []spool.Line{
		transcript("transcript.assistant.message", `{"id":"m1","timestamp":"2026-11-21T10:37:40.555Z","content":"the answer"}`),
		transcript("transcript.assistant.message", `{"id":"m2","timestamp":"2026-11-21T10:37:41.555Z","content":"of the agent","agentId":"a1"}`),
		transcript("transcript.session.compaction_complete", `{"id":"m3","timestamp":"2026-11-21T10:37:42.555Z","content":"summary"}`),
		transcript("transcript.user.message", `{"id":"m4","timestamp":"2026-11-21T10:37:42.555Z","content":"typed"}`),
	}
	got := Fold(append(lines, lines...), world)
	if got.Entries[0].ID != got.Entries[4].ID || got.Entries[0].ID == got.Entries[1].ID {
		t.Errorf("ids: %v", got.Entries)
	}
	want := []memory.Entry{
		{SessionID: "s1", Kind: "response", Text: "the answer", Time: time.Date(2026, 11, 21, 10, 37, 40, 555e6, time.UTC)},
		{SessionID: "s1", Kind: "response", Text: "of the agent", AgentID: "a1", Time: time.Date(2026, 11, 21, 10, 37, 41, 555e6, time.UTC)},
		{SessionID: "s1", Kind: "compaction", Text: "summary", Time: time.Date(2026, 11, 21, 10, 37, 42, 555e6, time.UTC)},
		{SessionID: "s1", Kind: "user.message", Text: "typed", Time: time.Date(2026, 11, 21, 10, 37, 42, 555e6, time.UTC)},
	}
	if diff := cmp.Diff(want, got.Entries[:4], cmpopts.IgnoreFields(memory.Entry{}, "ID", "Sources", "Match")); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// Sub-agents give their own id as session; their entries belong to the session of the user.
func TestFoldSubagents(t *testing.T) {
	lines := []spool.Line{
		line("postToolUse", `{"sessionId":"B","agentId":"B","parentAgentId":"A","timestamp":1795257460003,"cwd":"/x","toolName":"bash"}`),
		line("subagentStart", `{"sessionId":"root","agentId":"A","parentAgentId":"root","timestamp":1795257460001,"cwd":"/x"}`),
		line("userPromptSubmitted", `{"sessionId":"A","agentId":"A","parentAgentId":"root","timestamp":1795257460002,"cwd":"/x","prompt":"task"}`),
		line("errorOccurred", `{"sessionId":"A","timestamp":1795257460004,"cwd":"/x","error":"no agent id"}`),
		line("permissionRequest", `{"sessionId":"root","agentId":"A","parentAgentId":"root","timestamp":1795257460002,"cwd":"/x"}`),
	}
	got := []string{}
	f := Fold(lines, world)
	for _, e := range f.Entries {
		got = append(got, string(e.Kind)+" "+e.SessionID+" "+e.AgentID)
	}
	if diff := cmp.Diff([]string{"toolResult root B", "subagent root A", "subagent root A", "error root A"}, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if len(f.Sessions) != 1 || f.Sessions[0].ID != "root" {
		t.Errorf("sessions = %+v", f.Sessions)
	}
	// Alone, the last line of an earlier drain is known to the store only.
	stored := world
	stored.AgentSession = func(agent string) string { return map[string]string{"A": "root"}[agent] }
	for _, l := range lines[:1] {
		if e := Fold([]spool.Line{l}, stored).Entries[0]; e.SessionID != "root" || e.AgentID != "B" {
			t.Errorf("with the store's memory: session %q, agent %q", e.SessionID, e.AgentID)
		}
	}
	circle := Fold([]spool.Line{
		line("preToolUse", `{"sessionId":"A","agentId":"A","parentAgentId":"B","toolName":"x"}`),
		line("preToolUse", `{"sessionId":"B","agentId":"B","parentAgentId":"A","toolName":"x"}`),
	}, world)
	if len(circle.Entries) != 2 {
		t.Errorf("a circle of agents = %+v", circle)
	}
}

func TestFoldKeepsWhatIsNoEvent(t *testing.T) {
	f := Fold([]spool.Line{line("preToolUse", `[1]`), line("preToolUse", `{"sessionId":"s","toolName":"x"}`), line("transcript.x", `7`), line("preToolUse", ``)}, world)
	if len(f.Failed) != 3 || len(f.Entries) != 1 {
		t.Errorf("%d failed, %d entries", len(f.Failed), len(f.Entries))
	}
}

// One event that two hooks saw is one entry, whatever dialect they speak; two events are two.
func TestEntryIDs(t *testing.T) {
	camel := line("postToolUse", `{"cwd":"/x","sessionId":"s1","timestamp":1795257460555,"toolArgs":{"command":"ls","n":12345678901234567890},"toolName":"bash","toolResult":{"resultType":"success","textResultForLlm":"a"}}`)
	pascal := line("PostToolUse", `{"cwd":"/x","hook_event_name":"PostToolUse","session_id":"s1","timestamp":"2026-11-21T10:37:40.555Z","tool_input":{"n":12345678901234567890,"command":"ls"},"tool_name":"Bash","tool_result":{"result_type":"success","text_result_for_llm":"a"}}`)
	again := line("postToolUse", strings.Replace(string(camel.Payload), "460555", "460556", 1))
	noTime := line("postToolUse", strings.Replace(string(camel.Payload), `"timestamp":1795257460555,`, "", 1))
	noTimeAgain := noTime
	noTimeAgain.ID = "another"
	f := Fold([]spool.Line{camel, pascal, again, noTime, noTimeAgain}, world)
	if len(f.Entries) != 5 {
		t.Fatalf("%+v", f)
	}
	if f.Entries[0].ID != f.Entries[1].ID {
		t.Error("the dialects give two ids")
	}
	seen := map[string]bool{}
	for _, e := range f.Entries[1:] {
		if seen[e.ID] {
			t.Errorf("two events share the id %s", e.ID)
		}
		seen[e.ID] = true
	}
}

// The recorded payloads of the client, each in both dialects.
func TestRecordedPayloadsAgree(t *testing.T) {
	camels, err := filepath.Glob("../hook/testdata/payloads/camel/*.json")
	if err != nil || len(camels) < 20 {
		t.Fatalf("recorded payloads: %d, %v", len(camels), err)
	}
	for _, path := range camels {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		event, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
		f := Fold([]spool.Line{line(event, string(b))}, world)
		if len(f.Failed) != 0 || len(f.Sessions) != 1 {
			t.Errorf("%s: %+v", path, f)
		}
		for _, e := range f.Entries {
			if _, ok := known[e.Kind]; !ok {
				t.Errorf("%s: kind %q", path, e.Kind)
			}
		}
	}
}

var known = map[memory.Kind]bool{
	memory.KindPrompt: true, memory.KindToolCall: true, memory.KindToolResult: true, memory.KindError: true, memory.KindSessionStart: true,
	memory.KindSessionEnd: true, memory.KindSubagent: true, memory.KindCompaction: true, memory.KindNotification: true,
}
