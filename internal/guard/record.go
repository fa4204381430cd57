package guard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/hook"
)

// record is what happened before in a session, read from the session log when a rule first asks.
type record struct {
	dir   string     // of the logs
	event hook.Event // the one being judged, which does not count
}

// past is one call: its line of the log, that of the post event where there is one.
type past struct {
	tool, args string
	line       []byte
	pending    bool // no post event yet
	asked      bool // and the user was asked: it may never have run
	judged     bool // denied
}

// lines are the calls that happened, oldest first, one JSON object each. They carry their log line's keys and, for
// policies written for hookflow, lifecycle, toolName and toolArgs. An unreadable log has none.
func (r record) lines() ([]string, error) {
	var calls []*past
	var problem error
	for _, name := range r.files() {
		if err := r.read(name, &calls); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problem = err
		}
	}
	if r.event.Name == hook.PostToolUse || r.event.Name == hook.PostToolUseFailure {
		// The call being judged has its pre event in the log.
		if c := pending(calls, r.event.Tool, string(clip(r.event.ToolInput))); c != nil {
			c.judged = true
		}
	}
	var out []string
	for _, c := range calls {
		if !c.judged && !(c.pending && c.asked) {
			out = append(out, string(c.line))
		}
	}
	if problem != nil {
		return nil, problem
	}
	return out, nil
}

// files are the log and what was rotated away, oldest first.
func (r record) files() []string {
	path := filepath.Join(r.dir, logName)
	var out []string
	for i := keepLogs; i > 0; i-- {
		out = append(out, path+"."+strconv.Itoa(i))
	}
	return append(out, path)
}

var errLocked = errors.New("session log: locked by another program")

func (r record) read(path string, calls *[]*past) error {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if !waitFor(lockWait, func() bool { return tryShare(f) }) {
		return errLocked
	}
	// Most lines are of other sessions: they are passed over without parsing.
	mark := appendText([]byte(`"session":`), short(r.event.SessionID, 256))
	in := bufio.NewReaderSize(f, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			// Not a line of ours.
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			line = nil
		}
		if bytes.Contains(line, mark) {
			r.take(line, calls)
		}
		if err != nil {
			return nil // the end, or a disk that stopped: what was read counts
		}
	}
}

// take adds one line of the session; a post event takes the place of its pre event.
func (r record) take(line []byte, calls *[]*past) {
	var e entry
	if json.Unmarshal(line, &e) != nil || e.Event != "tool" || e.Session != short(r.event.SessionID, 256) {
		return
	}
	c := &past{tool: e.Tool, args: string(e.Args), pending: e.Hook == hook.PreToolUse}
	c.judged = c.pending && e.Decision == "deny"
	c.asked = c.pending && e.Decision == "ask"
	c.line = recordLine(e, bytes.TrimSpace(line))
	if !c.pending {
		if before := pending(*calls, c.tool, c.args); before != nil {
			*before = *c
			return
		}
	}
	*calls = append(*calls, c)
}

// pending is the oldest call with this tool and these arguments that has no post event.
func pending(calls []*past, tool, args string) *past {
	for _, c := range calls {
		if c.pending && !c.judged && c.tool == tool && c.args == args {
			return c
		}
	}
	return nil
}

func recordLine(e entry, line []byte) []byte {
	lifecycle := "post"
	if e.Hook == hook.PreToolUse {
		lifecycle = "pre"
	}
	var b bytes.Buffer
	b.WriteString(`{"lifecycle":"` + lifecycle + `","toolName":`)
	b.Write(quote(e.Tool))
	if len(e.Args) > 0 {
		b.WriteString(`,"toolArgs":`)
		b.Write(e.Args)
	}
	b.WriteByte(',')
	b.Write(line[1:])
	return b.Bytes()
}

// query answers the transcript functions of expressions; re is RE2 over each line, and empty for all.
func query(lines []string, fn, re string) (any, error) {
	var compiled *regexp.Regexp
	if re != "" {
		var err error
		if compiled, err = regexp.Compile(re); err != nil {
			return nil, err
		}
	}
	var hits []int
	for i, l := range lines {
		if compiled == nil || compiled.MatchString(l) {
			hits = append(hits, i)
		}
	}
	switch fn {
	case "transcript_count":
		return float64(len(hits)), nil
	case "transcript_last":
		if len(hits) == 0 {
			return "", nil
		}
		return lines[hits[len(hits)-1]], nil
	case "transcript_since":
		if len(hits) > 0 {
			lines = lines[hits[len(hits)-1]+1:]
		}
		return joined(lines), nil
	}
	picked := make([]string, 0, len(hits))
	for _, i := range hits {
		picked = append(picked, lines[i])
	}
	return joined(picked), nil
}

// joined is a JSON array with one call a line; no calls are an empty text.
func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "[" + strings.Join(lines, ",\n") + "]"
}
