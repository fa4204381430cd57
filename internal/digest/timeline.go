package digest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// By is how long a period is.
type By string

// The periods of a timeline.
const (
	ByDay   By = "day"
	ByWeek  By = "week"
	ByMonth By = "month"
	ByYear  By = "year"
)

// Period is one day, ISO week, month or year in which something happened.
type Period struct {
	ID       string // 2026-11-20, 2026-W47, 2026-11 or 2026
	From, To time.Time
	Sessions []Share // by the time of their first entry in the period
	Lines    []Line  // what the period comes down to
}

// Share is what one session had in one period.
type Share struct {
	Session memory.Session
	First   time.Time // of its entries in the period
	Last    time.Time
	Turns   int
	Entries int
	Tools   int
	Errors  int
	Lines   []Line // in the order of time
}

// Line is a quote. ID is what `show` expands: a session, a turn of it, or an entry.
type Line struct {
	ID   string
	From string // title, compaction, note or prompt
	Text string
	Time time.Time
}

const (
	maxLine         = 160 // characters
	linesPerSession = 6
	linesPerPeriod  = 8
)

// Start is the beginning of the period that t lies in, and ID its name.
func (by By) Start(t time.Time) (from, to time.Time, id string) {
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
	switch by {
	case ByYear:
		from = time.Date(t.Year(), 1, 1, 0, 0, 0, 0, t.Location())
		return from, from.AddDate(1, 0, 0), from.Format("2006")
	case ByMonth:
		from = time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, t.Location())
		return from, from.AddDate(0, 1, 0), from.Format("2006-01")
	case ByWeek:
		from = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
		year, week := from.ISOWeek()
		return from, from.AddDate(0, 0, 7), fmt.Sprintf("%04d-W%02d", year, week)
	}
	return day, day.AddDate(0, 0, 1), day.Format("2006-01-02")
}

// ParsePeriod reads the id of a period.
func ParsePeriod(id string, loc *time.Location) (by By, from time.Time, ok bool) {
	var year, week int
	if n, err := fmt.Sscanf(id, "%4d-W%2d", &year, &week); n == 2 && err == nil && len(id) == 8 && week >= 1 && week <= 53 {
		first, _, _ := ByWeek.Start(time.Date(year, 1, 4, 0, 0, 0, 0, loc)) // the fourth is always in week 1
		from := first.AddDate(0, 0, 7*(week-1))
		if y, w := from.ISOWeek(); y == year && w == week {
			return ByWeek, from, true
		}
		return "", time.Time{}, false
	}
	for _, l := range []struct {
		by     By
		layout string
	}{{ByDay, "2006-01-02"}, {ByMonth, "2006-01"}, {ByYear, "2006"}} {
		if t, err := time.ParseInLocation(l.layout, id, loc); err == nil && len(id) == len(l.layout) {
			return l.by, t, true
		}
	}
	return "", time.Time{}, false
}

// Timeline gathers entries, which are in the order of time, into the periods that they happened in, newest first. Days
// are those of loc. The texts of prompts, notes and compactions are all that is read.
func Timeline(entries []memory.Entry, sessions map[string]memory.Session, by By, loc *time.Location) []Period {
	at := map[string]int{}
	var out []Period
	for _, e := range entries {
		from, to, id := by.Start(e.Time.In(loc))
		i, ok := at[id]
		if !ok {
			i = len(out)
			at[id] = i
			out = append(out, Period{ID: id, From: from, To: to})
		}
		out[i].add(e, sessions[e.SessionID])
	}
	for i := range out {
		out[i].Lines = out[i].pick()
	}
	slices.SortStableFunc(out, func(a, b Period) int { return b.From.Compare(a.From) })
	return out
}

func (p *Period) add(e memory.Entry, s memory.Session) {
	i := slices.IndexFunc(p.Sessions, func(x Share) bool { return x.Session.ID == e.SessionID })
	if i < 0 {
		i = len(p.Sessions)
		s.ID = e.SessionID
		p.Sessions = append(p.Sessions, Share{Session: s, First: e.Time})
	}
	sh := &p.Sessions[i]
	sh.Last = e.Time
	sh.Entries++
	switch e.Kind {
	case memory.KindPrompt:
		sh.Turns++
	case memory.KindToolCall:
		sh.Tools++
	case memory.KindError:
		sh.Errors++
	}
	if e.Withdrawn {
		return
	}
	line := Line{e.ID, string(e.Kind), "", e.Time}
	switch e.Kind {
	case memory.KindPrompt:
		line.ID = fmt.Sprintf("%s:%d", e.SessionID, e.Turn)
	case memory.KindNote, memory.KindCompaction:
	default:
		return
	}
	if line.Text = lineOf(e.Text, maxLine); line.Text != "" {
		sh.Lines = append(sh.Lines, line)
	}
}

// Title is the client's own name of the session, else its first words.
func (s Share) Title() string {
	if s.Session.Title != "" {
		return clip(s.Session.Title, maxLine)
	}
	if s.Session.FirstPrompt != "" {
		return lineOf(s.Session.FirstPrompt, maxLine)
	}
	if len(s.Lines) > 0 {
		return s.Lines[0].Text
	}
	return ""
}

// value orders lines where there are too many: what somebody wrote to be remembered, then summaries, then prompts.
func (l Line) value() int {
	return map[string]int{"note": 0, "title": 1, "compaction": 2}[l.From] + map[bool]int{true: 3}[l.From == "prompt"]
}

// Picked are the lines of a session that say most, in the order of time: the last prompts rather than the first.
func (s Share) Picked() []Line { return best(s.Lines, linesPerSession) }

// pick gives each session its title, notes and summaries, the larger ones first, and prompts where there is room.
func (p *Period) pick() []Line {
	var all []Line
	bySize := slices.Clone(p.Sessions)
	slices.SortStableFunc(bySize, func(a, b Share) int { return cmp.Compare(b.Entries, a.Entries) })
	for _, s := range bySize {
		if title := s.Title(); title != "" {
			all = append(all, Line{s.Session.ID, "title", title, s.First})
		}
		for _, l := range s.Lines {
			if l.From != "prompt" || len(p.Sessions) == 1 && l.Text != s.Title() {
				all = append(all, l)
			}
		}
	}
	return best(all, linesPerPeriod)
}

func best(all []Line, n int) []Line {
	ranked := slices.Clone(all)
	if len(ranked) > n {
		slices.SortStableFunc(ranked, func(a, b Line) int { return cmp.Compare(a.value(), b.value()) })
		ranked = ranked[:n]
	}
	seen := map[string]bool{}
	ranked = slices.DeleteFunc(ranked, func(l Line) bool {
		key := strings.ToLower(l.Text)
		double := seen[key]
		seen[key] = true
		return double
	})
	slices.SortStableFunc(ranked, func(a, b Line) int { return a.Time.Compare(b.Time) })
	return ranked
}
