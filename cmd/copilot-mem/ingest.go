package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

type ingestJSON struct {
	SchemaVersion int `json:"schemaVersion"`
	Entries       int `json:"entries"`
	Duplicates    int `json:"duplicates"`
	Failed        int `json:"failed"`
}

func newIngestCmd(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ingest", Short: "Bring waiting events into the store now", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			db, r, err := e.openIngested(cmd.Context())
			if db != nil {
				if err == nil {
					err = db.Compact(cmd.Context()) // whoever ingests by hand has the time
				}
				err = errors.Join(err, db.Close())
			}
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(ingestJSON{1, r.Entries, r.Duplicates, r.Failed})
			}
			_, err = fmt.Fprintf(e.Stdout, "%s stored, %d already known, %d not understood\n", plural(r.Entries, "entry", "entries"), r.Duplicates, r.Failed)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
