package store

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// What a session's row says after many batches, in any order and from two sources, is what counting everything says.
func TestTotalsOfBatchesAreThoseOfAll(t *testing.T) {
	db := openNew(t)
	rnd := rand.New(rand.NewPCG(5, 26))
	kinds := []memory.Kind{memory.KindPrompt, memory.KindResponse, memory.KindToolCall, memory.KindSessionStart, memory.KindSessionEnd, memory.KindNotification}
	sources := []memory.Sources{memory.FromHook, memory.FromTranscript}
	for batch := range 60 {
		var entries []memory.Entry
		for i := range 5 {
			at := rnd.IntN(2000)
			kind := kinds[rnd.IntN(len(kinds))]
			if batch == 0 {
				kind = memory.KindResponse // the first prompt comes late
			}
			entries = append(entries, memory.Entry{
				ID: fmt.Sprintf("e%02d-%d", batch, i), SessionID: fmt.Sprint("s", rnd.IntN(2)), Kind: kind, Text: fmt.Sprint("text ", at),
				Time: time.UnixMilli(int64(1e12 + 1000*at)).UTC(), Sources: sources[rnd.IntN(2)], Match: int64(1 + rnd.IntN(40)), ResultType: "complete",
			})
		}
		if _, _, err := db.Add(t.Context(), nil, entries); err != nil {
			t.Fatal(err)
		}
		got := sessionsAndTurns(t, db)
		for id := range got {
			err := db.write(t.Context(), func(tx *sql.Tx) error {
				if err := renumber(t.Context(), tx, id); err != nil {
					return err
				}
				return totals(t.Context(), tx, id)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(sessionsAndTurns(t, db), got); diff != "" {
			t.Fatalf("after batch %d (-all +batches):\n%s", batch, diff)
		}
	}
}

type counted struct {
	Session memory.Session
	Turns   map[string]int
}

func sessionsAndTurns(t *testing.T, db *DB) map[string]counted {
	t.Helper()
	sessions, err := db.Sessions(t.Context(), memory.Query{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]counted{}
	for _, s := range sessions {
		entries, err := db.Entries(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		c := counted{s, map[string]int{}}
		for _, e := range entries {
			c.Turns[e.ID] = e.Turn
		}
		out[s.ID] = c
	}
	return out
}
