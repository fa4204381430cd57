package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/hook"
)

func TestEachEventIsRetrievable(t *testing.T) {
	const head = `"sessionId":"s1","timestamp":1795257460555,"cwd":"/home/dev/app"`
	type part struct{ Prompt, Tool, Input, ResultType, Result, Source, Reason, Agent string }
	tests := []struct {
		name, event, payload string
		want                 part
	}{
		{"P1 sessionStart", "sessionStart", `{` + head + `,"source":"new","initialPrompt":"fix the login"}`, part{Prompt: "fix the login", Source: "new"}},
		{"P2 prompt", "userPromptSubmitted", `{` + head + `,"prompt":"why is the cache cold?"}`, part{Prompt: "why is the cache cold?"}},
		{"P3 preToolUse", "preToolUse", `{` + head + `,"toolName":"bash","toolArgs":{"command":"make"}}`, part{Tool: "bash", Input: `{"command":"make"}`}},
		{"P4 postToolUse", "postToolUse", `{` + head + `,"toolName":"bash","toolArgs":{"command":"make"},"toolResult":{"resultType":"success","textResultForLlm":"built"}}`, part{Tool: "bash", Input: `{"command":"make"}`, ResultType: "success", Result: "built"}},
		{"P5 P6 sessionEnd with user_exit", "sessionEnd", `{` + head + `,"reason":"user_exit"}`, part{Reason: "user_exit"}},
		{"P4 Pascal dialect", "PostToolUse", `{"session_id":"s1","timestamp":"2026-11-21T10:37:40.555Z","cwd":"/home/dev/app","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_result":{"result_type":"success","text_result_for_llm":"built"}}`, part{Tool: "bash", Input: `{"command":"make"}`, ResultType: "success", Result: "built"}},
		{"P15 folder and agent tag", "postToolUse", `{` + head + `,"agentId":"a7","toolName":"view","toolArgs":{"path":"x"},"toolResult":{"resultType":"failure","textResultForLlm":"gone"}}`, part{Tool: "view", Input: `{"path":"x"}`, ResultType: "failure", Result: "gone", Agent: "a7"}},
		{"B11 result, reason, source", "SessionStart", `{"session_id":"s1","timestamp":"2026-11-21T10:37:40.555Z","cwd":"/home/dev/app","source":"resume","initial_prompt":"go on"}`, part{Prompt: "go on", Source: "resume"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.send(tt.event, tt.payload)
			l := w.only()
			e := w.event(l)
			got := part{e.Prompt, e.Tool, string(e.ToolInput), e.ResultType, e.ResultText, e.Source, e.Reason, e.AgentID}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			if e.SessionID != "s1" || e.Cwd != "/home/dev/app" || e.Time.UnixMilli() != 1795257460555 {
				t.Errorf("session %q, cwd %q, time %v", e.SessionID, e.Cwd, e.Time)
			}
			if l.V != 1 || len(l.ID) < 16 || l.Event != tt.event || l.At != w.now.UnixMilli() || l.Session != "" {
				t.Errorf("line head %+v", l)
			}
			if f := w.failures(); f != nil {
				t.Errorf("failures %+v", f)
			}
		})
	}
}

func TestP13UnknownEventIsNoPrompt(t *testing.T) {
	w := newWorld(t)
	w.send("moonPhase\"\n", `{"sessionId":"s1","prompt":"hello","phase":"full"}`)
	l := w.only()
	if l.Event != "moonPhase\"\n" {
		t.Errorf("event %q", l.Event)
	}
	if e := w.event(l); e.Name != "moonPhase\"\n" || e.FromUser() || string(e.Extra["phase"]) != `"full"` {
		t.Errorf("decoded as %+v", e)
	}
}

