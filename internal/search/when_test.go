package search

import (
	"testing"
	"time"
)

// A Wednesday, in a zone an hour east of UTC.
var wednesday = time.Date(2026, 11, 18, 15, 30, 0, 0, time.FixedZone("", 3600))

func spanText(p Period) string {
	const layout = "2006-01-02 15:04"
	if p.From.IsZero() && p.To.IsZero() {
		return ""
	}
	out := ".."
	if !p.From.IsZero() {
		out = p.From.Format(layout) + out
	}
	if !p.To.IsZero() {
		out += p.To.Format(layout)
	}
	return out
}

func TestTakeWhen(t *testing.T) {
	for _, tt := range []struct{ in, rest, span string }{
		{"what did we decide about caching yesterday", "what did we decide about caching", "2026-11-17 00:00..2026-11-18 00:00"},
		{"yesterday's bug", "yesterday's bug", ""},
		{"auth bug last week", "auth bug", "2026-11-09 00:00..2026-11-16 00:00"},
		{"what broke this week?", "what broke", "2026-11-16 00:00..2026-11-23 00:00"},
		{"on monday we fixed the race", "we fixed the race", "2026-11-16 00:00..2026-11-17 00:00"},
		{"last wednesday", "", "2026-11-11 00:00..2026-11-12 00:00"},
		{"the parser in march", "the parser", "2026-03-01 00:00..2026-04-01 00:00"},
		{"parser in December", "parser", "2025-12-01 00:00..2026-01-01 00:00"},
		{"march of the tokens", "march of the tokens", ""},
		{"may I use it", "may I use it", ""},
		{"the sun may set", "the sun may set", ""},
		{"3 days ago the build failed", "the build failed", "2026-11-15 00:00..2026-11-16 00:00"},
		{"two weeks ago", "", "2026-11-02 00:00..2026-11-09 00:00"},
		{"errors in the last 3 days", "errors", "2026-11-15 15:30..2026-11-18 15:30"},
		{"in the past couple of weeks", "", "2026-11-04 15:30..2026-11-18 15:30"},
		{"since 2026-03-01", "", "2026-03-01 00:00.."},
		{"before march", "", "..2026-03-01 00:00"},
		{"after 14 March 2026", "", "2026-03-15 00:00.."},
		{"between march and may 2026 redis", "redis", "2026-03-01 00:00..2026-06-01 00:00"},
		{"from monday to today", "", "2026-11-16 00:00..2026-11-19 00:00"},
		{"March 14th, 2026 outage", "outage", "2026-03-14 00:00..2026-03-15 00:00"},
		{"the day before yesterday we merged", "we merged", "2026-11-16 00:00..2026-11-17 00:00"},
		{"last night", "", "2026-11-17 18:00..2026-11-18 06:00"},
		{"this morning's deploy", "this morning's deploy", ""},
		{"deploy this morning", "deploy", "2026-11-18 00:00..2026-11-18 12:00"},
		{"in 2025", "", "2025-01-01 00:00..2026-01-01 00:00"},
		{"port 2025 in use", "port 2025 in use", ""},
		{"last quarter", "", "2026-07-01 00:00..2026-10-01 00:00"},
		{"slow queries between 15 and 20 february 2026", "slow queries", "2026-02-15 00:00..2026-02-21 00:00"},
		{"between 5 and 10 retries", "between 5 and 10 retries", ""},
		{"31 february", "31 february", ""},
		{`"last week" in quotes`, `"last week" in quotes`, ""},
		{"2026-03-14T10:00:00Z", "", "2026-03-14 10:00..2026-03-14 10:00"},
		{"go 1.26 in the sun", "go 1.26 in the sun", ""},
	} {
		rest, when := TakeWhen(tt.in, wednesday)
		if got := spanText(Period{when.Since, when.Until}); rest != tt.rest || got != tt.span {
			t.Errorf("TakeWhen(%q) = %q, %q (%q); want %q, %q", tt.in, rest, got, when.Words, tt.rest, tt.span)
		}
	}
}

func TestTakeWhenEvents(t *testing.T) {
	for _, tt := range []struct {
		in, rest, event string
		side            int
	}{
		{"how did login work before the release", "how did login work", "the release", -1},
		{"what changed since we moved to postgres?", "what changed", "we moved to postgres?", 1},
		{"run lint before tests", "run lint before tests", "", 0},
		{"before the release last week", "before the release", "", 0},
	} {
		rest, when := TakeWhen(tt.in, wednesday)
		if rest != tt.rest || when.Event != tt.event || when.Side != tt.side {
			t.Errorf("TakeWhen(%q) = %q, %+v", tt.in, rest, when)
		}
	}
}

func FuzzTakeWhen(f *testing.F) {
	for _, s := range []string{"between march and", "since", `"`, "from monday to", "99999 years ago", "before the", "0 days ago", "last 0 weeks", "the the last week"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rest, when := TakeWhen(s, wednesday)
		if len(rest) > len(s)+2 {
			t.Errorf("TakeWhen(%q) made %q", s, rest)
		}
		if len(when.Words) == 0 && (!when.Since.IsZero() || !when.Until.IsZero()) {
			t.Errorf("a bound without words: %+v", when)
		}
	})
}
