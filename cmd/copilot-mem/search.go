package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type searchJSON struct {
	SchemaVersion int       `json:"schemaVersion"`
	Query         string    `json:"query"`
	Scope         scopeJSON `json:"scope"`
	Hits          []hitJSON `json:"hits"`
	Truncated     bool      `json:"truncated"`
	Steps         []string  `json:"steps,omitempty"` // with --explain: what was tried
}

type hitJSON struct {
	ID        string   `json:"id"`
	Kind      string   `json:"kind"`
	SessionID string   `json:"sessionId"`
	Turn      int      `json:"turn"`
	Time      jsonTime `json:"time"`
	Project   string   `json:"project"`
	Branch    string   `json:"branch"`
	Cwd       string   `json:"cwd"`
	Tool      string   `json:"tool"`
	Text      string   `json:"text"`
	Snippet   string   `json:"snippet"`
	Score     float64  `json:"score"`
	Reasons   []string `json:"reasons"`
	Withdrawn bool     `json:"withdrawn"`
}

func newSearchCmd(e *env) *cobra.Command {
	var f filters
	var maxTokens int
	var explain, exitEmpty, asJSON bool
	cmd := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Find what was said and done",
		Long:  `Find what was said and done. All words of the query count, in any order; "words in double quotes" belong together.`,
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			text := strings.Join(args, " ")
			if strings.TrimSpace(text) == "" && !f.narrow() {
				return &usageError{errors.New("nothing to search for"), "run `copilot-mem search --help`"}
			}
			if maxTokens < 0 {
				return &usageError{fmt.Errorf("--max-tokens %d: must not be negative", maxTokens), ""}
			}
			choice, err := e.config()
			if err != nil {
				return err
			}
			f.everywhere = choice.Search.AllProjects
			if !cmd.Flags().Changed("limit") {
				f.limit = choice.Search.Limit
			}
			q, err := f.query(e, text)
			if err != nil {
				return err
			}
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			answer, err := e.find(cmd.Context(), db, q, explain)
			if err != nil {
				return err
			}
			var truncated bool
			answer.Hits, truncated = withinTokens(answer.Hits, maxTokens)
			if err := printSearch(cmd.Context(), e, db, q, answer, truncated, asJSON); err != nil {
				return err
			}
			if len(answer.Hits) == 0 && exitEmpty {
				return codeError(exitNothing)
			}
			return nil
		},
	}
	f.add(cmd, 20)
	fl := cmd.Flags()
	fl.IntVar(&maxTokens, "max-tokens", 0, "at most about so many tokens of text; 0: no limit")
	fl.BoolVar(&explain, "explain", false, "say why each hit was found")
	fl.BoolVar(&exitEmpty, "exit-empty", false, "exit code 4 when nothing is found")
	fl.BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

// storeOptions are how entries reach the index.
var storeOptions = store.Options{Words: search.Document, Stem: search.Stem}

// find searches as every command does.
func (e *env) find(ctx context.Context, db *store.DB, q memory.Query, explain bool) (search.Answer, error) {
	return search.Find(ctx, db, search.Question{Query: q, Now: e.Now(), Explain: explain}, search.Standard)
}

func printSearch(ctx context.Context, e *env, db *store.DB, q memory.Query, answer search.Answer, truncated, asJSON bool) error {
	if len(answer.When.Words) > 0 {
		q.Since, q.Until = answer.When.Since, answer.When.Until
	}
	if asJSON {
		out := searchJSON{1, q.Text, scopeOf(q), []hitJSON{}, truncated, answer.Steps}
		for _, h := range answer.Hits {
			reasons := h.Reasons
			if reasons == nil {
				reasons = []string{}
			}
			out.Hits = append(out.Hits, hitJSON{
				h.ID, string(h.Kind), h.SessionID, h.Turn, jsonTime(h.Time), h.Project, h.Branch, h.Cwd, h.Tool,
				h.Text, h.Snippet, h.Score, reasons, h.Withdrawn,
			})
		}
		return e.printJSON(out)
	}
	if len(answer.Hits) == 0 {
		why, err := e.whyNothing(ctx, db, q)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(e.Stdout, strings.Join(append([]string{why}, answer.Steps...), "\n"))
		return err
	}
	if err := printHits(e, answer.Hits, truncated); err != nil || len(answer.Steps) == 0 {
		return err
	}
	_, err := fmt.Fprintln(e.Stdout, "\n"+strings.Join(answer.Steps, "\n"))
	return err
}

// bytesPerToken is a rough measure, good enough for a budget.
const bytesPerToken = 4

