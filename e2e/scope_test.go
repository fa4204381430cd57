//go:build e2e

package e2e

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var scopes = []string{"user", "repo", "plugin"}

// trust lets a repository's hooks run in a session without a terminal.
const trust = "COPILOT_ALLOW_ALL=true"

// install runs init for the scope; the scope repo needs it once per repository.
func (w *world) install(scope string, repos ...string) {
	w.t.Helper()
	if scope != "repo" {
		repos = repos[:1]
	}
	for _, dir := range repos {
		w.mem(dir, "init", "--scope", scope, "--yes")
	}
}

func (w *world) uninstall(scope string, repos ...string) {
	w.t.Helper()
	if scope != "repo" {
		repos = repos[:1]
	}
	for _, dir := range repos {
		w.mem(dir, "uninstall", "--scope", scope, "--yes")
	}
}

// furnish puts in place what a person may have already, in that person's own formatting.
func (w *world) furnish(repo string) {
	w.t.Helper()
	own := "{\n\t\"version\":1, \"hooks\" : {\"postToolUse\":[ {\"type\":\"command\",\"bash\":\"true\",\"powershell\":\"exit 0\"} ]}}"
	w.write(filepath.Join(w.CopilotHome, "hooks", "own.json"), own)
	w.write(filepath.Join(w.CopilotHome, "settings.json"), "{ \"banner\":\"never\",\n   \"theme\" : \"auto\"  }\n\n")
	w.write(filepath.Join(w.CopilotHome, "mcp-config.json"), "{\"mcpServers\": { }}")
	w.write(filepath.Join(w.CopilotHome, "skills", "mine", "SKILL.md"), "---\nname: mine\ndescription: My skill.\n---\n\nDo it.\n")
	w.write(filepath.Join(w.Home, "elsewhere.agent.md"), "---\nname: mine\ndescription: My agent.\n---\n\nDo it.\n")
	w.write(filepath.Join(w.CopilotHome, "agents", "README.txt"), "mine\n")
	if err := os.Symlink(filepath.Join("..", "..", "elsewhere.agent.md"), filepath.Join(w.CopilotHome, "agents", "mine.agent.md")); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(w.CopilotHome, "skills"), 0o750); err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(repo, ".github", "hooks", "own.json"), own)
	w.write(filepath.Join(repo, ".github", "workflows", "ci.yml"), "on: push\r\njobs: {}\r\n")
}

