package recall

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/digest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
)

const (
	maxKeywords = 24
	// candidates are read and judged; maxHits of them are told.
	candidates = 30
	maxHits    = 4
	// halfLife is the age at which an entry counts half of what a new one does; it orders and never lets through.
	halfLife = 90 * 24 * time.Hour
)

// common is how many of all entries may hold a word that still tells one from another; rare, one that tells a subject.
func common(all int) int { return max(400, all/20) }
func rare(all int) int   { return max(100, all/100) }

// hit is an entry that touches what is asked.
type hit struct {
	memory.Entry
	score    float64 // share of the words, by their rarity
	words    uint32  // which of the keywords, as bits
	decision bool
	quote    string
}

// term is a keyword with what it is worth.
type term struct {
	search.Keyword
	docs   int
	weight float64
	bit    uint32
	rare   bool
}

// about adds what touches the prompt, and gives what it added.
func (d deciding) about(p *page) (told []hit, err error) {
	hits, err := d.relevant(d.m.Prompt)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		if p.add("About this prompt:", d.line(h), Item{h.ID, math.Round(h.score*100) / 100, "touches the prompt"}) {
			told = append(told, h)
		}
	}
	return told, nil
}

// repeats reports whether an entry is a request that tells nothing: a question, or the one that is made again now.
func (h hit) repeats(text string) bool {
	if h.Kind != memory.KindPrompt || h.decision {
		return false
	}
	if strings.HasSuffix(strings.TrimSpace(h.Text), "?") {
		return true
	}
	asked := map[string]bool{}
	for _, k := range search.Keywords(text, maxKeywords) {
		asked[strings.ToLower(k.Text)] = true
	}
	for _, k := range search.Keywords(h.Text, maxKeywords) {
		if !asked[strings.ToLower(k.Text)] {
			return false
		}
	}
	return true
}

// answered is the answer to a request, which tells more than the request; none where there was none.
func (d deciding) answered(h hit) (hit, error) {
	after, err := d.store.After(d.ctx, h.SessionID, h.Time, passWithin)
	if err != nil {
		return hit{}, err
	}
	question := h.Text
	h.Entry = memory.Entry{}
	for _, e := range after {
		if e.Kind == memory.KindPrompt && e.Text != question {
			break
		}
		if e.Kind == memory.KindResponse && e.AgentID == "" && strings.TrimSpace(e.Text) != "" {
			h.Entry = e
		}
	}
	return h, nil
}

func (d deciding) line(h hit) string {
	switch {
	case h.Kind == memory.KindNote:
		return d.origin(h.Entry) + noteKind(h.Entry) + ": " + quote(h.Text, 80)
	case h.decision:
		return d.origin(h.Entry) + "the user decided: " + quote(h.quote, 60)
	case h.Kind == memory.KindPrompt:
		return d.origin(h.Entry) + "the user asked: " + quote(h.quote, 50)
	case h.Kind == memory.KindCompaction:
		return d.origin(h.Entry) + "a session's summary: " + quote(h.quote, 60)
	}
	return d.origin(h.Entry) + "the agent answered: " + quote(h.quote, 60)
}

// noteKind is what the user said that a note is.
func noteKind(e memory.Entry) string {
	var a struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(e.ToolInput, &a) != nil || a.Kind == "" {
		return "note"
	}
	return plain(a.Kind)
}

// relevant finds what was said about the same before, best first. The words are weighed by their rarity, and only rows with
// a rare one are looked at, so that the time does not grow with the store.
func (d deciding) relevant(text string) ([]hit, error) {
	found, terms, total, err := d.touching(text, memory.Query{Project: d.m.Project, Session: d.m.Session, Branch: d.m.Branch})
	if err != nil {
		return nil, err
	}
	var hits []hit
	for _, t := range found {
		h := hit{Entry: t.Entry, words: t.Words, score: weight(terms, t.Words) / total}
		h.judge()
		if !d.passes(h, terms, len(search.Keywords(text, maxKeywords))) {
			continue
		}
		if h.repeats(text) {
			if h, err = d.answered(h); err != nil {
				return nil, err
			}
		}
		if h.ID != "" && !slices.ContainsFunc(hits, func(o hit) bool { return o.ID == h.ID }) {
			hits = append(hits, h)
		}
	}
	hits = d.choose(hits)
	for i := range hits {
		if !hits[i].decision {
			hits[i].quote = search.Excerpt(hits[i].Entry, text)
		}
	}
	return hits, nil
}

