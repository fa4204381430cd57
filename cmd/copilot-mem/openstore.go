package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/history"
	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
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
	e.tellIfGone(dir)
	db, err := store.Open(ctx, dir.DB(), storeOptions)
	if err != nil {
		return nil, ingest.Report{}, err
	}
	if err := os.WriteFile(madeFile(dir), nil, 0o600); err != nil {
		return nil, ingest.Report{}, errors.Join(err, db.Close())
	}
	report, err := e.catchUp(ctx, dir, db)
	if err == nil {
		err = e.tidy(ctx, dir, db)
	}
	if err != nil {
		err = &staleError{err}
	}
	return db, report, err
}

// madeFile lies beside a store that was made once.
func madeFile(dir datadir.Dir) string { return dir.DB() + "-made" }

// tellIfGone says that a store which was there is not any more: nobody shall start from empty without knowing it.
func (e *env) tellIfGone(dir datadir.Dir) {
	if _, err := os.Stat(madeFile(dir)); err != nil {
		return
	}
	if info, err := os.Stat(dir.DB()); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		fmt.Fprintf(e.Stderr, "copilot-mem: warning: %s is gone, and a new store is started\n", dir.DB())
		fmt.Fprintln(e.Stderr, "copilot-mem: hint: `copilot-mem restore FILE` takes a backup, `copilot-mem import` the client's transcripts")
	}
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
		choice, reader := capture.ReaderFor(capture.Options{Dir: dir, Getenv: e.Getenv, Exe: thisProgram(), ReaderArgs: []string{"capture"}}, s.Cwd)
		if s.TranscriptPath == "" || !choice.Keeps("transcript.assistant.message") {
			continue
		}
		// A transcript that is gone or not to be trusted is no failure of a reader; capture has noted it.
		if n, err := capture.CatchUp(reader, s.TranscriptPath, s.ID); err == nil {
			found += n
		}
	}
	if found > 0 {
		more, err := ingest.Run(ctx, waiting, db)
		report.Entries += more.Entries
		report.Duplicates += more.Duplicates
		report.Failed += more.Failed
		if err != nil {
			return report, err
		}
	}
	whole, err := e.readWhole(ctx, db, sessions)
	report.Entries += whole
	return report, err
}

// maxWhole is the longest transcript that a reader of the store waits for; `import` reads any.
const maxWhole = 8 << 20

// readWhole reads the transcripts of sessions that were not looked at before, that have ended, or from which the user took
// something back: only the whole file says what is no longer part of the conversation, and some of what no hook tells.
func (e *env) readWhole(ctx context.Context, db *store.DB, sessions []memory.Session) (added int, err error) {
	var files []history.File
	var seen []memory.Transcript
	for _, s := range sessions {
		info, err := os.Lstat(s.TranscriptPath)
		if s.TranscriptPath == "" || err != nil || !info.Mode().IsRegular() {
			continue
		}
		known, err := db.Transcript(ctx, s.TranscriptPath)
		if err != nil {
			return 0, err
		}
		rewritten := isRewritten(&known, info)
		if info.Size() <= maxWhole && (known.Path == "" || rewritten || !s.EndedAt.IsZero()) {
			files = append(files, history.File{Path: s.TranscriptPath, Source: history.Copilot, Size: info.Size(), ModTime: info.ModTime()})
		}
		if rewritten || known.Path == "" {
			known.Path, known.Session = s.TranscriptPath, s.ID
			seen = append(seen, known)
		}
	}
	e.markLive(files)
	files = slices.DeleteFunc(files, func(f history.File) bool { return !f.Live })
	if len(files) > 0 {
		o := history.Options{Files: files}
		if err := e.historyWorld(ctx, db, &o); err != nil {
			return 0, err
		}
		r, err := history.Run(ctx, db, o)
		if err != nil {
			return r.Entries, err
		}
		added = r.Entries
	}
	for _, t := range seen {
		if err := db.SawTranscript(ctx, t); err != nil {
			return added, err
		}
	}
	return added, nil
}

// isRewritten reports whether a transcript was another file, or a longer one, when it was last looked at, and notes in known
// what it is now.
func isRewritten(known *memory.Transcript, info fs.FileInfo) bool {
	var id uint64
	var size int64
	_, err := fmt.Sscanf(known.File, "%x %d", &id, &size)
	known.File = fmt.Sprintf("%x %d", capture.FileID(info), info.Size())
	return err == nil && (id != capture.FileID(info) || size > info.Size())
}

// thisProgram is the file of this program, empty where the system does not say.
func thisProgram() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	return exe
}
