package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// ClientSession is a session in the client's own store (session-store.db, schema version 8 of client 1.0.102).
type ClientSession struct {
	ID, Cwd, Repository, HostType, Branch, Summary string
	CreatedAt, UpdatedAt                           time.Time
	Turns                                          []ClientTurn
}

// ClientTurn is a turn of a [ClientSession].
type ClientTurn struct {
	Index            int
	Prompt, Response string
	Time             time.Time
}

// OpenClientTurns reads the client's store from a copy in the folder temp, never from the file itself: opening it would make
// files beside it. each gets the sessions one after the other; done takes the copy away. Both are nil when there is no store.
func OpenClientTurns(ctx context.Context, path, temp string) (sessions func(each func(ClientSession) error) error, done func() error, err error) {
	if info, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil, nil
	}
	dir, err := os.MkdirTemp(temp, "client-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	copied := filepath.Join(dir, "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(path+suffix, copied+suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return nil, nil, errors.Join(err, remove())
		}
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(copied), RawQuery: "_pragma=query_only(1)"}).String())
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	db.SetMaxOpenConns(1)
	finish := func() error { return errors.Join(db.Close(), remove()) }
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sessions, turns WHERE 0").Scan(&n); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("not a session store that is known here: %w", err), finish())
	}
	return func(each func(ClientSession) error) error { return clientSessions(ctx, db, each) }, finish, nil
}

func copyFile(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // only read
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	_, err = io.Copy(dst, src)
	return err
}

func clientSessions(ctx context.Context, db *sql.DB, each func(ClientSession) error) error {
	var ids []string
	err := rows(ctx, db, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT id FROM sessions ORDER BY id")
	for _, id := range ids {
		if err != nil {
			return err
		}
		s := ClientSession{ID: id}
		var cwd, repository, host, branch, summary, created, updated sql.NullString
		if err := db.QueryRowContext(ctx, "SELECT cwd, repository, host_type, branch, summary, created_at, updated_at FROM sessions WHERE id = ?", id).
			Scan(&cwd, &repository, &host, &branch, &summary, &created, &updated); err != nil {
			return err
		}
		s.Cwd, s.Repository, s.HostType, s.Branch, s.Summary = cwd.String, repository.String, host.String, branch.String, summary.String
		s.CreatedAt, s.UpdatedAt = clientTime(created.String), clientTime(updated.String)
		if err := rows(ctx, db, func(scan func(...any) error) error {
			var t ClientTurn
			var prompt, response, at sql.NullString
			err := scan(&t.Index, &prompt, &response, &at)
			t.Prompt, t.Response, t.Time = prompt.String, response.String, clientTime(at.String)
			s.Turns = append(s.Turns, t)
			return err
		}, "SELECT turn_index, user_message, assistant_response, timestamp FROM turns WHERE session_id = ? ORDER BY turn_index", id); err != nil {
			return err
		}
		if err := each(s); err != nil {
			return err
		}
	}
	return err
}

func rows(ctx context.Context, db *sql.DB, fn func(scan func(...any) error) error, query string, args ...any) error {
	r, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // Err tells
	for r.Next() {
		if err := fn(r.Scan); err != nil {
			return err
		}
	}
	return r.Err()
}

// clientTime reads RFC 3339 or what SQLite's datetime() writes; the zero time where it is neither.
func clientTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, time.DateTime} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC().Truncate(time.Millisecond)
		}
	}
	return time.Time{}
}
