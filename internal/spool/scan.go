package spool

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"time"
)

// maxLine is how long a line may be: capture reads 16 MiB, and escaping can make six of one.
const maxLine = 128 << 20

// scanner reads the lines of a file that is no longer written to, but for writes that were under way when it was claimed.
type scanner struct {
	f    *os.File
	r    *bufio.Reader
	off  int64
	max  int64         // bytes of a line that are read
	wait time.Duration // how long an unfinished line is waited for

	line []byte // without line end; valid until next; empty for a line longer than max
	at   span
	err  error
}

type span struct{ start, length int64 }

func newScanner(f *os.File) *scanner {
	return &scanner{f: f, r: bufio.NewReaderSize(f, 64<<10), max: maxLine, wait: 20 * time.Millisecond}
}

// next goes to the next line that is not blank.
func (s *scanner) next() bool {
	for {
		more, long := s.read()
		if !more {
			return false
		}
		if long || len(bytes.TrimSpace(s.line)) > 0 {
			return true
		}
	}
}

func (s *scanner) read() (more, long bool) {
	s.line = s.line[:0]
	s.at = span{start: s.off}
	for {
		chunk, err := s.r.ReadSlice('\n')
		s.off += int64(len(chunk))
		ended := err == nil
		if ended {
			chunk = chunk[:len(chunk)-1]
		}
		s.at.length += int64(len(chunk))
		if s.at.length > s.max {
			long = true
			s.line = s.line[:0]
		} else {
			s.line = append(s.line, chunk...)
		}
		switch {
		case ended:
			return true, long
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			if s.at.length == 0 {
				return false, false
			}
			if !s.grows() {
				return true, long
			}
		default:
			s.err = err
			return false, false
		}
	}
}

// grows waits for the rest of an unfinished line: its writer was killed, or is still writing. The latter would append
// the line again, but until then it would count as damaged.
func (s *scanner) grows() bool {
	info, err := s.f.Stat()
	if err != nil {
		return false
	}
	if info.Size() == s.off && time.Since(info.ModTime()) < time.Second {
		time.Sleep(s.wait)
		if info, err = s.f.Stat(); err != nil {
			return false
		}
	}
	return info.Size() > s.off
}
