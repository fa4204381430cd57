//go:build unix

package capture

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sink installs a memory-ingest that keeps what it reads.
func (w *world) sink(script string) (got string) {
	w.t.Helper()
	dir := w.t.TempDir()
	got = filepath.Join(dir, "got.jsonl")
	program := filepath.Join(dir, "memory-ingest")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.env["COPILOT_MEM_FORWARD"], w.env["MEMORY_INGEST_PATH"], w.env["GOT"] = "memory-ingest", program, got
	w.t.Setenv("GOT", got)
	return got
}

func (w *world) empty(wait time.Duration) error {
	w.t.Helper()
	return emptyTo(w.dir, func(k string) string { return w.env[k] }, wait)
}

// B19: the forwarded payload, byte for byte.
func TestForwardedBytes(t *testing.T) {
	w := newWorld(t)
	got := w.sink("cat >>\"$GOT\"; echo '{\"continue\":true}'\n")
	for _, e := range []struct{ event, payload string }{
		{"sessionStart", `{"sessionId":"s","timestamp":1795257460282,"cwd":"/src/app","source":"new","initialPrompt":"fix <it>"}`},
		{"userPromptSubmitted", `{"sessionId":"s","timestamp":1795257460360,"cwd":"/src/app","prompt":"fix <it>"}`},
		{"userPromptSubmitted", `{"sessionId":"s","timestamp":1795257460361,"cwd":"/src/app","prompt":"<system_notification>\nx</system_notification>"}`},
		{"preToolUse", `{"sessionId":"s","timestamp":1795257460400,"cwd":"/src/app","toolName":"bash","toolArgs":{"command":"ls"}}`},
		{"PostToolUse", `{"hook_event_name":"PostToolUse","session_id":"s","timestamp":"2026-11-21T10:37:40.555Z","cwd":"/src/app","tool_name":"Bash","tool_input":{"command":"ls"},"tool_result":{"result_type":"success","text_result_for_llm":"a\nb"}}`},
		{"somethingNew", `{"sessionId":"s","timestamp":1795257460600,"cwd":"/src/app","prompt":"not a prompt"}`},
		{"sessionEnd", `{"sessionId":"s","timestamp":1795257460700,"cwd":"/src/app","reason":"complete"}`},
	} {
		w.send(e.event, e.payload)
	}
	if err := w.empty(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	want := `{"hook_event_name":"SessionStart","session_id":"s","timestamp":"2026-11-21T10:37:40.282Z","cwd":"/src/app","agent":"copilot"}
{"hook_event_name":"UserPromptSubmit","session_id":"s","message":"fix <it>","timestamp":"2026-11-21T10:37:40.360Z","cwd":"/src/app","agent":"copilot"}
{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"bash","tool_input":{"command":"ls"},"timestamp":"2026-11-21T10:37:40.400Z","cwd":"/src/app","agent":"copilot"}
{"hook_event_name":"PostToolUse","session_id":"s","message":"a\nb","tool_name":"bash","tool_input":{"command":"ls"},"timestamp":"2026-11-21T10:37:40.555Z","cwd":"/src/app","agent":"copilot"}
{"hook_event_name":"Stop","session_id":"s","timestamp":"2026-11-21T10:37:40.700Z","cwd":"/src/app","agent":"copilot"}
`
	data, err := os.ReadFile(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("forwarded (-want +got):\n%s", diff)
	}
	if n := len(w.lines()); n != 7 {
		t.Errorf("%d events stored, want 7: the sink must not take any away", n)
	}
	if err := w.empty(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(got)
	if err != nil || len(again) != len(data) {
		t.Errorf("a second run sent something again (%v)", err)
	}
}

func TestForwardToABrokenSink(t *testing.T) {
	for name, script := range map[string]string{"hangs": "exec sleep 30\n", "fails": "exit 1\n"} {
		w := newWorld(t)
		w.sink(script)
		w.send("userPromptSubmitted", `{"sessionId":"s","timestamp":1795257460360,"cwd":"/","prompt":"hello"}`)
		start := time.Now()
		if err := w.empty(100 * time.Millisecond); err == nil {
			t.Errorf("%s: no error to note", name)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		if len(w.lines()) != 1 {
			t.Errorf("%s: our own entry is gone", name)
		}
	}
}

func TestForwardOffOrDry(t *testing.T) {
	w := newWorld(t)
	got := w.sink("cat >>\"$GOT\"\n")
	w.env["MEMORY_INGEST_DRY_RUN"] = "1"
	w.send("userPromptSubmitted", `{"sessionId":"s","timestamp":1795257460360,"cwd":"/","prompt":"hello"}`)
	if err := w.empty(time.Second); err != nil {
		t.Fatal(err)
	}
	w.env["COPILOT_MEM_FORWARD"] = ""
	w.send("userPromptSubmitted", `{"sessionId":"s","timestamp":1795257460361,"cwd":"/","prompt":"hello"}`)
	if files, _, err := forwardSpool(w.dir).Pending(); err != nil || files != 0 {
		t.Errorf("%d files wait (%v), want none while forwarding is off", files, err)
	}
	if _, err := os.Stat(got); err == nil {
		t.Error("something was sent")
	}
}
