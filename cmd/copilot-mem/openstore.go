package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/search"
	"github.com/copilot-mem/copilot-mem/internal/spool"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

// openStore opens the store and brings it up to date: every answer knows what was captured before the question.
// An ingest that fails is told on stderr and does not keep what is already stored from being read.
func (e *env) openStore(ctx context.Context) (*store.DB, error) {
	db, _, err := e.openIngested(ctx)
	if stale, ok := errors.AsType[*staleError](err); ok && ctx.Err() == nil {
		fmt.Fprintf(e.Stderr, "copilot-mem: warning: %v\n", stale)
		return db, nil
	}
	return db, err
}

// staleError says that the store is open but not up to date.
type staleError struct{ err error }

func (s *staleError) Error() string { return s.err.Error() }
func (s *staleError) Unwrap() error { return s.err }

func (e *env) openIngested(ctx context.Context) (*store.DB, ingest.Report, error) {
	dir, err := e.dataDir()
	if err != nil {
		return nil, ingest.Report{}, err
	}
	if err := dir.Ensure(); err != nil {
		return nil, ingest.Report{}, err
	}
	db, err := store.Open(ctx, dir.DB(), store.Options{Tokens: search.Tokens})
	if err != nil {
		return nil, ingest.Report{}, err
	}
	report, err := ingest.Run(ctx, spool.Spool{Dir: dir.Spool()}, db)
	if err != nil {
		err = &staleError{err}
	}
	return db, report, err
}
