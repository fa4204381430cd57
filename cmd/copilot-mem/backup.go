package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type backupJSON struct {
	SchemaVersion int    `json:"schemaVersion"`
	Path          string `json:"path"`
	Bytes         int64  `json:"bytes"`
	Sessions      int    `json:"sessions"`
	Entries       int    `json:"entries"`
}

// stampLayout names files in the order of time.
const stampLayout = "20060102T150405.000Z"

func newBackupCmd(e *env) *cobra.Command {
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "backup", Short: "Copy the store, consistent and checked, while it is in use", Args: cobra.NoArgs,
		Long: "Copy the store, consistent and checked, while it is in use. `forget` cleans the copies too, as long as they lie where they were made.",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx := cmd.Context()
			db, err := e.openStore(ctx)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			dir, err := e.dataDir()
			if err != nil {
				return err
			}
			path := e.absolute(out)
			if out == "" {
				path = filepath.Join(dir.Backups(), "memory-"+e.Now().UTC().Format(stampLayout)+".db")
			} else if err := noteBackup(dir, path); err != nil {
				return err
			}
			counts, err := db.Counts(ctx)
			if err != nil {
				return err
			}
			if err := db.Backup(ctx, path); err != nil {
				if errors.Is(err, fs.ErrExist) {
					return &usageError{err, "give another name: a backup overwrites nothing"}
				}
				return err
			}
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(backupJSON{1, path, info.Size(), counts.Sessions, counts.Entries})
			}
			_, err = fmt.Fprintf(e.Stdout, "%s: %s of %s, %.1f MB\n", path, plural(counts.Entries, "entry", "entries"),
				plural(counts.Sessions, "session", "sessions"), float64(info.Size())/1e6)
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the file to write (default: one in the folder backups of the data folder)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

// elsewhereFile lists, one JSON string a line, the backups that were made outside of the data folder: forget looks for them.
func elsewhereFile(dir datadir.Dir) string { return filepath.Join(dir.Backups(), "elsewhere.jsonl") }

// noteBackup comes before the backup itself: one that nobody knows of could never be cleaned.
func noteBackup(dir datadir.Dir, path string) error {
	known, err := backupFiles(dir)
	if err != nil || slices.Contains(known, path) {
		return err
	}
	if err := os.MkdirAll(dir.Backups(), 0o700); err != nil {
		return err
	}
	line, err := json.Marshal(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(elsewhereFile(dir), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// backupFiles lists every copy of the store that we made, there or not.
func backupFiles(dir datadir.Dir) ([]string, error) {
	out, err := filepath.Glob(filepath.Join(dir.Backups(), "*.db"))
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(elsewhereFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		var path string
		if json.Unmarshal([]byte(line), &path) == nil && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out, nil
}

type restoreJSON struct {
	SchemaVersion int    `json:"schemaVersion"`
	DryRun        bool   `json:"dryRun"`
	From          string `json:"from"`
	Sessions      int    `json:"sessions"`
	Entries       int    `json:"entries"`
	Forgotten     int    `json:"forgotten"` // entries of the copy that were forgotten since, and stay away
	Former        string `json:"former"`    // where the store that was replaced lies; empty where there was none
}

type restoreFlags struct{ yes, dryRun, asJSON bool }

func newRestoreCmd(e *env) *cobra.Command {
	var f restoreFlags
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Put a backup in the place of the store", Args: cobra.ExactArgs(1),
		Long: `Put a backup in the place of the store. The backup is checked first and not changed; the store that it replaces is kept in
the folder backups of the data folder. What was forgotten since the backup stays forgotten.`,
		RunE: func(cmd *cobra.Command, args []string) error { return e.restore(cmd.Context(), f, e.absolute(args[0])) },
	}
	cmd.Flags().BoolVar(&f.yes, "yes", false, "ask nothing")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "check the backup and change nothing")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "one JSON document")
	return cmd
}

func (e *env) restore(ctx context.Context, f restoreFlags, from string) (err error) {
	ask := e.interactive(f.yes, f.asJSON)
	if !f.yes && !f.dryRun && !ask {
		return &usageError{errors.New("nobody to ask whether to replace the store"), "add --yes to replace it, or --dry-run to check the backup"}
	}
	dir, err := e.dataDir()
	if err != nil {
		return err
	}
	if err := dir.Ensure(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir.Backups(), 0o700); err != nil {
		return err
	}
	// The copy is brought up to date and cleaned before anything of the store is touched.
	stage := filepath.Join(dir.Backups(), "restoring-"+e.Now().UTC().Format(stampLayout)+".db")
	if info, err := os.Stat(from); err == nil && info.Size() == 0 {
		return fmt.Errorf("%s: empty file, not a backup", from)
	}
	if err := copyFile(from, stage); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeStore(stage)) }()
	staged, err := store.Open(ctx, stage, storeOptions)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	defer func() { err = errors.Join(err, staged.Close()) }()
	if err := staged.Check(ctx); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	live, err := openWhole(ctx, dir)
	if err != nil {
		return err
	}
	if live != nil {
		defer func() { err = errors.Join(err, live.Close()) }()
	}
	out := restoreJSON{SchemaVersion: 1, DryRun: f.dryRun, From: from}
	if live != nil {
		if out.Forgotten, err = staged.TakeTombstones(ctx, live); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(e.Stderr, "copilot-mem: warning: the store is damaged: what was forgotten since the backup may come back with it")
	}
	counts, err := staged.Counts(ctx)
	if err != nil {
		return err
	}
	out.Sessions, out.Entries = counts.Sessions, counts.Entries
	if ask && !f.dryRun {
		if ok, err := e.confirm(fmt.Sprintf("Replace the store with %s of %s?", plural(out.Entries, "entry", "entries"), from), false); err != nil || !ok {
			return err
		}
	}
	if !f.dryRun {
		if out.Former, err = e.replaceStore(ctx, dir, live, staged); err != nil {
			return err
		}
	}
	if f.asJSON {
		return e.printJSON(out)
	}
	w := &lines{w: e.Stdout}
	verb := map[bool]string{true: "would be restored", false: "restored"}[f.dryRun]
	w.printf("%s: %s of %s from %s\n", verb, plural(out.Entries, "entry", "entries"), plural(out.Sessions, "session", "sessions"), from)
	if out.Forgotten > 0 {
		w.printf("%s of it were forgotten since and stay away\n", plural(out.Forgotten, "entry", "entries"))
	}
	if out.Former != "" {
		w.printf("the store before is kept as %s\n", out.Former)
	}
	return w.err
}

