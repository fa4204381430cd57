package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const timeForms = "RFC 3339, 2026-03-01, 2026-03, 36h, 7d, yesterday, last week, monday"

// period is what words about time name: an instant (from equals to), or a day, a month, …; to is exclusive.
type period struct{ from, to time.Time }

// parsePeriod reads what --since and --until take. Words and dates are of now's time zone.
func parsePeriod(s string, now time.Time) (period, error) {
	word := strings.Join(strings.Fields(strings.ToLower(s)), " ")
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(strings.TrimSpace(s))); err == nil {
		return period{t, t}, nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02t15:04", "2006-01-02t15:04:05"} {
		if t, err := time.ParseInLocation(strings.ToUpper(layout), strings.ToUpper(word), now.Location()); err == nil {
			return period{t, t}, nil
		}
	}
	for _, l := range []struct {
		layout              string
		years, months, days int
	}{{"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if t, err := time.ParseInLocation(l.layout, word, now.Location()); err == nil {
			return period{t, t.AddDate(l.years, l.months, l.days)}, nil
		}
	}
	if p, ok := namedPeriod(word, now); ok {
		return p, nil
	}
	if ago, ok := parseAge(strings.TrimSuffix(word, " ago"), now); ok {
		return period{ago, ago}, nil
	}
	return period{}, &usageError{fmt.Errorf("time %q is not understood", s), "use one of: " + timeForms}
}

func namedPeriod(word string, now time.Time) (period, bool) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	monday := today.AddDate(0, 0, -(int(now.Weekday())+6)%7)
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	year := time.Date(now.Year(), 1, 1, 0, 0, 0, 0, now.Location())
	switch word {
	case "now":
		return period{now, now}, true
	case "today":
		return period{today, today.AddDate(0, 0, 1)}, true
	case "yesterday":
		return period{today.AddDate(0, 0, -1), today}, true
	case "this week":
		return period{monday, monday.AddDate(0, 0, 7)}, true
	case "last week":
		return period{monday.AddDate(0, 0, -7), monday}, true
	case "this month":
		return period{month, month.AddDate(0, 1, 0)}, true
	case "last month":
		return period{month.AddDate(0, -1, 0), month}, true
	case "this year":
		return period{year, year.AddDate(1, 0, 0)}, true
	case "last year":
		return period{year.AddDate(-1, 0, 0), year}, true
	}
	day, last := strings.CutPrefix(word, "last ")
	for d := time.Sunday; d <= time.Saturday; d++ {
		name := strings.ToLower(d.String())
		if day != name && day != name[:3] {
			continue
		}
		back := (int(now.Weekday()) - int(d) + 7) % 7
		if last && back == 0 {
			back = 7
		}
		t := today.AddDate(0, 0, -back)
		return period{t, t.AddDate(0, 0, 1)}, true
	}
	return period{}, false
}

// parseAge reads a duration before now: 36h, 90m, 7d, 2w, "7 days".
func parseAge(s string, now time.Time) (time.Time, bool) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), true
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n > 100_000 {
		return time.Time{}, false
	}
	switch strings.TrimSpace(s[digits:]) {
	case "minute", "minutes", "min":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "hour", "hours":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "d", "day", "days":
		return now.AddDate(0, 0, -n), true
	case "w", "week", "weeks":
		return now.AddDate(0, 0, -7*n), true
	case "month", "months", "mo":
		return now.AddDate(0, -n, 0), true
	case "y", "year", "years":
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}

// jsonTime is a time as our JSON has it: RFC 3339, UTC, milliseconds; null when it is not known.
type jsonTime time.Time

func (t jsonTime) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return []byte(time.Time(t).UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// screenTime is a time as a person reads it, in the zone of now.
func screenTime(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(now.Location()).Format("2006-01-02 15:04")
}
