package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type exportJSON struct {
	SchemaVersion int    `json:"schemaVersion"`
	Out           string `json:"out"`
	Sessions      int    `json:"sessions"`
	Entries       int    `json:"entries"`
}

func newExportCmd(e *env) *cobra.Command {
	var f filters
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "export", Short: "Write sessions and entries as JSON Lines, for `import` or other programs", Args: cobra.NoArgs,
		Long: "Write sessions and entries as JSON Lines. `copilot-mem import --from FILE` makes the same of it again.",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if asJSON && out == "" {
				return &usageError{errors.New("--json: the export itself goes to stdout"), "name a file with --out"}
			}
			q, err := f.query(e, "")
			if err != nil {
				return err
			}
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			if out == "" {
				_, err = db.Export(cmd.Context(), q, e.Stdout, e.Now())
				return err
			}
			path := e.absolute(out)
			n, err := e.exportTo(cmd.Context(), db, q, path)
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(exportJSON{1, path, n.Sessions, n.Entries})
			}
			_, err = fmt.Fprintf(e.Stdout, "%s: %s, %s\n", path, plural(n.Sessions, "session", "sessions"), plural(n.Entries, "entry", "entries"))
			return err
		},
	}
	f.add(cmd, math.MaxInt32)
	limit := cmd.Flags().Lookup("limit")
	limit.DefValue, limit.Usage = "all", "at most so many sessions, the newest"
	cmd.Flags().StringVar(&out, "out", "", "the file to write; one that is there is replaced when the new one is whole (default: stdout)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --out: one JSON document about what was written")
	return cmd
}

// exportTo writes beside the file and renames, so that nobody reads half an export.
func (e *env) exportTo(ctx context.Context, db *store.DB, q memory.Query, path string) (n store.Exported, err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), ".copilot-mem-*.partial")
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return n, fmt.Errorf("%s: %w", path, pe.Err) // not the name of the moment
	}
	if err != nil {
		return n, err
	}
	n, err = db.Export(ctx, q, temp, e.Now())
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(temp.Name()))
	}
	return n, err
}
