// Package spool is where events wait: any number of processes append lines at once, and a reader drains them.
// It does not know what an event means, redacts nothing, and never waits for a lock.
package spool

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Spool is one folder. Lines go to events.jsonl; a reader renames that file to claimed-….jsonl and deletes it when all
// its lines are taken; what is no line goes to damaged.jsonl.
type Spool struct{ Dir string }

// Line is one event that waits.
type Line struct {
	Version   int             `json:"v"`
	ID        string          `json:"id"`    // unique for each line; a line that was appended twice keeps it
	Event     string          `json:"event"` // as the hook configuration names it, or "transcript.TYPE"
	At        int64           `json:"at"`    // Unix milliseconds of the capture
	Session   string          `json:"session"`
	Redacted  int             `json:"redacted"`
	Truncated bool            `json:"truncated"`
	Payload   json.RawMessage `json:"payload"`
}

const (
	current     = "events.jsonl"
	damaged     = "damaged.jsonl"
	claimPrefix = "claimed-"
	claimSuffix = ".jsonl"
)

func (s Spool) path(name string) string { return filepath.Join(s.Dir, name) }

// Pending counts the files with events that nobody has taken yet, and their bytes.
func (s Spool) Pending() (files int, bytes int64, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	for _, e := range entries {
		if e.Name() != current && !isClaim(e) {
			continue
		}
		// A reader may take the file away meanwhile.
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			files++
			bytes += info.Size()
		}
	}
	return files, bytes, err
}

func isClaim(e fs.DirEntry) bool {
	return e.Type().IsRegular() && strings.HasPrefix(e.Name(), claimPrefix) && strings.HasSuffix(e.Name(), claimSuffix)
}
