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

// DiskError says that the system does not let the store's file be used.
type DiskError struct {
	Path string
	Code int // of SQLite
	Err  error
}

func (e *DiskError) Error() string {
	switch e.Code {
	case codeFull:
		return e.Path + ": no space is left on the disk"
	case codeReadOnly:
		return e.Path + ": the file or its folder is not writable"
	case codeCantOpen:
		return e.Path + ": the file or its folder cannot be opened"
	}
	return e.Path + ": " + e.Err.Error()
}

// Unwrap returns what SQLite said.
func (e *DiskError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *DiskError) Hint() string {
	if e.Code == codeFull || e.Code == codeIO {
		return "free some space there, and do it again: what the store had is unharmed"
	}
	return "make the file and its folder yours and writable, or choose another folder with COPILOT_MEM_HOME"
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
	switch code := primaryCode(err); code {
	case codeCorrupt, codeNotADB:
		if _, ok := errors.AsType[*DamagedError](err); !ok {
			err = &DamagedError{db.path, err}
		}
	case codeFull, codeReadOnly, codeCantOpen, codeIO:
		if _, ok := errors.AsType[*DiskError](err); !ok {
			err = &DiskError{db.path, code, err}
		}
	}
	return fmt.Errorf("%s: %w", op, err)
}
