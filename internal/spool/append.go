package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A claim must fall between one write and the look after it, every time, for this many to be used up.
const maxAppends = 100

// Append adds one line, which holds no line end, in one write. After an error the line may be there in part; readers
// skip that part. A reader may see the line twice, and knows it by its id.
func (s Spool) Append(line []byte) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return errors.New("spool: line has a line end in it")
	}
	// The line end before it closes a line that another process was killed in.
	framed := make([]byte, 0, len(line)+2)
	framed = append(framed, '\n')
	framed = append(framed, line...)
	framed = append(framed, '\n')
	for range maxAppends {
		if kept, err := s.appendOnce(current, framed); err != nil || kept {
			return err
		}
	}
	return errors.New("spool: every write met a reader")
}

// appendOnce reports whether the file that it wrote to still has its name. If not, a reader claimed it between the
// opening and the write, and may have come to its end before.
func (s Spool) appendOnce(name string, data []byte) (kept bool, err error) {
	f, err := s.open(name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return false, err
	}
	wrote, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Lstat(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(wrote, now), err
}

// open opens a file of ours to append to, making it and the folder where they are missing, and shuts both to others.
func (s Spool) open(name string) (*os.File, error) {
	if err := s.ensure(); err != nil {
		return nil, err
	}
	path := s.path(name)
	f, err := openNoFollow(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s: not a regular file", path)
	case tooOpen(info):
		err = f.Chmod(0o600)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (s Spool) ensure() error {
	info, err := os.Lstat(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(s.Dir, 0o700); err != nil {
			return err
		}
		info, err = os.Lstat(s.Dir)
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: not a folder", s.Dir)
	case tooOpen(info):
		return os.Chmod(s.Dir, 0o700)
	}
	return nil
}
