package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/guard"
	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/spool"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type forgetJSON struct {
	SchemaVersion int            `json:"schemaVersion"`
	DryRun        bool           `json:"dryRun"`
	Session       string         `json:"sessionId"` // of one entry, or the one session that was named
	Entry         string         `json:"entryId"`
	Project       string         `json:"project"`
	Before        jsonTime       `json:"before"`
	Entries       int            `json:"entries"`
	Sessions      int            `json:"sessions"` // of which nothing is left
	Kinds         map[string]int `json:"kinds"`
	FirstAt       jsonTime       `json:"firstAt"`
	LastAt        jsonTime       `json:"lastAt"`
	Lines         int            `json:"lines"`   // taken out of files beside the store
	Backups       int            `json:"backups"` // copies of the store that were cleaned too
}

type forgetFlags struct {
	session, project, before, match string
	dryRun, yes, asJSON             bool
}

func newForgetCmd(e *env) *cobra.Command {
	var f forgetFlags
	cmd := &cobra.Command{
		Use:   "forget (ID | --session S | --project P | --before T | --match TEXT)",
		Short: "Delete for good: an entry, a turn, a session, a project, a time, a text",
		Long: `Delete for good: the rows, their words in the index, what waits beside the store, and our backups of it. Nothing of it
comes back with an import; what happens later is kept again. Several conditions together name what passes all of them.
ID is that of an entry, of a turn (SESSION:3) or of a session.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.forget(cmd.Context(), f, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.session, "session", "", "the session whose id starts so")
	fl.StringVar(&f.project, "project", "", "everything of this project: host/owner/name, the end of it, or a folder")
	fl.StringVar(&f.before, "before", "", "everything before this time: "+timeForms)
	fl.StringVar(&f.match, "match", "", "every entry with these words in it, letter for letter but for case")
	fl.BoolVar(&f.dryRun, "dry-run", false, "delete nothing, say what would be deleted")
	fl.BoolVar(&f.yes, "yes", false, "ask nothing")
	fl.BoolVar(&f.asJSON, "json", false, "one JSON document")
	return cmd
}

func (e *env) forget(ctx context.Context, f forgetFlags, args []string) (err error) {
	if len(args) == 0 && f.session+f.project+f.before+f.match == "" {
		return &usageError{errors.New("nothing is named: give an id, --session, --project, --before or --match"), "`copilot-mem show SESSION` lists entries with their ids"}
	}
	if len(args) > 0 && f.session+f.project+f.before+f.match != "" {
		return &usageError{errors.New("an id names everything by itself"), "leave out the id, or the flags"}
	}
	if f.match != "" && strings.TrimSpace(f.match) == "" {
		return &usageError{errors.New("--match: only blanks"), ""}
	}
	ask := e.interactive(f.yes, f.asJSON)
	if !f.yes && !f.dryRun && !ask {
		return &usageError{errors.New("nobody to ask whether to delete"), "add --yes to delete, or --dry-run to look"}
	}
	db, err := e.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out := forgetJSON{SchemaVersion: 1, DryRun: f.dryRun}
	sel, err := e.selection(ctx, db, f, args, &out)
	if err != nil {
		return err
	}
	found, err := db.Forget(ctx, sel, e.Now(), true)
	if err != nil {
		return err
	}
	what := describe(found, out, sel)
	if ask && !f.dryRun {
		if ok, err := e.confirm("Delete "+screen(what)+" for good?", false); err != nil || !ok {
			return err
		}
	}
	done := "would be forgotten"
	if !f.dryRun {
		if found, err = db.Forget(ctx, sel, e.Now(), false); err != nil {
			return err
		}
		done, what = "forgotten", describe(found, out, sel)
		if out.Lines, out.Backups, err = e.sweep(ctx, db, sel, found); err != nil {
			return err
		}
	}
	if f.asJSON {
		out.fill(found)
		return e.printJSON(out)
	}
	w := &lines{w: e.Stdout}
	w.printf("%s: %s\n", done, screen(what))
	if out.Backups > 0 {
		w.printf("%s cleaned too\n", plural(out.Backups, "backup", "backups"))
	}
	return w.err
}

// selection turns what was typed into whole ids and names.
func (e *env) selection(ctx context.Context, db *store.DB, f forgetFlags, args []string, out *forgetJSON) (sel store.Selection, err error) {
	sel.Match = f.match
	if len(args) > 0 {
		p, err := findPart(ctx, db, args[0])
		if err != nil {
			return sel, err
		}
		out.Session = p.session.ID
		if p.entry == "" && p.turn < 0 {
			sel.Session = p.session.ID
			return sel, nil
		}
		out.Entry = p.entry
		entries, err := db.Entries(ctx, p.session.ID)
		if err != nil {
			return sel, err
		}
		if entries, err = p.cut(entries, 0, 0); err != nil {
			return sel, err
		}
		for _, m := range entries {
			sel.Entries = append(sel.Entries, m.ID)
		}
		return sel, nil
	}
	if f.session != "" {
		s, err := db.Session(ctx, f.session)
		if err != nil {
			return sel, err
		}
		sel.Session, out.Session = s.ID, s.ID
	}
	if f.project != "" {
		if sel.Project, err = e.oneProject(ctx, db, f.project); err != nil {
			return sel, err
		}
		out.Project = sel.Project
	}
	if f.before != "" {
		p, err := parsePeriod(f.before, e.Now())
		if err != nil {
			return sel, err
		}
		sel.Before, out.Before = p.from, jsonTime(p.from)
	}
	return sel, nil
}

// oneProject is the whole name of the one project that is meant.
func (e *env) oneProject(ctx context.Context, db *store.DB, name string) (string, error) {
	names, err := db.Projects(ctx, e.projectName(name))
	switch {
	case err != nil:
		return "", err
	case len(names) == 1 || slices.Contains(names, name):
		return slices.DeleteFunc(names, func(p string) bool { return len(names) > 1 && p != name })[0], nil
	case len(names) == 0:
		return "", &store.NotFoundError{What: "project", Prefix: name}
	}
	return "", &usageError{fmt.Errorf("project %q is not unique: %s", name, strings.Join(names, ", ")), "give its whole name"}
}

func describe(f store.Forgotten, out forgetJSON, sel store.Selection) string {
	text := plural(f.Entries, "entry", "entries")
	switch {
	case out.Entry != "":
		text = "entry " + out.Entry + " of session " + out.Session
	case sel.Session != "" && len(f.Sessions) == 1:
		text = "session " + out.Session + " with " + text
	case len(f.Sessions) > 0:
		text += ", with " + plural(len(f.Sessions), "whole session", "whole sessions")
	}
	if !f.First.IsZero() && out.Entry == "" {
		text += ", from " + f.First.Format(time.DateOnly) + " to " + f.Last.Format(time.DateOnly)
	}
	return text
}

func (out *forgetJSON) fill(f store.Forgotten) {
	out.Entries, out.Sessions, out.Kinds = f.Entries, len(f.Sessions), map[string]int{}
	for k, n := range f.Kinds {
		out.Kinds[string(k)] = n
	}
	out.FirstAt, out.LastAt = jsonTime(f.First), jsonTime(f.Last)
}

// sweep takes what was forgotten out of the store's file and of every file beside it.
func (e *env) sweep(ctx context.Context, db *store.DB, sel store.Selection, found store.Forgotten) (removed, backups int, err error) {
	dir, err := e.dataDir()
	if err != nil {
		return 0, 0, err
	}
	// What came in meanwhile meets the tombstones.
	if _, err := ingest.Run(ctx, spool.Spool{Dir: dir.Spool()}, db); err != nil {
		return 0, 0, err
	}
	if err := db.Scrub(ctx); err != nil {
		return 0, 0, err
	}
	drop := dropper{ctx, db, sel}
	if removed, err = purgeFiles(dir, drop, found); err != nil {
		return removed, 0, err
	}
	if err := e.sweepReceipts(ctx, dir, db, sel.Match); err != nil {
		return removed, 0, err
	}
	if backups, err = e.sweepBackups(ctx, dir, db); err != nil {
		return removed, backups, err
	}
	return removed, backups, db.Swept(ctx)
}

func purgeFiles(dir datadir.Dir, drop dropper, found store.Forgotten) (removed int, err error) {
	if removed, err = (spool.Spool{Dir: dir.Spool()}).Edit(drop.edit, true); err != nil {
		return removed, err
	}
	sink := spool.Spool{Dir: dir.Forward()}
	n, err := sink.Edit(drop.edit, true)
	if removed += n; err != nil {
		return removed, err
	}
	n, err = sink.EditWaiting(drop.edit)
	if removed += n; err != nil {
		return removed, err
	}
	n, err = guard.EditLog(string(dir), drop.logged(found))
	if removed += n; err != nil {
		return removed, err
	}
	return removed, forgetState(dir, drop, found)
}
