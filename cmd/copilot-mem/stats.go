package main

import (
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/spool"
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
			if asJSON {
				return e.printJSON(statsJSON{
					1, c.Sessions, c.Turns, c.Entries, c.Projects, c.Kinds, c.Redacted, c.Truncated,
					jsonTime(c.First), jsonTime(c.Last), c.Bytes, waiting,
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
			return w.err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}
