package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/digest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type timelineJSON struct {
	SchemaVersion int          `json:"schemaVersion"`
	By            digest.By    `json:"by"`
	Scope         scopeJSON    `json:"scope"`
	Periods       []periodJSON `json:"periods"`
}

type periodJSON struct {
	ID       string      `json:"id"`
	From     jsonTime    `json:"from"`
	To       jsonTime    `json:"to"` // exclusive
	Turns    int         `json:"turns"`
	Entries  int         `json:"entries"`
	Summary  []lineJSON  `json:"summary"`
	Sessions []shareJSON `json:"sessions"`
}

type shareJSON struct {
	ID        string     `json:"id"`
	Title     string     `json:"title"`
	Project   string     `json:"project"`
	Branch    string     `json:"branch"`
	FirstAt   jsonTime   `json:"firstAt"`
	LastAt    jsonTime   `json:"lastAt"`
	Turns     int        `json:"turns"`
	Entries   int        `json:"entries"`
	ToolCalls int        `json:"toolCalls"`
	Errors    int        `json:"errors"`
	Summary   []lineJSON `json:"summary"`
}

type lineJSON struct {
	ID   string   `json:"id"`   // `show` expands it
	From string   `json:"from"` // title, compaction, note or prompt: what is quoted
	Text string   `json:"text"`
	Time jsonTime `json:"time"`
}

var periods = []digest.By{digest.ByDay, digest.ByWeek, digest.ByMonth, digest.ByYear}

func newTimelineCmd(e *env) *cobra.Command {
	var f filters
	var by string
	var exitEmpty, asJSON bool
	cmd := &cobra.Command{
		Use: "timeline", Short: "What happened when, by day, week, month or year", Args: cobra.NoArgs,
		Long: `What happened when: the client's titles and summaries, your notes and prompts, word for word. Every line ends with an id in
brackets that ` + "`copilot-mem show`" + ` expands: a day, week, month or year, a session, a turn of it, or an entry.`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if !slices.Contains(periods, digest.By(by)) {
				return &usageError{fmt.Errorf("--by %s: unknown", by), "use day, week, month or year"}
			}
			q, err := f.query(e, "")
			if err != nil {
				return err
			}
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			all, err := e.timeline(cmd.Context(), db, q, digest.By(by))
			if err != nil {
				return err
			}
			all = all[:min(len(all), f.limit)]
			if asJSON {
				out := timelineJSON{1, digest.By(by), scopeOf(q), []periodJSON{}}
				for _, p := range all {
					out.Periods = append(out.Periods, toPeriodJSON(p))
				}
				err = e.printJSON(out)
			} else {
				err = e.printTimeline(all, digest.By(by) == digest.ByDay, q)
			}
			if err == nil && len(all) == 0 && exitEmpty {
				return codeError(exitNothing)
			}
			return err
		},
	}
	f.add(cmd, 31)
	cmd.Flags().Lookup("limit").Usage = "at most so many days, weeks, months or years, the newest"
	cmd.Flags().StringVar(&by, "by", "day", "day, week, month or year")
	cmd.Flags().BoolVar(&exitEmpty, "exit-empty", false, "exit code 4 when there is nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func (e *env) timeline(ctx context.Context, db *store.DB, q memory.Query, by digest.By) ([]digest.Period, error) {
	entries, err := db.Digest(ctx, q)
	if err != nil {
		return nil, err
	}
	sessions, err := db.SessionsByID(ctx, entries)
	if err != nil {
		return nil, err
	}
	return digest.Timeline(entries, sessions, by, e.Now().Location()), nil
}

func toPeriodJSON(p digest.Period) periodJSON {
	out := periodJSON{ID: p.ID, From: jsonTime(p.From), To: jsonTime(p.To), Summary: toLinesJSON(p.Lines), Sessions: []shareJSON{}}
	for _, s := range p.Sessions {
		out.Turns += s.Turns
		out.Entries += s.Entries
		out.Sessions = append(out.Sessions, shareJSON{
			s.Session.ID, s.Title(), s.Session.Project, s.Session.Branch, jsonTime(s.First), jsonTime(s.Last), s.Turns, s.Entries, s.Tools, s.Errors, toLinesJSON(s.Picked()),
		})
	}
	return out
}

func toLinesJSON(all []digest.Line) []lineJSON {
	out := []lineJSON{}
	for _, l := range all {
		out = append(out, lineJSON{l.ID, l.From, l.Text, jsonTime(l.Time)})
	}
	return out
}

// printTimeline shows sessions and their lines where days are short enough for it, else what a period comes down to.
func (e *env) printTimeline(all []digest.Period, sessions bool, q memory.Query) error {
	w := &lines{w: e.Stdout}
	if len(all) == 0 {
		w.printf("nothing happened%s\n", map[bool]string{true: " in " + screen(q.Project) + " (--all looks at all projects)"}[q.Project != ""])
	}
	for i, p := range all {
		if i > 0 {
			w.printf("\n")
		}
		turns, entries := 0, 0
		for _, s := range p.Sessions {
			turns += s.Turns
			entries += s.Entries
		}
		name := p.ID
		if sessions {
			name += " " + p.From.Weekday().String()
		}
		w.printf("%s  %s, %s, %s  [%s]\n", name, plural(len(p.Sessions), "session", "sessions"), plural(turns, "turn", "turns"), plural(entries, "entry", "entries"), p.ID)
		if !sessions {
			for _, l := range p.Lines {
				e.printLine(w, "  "+l.Time.In(e.Now().Location()).Format("01-02"), l)
			}
			continue
		}
		for _, s := range p.Sessions {
			w.printf("  %s  %s\n", s.First.In(e.Now().Location()).Format("15:04"), joined(s.Title(), s.Session.Project, s.Session.Branch, "["+short(s.Session.ID)+"]"))
			for _, l := range s.Picked() {
				if l.Text != s.Title() {
					e.printLine(w, "      ", l)
				}
			}
		}
	}
	return w.err
}

func (e *env) printLine(w *lines, before string, l digest.Line) {
	from := ""
	if l.From != "prompt" && l.From != "title" {
		from = l.From + ": "
	}
	w.printf("%s  %s%s  [%s]\n", before, from, screen(l.Text), shortPart(l.ID))
}

// shortPart shortens the session in SESSION:TURN.
func shortPart(id string) string {
	for i := range id {
		if id[i] == ':' {
			return short(id[:i]) + id[i:]
		}
	}
	return short(id)
}

// showPeriod prints what `show` knows of a day, week, month or year; ok is false where id is none.
func (e *env) showPeriod(ctx context.Context, db *store.DB, id string, asJSON bool) (ok bool, err error) {
	by, from, ok := digest.ParsePeriod(id, e.Now().Location())
	if !ok {
		return false, nil
	}
	_, to, _ := by.Start(from)
	inner := map[digest.By]digest.By{digest.ByDay: digest.ByDay, digest.ByWeek: digest.ByDay, digest.ByMonth: digest.ByDay, digest.ByYear: digest.ByMonth}[by]
	q := memory.Query{Since: from, Until: to}
	all, err := e.timeline(ctx, db, q, inner)
	if err != nil {
		return true, err
	}
	slices.Reverse(all) // read like a session: from its beginning
	if !asJSON {
		return true, e.printTimeline(all, inner == digest.ByDay, q)
	}
	out := timelineJSON{1, inner, scopeOf(q), []periodJSON{}}
	for _, p := range all {
		out.Periods = append(out.Periods, toPeriodJSON(p))
	}
	return true, e.printJSON(out)
}