// touching gives the entries that hold words of a text, the words that the memory knows, and what all words of the text
// weigh together by their rarity. A word of which nothing is known counts half: it may be a new thing, or a way to say an
// old one.
func (d deciding) touching(text string, q memory.Query) (found []memory.Touched, terms []term, total float64, err error) {
	keys := search.Keywords(text, maxKeywords)
	if len(keys) == 0 {
		return nil, nil, 0, nil
	}
	words := make([][]string, len(keys))
	for i, k := range keys {
		words[i] = k.Words
	}
	found, docs, all, err := d.store.Touching(d.ctx, q, words, common, candidates)
	for i, k := range keys {
		t := term{Keyword: k, docs: docs[i], weight: math.Log1p(float64(all) / float64(max(docs[i], 1))), bit: 1 << i}
		t.rare = t.docs > 0 && t.docs < rare(all)
		switch {
		case t.docs > common(all):
			continue
		case t.docs == 0:
			t.weight /= 2
		default:
			terms = append(terms, t)
		}
		total += t.weight
	}
	return found, terms, total, err
}

func weight(terms []term, words uint32) (sum float64) {
	for _, t := range terms {
		if words&t.bit != 0 {
			sum += t.weight
		}
	}
	return sum
}

// judge finds the sentence in which the user decided something.
func (h *hit) judge() {
	if h.Kind != memory.KindPrompt {
		return
	}
	if found := digest.Decisions([]memory.Entry{h.Entry}); len(found) > 0 {
		h.decision, h.quote = true, found[0].Quote
	}
}

// passes is the floor. One word is enough only if it is rare and says by itself what is meant, or if hardly more was asked; three
// rare words are enough in a request of any length, and less in what somebody decided or wrote down to be remembered.
func (d deciding) passes(h hit, terms []term, asked int) bool {
	n, special, rares := 0, false, 0
	for _, t := range terms {
		if h.words&t.bit == 0 {
			continue
		}
		n++
		special = special || t.Special
		if t.rare {
			rares++
		}
	}
	if rares == 0 || n < 2 && !special && asked > 2 {
		return false
	}
	floor := d.l.Floor
	if h.Kind == memory.KindNote || h.decision {
		floor *= 0.6
	}
	return h.score >= floor || rares >= 3 && h.score >= floor/2
}

// choose orders what passed, leaves out what a newer decision about the same took the place of and what was told before,
// and takes the best few.
func (d deciding) choose(hits []hit) []hit {
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.rank(), a.rank()), b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID))
	})
	dead := map[string]bool{}
	for _, old := range hits {
		for _, h := range hits {
			if old.overruled(h) {
				dead[turnOf(old.Entry)] = true
			}
		}
	}
	var out []hit
	said := map[string]bool{}
	top := 0.0
	for _, h := range hits {
		text := plain(h.Text)
		if said[text] || dead[turnOf(h.Entry)] && h.Kind != memory.KindNote || !d.new(h.ID) {
			continue
		}
		// The rest must be nearly as good as the best.
		if top = max(top, h.score); h.score < top/2 {
			continue
		}
		said[text] = true
		if out = append(out, h); len(out) == maxHits {
			break
		}
	}
	return out
}

var worth = map[memory.Kind]float64{memory.KindNote: 1.6, memory.KindPrompt: 1, memory.KindResponse: 1.1, memory.KindCompaction: 0.8}

// rank is the score with the worth of its kind, halved for each half-life of its age, as a logarithm: the differences between
// two entries are the same whenever one looks.
func (h hit) rank() float64 {
	w := worth[h.Kind]
	if h.decision {
		w = 1.4
	}
	return math.Log2(h.score*w) + float64(h.Time.UnixMilli())/float64(halfLife.Milliseconds())
}

func turnOf(e memory.Entry) string {
	if e.Kind == memory.KindNote {
		return e.ID
	}
	return e.SessionID + "\x00" + strconv.Itoa(e.Turn)
}

// overruled reports whether another entry decides later about the same words.
func (h hit) overruled(by hit) bool {
	decides := by.decision || by.Kind == memory.KindNote && noteKind(by.Entry) == "decision"
	if !decides || !by.Time.After(h.Time) || turnOf(by.Entry) == turnOf(h.Entry) {
		return false
	}
	was := h.decision || h.Kind == memory.KindNote && noteKind(h.Entry) == "decision"
	return was && h.words&^by.words == 0
}
