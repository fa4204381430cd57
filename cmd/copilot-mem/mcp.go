package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/digest"
	"github.com/copilot-mem/copilot-mem/internal/mcpserver"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

func newMCPCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Answer an agent over the Model Context Protocol, on stdin and stdout", Args: cobra.NoArgs,
		Long: `Answer an agent over the Model Context Protocol, on stdin and stdout. A client starts this by itself: "copilot-mem init"
registers it, and any other client takes the command "copilot-mem mcp" with the project's folder as working folder.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := mcpserver.New(agentMemory{e}, mcpserver.Options{Version: pluginVersion(), Now: e.Now, Zone: e.Now().Location()})
			err := mcpserver.Serve(cmd.Context(), s, io.NopCloser(e.Stdin), keepOpen{e.Stdout})
			if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
				return nil // the client went away, as it does at the end
			}
			return err
		},
	}
}

type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// agentMemory does for an agent what the commands do for a person. The store is opened for each question, so that the
// server starts at once and no other program ever waits for it.
type agentMemory struct{ *env }

func (a agentMemory) with(ctx context.Context, do func(db *store.DB) error) (err error) {
	db, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return do(db)
}

// here is the environment in the session's folder. A plugin's server is started in the plugin's (client 1.0.102), but it is
// told the session, whose folder memory knows.
func (a agentMemory) here(ctx context.Context) *env {
	id := a.Getenv("COPILOT_AGENT_SESSION_ID")
	if root := a.Getenv("PLUGIN_ROOT"); id == "" || root == "" || filepath.Clean(root) != filepath.Clean(a.Dir) {
		return a.env
	}
	moved := *a.env
	err := a.with(ctx, func(db *store.DB) error {
		s, err := db.Session(ctx, id)
		if err == nil && s.Cwd != "" {
			moved.Dir = s.Cwd
		}
		return err
	})
	if err != nil { // nothing of the session was captured
		return a.env
	}
	return &moved
}

// query reads a question of the agent as the flags of a command.
func (a agentMemory) query(ctx context.Context, ask mcpserver.Ask) (memory.Query, error) {
	f := filters{
		project: ask.Project, all: ask.All, since: ask.Since, until: ask.Until, kind: ask.Kind, file: ask.File, session: ask.Session,
		limit: cmp.Or(ask.Limit, 20),
	}
	return f.query(a.here(ctx), ask.Query)
}

func (a agentMemory) Search(ctx context.Context, ask mcpserver.Ask) (hits []memory.Hit, project string, err error) {
	q, err := a.query(ctx, ask)
	if err != nil {
		return nil, "", err
	}
	err = a.with(ctx, func(db *store.DB) (err error) {
		found, err := a.find(ctx, db, q, false)
		hits = found.Hits
		return err
	})
	return hits, q.Project, err
}

func (a agentMemory) Show(ctx context.Context, id string, before, after int) (s memory.Session, entries []memory.Entry, err error) {
	err = a.with(ctx, func(db *store.DB) error {
		p, err := findPart(ctx, db, id)
		if err != nil {
			return err
		}
		s = p.session
		if entries, err = db.Entries(ctx, s.ID); err != nil {
			return err
		}
		entries, err = p.cut(entries, before, after)
		return err
	})
	return s, entries, err
}

func (a agentMemory) Timeline(ctx context.Context, ask mcpserver.Ask, by string) (lines []mcpserver.Line, err error) {
	q, err := a.query(ctx, ask)
	if err != nil {
		return nil, err
	}
	err = a.with(ctx, func(db *store.DB) error {
		all, err := a.timeline(ctx, db, q, digest.By(cmp.Or(by, string(digest.ByDay))))
		for _, p := range all {
			lines = append(lines, mcpserver.Line{ID: p.ID, Time: p.From, Text: plural(len(p.Sessions), "session", "sessions")})
			for _, s := range p.Sessions {
				lines = append(lines, mcpserver.Line{ID: s.Session.ID, Time: s.First, Text: s.Title(), Depth: 1})
				for _, l := range s.Picked() {
					lines = append(lines, mcpserver.Line{ID: l.ID, Time: l.Time, Text: l.Text, Depth: 2})
				}
			}
		}
		return err
	})
	return lines, err
}

func (a agentMemory) Sessions(ctx context.Context, ask mcpserver.Ask) (all []memory.Session, err error) {
	q, err := a.query(ctx, ask)
	if err != nil {
		return nil, err
	}
	err = a.with(ctx, func(db *store.DB) (err error) {
		all, err = db.Sessions(ctx, q)
		return err
	})
	return all, err
}

func (a agentMemory) Remember(ctx context.Context, text, kind string, tags []string) (note memory.Entry, err error) {
	here := a.here(ctx)
	err = a.with(ctx, func(db *store.DB) (err error) {
		note, _, err = here.remember(ctx, db, text, about{Kind: cmp.Or(kind, "fact"), Tags: tags})
		return err
	})
	return note, err
}

func (a agentMemory) Forget(ctx context.Context, id string, dry bool) (entries int, err error) {
	err = a.with(ctx, func(db *store.DB) error {
		sel, err := a.selection(ctx, db, forgetFlags{}, []string{id}, &forgetJSON{})
		if err != nil {
			return err
		}
		found, err := db.Forget(ctx, sel, a.Now(), dry)
		if err != nil || dry {
			entries = found.Entries
			return err
		}
		entries = found.Entries
		if _, _, err := a.sweep(ctx, db, sel, found); err != nil {
			return fmt.Errorf("deleted from the store, but not from the files beside it: %w", err)
		}
		return nil
	})
	return entries, err
}
