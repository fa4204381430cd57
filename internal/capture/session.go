package capture

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

const (
	idPrefix     = "copilot-"
	closedSuffix = ".closed"
	// A second hook installed for the same event reports the same end; it belongs to the session just closed.
	closedFor = 10 * time.Second
)

// identify names the session of a payload without an id (clients before 1.0.11): one id per working folder, made at
// the first event of any kind and closed by an end with the reason user_exit.
func identify(dir datadir.Dir, cwd string, now time.Time, end, userExit bool) string {
	cwd = filepath.Clean(cwd)
	state, err := stateDir(dir)
	if err != nil {
		return fixedID(cwd)
	}
	path := filepath.Join(state, stateName("session-", cwd))
	id := readID(path)
	if id == "" && end {
		if info, err := os.Lstat(path + closedSuffix); err == nil && now.Sub(info.ModTime()).Abs() < closedFor {
			if id := readID(path + closedSuffix); id != "" {
				return id
			}
		}
	}
	if id == "" {
		if id = openID(path); id == "" {
			return fixedID(cwd)
		}
	}
	if end && userExit {
		if os.Rename(path, path+closedSuffix) != nil {
			_ = os.Remove(path)
		}
		_ = os.Chtimes(path+closedSuffix, now, now)
	}
	return id
}

// openID makes the id of a folder, or finds the one that another process made meanwhile.
func openID(path string) string {
	for range 20 {
		id := idPrefix + string(appendID(nil))[:16]
		err := createState(path, []byte(id))
		if err == nil {
			return id
		}
		if !errors.Is(err, fs.ErrExist) {
			return ""
		}
		if id := readID(path); id != "" {
			return id
		}
		// Just made and still empty, or something planted: a symlink goes, not what it points to.
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && info.Size() == 0 && time.Since(info.ModTime()).Abs() < time.Second {
			time.Sleep(time.Millisecond)
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return ""
		}
	}
	return ""
}

func readID(path string) string {
	id := string(readState(path))
	digits, ok := strings.CutPrefix(id, idPrefix)
	if !ok || len(digits) != 16 || strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}
	return id
}

// fixedID keeps the events of a folder together when nothing can be remembered.
func fixedID(cwd string) string { return stateName(idPrefix, cwd)[:len(idPrefix)+16] }
