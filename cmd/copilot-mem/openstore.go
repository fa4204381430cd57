package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
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
	report, err := e.catchUp(ctx, dir, db)
	if err != nil {
		err = &staleError{err}
	}
	return db, report, err
}

// openTranscripts is how many of the newest sessions are looked at for messages that came after their last event.
const openTranscripts = 20

// catchUp ingests what waits, then what the client wrote into transcripts since their last reading, because a
// background reader may have been killed before the client had flushed its last message.
func (e *env) catchUp(ctx context.Context, dir datadir.Dir, db *store.DB) (ingest.Report, error) {
	waiting := spool.Spool{Dir: dir.Spool()}
	report, err := ingest.Run(ctx, waiting, db)
	if err != nil {
		return report, err
	}
	sessions, err := db.Sessions(ctx, memory.Query{Limit: openTranscripts})
	if err != nil {
		return report, err
	}
	found := 0
	for _, s := range sessions {
		if s.TranscriptPath == "" {
			continue
		}
		// A transcript that is gone or not to be trusted is no failure of a reader; capture has noted it.
		if n, err := capture.ReadTranscript(dir, s.TranscriptPath, s.ID, 0); err == nil {
			found += n
		}
	}
	if found == 0 {
		return report, nil
	}
	more, err := ingest.Run(ctx, waiting, db)
	report.Entries += more.Entries
	report.Duplicates += more.Duplicates
	report.Failed += more.Failed
	return report, err
}
