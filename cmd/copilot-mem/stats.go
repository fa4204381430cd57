package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/recall"
	"github.com/copilot-mem/copilot-mem/internal/spool"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type statsJSON struct {
	SchemaVersion int                 `json:"schemaVersion"`
	Sessions      int                 `json:"sessions"`
	Turns         int                 `json:"turns"`
	Entries       int                 `json:"entries"`
	Projects      int                 `json:"projects"`
	Kinds         map[memory.Kind]int `json:"kinds"`
	Redacted      int                 `json:"redacted"`
	Truncated     int                 `json:"truncated"`
	FirstAt       jsonTime            `json:"firstAt"`
	LastAt        jsonTime            `json:"lastAt"`
	StoreBytes    int64               `json:"storeBytes"`
	SpoolBytes    int64               `json:"spoolBytes"`
	Recall        recallStats         `json:"recall"`
}

// recallStats is what agents were told by themselves, and whether it was of use.
type recallStats struct {
	Sessions      int   `json:"sessions"`      // that were told something
	Injections    int   `json:"injections"`    // how often
	Tokens        int   `json:"tokens"`        // estimated
	Bytes         int   `json:"bytes"`         //
	MedianTokens  int   `json:"medianTokens"`  // of a session
	Items         int   `json:"items"`         // things that were told
	Used          int   `json:"used"`          // of these: those whose id the agent named later, in an answer or a tool call
	Muted         int   `json:"muted"`         // ids
	MedianMicros  int64 `json:"medianMicros"`  // from the start of the program to its answer
	ReceiptsBytes int64 `json:"receiptsBytes"` // on disk
}

func newStatsCmd(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "stats", Short: "Count what is remembered, and its size on disk", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			c, err := db.Counts(cmd.Context())
			if err != nil {
				return err
			}
			dir, err := e.dataDir()
			if err != nil {
				return err
			}
			_, waiting, err := spool.Spool{Dir: dir.Spool()}.Pending()
			if err != nil {
				return err
			}
			told, err := e.recallStats(cmd.Context(), dir, db)
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(statsJSON{
					1, c.Sessions, c.Turns, c.Entries, c.Projects, c.Kinds, c.Redacted, c.Truncated,
					jsonTime(c.First), jsonTime(c.Last), c.Bytes, waiting, told,
				})
			}
			w := &lines{w: e.Stdout}
			w.printf("%s, %s, %s in %s\n", plural(c.Sessions, "session", "sessions"), plural(c.Turns, "turn", "turns"),
				plural(c.Entries, "entry", "entries"), plural(c.Projects, "project", "projects"))
			if c.Entries > 0 {
				w.printf("from %s to %s\n", screenTime(c.First, e.Now()), screenTime(c.Last, e.Now()))
			}
			for _, k := range slices.Sorted(maps.Keys(c.Kinds)) {
				w.printf("  %-14s %d\n", screen(string(k)), c.Kinds[k])
			}
			w.printf("%s taken out, %s cut to the size limit\n", plural(c.Redacted, "secret", "secrets"), plural(c.Truncated, "entry", "entries"))
			w.printf("%.1f MB on disk, %.1f MB waiting\n", float64(c.Bytes)/1e6, float64(waiting)/1e6)
			w.printf("agents were told something by themselves %s in %s: %d tokens, %d in the middle session; %d of %s named again; %d muted\n",
				plural(told.Injections, "time", "times"), plural(told.Sessions, "session", "sessions"), told.Tokens, told.MedianTokens,
				told.Used, plural(told.Items, "thing", "things"), told.Muted)
			return w.err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func (e *env) recallStats(ctx context.Context, dir datadir.Dir, db *store.DB) (out recallStats, err error) {
	muted, err := readMutedList(dir)
	if err != nil {
		return out, err
	}
	out.Muted = len(muted.IDs)
	paths, err := allReceipts(dir)
	if err != nil {
		return out, err
	}
	var perSession []int
	var micros []int64
	for _, p := range paths {
		receipts, err := readReceipts(p)
		if err != nil {
			return out, err
		}
		if info, err := os.Stat(p); err == nil {
			out.ReceiptsBytes += info.Size()
		}
		tokens := 0
		for _, r := range receipts {
			if r.Text == "" || r.Aside {
				continue
			}
			out.Injections++
			out.Bytes += r.Bytes
			tokens += r.Tokens
			micros = append(micros, r.Micros)
			used, err := usedItems(ctx, db, r)
			if err != nil {
				return out, err
			}
			out.Items += len(r.Items)
			out.Used += used
		}
		if tokens > 0 {
			out.Sessions++
			out.Tokens += tokens
			perSession = append(perSession, tokens)
		}
	}
	slices.Sort(perSession)
	slices.Sort(micros)
	if n := len(perSession); n > 0 {
		out.MedianTokens, out.MedianMicros = perSession[n/2], micros[len(micros)/2]
	}
	return out, nil
}

// usedItems counts what the agent named by its id after it was told of it.
func usedItems(ctx context.Context, db *store.DB, r recall.Receipt) (used int, err error) {
	for _, i := range r.Items {
		n, err := db.Mentions(ctx, r.Session, i.ID, r.Time)
		if err != nil {
			return used, err
		}
		if n > 0 {
			used++
		}
	}
	return used, nil
}