// openWhole opens the store, and gives none where it is damaged.
func openWhole(ctx context.Context, dir datadir.Dir) (*store.DB, error) {
	db, err := store.Open(ctx, dir.DB(), storeOptions)
	if err == nil {
		if err = db.QuickCheck(ctx); err == nil {
			return db, nil
		}
		err = errors.Join(err, db.Close())
	}
	if _, damaged := errors.AsType[*store.DamagedError](err); damaged {
		return nil, nil
	}
	return nil, err
}

// replaceStore puts the store aside and the staged copy in its place.
func (e *env) replaceStore(ctx context.Context, dir datadir.Dir, live, staged *store.DB) (former string, err error) {
	stamp := e.Now().UTC().Format(stampLayout)
	if live == nil {
		if former, err = putAside(dir, stamp); err != nil {
			return "", err
		}
		if live, err = store.Open(ctx, dir.DB(), storeOptions); err != nil {
			return former, err
		}
		defer func() { err = errors.Join(err, live.Close()) }()
		return former, live.Restore(ctx, staged.Path())
	}
	counts, err := live.Counts(ctx)
	if err != nil {
		return "", err
	}
	if counts.Sessions > 0 {
		former = filepath.Join(dir.Backups(), "before-restore-"+stamp+".db")
		if err := live.Backup(ctx, former); err != nil {
			return "", err
		}
	}
	return former, live.Restore(ctx, staged.Path())
}

// putAside moves a store's files, which are damaged, into the folder of backups.
func putAside(dir datadir.Dir, stamp string) (string, error) {
	if err := os.MkdirAll(dir.Backups(), 0o700); err != nil {
		return "", err
	}
	to := filepath.Join(dir.Backups(), "damaged-"+stamp+".db")
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(dir.DB()+suffix, to+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return to, nil
}

func copyFile(from, to string) (err error) {
	data, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }() // read only: nothing can be lost
	info, err := data.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", from)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.ReadFrom(data); err != nil {
		return errors.Join(err, f.Close(), os.Remove(to))
	}
	return f.Close()
}
