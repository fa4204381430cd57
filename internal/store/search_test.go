package store

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
)

// The store is the index that package search asks for, with search's own words.
func TestSearch(t *testing.T) {
	db := openTokens(t, filepath.Join(t.TempDir(), "memory.db"))
	call := entry("call", "s2", memory.KindToolResult, 40, "done")
	call.Tool, call.ToolInput = "bash", []byte(`{"command":"golangci-lint run ./internal/..."}`)
	add(t, db,
		entry("start", "s1", memory.KindSessionStart, 10, "why does parseHTTPRequest fail"),
		entry("prompt", "s1", memory.KindPrompt, 11, "why does parseHTTPRequest fail"),
		entry("tokens", "s1", memory.KindResponse, 12, "because max_tokens is set with --dry-run in foo.bar/baz.go"),
		entry("half", "s1", memory.KindResponse, 13, "requests were rotated"),
		entry("cjk", "s1", memory.KindResponse, 14, "設定ファイルを検索する"),
		entry("note", "s1", memory.KindNotification, 15, "parseHTTPRequest"),
		call,
	)
	for query, want := range map[string][]string{
		"parseHTTPRequest":            {"prompt"},
		"parse http request":          {"prompt"},
		"ParseHttpRequest":            {"prompt"},
		"max_tokens":                  {"tokens"},
		"maxTokens":                   {"tokens"},
		"tokens":                      {"tokens"},
		"--dry-run":                   {"tokens", "call"},
		"foo.bar/baz.go":              {"tokens"},
		"baz.go":                      {"tokens"},
		"rotate":                      {"half"},
		"golangci-lint":               {"call"},
		"検索":                          {"cjk"},
		"索":                           {"cjk"},
		`"tokens is set"`:             {"tokens"},
		`"is tokens set"`:             {},
		`" OR ( NEAR/2 col:* ^ - + \`: {},
		"nothing-like-this-was-said":  {},
	} {
		a, err := search.Find(t.Context(), db, search.Question{Query: memory.Query{Text: query}}, search.Standard)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if diff := cmp.Diff(want, ids(a.Hits)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}
