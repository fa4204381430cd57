package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/guard"
	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/spool"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

// dropper says which lines beside the store go with a selection.
type dropper struct {
	ctx context.Context //nolint:containedctx // lives as long as one command
	db  *store.DB
	sel store.Selection
}

// edit removes the lines that go.
func (d dropper) edit(line []byte) []byte {
	if d.line(line) {
		return nil
	}
	return line
}

// line judges one line of a spool's file. One that cannot be read may be part of anything: it goes with everything but
// single entries, unless it plainly is of something else.
func (d dropper) line(raw []byte) bool {
	if d.sel.Match != "" && !holds(string(raw), d.sel.Match) {
		return false
	}
	var l spool.Line
	if json.Unmarshal(raw, &l) != nil || l.ID == "" {
		return d.loose(string(raw))
	}
	folded := ingest.Fold([]spool.Line{l}, ingest.World{
		Project: ingest.ProjectOf,
		AgentSession: func(agent string) string {
			id, err := d.db.AgentSession(d.ctx, agent)
			if err != nil {
				return ""
			}
			return id
		},
	})
	if len(folded.Failed) > 0 {
		return d.loose(string(raw)) && (d.sel.Before.IsZero() || time.UnixMilli(l.At).Before(d.sel.Before))
	}
	for _, m := range folded.Entries {
		if len(d.sel.Entries) > 0 && !slices.Contains(d.sel.Entries, m.ID) ||
			d.sel.Session != "" && m.SessionID != d.sel.Session ||
			d.sel.Project != "" && m.Project != d.sel.Project ||
			!d.sel.Before.IsZero() && !m.Time.Before(d.sel.Before) {
			continue
		}
		return true
	}
	return false
}

func (d dropper) loose(raw string) bool {
	if len(d.sel.Entries) > 0 {
		return false
	}
	named := strings.Contains(raw, "sessionId") || strings.Contains(raw, "session_id") || strings.Contains(raw, `"session":`)
	return d.sel.Session == "" || !named || strings.Contains(raw, d.sel.Session)
}

// logged says which lines of the policies' session log go: they do not say which entry they are of, so that all of a
// session go that lost something, and every line with the words that were named.
func (d dropper) logged(found store.Forgotten) func([]byte) bool {
	root := map[string]bool{}
	return func(line []byte) bool {
		var l struct {
			Session, Cwd string
			Time         time.Time
		}
		if d.sel.Match != "" && holds(string(line), d.sel.Match) || json.Unmarshal(line, &l) != nil {
			return true
		}
		lost, known := root[l.Session]
		if !known {
			id := l.Session
			if parent, err := d.db.AgentSession(d.ctx, id); err == nil && parent != "" {
				id = parent
			}
			lost = slices.Contains(found.Sessions, id) || slices.Contains(found.Touched, id) || d.sel.Session == id
			root[l.Session] = lost
		}
		if d.sel.Project != "" && (l.Cwd == d.sel.Project || strings.HasPrefix(l.Cwd, d.sel.Project+"/")) {
			lost = true // a temporary folder has no project, and what was forgotten before is in no session
		}
		return lost && (d.sel.Before.IsZero() || l.Time.Before(d.sel.Before))
	}
}

// holds looks for words in a line of JSON, as they are and as JSON writes them.
func holds(line, words string) bool {
	escaped, err := json.Marshal(words)
	if err != nil {
		return false
	}
	line = strings.ToLower(line)
	return strings.Contains(line, strings.ToLower(words)) || strings.Contains(line, strings.ToLower(strings.Trim(string(escaped), `"`)))
}

// forgetState removes the state files that name what was forgotten.
func forgetState(dir datadir.Dir, d dropper, found store.Forgotten) error {
	return capture.ForgetState(dir, func(content string) bool {
		if d.sel.Match != "" && holds(content, d.sel.Match) {
			return true
		}
		return slices.ContainsFunc(found.Sessions, func(id string) bool { return strings.Contains(content, id) })
	})
}

// sweepBackups takes what the store has forgotten out of its copies. One that is no store any more is removed where it
// lies in our folder: nothing can be taken out of it alone.
func (e *env) sweepBackups(ctx context.Context, dir datadir.Dir, db *store.DB) (cleaned int, err error) {
	paths, err := backupFiles(dir)
	if err != nil {
		return 0, err
	}
	var problems []error
	for _, path := range paths {
		if ctx.Err() != nil {
			return cleaned, ctx.Err()
		}
		switch ok, err := cleanBackup(ctx, path, db); {
		case err == nil && ok:
			cleaned++
		case err == nil:
		case filepath.Dir(path) == dir.Backups():
			fmt.Fprintf(e.Stderr, "copilot-mem: warning: %s: removed whole, because it cannot be cleaned: %v\n", path, err)
			problems = append(problems, removeStore(path))
			cleaned++
		default:
			problems = append(problems, fmt.Errorf("%s: still holds what was forgotten: %w", path, err))
		}
	}
	return cleaned, errors.Join(problems...)
}

// cleanBackup reports false for a copy that is not there.
func cleanBackup(ctx context.Context, path string, db *store.DB) (bool, error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	copied, err := store.Open(ctx, path, storeOptions)
	if err != nil {
		return false, err
	}
	_, err = copied.TakeTombstones(ctx, db)
	return true, errors.Join(err, copied.Close())
}

// removeStore removes a store's file with what SQLite lays beside it.
func removeStore(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// tidy deletes what the user's limits name, and finishes what a forget that was killed left in files beside the store.
func (e *env) tidy(ctx context.Context, dir datadir.Dir, db *store.DB) error {
	c, err := config.Load(dir.Config())
	if _, told := errors.AsType[*config.FileError](err); err != nil && !told { // `doctor` tells of mistakes in it
		return err
	}
	limits := store.Limits{MaxBytes: c.Retention.MaxBytes}
	if c.Retention.MaxAge > 0 {
		limits.Since = e.Now().Add(-c.Retention.MaxAge)
	}
	if _, err := db.Retain(ctx, limits); err != nil {
		return err
	}
	due, err := db.SweepDue(ctx, e.Now())
	if err != nil || !due {
		return err
	}
	// Nobody knows any more what was named: what stands in lines that are no events may be part of it.
	gone := func([]byte) []byte { return nil }
	if _, err := (spool.Spool{Dir: dir.Spool()}).Edit(gone, true); err != nil {
		return err
	}
	sink := spool.Spool{Dir: dir.Forward()}
	if _, err := sink.Edit(gone, true); err != nil {
		return err
	}
	if _, err := sink.EditWaiting(gone); err != nil {
		return err
	}
	if err := e.sweepReceipts(ctx, dir, db, ""); err != nil {
		return err
	}
	if _, err := guard.EditLog(string(dir), func([]byte) bool { return true }); err != nil {
		return err
	}
	if _, err := e.sweepBackups(ctx, dir, db); err != nil {
		return err
	}
	return db.Swept(ctx)
}
