package recall

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"hello world", 2},
		{"The quick brown fox jumps over the lazy dog.", 10},
		{"internationalisation", 3},
		{"2026-11-21", 6},
		{"if err != nil {\n\treturn err\n}", 11},
		{"検索する", 4},
		{"----------------", 4},
		{"a    b", 3},
	} {
		if got := Tokens(tt.text); got != tt.want {
			t.Errorf("Tokens(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("some words that are long enough to be cut somewhere", 3)
	f.Add("検索する検索する", 2)
	f.Add("\xff\xfe\xfd", 1)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, tokens int) {
		if tokens < 0 || tokens > 1000 {
			return
		}
		got, cut := Cut(text, tokens)
		if !cut {
			if got != text {
				t.Errorf("Cut(%q, %d) = %q and says it did not cut", text, tokens, got)
			}
			return
		}
		if n := Tokens(strings.TrimSuffix(got, "…")); n > tokens {
			t.Errorf("Cut(%q, %d) = %q of %d tokens", text, tokens, got, n)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) = %q breaks a character", text, tokens, got)
		}
	})
}
