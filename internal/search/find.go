// Package search answers which memories fit a question, in what order, and why.
// It neither stores nor reads: the index is the caller's.
package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/index"
	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Source is what a search asks of a store.
type Source interface {
	// Find returns the entries that hold the terms of x and pass the filters of q, the best first, each with its hit.
	Find(ctx context.Context, q memory.Query, x index.Query) ([]memory.Entry, []index.Hit, error)
	// Words returns words of the index: those that begin so, or with near those that a slip of the keyboard makes of word.
	Words(ctx context.Context, word string, near bool, limit int) ([]index.WordCount, error)
	// Newest returns the newest entries that pass the filters.
	Newest(ctx context.Context, q memory.Query) ([]memory.Hit, error)
}

// Question is what somebody wants to know.
type Question struct {
	memory.Query
	Now     time.Time // "yesterday" is before this; in the asker's zone
	Explain bool
}

// Answer is what was found, and how.
type Answer struct {
	Hits  []memory.Hit
	When  When     // what was understood as time
	Steps []string // what was tried, in order; filled when asked for
}

// Settings are the weights of the stages. [Standard] are those that were measured best.
type Settings struct {
	Near, After   []float32 // of the entries before and after
	Session       float32   // of the session
	Parts         float32   // of the parts of a compound word
	Guess         float32   // of a word that was guessed
	Alike         float32   // of a word that means about the same
	Phrase        float32   // gained by the words side by side, as part of the score
	Coverage      float32   // how much a hit without some of the words loses
	Recency       float32   // gained by what is new
	Worth         bool      // kinds of entries count differently
	Times         bool      // time words are filters
	Turns         bool      // one hit for each turn
	TurnShare     float32   // what the further hits of a turn add to it
	KeepStopWords bool
}

// Standard are the settings of the command line, MCP and recall.
var Standard = Settings{
	Near: []float32{0.4, 0.15}, After: []float32{0.3, 0.15}, Session: 0.3, Parts: 0.5, Guess: 0.5, Alike: 0.3, Phrase: 0.25, Coverage: 0.3, Recency: 0.05,
	Worth: true, Times: true, Turns: true, TurnShare: 0.1,
}

const (
	noteFirst = 4.0
	takenBack = 0.4
)

const defaultLimit = 20

// candidates is how many entries are asked of the index for a search; of those with a phrase there may be few.
const (
	candidates       = 120
	phraseCandidates = 1000
)

// Find answers a question. An empty one gives the newest entries.
func Find(ctx context.Context, src Source, q Question, set Settings) (Answer, error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	s := asking{Question: q, Settings: set, src: src}
	text := q.Text
	if set.Times {
		if err := s.when(ctx, &text); err != nil {
			return s.answer, err
		}
	}
	terms := parseWords(text, set.KeepStopWords)
	if len(terms) == 0 || s.bounded() && onlyStopWords(terms) {
		return s.newest(ctx)
	}
	// A few words are meant as they are; a question is asked in other words than the answer was given in.
	question := len(terms) >= questionWords
	if err := s.try(ctx, terms, question); err != nil {
		return s.answer, err
	}
	if len(s.answer.Hits) == 0 && !question {
		if err := s.try(ctx, terms, true); err != nil {
			return s.answer, err
		}
	}
	return s.answer, s.fill(ctx)
}

// questionWords is from how many words on a query is taken for a question: then words that mean about the same count too,
// and what stands beside a hit is one, even without any of the words.
const questionWords = 3

// try asks the index once, and ranks what it found.
func (s *asking) try(ctx context.Context, terms []term, loose bool) error {
	ask, err := s.ask(ctx, terms, loose)
	if err != nil || len(ask.Terms) == 0 {
		return err
	}
	entries, hits, err := s.src.Find(ctx, s.Query, ask)
	if err != nil {
		return err
	}
	s.step("index: %d candidates for %s", len(hits), termList(ask.Terms))
	keep := 0
	for i, h := range hits {
		if (h.Groups != 0 || loose) && holdsPhrases(entries[i], terms) {
			entries[keep], hits[keep] = entries[i], h
			keep++
		}
	}
	s.rank(entries[:keep], hits[:keep], terms)
	return nil
}

// holdsPhrases reports whether every quoted phrase of the terms stands in the entry, word by word.
func holdsPhrases(e memory.Entry, terms []term) bool {
	for _, t := range terms {
		if t.quoted && len(t.parts) > 1 && !holdsPhrase(e.Text, t.parts) && !holdsPhrase(string(e.ToolInput), t.parts) {
			return false
		}
	}
	return true
}

func holdsPhrase(text string, parts []string) bool {
	found := false
	var last []string
	words(text, func(w word) {
		for _, p := range w.parts {
			if last = append(last, p); len(last) > len(parts) {
				last = last[1:]
			}
			found = found || slices.Equal(last, parts)
		}
	})
	return found
}

// bounded reports whether the question said something about time.
func (s *asking) bounded() bool { return len(s.answer.When.Words) > 0 }

func onlyStopWords(terms []term) bool {
	return !slices.ContainsFunc(terms, func(t term) bool { return t.quoted || !stopWords[strings.ToLower(t.text)] })
}

