package guard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/redact"
)

// The session log: one line per hook event. docs/format.md describes the line.
const (
	logName   = "session-events.jsonl"
	maxLog    = 10 << 20 // bytes before it is rotated
	keepLogs  = 3
	maxValue  = 4 << 10  // bytes of arguments, and of a result
	maxWindow = 16 << 10 // bytes of a long text that are looked through for secrets, at each end
	maxLine   = 64 << 10
)

// entry is one line of the log.
type entry struct {
	V        int             `json:"v"`
	Time     string          `json:"time"`
	Agent    string          `json:"agent"`
	Session  string          `json:"session"`
	Event    string          `json:"event"` // tool, prompt, stop, session, …
	Hook     string          `json:"hook"`  // the canonical name of the event
	Tool     string          `json:"tool,omitempty"`
	Result   string          `json:"result,omitempty"`
	Decision string          `json:"decision"`
	Rules    []ruleRef       `json:"rules,omitempty"`
	Duration float64         `json:"durationMs"`
	Cwd      string          `json:"cwd,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Output   string          `json:"output,omitempty"`
}

// ruleRef is a rule that spoke.
type ruleRef struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Action string `json:"action"`
}

// newEntry describes the event; decision and rules come from who judged it. args are those that will run.
func newEntry(e hook.Event, now time.Time) entry {
	out := entry{
		V: 1, Time: now.UTC().Format("2006-01-02T15:04:05.000Z"), Agent: "copilot",
		Session: short(e.SessionID, 256), Event: eventKind(e.Name), Hook: e.Name, Tool: short(e.Tool, 256),
		Result: short(e.ResultType, 64), Decision: "none", Cwd: short(e.Cwd, maxValue),
		Args: clip(e.ToolInput), Output: clipText(e.ResultText),
	}
	if e.Name == hook.PostToolUseFailure {
		out.Result = "failure"
		if e.Error != nil {
			out.Output = clipText(e.Error.Message)
		}
	}
	return out
}

// eventKind is the word for a group of events.
func eventKind(name string) string {
	switch name {
	case hook.PreToolUse, hook.PostToolUse, hook.PostToolUseFailure:
		return "tool"
	case hook.UserPromptSubmitted, hook.UserPromptTransformed:
		return "prompt"
	case hook.AgentStop, hook.SubagentStop:
		return "stop"
	case hook.SessionStart, hook.SessionEnd:
		return "session"
	case hook.ErrorOccurred:
		return "error"
	}
	return name
}

// clip takes secrets out of a JSON value and shortens its texts until the whole fits.
func clip(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if len(raw) > 64*maxValue {
		// Longer than any call a rule would look back at: its ends are enough, as one text.
		return quoteClipped(string(raw))
	}
	for _, limit := range []int{maxValue, maxValue / 2, maxValue / 8, maxValue / 32, 32} {
		out, _, err := redact.Payload(nil, raw, limit)
		if err != nil {
			break
		}
		if len(out) <= maxValue {
			return out
		}
	}
	return quoteClipped(string(raw))
}

// quoteClipped makes one JSON text of what is too long as a value; quotes in it take room, too.
func quoteClipped(s string) json.RawMessage {
	text := clipText(s)
	for limit := maxValue; ; limit = limit * 3 / 4 {
		if out := quote(short(text, limit)); len(out) <= maxValue {
			return out
		}
	}
}

// clipText takes secrets out of a text and keeps its start and its end.
func clipText(s string) string {
	if len(s) <= 2*maxWindow {
		clean, _ := redact.Text(s)
		if len(clean) <= maxValue {
			return clean
		}
		return short(clean, maxValue)
	}
	head, _ := redact.Text(strings.ToValidUTF8(s[:maxWindow], ""))
	tail, _ := redact.Text(strings.ToValidUTF8(s[len(s)-maxWindow:], ""))
	return ends(head, tail, len(s)-maxValue, maxValue)
}

// short keeps the two ends of a text that is too long.
func short(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return ends(s, s, len(s)-limit, limit)
}

func ends(head, tail string, missing, limit int) string {
	mark := "…[" + strconv.Itoa(missing) + " bytes left out]…"
	room := max(0, (limit-len(mark))/2)
	head = strings.ToValidUTF8(head[:min(room, len(head))], "")
	tail = strings.ToValidUTF8(tail[len(tail)-min(room, len(tail)):], "")
	return head + mark + tail
}

func quote(s string) json.RawMessage { return appendText(nil, s) }

// encode is compact JSON that leaves <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// line is the entry as it is written. One that is too long loses what is longest.
func (e entry) line() []byte {
	b := e.encode()
	if len(b) >= maxLine {
		e.Output, e.Args, e.Rules = "", nil, nil
		b = e.encode()
	}
	return b
}

// encode writes what the tags of entry say, without the reflection that would cost on every event.
func (e entry) encode() []byte {
	b := append(make([]byte, 0, 512+len(e.Args)+len(e.Output)), `{"v":1,"time":`...)
	b = appendText(b, e.Time)
	text := func(key, value string, always bool) {
		if always || value != "" {
			b = append(append(append(b, `,"`...), key...), `":`...)
			b = appendText(b, value)
		}
	}
	text("agent", e.Agent, true)
	text("session", e.Session, true)
	text("event", e.Event, true)
	text("hook", e.Hook, true)
	text("tool", e.Tool, false)
	text("result", e.Result, false)
	text("decision", e.Decision, true)
	for i, r := range e.Rules {
		b = append(b, []string{`,"rules":[{"name":`, `,{"name":`}[min(i, 1)]...)
		b = appendText(b, r.Name)
		text("file", r.File, true)
		text("action", r.Action, true)
		b = append(b, '}')
	}
	if len(e.Rules) > 0 {
		b = append(b, ']')
	}
	b = strconv.AppendFloat(append(b, `,"durationMs":`...), e.Duration, 'f', -1, 64)
	text("cwd", e.Cwd, false)
	if len(e.Args) > 0 {
		b = append(append(b, `,"args":`...), e.Args...)
	}
	text("output", e.Output, false)
	return append(b, "}\n"...)
}

// appendText writes a JSON text. What is no UTF-8 becomes the replacement character.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// appendLog adds a line to the log in dir and rotates it. A reader or writer that holds the lock is waited for a short
// time only: one write of one line is whole without it.
func appendLog(dir string, line []byte) error {
	path := filepath.Join(dir, logName)
	for range 3 {
		f, err := openLog(dir, path)
		if err != nil {
			return err
		}
		locked := waitFor(lockWait, func() bool { return tryLock(f) })
		again, err := appendTo(f, path, line, locked)
		if err := errors.Join(err, f.Close()); err != nil || !again {
			return err
		}
	}
	return errors.New("log: rotated at every try")
}

func openLog(dir, path string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE | noFollow
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, flags, 0o600)
	}
	return f, err
}

// appendTo reports whether the file was rotated away before it was locked: then the line is still to be written.
func appendTo(f *os.File, path string, line []byte, locked bool) (again bool, err error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !mine.Mode().IsRegular() {
		return false, errors.New(path + ": not a regular file")
	}
	if mine.Size()+int64(len(line)) > maxLog && locked {
		if now, err := os.Lstat(path); err != nil || !os.SameFile(mine, now) {
			return true, nil
		}
		if err := rotate(path); err != nil {
			return false, err
		}
		return true, nil
	}
	_, err = f.Write(line)
	return false, err
}

func rotate(path string) error {
	for i := keepLogs - 1; i > 0; i-- {
		from := path + "." + strconv.Itoa(i)
		if err := os.Rename(from, path+"."+strconv.Itoa(i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(path, path+".1")
}

// fileKey makes a file name of any text: itself when it is harmless, else its hash. Session ids and group names are
// data, "../../x" included.
func fileKey(s string) string {
	if s != "" && len(s) <= 128 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "h" + hex.EncodeToString(sum[:16])
}