// What cannot be stored is noted with its reason, and without a word of what was sent.
func TestNoted(t *testing.T) {
	tests := []struct{ name, payload, reason string }{
		{"P12 empty", "", "empty input"},
		{"P12 blank", " \n\t", "empty input"},
		{"P12 broken JSON", `{"prompt":"my-words`, "broken JSON"},
		{"P12 two documents", `{"prompt":"my-words"}{}`, "broken JSON"},
		{"P12 no JSON", "my-words", "broken JSON"},
		{"P12 not an object", `["my-words"]`, "not a JSON object"},
		{"P12 a number", `12`, "not a JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.send("userPromptSubmitted", tt.payload)
			want := []failure{{w.now.UnixMilli(), "userPromptSubmitted", tt.reason}}
			if diff := cmp.Diff(want, w.failures()); diff != "" {
				t.Errorf("failures (-want +got):\n%s", diff)
			}
			if lines := w.lines(); len(lines) != 0 {
				t.Errorf("stored %d lines", len(lines))
			}
			if raw, err := os.ReadFile(w.dir.Failures()); err != nil || strings.Contains(string(raw), "my-words") {
				t.Errorf("failures.jsonl: %v, %s", err, raw)
			}
		})
	}
}

func TestFailuresAreBounded(t *testing.T) {
	w := newWorld(t)
	if err := w.dir.Ensure(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.dir.Failures(), make([]byte, maxFailures+1), 0o600); err != nil {
		t.Fatal(err)
	}
	w.send("agentStop", "")
	if f := w.failures(); len(f) != 1 || f[0].Reason != "empty input" {
		t.Errorf("failures %+v", f)
	}
}

type brokenReader struct{ first io.Reader }

func (r *brokenReader) Read(p []byte) (int, error) {
	if n, err := r.first.Read(p); err == nil {
		return n, nil
	}
	return 0, errors.New("device gone")
}

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("boom") }

