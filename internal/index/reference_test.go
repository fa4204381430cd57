package index

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// entry is a document of the reference: everything, in memory, looked at one by one.
type entry struct {
	Doc
	words   []word
	length  float32
	deleted bool
}

type word struct {
	Text   string
	Weight float32
}

// reference answers a query by the definitions: no postings, no order, no short cuts.
func reference(entries []entry, q Query) map[int64]Hit {
	average, docs := 0.0, len(entries)
	for _, e := range entries {
		average += math.Round(float64(e.length)) / float64(docs)
	}
	table := saturation(float32(average))
	weightIn := func(e entry, word string) (w float32) {
		for _, x := range e.words {
			if x.Text == word {
				w += x.Weight
			}
		}
		return w
	}
	type key struct{ p, s uint32 }
	sessions := map[key][]entry{}
	for _, e := range entries {
		k := key{e.Project, e.Session}
		sessions[k] = append(sessions[k], e)
	}
	allowed := func(e entry) bool {
		return (len(q.Projects) == 0 || slices.Contains(q.Projects, e.Project)) && (len(q.Sessions) == 0 || slices.Contains(q.Sessions, e.Session))
	}
	own, groups := map[int64]float32{}, map[int64]uint32{}
	bySession := map[key]float32{}
	for _, t := range q.Terms {
		df := 0
		in := map[key]float32{}
		for _, e := range entries {
			if w := weightIn(e, t.Word); w > 0 {
				df++
				in[key{e.Project, e.Session}] += counts[code(w, e.length)>>4]
			}
		}
		if df == 0 {
			continue
		}
		for _, e := range entries {
			if w := weightIn(e, t.Word); w > 0 && allowed(e) {
				own[e.Seq] += table[code(w, e.length)] * t.Weight * rarity(df, docs)
				groups[e.Seq] |= 1 << t.Group
			}
		}
		for k, count := range in {
			length := 0.0
			for _, e := range sessions[k] {
				length += math.Round(float64(e.length))
			}
			norm := float32(1 - b + b*length*float64(len(sessions))/max(average*float64(docs), 1))
			bySession[k] += t.Weight * rarity(len(in), len(sessions)) * count * (k1 + 1) / (count + k1*norm)
		}
	}
	out := map[int64]Hit{}
	for k, list := range sessions {
		slices.SortFunc(list, func(a, b entry) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Seq, b.Seq)) })
		passes := func(e entry) bool {
			return allowed(e) && !e.deleted && (q.Since == 0 || e.Time >= q.Since) && (q.Until == 0 || e.Time < q.Until) &&
				!slices.ContainsFunc([]int{0, 1, 2}, func(a int) bool { return len(q.Attrs[a]) > 0 && !slices.Contains(q.Attrs[a], e.Attrs[a]) })
		}
		found := func(i int) bool { return i >= 0 && i < len(list) && passes(list[i]) && own[list[i].Seq] > 0 }
		for i, e := range list {
			if !passes(e) {
				continue
			}
			beside := false // a document without a word comes along only next to one that is found
			for d := range q.Near {
				beside = beside || found(i-1-d)
			}
			for d := range q.After {
				beside = beside || found(i+1+d)
			}
			h := Hit{Seq: e.Seq, Own: own[e.Seq], Groups: groups[e.Seq]}
			for d, w := range q.Near {
				if j := i - 1 - d; j >= 0 {
					h.Near += w * own[list[j].Seq]
				}
			}
			for d, w := range q.After {
				if j := i + 1 + d; j < len(list) {
					h.Near += w * own[list[j].Seq]
				}
			}
			h.Session = q.Session * bySession[k]
			h.Score = h.Own + h.Near + h.Session
			if h.Own > 0 || beside {
				out[e.Seq] = h
			}
		}
	}
	return out
}

// world makes entries of few words, so that words meet.
func world(r *rand.Rand, n int) []entry {
	var out []entry
	now := int64(1_700_000_000_000)
	for i := range n {
		now += r.Int64N(5000)
		s := uint32(r.IntN(n/8 + 1))
		e := entry{Doc: Doc{
			Seq: int64(i + 1), Session: s, Project: s % 5, Time: now, Attrs: [3]uint16{uint16(r.IntN(3)), uint16(r.IntN(300)), uint16(r.IntN(2))},
		}}
		for range r.IntN(12) {
			weight := []float32{1, 1, 0.7, 0.5}[r.IntN(4)]
			e.words = append(e.words, word{fmt.Sprintf("w%d", int(math.Abs(r.NormFloat64())*20)), weight})
			e.length += weight
		}
		out = append(out, e)
	}
	return out
}

