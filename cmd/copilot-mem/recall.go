package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/copilot"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/guard"
	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/recall"
	"github.com/copilot-mem/copilot-mem/internal/redact"
	"github.com/copilot-mem/copilot-mem/internal/spool"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

const (
	// recallTime is how long a session waits for what memory knows; without an answer by then it goes on without.
	recallTime = 1500 * time.Millisecond
	// maxIngest is how many waiting bytes the start of a session takes in by itself; more is left to the next command.
	maxIngest = 2 << 20
	// maxPayload is how much of an event is read, as much as capture reads.
	maxPayload = 16 << 20
	// onlyContext says that another hook captures the event.
	onlyContext = "--no-capture"
)

func newRecallCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "recall EVENT",
		Short: "Store one hook event from stdin, and tell the agent what memory knows about it",
		Long: `Store one hook event from stdin, and print what the client shall tell the agent: one JSON object, or nothing.
Exit code 0, always; what goes wrong is noted for "copilot-mem doctor". --no-capture in front of the event leaves out the storing.`,
		Args: cobra.ArbitraryArgs,
		// A hook must not end with a usage error, whatever follows the event.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			e.recallMain(cmd.Context(), args)
			return nil
		},
	}
}

// recallMain is capture and context of one event. It never fails.
func (e *env) recallMain(ctx context.Context, args []string) {
	begun := e.Now()
	if len(args) > 0 && strings.HasPrefix(args[0], "--") && args[0] != onlyContext {
		capture.Main(args, e.Stdin, e.Getenv, "recall")
		if args[0] == "--read-transcript" { // the session rests: its next one shall not wait for this
			e.ingestQuietly(ctx)
		}
		return
	}
	captures := true
	if len(args) > 0 && args[0] == onlyContext {
		captures, args = false, args[1:]
	}
	if len(args) == 0 || e.Getenv("COPILOT_MEM_DISABLE") == "1" {
		return
	}
	dir, err := e.dataDir()
	if err != nil {
		return
	}
	r := recaller{env: e, dir: dir, event: args[0], begun: begun}
	payload, err := io.ReadAll(io.LimitReader(e.Stdin, maxPayload+1))
	if err != nil {
		r.note(err)
	}
	if r.waiting, err = r.waits(); err != nil {
		r.note(err)
	}
	r.decode(payload)
	var ruled []byte
	if captures {
		ruled = r.capture(args, payload)
		r.blocked = blockReason(ruled)
	}
	out, err := join(ruled, r.inTime(ctx))
	if err != nil {
		r.note(err)
		out = ruled
	}
	if len(out) > 0 {
		if _, err := e.Stdout.Write(append(out, '\n')); err != nil {
			r.note(err)
		}
	}
}

// capture stores the event, as `capture` does, and gives what policies answer.
func (r *recaller) capture(args []string, payload []byte) []byte {
	var answer bytes.Buffer
	guard.Program{
		Args: args, Stdin: bytes.NewReader(payload), Stdout: &answer, Stderr: r.Stderr, Environ: os.Environ(), Alone: true,
		Capture: func(stdin io.Reader) {
			if !r.isQuestion() { // asked again and again, it would be what memory finds
				capture.Main(args, stdin, r.Getenv, "recall")
			}
		},
	}.Run()
	return bytes.TrimSpace(answer.Bytes())
}

// blockReason is what the agent is asked to go on with instead of stopping.
func blockReason(ruled []byte) string {
	var a struct{ Decision, Reason string }
	if json.Unmarshal(ruled, &a) != nil || a.Decision != "block" {
		return ""
	}
	return a.Reason
}

