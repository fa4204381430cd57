package capture

import (
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

const maxState = 1 << 20

var errNotOurs = errors.New("not a folder of ours")

// stateDir makes the state folder, private, and refuses one that is a symlink.
func stateDir(dir datadir.Dir) (string, error) {
	path := dir.State()
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", errNotOurs
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o700); err != nil {
			return "", err
		}
	}
	return path, nil
}

// stateName makes a file name of a session id or folder, which may be anything, "../../x" included.
func stateName(prefix, key string) string {
	h := fnv.New128a()
	_, _ = io.WriteString(h, key)
	sum := h.Sum(nil)
	name := append(make([]byte, 0, len(prefix)+2*len(sum)), prefix...)
	for _, c := range sum {
		name = append(name, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
	}
	return string(name)
}

// readState reads a regular file of ours, never through a symlink; what it cannot read is empty.
func readState(path string) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxState {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if info.Mode().Perm()&0o077 != 0 {
		_ = f.Chmod(0o600)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return nil
	}
	return b
}

const tempPrefix = "tmp-"

// writeTemp writes a new file beside path.
func writeTemp(path string, data []byte) (string, error) {
	temp := filepath.Join(filepath.Dir(path), tempPrefix+string(appendID(nil)))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(temp)
		return "", err
	}
	return temp, nil
}

// writeState replaces path; a reader sees the old content or the new. State is worth no sync: all of it can be made again.
func writeState(path string, data []byte) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return err
	}
	return nil
}

// createState makes path with its whole content, or reports [fs.ErrExist].
func createState(path string, data []byte) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }()
	err = os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A file system without hard links: a reader may now meet a file that is still empty.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

const keepState = 90 * 24 * time.Hour

// prune drops what is remembered of transcripts that nobody has read for long. A session that comes back after that is
// read from its start, and the store knows its messages.
func prune(state string, now time.Time) {
	entries, err := os.ReadDir(state)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), transcriptPrefix) && !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > keepState {
			_ = os.Remove(filepath.Join(state, e.Name()))
		}
	}
}
