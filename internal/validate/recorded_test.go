package validate

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// recorded reads a table of answers of client 1.0.102, one JSON object a line.
func recorded[T any](t *testing.T, file string, least int) []T {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []T
	for line := range strings.Lines(string(data)) {
		var row T
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%s: %v: %s", file, err, line)
		}
		rows = append(rows, row)
	}
	if len(rows) < least {
		t.Fatalf("%s: only %d rows", file, len(rows))
	}
	return rows
}

func TestMatchersLikeTheClient(t *testing.T) {
	for _, r := range recorded[struct {
		Matcher string
		OK      bool
	}](t, "matchers.jsonl", 240) {
		if err := checkMatcher(r.Matcher); (err == nil) != r.OK {
			t.Errorf("%q: the client compiles it: %v; we say %v", r.Matcher, r.OK, err)
		}
	}
	for depth, ok := range map[int]bool{maxRegexGroups: true, maxRegexGroups + 1: false} {
		if err := checkMatcher(strings.Repeat("(", depth) + strings.Repeat(")", depth)); (err == nil) != ok {
			t.Errorf("%d groups: %v, want ok %v", depth, err, ok)
		}
	}
}

func TestURLsLikeTheClient(t *testing.T) {
	for _, r := range recorded[struct {
		URL, Use string
		OK       bool
	}](t, "urls.jsonl", 120) {
		scheme, ok := webURL(r.URL)
		if r.Use == "hook" {
			ok = ok && (scheme == "http" || scheme == "https")
		}
		if ok != r.OK {
			t.Errorf("%q as %s: the client takes it: %v; we say %v", r.URL, r.Use, r.OK, ok)
		}
	}
}
