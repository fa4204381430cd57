package search

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Period is a stretch of time; To is excluded. A period that is an instant has both the same.
type Period struct{ From, To time.Time }

// When is what a question says about time.
type When struct {
	Since, Until time.Time // Until is excluded; zero: open
	Words        []string  // what was understood so, as typed, in order
	Event        string    // "the release" of "before the release": the caller knows when that was
	Side         int       // of the event: -1 before, 1 after it; 0 without an event
}

// TakeWhen takes what a question says about time out of it: relative words, weekdays, months, dates and ranges, in
// English, in the zone of now. What it does not understand stays a word of the question.
func TakeWhen(question string, now time.Time) (rest string, when When) {
	w := typed(question)
	kept := make([]bool, len(w))
	for i := range kept {
		kept[i] = true
	}
	for i := 0; i < len(w); {
		n, since, until, ok := timeAt(w[i:], now)
		if !ok {
			i++
			continue
		}
		when.narrow(since, until)
		when.Words = append(when.Words, strings.Join(w[i:i+n], " "))
		for j := i; j < i+n; j++ {
			kept[j] = false
		}
		i += n
	}
	if len(when.Words) == 0 {
		if i, side := eventAt(w); i >= 0 {
			when.Event, when.Side = strings.Join(w[i+1:], " "), side
			for j := i; j < len(w); j++ {
				kept[j] = false
			}
			when.Words = append(when.Words, strings.Join(w[i:], " "))
		}
	}
	var left []string
	for i, word := range w {
		if kept[i] {
			left = append(left, word)
		}
	}
	return strings.Join(left, " "), when
}

func (w *When) narrow(since, until time.Time) {
	if !since.IsZero() && since.After(w.Since) {
		w.Since = since
	}
	if !until.IsZero() && (w.Until.IsZero() || until.Before(w.Until)) {
		w.Until = until
	}
}

// typed are the words of a question as typed; what stands in quotes is one of them.
func typed(question string) []string {
	var out []string
	for i, piece := range strings.Split(question, `"`) {
		if i%2 == 1 {
			out = append(out, `"`+piece+`"`)
		} else {
			out = append(out, strings.Fields(piece)...)
		}
	}
	if strings.Count(question, `"`)%2 == 1 { // the last quote has no second one
		out = append(out[:len(out)-1], strings.Fields(strings.Trim(out[len(out)-1], `"`))...)
	}
	return out
}

func plain(word string) string { return strings.ToLower(strings.Trim(word, ".,;:!?()")) }

// timeAt reads an expression of time at the beginning of w: how many words it has, and what it bounds.
func timeAt(w []string, now time.Time) (n int, since, until time.Time, ok bool) {
	switch plain(w[0]) {
	case "since", "from", "after":
		if k, p, ok := periodAt(w[1:], now); ok {
			if plain(w[0]) == "after" {
				p.From = p.To
			}
			if k+2 < len(w) && slices.Contains([]string{"to", "until", "till", "through"}, plain(w[k+1])) {
				if k2, p2, ok := periodAt(w[k+2:], now); ok {
					return k + 2 + k2, p.From, p2.To, true
				}
			}
			return k + 1, p.From, time.Time{}, true
		}
	case "before", "until", "till":
		if k, p, ok := periodAt(w[1:], now); ok {
			if plain(w[0]) == "before" {
				p.To = p.From
			}
			return k + 1, time.Time{}, p.To, true
		}
	case "between":
		if n, since, until, ok := betweenDays(w, now); ok {
			return n, since, until, true
		}
		k, p, ok := periodAt(w[1:], now)
		if !ok || k+2 >= len(w) || plain(w[k+1]) != "and" {
			break
		}
		if k2, p2, ok := periodAt(w[k+2:], now); ok {
			return k + 2 + k2, p.From, p2.To, true
		}
	case "on", "in", "during", "within", "over":
		if k, p, ok := periodAt(w[1:], now); ok {
			return k + 1, p.From, p.To, true
		}
	}
	if k, p, ok := periodAt(w, now); ok && (k > 1 || !ambiguous[plain(w[0])]) {
		return k, p.From, p.To, true
	}
	return 0, time.Time{}, time.Time{}, false
}

