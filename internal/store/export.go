package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// exportVersion is in the first line of an export, which is {"copilotMemExport":1,…}. Then every session has a line
// {"session":{…}}, followed by its entries as lines {"entry":{…}}, oldest first.
const exportVersion = 1

type exportHead struct {
	Version   int    `json:"copilotMemExport"`
	CreatedAt string `json:"createdAt"`
}

type exportLine struct {
	Session *exportSession `json:"session,omitempty"`
	Entry   *exportEntry   `json:"entry,omitempty"`
}

type exportSession struct {
	ID             string `json:"id"`
	Project        string `json:"project"`
	Cwd            string `json:"cwd"`
	Branch         string `json:"branch"`
	HeadCommit     string `json:"headCommit"`
	Client         string `json:"client"`
	Title          string `json:"title"`
	Model          string `json:"model"`
	StartedAt      int64  `json:"startedAt"` // Unix milliseconds; 0: not known
	EndedAt        int64  `json:"endedAt"`   // 0: open
	EndReason      string `json:"endReason"`
	TranscriptPath string `json:"transcriptPath"`
}

type exportEntry struct {
	ID         string          `json:"id"`
	Aliases    []string        `json:"aliases,omitempty"`
	SessionID  string          `json:"sessionId"`
	Kind       memory.Kind     `json:"kind"`
	Time       int64           `json:"time"` // Unix milliseconds
	Tool       string          `json:"tool,omitempty"`
	ToolInput  json.RawMessage `json:"toolInput,omitempty"`
	InputText  string          `json:"toolInputText,omitempty"` // the input where it is no JSON, or spelt in another way than a line can hold
	ResultType string          `json:"resultType,omitempty"`
	Text       string          `json:"text"`
	AgentID    string          `json:"agentId,omitempty"`
	Cwd        string          `json:"cwd,omitempty"`
	Branch     string          `json:"branch,omitempty"`
	Project    string          `json:"project,omitempty"`
	Truncated  bool            `json:"truncated,omitempty"`
	Redacted   int             `json:"redacted,omitempty"`
	CallID     string          `json:"callId,omitempty"`
	ExitCode   *int            `json:"exitCode,omitempty"`
	Files      []string        `json:"files,omitempty"`
	Model      string          `json:"model,omitempty"`
	Withdrawn  bool            `json:"withdrawn,omitempty"`
	Sources    memory.Sources  `json:"sources"`
	Match      int64           `json:"match,string"` // too long for a number of JavaScript
}

// Exported counts what an export wrote, or what was read from one.
type Exported struct{ Sessions, Entries int }

// Export writes the sessions and entries that pass the filters of q as JSON Lines: everything that Import needs to make
// the same rows again. A limit is one of sessions, the newest; 0 is none. What was forgotten leaves no trace in it. One session is in memory at a time.
func (db *DB) Export(ctx context.Context, q memory.Query, w io.Writer, now time.Time) (Exported, error) {
	var n Exported
	buffered := bufio.NewWriter(w)
	enc := json.NewEncoder(buffered)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(exportHead{exportVersion, now.UTC().Format(time.RFC3339)}); err != nil {
		return n, err
	}
	if q.Limit == 0 {
		q.Limit = -1
	}
	sessions, err := db.Sessions(ctx, q)
	if err != nil {
		return n, err
	}
	whole := q.Kind == "" && q.Tool+q.File == "" && q.Since.IsZero() && q.Until.IsZero()
	for i := len(sessions) - 1; i >= 0; i-- { // oldest first
		s := sessions[i]
		entries, err := db.Entries(ctx, s.ID)
		if err != nil {
			return n, err
		}
		aliases, err := db.aliases(ctx, s.ID)
		if err != nil {
			return n, err
		}
		if err := enc.Encode(exportLine{Session: sessionLine(s)}); err != nil {
			return n, err
		}
		n.Sessions++
		for _, e := range entries {
			if !whole && !passes(e, q) {
				continue
			}
			if err := enc.Encode(exportLine{Entry: entryLine(e, aliases[e.ID])}); err != nil {
				return n, err
			}
			n.Entries++
		}
	}
	return n, buffered.Flush()
}

func sessionLine(s memory.Session) *exportSession {
	return &exportSession{
		s.ID, s.Project, s.Cwd, s.Branch, s.HeadCommit, s.Client, s.Title, s.Model, millis(s.StartedAt), millis(s.EndedAt), s.EndReason, s.TranscriptPath,
	}
}

func (s *exportSession) session() memory.Session {
	return memory.Session{
		ID: s.ID, Project: s.Project, Cwd: s.Cwd, Branch: s.Branch, HeadCommit: s.HeadCommit, Client: s.Client, Title: s.Title, Model: s.Model,
		StartedAt: fromMillis(s.StartedAt), EndedAt: fromMillis(s.EndedAt), EndReason: s.EndReason, TranscriptPath: s.TranscriptPath,
	}
}

func entryLine(e memory.Entry, aliases []string) *exportEntry {
	out := &exportEntry{
		e.ID, aliases, e.SessionID, e.Kind, e.Time.UnixMilli(), e.Tool, nil, "", e.ResultType, e.Text, e.AgentID, e.Cwd, e.Branch, e.Project,
		e.Truncated, e.Redacted, e.CallID, e.ExitCode, e.Files, e.Model, e.Withdrawn, e.Sources, e.Match,
	}
	// The encoder writes JSON compactly: what is not would come back as other bytes.
	var compact bytes.Buffer
	if json.Compact(&compact, e.ToolInput) == nil && compact.String() == string(e.ToolInput) {
		out.ToolInput = e.ToolInput
	} else {
		out.InputText = string(e.ToolInput)
	}
	return out
}

