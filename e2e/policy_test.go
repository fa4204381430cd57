//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// policies writes policy files into a repository.
func (w *world) policies(repo string, files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		w.write(filepath.Join(repo, filepath.FromSlash(name)), text)
	}
}

func bashCall(command string) step {
	return use("bash", map[string]any{"command": command, "description": "run a command"})
}

// onCommand is a workflow that speaks about one shell command.
func onCommand(name, lifecycle, command, steps string) string {
	return "name: " + name + "\non:\n  tool:\n    name: bash\n    lifecycle: " + lifecycle + "\n    args: {command: '" + command + "'}\nsteps:\n" + steps
}

// modelTold fails the test unless the model was told of each text.
func modelTold(t *testing.T, model *endpoint, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !model.sawText(text) {
			t.Errorf("the model was never told %q", text)
		}
	}
}

// What policies decide reaches the model, and what they stop does not happen.
func TestPolicyDecisions(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("rules")
	w.mem(repo, "init", "--scope", "user", "--yes")
	w.policies(repo, map[string]string{
		".github/hookflows/deny.yml":    onCommand("deny-rule", "pre", "touch kudu*", "  - deny: 'kudu is off limits: ${{ event.tool.args.command }}'\n"),
		".github/hookflows/ask.yml":     onCommand("ask-rule", "pre", "touch okapi*", "  - ask: okapi wants a person\n"),
		".github/hookflows/context.yml": onCommand("context-rule", "pre", "echo oryx*", "  - context: oryx context for the model\n"),
		".github/hookflows/modify.yml":  onCommand("modify-rule", "pre", "echo eland", "  - modify: {command: 'echo eland-$((40+2))-changed'}\n"),
		".github/hookflows/post.yml":    onCommand("post-rule", "post", "echo bongo*", "  - deny: run the bongo linter next\n"),
		".github/hookflows/redact.yml":  onCommand("redact-rule", "post", "echo nyala*", "  - redact: [{pattern: 'nyala-[0-9]+', with: nyala-hidden}]\n"),
		".github/hookflows/step.yml":    onCommand("step-rule", "pre", "touch gnu*", "  - name: check\n    shell: bash\n    run: 'echo \"step saw $EVENT_COMMAND\"; exit 1'\n"),
		".github/hookflows/broken.yml":  "name: broken\non:\n  tool:\n    name: bash\n    args: {command: 'touch dikdik*'}\nsteps:\n  - deny: x\nsurprise: 1\n",
	})
	model := newEndpoint(t, script{Match: "policy tour", Steps: []step{
		bashCall("touch kudu-file"),
		bashCall("touch okapi-file"),
		bashCall("echo oryx"),
		bashCall("echo eland"),
		bashCall("echo bongo"),
		bashCall("echo nyala-$((600+66))"),
		bashCall("touch gnu-file"),
		bashCall("touch dikdik-file"),
		bashCall("git push --force"),
		{Text: "done"},
	}})
	w.runSessions(session{ID: newID(), Dir: repo, Prompt: "policy tour", Model: model, Env: []string{"COPILOT_MEM_TRUST_ALL=1"}})
	modelTold(t, model,
		"Denied by preToolUse hook: deny-rule: kudu is off limits: touch kudu-file",
		"oryx context for the model",
		"eland-42-changed",
		"post-rule: run the bongo linter next",
		"nyala-hidden",
		"step-rule: check: step saw touch gnu-file",
		"broken.yml:8",
		"copilot-mem/force-push: ",
	)
	if model.sawText("nyala-666") {
		t.Error("the model saw what a rule hides")
	}
	for _, name := range []string{"kudu-file", "okapi-file", "gnu-file", "dikdik-file"} {
		if _, err := os.Lstat(filepath.Join(repo, name)); err == nil {
			t.Errorf("%s: a call that was not allowed was made", name)
		}
	}
	// Every event is in the session log, with what was decided.
	log, err := os.ReadFile(filepath.Join(w.MemHome, "logs", "session-events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	decided := map[string]int{}
	for line := range strings.Lines(string(log)) {
		var e struct{ Hook, Decision string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		decided[e.Hook+" "+e.Decision]++
	}
	for _, want := range []string{"preToolUse deny", "preToolUse ask", "preToolUse modify", "preToolUse context", "postToolUse context", "postToolUse modify", "userPromptSubmitted none", "agentStop none"} {
		if decided[want] == 0 {
			t.Errorf("the session log has no %q: %v", want, decided)
		}
	}
}

// A stop hook sends the agent back once, and only once.
func TestPolicyStop(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("stops")
	w.mem(repo, "init", "--scope", "user", "--yes")
	w.policies(repo, map[string]string{
		".github/hookflows/stop.md": "---\nname: finish\nevent: stop\naction: block\n---\nLook at the gerenuk list before you stop.\n",
	})
	model := newEndpoint(t, script{Match: "stop once", Steps: []step{{Text: "finished"}}})
	w.runSessions(session{ID: newID(), Dir: repo, Prompt: "stop once", Model: model})
	modelTold(t, model, "Look at the gerenuk list before you stop.")
	asked := 0
	for _, r := range model.seen() {
		if len(r.Body.Tools) > 0 {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("the model was asked %d times; want twice: the turn and one continuation", asked)
	}
}

// Calls of sub-agents are judged like any other.
func TestPolicySubagent(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("agents")
	w.mem(repo, "init", "--scope", "user", "--yes")
	w.policies(repo, map[string]string{
		".github/hookflows/agent.yml": onCommand("agent-rule", "pre", "touch serow*", "  - if: event.agent\n    deny: 'no serow in ${{ event.agent.type }}'\n"),
	})
	model := newEndpoint(t,
		script{Match: "serow errand", Steps: []step{bashCall("touch serow-file"), {Text: "could not"}}},
		script{Match: "send somebody", Steps: []step{
			use("task", map[string]any{"name": "errand", "agent_type": "general-purpose", "description": "run an errand", "prompt": "serow errand", "mode": "sync"}),
			{Text: "done"},
		}})
	w.runSessions(session{ID: newID(), Dir: repo, Prompt: "send somebody", Model: model})
	modelTold(t, model, "agent-rule: no serow in ")
	if _, err := os.Lstat(filepath.Join(repo, "serow-file")); err == nil {
		t.Error("the sub-agent made the call")
	}
}

// A model that edits with patches is held by the same rules: their arguments are text and no object.
func TestPolicyPatch(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("patches")
	w.mem(repo, "init", "--scope", "user", "--yes")
	w.policies(repo, map[string]string{
		".github/hookflows/patch.yml": "name: patch-rule\non:\n  file:\n    paths: ['secrets/**']\nsteps:\n  - deny: 'no patch for ${{ event.file.path }}'\n",
	})
	patch := func(path string) step {
		return step{Tools: []toolUse{{Name: "apply_patch", Input: "*** Begin Patch\n*** Add File: " + path + "\n+takin\n*** End Patch\n"}}}
	}
	model := newEndpoint(t, script{Match: "patch it", Steps: []step{patch("./src/../secrets/a.txt"), patch("src/b.txt"), {Text: "done"}}})
	w.runSessions(session{
		ID: newID(), Dir: repo, Prompt: "patch it", Model: model,
		Env: []string{"COPILOT_MODEL=gpt-5.1-codex", "COPILOT_PROVIDER_WIRE_API=responses"},
	})
	modelTold(t, model, "patch-rule: no patch for secrets/a.txt")
	if _, err := os.Lstat(filepath.Join(repo, "secrets", "a.txt")); err == nil {
		t.Error("the patch was applied")
	}
	if _, err := os.Lstat(filepath.Join(repo, "src", "b.txt")); err != nil {
		t.Errorf("the other patch was not applied: %v", err)
	}
}

// Claude Code's hooks of a repository hold, with the reason that the client itself would drop.
func TestPolicyClaudeHooks(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("claude")
	w.mem(repo, "init", "--scope", "user", "--yes")
	w.policies(repo, map[string]string{
		".claude/settings.json": `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command",` +
			`"command":"in=$(cat); case $in in *mhorr*) echo 'mhorr is refused' >&2; exit 2;; esac"}]}]}}`,
	})
	model := newEndpoint(t, script{Match: "claude tour", Steps: []step{bashCall("touch mhorr-file"), bashCall("echo fine-$((1+1))-fine"), {Text: "done"}}})
	w.runSessions(session{
		ID: newID(), Dir: repo, Prompt: "claude tour", Model: model,
		Env: []string{"COPILOT_MEM_TRUST_ALL=1", "COPILOT_MEM_CLAUDE_BRIDGE=on"},
	})
	modelTold(t, model, "claude: mhorr is refused", "fine-2-fine")
	if _, err := os.Lstat(filepath.Join(repo, "mhorr-file")); err == nil {
		t.Error("the refused call was made")
	}
}

// A step that hangs is ended, and its call denied, before the client gives up and lets the call pass.
func TestPolicyDeadline(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("deadline")
	hooks, err := json.Marshal(map[string]any{"version": 1, "hooks": map[string]any{"preToolUse": []any{map[string]any{
		"type": "command", "exec": w.program("copilot-mem-hook"), "args": []string{"preToolUse"}, "timeoutSec": 4,
		"env": map[string]string{"COPILOT_MEM_HOOK_TIMEOUT_SEC": "4"},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.CopilotHome, "hooks", "policy.json"), string(hooks))
	w.policies(repo, map[string]string{
		".github/hookflows/slow.yml": onCommand("slow-rule", "pre", "touch addax*", "  - name: wait\n    shell: bash\n    run: sleep 86.125\n"),
	})
	model := newEndpoint(t, script{Match: "be quick", Steps: []step{bashCall("touch addax-file"), {Text: "done"}}})
	start := time.Now()
	w.runSessions(session{ID: newID(), Dir: repo, Prompt: "be quick", Model: model, Env: []string{"COPILOT_MEM_TRUST_ALL=1"}})
	modelTold(t, model, "slow-rule: wait: could not be judged: the time for this hook is over")
	if _, err := os.Lstat(filepath.Join(repo, "addax-file")); err == nil {
		t.Errorf("the call was made after %v", time.Since(start))
	}
}

// A repository that nobody trusts asks before it runs anything, and runs it once it is trusted.
func TestPolicyTrust(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("trust")
	w.mem(repo, "init", "--scope", "user", "--yes")
	w.policies(repo, map[string]string{
		".github/hookflows/run.yml": onCommand("run-rule", "pre", "touch saiga*", "  - shell: bash\n    run: 'touch step-ran; echo saiga refused by the step; exit 1'\n"),
	})
	model := newEndpoint(t, script{Match: "trust me", Steps: []step{bashCall("touch saiga-file"), {Text: "done"}}})
	w.runSessions(session{ID: newID(), Dir: repo, Prompt: "trust me", Model: model})
	if _, err := os.Lstat(filepath.Join(repo, "step-ran")); err == nil {
		t.Error("a step of a repository that nobody trusts ran")
	}
	w.mem(repo, "policy", "trust", "--yes")
	again := newEndpoint(t, script{Match: "trust me", Steps: []step{bashCall("touch saiga-file"), {Text: "done"}}})
	w.runSessions(session{ID: newID(), Dir: repo, Prompt: "trust me", Model: again})
	modelTold(t, again, "saiga refused by the step")
	for _, name := range []string{"saiga-file"} {
		if _, err := os.Lstat(filepath.Join(repo, name)); err == nil {
			t.Errorf("%s: the call was made", name)
		}
	}
}
