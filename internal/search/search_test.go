package search

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/index"
	"github.com/copilot-mem/copilot-mem/internal/memory"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want [][]string
	}{
		{"", nil},
		{"rotate the key", [][]string{{"rotate"}, {"key"}}},
		{"to be", [][]string{{"to"}, {"be"}}},
		{"key Key", [][]string{{"key"}}},
		{"parseHTTPRequest", [][]string{{"parsehttprequest", "parse http request"}}},
		{`"the signing key" fails`, [][]string{{"the signing key"}, {"fails"}}},
		{`"max_tokens is"`, [][]string{{"max tokens is"}}},
		{`a "quote without end`, [][]string{{"quote"}, {"without"}, {"end"}}},
		{`""`, nil},
		{"字", [][]string{{"字*"}}},
		{"AND OR NOT *", [][]string{{"not"}}},
	} {
		var got [][]string
		for _, term := range parse(tt.in) {
			got = append(got, term.alternatives)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("parse(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

// source is entries behind an index in memory.
type source struct {
	entries []memory.Entry
	x       *index.Index
}

func newSource(t testing.TB, entries ...memory.Entry) source {
	t.Helper()
	b := index.NewBuilder(Stem)
	sessions := map[string]uint32{}
	for i, e := range entries {
		if _, ok := sessions[e.SessionID]; !ok {
			sessions[e.SessionID] = uint32(len(sessions))
		}
		b.Add(index.Doc{Seq: int64(i), Session: sessions[e.SessionID], Time: e.Time.UnixMilli()})
		Document(e, b.Word)
	}
	x, err := index.Open([]index.Input{{Source: b.Segment()}})
	if err != nil {
		t.Fatal(err)
	}
	return source{entries, x}
}

func (s source) Find(_ context.Context, q memory.Query, x index.Query) (entries []memory.Entry, hits []index.Hit, err error) {
	if !q.Since.IsZero() {
		x.Since = q.Since.UnixMilli()
	}
	if !q.Until.IsZero() {
		x.Until = q.Until.UnixMilli()
	}
	hits, err = s.x.Search(x)
	for _, h := range hits {
		entries = append(entries, s.entries[h.Seq])
	}
	return entries, hits, err
}

func (s source) Words(_ context.Context, word string, near bool, limit int) ([]index.WordCount, error) {
	if near {
		return s.x.Close(word, limit)
	}
	return s.x.Starting(word, limit)
}

func (s source) Newest(_ context.Context, q memory.Query) (hits []memory.Hit, err error) {
	for _, e := range slices.Backward(s.entries) {
		if (q.Since.IsZero() || !e.Time.Before(q.Since)) && (q.Until.IsZero() || e.Time.Before(q.Until)) && (q.Kind == "" || q.Kind == e.Kind) {
			hits = append(hits, memory.Hit{Entry: e})
		}
	}
	return hits[:min(len(hits), q.Limit)], nil
}

func at(id, session string, kind memory.Kind, second int, text string) memory.Entry {
	return memory.Entry{ID: id, SessionID: session, Kind: kind, Text: text, Time: time.Unix(int64(second), 0)}
}

var noon = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

func find(t *testing.T, src Source, text string, explain bool) Answer {
	t.Helper()
	a, err := Find(t.Context(), src, Question{Query: memory.Query{Text: text}, Now: noon, Explain: explain}, Standard)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func hitIDs(a Answer) []string {
	out := []string{}
	for _, h := range a.Hits {
		out = append(out, h.ID)
	}
	return out
}

// turns numbers the turns of entries: each prompt begins one.
func turns(entries ...memory.Entry) []memory.Entry {
	n := map[string]int{}
	for i := range entries {
		if e := &entries[i]; e.Kind == memory.KindPrompt {
			n[e.SessionID]++
		}
		entries[i].Turn = n[entries[i].SessionID]
	}
	return entries
}

func TestFind(t *testing.T) {
	call := at("call", "s3", memory.KindToolCall, 5, "")
	call.Tool, call.ToolInput = "bash", json.RawMessage(`{"command":"make lint"}`)
	result := at("result", "s3", memory.KindToolResult, 6, "no findings of lint")
	result.Tool, result.ToolInput = call.Tool, call.ToolInput
	gone := at("gone", "s6", memory.KindPrompt, 12, "zebra crossing")
	gone.Withdrawn = true
	src := newSource(t, turns(
		at("start", "s1", memory.KindSessionStart, 1, "rotate the signing key"),
		at("prompt", "s1", memory.KindPrompt, 2, "rotate the signing key"),
		at("other", "s2", memory.KindPrompt, 3, "rotate the signing key"),
		at("part", "s2b", memory.KindResponse, 4, "rotate rotate rotate logs"),
		at("ident", "s2c", memory.KindResponse, 4, "see parseHTTPRequest in foo.bar/baz.go, use --dry-run"),
		call, result,
		at("note", "s4", memory.KindNote, 7, "giraffes eat acacia"),
		at("giraffe", "s5", memory.KindPrompt, 8, "giraffes giraffes acacia acacia eat"),
		at("cjk", "s7", memory.KindResponse, 9, "設定ファイルを検索する"),
		at("bill", "s8", memory.KindResponse, 10, "the invoice was sent twice"),
		gone, at("zebra", "s9", memory.KindPrompt, 13, "zebra stripes"),
	)...)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"one of two that say the same; what stands beside it lifts it", "rotate the signing key", []string{"prompt", "other", "part"}},
		{"identifier by part", "http request", []string{"ident"}},
		{"identifier in another spelling", "parse_http_request", []string{"ident"}},
		{"file", "baz.go", []string{"ident"}},
		{"path", "foo.bar/baz.go", []string{"ident"}},
		{"flag", "--dry-run", []string{"ident"}},
		{"phrase", `"signing key"`, []string{"prompt", "other"}},
		{"phrase in another order", `"key signing"`, []string{}},
		{"call and result are one turn", "make lint", []string{"result"}},
		{"beginning of a word", "signi", []string{"prompt", "other"}},
		{"a slip", "singing", []string{"prompt", "other"}},
		{"a note with all words comes first", "giraffes acacia", []string{"note", "giraffe"}},
		{"two characters", "検索", []string{"cjk"}},
		{"one character at the end", "索", []string{"cjk"}},
		{"another word for it, where nothing has the word", "bill", []string{"bill"}},
		{"what was taken back comes later", "zebra", []string{"zebra", "gone"}},
		{"marks only", "?! ()", []string{}},
		{"nothing such", "xylophone", []string{}},
	} {
		if diff := cmp.Diff(tt.want, hitIDs(find(t, src, tt.text, false))); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", tt.name, tt.text, diff)
		}
	}
	if got := hitIDs(find(t, src, "", false)); len(got) != 13 || got[0] != "zebra" {
		t.Errorf("an empty query = %v, want all, the newest first", got)
	}
}

func TestFindTime(t *testing.T) {
	day := func(id, session string, back int, text string) memory.Entry {
		e := at(id, session, memory.KindPrompt, 0, text)
		e.Time = noon.AddDate(0, 0, -back)
		return e
	}
	src := newSource(t, turns(
		day("old", "s1", 40, "coupon table"), day("release", "s2", 10, "git tag v2.0 release"), day("week", "s3", 5, "coupon index"), day("yesterday", "s4", 1, "login page"),
	)...)
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"coupon", []string{"week", "old"}},
		{"coupon in the last 7 days", []string{"week", "yesterday"}},
		{"what did I do yesterday", []string{"yesterday"}},
		{"coupon before the release", []string{"old"}},
		{"coupon since the release", []string{"week", "yesterday", "release"}},
	} {
		if diff := cmp.Diff(tt.want, hitIDs(find(t, src, tt.text, false))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

// What the user took back stands behind what counts, also where both say the same.
func TestWithdrawnComesLater(t *testing.T) {
	gone := at("gone", "s1", memory.KindPrompt, 9, "rotate the signing key")
	gone.Withdrawn = true
	same := at("same", "s3", memory.KindPrompt, 9, "rotate the key")
	same.Withdrawn = true
	call, result := at("call", "s4", memory.KindToolCall, 5, ""), at("result", "s4", memory.KindToolResult, 4, "done")
	call.Tool, call.ToolInput = "bash", json.RawMessage(`{"command":"lint"}`)
	result.Tool, result.ToolInput, result.Withdrawn = call.Tool, call.ToolInput, true
	again := at("again", "s3", memory.KindPrompt, 10, "rotate the key")
	src := newSource(t, gone, at("stays", "s2", memory.KindResponse, 2, "the signing key: rotate it"), same, again, call, result)
	if got := hitIDs(find(t, src, "rotate signing key", false)); len(got) < 3 || got[0] != "stays" {
		t.Errorf("found %v, want stays first", got)
	}
	if diff := cmp.Diff([]string{"again"}, hitIDs(find(t, src, `"rotate the key"`, false))); diff != "" {
		t.Errorf("of two that say the same (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"call"}, hitIDs(find(t, src, "lint", false))); diff != "" {
		t.Errorf("a call whose result was withdrawn (-want +got):\n%s", diff)
	}
}

func TestScoresFallAndReasonsAreGiven(t *testing.T) {
	src := newSource(t, at("a", "s1", memory.KindPrompt, 1, "the signing key"), at("b", "s2", memory.KindPrompt, 2, "a key"), at("c", "s3", memory.KindPrompt, 3, "signing of xylophones"))
	a := find(t, src, "signing key xylophon qqqq", true)
	if len(a.Hits) != 3 {
		t.Fatalf("hits = %+v", a.Hits)
	}
	for i, h := range a.Hits {
		if i > 0 && h.Score > a.Hits[i-1].Score {
			t.Errorf("score of %s is above that of %s", h.ID, a.Hits[i-1].ID)
		}
		if len(h.Reasons) == 0 || !strings.HasPrefix(h.Reasons[0], "bm25 ") {
			t.Errorf("reasons of %s: %q", h.ID, h.Reasons)
		}
	}
	steps := strings.Join(a.Steps, "\n")
	for _, want := range []string{`"qqqq" is not known`, "candidates for"} {
		if !strings.Contains(steps, want) {
			t.Errorf("no %q in the steps:\n%s", want, steps)
		}
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("filler ünïcode ", 200)
	for _, tt := range []struct {
		name, text, input, query string
		want                     string // in the snippet
	}{
		{"short text whole", "one\n\ttwo", "", "two", "one two"},
		{"far match", long + "the needles are here " + long, "", "needle", "the needles are here"},
		{"most words", long + " rotate " + long + " rotate signing key " + long, "", "rotate signing key", "rotate signing key"},
		{"part of an identifier", long + "parseHTTPRequest " + long, "", "request", "parseHTTPRequest"},
		{"in the input", "output", `{"command":"make lint","description":"d"}`, "lint", "make lint"},
		{"no match: the beginning", "begin " + long, "", "", "begin filler"},
		{"one long word", strings.Repeat("é", 1000), "", "x", "éé"},
		{"invalid bytes", "a\xffb " + long, "", "", "a\uFFFDb"},
	} {
		got := snippet(memory.Entry{Tool: "bash", Text: tt.text, ToolInput: json.RawMessage(tt.input)}, parse(tt.query))
		if !strings.Contains(got, tt.want) || !utf8.ValidString(got) || len(got) > snippetLen+20 || strings.Contains(got, "\n") {
			t.Errorf("%s: snippet = %q (%d bytes), want %q in it", tt.name, got, len(got), tt.want)
		}
	}
}

// Every word of a text is found by that word as a query, and no text breaks anything.
func FuzzWordsAreFound(f *testing.F) {
	for _, s := range []string{"parseHTTPRequest(max_tokens)", "foo.bar/baz.go:12", `C:\a\b`, "検索go", "a--b __x__ ::", "\xff", "İstanbul", "x\u0301y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		kept := map[string]bool{}
		Words(s, func(w []byte) { kept[string(w)] = true })
		words(s, func(w word) {
			if w.start < 0 || w.end > len(s) || w.start >= w.end || len(w.parts) == 0 {
				t.Fatalf("word %+v of %q", w, s)
			}
			for _, p := range w.parts {
				if !kept[p] {
					t.Errorf("%q of %q is not in the index", p, s)
				}
			}
		})
		for _, term := range parse(s) {
			if strings.ContainsAny(strings.Join(term.alternatives, ""), `"()`) {
				t.Errorf("marks in %q", term.alternatives)
			}
		}
		if got := snippet(memory.Entry{Text: s}, parse(s)); !utf8.ValidString(got) {
			t.Errorf("snippet %q is not UTF-8", got)
		}
	})
}

func BenchmarkWords(b *testing.B) {
	text := strings.Repeat("func parseHTTPRequest(max_tokens int) error { return fmt.Errorf(\"foo.bar/baz.go: %w\", err) }\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Words(text, func([]byte) {})
	}
}
