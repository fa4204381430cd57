package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"
)

// LockedError says that another process holds the store's write lock.
type LockedError struct {
	Path string
	Wait time.Duration // how long it was waited for
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s: locked by another process for more than %s", e.Path, e.Wait)
}

// Hint says what to do.
func (e *LockedError) Hint() string {
	return "wait until the other process is done, or end it; events wait in the spool meanwhile"
}

// Probe asks for the write lock of the store at path and gives it back at once. It makes no file, changes nothing, and
// returns a [LockedError] where wait was not enough; a store that is not there or not readable is not locked.
func Probe(ctx context.Context, path string, wait time.Duration) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	name, err := fileURI(path, "mode=rw", "_txlock=immediate", "_pragma="+url.QueryEscape(fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds())))
	if err != nil {
		return err
	}
	pool, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }() // nothing was written
	tx, err := pool.BeginTx(ctx, nil)
	if code := primaryCode(err); code == codeBusy || code == codeLocked {
		return &LockedError{path, wait}
	}
	if err != nil {
		return nil //nolint:nilerr // damaged, or not ours to read: opening it says so
	}
	return tx.Rollback()
}