func build(entries []entry) *Segment {
	b := NewBuilder(nil)
	for _, e := range entries {
		b.Add(e.Doc)
		for _, w := range e.words {
			b.Word([]byte(w.Text), w.Weight)
		}
	}
	return b.Segment()
}

func randomQuery(r *rand.Rand, entries []entry) Query {
	q := Query{Limit: 10 * len(entries), Depth: 10 * len(entries)}
	for g := range 1 + r.IntN(4) {
		q.Terms = append(q.Terms, Term{Word: fmt.Sprintf("w%d", r.IntN(60)), Weight: 1 - 0.2*float32(g), Group: uint8(g)})
	}
	slices.SortFunc(q.Terms, func(a, b Term) int { return cmp.Compare(a.Word, b.Word) })
	q.Terms = slices.CompactFunc(q.Terms, func(a, b Term) bool { return a.Word == b.Word })
	if r.IntN(2) == 0 {
		q.Projects = []uint32{uint32(r.IntN(6)), uint32(r.IntN(6))}
	}
	if r.IntN(4) == 0 {
		q.Sessions = []uint32{uint32(r.IntN(9)), uint32(r.IntN(9)), uint32(r.IntN(9))}
	}
	if r.IntN(4) == 0 {
		q.Since = entries[len(entries)/3].Time
	}
	if r.IntN(4) == 0 {
		q.Until = entries[len(entries)/2].Time
	}
	if r.IntN(4) == 0 {
		q.Attrs[r.IntN(2)] = []uint16{1, 2, 17, 130}
	}
	if r.IntN(2) == 0 {
		q.Near, q.After, q.Session = []float32{0.4, 0.15}, []float32{0.3}, 0.3
	}
	return q
}

func same(t *testing.T, got []Hit, want map[int64]Hit, what string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d hits, want %d", what, len(got), len(want))
	}
	near := func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-4*(1+math.Abs(float64(b))) }
	last := float32(math.Inf(1))
	for _, h := range got {
		w, ok := want[h.Seq]
		if !ok || !near(h.Score, w.Score) || !near(h.Own, w.Own) || !near(h.Near, w.Near) || !near(h.Session, w.Session) || h.Groups != w.Groups {
			t.Fatalf("%s: hit %+v, want %+v", what, h, w)
		}
		if h.Score > last {
			t.Fatalf("%s: %v after %v", what, h.Score, last)
		}
		last = h.Score
	}
}

func TestOneSegmentAnswersAsTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		entries := world(r, 1+r.IntN(400))
		var gone []uint32
		for i, e := range inOrder(entries) {
			if r.IntN(10) == 0 {
				gone = append(gone, uint32(i))
				entries[e.Seq-1].deleted = true
			}
		}
		x := open(t, Input{build(entries), gone})
		for range 20 {
			q := randomQuery(r, entries)
			got, err := x.Search(q)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, reference(entries, q), fmt.Sprintf("round %d, %+v", round, q))
		}
	}
}

func inOrder(entries []entry) []entry {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b entry) int { return order(a.Doc, b.Doc) })
	return sorted
}

func open(t testing.TB, in ...Input) *Index {
	t.Helper()
	x, err := Open(in)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Several segments answer as one where sessions do not lie in several; merged, always.
func TestSegmentsAndTheirMergeAnswerAsTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 40 {
		entries := world(r, 50+r.IntN(400))
		var in []Input
		from := 0
		for from < len(entries) {
			to := min(len(entries), from+1+r.IntN(200))
			in = append(in, Input{Source: build(entries[from:to])})
			from = to
		}
		several := open(t, in...)
		merged, err := Merge(in)
		if err != nil {
			t.Fatal(err)
		}
		one := open(t, Input{Source: merged})
		for range 20 {
			q := randomQuery(r, entries)
			want := reference(entries, q)
			got, err := one.Search(q)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want, fmt.Sprintf("merged, round %d, %+v", round, q))
			q.Session = 0 // a session's words are counted by segment
			got, err = several.Search(q)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, reference(entries, q), fmt.Sprintf("several, round %d, %+v", round, q))
		}
	}
}

