package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/recall"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

const (
	receiptPrefix = "session-"
	receiptSuffix = ".jsonl"
	mutedFile     = "muted.json"
	// keepReceipts is how long what a session was told is kept after it was last told something.
	keepReceipts = 180 * 24 * time.Hour
	maxReceipts  = 8 << 20 // bytes of a file that are read
)

// receiptFile is what one session was told, a line each.
type receiptFile struct {
	dir     datadir.Dir
	session string
}

// path makes a file name of a session id, which may be anything.
func (f receiptFile) path() string {
	sum := sha256.Sum256([]byte(f.session))
	return filepath.Join(f.dir.Recall(), receiptPrefix+hex.EncodeToString(sum[:12])+receiptSuffix)
}

func (f receiptFile) read() ([]recall.Receipt, error) { return readReceipts(f.path()) }

// readReceipts reads the lines of a file. One that was cut off while it was written is passed over.
func readReceipts(path string) ([]recall.Receipt, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() > maxReceipts) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseReceipts(data), nil
}

func parseReceipts(data []byte) (out []recall.Receipt) {
	for line := range bytes.Lines(data) {
		var r recall.Receipt
		if json.Unmarshal(line, &r) == nil && r.Version == 1 {
			out = append(out, r)
		}
	}
	return out
}

func (f receiptFile) add(r recall.Receipt) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := privateFolder(f.dir.Recall()); err != nil {
		return err
	}
	path := f.path()
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("not a regular file")}
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = to.Write(append(line, '\n'))
	return errors.Join(err, to.Close())
}

func privateFolder(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a folder")}
	}
	return err
}

// allReceipts gives the files with what sessions were told, the newest last.
func allReceipts(dir datadir.Dir) (paths []string, err error) {
	entries, err := os.ReadDir(dir.Recall())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	times := map[string]time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(e.Name(), receiptPrefix) {
			continue
		}
		path := filepath.Join(dir.Recall(), e.Name())
		paths, times[path] = append(paths, path), info.ModTime()
	}
	slices.SortFunc(paths, func(a, b string) int { return times[a].Compare(times[b]) })
	return paths, err
}

// sweepReceipts drops what was told of things that are no longer kept, and of words that are forgotten; and the files of
// sessions that ended long ago.
func (e *env) sweepReceipts(ctx context.Context, dir datadir.Dir, db *store.DB, words string) error {
	paths, err := allReceipts(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range paths {
		info, err := os.Stat(path)
		if err == nil && e.Now().Sub(info.ModTime()) > keepReceipts {
			errs = append(errs, os.Remove(path))
			continue
		}
		errs = append(errs, sweepReceipt(ctx, path, db, words))
	}
	return errors.Join(errs...)
}

func sweepReceipt(ctx context.Context, path string, db *store.DB, words string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var keep bytes.Buffer
	for lines := bufio.NewReader(bytes.NewReader(data)); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		stays, err := receiptStays(ctx, line, db, words)
		if err != nil {
			return err
		}
		if stays {
			keep.Write(line)
		}
	}
	switch {
	case keep.Len() == len(data):
		return nil
	case keep.Len() == 0:
		return os.Remove(path)
	}
	return replaceFile(path, keep.Bytes(), 0o600)
}

// receiptStays keeps a line only if everything in it is still kept.
func receiptStays(ctx context.Context, line []byte, db *store.DB, words string) (bool, error) {
	var r recall.Receipt
	if json.Unmarshal(line, &r) != nil || words != "" && holds(string(line), words) {
		return false, nil
	}
	var ids []string
	for _, i := range r.Items {
		if !slices.Contains(ids, i.ID) {
			ids = append(ids, i.ID)
		}
	}
	found, err := db.Kept(ctx, ids)
	return found == len(ids), err
}

type mutedList struct {
	Version int      `json:"v"`
	IDs     []string `json:"ids"`
}

// readMuted gives the ids that no agent is told again.
func readMuted(dir datadir.Dir) (map[string]bool, error) {
	list, err := readMutedList(dir)
	out := map[string]bool{}
	for _, id := range list.IDs {
		out[id] = true
	}
	return out, err
}

func readMutedList(dir datadir.Dir) (list mutedList, err error) {
	data, err := os.ReadFile(filepath.Join(dir.Recall(), mutedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return mutedList{Version: 1}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	return list, err
}

// writeMuted keeps the list. It fails rather than being lost: what is muted may be something that must not be told.
func writeMuted(dir datadir.Dir, list mutedList) error {
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := errors.Join(dir.Ensure(), privateFolder(dir.Recall())); err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir.Recall(), mutedFile), append(data, '\n'), 0o600)
}