// fill adds what else there was in the time that the question speaks of: whoever says a day remembers the day rather
// than the words.
func (s *asking) fill(ctx context.Context) error {
	if !s.bounded() || len(s.answer.Hits) >= s.Limit {
		return nil
	}
	q := s.Query
	q.Limit = s.Limit
	if q.Kind == "" {
		q.Kind = memory.KindPrompt
	}
	rest, err := s.src.Newest(ctx, q)
	if err != nil {
		return err
	}
	have := map[turnKey]bool{}
	for _, h := range s.answer.Hits {
		have[turnOf(h.Entry)] = true
	}
	for _, h := range rest {
		if key := turnOf(h.Entry); !have[key] && len(s.answer.Hits) < s.Limit {
			have[key] = true
			h.Snippet = snippet(h.Entry, nil)
			if s.Explain {
				h.Reasons = []string{"in that time"}
			}
			s.answer.Hits = append(s.answer.Hits, h)
		}
	}
	return nil
}

type turnKey struct {
	session string
	number  int
}

func turnOf(e memory.Entry) turnKey { return turnKey{e.SessionID, e.Turn} }

// asking is one search.
type asking struct {
	Question
	Settings
	src    Source
	answer Answer
}

func (s *asking) step(format string, args ...any) {
	if s.Explain {
		s.answer.Steps = append(s.answer.Steps, fmt.Sprintf(format, args...))
	}
}

// when takes the words about time out of the text and makes them filters.
func (s *asking) when(ctx context.Context, text *string) error {
	rest, when := TakeWhen(*text, s.Now)
	if len(when.Words) == 0 || (!s.Query.Since.IsZero() || !s.Query.Until.IsZero()) {
		return nil
	}
	if when.Event != "" {
		at, ok, err := s.event(ctx, when.Event)
		if err != nil || !ok {
			return err // the words stay words
		}
		if when.Side < 0 {
			when.Until = at
		} else {
			when.Since = at
		}
		s.step("time: %q is %s", when.Event, at.Format("2006-01-02 15:04"))
	}
	*text, s.answer.When = rest, when
	s.Query.Since, s.Query.Until = when.Since, when.Until
	s.step("time: %s", strings.Join(when.Words, ", "))
	return nil
}

// event is when something was, by the best entry that speaks of it.
func (s *asking) event(ctx context.Context, words string) (time.Time, bool, error) {
	q := s.Question
	q.Text, q.Limit, q.Explain = words, 1, false
	set := s.Settings
	set.Times = false
	a, err := Find(ctx, s.src, q, set)
	if err != nil || len(a.Hits) == 0 {
		return time.Time{}, false, err
	}
	return a.Hits[0].Time, true, nil
}

// ask makes the terms of the index. A word that the index does not know is guessed: as a beginning, then as a slip.
func (s *asking) ask(ctx context.Context, terms []term, loose bool) (index.Query, error) {
	a := index.Query{Near: s.Near, After: s.After, Session: s.Session, Limit: max(candidates, 3*s.Limit)}
	if slices.ContainsFunc(terms, func(t term) bool { return t.quoted }) {
		a.Limit = max(a.Limit, phraseCandidates)
	}
	seen := map[string]bool{}
	add := func(word string, weight float32, group int) {
		if word = Stem(word); !seen[word] {
			seen[word] = true
			a.Terms = append(a.Terms, index.Term{Word: word, Weight: weight, Group: uint8(group)})
		}
	}
	for g, t := range terms {
		if len(t.parts) == 1 && !t.quoted {
			if err := s.single(ctx, t.parts[0], g, add); err != nil {
				return a, err
			}
			continue
		}
		if !t.quoted {
			for _, alternative := range t.alternatives {
				if !strings.Contains(alternative, " ") {
					add(alternative, 1, g)
				}
			}
		}
		for _, p := range t.parts {
			if !stopWords[p] || t.quoted {
				add(p, s.Parts, g)
			}
		}
	}
	if s.Alike > 0 && loose {
		for g, t := range terms {
			if len(t.parts) == 1 && !t.quoted {
				for _, w := range alike()[Stem(t.parts[0])] {
					add(w, s.Alike, g)
				}
			}
		}
	}
	return a, nil
}

func (s *asking) single(ctx context.Context, word string, group int, add func(string, float32, int)) error {
	stem := Stem(word)
	known, err := s.src.Words(ctx, stem, false, 6)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(w index.WordCount) bool { return w.Word == stem }) {
		add(word, 1, group)
		return nil
	}
	how := "beginning of"
	if len(known) == 0 && len(word) >= 4 {
		how = "slip for"
		if known, err = s.src.Words(ctx, stem, true, 3); err != nil {
			return err
		}
	}
	if len(stem) < 3 {
		known = nil
	}
	for _, w := range known {
		s.step("words: %q is not known, taken as %s %q", word, how, w.Word)
		add(w.Word, s.Guess, group)
	}
	if len(known) == 0 {
		s.step("words: %q is not known", word)
	}
	return nil
}

