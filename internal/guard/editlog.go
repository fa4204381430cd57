package guard

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// editWait is how long an edit waits for a writer that holds the log.
const editWait = 5 * time.Second

// EditLog removes the lines of the session log below home, and of what was rotated away, for which drop is true. It
// returns how many went. A line that a hook writes meanwhile without the lock may be lost.
func EditLog(home string, drop func(line []byte) bool) (removed int, err error) {
	for _, path := range (record{dir: filepath.Join(home, "logs")}).files() {
		n, problem := editLogFile(path, drop)
		removed += n
		if !errors.Is(problem, fs.ErrNotExist) {
			err = errors.Join(err, problem)
		}
	}
	return removed, err
}

func editLogFile(path string, drop func(line []byte) bool) (removed int, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }() // gives the lock up
	if !waitFor(editWait, func() bool { return tryLock(f) }) {
		return 0, errLocked
	}
	var kept bytes.Buffer
	r := bufio.NewReader(f)
	for err == nil {
		var line []byte
		line, err = r.ReadBytes('\n')
		switch {
		case len(line) == 0:
		case drop(bytes.TrimSpace(line)):
			removed++
		default:
			kept.Write(line)
		}
	}
	switch {
	case !errors.Is(err, io.EOF):
		return 0, err
	case removed == 0:
		return 0, nil
	case kept.Len() == 0:
		return removed, os.Remove(path)
	}
	return removed, replace(path, kept.Bytes())
}

// replace writes a file beside path, readable by its owner only, and gives it that name.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
