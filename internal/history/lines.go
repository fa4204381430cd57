package history

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the longest line that is read; no message of the client comes near. What is longer is passed over and named.
const maxLine = 16 << 20

// lines reads a file line by line in bounded memory.
type lines struct {
	r    *bufio.Reader
	buf  []byte
	n    int   // number of the line
	read int64 // bytes so far
	long bool  // the line was longer than maxLine; its beginning is given
	torn bool  // the line has no end: the file stops in it
}

func newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 256<<10)}
}

// next gives the next line without its end; it is valid until the next call. The error is io.EOF after the last line.
func (l *lines) next() ([]byte, error) {
	l.buf, l.long, l.torn = l.buf[:0], false, false
	if cap(l.buf) > 1<<20 {
		l.buf = nil // one long line must not cost its memory for the rest of the file
	}
	for {
		part, err := l.r.ReadSlice('\n')
		l.read += int64(len(part))
		switch {
		case l.long:
		case len(l.buf)+len(part) > maxLine:
			l.buf, l.long = append(l.buf, part[:maxLine-len(l.buf)]...), true
		case err == nil && len(l.buf) == 0:
			l.n++
			return l.trim(part), nil
		default:
			l.buf = append(l.buf, part...)
		}
		switch {
		case err == nil:
			l.n++
			return l.trim(l.buf), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(l.buf) > 0:
			l.n++
			l.torn = true
			return l.trim(l.buf), nil
		default:
			return nil, err
		}
	}
}

// trim takes away the line's end, and the mark that some editors put before the first line.
func (l *lines) trim(b []byte) []byte {
	if l.n == 1 {
		b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	}
	return bytes.TrimRight(b, "\r\n")
}
