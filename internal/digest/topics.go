package digest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Topic is a subject that came back in several sessions of one project.
type Topic struct {
	Project     string
	Name        string // as it was written most often
	Sessions    int
	Turns       int
	First, Last time.Time
	LastID      string // SESSION:TURN where it was last alive
	Related     []Relation
	weight      float64
}

// Relation says how often two topics came together.
type Relation struct {
	Name  string
	Turns int // that speak of both
	Days  int // on which both were alive
}

const (
	minSessions = 2 // in fewer a subject does not come back
	maxRelated  = 5
)

// subject is what is counted of one term.
type subject struct {
	key      string
	forms    map[string]int
	sessions map[string]bool
	turns    map[string]bool // "session:turn"
	days     map[string]bool
	first    time.Time
	last     time.Time
	lastID   string
}

// Topics finds the subjects of entries, which are in the order of time: words and pairs of words that the user, titles,
// notes and summaries of sessions use in several sessions. Those of many sessions that not every session has come first;
// at most limit of all.
func Topics(entries []memory.Entry, sessions map[string]memory.Session, limit int) []Topic {
	projects := map[string]map[string]*subject{}
	count := map[string]map[string]bool{} // project → its sessions
	add := func(project, session string, turn int, at time.Time, text string) {
		if projects[project] == nil {
			projects[project], count[project] = map[string]*subject{}, map[string]bool{}
		}
		count[project][session] = true
		id, day := fmt.Sprintf("%s:%d", session, turn), at.Format(time.DateOnly)
		for key, form := range terms(text) {
			s := projects[project][key]
			if s == nil {
				s = &subject{key: key, forms: map[string]int{}, sessions: map[string]bool{}, turns: map[string]bool{}, days: map[string]bool{}, first: at}
				projects[project][key] = s
			}
			s.forms[form]++
			s.sessions[session], s.turns[id], s.days[day] = true, true, true
			s.last, s.lastID = at, id
		}
	}
	titled := map[string]bool{}
	for _, e := range entries {
		s := sessions[e.SessionID]
		project := cmp.Or(e.Project, s.Project)
		if !titled[e.SessionID] && s.Title != "" {
			titled[e.SessionID] = true
			add(project, e.SessionID, e.Turn, e.Time, s.Title)
		}
		switch e.Kind {
		case memory.KindPrompt, memory.KindNote, memory.KindCompaction:
			if !e.Withdrawn {
				add(project, e.SessionID, e.Turn, e.Time, e.Text)
			}
		}
	}
	var out []Topic
	for project, subjects := range projects {
		out = append(out, topicsOf(project, subjects, len(count[project]))...)
	}
	slices.SortFunc(out, func(a, b Topic) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), b.Last.Compare(a.Last), cmp.Compare(a.Project, b.Project), cmp.Compare(a.Name, b.Name))
	})
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}

func topicsOf(project string, all map[string]*subject, sessions int) []Topic {
	var kept []*subject
	pairs := inPairs(all)
	for _, s := range all {
		if len(s.sessions) >= minSessions && pairs[s.key]*10 < len(s.turns)*9 {
			kept = append(kept, s)
		}
	}
	slices.SortFunc(kept, func(a, b *subject) int {
		return cmp.Or(cmp.Compare(len(b.turns), len(a.turns)), cmp.Compare(a.key, b.key))
	})
	kept = kept[:min(len(kept), 400)] // relations are counted between all pairs
	turns := together(kept, func(s *subject) map[string]bool { return s.turns })
	days := together(kept, func(s *subject) map[string]bool { return s.days })
	names := make([]string, len(kept))
	for i, s := range kept {
		names[i] = s.name()
	}
	var out []Topic
	for i, s := range kept {
		// A word of every session says nothing of one.
		spread := math.Log(1+float64(sessions)/float64(len(s.sessions))) + 0.1
		t := Topic{
			Project: project, Name: names[i], Sessions: len(s.sessions), Turns: len(s.turns), First: s.first, Last: s.last, LastID: s.lastID,
			weight: float64(len(s.sessions)) * spread * math.Log(1+float64(len(s.turns))),
		}
		for j, o := range kept {
			if turns[i][j] > 1 && i != j && !part(s.key, o.key) {
				t.Related = append(t.Related, Relation{names[j], turns[i][j], days[i][j]})
			}
		}
		slices.SortFunc(t.Related, func(a, b Relation) int {
			return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(b.Days, a.Days), cmp.Compare(a.Name, b.Name))
		})
		t.Related = t.Related[:min(len(t.Related), maxRelated)]
		out = append(out, t)
	}
	return out
}