func (e *exportEntry) entry() memory.Entry {
	input := e.ToolInput
	if e.InputText != "" {
		input = json.RawMessage(e.InputText)
	}
	return memory.Entry{
		ID: e.ID, SessionID: e.SessionID, Kind: e.Kind, Time: time.UnixMilli(e.Time).UTC(), Tool: e.Tool, ToolInput: input, ResultType: e.ResultType,
		Text: e.Text, AgentID: e.AgentID, Cwd: e.Cwd, Branch: e.Branch, Project: e.Project, Truncated: e.Truncated, Redacted: e.Redacted,
		CallID: e.CallID, ExitCode: e.ExitCode, Files: e.Files, Model: e.Model, Withdrawn: e.Withdrawn, Sources: e.Sources, Match: e.Match,
	}
}

// passes applies the filters about single entries, as conditions.entries does in SQL.
func passes(e memory.Entry, q memory.Query) bool {
	return (q.Kind == "" || e.Kind == q.Kind) &&
		(q.Tool == "" || strings.EqualFold(e.Tool, q.Tool)) &&
		(q.File == "" || containsFile(e.ToolInput, q.File)) &&
		(q.Since.IsZero() || !e.Time.Before(q.Since)) &&
		(q.Until.IsZero() || e.Time.Before(q.Until))
}

// aliases are the other ids of a session's entries.
func (db *DB) aliases(ctx context.Context, session string) (map[string][]string, error) {
	out := map[string][]string{}
	err := db.read(ctx, func(scan func(...any) error) error {
		var id, alias string
		err := scan(&id, &alias)
		out[id] = append(out[id], alias)
		return err
	}, "SELECT e.id, a.id FROM entries e JOIN aliases a ON a.seq = e.seq WHERE e.session_id = ? ORDER BY a.id", session)
	return out, err
}

// The years 1 to 9999, which RFC 3339 can write.
const minMillis, maxMillis = -62135596800000, 253402300799999

func (l exportLine) inTime() bool {
	in := func(ms int64) bool { return ms >= minMillis && ms <= maxMillis }
	return (l.Session == nil || in(l.Session.StartedAt) && in(l.Session.EndedAt)) && (l.Entry == nil || in(l.Entry.Time))
}

// maxExportLine is longer than any entry: a text and an input of 1 MiB each, escaped.
const maxExportLine = 64 << 20

// ExportError says where a file is no export of this program's.
type ExportError struct {
	Line int
	Err  error
}

func (e *ExportError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *ExportError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *ExportError) Hint() string { return "give a file that `copilot-mem export` wrote" }

// IsExport tells an export of ours by the beginning of its first line.
func IsExport(start []byte) bool { return bytes.HasPrefix(start, []byte(`{"copilotMemExport":`)) }

// ImportExport stores what Export wrote. Entries that are known, or were forgotten here, change nothing. What stands
// before a line that cannot be read is stored.
func (db *DB) ImportExport(ctx context.Context, r io.Reader) (c memory.Change, n Exported, err error) {
	const batch = 500
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxExportLine)
	var sessions []memory.Session
	var entries []exportEntry
	flush := func() error {
		done, err := db.addExported(ctx, sessions, entries)
		c.Added, c.Duplicates, c.Merged = c.Added+done.Added, c.Duplicates+done.Duplicates, c.Merged+done.Merged
		sessions, entries = nil, nil
		return err
	}
	line, bad := 0, error(nil)
	known := map[string]bool{}
	for bad == nil && sc.Scan() {
		line++
		if line == 1 {
			var head exportHead
			if bad = json.Unmarshal(sc.Bytes(), &head); bad == nil && head.Version != exportVersion {
				bad = fmt.Errorf("export version %d is not known", head.Version)
			}
			continue
		}
		var l exportLine
		if bad = json.Unmarshal(sc.Bytes(), &l); bad != nil {
			break
		}
		switch {
		case !l.inTime():
			bad = errors.New("a time that no calendar has")
		case l.Session != nil && l.Session.ID != "":
			sessions = append(sessions, l.Session.session())
			known[l.Session.ID] = true
			n.Sessions++
		case l.Entry != nil && l.Entry.ID != "" && known[l.Entry.SessionID]:
			entries = append(entries, *l.Entry)
			n.Entries++
		default:
			bad = errors.New("neither a session nor an entry of one")
		}
		if len(entries) == batch {
			if err := flush(); err != nil {
				return c, n, err
			}
		}
	}
	if bad == nil {
		bad = sc.Err()
	}
	if line == 0 && bad == nil {
		bad = errors.New("empty file")
	}
	err = flush()
	if bad != nil {
		err = errors.Join(&ExportError{line, bad}, err)
	}
	return c, n, err
}

func (db *DB) addExported(ctx context.Context, sessions []memory.Session, lines []exportEntry) (memory.Change, error) {
	entries := make([]memory.Entry, len(lines))
	for i := range lines {
		entries[i] = lines[i].entry()
	}
	return db.addAs(ctx, sessions, entries, true, func(w *writer) error {
		for _, l := range lines {
			for _, alias := range l.Aliases {
				if _, err := w.tx.ExecContext(ctx, "INSERT OR IGNORE INTO aliases (id, seq) SELECT ?, seq FROM entries WHERE id = ?", alias, l.ID); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