// join makes one answer of two: a policy's comes first, and where it blocks the prompt memory adds nothing but context.
func join(ruled, told []byte) ([]byte, error) {
	if len(ruled) == 0 || len(told) == 0 {
		return append(ruled, told...), nil
	}
	var a, b map[string]json.RawMessage
	if err := json.Unmarshal(ruled, &a); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(told, &b); err != nil {
		return nil, err
	}
	for key, value := range b {
		switch {
		case key == "additionalContext" && a[key] != nil:
			var first, second string
			if err := errors.Join(json.Unmarshal(a[key], &first), json.Unmarshal(value, &second)); err != nil {
				return nil, err
			}
			both, err := hook.Response{AdditionalContext: first + "\n\n" + second}.Encode()
			if err != nil {
				return nil, err
			}
			var r map[string]json.RawMessage
			if err := json.Unmarshal(both, &r); err != nil {
				return nil, err
			}
			a[key] = r[key]
		case a[key] == nil && (key == "additionalContext" || a["decision"] == nil):
			a[key] = value
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(a)
	return bytes.TrimSpace(out.Bytes()), err
}

// recaller is one event that may be told something.
type recaller struct {
	*env
	dir     datadir.Dir
	event   string
	begun   time.Time
	config  config.Config
	told    bool // the event was read, and recall is on
	ev      hook.Event
	blocked string // why a policy does not let the agent stop
	waiting bool   // there were events of before that no reader has taken
}

// note leaves word for doctor. The text of an error may be one of the user's paths; it stays in the user's own folder.
func (r *recaller) note(err error) {
	capture.Note(r.dir, r.Now, "recall "+r.event, err.Error())
}

func (r *recaller) waits() (bool, error) {
	_, n, err := spool.Spool{Dir: r.dir.Spool()}.Pending()
	return n > 0 && n <= maxIngest, err
}

// decode reads the event and what the user chose for its folder. What cannot be read is capture's to note.
func (r *recaller) decode(payload []byte) {
	if len(payload) > maxPayload {
		return
	}
	var err error
	if r.ev, err = hook.Decode(r.event, bytes.TrimSpace(payload)); err != nil {
		return
	}
	// A mistake in the file is told by doctor, and by capture, which stores nothing then.
	if r.config, err = capture.Choices(r.dir, r.ev.Cwd); err != nil {
		return
	}
	r.told = r.config.Recall.Enabled && r.config.Capture.Enabled && r.ev.SessionID != ""
}

// isQuestion reports whether a prompt is to be answered from memory.
func (r *recaller) isQuestion() bool {
	return r.told && r.config.Recall.Answers && strings.HasPrefix(strings.TrimSpace(r.ev.Prompt), "??") &&
		(r.ev.Name == hook.UserPromptSubmitted && r.ev.FromUser() || r.ev.Name == hook.SessionStart)
}

// inTime answers before the time is over, or not at all.
func (r *recaller) inTime(ctx context.Context) []byte {
	if !r.told || !asks(r.ev) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	answer := make(chan []byte, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				r.note(fmt.Errorf("panic: %v", p))
				answer <- nil
			}
		}()
		out, err := r.answer(ctx)
		if err != nil {
			r.note(err)
			out = nil
		}
		answer <- out
	}()
	select {
	case out := <-answer:
		return out
	case <-time.After(recallTime + 200*time.Millisecond): // somebody who does not look at ctx
		r.note(errors.New("no answer in time"))
		return nil
	}
}

// asks reports, without opening anything, whether memory can have something to say.
func asks(e hook.Event) bool {
	switch e.Name {
	case hook.SessionStart, hook.SubagentStart, hook.PreCompact, hook.PostToolUseFailure, hook.PreToolUse, hook.AgentStop, hook.PostToolUse:
		return true
	case hook.UserPromptSubmitted:
		return e.FromUser()
	}
	return false
}

// answer is what the client is to read, as JSON; nothing most of the time.
func (r *recaller) answer(ctx context.Context) ([]byte, error) {
	receipts := receiptFile{r.dir, r.ev.SessionID}
	known, err := receipts.read()
	if err != nil {
		return nil, err
	}
	muted, err := readMuted(r.dir)
	if err != nil {
		return nil, err
	}
	st := recall.Fold(known, muted)
	m := r.moment()
	switch {
	case r.ev.Name == hook.AgentStop:
		return nil, receipts.add(recall.NewReceipt(m, recall.Told{}, 0))
	case r.ev.Name == hook.PostToolUse && m.Failure == "" && !st.Waits():
		return nil, nil
	case r.ev.Name == hook.UserPromptSubmitted && st.Continues(r.ev.Prompt, m.Now):
		return nil, nil
	}
	db, err := store.Open(ctx, r.dir.DB(), storeOptions)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // what was written is written
	if r.isQuestion() {
		return r.question(ctx, db, m)
	}
	if err := r.catchUp(ctx, db); err != nil {
		return nil, err
	}
	c := r.config.Recall
	told, err := recall.Do(ctx, db, m, st, recall.Limits{
		Session: c.Session, Start: c.Start, Prompt: c.Prompt, Tool: c.Tool, Compact: c.Compact, Floor: float64(c.Floor) / 100,
	})
	if err != nil {
		return nil, err
	}
	told.Text, _ = redact.Text(told.Text) // by today's rules; what is stored was cleaned by those of its day
	receipt := recall.NewReceipt(m, told, r.Now().Sub(r.begun))
	if receipt.Worth() {
		if err := receipts.add(receipt); err != nil {
			return nil, err
		}
	}
	if told.Aside {
		return nil, nil
	}
	return hook.Response{AdditionalContext: told.Text}.Encode()
}