func (s *asking) newest(ctx context.Context) (Answer, error) {
	if strings.TrimSpace(s.Text) != "" && !s.bounded() {
		return s.answer, nil // marks only
	}
	hits, err := s.src.Newest(ctx, s.Query)
	for i := range hits {
		hits[i].Snippet = snippet(hits[i].Entry, nil)
	}
	s.answer.Hits = hits
	s.step("no words: the newest entries")
	return s.answer, err
}

func termList(terms []index.Term) string {
	var out []string
	for _, t := range terms {
		out = append(out, t.Word)
	}
	return strings.Join(out, " ")
}

// scored is an entry with its factors.
type scored struct {
	memory.Entry
	score   float32
	reasons []string
}

// rank makes hits of what the index found.
func (s *asking) rank(entries []memory.Entry, hits []index.Hit, terms []term) {
	all := make([]scored, len(hits))
	for i, h := range hits {
		all[i] = s.score(entries[i], h, terms)
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID))
	})
	all = s.foldSame(all)
	if s.Turns {
		all = s.foldTurns(all)
	}
	for _, x := range all[:min(len(all), s.Limit)] {
		h := memory.Hit{Entry: x.Entry, Score: math.Round(float64(x.score)*1e4) / 1e4}
		h.Snippet = snippet(x.Entry, terms)
		if s.Explain {
			h.Reasons = x.reasons
		}
		s.answer.Hits = append(s.answer.Hits, h)
	}
}

// score applies the factors that the index does not know.
func (s *asking) score(e memory.Entry, x index.Hit, terms []term) scored {
	out := scored{Entry: e, score: x.Score}
	why := func(format string, args ...any) {
		if s.Explain {
			out.reasons = append(out.reasons, fmt.Sprintf(format, args...))
		}
	}
	why("bm25 %.2f, neighbours %.2f, session %.2f", x.Own, x.Near, x.Session)
	times := func(factor float32, name string) {
		if factor != 1 {
			out.score *= factor
			why("%s ×%.2f", name, factor)
		}
	}
	have := 0
	for g := range terms {
		if x.Groups&(1<<(g&31)) != 0 {
			have++
		}
	}
	if len(terms) > 1 {
		times(1-s.Coverage*(1-float32(have)/float32(len(terms))), fmt.Sprintf("%d of %d words", have, len(terms)))
	}
	if s.Phrase > 0 && len(terms) > 1 && have > 1 {
		times(1+s.Phrase*adjacent(e, terms), "words side by side")
	}
	if w, ok := worth[e.Kind]; ok && s.Worth {
		times(float32(w), string(e.Kind))
	}
	// What somebody wrote to be remembered comes before what only happened.
	if e.Kind == memory.KindNote && have == len(terms) && s.Worth {
		times(noteFirst, "a note with all words")
	}
	if s.Recency > 0 {
		times(1+s.Recency*float32(math.Exp(-age(e, s.Now)/30)), "recency")
	}
	if e.Withdrawn {
		times(takenBack, "taken back by the user")
	}
	return out
}

// adjacent is which part of the neighbouring words of a question stand side by side in the entry.
func adjacent(e memory.Entry, terms []term) float32 {
	text := strings.ToLower(cut(e.Text))
	if len(e.ToolInput) > 0 {
		text += "\n" + strings.ToLower(cut(string(e.ToolInput)))
	}
	n := 0
	for i := range len(terms) - 1 {
		if strings.Contains(text, strings.ToLower(terms[i].text+" "+terms[i+1].text)) {
			n++
		}
	}
	return float32(n) / float32(len(terms)-1)
}

// foldSame leaves one entry of those that say the same in one session.
func (s *asking) foldSame(all []scored) []scored {
	at := map[string]int{}
	out := all[:0:0]
	for _, x := range all {
		key := x.SessionID + "\x00" + x.Tool + "\x00" + string(x.ToolInput) + "\x00" + strings.TrimSpace(x.Text)
		if i, ok := at[key]; ok {
			if out[i].Withdrawn && !x.Withdrawn || out[i].Withdrawn == x.Withdrawn && order(x.Kind) < order(out[i].Kind) {
				x.score, x.reasons = out[i].score, out[i].reasons
				out[i] = x
			}
			continue
		}
		at[key] = len(out)
		out = append(out, x)
	}
	return out
}

// foldTurns leaves the best entry of each turn; the others lift it a little.
func (s *asking) foldTurns(all []scored) []scored {
	at := map[turnKey]int{}
	out := all[:0:0]
	for _, x := range all {
		key := turnOf(x.Entry)
		i, ok := at[key]
		if !ok || x.Kind == memory.KindNote {
			at[key] = len(out)
			out = append(out, x)
			continue
		}
		score := out[i].score + s.TurnShare*x.score
		if out[i].Withdrawn && !x.Withdrawn {
			out[i] = x // what counts stands for the turn
		}
		out[i].score = score
		if s.Explain {
			out[i].reasons = append(out[i].reasons, fmt.Sprintf("also in this turn: %s %s", x.Kind, x.ID))
		}
	}
	slices.SortStableFunc(out, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	return out
}
