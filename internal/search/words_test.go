package search

import (
	"slices"
	"strings"
	"testing"
)

// byCompound is what Words means, by the functions that queries use.
func byCompound(text string) []string {
	var out []string
	words(text, func(w word) {
		out = append(out, w.parts...)
		out = append(out, w.wholes...)
		if last := []rune(text[w.start:w.end]); w.script && len(last) > 1 {
			out = append(out, string(last[len(last)-1:]))
		}
	})
	slices.Sort(out)
	return out
}

func indexWords(text string) []string {
	var out []string
	Words(text, func(w []byte) { out = append(out, string(w)) })
	slices.Sort(out)
	return out
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{
		"parseHTTPRequest max_tokens --dry-run foo.bar/baz.go std::vector", "userIDs of HTTPServer HTTPs IDsX ABs1", "naïve café 検索する go言語 x検", "__init__ a__b a:/b a::c",
		"https://x.y/z?q=1 a@b.c C:\\Users\\x #1 ~/x +1", "\xff\xfeab AB", "SHA256Sum v1.2.3 aB", "x/", "A_B/C", "IDs_x IDs-",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := indexWords(text), byCompound(text); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	})
}

func TestStem(t *testing.T) {
	for _, tt := range []struct{ words, want string }{
		{"rotate rotated rotating rotation", "rotat rotat rotat rotat"},
		{"keys key's is sha256 deadbeef0", "key key is sha256 deadbeef0"},
		{strings.Repeat("x", 30) + "ing", strings.Repeat("x", 30) + "ing"},
	} {
		var got []string
		for _, w := range strings.Fields(tt.words) {
			got = append(got, Stem(w))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("stems of %q are %q, want %q", tt.words, got, tt.want)
		}
	}
}
