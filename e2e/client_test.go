//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestClientSpeaksToEndpoint proves the harness without any program of ours: both wire formats, tools, a sub-agent,
// and hooks that see it all.
func TestClientSpeaksToEndpoint(t *testing.T) {
	t.Parallel()
	patch := "*** Begin Patch\n*** Add File: heron.txt\n+patched heron\n*** End Patch\n"
	for _, tt := range []struct {
		name    string
		env     []string
		scripts []script
		prompt  string
		path    string
		answer  string
		file    string
		text    string
		want    map[string]int // events, and how often at least
	}{
		{
			name:    "completions",
			scripts: tourScripts("bittern"),
			prompt:  tourPrompt("bittern"),
			path:    "/chat/completions",
			answer:  tourAnswer("bittern"),
			file:    "bittern.md",
			text:    tourFile("bittern"),
			want: map[string]int{"sessionStart": 1, "userPromptSubmitted": 2, "preToolUse": 6, "postToolUse": 5, "postToolUseFailure": 1,
				"subagentStart": 1, "subagentStop": 1, "agentStop": 2, "sessionEnd": 1},
		},
		{
			name: "responses",
			env:  []string{"COPILOT_MODEL=gpt-5.1-codex", "COPILOT_PROVIDER_WIRE_API=responses"},
			scripts: []script{{Match: "heron", Steps: []step{
				{Tools: []toolUse{{Name: "apply_patch", Input: patch}}},
				{Text: "The heron is in place."},
			}}},
			prompt: "Look after the heron",
			path:   "/responses",
			answer: "The heron is in place.",
			file:   "heron.txt",
			text:   "patched heron\n",
			want:   map[string]int{"sessionStart": 1, "userPromptSubmitted": 1, "preToolUse": 1, "postToolUse": 1, "agentStop": 1, "sessionEnd": 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			repo := w.repo("marsh")
			log := filepath.Join(w.Root, "events.jsonl")
			w.installRecorder(log)
			model := newEndpoint(t, tt.scripts...)
			out := w.runSessions(session{ID: newID(), Dir: repo, Prompt: tt.prompt, Model: model, Env: tt.env})
			if !strings.Contains(out[0], tt.answer) {
				t.Errorf("the client did not print %q:\n%s", tt.answer, out[0])
			}
			if !slices.ContainsFunc(model.seen(), func(r request) bool { return strings.HasSuffix(r.Path, tt.path) }) {
				t.Errorf("no request to %s", tt.path)
			}
			if data, err := os.ReadFile(filepath.Join(repo, tt.file)); err != nil || string(data) != tt.text {
				t.Errorf("%s: %q, %v", tt.file, data, err)
			}
			got := map[string]int{}
			for _, r := range readRecorded(t, log) {
				got[r.Event]++
			}
			for event, n := range tt.want {
				if got[event] < n {
					t.Errorf("%s: %d times, want at least %d (all: %v)", event, got[event], n, got)
				}
			}
		})
	}
}

// installRecorder registers the test binary itself for the events that a session fires.
func (w *world) installRecorder(log string) {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	hooks := map[string]any{}
	for _, ev := range []string{"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "postToolUseFailure", "subagentStart", "subagentStop", "agentStop", "sessionEnd"} {
		hooks[ev] = []any{map[string]any{"type": "command", "exec": self, "args": []string{recordArg, ev, log}, "timeoutSec": 30}}
	}
	data, err := json.Marshal(map[string]any{"version": 1, "hooks": hooks})
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(w.CopilotHome, "hooks", "record.json"), string(data))
}

// The tour is a session with one prompt, a shell command, a file view, a file creation, a failing tool, a sub-agent
// and a final answer. Its words carry the given word, so that each session's texts are its own.

func tourPrompt(word string) string       { return "Please tour the " + word + "prompt area" }
func tourCommand(word string) string      { return "echo " + word + "$((40+2))output # " + word + "command" }
func tourOutput(word string) string       { return word + "42output" }
func tourFile(word string) string         { return "A page about " + word + "filetext\n" }
func tourFailure(word string) string      { return word + "missing.txt" }
func tourErrand(word string) string       { return "Run the " + word + "errand for me" }
func tourErrandOutput(word string) string { return word + "52errandoutput" }
func tourReport(word string) string       { return "The errand came back with " + word + "report" }
func tourAnswer(word string) string       { return "All done, and here is the " + word + "finalanswer" }

func tour(word string) script {
	return script{Match: tourPrompt(word), Steps: []step{
		use("bash", map[string]any{"command": tourCommand(word), "description": "print a line"}),
		use("view", map[string]any{"path": "README.md"}),
		use("create", map[string]any{"path": word + ".md", "file_text": tourFile(word)}),
		use("view", map[string]any{"path": tourFailure(word)}),
		use("task", map[string]any{"name": "errand", "agent_type": "general-purpose", "description": "run an errand", "prompt": tourErrand(word), "mode": "sync"}),
		{Text: tourAnswer(word)},
	}}
}

// tourScripts adds the sub-agent's conversation, which comes first because it is the more particular one.
func tourScripts(word string) []script {
	errand := script{Match: tourErrand(word), Steps: []step{
		use("bash", map[string]any{"command": "echo " + word + "$((50+2))errandoutput", "description": "print a line"}),
		{Text: tourReport(word)},
	}}
	return []script{errand, tour(word)}
}

// TestLoadSeesProblems keeps the tests that want no problems honest.
func TestLoadSeesProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.repo("fen")
	if got := w.load(repo); len(got.Problems)+len(got.Skills)+len(got.Agents)+len(got.Hooks) > 0 {
		t.Errorf("an empty machine has %+v", got)
	}
	w.write(filepath.Join(repo, ".github", "hooks", "bad.json"), `{"version": 2, "hooks": {}}`)
	w.write(filepath.Join(repo, ".github", "skills", "bad", "SKILL.md"), "no frontmatter\n")
	w.write(filepath.Join(repo, ".github", "agents", "bad.agent.md"), "---\nname: bad\n---\nno description\n")
	w.write(filepath.Join(repo, ".github", "hooks", "good.json"), `{"version": 1, "hooks": {"agentStop": [{"bash": "true"}]}}`)
	w.write(filepath.Join(repo, ".github", "skills", "good", "SKILL.md"), "---\nname: good\ndescription: Good.\n---\nDo it.\n")
	w.write(filepath.Join(repo, ".github", "agents", "good.agent.md"), "---\ndescription: Good.\n---\nDo it.\n")
	got := w.load(repo)
	for _, name := range []string{"bad.json", "bad/SKILL.md", "bad.agent.md"} {
		if !slices.ContainsFunc(got.Problems, func(p string) bool { return strings.Contains(filepath.ToSlash(p), name) }) {
			t.Errorf("%s: no problem is reported: %q", name, got.Problems)
		}
	}
	if !slices.Equal(got.Skills, []string{"good"}) || !slices.Equal(got.Agents, []string{"good"}) || !slices.Equal(got.Hooks, []string{"agentStop"}) {
		t.Errorf("loaded: %+v", got)
	}
}