// inPairs gives for each word how many turns its most frequent pair has: a word that nearly always stands in one pair says
// less than that.
func inPairs(all map[string]*subject) map[string]int {
	out := map[string]int{}
	for key, s := range all {
		if words := strings.Fields(key); len(words) == 2 && len(s.sessions) >= minSessions {
			for _, w := range words {
				out[w] = max(out[w], len(s.turns))
			}
		}
	}
	return out
}

func part(a, b string) bool {
	return slices.Contains(strings.Fields(b), a) || slices.Contains(strings.Fields(a), b)
}

// together counts for every two subjects the turns, or days, that have both.
func together(kept []*subject, of func(*subject) map[string]bool) [][]int {
	at := map[string][]int{}
	counts := make([][]int, len(kept))
	for i, s := range kept {
		counts[i] = make([]int, len(kept))
		for id := range of(s) {
			at[id] = append(at[id], i)
		}
	}
	for _, here := range at {
		for _, i := range here {
			for _, j := range here {
				counts[i][j]++
			}
		}
	}
	return counts
}

// name is the spelling that was used most.
func (s *subject) name() string {
	best := ""
	for form, n := range s.forms {
		if best == "" || n > s.forms[best] || n == s.forms[best] && form < best {
			best = form
		}
	}
	return best
}

// terms gives the words and neighbouring pairs of words of a text that can be a subject: key → spelling.
func terms(text string) map[string]string {
	out := map[string]string{}
	for _, sentence := range sentences(text) {
		before, beforeKey := "", ""
		for _, w := range strings.FieldsFunc(sentence, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.' && r != '/'
		}) {
			w = strings.Trim(w, "-./_")
			key := stem(strings.ToLower(w))
			if len(key) < 3 || plainWords[key] || plainWords[strings.ToLower(w)] || strings.IndexFunc(key, unicode.IsLetter) < 0 || len(key) > 60 {
				before, beforeKey = "", ""
				continue
			}
			out[key] = w
			if before != "" {
				out[beforeKey+" "+key] = strings.ToLower(before + " " + w)
			}
			before, beforeKey = w, key
		}
	}
	return out
}

// stem makes one of singular and plural.
func stem(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		return w[:len(w)-1]
	}
	return w
}

// plainWords are words that are no subject: the language's own, and what is asked of every agent.
var plainWords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`
a about above add added adding after again against agent all also always am an and any anything are around as ask at away back be because been before being below
better between both but by call can cannot change changed check code come command continue copilot could create current did do does doing done dont down each edit else
error even ever every everything example explain fail failed few file find first fix fixed for from get give given go going good got great had has have having he help her here him his how
i if implement in instead into is issue it its itself just keep know last later left let lets like line list look made make makes making many may maybe me mean might more most much must my
need needs never new next no not nothing now of off ok okay on once one only open or other our out over own part per place please problem put question
read really remove rename result right run running said same say see seems set she should show since small so some something start started still stop such sure
take tell test text than thank thanks that the their them then there these they thing think this those though through time to together too try two
under understand until up update us use used user using very version want wants was way we well were what when where whether which while who whole why will with within without word work working works
would write wrong yes yet you your yours session project folder directory function method value name type data done todo summary`) {
		out[w], out[stem(w)] = true, true
	}
	return out
}()