// TestUninstallLeavesNothing needs no client: what init wrote goes, and what was there stays as it was.
func TestUninstallLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes {
		for _, furnished := range []bool{false, true} {
			name := scope + "/bare"
			if furnished {
				name = scope + "/furnished"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newMemWorld(t)
				repo := w.repo("alder")
				if furnished {
					w.furnish(repo)
				}
				client, project := snapshot(t, w.CopilotHome), snapshot(t, repo)
				w.install(scope, repo)
				changed := len(topNames(client, snapshot(t, w.CopilotHome))) + len(topNames(project, snapshot(t, repo)))
				if changed == 0 {
					t.Error("init wrote nothing")
				}
				w.install(scope, repo) // a second time, as people do
				w.uninstall(scope, repo)
				if diff := cmp.Diff(client, snapshot(t, w.CopilotHome)); diff != "" {
					t.Errorf("the client's folder (-before +after):\n%s", diff)
				}
				if diff := cmp.Diff(project, snapshot(t, repo)); diff != "" {
					t.Errorf("the repository (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// TestScopeRemembersSessions is the life of an installation: init, two sessions at the same time, search, uninstall.
func TestScopeRemembersSessions(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			w := newMemWorld(t)
			alder, birch := w.repo("alder"), w.repo("birch")
			w.furnish(alder)
			seeded := snapshot(t, w.CopilotHome)

			// A session without us shows what the client writes by itself.
			w.runSessions(tourSession(t, alder, "dunlin"))
			before := snapshot(t, w.CopilotHome)
			clients := topNames(seeded, before)
			clients["plugin-data"] = true // the client makes and keeps it for every plugin with hooks
			for _, p := range []string{"hooks", "skills", "agents", "settings.json", "mcp-config.json"} {
				if clients[p] {
					t.Fatalf("the client itself changes %s: this test would see nothing", p)
				}
			}
			if hasMemory(w) {
				t.Fatal("something was captured before init")
			}
			alderBefore, birchBefore := snapshot(t, alder), snapshot(t, birch)

			w.install(scope, alder, birch)
			a, b := tourSession(t, alder, "avocet"), tourSession(t, birch, "bunting")
			for i, out := range w.runSessions(a, b) {
				if want := tourAnswer([]string{"avocet", "bunting"}[i]); !strings.Contains(out, want) {
					t.Errorf("the client did not print %q:\n%s", want, out)
				}
			}
			w.checkTour(a, "avocet", "github.com/acme/alder")
			w.checkTour(b, "bunting", "github.com/acme/birch")
			w.checkApart(a, "avocet")
			w.checkApart(b, "bunting")
			w.checkSessions(t, a, b)
			for _, h := range w.search(alder, "buntingprompt") {
				t.Errorf("a search in one project finds another project's session: %+v", h)
			}

			w.uninstall(scope, alder, birch)
			if diff := cmp.Diff(without(before, clients), without(snapshot(t, w.CopilotHome), clients)); diff != "" {
				t.Errorf("the client's folder (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(alderBefore, without(snapshot(t, alder), map[string]bool{"avocet.md": true})); diff != "" {
				t.Errorf("the first repository (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(birchBefore, without(snapshot(t, birch), map[string]bool{"bunting.md": true})); diff != "" {
				t.Errorf("the second repository (-before +after):\n%s", diff)
			}
			w.checkApart(a, "avocet") // uninstall keeps what was remembered
		})
	}
}

// tourSession has its own endpoint, so that sessions cannot take each other's answers.
func tourSession(t *testing.T, dir, word string) session {
	t.Helper()
	return session{ID: newID(), Dir: dir, Prompt: tourPrompt(word), Model: newEndpoint(t, tourScripts(word)...), Env: []string{trust}}
}

func hasMemory(w *world) bool {
	_, err := os.Stat(w.MemHome)
	return err == nil
}

// TestRemovedProgramDeniesNothing: the client denies a tool whose preToolUse hook fails, and a missing program fails.
func TestRemovedProgramDeniesNothing(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			w := newMemWorld(t)
			repo := w.repo("cedar")
			w.install(scope, repo)
			if n := len(w.load(repo).Hooks); n == 0 {
				t.Fatal("no hooks are installed: this test would see nothing")
			}
			if n := w.removePrograms(); n < 2 {
				t.Fatalf("%d programs removed, want at least the two in PATH", n)
			}
			s := tourSession(t, repo, "egret")
			s.Dir = repo
			out := w.runSessions(s)
			if !strings.Contains(out[0], tourAnswer("egret")) {
				t.Errorf("the client did not print %q:\n%s", tourAnswer("egret"), out[0])
			}
			if !s.Model.sawText(tourOutput("egret")) || !s.Model.sawText(tourErrandOutput("egret")) {
				t.Error("a shell command did not run")
			}
			if s.Model.sawText("Denied by") || s.Model.sawText("hook errored") {
				t.Error("a tool was denied")
			}
			if data, err := os.ReadFile(filepath.Join(repo, "egret.md")); err != nil || string(data) != tourFile("egret") {
				t.Errorf("egret.md: %q, %v", data, err)
			}
		})
	}
}

// removePrograms takes every copy of our programs away and leaves all else, as a careless clean-up would.
func (w *world) removePrograms() int {
	w.t.Helper()
	n := 0
	err := filepath.WalkDir(w.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if name := strings.TrimSuffix(d.Name(), ".exe"); name != "copilot-mem" && name != "copilot-mem-hook" {
			return nil
		}
		n++
		return os.Remove(path)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// captured are the events without which memory has holes.
var captured = []string{"sessionStart", "userPromptSubmitted", "postToolUse", "postToolUseFailure", "agentStop", "subagentStop", "preCompact", "sessionEnd"}

// checkLoaded asserts that the client takes all that we ship, without a word of complaint.
func checkLoaded(t *testing.T, got loaded, agentPrefix string) {
	t.Helper()
	for _, p := range got.Problems {
		t.Errorf("the client complains: %s", p)
	}
	for _, name := range shipped(t, "skills", "") {
		if !slices.Contains(got.Skills, name) {
			t.Errorf("skill %s is not loaded: %v", name, got.Skills)
		}
	}
	for _, name := range shipped(t, "agents", ".agent.md") {
		if !slices.Contains(got.Agents, agentPrefix+name) {
			t.Errorf("agent %s is not loaded: %v", agentPrefix+name, got.Agents)
		}
	}
	for _, event := range captured {
		n := len(slices.DeleteFunc(slices.Clone(got.Hooks), func(h string) bool { return h != event }))
		// Where recall is rendered, one entry after a tool captures, and another, with a matcher, tells what memory knows.
		if recalls := event == "postToolUse" && n == 2; n != 1 && !recalls {
			t.Errorf("hook %s is loaded %d times, want once: %v", event, n, got.Hooks)
		}
	}
}

// shipped lists what the project's assets hold of a kind.
func shipped(t *testing.T, kind, suffix string) []string {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(repoRoot, "assets", kind))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatalf("assets/%s is empty", kind)
	}
	var names []string
	for _, d := range list {
		names = append(names, strings.TrimSuffix(d.Name(), suffix))
	}
	return names
}

func TestClientLoadsEveryScope(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			w := newMemWorld(t)
			repo := w.repo("elder")
			w.install(scope, repo)
			prefix := ""
			if scope == "plugin" {
				prefix = manifestName(t) + ":"
			}
			checkLoaded(t, w.load(repo), prefix)
		})
	}
}

func manifestName(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repoRoot, "plugin.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Name string }
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m.Name
}

// TestPatchIsRemembered: newer models edit by a patch that is text, not JSON.
func TestPatchIsRemembered(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("gorse")
	w.install("user", repo)
	patch := "*** Begin Patch\n*** Add File: ibis.txt\n+a line of ibispatch\n*** End Patch\n"
	s := session{ID: newID(), Dir: repo, Prompt: "Please add the ibisprompt file",
		Env: []string{"COPILOT_MODEL=gpt-5.1-codex", "COPILOT_PROVIDER_WIRE_API=responses"},
		Model: newEndpoint(t, script{Match: "ibisprompt", Steps: []step{
			{Tools: []toolUse{{Name: "apply_patch", Input: patch}}},
			{Text: "The ibisanswer is in place."},
		}})}
	w.runSessions(s)
	h := w.findHit(repo, "ibispatch", func(h hit) bool { return h.Tool == "apply_patch" && h.SessionID == s.ID })
	for _, e := range w.show(repo, h.ID) {
		var input string
		if e.ID == h.ID && (json.Unmarshal(e.ToolInput, &input) != nil || input != patch) {
			t.Errorf("the patch is kept as %s, want %q", e.ToolInput, patch)
		}
	}
	w.findHit(repo, "ibisanswer", func(h hit) bool { return h.Kind == "response" && h.SessionID == s.ID })
}
