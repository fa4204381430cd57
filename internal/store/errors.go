package store

import (
	"errors"
	"fmt"
	"strings"
)

// SchemaError says that a newer program has written the store.
type SchemaError struct{ Have, Known int }

func (e *SchemaError) Error() string {
	return fmt.Sprintf("schema version %d is newer than %d, the newest that this program knows", e.Have, e.Known)
}

// Hint says what to do.
func (e *SchemaError) Hint() string { return "update copilot-mem; the store is untouched" }

// DamagedError says that the file is not a readable store.
type DamagedError struct {
	Path string
	Err  error
}

func (e *DamagedError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns what SQLite said.
func (e *DamagedError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *DamagedError) Hint() string {
	return "run `copilot-mem repair`: it keeps what can be read, and takes the rest from backups and transcripts; new events wait meanwhile"
}

// NotFoundError says that no id starts with Prefix.
type NotFoundError struct{ What, Prefix string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("no %s with id %q", e.What, e.Prefix) }

// Hint says what to do.
func (e *NotFoundError) Hint() string { return "`copilot-mem sessions --all` lists the sessions" }

// AmbiguousError says that several ids start with Prefix.
type AmbiguousError struct {
	Prefix     string
	Candidates []string // at most a handful, in order
	More       bool     // there are others
}

func (e *AmbiguousError) Error() string {
	more := ""
	if e.More {
		more = ", …"
	}
	return fmt.Sprintf("id %q is not unique: %s%s", e.Prefix, strings.Join(e.Candidates, ", "), more)
}

// Hint says what to do.
func (e *AmbiguousError) Hint() string { return "give more characters of the id" }

// explain adds the operation, and the file where it is not a readable store.
func (db *DB) explain(op string, err error) error {
	if err == nil {
		return nil
	}
	if code := primaryCode(err); code == codeCorrupt || code == codeNotADB {
		if _, ok := errors.AsType[*DamagedError](err); !ok {
			err = &DamagedError{db.path, err}
		}
	}
	return fmt.Errorf("%s: %w", op, err)
}
