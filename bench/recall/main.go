// Command recall measures how well questions find the entries that answer them, for plain full-text search, each stage
// alone, and all together.
//
//	go run ./bench/recall [-locomo locomo10.json] [-json]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
)

func main() {
	locomo := flag.String("locomo", "", "the public LoCoMo `file`; it is not part of this project")
	dir := flag.String("testdata", "bench/recall/testdata", "the `folder` with sessions.txt and questions.txt")
	noise := flag.Int("noise", 1500, "how many sessions that answer nothing stand among the others")
	misses := flag.Bool("misses", false, "name the questions whose answer is not among the first ten")
	asJSON := flag.Bool("json", false, "one JSON document")
	flag.Parse()
	if err := bench(*dir, *locomo, *noise, *asJSON, *misses); err != nil {
		fmt.Fprintln(os.Stderr, "recall:", err)
		os.Exit(1)
	}
}

func bench(dir, locomo string, noise int, asJSON, misses bool) error {
	set, err := codingSet(dir, noise)
	if err != nil {
		return err
	}
	sets := []Set{set}
	if locomo != "" {
		if set, err = locomoSet(locomo); err != nil {
			return err
		}
		sets = append(sets, set)
	}
	var reports []Report
	for _, s := range sets {
		for _, sys := range systems() {
			r, err := measure(context.Background(), s, sys)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.Name, sys.name, err)
			}
			reports = append(reports, r)
			if misses && sys.name == "all" {
				for _, m := range r.missed {
					fmt.Println(m)
				}
			}
		}
	}
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"schemaVersion": 1, "reports": reports})
	}
	for _, s := range sets {
		printSet(s, reports)
	}
	if locomo == "" {
		fmt.Println("LoCoMo was not measured: give its file with -locomo")
	}
	return nil
}

// system is one way to find entries.
type system struct {
	name string
	open func(st Store) (finder, error)
}

// finder returns the entries found, best first.
type finder func(ctx context.Context, text, project string, limit int) ([]memory.Entry, error)

// systems are plain full-text search, ours with nothing, ours with one stage each, and all together.
func systems() []system {
	plain := search.Settings{Parts: search.Standard.Parts}
	guess := plain
	guess.Guess = search.Standard.Guess
	stage := func(name string, change func(*search.Settings)) system {
		set := guess
		change(&set)
		return ours(name, set)
	}
	std := search.Standard
	stop := plain
	stop.KeepStopWords = true
	return []system{
		{"fts5 bm25", func(st Store) (finder, error) {
			f, err := newFTS5(st.Entries)
			if err != nil {
				return nil, err
			}
			return f.find, nil
		}},
		ours("words", stop),
		ours("+ stop words", plain),
		ours("+ guesses", guess),
		stage("  and neighbours", func(s *search.Settings) { s.Near, s.After = std.Near, std.After }),
		stage("  and session", func(s *search.Settings) { s.Session = std.Session }),
		stage("  and phrase", func(s *search.Settings) { s.Phrase = std.Phrase }),
		stage("  and coverage", func(s *search.Settings) { s.Coverage = std.Coverage }),
		stage("  and alike", func(s *search.Settings) { s.Alike = std.Alike }),
		stage("  and time", func(s *search.Settings) { s.Times = true }),
		stage("  and kinds", func(s *search.Settings) { s.Worth = true }),
		stage("  and recency", func(s *search.Settings) { s.Recency = std.Recency }),
		stage("  and turns", func(s *search.Settings) { s.Turns, s.TurnShare = true, std.TurnShare }),
		ours("all", std),
	}
}

func ours(name string, set search.Settings) system {
	return system{name, func(st Store) (finder, error) {
		src, err := newSource(st.Entries)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, text, project string, limit int) ([]memory.Entry, error) {
			a, err := search.Find(ctx, src, search.Question{Query: memory.Query{Text: text, Project: project, Limit: limit}, Now: st.Now}, set)
			var out []memory.Entry
			for _, h := range a.Hits {
				out = append(out, h.Entry)
			}
			return out, err
		}, nil
	}}
}