func TestB16FailuresAreSilentAndNoted(t *testing.T) {
	t.Run("stdin fails in the middle", func(t *testing.T) {
		w := newWorld(t)
		o := w.options("postToolUse", "")
		o.Stdin = &brokenReader{strings.NewReader(`{"sessionId":"s`)}
		Run(o)
		if f := w.failures(); len(f) != 1 || f[0].Reason != "broken JSON" {
			t.Errorf("failures %+v", f)
		}
	})
	t.Run("panic", func(t *testing.T) {
		w := newWorld(t)
		o := w.options("postToolUse", "")
		o.Stdin = panicReader{}
		Run(o)
		if f := w.failures(); len(f) != 1 || f[0].Reason != "panic" {
			t.Errorf("failures %+v", f)
		}
	})
	t.Run("P11 spool cannot be written", func(t *testing.T) {
		w := newWorld(t)
		if err := w.dir.Ensure(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.dir.Spool(), []byte("in the way"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.send("postToolUse", `{"sessionId":"s1"}`)
		f := w.failures()
		if len(f) != 1 || !strings.HasPrefix(f[0].Reason, "spool: ") {
			t.Errorf("failures %+v", f)
		}
	})
	t.Run("data folder is a file", func(t *testing.T) {
		w := newWorld(t)
		if err := os.WriteFile(string(w.dir), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.send("postToolUse", `{"sessionId":"s1"}`)
		if b, err := os.ReadFile(string(w.dir)); err != nil || string(b) != "mine" {
			t.Errorf("file now %q, %v", b, err)
		}
	})
	t.Run("read-only data folder", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root may write everywhere")
		}
		w := newWorld(t)
		if err := w.dir.Ensure(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(string(w.dir), 0o500); err != nil {
			t.Fatal(err)
		}
		w.send("sessionEnd", `{"cwd":"/a","reason":"user_exit"}`)
		if entries, err := os.ReadDir(string(w.dir)); err != nil || len(entries) != 0 {
			t.Errorf("entries %v, %v", entries, err)
		}
	})
	t.Run("100-level nesting is kept", func(t *testing.T) {
		w := newWorld(t)
		deep := strings.Repeat(`{"a":[`, 50) + `"end"` + strings.Repeat(`]}`, 50)
		w.send("preToolUse", `{"sessionId":"s1","toolName":"x","toolArgs":`+deep+`}`)
		if got := string(w.event(w.only()).ToolInput); got != deep {
			t.Errorf("tool input %s", got)
		}
	})
	t.Run("16 million levels", func(t *testing.T) {
		w := newWorld(t)
		w.send("preToolUse", strings.Repeat("[", maxInput-1))
		w.send("preToolUse", `{"a":`+strings.Repeat("[", maxInput+10))
		if len(w.failures()) == 0 {
			t.Error("nothing noted")
		}
	})
	t.Run("invalid UTF-8", func(t *testing.T) {
		w := newWorld(t)
		w.send("userPromptSubmitted", "{\"sessionId\":\"s1\",\"prompt\":\"a\xff\xfeb\"}")
		if n := len(w.lines()) + len(w.failures()); n != 1 {
			t.Errorf("stored %d, noted %d; want one of them", len(w.lines()), len(w.failures()))
		}
		for _, l := range w.lines() {
			if !utf8.Valid(l.Payload) {
				t.Errorf("payload %q", l.Payload)
			}
		}
	})
	t.Run("switched off", func(t *testing.T) {
		w := newWorld(t)
		w.env["COPILOT_MEM_DISABLE"] = "1"
		w.send("postToolUse", `{"sessionId":"s1"}`)
		if _, err := os.Lstat(string(w.dir)); !os.IsNotExist(err) {
			t.Errorf("data folder was made: %v", err)
		}
	})
	t.Run("no event name", func(t *testing.T) {
		w := newWorld(t)
		w.send("", `{"sessionId":"s1"}`)
		if _, err := os.Lstat(string(w.dir)); !os.IsNotExist(err) {
			t.Errorf("data folder was made: %v", err)
		}
	})
}

func TestB1Large(t *testing.T) {
	long := func(n int) string { return "HEAD " + strings.Repeat("word and more ", n/14) + " TAIL" }
	tests := []struct {
		name, event, payload string
		text                 func(hook.Event) string
		whole                string
	}{
		{"1 MiB prompt", "userPromptSubmitted", `{"sessionId":"s1","prompt":` + quote(t, long(1<<20)) + `}`, func(e hook.Event) string { return e.Prompt }, long(1 << 20)},
		{"1 MiB tool input", "preToolUse", `{"sessionId":"s1","toolName":"create","toolArgs":{"file_text":` + quote(t, long(1<<20)) + `}}`, func(e hook.Event) string { return string(e.ToolInput) }, `{"file_text":` + quote(t, long(1<<20)) + `}`},
		{"5 MiB result", "postToolUse", `{"sessionId":"s1","toolName":"bash","toolResult":{"resultType":"success","textResultForLlm":` + quote(t, long(5<<20)) + `}}`, func(e hook.Event) string { return e.ResultText }, long(5 << 20)},
		{"B13 emoji at the cut", "userPromptSubmitted", `{"sessionId":"s1","prompt":` + quote(t, "HEAD "+strings.Repeat("👩🏽‍🚀é", 90_000)+" TAIL") + `}`, func(e hook.Event) string { return e.Prompt }, "HEAD " + strings.Repeat("👩🏽‍🚀é", 90_000) + " TAIL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.send(tt.event, tt.payload)
			l := w.only()
			got := tt.text(w.event(l))
			if !utf8.ValidString(got) {
				t.Error("not valid UTF-8")
			}
			if l.Truncated {
				if len(got) < 1<<19 || len(got) > 1<<20+4096 || !strings.Contains(got, "HEAD") || !strings.Contains(got[len(got)-100:], "TAIL") {
					t.Errorf("cut to %d bytes: %.40q … %q", len(got), got, got[max(0, len(got)-40):])
				}
			} else if got != tt.whole {
				t.Errorf("%d bytes, want %d unchanged", len(got), len(tt.whole))
			}
			if len(tt.whole) > 2<<20 && !l.Truncated {
				t.Error("a 5 MiB text is not marked as cut")
			}
		})
	}
}

func TestB1OverTheInputLimit(t *testing.T) {
	w := newWorld(t)
	huge := strings.Repeat("0123456789abcde\n", 18<<20/16)
	w.send("postToolUse", `{"sessionId":"s1","cwd":"/a","toolName":"bash","toolArgs":{"command":"cat big"},"toolResult":{"resultType":"success","textResultForLlm":`+quote(t, huge)+`}}`)
	l := w.only()
	e := w.event(l)
	if !l.Truncated || e.SessionID != "s1" || e.Tool != "bash" || string(e.ToolInput) != `{"command":"cat big"}` {
		t.Errorf("truncated %v, session %q, tool %q, input %s", l.Truncated, e.SessionID, e.Tool, e.ToolInput)
	}
	if len(e.ResultText) < 1<<19 {
		t.Errorf("%d bytes of the result kept", len(e.ResultText))
	}
	if f := w.failures(); len(f) != 1 || f[0].Reason != "too large" {
		t.Errorf("failures %+v", f)
	}
}

func TestB2Timestamps(t *testing.T) {
	const want = 1795257460555
	for _, stamp := range []string{`1795257460555`, `1795257460555.25`, `"2026-11-21T10:37:40.555Z"`, `"2026-11-21T11:37:40.555+01:00"`} {
		w := newWorld(t)
		w.send("agentStop", `{"sessionId":"s1","timestamp":`+stamp+`}`)
		if got := w.event(w.only()).Time.UnixMilli(); got != want {
			t.Errorf("%s: %d, want %d", stamp, got, want)
		}
	}
	for _, stamp := range []string{`null`, `"yesterday"`, `-5`, `{}`, `1e300`} {
		w := newWorld(t)
		w.send("agentStop", `{"sessionId":"s1","timestamp":`+stamp+`}`)
		l := w.only()
		if e := w.event(l); !e.Time.IsZero() {
			t.Errorf("%s: time %v, want none, so that the time of capture counts", stamp, e.Time)
		}
		if l.At != w.now.UnixMilli() {
			t.Errorf("%s: at %d", stamp, l.At)
		}
	}
}

func TestB3ToolArgs(t *testing.T) {
	for sent, want := range map[string]string{
		`""`:                         `""`,
		`null`:                       ``,
		`{"a":1}`:                    `{"a":1}`,
		`[1,"x"]`:                    `[1,"x"]`,
		`"{\"command\":\"ls\"}"`:     `{"command":"ls"}`,
		`"*** Begin Patch\nnope"`:    `"*** Begin Patch\nnope"`,
		`"{\"command\": \"broken"`:   `"{\"command\": \"broken"`,
		`{"n":12345678901234567890}`: `{"n":12345678901234567890}`,
	} {
		w := newWorld(t)
		w.send("preToolUse", `{"sessionId":"s1","toolName":"bash","toolArgs":`+sent+`}`)
		if got := string(w.event(w.only()).ToolInput); got != want {
			t.Errorf("toolArgs %s: %s, want %s", sent, got, want)
		}
	}
}

func TestB4PromptsByteForByte(t *testing.T) {
	for _, prompt := range []string{
		"0010", "1 2 3", "-n", "12345678901234567890", `{"a":1}`, `a\b`, `{ "a" : 1 }`, "  two  spaces \n", "-e \\n", "$(id) `id`", "%s", "null",
		"\u2028 </script> <b>&", "ÄÖ 漢字 e\u0301 👨‍👩‍👧",
	} {
		w := newWorld(t)
		w.send("userPromptSubmitted", `{"sessionId":"s1","prompt":`+quote(t, prompt)+`}`)
		if got := w.event(w.only()).Prompt; got != prompt {
			t.Errorf("prompt %q stored as %q", prompt, got)
		}
	}
}

func TestB5AnsiIsStripped(t *testing.T) {
	w := newWorld(t)
	w.send("postToolUse", `{"sessionId":"s1","toolName":"bash","toolArgs":"{\"command\":\"\\u001b[1mls\"}","toolResult":{"resultType":"success","textResultForLlm":"\u001b[31mred\u001b[0m"}}`)
	e := w.event(w.only())
	if e.ResultText != "red" || string(e.ToolInput) != `{"command":"ls"}` {
		t.Errorf("result %q, input %s", e.ResultText, e.ToolInput)
	}
}

func TestB6Secrets(t *testing.T) {
	key := "ghp_" + strings.Repeat("aB3dE5fG", 5)[:36]
	w := newWorld(t)
	w.send("preToolUse", `{"sessionId":"s1","cwd":"/a","toolName":"bash","toolArgs":{"command":"curl -H 'Authorization: Bearer `+key+`'","apiKey":"hunter22","max_tokens":512,"tokenizer":"bpe"}}`)
	w.send("userPromptSubmitted", `{"sessionId":"s1","prompt":"use `+key+` <private>my diary</private> please"}`)
	raw, err := os.ReadFile(filepath.Join(w.dir.Spool(), "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{key, "hunter22", "my diary"} {
		if strings.Contains(string(raw), secret) {
			t.Errorf("%q is on disk", secret)
		}
	}
	lines := w.lines()
	if len(lines) != 2 || lines[0].Redacted < 2 || lines[1].Redacted < 1 {
		t.Errorf("lines %+v", lines)
	}
	for _, kept := range []string{`"max_tokens":512`, `"tokenizer":"bpe"`, "please"} {
		if !strings.Contains(string(raw), kept) {
			t.Errorf("%q is gone", kept)
		}
	}
}

func TestP14P16TwoInterleavedSessions(t *testing.T) {
	w := newWorld(t)
	events := []struct{ name, rest string }{
		{"sessionStart", `"source":"new"`}, {"userPromptSubmitted", `"prompt":"p"`},
		{"preToolUse", `"toolName":"bash","toolArgs":{}`},
		{"postToolUse", `"toolName":"bash","toolArgs":{},"toolResult":{"resultType":"success","textResultForLlm":"r"}`},
		{"agentStop", `"stopReason":"end_turn"`}, {"sessionEnd", `"reason":"complete"`},
	}
	for i, e := range events {
		for _, id := range []string{"one", "two"} {
			w.send(e.name, fmt.Sprintf(`{"sessionId":%q,"cwd":"/a","timestamp":%d,%s}`, id, 1795257460000+i, e.rest))
		}
	}
	got := map[string][]string{}
	ids := map[string]bool{}
	for _, l := range w.lines() {
		got[w.session(l)] = append(got[w.session(l)], l.Event)
		ids[l.ID] = true
	}
	var names []string
	for _, e := range events {
		names = append(names, e.name)
	}
	if diff := cmp.Diff(map[string][]string{"one": names, "two": names}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if len(ids) != 12 {
		t.Errorf("%d different line ids, want 12", len(ids))
	}
}

func TestFilesArePrivate(t *testing.T) {
	w := newWorld(t)
	w.send("sessionStart", `{"cwd":"/a"}`)
	w.send("agentStop", "")
	w.checkPrivate()
}

func TestAnyPayloadLeavesOneLineOrOneNote(t *testing.T) {
	w := newWorld(t)
	w.now = time.UnixMilli(1795257460555)
	n := 0
	for _, payload := range []string{`{}`, `{"sessionId":7}`, `{"sessionId":null,"cwd":[]}`, "\ufeff{\"sessionId\":\"s\"}", `{"a":"\ud83d"}`, `{"a":"\ud83d\ude00"}`, `{"":1}`, `{"a":1,"a":2}`, `nul`, `{"a":}`, `{,}`} {
		w.send("preToolUse", payload)
		n++
		if got := len(w.lines()) + len(w.failures()); got != n {
			t.Errorf("%s: %d lines and notes, want %d", payload, got, n)
			n = got
		}
	}
}

// TestFailureNamesItsSession: doctor counts what was lost for each session.
func TestFailureNamesItsSession(t *testing.T) {
	w := newWorld(t)
	if err := w.dir.Ensure(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.dir.Spool(), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.send("postToolUse", `{"sessionId":"s1","toolName":"view"}`)
	data, err := os.ReadFile(w.dir.Failures())
	if err != nil || !strings.Contains(string(data), `"event":"postToolUse","reason":"spool: `) || !strings.HasSuffix(string(data), `,"session":"s1"}`+"\n") {
		t.Errorf("failures.jsonl: %q, %v", data, err)
	}
}