// betweenDays reads "between 15 and 20 february": the first day is of the month of the second.
func betweenDays(w []string, now time.Time) (n int, since, until time.Time, ok bool) {
	if len(w) < 5 || plain(w[2]) != "and" || !slices.Contains([]int{1, 2}, len(plain(w[1]))) {
		return 0, since, until, false
	}
	k, last, ok := periodAt(w[3:], now)
	first, err := strconv.Atoi(plain(w[1]))
	if !ok || err != nil || k < 2 || first < 1 || first > last.From.Day() || last.To.Sub(last.From) > 25*time.Hour {
		return 0, since, until, false
	}
	return 3 + k, last.From.AddDate(0, 0, first-last.From.Day()), last.To, true
}

// ambiguous are the words that mean a time only with a word before them that says so: a month, a year, a weekday.
var ambiguous = func() map[string]bool {
	m := map[string]bool{"now": true}
	for name := range months {
		m[name] = true
	}
	for name := range weekdays {
		m[name] = len(name) == 3
	}
	for y := 1990; y < 2100; y++ {
		m[strconv.Itoa(y)] = true
	}
	return m
}()

var months = names(func(i int) string { return time.Month(i + 1).String() }, 12)

var weekdays = names(func(i int) string { return time.Weekday(i).String() }, 7)

// names are names in full and by their first three letters.
func names(name func(int) string, n int) map[string]int {
	m := map[string]int{}
	for i := range n {
		full := strings.ToLower(name(i))
		m[full], m[full[:3]] = i, i
	}
	return m
}

// periodAt reads a period at the beginning of w.
func periodAt(w []string, now time.Time) (n int, p Period, ok bool) {
	for len(w) > 0 && plain(w[0]) == "the" && len(w) > 1 && slices.Contains([]string{"last", "past", "day", "previous", "week", "month"}, plain(w[1])) {
		n, p, ok = periodAt(w[1:], now)
		return n + 1, p, ok
	}
	for n := min(5, len(w)); n > 0; n-- {
		parts := make([]string, n)
		for i, word := range w[:n] {
			parts[i] = plain(word)
		}
		if p, ok := ParsePeriod(strings.Join(parts, " "), now); ok {
			return n, p, true
		}
	}
	return 0, Period{}, false
}

