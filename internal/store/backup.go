package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// Backup writes a consistent copy of the store to a new file, while others read and write, checks it, and leaves nothing
// behind when something fails.
func (db *DB) Backup(ctx context.Context, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s: %w", to, fs.ErrExist)
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	// Beside the target: a rename stays on one disk. SQLite takes an empty file for its copy, and keeps its mode.
	f, err := os.CreateTemp(filepath.Dir(to), ".copilot-mem-*.partial")
	if err != nil {
		return err
	}
	temp := f.Name()
	err = f.Close()
	if err == nil {
		err = retry(ctx, func() error {
			_, err := db.sql.ExecContext(ctx, "VACUUM INTO ?", temp)
			return err
		})
	}
	if err == nil {
		err = Check(ctx, temp)
	}
	if err == nil {
		err = syncFile(temp)
	}
	if err == nil {
		err = os.Rename(temp, to)
	}
	if err != nil {
		err = errors.Join(db.explain("backup", err), removeFiles(temp))
	}
	return err
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeFiles removes a store's file and what SQLite lays beside it.
func removeFiles(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Check reads every page of the file at path and reports damage with a [DamagedError]. It writes nothing.
func Check(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	name, err := fileURI(path, "mode=ro", "_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	pool, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }() // read only: nothing can be lost
	db := &DB{sql: pool, path: path}
	return db.Check(ctx)
}

// Check reads every page of the store and reports damage with a [DamagedError].
func (db *DB) Check(ctx context.Context) error {
	return db.pragmas(ctx, "PRAGMA integrity_check(5)", "PRAGMA foreign_key_check")
}

// QuickCheck is Check without the indexes: it takes a fraction of the time.
func (db *DB) QuickCheck(ctx context.Context) error { return db.pragmas(ctx, "PRAGMA quick_check(5)") }

func (db *DB) pragmas(ctx context.Context, all ...string) error {
	for _, pragma := range all {
		var found []string
		err := db.read(ctx, func(scan func(...any) error) error {
			var a, b, c, d any
			err := scan(&a)
			if err != nil {
				err = scan(&a, &b, &c, &d)
			}
			found = append(found, fmt.Sprint(a))
			return err
		}, pragma)
		if err != nil {
			return err
		}
		if len(found) > 0 && found[0] != "ok" {
			return &DamagedError{db.path, fmt.Errorf("%s: %s", pragma[len("PRAGMA "):], found[0])}
		}
	}
	return nil
}

// Restore replaces all that the store holds with the copy at path, in one transaction that other processes see as one. The
// copy must be of this program's schema: open it first.
func (db *DB) Restore(ctx context.Context, path string) error {
	name, err := fileURI(path, "mode=ro")
	if err != nil {
		return err
	}
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // back to the pool
	err = retry(ctx, func() error {
		return conn.Raw(func(c any) error {
			b, err := c.(interface {
				NewRestore(string) (*sqlite.Backup, error)
			}).NewRestore(name)
			if err != nil {
				return err
			}
			more := true
			for more && err == nil {
				more, err = b.Step(-1)
			}
			return errors.Join(err, b.Finish())
		})
	})
	return db.explain("restore", err)
}
