package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// readerVersion changes when files that were read have to be read again to know what this program reads by now.
const readerVersion = 1

// Run reads the files. A run that was cut off is taken up by the next one: a file that was read to its end is not read again
// while it stays the same, and what was read twice is known by its ids. Problems with files are in the report; the error is
// that of the writer or of ctx.
func Run(ctx context.Context, w Writer, o Options) (Report, error) {
	var r Report
	var total, done int64
	for _, f := range o.Files {
		total += f.Size
	}
	progress := o.Progress
	if progress == nil {
		progress = func(int64, int64) {}
	}
	for _, f := range o.Files {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if o.Since.IsZero() || f.many() || !f.lastTime().Before(o.Since) {
			c, err := readFile(ctx, w, &o, f, func(n int64) { progress(done+n, total) })
			if err != nil {
				return r, err
			}
			r.count(c)
		}
		done += f.Size
		progress(done, total)
	}
	if err := past(ctx, w, &o, &r); err != nil {
		return r, err
	}
	return r, nil
}

// many says whether a file may hold more than one session.
func (f File) many() bool { return f.Source == AgentMemory }

// outcome is what became of one file.
type outcome struct {
	imported, updated, unchanged, empty int // sessions
	damaged                             bool
	entries                             int
	problems                            []Problem
}

func (r *Report) count(c outcome) {
	r.Found += c.imported + c.updated + c.unchanged + c.empty
	r.Imported += c.imported
	r.Updated += c.updated
	r.Unchanged += c.unchanged
	if c.damaged {
		r.Damaged++
	}
	r.Entries += c.entries
	r.Problems = append(r.Problems, c.problems...)
}

