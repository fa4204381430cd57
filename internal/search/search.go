// Package search answers which memories fit a query, in what order, and why.
// It neither stores nor reads: the index is the caller's.
package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Index is what a search asks of a store. A term is a list of alternatives, an alternative a phrase of words as
// [Tokens] makes them, whose last may end in * (any word that starts so). Hits come best first; without terms,
// newest first.
type Index interface {
	Match(ctx context.Context, q memory.Query, terms [][]string, all bool) ([]memory.Hit, error)
}

const (
	defaultLimit = 20
	// fetch is how many candidates stand for one wanted hit: some are folded, and neighbours lift others.
	fetch = 3
)

// Run searches. Entries with all words of the query come first, then those with some of them. A query of marks only
// finds nothing; an empty one finds the newest entries that pass the filters. With explain hits say why they were found.
func Run(ctx context.Context, idx Index, q memory.Query, explain bool) ([]memory.Hit, error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	wide := q
	wide.Limit = max(q.Limit*fetch, 60)
	terms := parse(q.Text)
	if len(terms) == 0 {
		if strings.TrimSpace(q.Text) != "" {
			return nil, nil
		}
		hits, err := idx.Match(ctx, wide, nil, true)
		if err != nil {
			return nil, err
		}
		return finish(rank(hits, nil, explain, nil), q.Limit, nil), nil
	}
	all, err := idx.Match(ctx, wide, strict(terms), true)
	if err != nil {
		return nil, err
	}
	var some []memory.Hit
	reason := "some words"
	if looser := loose(terms); len(fold(all)) < q.Limit && (len(looser) > 1 || len(all) == 0) {
		if some, err = idx.Match(ctx, wide, looser, false); err != nil {
			return nil, err
		}
		if prefixes := starts(terms); len(some) == 0 && len(prefixes) > 0 {
			reason = "start of a word"
			if some, err = idx.Match(ctx, wide, prefixes, false); err != nil {
				return nil, err
			}
		}
	}
	why := func(h memory.Hit, whole bool) []string {
		return reasons(h, terms, whole, reason)
	}
	return finish(rank(all, some, explain, why), q.Limit, terms), nil
}

func finish(hits []memory.Hit, limit int, terms []term) []memory.Hit {
	hits = hits[:min(len(hits), limit)]
	for i := range hits {
		hits[i].Snippet = snippet(hits[i].Entry, terms)
	}
	return hits
}

func reasons(h memory.Hit, terms []term, whole bool, loose string) []string {
	out := []string{loose}
	if whole {
		out[0] = "all words"
	}
	var found []string
	f := newFinder(terms)
	for i, t := range terms {
		if f.in(h.Text, i) || f.in(string(h.ToolInput), i) {
			found = append(found, t.text)
		}
	}
	if len(found) > 0 {
		out = append(out, "found: "+strings.Join(found, ", "))
	}
	if h.Withdrawn {
		out = append(out, "withdrawn in the client: ranked lower")
	}
	return append(out, fmt.Sprintf("score: bm25 %.2f", h.Score))
}
