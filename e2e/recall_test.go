//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

// story is a few sessions of one person, one after the other, and what the model must never read in the last of them.
type story struct {
	name  string
	tell  func(t *testing.T, s *teller)
	never []string // in any request of the last session
}

// teller plays the sessions of a story and notes what reached the model because of us.
type teller struct {
	*world
	repos map[string]string
	said  bytes.Buffer
	last  []request
}

// fence is what we tell; everything in the client's own words stands outside of it.
var fence = regexp.MustCompile(`(?s)<recalled_memory.*?</recalled_memory>`)

// session runs one session with a model that follows steps, and waits until its answer is remembered.
func (s *teller) session(repo, prompt string, steps ...step) {
	s.t.Helper()
	s.scripts(repo, prompt, script{Match: prompt, Steps: steps})
}

func (s *teller) scripts(repo, prompt string, scripts ...script) {
	s.t.Helper()
	dir := s.dir(repo)
	model := newEndpoint(s.t, scripts...)
	id := newID()
	s.runSessions(session{ID: id, Dir: dir, Prompt: prompt, Model: model, Env: []string{trust}})
	s.note(prompt, model.seen())
	main := scripts[len(scripts)-1]
	answer := main.Steps[len(main.Steps)-1].Text
	remembered := func() bool {
		return slices.ContainsFunc(s.search(dir, answer, "--kind", "response"), func(h hit) bool { return h.SessionID == id })
	}
	if !poll(30*time.Second, remembered) {
		s.t.Fatalf("%q is not remembered", answer)
	}
}

func (s *teller) dir(repo string) string {
	if s.repos[repo] == "" {
		s.repos[repo] = s.repo(repo)
	}
	return s.repos[repo]
}

// note writes down every text of ours that the model read, once, with the role of the message it came in.
func (s *teller) note(prompt string, seen []request) {
	s.t.Helper()
	s.last = seen
	fmt.Fprintf(&s.said, "=== %s\n", prompt)
	told := map[string]bool{}
	for _, r := range seen {
		in := map[string]bool{}
		for _, m := range r.Body.messages() {
			for _, text := range fence.FindAllString(m.text(), -1) {
				if in[text] {
					s.t.Errorf("told twice in one conversation: %s", text)
				}
				in[text] = true
				if !told[m.Role+text] {
					told[m.Role+text] = true
					fmt.Fprintf(&s.said, "--- %s\n%s\n", m.Role, text)
				}
			}
			if rest := fence.ReplaceAllString(m.text(), ""); strings.Contains(rest, "recalled_memory") {
				s.t.Errorf("a fence that does not close: %s", rest)
			}
		}
	}
}

func (s *teller) git(repo string, args ...string) {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.dir(repo), s.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %s: %v\n%s", args, err, out)
	}
}

var (
	entryID = regexp.MustCompile(`\[[a-z2-7]{20}\]`)
	shortID = regexp.MustCompile(`\[[0-9a-f]{8}\]`)
	day     = regexp.MustCompile(`\d{4}-\d\d-\d\d`)
)

// stable takes out what differs from run to run.
func (s *teller) stable() string {
	ids := map[string]string{}
	text := entryID.ReplaceAllStringFunc(s.said.String(), func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("[ID%d]", len(ids)+1)
		}
		return ids[id]
	})
	text = day.ReplaceAllString(shortID.ReplaceAllString(text, "[SESSION]"), "DATE")
	return strings.ReplaceAll(text, s.Root, "ROOT")
}

const key = "ghp_" + "Zk3vT9qLw2Xy7Rb5Nc8Md4Hf6Js1Pa0Ge2Uq"

func bash(command string) step {
	return use("bash", map[string]any{"command": command, "description": "run it"})
}

