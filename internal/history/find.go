package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// File is a file with past sessions.
type File struct {
	Path    string
	Source  Source
	Size    int64
	ModTime time.Time
	Live    bool // it lies where the client still writes to it
}

// transcriptFile is the name that the client gives to a session's transcript.
const transcriptFile = "events.jsonl"

// maxDepth is how deep below the given folder files are looked for.
const maxDepth = 6

// Find lists the files below root that a source wrote, newest first; source "" means any. root may also be one file. What
// cannot be looked into comes back as problems; the error is about root itself.
func Find(root string, source Source) (files []File, bad []Problem, err error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		kind := detect(root)
		if kind == "" {
			return nil, nil, fmt.Errorf("%s: no transcript and no event log that is known here", root)
		}
		if source != "" && source != kind {
			return nil, nil, fmt.Errorf("%s: holds sessions of %s, not of %s", root, kind, source)
		}
		return []File{{Path: root, Source: kind, Size: info.Size(), ModTime: info.ModTime()}}, nil, nil
	}
	root += string(filepath.Separator) // also where it is a link to a folder
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil && path == root {
			return err
		}
		if err != nil {
			bad = append(bad, Problem{path, 0, reason(err)})
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return enter(root, path, source, &files, &bad)
		}
		if !d.Type().IsRegular() || !strings.HasSuffix(path, ".jsonl") || filepath.Base(path) == transcriptFile {
			return nil
		}
		if kind := detect(path); kind != "" && (source == "" || source == kind) {
			add(&files, path, kind)
		}
		return nil
	})
	slices.SortStableFunc(files, func(a, b File) int { return b.ModTime.Compare(a.ModTime) })
	return files, bad, err
}

// enter takes the transcript of a folder that has one. Such a folder is a session of the client; the other files in it are
// the user's own.
func enter(root, dir string, source Source, files *[]File, bad *[]Problem) error {
	rel, err := filepath.Rel(root, dir)
	if err != nil || strings.Count(rel, string(filepath.Separator)) >= maxDepth {
		return fs.SkipDir
	}
	if base := filepath.Base(dir); base == "node_modules" || base == ".git" {
		return fs.SkipDir
	}
	file := filepath.Join(dir, transcriptFile)
	info, err := os.Lstat(file)
	if err != nil {
		return nil //nolint:nilerr // a folder without a transcript
	}
	if !info.Mode().IsRegular() {
		*bad = append(*bad, Problem{file, 0, errIrregular.Error()})
		return nil
	}
	if source == "" || source == Copilot {
		add(files, file, Copilot)
	}
	return fs.SkipDir
}

func add(files *[]File, path string, kind Source) {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		*files = append(*files, File{Path: path, Source: kind, Size: info.Size(), ModTime: info.ModTime()})
	}
}

// reason is what is wrong with a path, without the path.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// detectLines are looked at to see what a file is: the first of them may be damaged.
const detectLines = 50

// detect says whose file it is by its first lines that can be read, "" where nobody's.
func detect(path string) Source {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	l := newLines(io.LimitReader(f, 4<<20))
	for range detectLines {
		line, err := l.next()
		if err != nil {
			return ""
		}
		if s := whose(line); s != "" {
			return s
		}
	}
	return ""
}

func whose(line []byte) Source {
	var keys map[string]json.RawMessage
	if json.Unmarshal(line, &keys) != nil {
		return ""
	}
	has := func(all ...string) bool {
		for _, k := range all {
			if _, ok := keys[k]; !ok {
				return false
			}
		}
		return true
	}
	typ := string(bytes.Trim(keys["type"], `"`))
	switch {
	case has("hook_event_name", "session_id"), has("event_type", "session_id"):
		return AgentMemory
	case has("type", "data", "id", "timestamp") && strings.Contains(typ, "."):
		return Copilot
	case (typ == "session" && has("version")) || (typ == "memory" && has("fact")):
		return AgentMemory
	case has("type", "sessionId") && has("uuid"), typ == "summary" && has("leafUuid"), typ == "file-history-snapshot":
		return Claude
	}
	return ""
}

// lastTime reads when the last line of a transcript was written; the file's own time where no line says.
func (f File) lastTime() time.Time {
	const tail = 256 << 10
	file, err := os.Open(f.Path)
	if err != nil {
		return f.ModTime
	}
	defer func() { _ = file.Close() }() // only read
	buf := make([]byte, min(f.Size, tail))
	if _, err := file.ReadAt(buf, f.Size-int64(len(buf))); err != nil && !errors.Is(err, io.EOF) {
		return f.ModTime
	}
	all := bytes.Split(buf, []byte("\n"))
	for _, line := range slices.Backward(all) {
		var e struct {
			Timestamp string `json:"timestamp"`
		}
		if json.Unmarshal(line, &e) == nil {
			if at := stamp(e.Timestamp); !at.IsZero() {
				return at
			}
		}
	}
	return f.ModTime
}
