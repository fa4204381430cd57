package spool

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// purging is how the name of a file starts that Purge has not finished.
const purging = "purging-"

// Purge removes the lines for which drop is true from every file that no writer has open: damaged lines, and those that
// ingest keeps because they are no events. A line that is longer than a reader takes is dropped where dropLong is set.
// It returns how many lines it removed. Lines that wait are not touched: drain them first.
func (s Spool) Purge(drop func(line []byte) bool, dropLong bool) (removed int, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), purging) { // of a process that was killed
			err = errors.Join(err, os.Remove(s.path(e.Name())))
			continue
		}
		if !e.Type().IsRegular() || e.Name() == current || isClaim(e) || !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		n, problem := s.purgeFile(e.Name(), drop, dropLong)
		removed += n
		err = errors.Join(err, problem)
	}
	return removed, err
}

// purgeFile writes the file anew beside itself and renames it, or removes it when nothing is left.
func (s Spool) purgeFile(name string, drop func([]byte) bool, dropLong bool) (removed int, err error) {
	from, err := openNoFollow(s.path(name), os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Close() }() // read only: nothing can be lost
	temp := s.path(purging + name)
	to, err := openNoFollow(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return 0, err
	}
	kept := 0
	w := bufio.NewWriter(to)
	sc := newScanner(from)
	for sc.next() {
		long := len(sc.line) == 0
		if long && dropLong || !long && drop(sc.line) {
			removed++
			continue
		}
		kept++
		line := sc.line
		if long {
			line = make([]byte, sc.at.length)
			if _, err = from.ReadAt(line, sc.at.start); err != nil {
				break
			}
		}
		if _, err = w.Write(append(line, '\n')); err != nil {
			break
		}
	}
	if err = errors.Join(err, sc.err, w.Flush(), to.Sync(), to.Close()); err != nil || removed == 0 {
		return 0, errors.Join(err, os.Remove(temp))
	}
	_ = from.Close() // Windows replaces no file that is open
	if kept == 0 {
		return removed, errors.Join(os.Remove(temp), os.Remove(s.path(name)))
	}
	return removed, os.Rename(temp, s.path(name))
}

// Filter removes the lines for which drop is true from those that wait, and returns how many they were. The others wait
// on, at the end of the file that is written to.
func (s Spool) Filter(drop func(line []byte) bool) (removed int, err error) {
	_, err = s.Drain(1, func(lines []Line) error {
		for _, l := range lines {
			raw, err := json.Marshal(l)
			if err != nil {
				return err
			}
			if drop(raw) {
				removed++
			} else if err := s.Append(raw); err != nil {
				return err
			}
		}
		return nil
	})
	return removed, err
}
