package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/recall"
)

// fact is one thing that a session settles: how it is said, what marks it, and how somebody asks for it later, in other words.
type fact struct {
	said, mark, asked string
}

// facts are of four kinds: decided by the user, stated by the user, answered by the agent, saved as a note.
func facts() []fact {
	subjects := []struct{ what, ask, mark string }{
		{"the invoice exporter retries with %s backoff", "Why does exporting invoices back off between attempts?", "decorrelated"},
		{"the search endpoint paginates by %s cursors", "Add pagination to the tags page the way the search endpoint does it", "keyset"},
		{"session cookies are signed with the %s key", "Which key signs the session cookies?", "lighthouse"},
		{"the image resizer runs in the %s queue", "The image resizer is slow, where does it run?", "driftwood"},
		{"feature flags are read from the %s table", "Add a feature flag for the beta banner", "togglebox"},
		{"the ledger rounds amounts with %s rounding", "Amounts in the ledger differ by a cent after rounding", "bankers"},
		{"webhooks are verified with the %s header", "Verify webhooks from the new provider", "x-harbour"},
		{"the nightly backup goes to the %s bucket", "Restore last night's backup to staging", "saltmarsh"},
		{"the mobile client speaks protocol %s", "Which protocol does the mobile client speak?", "v7b"},
		{"tenants are separated by %s schemas", "Create a schema for a new tenant", "postcode"},
		{"the scheduler takes a %s lock before it starts a job", "Two schedulers started one job at the same time", "advisory"},
		{"emails are rendered by the %s template engine", "The welcome email template shows raw braces", "quillwort"},
		{"error reports drop the %s field before they are sent", "Error reports are too large to be sent", "breadcrumbs"},
		{"the map tiles are cached for %s days", "Stale map tiles are shown after the cache was cleared", "eleven"},
		{"user avatars live under the %s prefix", "Move the user avatars to the new storage", "faces"},
		{"the rate limiter counts per %s window", "Raise the rate limiter for the partner API", "sliding"},
		{"audit records are written through the %s outbox", "An audit record is missing after a crash", "transactional"},
		{"the importer skips rows without a %s column", "The importer skipped rows of the customer file", "tariff"},
		{"price rules are evaluated by the %s interpreter", "Add a price rule for bulk orders", "hawthorn"},
		{"the gateway closes idle connections after %s seconds", "The gateway closes connections too early", "ninety"},
	}
	out := make([]fact, len(subjects))
	for i, s := range subjects {
		out[i] = fact{said: fmt.Sprintf(s.what, s.mark), mark: s.mark, asked: s.ask}
	}
	return out
}

// fillers have no marked entry: nothing was ever said of them.
var fillers = []string{
	"Write a haiku about granite", "Convert the changelog headings to title case", "Draw an ascii owl", "Rename the variable foo to total in utils",
	"Which licence is compatible with Apache?", "Sort the imports alphabetically", "Translate the readme into Portuguese", "Explain monads to a gardener",
	"Sum the integers below one thousand", "Suggest a name for a hamster", "Count the vowels of this sentence", "Draft a farewell card for Ida",
}

// tally is what quality counts.
type tally struct {
	tokens              []int // of each session
	asked, held         int   // sessions with a marked entry, and those that were told it
	told, right, lately int   // injections; with the marked entry; with only what went on lately
	repeats             int   // lines that were told twice in a session
	lines               int   // all of them
}

// quality plays sessions: every one settles a fact or not, and asks for one that an earlier session settled, goes on with the
// last session, or asks for nothing that memory could know.
func (w world) quality(out io.Writer, sessions int) error {
	all := facts()
	rng := rand.New(rand.NewPCG(5, 6))
	var c tally
	at := int64(1_795_000_000_000)
	last := ""
	for i := range sessions {
		s := player{w: w, id: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), at: &at, seen: map[string]bool{}, c: &c}
		mark, prompt := "", fillers[i%len(fillers)]
		switch {
		case i >= 8 && i%10 == 9: // one of ten goes on with the last one
			mark, prompt = last[:min(len(last), 30)], "Carry on where we stopped"
		case i >= 8 && i%5 != 4: // seven of ten ask for something that was settled, the others for nothing that was
			f := all[rng.IntN(min(i, len(all)))]
			mark, prompt = f.mark, f.asked
		}
		if err := s.play(prompt, mark, all, i); err != nil {
			return err
		}
		c.tokens, last = append(c.tokens, s.tokens), prompt
	}
	slices.Sort(c.tokens)
	fmt.Fprintf(out, "%d generated sessions\n", sessions)
	fmt.Fprintf(out, "tokens told in a session      median %d, largest %d\n", c.tokens[len(c.tokens)/2], c.tokens[len(c.tokens)-1])
	fmt.Fprintf(out, "sessions with a marked entry  %d, told it %d (%.2f)\n", c.asked, c.held, share(c.held, c.asked))
	fmt.Fprintf(out, "injections                    %d, with the entry marked for it %d (%.2f); without it and without anything about the prompt %d\n",
		c.told, c.right, share(c.right, c.told), c.lately)
	fmt.Fprintf(out, "injections about the prompt   with the marked entry %.2f\n", share(c.right, c.told-c.lately))
	fmt.Fprintf(out, "lines told                    %d, repeated %d\n", c.lines, c.repeats)
	return nil
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// player plays one session.
type player struct {
	w      world
	id     string
	at     *int64
	seen   map[string]bool
	tokens int
	c      *tally
}

func (s *player) play(prompt, mark string, all []fact, i int) error {
	text, err := s.event("sessionStart", map[string]any{"source": "new", "initialPrompt": prompt})
	if err != nil {
		return err
	}
	more, err := s.event("userPromptSubmitted", map[string]any{"prompt": prompt})
	if err != nil {
		return err
	}
	s.judge(text, mark)
	s.judge(more, mark)
	if mark != "" {
		s.c.asked++
		if strings.Contains(text+more, mark) {
			s.c.held++
		}
	}
	if _, err := s.event("postToolUse", map[string]any{"toolName": "bash", "toolArgs": map[string]string{"command": "go test ./..."},
		"toolResult": map[string]string{"resultType": "success", "textResultForLlm": "ok\n<shellId: 1 completed with exit code 0>"}}); err != nil {
		return err
	}
	if i < len(all) { // settle a fact
		said := []string{"We decided that %s.", "Note for you: %s, keep to it.", "Let's agree that from now on %s."}[i%3]
		settle := fmt.Sprintf(said, all[i].said)
		more, err := s.event("userPromptSubmitted", map[string]any{"prompt": settle})
		if err != nil {
			return err
		}
		s.judge(more, "nothing is marked for a statement")
	}
	if _, err := s.event("sessionEnd", map[string]any{"reason": "complete"}); err != nil {
		return err
	}
	return s.w.ingest()
}

func (s *player) event(name string, payload map[string]any) (string, error) {
	*s.at += 7_000
	payload["sessionId"], payload["timestamp"] = s.id, *s.at
	text, _, err := s.w.event(name, payload)
	return text, err
}

// judge counts one injection.
func (s *player) judge(text, mark string) {
	if text == "" {
		return
	}
	s.c.told++
	s.tokens += recall.Tokens(text)
	switch {
	case mark != "" && strings.Contains(text, mark):
		s.c.right++
	case !strings.Contains(text, "About this prompt:"):
		s.c.lately++
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		s.c.lines++
		if s.seen[line] {
			s.c.repeats++
		}
		s.seen[line] = true
	}
}