var stories = []story{
	{name: "decision", tell: func(_ *testing.T, s *teller) {
		s.session("alder", "We decided to use keyset pagination for the invoices endpoint instead of offsets.", step{Text: "Noted: keyset pagination for invoices."})
		s.session("alder", "How does pagination of the invoices endpoint work?", step{Text: "It works with keysets."})
	}},
	{name: "failed-command", tell: func(_ *testing.T, s *teller) {
		s.write(filepath.Join(s.dir("alder"), "check.sh"), "test -f table.gen || { echo 'error: lookup table table.gen is missing'; exit 3; }\necho fine\n")
		s.session("alder", "Make the verification pass", bash("sh check.sh"), bash("touch table.gen"), bash("sh check.sh"), step{Text: "The verification passes now."})
		if err := os.Remove(filepath.Join(s.dir("alder"), "table.gen")); err != nil {
			s.t.Fatal(err)
		}
		s.session("alder", "Tell me whether everything is in order", bash("sh check.sh"), step{Text: "Something is missing still."})
	}},
	{name: "file-knowledge", tell: func(_ *testing.T, s *teller) {
		s.session("alder", "Describe the shutdown order in the parser notes", use("create", map[string]any{"path": "parser-notes.md", "file_text": "Close the lexer first.\n"}), step{Text: "The order is described."})
		s.session("alder", "Proofread something", use("view", map[string]any{"path": "parser-notes.md"}), step{Text: "There are no mistakes."})
	}},
	{name: "preference", tell: func(_ *testing.T, s *teller) {
		s.mem(s.dir("alder"), "remember", "--kind", "preference", "Answer in metric units, never in feet")
		s.session("alder", "Estimate the length of the harbour wall", step{Text: "About ninety metres."})
	}},
	{name: "superseded-decision", tell: func(_ *testing.T, s *teller) {
		s.session("alder", "Let's use Redis for the rate limiter counters.", step{Text: "Redis it is, for the counters."})
		s.session("alder", "Actually, use Postgres for the rate limiter counters instead of Redis.", step{Text: "Postgres from here on."})
		s.session("birch", "Wait for the others", step{Text: "Waiting."})
		s.session("alder", "Which store has the rate limiter counters?", step{Text: "Postgres has them."})
	}, never: []string{"Let's use Redis", "Redis it is"}},
	{name: "other-project", tell: func(_ *testing.T, s *teller) {
		s.session("alder", "The gateway of Heronsgate listens on port 7443, remember that.", step{Text: "Heronsgate listens on 7443."})
		s.session("birch", "Which port does the gateway of Heronsgate listen on?", step{Text: "I cannot know that."})
	}, never: []string{"7443", "<recalled_memory"}},
	{name: "other-branch", tell: func(_ *testing.T, s *teller) {
		s.git("alder", "checkout", "-q", "-b", "feature/tariffs")
		s.session("alder", "On this experiment the tariff table is keyed by postcode.", step{Text: "Keyed by postcode, as an experiment."})
		s.git("alder", "checkout", "-q", "main")
		s.session("alder", "What is the tariff table keyed by?", step{Text: "Nothing tells."})
		if len(fence.FindAllString(s.said.String(), -1)) > 0 {
			s.t.Errorf("the other branch's experiment was told on main:\n%s", s.said.String())
		}
		s.git("alder", "checkout", "-q", "feature/tariffs")
		s.session("alder", "What is the tariff table keyed by here?", step{Text: "By the postcode."})
	}},
	{name: "secret", tell: func(_ *testing.T, s *teller) {
		s.session("alder", "The deploy robot signs in with token "+key+" at the registry.", step{Text: "The robot signs in with " + key + "."})
		s.session("alder", "How does the deploy robot sign in at the registry?", step{Text: "With a token."})
	}, never: []string{key, "Zk3vT9qLw2Xy7Rb5"}},
	{name: "compaction", tell: func(_ *testing.T, s *teller) {
		dir := s.dir("alder")
		s.mem(dir, "remember", "--kind", "preference", "Keep every script under forty lines")
		model := newEndpoint(s.t,
			script{Match: "Rename the walrus", Steps: []step{
				bash("echo renamed > walrus.txt"), use("create", map[string]any{"path": "tusks.md", "file_text": "two\n"}), {Text: "Renamed."}}},
		)
		c := s.talk(dir, model)
		c.create()
		c.say("Rename the walrus module. From now on use plain shell scripts instead of make.")
		var done json.RawMessage
		c.do("session.history.compact", map[string]any{"trigger": "manual", "customInstructions": ""}, &done)
		before := len(model.seen())
		c.say("Carry on")
		c.stop()
		s.note("Carry on, after a compaction", model.seen()[before:])
	}},
	{name: "sub-agent", tell: func(_ *testing.T, s *teller) {
		s.mem(s.dir("alder"), "remember", "--kind", "preference", "Quote every finding with its file and line")
		s.session("alder", "The kingfisher census counts nests per river mile.", step{Text: "Nests per river mile."})
		s.scripts("alder", "Send somebody out",
			script{Match: "Look up the kingfisher census", Steps: []step{{Text: "Found the kingfisher census."}}},
			script{Match: "Send somebody out", Steps: []step{
				use("task", map[string]any{"name": "scout", "agent_type": "general-purpose", "description": "look it up", "prompt": "Look up the kingfisher census", "mode": "sync"}),
				{Text: "Somebody was sent out."}}})
	}},
}

