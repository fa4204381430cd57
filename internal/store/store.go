// Package store keeps memories: one SQLite file with the sessions, their entries and a full-text index of them.
// It does not read events, does not decide what a query means and does not rank beyond the index's own measure.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"modernc.org/sqlite" // also registers the driver

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

//go:embed migrations/*.sql
var migrations embed.FS

// The waits of one statement and of a whole operation for other processes.
const (
	busyTimeout = 10 * time.Second
	patience    = time.Minute
)

// Options says how entries reach the index.
type Options struct {
	// Words calls emit with each word of an entry and what it counts; nil takes the runs of letters and digits of text and input.
	Words func(e memory.Entry, emit func(word []byte, weight float32))
	// Stem says how the index keeps a word; nil keeps it as it is. It is asked once for each word of a batch.
	Stem func(string) string
}

func plainWords(e memory.Entry, emit func([]byte, float32)) {
	for w := range strings.FieldsFuncSeq(strings.ToLower(e.Text+"\n"+inputText(e)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		emit([]byte(w), 1)
	}
}

// DB is an open store. Several processes may have the same file open.
type DB struct {
	sql   *sql.DB
	path  string
	words func(memory.Entry, func([]byte, float32))
	stem  func(string) string
}

// Open opens the store at path, makes it when there is none, and brings its schema up to date.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if err := prepare(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	name, err := dsn(path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	pool, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	// One connection: a second one of the same process could only wait for the first.
	pool.SetMaxOpenConns(1)
	db := &DB{sql: pool, path: path, words: o.Words, stem: o.Stem}
	if db.words == nil {
		db.words = plainWords
	}
	// Switching to WAL answers SQLITE_BUSY without waiting when another process switches too.
	if err := retry(ctx, func() error { return db.migrate(ctx) }); err != nil {
		return nil, errors.Join(db.explain("open store", err), pool.Close())
	}
	// Somebody was stopped between deleting and taking the bytes out; what still waits for a reader waits on.
	if err := db.Scrub(ctx); err != nil && ctx.Err() != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return db, nil
}

// Close closes the store.
func (db *DB) Close() error { return db.sql.Close() }

// Path is the file of the store.
func (db *DB) Path() string { return db.path }

// prepare makes the file with its mode before SQLite does: the -wal and -shm files get the mode of the file.
func prepare(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: not a regular file", p)
		}
		if info.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(p, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// dsn names the file and its settings. busy_timeout comes first: the others already wait for locks. A spool file is deleted
// when its lines are committed, so a commit has to be on the disk.
func dsn(path string) (string, error) {
	settings := []string{"_txlock=immediate"}
	for _, p := range []string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)",
	} {
		settings = append(settings, "_pragma="+url.QueryEscape(p))
	}
	return fileURI(path, settings...)
}

// fileURI names a file as SQLite wants it.
func fileURI(path string, query ...string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	slash := filepath.ToSlash(abs)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash // C:/…
	}
	return (&url.URL{Scheme: "file", Path: slash, RawQuery: strings.Join(query, "&")}).String(), nil
}

// steps are what a migration does after its file, where SQL is not enough.
var steps = map[string]func(*DB, context.Context, *sql.Tx) error{
	"0003_forget.sql": func(_ *DB, ctx context.Context, tx *sql.Tx) error { return adoptForgotten(ctx, tx) },
	"0004_index.sql":  (*DB).rebuild,
}

// migrate applies the numbered files that the store does not have yet, all in one transaction.
func (db *DB) migrate(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	version := func(q interface {
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}) (v int, err error) {
		err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
		if err == nil && v > len(files) {
			err = &SchemaError{Have: v, Known: len(files)}
		}
		return v, err
	}
	// Most openings find nothing to do and take no lock.
	if v, err := version(db.sql); err != nil || v == len(files) {
		return err
	}
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	v, err := version(tx)
	if err != nil {
		return err
	}
	for _, name := range files[v:] {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if step := steps[path.Base(name)]; step != nil {
			if err := step(db, ctx, tx); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(files))); err != nil {
		return err
	}
	return tx.Commit()
}

// write runs fn in one immediate transaction. SQLite has no queue for the write lock and asks for it ever less often,
// so that a process can wait for ever among busy ones; asking often and at random gives each its turn.
func (db *DB) write(ctx context.Context, fn func(tx *sql.Tx) error) error {
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // back to the pool
	return retry(ctx, func() error {
		tx, err := begin(ctx, conn)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // after Commit it does nothing
		if err := fn(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

func begin(ctx context.Context, conn *sql.Conn) (*sql.Tx, error) {
	if err := setBusyTimeout(ctx, conn, 0); err != nil {
		return nil, err
	}
	var tx *sql.Tx
	err := retry(ctx, func() (err error) {
		tx, err = conn.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, setBusyTimeout(context.WithoutCancel(ctx), conn, busyTimeout))
	}
	if err := setBusyTimeout(ctx, tx, busyTimeout); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func setBusyTimeout(ctx context.Context, e execer, d time.Duration) error {
	_, err := e.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
	return err
}

// read runs a query to its end, so that the one connection is free again when it returns.
func (db *DB) read(ctx context.Context, fn func(scan func(...any) error) error, query string, args ...any) error {
	err := retry(ctx, func() error {
		rows, err := db.sql.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // Err tells
		for rows.Next() {
			if err := fn(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return db.explain("read store", err)
}

// retry calls fn again for as long as others are in the way, up to patience.
func retry(ctx context.Context, fn func() error) error {
	for deadline := time.Now().Add(patience); ; {
		err := fn()
		if code := primaryCode(err); (code != codeBusy && code != codeLocked) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond + rand.N(10*time.Millisecond)):
		}
	}
}

// Primary result codes of SQLite, https://www.sqlite.org/rescode.html.
const (
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

func primaryCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}
