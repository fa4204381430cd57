package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type repairJSON struct {
	SchemaVersion int    `json:"schemaVersion"`
	Damaged       bool   `json:"damaged"`
	Damage        string `json:"damage"`
	Entries       int    `json:"entries"`     // that could still be read
	FromBackups   int    `json:"fromBackups"` // that only a backup had
	Former        string `json:"former"`      // where the damaged store lies now
}

func newRepairCmd(e *env) *cobra.Command {
	var force, asJSON bool
	cmd := &cobra.Command{
		Use: "repair", Short: "Make a damaged store whole again", Args: cobra.NoArgs,
		Long: `Make a damaged store whole again: what can still be read is kept, what only a backup has is taken from there, and the index
is made anew. The damaged file is put aside. Afterwards ` + "`copilot-mem import`" + ` finds what the client's transcripts still have.
A store that is whole stays as it is.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := e.repair(cmd.Context(), force)
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(out)
			}
			w := &lines{w: e.Stdout}
			if !out.Damaged {
				w.printf("the store is whole: nothing to do\n")
				return w.err
			}
			w.printf("the store was damaged: %s\n%s kept, %s from backups\nthe damaged store is kept as %s\n", screen(out.Damage),
				plural(out.Entries, "entry", "entries"), plural(out.FromBackups, "entry", "entries"), out.Former)
			w.printf("run `copilot-mem import` for what the client's transcripts still have\n")
			return w.err
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "make it anew though it looks whole")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func (e *env) repair(ctx context.Context, force bool) (out repairJSON, err error) {
	out.SchemaVersion = 1
	dir, err := e.dataDir()
	if err != nil {
		return out, err
	}
	if err := dir.Ensure(); err != nil {
		return out, err
	}
	if _, err := os.Stat(dir.DB()); errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	damage := damageOf(ctx, dir)
	if _, ok := errors.AsType[*store.DamagedError](damage); !ok && !force {
		return out, damage
	}
	out.Damaged = true
	if damage != nil {
		out.Damage = damage.Error()
	}
	stamp := e.Now().UTC().Format(stampLayout)
	if out.Former, err = copyAside(dir, stamp); err != nil {
		return out, err
	}
	// Built beside: an end half-way leaves the damaged store as it is.
	stage := filepath.Join(dir.Backups(), "repairing-"+stamp+".db")
	defer func() { err = errors.Join(err, removeStore(stage)) }() // nothing is left of it when all went well
	db, err := store.Open(ctx, stage, storeOptions)
	if err != nil {
		return out, err
	}
	saved, err := db.Salvage(ctx, out.Former)
	if ctx.Err() != nil {
		return out, errors.Join(ctx.Err(), db.Close())
	}
	if err != nil {
		fmt.Fprintf(e.Stderr, "copilot-mem: warning: nothing of the damaged store can be read: %v\n", err)
	}
	out.Entries = saved.Entries
	if out.FromBackups, err = e.absorbBackups(ctx, dir, db); err != nil {
		return out, errors.Join(err, db.Close())
	}
	if err := errors.Join(db.Scrub(ctx), db.Check(ctx), db.Close()); err != nil {
		return out, err
	}
	return out, errors.Join(removeStore(dir.DB()), os.Rename(stage, dir.DB()))
}

// copyAside copies the files of a damaged store into the folder of backups.
func copyAside(dir datadir.Dir, stamp string) (string, error) {
	if err := os.MkdirAll(dir.Backups(), 0o700); err != nil {
		return "", err
	}
	to := filepath.Join(dir.Backups(), "damaged-"+stamp+".db")
	for _, suffix := range []string{"", "-wal"} {
		if _, err := os.Stat(dir.DB() + suffix); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := copyFile(dir.DB()+suffix, to+suffix); err != nil {
			return "", err
		}
	}
	return to, nil
}

// damageOf reads the whole store.
func damageOf(ctx context.Context, dir datadir.Dir) error {
	db, err := store.Open(ctx, dir.DB(), storeOptions)
	if err != nil {
		return err
	}
	return errors.Join(db.Check(ctx), db.Close())
}

// absorbBackups takes what only backups have, the newest first.
func (e *env) absorbBackups(ctx context.Context, dir datadir.Dir, db *store.DB) (added int, err error) {
	paths, err := backupFiles(dir)
	if err != nil {
		return 0, err
	}
	slices.Reverse(paths)
	for _, path := range paths {
		if path == db.Path() || store.Check(ctx, path) != nil {
			continue // gone, or damaged itself
		}
		old, err := store.Open(ctx, path, storeOptions)
		if err != nil {
			return added, err
		}
		n, err := db.Absorb(ctx, old)
		added += n
		if err := errors.Join(err, old.Close()); err != nil {
			return added, err
		}
	}
	return added, nil
}