var (
	ago      = regexp.MustCompile(`^(?:about |around )?(a|an|one|two|three|four|five|six|seven|ten|\d{1,5}) ?(minute|hour|day|week|month|year|quarter)s? ago$`)
	recent   = regexp.MustCompile(`^(?:last|past|previous) (one|two|three|four|five|six|seven|ten|few|couple|\d{1,5}) (minute|hour|day|week|month|year|quarter)s?$`)
	dayMonth = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]{3,9})(?: (\d{4}))?$`)
	monthDay = regexp.MustCompile(`^([a-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?(?: (\d{4}))?$`)
	inMonth  = regexp.MustCompile(`^(last |this )?([a-z]{3,9})(?: (\d{4}))?$`)
	short    = regexp.MustCompile(`^(\d{1,5})(m|h|d|w|mo|y)$`)
)

// ParsePeriod reads one period: a date or an instant (RFC 3339), a month, a year, a duration before now (36h, 7d), or
// words: yesterday, last week, monday, march 2026, 3 days ago, past two weeks. Words are of the zone of now.
func ParsePeriod(s string, now time.Time) (Period, bool) {
	s = strings.Join(strings.Fields(s), " ")
	if p, ok := written(s, now); ok {
		return p, true
	}
	s = strings.ToLower(strings.ReplaceAll(s, ",", ""))
	for _, read := range []func(string, time.Time) (Period, bool){named, weekday, relative, dated} {
		if p, ok := read(s, now); ok {
			return p, true
		}
	}
	return Period{}, false
}

// written reads dates in figures.
func written(s string, now time.Time) (Period, bool) {
	up := strings.ToUpper(s)
	if t, err := time.Parse(time.RFC3339, up); err == nil {
		return Period{t, t}, true
	}
	for _, l := range []struct {
		layout              string
		years, months, days int
	}{
		{"2006-01-02 15:04", 0, 0, 0},
		{"2006-01-02 15:04:05", 0, 0, 0},
		{"2006-01-02T15:04", 0, 0, 0},
		{"2006-01-02T15:04:05", 0, 0, 0},
		{"2006-01-02", 0, 0, 1},
		{"2006-01", 0, 1, 0},
		{"2006", 1, 0, 0},
	} {
		if t, err := time.ParseInLocation(l.layout, up, now.Location()); err == nil && t.Year() >= 1970 && t.Year() < 2200 {
			return Period{t, t.AddDate(l.years, l.months, l.days)}, true
		}
	}
	return Period{}, false
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// start is the first instant of the unit that t lies in.
func start(unit string, t time.Time) time.Time {
	day := midnight(t)
	switch unit {
	case "week":
		return day.AddDate(0, 0, -(int(t.Weekday())+6)%7)
	case "month":
		return day.AddDate(0, 0, 1-t.Day())
	case "quarter":
		return time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, t.Location())
	case "year":
		return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, t.Location())
	case "hour", "minute":
		return t
	}
	return day
}

// shift moves t by n units.
func shiftBy(t time.Time, unit string, n int) time.Time {
	switch unit {
	case "minute":
		return t.Add(time.Duration(n) * time.Minute)
	case "hour":
		return t.Add(time.Duration(n) * time.Hour)
	case "week":
		return t.AddDate(0, 0, 7*n)
	case "month":
		return t.AddDate(0, n, 0)
	case "quarter":
		return t.AddDate(0, 3*n, 0)
	case "year":
		return t.AddDate(n, 0, 0)
	}
	return t.AddDate(0, 0, n)
}

// named reads words that name a period: yesterday, this morning, last week.
func named(s string, now time.Time) (Period, bool) {
	today := midnight(now)
	hours := func(day, from, to int) Period {
		d := today.AddDate(0, 0, day)
		return Period{d.Add(time.Duration(from) * time.Hour), d.Add(time.Duration(to) * time.Hour)}
	}
	switch s {
	case "now":
		return Period{now, now}, true
	case "today":
		return Period{today, today.AddDate(0, 0, 1)}, true
	case "yesterday":
		return Period{today.AddDate(0, 0, -1), today}, true
	case "day before yesterday":
		return Period{today.AddDate(0, 0, -2), today.AddDate(0, 0, -1)}, true
	case "this morning":
		return hours(0, 0, 12), true
	case "this afternoon":
		return hours(0, 12, 18), true
	case "this evening", "tonight":
		return hours(0, 18, 24), true
	case "yesterday morning":
		return hours(-1, 0, 12), true
	case "yesterday afternoon":
		return hours(-1, 12, 18), true
	case "yesterday evening", "last night":
		return hours(-1, 18, 30), true
	case "recently", "lately":
		return Period{now.AddDate(0, 0, -14), now}, true
	}
	which, unit, ok := strings.Cut(s, " ")
	if !ok || !slices.Contains([]string{"day", "week", "month", "quarter", "year"}, unit) {
		return Period{}, false
	}
	from := start(unit, now)
	switch which {
	case "this":
		return Period{from, shiftBy(from, unit, 1)}, true
	case "last", "previous":
		return Period{shiftBy(from, unit, -1), from}, true
	case "past":
		return Period{shiftBy(now, unit, -1), now}, true
	}
	return Period{}, false
}

// weekday reads monday, last monday, this monday: the latest such day, today only without "last".
func weekday(s string, now time.Time) (Period, bool) {
	name, last := strings.CutPrefix(s, "last ")
	name = strings.TrimPrefix(name, "this ")
	d, ok := weekdays[name]
	if !ok {
		return Period{}, false
	}
	back := (int(now.Weekday()) - d + 7) % 7
	if last && back == 0 {
		back = 7
	}
	t := midnight(now).AddDate(0, 0, -back)
	return Period{t, t.AddDate(0, 0, 1)}, true
}

var numbers = map[string]int{"a": 1, "an": 1, "one": 1, "couple": 2, "two": 2, "three": 3, "few": 4, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}

func number(s string) int {
	if n, ok := numbers[s]; ok {
		return n
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0 // the expressions let digits only through
	}
	return n
}

// relative reads "3 days ago" (that day), "past two weeks" (until now), and 7d (since then).
func relative(s string, now time.Time) (Period, bool) {
	if m := ago.FindStringSubmatch(s); m != nil {
		then := shiftBy(now, m[2], -number(m[1]))
		if m[2] == "minute" || m[2] == "hour" {
			return Period{shiftBy(then, m[2], -1), shiftBy(then, m[2], 1)}, true
		}
		from := start(m[2], then)
		return Period{from, shiftBy(from, m[2], 1)}, true
	}
	if m := recent.FindStringSubmatch(strings.Replace(s, "couple of", "couple", 1)); m != nil {
		return Period{shiftBy(now, m[2], -number(m[1])), now}, true
	}
	if m := short.FindStringSubmatch(s); m != nil {
		unit := map[string]string{"m": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year"}[m[2]]
		return Period{shiftBy(now, unit, -number(m[1])), now}, true
	}
	return Period{}, false
}

// dated reads 14 march, march 14th 2026, march 2026, last march. Without a year it is the latest that was.
func dated(s string, now time.Time) (Period, bool) {
	if m := dayMonth.FindStringSubmatch(s); m != nil {
		return day(m[1], m[2], m[3], now)
	}
	if m := monthDay.FindStringSubmatch(s); m != nil {
		if p, ok := day(m[2], m[1], m[3], now); ok {
			return p, true
		}
	}
	m := inMonth.FindStringSubmatch(s)
	if m == nil {
		return Period{}, false
	}
	month, ok := months[m[2]]
	if !ok {
		return Period{}, false
	}
	year := now.Year()
	if m[3] != "" {
		year = number(m[3])
	}
	from := time.Date(year, time.Month(month+1), 1, 0, 0, 0, 0, now.Location())
	if m[3] == "" && (from.After(now) || m[1] == "last " && from.AddDate(0, 1, 0).After(now)) {
		from = from.AddDate(-1, 0, 0)
	}
	return Period{from, from.AddDate(0, 1, 0)}, true
}

func day(d, month, year string, now time.Time) (Period, bool) {
	m, ok := months[month]
	n := number(d)
	if !ok || n < 1 || n > 31 {
		return Period{}, false
	}
	y := now.Year()
	if year != "" {
		y = number(year)
	}
	from := time.Date(y, time.Month(m+1), n, 0, 0, 0, 0, now.Location())
	if from.Day() != n {
		return Period{}, false // 31 February
	}
	if year == "" && from.After(now) {
		from = from.AddDate(-1, 0, 0)
	}
	return Period{from, from.AddDate(0, 0, 1)}, true
}

// eventAt finds "before the release" and the like at the end of a question: the place of the word, and the side.
func eventAt(w []string) (int, int) {
	for i := len(w) - 2; i >= 0; i-- {
		next := plain(w[i+1])
		if next != "the" && next != "our" && next != "we" && next != "i" || i+2 >= len(w) || len(w)-i > 7 {
			continue
		}
		switch plain(w[i]) {
		case "before", "until":
			return i, -1
		case "after", "since":
			return i, 1
		}
	}
	return -1, 0
}
