package search

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

func TestTokens(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"?! --", ""},
		{"Plain words", "plain words"},
		{"parseHTTPRequest", "parse http request parsehttprequest"},
		{"max_tokens", "max tokens maxtokens"},
		{"use --dry-run now", "use dry run now dryrun"},
		{"foo.bar/baz.go", "foo bar baz go foobar bazgo foobarbazgo"},
		{"std::vector", "std vector stdvector"},
		{"end. Next", "end next"},
		{"userIDs of HTTPServer", "user ids of http server userids httpserver"},
		{"sha256 v1.2.3", "sha256 v1 2 3 v123"},
		{"naïve café", "naïve café"},
		{"検索する", "検索 索す する る"},
		{"go言語", "go 言語 語"},
		{"__init__", "init"},
		{"\xff\xfe bad", "bad"},
	} {
		if got := strings.TrimSpace(Tokens(tt.in)); got != tt.want {
			t.Errorf("Tokens(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

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

// list is an index of a few texts without stemming and measure: an entry's score is the number of terms it has.
type list []memory.Entry

func (l list) Match(_ context.Context, q memory.Query, terms [][]string, all bool) ([]memory.Hit, error) {
	var out []memory.Hit
	for _, e := range l {
		tokens := " " + Tokens(e.Text+"\n"+string(e.ToolInput))
		n := 0
		for _, alternatives := range terms {
			if slices.ContainsFunc(alternatives, func(a string) bool {
				if start, ok := strings.CutSuffix(a, "*"); ok {
					return strings.Contains(tokens, " "+start)
				}
				return strings.Contains(tokens, " "+a+" ")
			}) {
				n++
			}
		}
		if len(terms) == 0 || n == len(terms) || (n > 0 && !all) {
			out = append(out, memory.Hit{Entry: e, Score: float64(n)})
		}
	}
	slices.SortStableFunc(out, func(a, b memory.Hit) int { return int(b.Score - a.Score) })
	return out[:min(len(out), q.Limit)], nil
}

func at(id, session string, kind memory.Kind, second int, text string) memory.Entry {
	return memory.Entry{ID: id, SessionID: session, Kind: kind, Text: text, Time: time.Unix(int64(second), 0)}
}

func run(t *testing.T, idx Index, q memory.Query) []string {
	t.Helper()
	hits, err := Run(t.Context(), idx, q, false)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func TestRun(t *testing.T) {
	call := at("call", "s3", memory.KindToolCall, 5, "")
	call.Tool, call.ToolInput = "bash", json.RawMessage(`{"command":"make lint"}`)
	result := at("result", "s3", memory.KindToolResult, 6, "no findings of lint")
	result.Tool, result.ToolInput = call.Tool, call.ToolInput
	idx := list{
		at("start", "s1", memory.KindSessionStart, 1, "rotate the signing key"),
		at("prompt", "s1", memory.KindPrompt, 2, "rotate the signing key"),
		at("other", "s2", memory.KindPrompt, 3, "rotate the signing key"),
		at("part", "s2", memory.KindResponse, 4, "rotate rotate rotate logs"),
		at("ident", "s2", memory.KindResponse, 4, "see parseHTTPRequest in foo.bar/baz.go, use --dry-run"),
		call, result,
	}
	for _, tt := range []struct {
		name string
		q    memory.Query
		want []string
	}{
		{"all words first, one of two that say the same, newer first", memory.Query{Text: "rotate the signing key"}, []string{"other", "prompt", "part"}},
		{"limit", memory.Query{Text: "rotate the signing key", Limit: 1}, []string{"other"}},
		{"identifier by part", memory.Query{Text: "http request"}, []string{"ident"}},
		{"identifier in another spelling", memory.Query{Text: "parse_http_request"}, []string{"ident"}},
		{"file", memory.Query{Text: "baz.go"}, []string{"ident"}},
		{"path", memory.Query{Text: "foo.bar/baz.go"}, []string{"ident"}},
		{"flag", memory.Query{Text: "--dry-run"}, []string{"ident"}},
		{"phrase", memory.Query{Text: `"signing key"`}, []string{"other", "prompt"}},
		{"phrase in another order", memory.Query{Text: `"key signing"`}, []string{}},
		{"call and result", memory.Query{Text: "make lint"}, []string{"result"}},
		{"beginning of a word", memory.Query{Text: "signi"}, []string{"other", "prompt"}},
		{"marks only", memory.Query{Text: "?! ()"}, []string{}},
		{"nothing such", memory.Query{Text: "xylophone"}, []string{}},
	} {
		if diff := cmp.Diff(tt.want, run(t, idx, tt.q)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := run(t, idx, memory.Query{}); len(got) != 5 {
		t.Errorf("an empty query = %v, want all but the folded", got)
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
	idx := list{gone, at("stays", "s2", memory.KindResponse, 2, "the signing key: rotate it"), same, at("again", "s3", memory.KindPrompt, 10, "rotate the key"), call, result}
	if diff := cmp.Diff([]string{"stays", "gone"}, run(t, idx, memory.Query{Text: "rotate signing key", Limit: 2})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"again"}, run(t, idx, memory.Query{Text: `"rotate the key"`, Limit: 1})); diff != "" {
		t.Errorf("of two that say the same (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"call", "result"}, run(t, idx, memory.Query{Text: "lint"})); diff != "" {
		t.Errorf("a call whose result was withdrawn (-want +got):\n%s", diff)
	}
}

func TestScoresFallAndReasonsAreGiven(t *testing.T) {
	idx := list{at("a", "s", memory.KindToolResult, 1, "key of signing"), at("b", "s", memory.KindNote, 2, "a key"), at("c", "s", memory.KindPrompt, 3, "the signing of it")}
	hits, err := Run(t.Context(), idx, memory.Query{Text: "signing key"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(hits) != 3 || hits[0].ID != "a" {
		t.Fatalf("hits = %+v", hits)
	}
	for i, h := range hits {
		if i > 0 && h.Score > hits[i-1].Score {
			t.Errorf("score of %s is above that of %s", h.ID, hits[i-1].ID)
		}
	}
	if diff := cmp.Diff([]string{"all words", "found: signing, key", "score: bm25 2.00"}, hits[0].Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if hits[1].Reasons[0] != "some words" {
		t.Errorf("reasons of %s = %v", hits[1].ID, hits[1].Reasons)
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
		tokens := " " + Tokens(s)
		words(s, func(w word) {
			if w.start < 0 || w.end > len(s) || w.start >= w.end || len(w.parts) == 0 {
				t.Fatalf("word %+v of %q", w, s)
			}
			term := single(s[w.start:w.end], w)
			if !slices.ContainsFunc(term.alternatives, func(a string) bool {
				if start, ok := strings.CutSuffix(a, "*"); ok {
					return strings.Contains(tokens, " "+start)
				}
				return strings.Contains(tokens, " "+a+" ")
			}) {
				t.Errorf("%q is not found in %q", term.alternatives, tokens)
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

func BenchmarkTokens(b *testing.B) {
	text := strings.Repeat("func parseHTTPRequest(max_tokens int) error { return fmt.Errorf(\"foo.bar/baz.go: %w\", err) }\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Tokens(text)
	}
}

func BenchmarkRank(b *testing.B) {
	hits := make([]memory.Hit, 300)
	for i := range hits {
		hits[i] = memory.Hit{Entry: at(fmt.Sprint(i), fmt.Sprint(i%100), memory.KindPrompt, i, fmt.Sprint("text ", i)), Score: float64(i % 37)}
	}
	for b.Loop() {
		rank(hits, nil, false, nil)
	}
}