// withinTokens cuts texts and then whole hits, so that texts and snippets stay within about n tokens. The first hit
// always stays.
func withinTokens(hits []memory.Hit, n int) (kept []memory.Hit, truncated bool) {
	if n == 0 {
		return hits, false
	}
	left := n * bytesPerToken
	for i, h := range hits {
		if i > 0 && left < len(h.Snippet) {
			return hits[:i], true
		}
		left -= len(h.Snippet)
		if len(h.Text) > max(left, 0) {
			cut := max(left, 0)
			for cut > 0 && !utf8.RuneStart(h.Text[cut]) {
				cut--
			}
			hits[i].Text, truncated = h.Text[:cut], true
		}
		left -= len(hits[i].Text)
	}
	return hits, truncated
}

// whyNothing says what would have to change for something to be found.
func (e *env) whyNothing(ctx context.Context, db *store.DB, q memory.Query) (string, error) {
	counts, err := db.Counts(ctx)
	if err != nil {
		return "", err
	}
	if counts.Entries == 0 {
		return "nothing found: nothing is captured yet (`copilot-mem doctor` checks the hooks)", nil
	}
	count := func(change func(*memory.Query)) (int, error) {
		wider := q
		change(&wider)
		answer, err := e.find(ctx, db, wider, false)
		return len(answer.Hits), err
	}
	// What was typed first, then what was assumed.
	for _, try := range []struct {
		set    bool
		change func(*memory.Query)
		say    string
	}{
		{q.Project != "", func(q *memory.Query) { q.Project = "" }, "in other projects than " + q.Project + " (--all)"},
		{!q.Since.IsZero(), func(q *memory.Query) { q.Since, q.Until = time.Time{}, q.Since }, "before --since"},
		{!q.Until.IsZero(), func(q *memory.Query) { q.Since, q.Until = q.Until, time.Time{} }, "after --until"},
		{q.Session != "", func(q *memory.Query) { q.Session = "" }, "in other sessions"},
		{q.Branch != "", func(q *memory.Query) { q.Branch = "" }, "on other branches"},
		{q.Kind != "", func(q *memory.Query) { q.Kind = "" }, "of other kinds"},
		{q.Tool != "", func(q *memory.Query) { q.Tool = "" }, "with other tools"},
		{q.File != "", func(q *memory.Query) { q.File = "" }, "without this file"},
	} {
		if !try.set {
			continue
		}
		n, err := count(try.change)
		if err != nil {
			return "", err
		}
		if n > 0 {
			return fmt.Sprintf("nothing found here, but %s %s", plural(n, "hit", "hits"), try.say), nil
		}
	}
	n, err := count(func(q *memory.Query) { *q = memory.Query{Text: q.Text} })
	if err != nil {
		return "", err
	}
	if n > 0 {
		return "nothing found with these filters together; there are hits without them (--all)", nil
	}
	return fmt.Sprintf("nothing found: no word of the query is in any of %s", plural(counts.Entries, "entry", "entries")), nil
}

func printHits(e *env, hits []memory.Hit, truncated bool) error {
	now := e.Now()
	w := &lines{w: e.Stdout}
	session := ""
	for _, h := range hits {
		if h.SessionID != session {
			if session != "" {
				w.printf("\n")
			}
			session = h.SessionID
			w.printf("%s\n", joined(h.Time.In(now.Location()).Format("2006-01-02"), h.Project, h.Branch, "session "+short(h.SessionID)))
		}
		tool := ""
		if h.Tool != "" {
			tool = " " + h.Tool
		}
		withdrawn := ""
		if h.Withdrawn {
			withdrawn = "  withdrawn"
		}
		w.printf("  %s  %s%s  [%s]%s\n", h.Time.In(now.Location()).Format("15:04"), h.Kind, tool, short(h.ID), withdrawn)
		w.printf("         %s\n", screen(h.Snippet))
		for _, r := range h.Reasons {
			w.printf("         - %s\n", screen(r))
		}
	}
	if truncated {
		w.printf("\ncut to --max-tokens\n")
	}
	return w.err
}

// lines remembers the first error of many prints.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) printf(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format, args...)
	}
}

// short is the beginning of an id that a person copies; a longer id is unique with it as good as always.
func short(id string) string {
	if strings.HasPrefix(id, "copilot-") {
		return id[:min(len(id), 16)]
	}
	return id[:min(len(id), 8)]
}

func joined(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, screen(p))
		}
	}
	return strings.Join(out, "  ")
}

// screen keeps stored text from steering the terminal, or from being read in another order than it is written.
func screen(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if r < 0x20 || (r >= 0x7f && r < 0xa0) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) {
			return -1
		}
		return r
	}, s)
}
