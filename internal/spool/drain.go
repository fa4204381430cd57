package spool

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// batchSize is how many bytes of lines are handed over at once, where they are more than one.
const batchSize = 16 << 20

// Report says what a drain did.
type Report struct {
	Lines   int // handed over
	Damaged int // not a line; kept in damaged.jsonl
}

// Drain claims the current file and hands the lines of every claimed file to fn, oldest file first and at most batch
// at a time; files that another reader claimed and did not finish are among them. A file whose lines fn all took is
// deleted. An error of fn ends the drain and is returned as it is; the file stays, and its lines come again.
func (s Spool) Drain(batch int, fn func([]Line) error) (Report, error) {
	var r Report
	var problems []error // what stands in the way of one file must not keep the others waiting
	if err := s.claim(os.Rename); err != nil {
		problems = append(problems, err)
	}
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return r, errors.Join(problems...)
	}
	if err != nil {
		return r, errors.Join(append(problems, err)...)
	}
	for _, e := range entries { // sorted by name, which is by time
		if !isClaim(e) {
			continue
		}
		stop, err := s.drainFile(e.Name(), max(batch, 1), fn, &r)
		if stop {
			return r, err
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return r, errors.Join(problems...)
}

// lastClaim keeps two claims of this process from sharing a name: clocks tick as slowly as every 15 ms.
var lastClaim atomic.Int64

// claim takes the current file out of the writers' way. Where there is none, or it cannot be renamed because a writer
// has it open (Windows), there is nothing to do now.
func (s Spool) claim(rename func(from, to string) error) error {
	from := s.path(current)
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", from)
	}
	if info.Size() == 0 {
		return nil
	}
	stamp := time.Now().UnixNano()
	for {
		last := lastClaim.Load()
		stamp = max(stamp, last+1)
		if lastClaim.CompareAndSwap(last, stamp) {
			break
		}
	}
	to := s.path(claimPrefix + strconv.FormatInt(stamp, 10) + "-" + strconv.Itoa(os.Getpid()) + claimSuffix)
	// Another container may share the folder and have the same process id.
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	err = rename(from, to)
	if errors.Is(err, fs.ErrNotExist) || isBusy(err) {
		return nil
	}
	return err
}

// drainFile reports with stop that fn refused.
func (s Spool) drainFile(name string, batch int, fn func([]Line) error, r *Report) (stop bool, err error) {
	path := s.path(name)
	f, err := openNoFollow(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) || isBusy(err) {
		return false, nil // another reader is at it
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost

	var lines []Line
	var size int
	flush := func() error {
		if len(lines) == 0 {
			return nil
		}
		if err := fn(lines); err != nil {
			return err
		}
		r.Lines += len(lines)
		lines, size = nil, 0
		return nil
	}
	var bad []span
	sc := newScanner(f)
	for sc.next() {
		line, ok := parseLine(sc.line)
		if !ok {
			bad = append(bad, sc.at)
			continue
		}
		if size += len(sc.line); size > batchSize {
			if err := flush(); err != nil {
				return true, err
			}
			size = len(sc.line)
		}
		if lines = append(lines, line); len(lines) == batch {
			if err := flush(); err != nil {
				return true, err
			}
		}
	}
	if sc.err != nil {
		return false, sc.err
	}
	if err := flush(); err != nil {
		return true, err
	}
	// Not before: a file that comes again would leave its damage again.
	if len(bad) > 0 {
		if err := s.keepDamaged(f, bad); err != nil {
			return false, err
		}
		r.Damaged += len(bad)
	}
	if err := f.Close(); err != nil {
		return false, err
	}
	err = os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) || isBusy(err) {
		return false, nil
	}
	return false, err
}

func (s Spool) keepDamaged(f io.ReaderAt, bad []span) (err error) {
	to, err := s.open(damaged)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	w := bufio.NewWriter(to)
	for _, at := range bad {
		if _, err := io.Copy(w, io.NewSectionReader(f, at.start, at.length)); err != nil {
			return err
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return w.Flush()
}

// parseLine reads what Append was given. A version that we do not know is no line of ours: it is kept as damaged rather
// than misread.
func parseLine(b []byte) (Line, bool) {
	var l Line
	if json.Unmarshal(b, &l) != nil || l.Version != 1 || l.ID == "" || l.Event == "" {
		return Line{}, false
	}
	if string(l.Payload) == "null" {
		l.Payload = nil
	}
	return l, true
}
