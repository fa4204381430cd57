package spool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// editing is how the name of a file starts that Edit has not finished.
const editing = "editing-"

// editTime is how long an Edit may take before its file counts as left by a process that was killed.
const editTime = time.Minute

// Edit passes the lines through edit in every file that no writer has open: damaged lines, and those that ingest keeps
// because they are no events. A line for which edit returns nil is removed. A line that is longer than a reader takes is
// removed where dropLong is set, and stays as it is otherwise. It returns how many lines changed. Lines that wait are not
// touched, see [Spool.EditWaiting].
func (s Spool) Edit(edit func(line []byte) []byte, dropLong bool) (changed int, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if info, gone := e.Info(); gone == nil && strings.HasPrefix(e.Name(), editing) && time.Since(info.ModTime()) > editTime {
			err = errors.Join(err, os.Remove(s.path(e.Name())))
		}
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == current || isClaim(e) || !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		n, problem := s.editFile(e.Name(), edit, dropLong)
		changed += n
		err = errors.Join(err, problem)
	}
	return changed, err
}

// editFile writes the file anew beside itself and renames it, or removes it when nothing is left.
func (s Spool) editFile(name string, edit func([]byte) []byte, dropLong bool) (changed int, err error) {
	from, err := openNoFollow(s.path(name), os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Close() }() // read only: nothing can be lost
	to, err := os.CreateTemp(s.Dir, editing+"*")
	if err != nil {
		return 0, err
	}
	temp := to.Name()
	kept := 0
	w := bufio.NewWriter(to)
	sc := newScanner(from)
	for err == nil && sc.next() {
		line, long := sc.line, len(sc.line) == 0
		switch {
		case !long:
			line = edit(line)
		case dropLong:
			line = nil
		default:
			line = make([]byte, sc.at.length)
			_, err = from.ReadAt(line, sc.at.start)
		}
		if err != nil {
			continue
		}
		if line == nil || !long && !bytes.Equal(line, sc.line) {
			changed++
		}
		if line == nil {
			continue
		}
		kept++
		_, err = w.Write(append(line, '\n'))
	}
	if err = errors.Join(err, sc.err, w.Flush(), to.Sync(), to.Close()); err != nil || changed == 0 {
		return 0, errors.Join(err, os.Remove(temp))
	}
	_ = from.Close() // Windows replaces no file that is open
	if kept == 0 {
		return changed, errors.Join(os.Remove(temp), os.Remove(s.path(name)))
	}
	return changed, os.Rename(temp, s.path(name))
}

// EditWaiting does the same with the lines that wait. They wait on, at the end of the file that is written to.
func (s Spool) EditWaiting(edit func(line []byte) []byte) (changed int, err error) {
	_, err = s.Drain(1, func(lines []Line) error {
		for _, l := range lines {
			raw, err := json.Marshal(l)
			if err != nil {
				return err
			}
			line := edit(raw)
			if !bytes.Equal(line, raw) {
				changed++
			}
			if line == nil {
				continue
			}
			if err := s.Append(line); err != nil {
				return err
			}
		}
		return nil
	})
	return changed, err
}
