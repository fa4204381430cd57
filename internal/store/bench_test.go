package store

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
)

// corpus makes n entries of about 40 words with the frequencies of a language: few words often, most seldom.
func corpus(n int) []memory.Entry {
	out := make([]memory.Entry, n)
	seed := uint64(1)
	for i := range out {
		text := ""
		for range 40 {
			seed = seed*6364136223846793005 + 1442695040888963407
			r := seed >> 33 % 1000
			text += fmt.Sprintf("w%d ", r*r*r/40_000)
		}
		out[i] = entry(fmt.Sprintf("e%d", i), fmt.Sprintf("s%d", i/100), memory.KindPrompt, i, text)
	}
	return out
}

func openTokens(tb testing.TB, path string) *DB {
	tb.Helper()
	db, err := Open(tb.Context(), path, Options{Words: search.Document, Stem: search.Stem})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func BenchmarkSearch10k(b *testing.B) {
	db := openTokens(b, filepath.Join(b.TempDir(), "memory.db"))
	if _, _, err := db.Add(b.Context(), nil, corpus(10_000)); err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{"seldom": "w8035 w20044", "usual": "w100 w316 w4002", "frequent": "w0 w1 w2 w3"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				a, err := search.Find(b.Context(), db, search.Question{Query: memory.Query{Text: text, Project: "acme/app"}}, search.Standard)
				if err != nil || len(a.Hits) == 0 {
					b.Fatal(len(a.Hits), err)
				}
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			again, err := Open(b.Context(), db.Path(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			if err := again.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	entries := corpus(1000)
	dir := b.TempDir()
	i := 0
	for b.Loop() {
		i++
		b.StopTimer()
		db := openTokens(b, filepath.Join(dir, fmt.Sprint(i), "memory.db"))
		b.StartTimer()
		if _, _, err := db.Add(b.Context(), nil, entries); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(entries)*i)/b.Elapsed().Seconds(), "entries/s")
}
