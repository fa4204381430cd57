package store

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// BenchmarkWholeStore measures what goes through all of a store of 10,000 entries, and how many times longer it takes than
// copying the file, in the same run.
func BenchmarkWholeStore(b *testing.B) {
	db := openTokens(b, filepath.Join(b.TempDir(), "memory.db"))
	if _, _, err := db.Add(b.Context(), nil, corpus(10_000)); err != nil {
		b.Fatal(err)
	}
	if err := db.truncateWAL(b.Context()); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	n := 0
	next := func() string { n++; return filepath.Join(dir, fmt.Sprint(n)) }
	copied := func() error {
		data, err := os.ReadFile(db.Path())
		if err != nil {
			return err
		}
		f, err := os.Create(next())
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		return f.Close()
	}
	gone := 0
	for _, what := range []struct {
		name string
		do   func() error
	}{
		{"backup", func() error { return db.Backup(b.Context(), next()) }},
		{"check", func() error { return db.Check(b.Context()) }},
		{"export", func() error {
			_, err := db.Export(b.Context(), memory.Query{}, io.Discard, t0)
			return err
		}},
		{"digest", func() error {
			_, err := db.Digest(b.Context(), memory.Query{})
			return err
		}},
		{"forget", func() error {
			gone++
			if _, err := db.Forget(b.Context(), Selection{Entries: []string{fmt.Sprint("e", gone)}}, t0, false); err != nil {
				return err
			}
			return db.Scrub(b.Context())
		}},
	} {
		b.Run(what.name, func(b *testing.B) {
			var took, floor time.Duration
			for b.Loop() {
				start := time.Now()
				if err := copied(); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				if err := what.do(); err != nil {
					b.Fatal(err)
				}
				floor += between.Sub(start)
				took += time.Since(between)
			}
			b.ReportMetric(float64(took)/float64(floor), "×copy")
		})
	}
}
