package digest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

var t0 = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

func entry(id, session string, kind memory.Kind, turn int, after time.Duration, text string) memory.Entry {
	return memory.Entry{ID: id, SessionID: session, Kind: kind, Turn: turn, Time: t0.Add(after), Text: text, Project: "github.com/acme/app"}
}

func TestDecisions(t *testing.T) {
	for text, want := range map[string]string{
		"Let's use SQLite for this.":                             "chose",
		"We'll go with the second option":                        "chose",
		"I decided to keep the old API.":                         "chose",
		"use tabs instead of spaces":                             "chose",
		"From now on, run the linter first.":                     "chose",
		"Never push to main.":                                    "chose",
		"I prefer short names over long ones":                    "chose",
		"No, keep the function.":                                 "overrode",
		"no don't do that":                                       "overrode",
		"Actually, leave the file alone":                         "overrode",
		"That's wrong. The limit is 20.":                         "overrode",
		"revert the last change":                                 "overrode",
		"Should we use SQLite instead of files?":                 "",
		"would you rather go with the first":                     "",
		"No idea why this fails":                                 "",
		"Add a test for the parser.":                             "",
		"why does the build fail":                                "",
		"```\nno, use this instead\n```\nexplain the code above": "",
		"> no, use that instead\nexplain the quote":              "",
		"Nobody uses this. Stopwatch works.":                     "",
	} {
		got := ""
		if found := Decisions([]memory.Entry{entry("a", "s", memory.KindPrompt, 1, 0, text)}); len(found) > 0 {
			got = found[0].Rule
			if !strings.Contains(text, found[0].Quote) {
				t.Errorf("%q: the quote %q is not the user's", text, found[0].Quote)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	refused := entry("r", "s", memory.KindToolResult, 2, 0, "")
	refused.Tool, refused.ToolInput, refused.ResultType = "bash", []byte(`{"command":"rm -r build"}`), "denied"
	asked := entry("q", "s", memory.KindToolResult, 3, 0, "Postgres")
	asked.Tool, asked.ToolInput = "ask_user", []byte(`{"question":"Which database?"}`)
	withdrawn := entry("w", "s", memory.KindPrompt, 4, 0, "no, stop")
	withdrawn.Withdrawn = true
	inner := entry("i", "s", memory.KindPrompt, 4, 0, "let's use that")
	inner.AgentID = "agent"
	answer := entry("m", "s", memory.KindResponse, 4, 0, "No, use that instead.")
	var got []string
	for _, d := range Decisions([]memory.Entry{refused, asked, withdrawn, inner, answer}) {
		got = append(got, d.Entry.ID+" "+d.Rule+" "+d.Quote)
	}
	want := []string{`r rejected bash {"command":"rm -r build"}`, "q answered Which database? → Postgres"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

func TestPeriods(t *testing.T) {
	newYear := time.Date(2027, 1, 1, 10, 0, 0, 0, time.UTC)
	for by, want := range map[By]string{ByDay: "2027-01-01", ByWeek: "2026-W53", ByMonth: "2027-01", ByYear: "2027"} {
		from, to, id := by.Start(newYear)
		if id != want || newYear.Before(from) || !newYear.Before(to) {
			t.Errorf("%s: %s from %v to %v", by, id, from, to)
		}
		back, start, ok := ParsePeriod(id, time.UTC)
		if !ok || back != by || !start.Equal(from) {
			t.Errorf("ParsePeriod(%s) = %s, %v, %v", id, back, start, ok)
		}
	}
	for _, id := range []string{"", "2026-13", "2026-W00", "2025-W53", "20261120", "2026-11-20x", "26", "11111111", "2026-W5", "abcd"} {
		if by, _, ok := ParsePeriod(id, time.UTC); ok {
			t.Errorf("%q is a %s", id, by)
		}
	}
}

func TestTimeline(t *testing.T) {
	sessions := map[string]memory.Session{
		"s1": {ID: "s1", Title: "Mend the parser"},
		"s2": {ID: "s2", FirstPrompt: "write the docs. They are old."},
	}
	late := time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC).Sub(t0)
	withdrawn := entry("w", "s1", memory.KindPrompt, 3, 3*time.Minute, "never mind")
	withdrawn.Withdrawn = true
	all := []memory.Entry{
		entry("a", "s1", memory.KindPrompt, 1, 0, "# Mend it\nmend the parser, it drops lines. Then test."),
		entry("b", "s1", memory.KindToolCall, 1, time.Minute, ""),
		entry("c", "s1", memory.KindCompaction, 1, 2*time.Minute, "The parser was mended. Tests pass."),
		withdrawn,
		entry("d", "s2", memory.KindPrompt, 1, 5*time.Minute, "write the docs. They are old."),
		entry("e", "s2", memory.KindNote, 1, 6*time.Minute, "docs live in docs/"),
		entry("f", "s1", memory.KindPrompt, 4, late, "next day in Berlin"),
	}
	berlin := time.FixedZone("CET", 3600)
	days := Timeline(all, sessions, ByDay, berlin)
	if len(days) != 2 || days[0].ID != "2026-11-21" || days[1].ID != "2026-11-20" {
		t.Fatalf("days: %+v", days)
	}
	want := []Line{
		{"s1", "title", "Mend the parser", t0},
		{"c", "compaction", "The parser was mended.", t0.Add(2 * time.Minute)},
		{"s2", "title", "write the docs.", t0.Add(5 * time.Minute)},
		{"e", "note", "docs live in docs/", t0.Add(6 * time.Minute)},
	}
	if diff := cmp.Diff(want, days[1].Lines); diff != "" {
		t.Errorf("lines of the day (-want +got):\n%s", diff)
	}
	s1 := days[1].Sessions[0]
	if s1.Turns != 2 || s1.Tools != 1 || s1.Entries != 4 {
		t.Errorf("share of s1: %+v", s1)
	}
	if diff := cmp.Diff([]Line{{"s1:1", "prompt", "Mend it", t0}, {"c", "compaction", "The parser was mended.", t0.Add(2 * time.Minute)}}, s1.Picked()); diff != "" {
		t.Errorf("lines of s1 (-want +got):\n%s", diff)
	}
	if years := Timeline(all, sessions, ByYear, berlin); len(years) != 1 || len(years[0].Sessions) != 2 || years[0].ID != "2026" {
		t.Errorf("years: %+v", years)
	}
	if got := Timeline(nil, nil, ByWeek, berlin); len(got) != 0 {
		t.Errorf("nothing: %+v", got)
	}
}

func TestTimelinePicksWhatSaysMost(t *testing.T) {
	var all []memory.Entry
	for i := range 40 {
		all = append(all, entry(fmt.Sprint("p", i), "s", memory.KindPrompt, i+1, time.Duration(i)*time.Minute, fmt.Sprintf("prompt number %d", i)))
	}
	all = append(all, entry("n", "s", memory.KindNote, 40, time.Hour, "a note"), entry("c", "s", memory.KindCompaction, 40, 2*time.Hour, "a summary"))
	picked := Timeline(all, nil, ByDay, time.UTC)[0].Sessions[0].Picked()
	got := map[string]bool{}
	for _, l := range picked {
		got[l.ID] = true
	}
	if len(picked) != linesPerSession || !got["n"] || !got["c"] {
		t.Errorf("picked: %+v", picked)
	}
}

func TestTopics(t *testing.T) {
	var all []memory.Entry
	sessions := map[string]memory.Session{}
	texts := []string{
		"mend the signing keys of the release pipeline", "the release pipeline fails again on signing keys", "show the weather widget",
		"rotate the Signing Key in the release pipeline", "weather widgets need icons",
	}
	for i, text := range texts {
		id := fmt.Sprint("s", i)
		sessions[id] = memory.Session{ID: id, Project: "github.com/acme/app"}
		all = append(all, entry(fmt.Sprint("e", i), id, memory.KindPrompt, 1, time.Duration(i)*24*time.Hour, text))
	}
	all = append(all, entry("other", "s4", memory.KindResponse, 1, time.Hour*200, "signing keys signing keys"))
	topics := Topics(all, sessions, 0)
	byName := map[string]Topic{}
	for _, topic := range topics {
		byName[topic.Name] = topic
	}
	keys, ok := byName["signing keys"]
	if !ok || keys.Sessions != 3 || keys.Turns != 3 || keys.LastID != "s3:1" || !keys.First.Equal(t0) || !keys.Last.Equal(t0.AddDate(0, 0, 3)) {
		t.Errorf("signing keys: %+v in %+v", keys, topics)
	}
	if len(keys.Related) == 0 || keys.Related[0] != (Relation{"release pipeline", 3, 3}) {
		t.Errorf("related: %+v", keys.Related)
	}
	if _, ok := byName["weather widgets"]; !ok && byName["weather widget"].Sessions != 2 {
		t.Errorf("singular and plural are two: %+v", topics)
	}
	for _, name := range []string{"the", "signing", "keys", "mend", "rotate", "icons"} {
		if topic, ok := byName[name]; ok {
			t.Errorf("%s is a topic: %+v", name, topic)
		}
	}
	if got := Topics(all, sessions, 1); len(got) != 1 || got[0].Name != topics[0].Name {
		t.Errorf("limit: %+v", got)
	}
	again := Topics(all, sessions, 0)
	if diff := cmp.Diff(topics, again, cmp.AllowUnexported(Topic{})); diff != "" {
		t.Errorf("another order the second time:\n%s", diff)
	}
}

func FuzzSentences(f *testing.F) {
	f.Add("First. Second! e.g. third? 3. four\n```\ncode\n```\n> quote\n- item")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range sentences(text) {
			if s == "" || strings.ContainsAny(s, "\n") || !strings.Contains(text, s) {
				t.Errorf("%q is no sentence of %q", s, text)
			}
		}
		for _, n := range []int{1, 20} {
			if got := []rune(lineOf(text, n)); len(got) > n {
				t.Errorf("lineOf(%q, %d) has %d characters", text, n, len(got))
			}
		}
		for key := range terms(text) {
			if strings.TrimSpace(key) == "" {
				t.Errorf("an empty term in %q", text)
			}
		}
		Decisions([]memory.Entry{{Kind: memory.KindPrompt, Text: text}})
	})
}

func BenchmarkTopics(b *testing.B) {
	words := strings.Fields("parser lexer token index store schema migration backup restore widget icon colour layout button client session transcript hook policy rule plugin bundle archive")
	var all []memory.Entry
	sessions := map[string]memory.Session{}
	for i := range 5000 {
		id := fmt.Sprint("s", i/10)
		sessions[id] = memory.Session{ID: id}
		text := ""
		for j := range 30 {
			text += words[(i*7+j*j)%len(words)] + fmt.Sprint(" of", (i+j)%9, " ")
		}
		all = append(all, entry(fmt.Sprint(i), id, memory.KindPrompt, i%10, time.Duration(i)*time.Minute, text))
	}
	for b.Loop() {
		Topics(all, sessions, 30)
	}
}
