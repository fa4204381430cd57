// Package history turns what other programs wrote about past sessions into memories: the client's transcripts, those of
// Claude Code, and the event logs of agent-memory users. It reads each file once, line by line, takes secrets out, and hands
// batches to a writer; it keeps nothing itself and never changes what it reads.
package history

import (
	"context"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Source is a program whose past can be read.
type Source string

// The sources.
const (
	Copilot     Source = "copilot"
	Claude      Source = "claude"
	AgentMemory Source = "agent-memory"
)

// Problem is something that could not be read.
type Problem struct {
	Path    string `json:"path"`
	Line    int    `json:"line"` // from 1; 0 where the whole file is meant
	Message string `json:"message"`
}

// World is what files do not say.
type World struct {
	// Place returns the project and the branch of a working folder as it is now; project is empty where the folder says
	// nothing, because it is gone or in no repository.
	Place func(dir string) (project, branch string)
	// Temporary reports whether a folder is one that nobody keeps work in.
	Temporary func(dir string) bool
	// Keep reports whether the user, and the repository that a folder lies in, let an entry of this kind be kept. Where it is
	// nil everything is.
	Keep func(dir string, kind memory.Kind) bool
}

// Writer is what an import asks of a store.
type Writer interface {
	// Import keeps sessions and entries, and that a file was read where there is one, all or nothing; a dry one only counts.
	Import(ctx context.Context, sessions []memory.Session, entries []memory.Entry, read *memory.Transcript, dry bool) (memory.Change, error)
	HasSession(ctx context.Context, id string) (bool, error)
	Transcript(ctx context.Context, path string) (memory.Transcript, error)
	Outline(ctx context.Context, session string) ([]memory.Outline, error)
	MarkWithdrawn(ctx context.Context, marks map[string]bool) error
}

// Options says what is read and how.
type Options struct {
	Files     []File
	Past      func(each func(Past) error) error // the client's own list of sessions, where there is one
	Since     time.Time                         // sessions that ended before are left out
	Reasoning bool                              // keep what the model thought, too
	DryRun    bool
	World     World
	// Progress, where set, is told the bytes that are done and those that there are.
	Progress func(done, total int64)
}

// Report says what an import did, or would do. Found is the sum of Imported, Updated, Unchanged and of the files in which
// nothing could be read; Damaged counts the files with problems, also those of which the rest was imported.
type Report struct {
	Found, Imported, Updated, Unchanged, Damaged int
	Entries                                      int // new ones
	Problems                                     []Problem
}

// maxProblems are named for one file; what is beyond them is counted.
const maxProblems = 20
