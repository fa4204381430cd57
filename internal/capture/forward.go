package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/spool"
)

const (
	sinkName = "memory-ingest"
	// sinkWait is how long one event may take: the sink has no time limit of its own.
	sinkWait = 5 * time.Second
	// sinkLimit is what the daemon behind the sink takes in one message, with room for its envelope.
	sinkLimit = 4<<20 - 64<<10
	lockAge   = 2 * time.Minute
)

// sinkVariables are what the sink and the program that starts it read from the environment.
var sinkVariables = [...]string{"COPILOT_MEM_FORWARD", "MEMORY_INGEST_PATH", "MEMORY_INGEST_DRY_RUN", "MEMORY_DAEMON_ADDR", "PATH", "HOME"}

func forwards(getenv func(string) string) bool { return getenv("COPILOT_MEM_FORWARD") == sinkName }

// sinkEnv passes the sink's variables on to a program in the background.
func sinkEnv(env []string, getenv func(string) string) []string {
	if !forwards(getenv) {
		return env
	}
	for _, name := range sinkVariables {
		if v := getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func forwardSpool(dir datadir.Dir) spool.Spool {
	return spool.Spool{Dir: dir.Forward()}
}

// forward puts a stored line into the sink's own spool and leaves a program behind that empties it.
func forward(o Options, stored []byte) {
	if !forwards(o.Getenv) {
		return
	}
	if err := forwardSpool(o.Dir).Append(stored); err != nil {
		note(o, "forward: "+problem(err))
		return
	}
	startSink(o)
}

// startSink leaves a program behind that empties the sink's spool.
func startSink(o Options) {
	if o.Exe == "" {
		return
	}
	env := sinkEnv([]string{"COPILOT_MEM_HOME=" + string(o.Dir), "COPILOT_MEM_DISABLE=1", "SystemRoot=" + o.Getenv("SystemRoot")}, o.Getenv)
	if err := detach(o.Exe, append(append([]string{}, o.ReaderArgs...), "--forward"), env, string(o.Dir)); err != nil {
		note(o, "forward: "+problem(err))
	}
}

// CatchUp is [ReadTranscript] without waiting, for those who read the store: what it adds goes to the sink, too, where that
// is switched on.
func CatchUp(o Options, path, session string) (added int, err error) {
	forwarded := forwards(o.Getenv)
	if added, err = readTranscript(o.Dir, path, session, 0, forwarded); added > 0 && forwarded {
		startSink(o)
	}
	return added, err
}

// Forward hands what waits for the sink to it, one event after another. One process at a time does so.
func Forward(dir datadir.Dir, getenv func(string) string) error {
	return emptyTo(dir, getenv, sinkWait)
}

func emptyTo(dir datadir.Dir, getenv func(string) string, wait time.Duration) error {
	waiting := forwardSpool(dir)
	lock := filepath.Join(waiting.Dir, "lock")
	var failed []error
	for {
		if files, _, err := waiting.Pending(); err != nil || files == 0 {
			return errors.Join(append(failed, err)...)
		}
		if taken, err := take(lock); err != nil || !taken {
			return errors.Join(append(failed, err)...)
		}
		_, err := waiting.Drain(1, func(lines []spool.Line) error {
			for _, l := range lines {
				// A lost event is the sink's loss alone, and a second try would store it twice.
				if err := send(l, getenv, wait); err != nil {
					failed = append(failed, err)
				}
				now := time.Now()
				_ = os.Chtimes(lock, now, now) // still at work
			}
			return nil
		})
		failed = append(failed, err, os.Remove(lock))
		if err != nil {
			return errors.Join(failed...)
		}
	}
}

// take makes the lock file; one that nobody has touched for long was left by a process that was killed.
func take(lock string) (bool, error) {
	if info, err := os.Lstat(lock); err == nil && time.Since(info.ModTime()) > lockAge {
		if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

func send(l spool.Line, getenv func(string) string, wait time.Duration) error {
	doc, ok, err := sinkPayload(l)
	if err != nil || !ok || getenv("MEMORY_INGEST_DRY_RUN") == "1" {
		return err
	}
	program := getenv("MEMORY_INGEST_PATH")
	if program == "" {
		program = sinkName
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Stdin = bytes.NewReader(doc)
	cmd.WaitDelay = time.Second
	return cmd.Run()
}

// sinkEvent has the sink's fields in its own order (agent-memory 2.7.0).
type sinkEvent struct {
	Event     string          `json:"hook_event_name"`
	Session   string          `json:"session_id"`
	Message   *string         `json:"message,omitempty"`
	Tool      string          `json:"tool_name,omitempty"`
	ToolInput json.RawMessage `json:"tool_input,omitempty"`
	Timestamp string          `json:"timestamp"`
	Cwd       string          `json:"cwd,omitempty"`
	Agent     string          `json:"agent"`
}

// sinkPayload is one line for the sink. ok is false for events that it has no name for: it would take them for
// prompts of the user.
func sinkPayload(l spool.Line) (doc []byte, ok bool, err error) {
	s := sinkEvent{Session: l.Session, Agent: "copilot"}
	at := time.UnixMilli(l.At)
	if l.Event == "transcript.assistant.message" {
		var m struct {
			Timestamp time.Time `json:"timestamp"`
			Content   string    `json:"content"`
			AgentID   string    `json:"agentId"`
		}
		if err := json.Unmarshal(l.Payload, &m); err != nil {
			return nil, false, err
		}
		if m.AgentID != "" || m.Content == "" {
			return nil, false, nil
		}
		s.Event, s.Message = "AssistantResponse", &m.Content
		if !m.Timestamp.IsZero() {
			at = m.Timestamp
		}
	} else {
		e, err := hook.Decode(l.Event, l.Payload)
		if err != nil {
			return nil, false, err
		}
		if s.Event, s.Message = sinkWords(e); s.Event == "" {
			return nil, false, nil
		}
		if e.SessionID != "" {
			s.Session = e.SessionID
		}
		if !e.Time.IsZero() {
			at = e.Time
		}
		s.Tool, s.ToolInput, s.Cwd = e.Tool, e.ToolInput, e.Cwd
	}
	if s.Session == "" {
		return nil, false, nil // the daemon refuses it
	}
	s.Timestamp = at.UTC().Format("2006-01-02T15:04:05.000Z")
	if doc, err = encodeSink(s); err == nil && len(doc) > sinkLimit {
		s.ToolInput = nil
		doc, err = encodeSink(s)
	}
	return doc, err == nil && len(doc) <= sinkLimit, err
}

func encodeSink(s sinkEvent) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(s)
	return b.Bytes(), err
}

// sinkWords gives the sink's name of an event, "" for none, and the text that goes with it.
func sinkWords(e hook.Event) (name string, message *string) {
	switch e.Name {
	case "sessionStart":
		return "SessionStart", nil
	case "userPromptSubmitted":
		if !e.FromUser() {
			return "", nil
		}
		return "UserPromptSubmit", &e.Prompt
	case "preToolUse":
		return "PreToolUse", nil
	case "postToolUse":
		if e.ResultText == "" {
			return "PostToolUse", nil
		}
		return "PostToolUse", &e.ResultText
	case "postToolUseFailure":
		if e.Error == nil {
			return "PostToolUse", nil
		}
		return "PostToolUse", &e.Error.Message
	case "sessionEnd":
		return "Stop", nil
	case "subagentStart":
		return "SubagentStart", nil
	case "subagentStop":
		return "SubagentStop", &e.Response
	}
	return "", nil
}