// What was deleted leaves no word behind, and what remains is as if it had never been there.
func TestMergeForgetsWhatWasDeleted(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		entries := world(r, 30+r.IntN(300))
		whole := build(entries)
		var kept []entry
		var gone []uint32
		for i, e := range inOrder(entries) {
			if r.IntN(3) == 0 {
				gone = append(gone, uint32(i))
			} else {
				kept = append(kept, e)
			}
		}
		merged, err := Merge([]Input{{whole, gone}})
		if err != nil {
			t.Fatal(err)
		}
		want := build(kept)
		for part := range merged.Chunks {
			if !slices.EqualFunc(merged.Chunks[part], want.Chunks[part], func(a, b []byte) bool { return string(a) == string(b) }) {
				t.Fatalf("part %d of the merged segment differs from one built of what remains", part)
			}
		}
	}
}

func TestAcceptAndLimit(t *testing.T) {
	entries := world(rand.New(rand.NewPCG(7, 8)), 300)
	x := open(t, Input{Source: build(entries)})
	q := Query{Terms: []Term{{Word: "w1", Weight: 1}}, Limit: 1000}
	all, err := x.Search(q)
	if err != nil || len(all) < 20 {
		t.Fatalf("%d hits, %v", len(all), err)
	}
	q.Limit = 3
	q.Accept = func(seq int64) (bool, error) { return seq != all[1].Seq, nil }
	got, err := x.Search(q)
	if err != nil || len(got) != 3 || got[0].Seq != all[0].Seq || got[1].Seq != all[2].Seq || got[2].Seq != all[3].Seq {
		t.Errorf("got %v, %v; want all but the second of %v", got, err, all[:4])
	}
	q.Accept = func(int64) (bool, error) { return false, fmt.Errorf("no") }
	if _, err := x.Search(q); err == nil {
		t.Error("the caller's error is lost")
	}
}

func TestDepthKeepsTheBest(t *testing.T) {
	entries := world(rand.New(rand.NewPCG(9, 10)), 4000)
	x := open(t, Input{Source: build(entries)})
	q := Query{Terms: []Term{{Word: "w1", Weight: 1}, {Word: "w2", Weight: 1, Group: 1}}, Limit: 50, Depth: 4000}
	want, err := x.Search(q)
	if err != nil {
		t.Fatal(err)
	}
	q.Depth = 50
	got, err := x.Search(q)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("with depth 50: %v\nwith all: %v (%v)", got, want, err)
	}
}

func TestWords(t *testing.T) {
	b := NewBuilder(nil)
	for i, w := range []string{"token", "tokens", "tokenizer", "parser", "parse", "authentication", "token", "tönen"} {
		b.Add(Doc{Seq: int64(i)})
		b.Word([]byte(w), 1)
	}
	x := open(t, Input{Source: b.Segment()})
	for _, tt := range []struct {
		in, want string
		close    bool
	}{
		{"token", "token:2 tokenizer:1 tokens:1", false},
		{"pars", "parse:1 parser:1", false},
		{"zz", "", false},
		{"tokne", "token:2", true},
		{"tokns", "tokens:1", true},
		{"okens", "", true},
		{"authetnicaton", "authentication:1", true},
		{"parsr", "parse:1 parser:1", true},
		{"tonen", "token:2 tönen:1", true},
	} {
		find := x.Starting
		if tt.close {
			find = x.Close
		}
		got, err := find(tt.in, 10)
		text := ""
		for i, w := range got {
			if i > 0 {
				text += " "
			}
			text += fmt.Sprintf("%s:%d", w.Word, w.Docs)
		}
		if err != nil || text != tt.want {
			t.Errorf("%q (close: %v) = %q, %v; want %q", tt.in, tt.close, text, err, tt.want)
		}
	}
}

func TestFind(t *testing.T) {
	entries := world(rand.New(rand.NewPCG(11, 12)), 100)
	x := open(t, Input{Source: build(entries[:50])}, Input{Source: build(entries[50:])})
	got, err := x.Find(map[int64]bool{3: true, 70: true, 999: true})
	if err != nil || len(got) != 2 || len(got[0]) != 1 || len(got[1]) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	if seq, _ := x.segments[1].value(PartSeqs, got[1][0]); seq != 70 {
		t.Errorf("found %d for 70", seq)
	}
}