// TestStories is what recall promises: what reaches the model is what should, byte for byte, and nothing else.
func TestStories(t *testing.T) {
	t.Parallel()
	for _, st := range stories {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := &teller{world: newMemWorld(t), repos: map[string]string{}}
			s.install("user", s.dir("alder"))
			st.tell(t, s)
			file := filepath.Join("testdata", "recall", st.name+".golden")
			got := s.stable()
			if *updateGolden {
				s.world.write(file, got)
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
			for _, r := range s.last {
				// A word of the prompt itself is the user's to send.
				for _, word := range st.never {
					if strings.Contains(r.Raw, word) {
						t.Errorf("the model read %q", word)
					}
				}
			}
		})
	}
}

// TestServerInEveryScope: the client offers our tools to the model, and those that only read ask for no permission.
func TestServerInEveryScope(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			w := newMemWorld(t)
			repo := w.repo("alder")
			w.install(scope, repo)
			w.mem(repo, "remember", "--kind", "fact", "The bittern booms at dawn")
			model := newEndpoint(t, script{Match: "Ask your memory", Steps: []step{
				use("copilot-mem-search", map[string]any{"query": "bittern"}), {Text: "It booms at dawn."}}})
			// Without --allow-all-tools a tool that asks is denied.
			out, errs, code := w.run(repo, w.env("COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL="+model.URL,
				"COPILOT_PROVIDER_API_KEY=loopback-key-that-occurs-nowhere-else", "COPILOT_MODEL=gpt-4.1", "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true",
				trustServers(scope)), clientBin, "-p", "Ask your memory", "--session-id", newID(), "--no-auto-update", "--log-level", "debug")
			if code != 0 {
				t.Fatalf("exit %d\n%s%s\n%s", code, out, errs, w.clientLog())
			}
			var names []string
			for _, r := range model.seen() {
				for _, tool := range r.Body.Tools {
					if f, ok := tool["function"].(map[string]any); ok {
						names = append(names, fmt.Sprint(f["name"]))
					}
				}
			}
			for _, want := range []string{"search", "show", "timeline", "about_file", "remember", "forget"} {
				if !slices.Contains(names, "copilot-mem-"+want) {
					t.Errorf("the model was not offered copilot-mem-%s\n%s", want, w.clientLog())
				}
			}
			answered := false
			for _, r := range model.seen() {
				for _, m := range r.Body.messages() {
					answered = answered || m.Role == "tool" && strings.Contains(m.text(), "The bittern booms at dawn") && strings.Contains(m.text(), "github.com/acme/alder")
				}
			}
			if !answered {
				t.Errorf("the tool did not answer with the note of this project\n%s", w.clientLog())
			}
		})
	}
}

// trustServers lets a repository's servers start in a session without a terminal.
func trustServers(scope string) string {
	if scope == "repo" {
		return trust
	}
	return "UNUSED=1"
}