// remembered is what the store keeps of a file's problems.
type remembered struct {
	Sessions int       `json:"sessions"`
	Damaged  bool      `json:"damaged,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
}

// stampOf changes whenever the file, what lies beside it, or the way of reading does.
func (f File) stampOf(o *Options) string {
	s := fmt.Sprintf("%d %d %d %t", readerVersion, f.Size, f.ModTime.UnixNano(), o.Reasoning)
	if f.Source == Copilot {
		if info, err := os.Lstat(filepath.Join(filepath.Dir(f.Path), "workspace.yaml")); err == nil {
			s += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	if !o.Since.IsZero() && f.many() {
		s += " since " + o.Since.UTC().Format(time.RFC3339)
	}
	return s
}

// Unread reports whether a file has changed since it was last read to its end.
func Unread(ctx context.Context, w Writer, o *Options, f File) (bool, error) {
	known, err := w.Transcript(ctx, f.Path)
	return known.Stamp != f.stampOf(o), err
}

func readFile(ctx context.Context, w Writer, o *Options, f File, progress func(int64)) (outcome, error) {
	known, err := w.Transcript(ctx, f.Path)
	if err != nil {
		return outcome{}, err
	}
	now := f.stampOf(o)
	var last remembered
	if known.Stamp == now && json.Unmarshal([]byte(known.Problems), &last) == nil {
		c := outcome{unchanged: last.Sessions, damaged: last.Damaged, problems: last.Problems}
		if last.Sessions == 0 {
			c.empty = 1
		}
		return c, nil
	}
	bad := &problems{path: f.Path}
	out := newSink(ctx, w, o)
	if err := f.read(out, bad, progress); err != nil {
		return outcome{}, err
	}
	kept, err := json.Marshal(remembered{len(out.order), bad.damaged, bad.all()})
	if err != nil {
		return outcome{}, err
	}
	read := &memory.Transcript{Path: f.Path, Stamp: now, Problems: string(kept)}
	if len(out.order) == 1 {
		read.Session = out.order[0]
	}
	marked := 0
	if out.unsettled(f) {
		// The file counts as read when the marks are there, too.
		if err := out.flush(); err != nil {
			return outcome{}, err
		}
		if marked, err = settle(out, bad, f); err != nil {
			return outcome{}, err
		}
	}
	if err := out.flushWith(read); err != nil {
		return outcome{}, err
	}
	c := out.outcome(marked)
	c.damaged, c.problems = bad.damaged, bad.all()
	return c, nil
}

// unsettled reports whether entries may have to be marked: those of sessions that were known before, and what the file
// itself says.
func (s *sink) unsettled(f File) bool {
	known := len(s.marks) > 0
	for _, id := range s.order {
		known = known || s.existed[id] && f.Live
	}
	return known
}

// outcome counts the sessions of one file.
func (s *sink) outcome(marked int) outcome {
	c := outcome{entries: s.change.Added}
	changed := s.change.Added+s.change.Merged+marked > 0
	for _, id := range s.order {
		switch {
		case !s.existed[id] && s.some[id]:
			c.imported++
		case changed:
			c.updated++
		default:
			c.unchanged++
		}
	}
	if len(s.order) == 0 {
		c.empty = 1
	}
	return c
}

// read folds the lines of a file into out. Only errors of the writer come back; what is wrong with the file is in bad.
func (f File) read(out *sink, bad *problems, progress func(int64)) error {
	file, err := openRegular(f.Path)
	if err != nil {
		bad.add(0, errors.New(reason(err)))
		return nil
	}
	defer func() { _ = file.Close() }() // only read
	fold, err := f.folder(out, bad)
	if err != nil {
		return err
	}
	l := newLines(file)
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			bad.add(l.n+1, errors.New(reason(err)))
			break
		}
		if l.n%256 == 0 {
			progress(l.read)
			if err := out.ctx.Err(); err != nil {
				return err
			}
		}
		if l.long {
			bad.add(l.n, fmt.Errorf("longer than %d MiB", maxLine>>20))
			continue
		}
		if len(line) == 0 {
			continue
		}
		problem, fatal := fold.line(line)
		if fatal != nil {
			return fatal
		}
		if problem != nil && l.torn {
			problem = fmt.Errorf("half written: %w", problem)
		}
		bad.add(l.n, problem)
	}
	return fold.end()
}

// folder makes entries of lines.
type folder interface {
	// line takes one line. problem is what is wrong with it, fatal what is wrong with the writer.
	line(raw []byte) (problem, fatal error)
	end() error
}

func (f File) folder(out *sink, bad *problems) (folder, error) {
	switch f.Source {
	case Claude:
		return newClaude(out, f.Path), nil
	case AgentMemory:
		return newEventLog(out, f.Path), nil
	}
	dir := filepath.Dir(f.Path)
	ws, err := readWorkspace(dir)
	if err != nil {
		bad.list = append(bad.list, Problem{filepath.Join(dir, "workspace.yaml"), 0, reason(err)})
	}
	return newCopilot(out, f, ws)
}

// newCopilot begins a transcript with what lies beside it. The folder has the session's id for a name.
func newCopilot(out *sink, f File, ws workspace) (*transcript, error) {
	t, err := newTranscript(out, idOf(f))
	if err != nil {
		return nil, err
	}
	t.meta.TranscriptPath = f.Path
	if _, at := beginning(f.Path); at.Cwd == "" {
		t.move(ws.place()) // it knows less than the transcript's own beginning
	}
	t.meta.Title = name(ws.Name)
	if at := stamp(ws.CreatedAt); !at.IsZero() {
		t.meta.StartedAt, t.at = at, at
	} else {
		t.at = f.ModTime.UTC().Truncate(time.Millisecond)
	}
	return t, nil
}

// folderName is the session that a transcript is of by its place.
func folderName(path string) string {
	if filepath.Base(path) == transcriptFile {
		return name(filepath.Base(filepath.Dir(path)))
	}
	return name(strings.TrimSuffix(filepath.Base(path), ".jsonl"))
}

// beginning is the session and the place that a transcript begins with; empty where its beginning is not to be read.
func beginning(path string) (id string, at place) {
	f, err := openRegular(path)
	if err != nil {
		return "", at
	}
	defer func() { _ = f.Close() }() // only read
	line, err := newLines(io.LimitReader(f, 1<<20)).next()
	if err != nil {
		return "", at
	}
	var e struct {
		Type string `json:"type"`
		Data struct {
			SessionID string `json:"sessionId"`
			Context   place  `json:"context"`
		} `json:"data"`
	}
	if json.Unmarshal(line, &e) != nil || e.Type != "session.start" || len(e.Data.SessionID) > 200 {
		return "", at
	}
	return e.Data.SessionID, e.Data.Context
}

var errIrregular = errors.New("not a regular file")

// openRegular opens a file that is neither a link nor a device.
func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	return os.Open(path)
}

// settle marks what the client took back, where the file is whole and the one that the client writes.
func settle(out *sink, bad *problems, f File) (marked int, err error) {
	if len(out.marks) > 0 && !out.o.DryRun {
		if err := out.w.MarkWithdrawn(out.ctx, out.marks); err != nil {
			return 0, err
		}
	}
	if f.Source != Copilot || !f.Live || bad.damaged || out.o.DryRun {
		return 0, nil
	}
	for _, id := range out.order {
		entries, err := out.w.Outline(out.ctx, id)
		if err != nil {
			return marked, err
		}
		marks := withdrawn(entries, out.seen[id], f.ModTime)
		if err := out.w.MarkWithdrawn(out.ctx, marks); err != nil {
			return marked, err
		}
		marked += len(marks)
	}
	return marked, nil
}

// Newest gives the n files that were changed last.
func Newest(files []File, n int) []File {
	sorted := slices.Clone(files)
	slices.SortStableFunc(sorted, func(a, b File) int { return b.ModTime.Compare(a.ModTime) })
	return sorted[:min(n, len(sorted))]
}