// catchUp takes in what an earlier session left waiting, when a session starts, and what this one said before it forgets.
func (r *recaller) catchUp(ctx context.Context, db *store.DB) error {
	if r.ev.Name == hook.SessionStart && !r.waiting || r.ev.Name != hook.SessionStart && r.ev.Name != hook.PreCompact {
		return nil
	}
	_, err := ingest.Run(ctx, spool.Spool{Dir: r.dir.Spool()}, db)
	return err
}

// moment is the event as recall wants it.
func (r *recaller) moment() recall.Moment {
	at := r.ev.Time
	if at.IsZero() {
		at = r.begun
	}
	m := recall.Moment{
		Event: r.ev.Name, Session: r.ev.SessionID, Agent: r.ev.AgentID, Tool: r.ev.Tool, Input: r.ev.ToolInput, Resumed: r.ev.Source == "resume", Now: at,
	}
	m.Project, m.Branch = ingest.ProjectOf(r.ev.Cwd)
	if m.Project == "" {
		m.Project = filepath.Clean(r.ev.Cwd)
	}
	m.Root = r.ev.Cwd
	if root, err := copilot.GitRoot(r.ev.Cwd); err == nil {
		m.Root = root
	}
	prompt := r.ev
	prompt.Name = hook.UserPromptSubmitted // a session may start with a prompt that is none of the user's
	if prompt.FromUser() && (r.ev.Name == hook.SessionStart || r.ev.Name == hook.UserPromptSubmitted) {
		m.Prompt = r.ev.Prompt
	}
	switch r.ev.Name {
	case hook.PostToolUse:
		if m.Exit = memory.ShellExit(m.Tool, r.ev.ResultText); m.Exit != nil && *m.Exit != 0 || r.ev.ResultType == "failure" {
			m.Failure = r.ev.ResultText
		}
	case hook.PostToolUseFailure:
		if r.ev.Error != nil {
			m.Failure = r.ev.Error.Message
		}
	case hook.AgentStop:
		m.Now, m.Prompt = r.Now(), r.blocked // what counts is when the hooks are over
	}
	return m
}

// question answers a prompt without a model.
func (r *recaller) question(ctx context.Context, db *store.DB, m recall.Moment) ([]byte, error) {
	if r.ev.Name == hook.SessionStart { // its prompt comes again, as one
		return nil, nil
	}
	text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(r.ev.Prompt), "??"))
	if _, err := ingest.Run(ctx, spool.Spool{Dir: r.dir.Spool()}, db); err != nil {
		return nil, err
	}
	found, err := r.find(ctx, db, memory.Query{Text: text, Project: m.Project, Limit: 5}, false)
	if err != nil {
		return nil, err
	}
	hits := found.Hits
	var b strings.Builder
	if len(hits) == 0 {
		fmt.Fprintf(&b, "Nothing in memory about that in %s.", m.Project)
	} else {
		fmt.Fprintf(&b, "From memory of %s, without a model:\n", m.Project)
	}
	for _, h := range hits {
		fmt.Fprintf(&b, "\n%s  %s%s  [%s]\n  %s\n", screenTime(h.Time, r.Now()), h.Kind, withTool(h.Tool), h.ID, screen(h.Snippet))
	}
	clean, _ := redact.Text(b.String())
	return hook.Response{Handled: true, ResponseContent: clean}.Encode()
}

func withTool(name string) string {
	if name == "" {
		return ""
	}
	return " " + name
}

// ingestQuietly takes in what waits, so that nobody has to wait for it.
func (e *env) ingestQuietly(ctx context.Context) {
	dir, err := e.dataDir()
	if err != nil {
		return
	}
	db, err := store.Open(ctx, dir.DB(), storeOptions)
	if err != nil {
		capture.Note(dir, e.Now, "recall", err.Error())
		return
	}
	defer func() { _ = db.Close() }()
	if _, err := ingest.Run(ctx, spool.Spool{Dir: dir.Spool()}, db); err != nil {
		capture.Note(dir, e.Now, "recall", err.Error())
	}
}
