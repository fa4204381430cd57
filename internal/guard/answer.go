package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy"
)

// Answer is what the hook prints: one JSON object, or nothing. It returns before the client's time is over, never panics
// and never fails. What it cannot judge is denied where a tool would run, unless the event itself cannot be read.
func Answer(o Options) []byte { return Judge(o).Output }

// Judgement is an answer and what led to it.
type Judgement struct {
	Output   []byte
	Decision string // none, deny, ask, modify or context
	Rules    []Spoken
	Duration time.Duration
}

// Spoken is one thing that one rule said.
type Spoken struct {
	Name, File, Action, Text string
}

// Judge is [Answer] with its reasons.
func Judge(o Options) Judgement {
	o = o.filled()
	if o.Getenv(envDisable) == "1" {
		return Judgement{Decision: "none"}
	}
	e, err := decode(o)
	if err != nil {
		return unreadable(o, err)
	}
	j := newJudgement(o, e)
	done := make(chan outcome, 1)
	go func() { done <- j.safely() }()
	var out outcome
	timer := time.NewTimer(time.Until(o.Started.Add(lastLimit(o))))
	defer timer.Stop()
	select {
	case out = <-done:
	case <-timer.C:
		out = j.late()
		abandon()
	}
	j.close()
	return j.finish(out)
}

// unreadable is the answer to what cannot be judged: the call passes, unless it is too large to be looked at.
func unreadable(o Options, err error) Judgement {
	name, _ := hook.CanonicalName(o.Event)
	if errors.Is(err, errTooLarge) && name == hook.PreToolUse {
		r := reply{PermissionDecision: "deny", PermissionDecisionReason: "copilot-mem: " + err.Error()}
		return Judgement{Output: r.bytes(), Decision: "deny"}
	}
	if errors.Is(err, errNoTool) { // capture notes what else cannot be read
		j := &judgement{o: o, event: hook.Event{Name: name}}
		j.noteFailure("policy: " + err.Error())
	}
	return Judgement{Decision: "none"}
}

func (o Options) filled() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Started.IsZero() {
		o.Started = o.Now()
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	return o
}

// decode reads the event; the error says why there is nothing to judge.
func decode(o Options) (hook.Event, error) {
	name, known := hook.CanonicalName(o.Event)
	input := bytes.TrimSpace(bytes.TrimPrefix(o.Input, []byte("\xef\xbb\xbf")))
	switch {
	case !known:
		return hook.Event{}, fmt.Errorf("unknown event %q", o.Event)
	case len(o.Input) > MaxInput:
		return hook.Event{}, errTooLarge
	case len(input) == 0:
		return hook.Event{}, errors.New("empty input")
	}
	e, err := hook.Decode(o.Event, input)
	if err == nil && eventKind(name) == "tool" && e.RawTool == "" {
		err = errNoTool
	}
	return e, err
}

var (
	errTooLarge = errors.New("the event is too large to check (more than 16 MiB)")
	errNoTool   = errors.New("a tool event without the name of a tool")
)

// outcome is the reply, with what the log wants to know.
type outcome struct {
	reply reply
	says  []say
}

// safely judges; a panic denies a tool call where there is any policy of the user's or the repository's.
func (j *judgement) safely() (out outcome) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		j.debug("panic: %v\n%s", r, debug.Stack())
		out = outcome{}
		if j.event.Name == hook.PreToolUse && (j.set == nil || len(j.set.Policies) > 0) {
			out.reply = reply{
				PermissionDecision:       "deny",
				PermissionDecisionReason: "copilot-mem: internal error while checking this call; see " + j.o.Dir.Failures(),
			}
		}
		j.noteFailure(fmt.Sprint("policy: panic: ", r))
	}()
	j.load()
	return j.decide()
}

// decide merges what the rules say. A call that they change is judged once more as it will run; changes that are wanted
// then are not made.
func (j *judgement) decide() outcome {
	can := policy.EffectsOf(j.event.Name, "")
	says := j.judge()
	r := merge(j.event, can, says)
	if r.ModifiedArgs != nil {
		again := j.changed(r.ModifiedArgs)
		for _, s := range again.judge() {
			if s.verb != sayModify && s.verb != sayApprove {
				says = append(says, s)
			}
		}
		says = unique(says)
		r = merge(j.event, can, says)
	}
	if j.event.Name == hook.PostToolUse {
		j.afterwards(says, r)
	}
	return outcome{r, says}
}

// changed is the same event with other arguments; policies and trust are not read again.
func (j *judgement) changed(args json.RawMessage) *judgement {
	e := j.event
	e.ToolInput = args
	return &judgement{o: j.o, event: e, facts: j.newFacts(e), set: j.set, shared: j.shared}
}

// afterwards closes the gate where a policy whose source wants that found a violation.
func (j *judgement) afterwards(says []say, r reply) {
	if r.AdditionalContext == "" {
		return
	}
	for _, s := range says {
		if s.verb == sayDeny && s.gate {
			if err := j.closeGate(r.AdditionalContext); err != nil {
				j.debug("post-gate: %v", err)
			}
			return
		}
	}
}

// late is the answer when something hangs that has no time limit of its own.
func (j *judgement) late() outcome {
	if j.event.Name != hook.PreToolUse {
		return outcome{}
	}
	return outcome{reply: reply{
		PermissionDecision:       "deny",
		PermissionDecisionReason: "copilot-mem: " + errDeadline.Error() + " and the policies are not judged; raise timeoutSec of the hook, or look for a step that hangs",
	}}
}

// finish writes the session log and gives the answer.
func (j *judgement) finish(out outcome) Judgement {
	took := j.o.Now().Sub(j.o.Started)
	result := Judgement{Output: out.reply.bytes(), Decision: out.reply.decision(), Duration: took}
	for _, s := range out.says {
		result.Rules = append(result.Rules, Spoken{s.rule.Name, s.rule.File, s.rule.Action, s.text})
	}
	if !j.o.NoLog {
		if err := j.log(out, took); err != nil {
			j.debug("session log: %v", err)
		}
	}
	return result
}

func (j *judgement) log(out outcome, took time.Duration) error {
	e := j.event
	if out.reply.ModifiedArgs != nil {
		e.ToolInput = out.reply.ModifiedArgs // what will run, and so what the post event tells of
	}
	line := newEntry(e, j.o.Now())
	line.Decision = out.reply.decision()
	line.Duration = math.Round(took.Seconds()*1e5) / 100
	for _, s := range out.says {
		line.Rules = append(line.Rules, s.rule)
	}
	b := line.line()
	if err := appendLog(filepath.Join(string(j.o.Dir), "logs"), b); err != nil {
		return err
	}
	if j.set != nil && j.set.Settings.RepoLog {
		return j.repoLog(b)
	}
	return nil
}

// repoLog writes into the repository, when the user wants that; never through a link of the repository's.
func (j *judgement) repoLog(line []byte) error {
	dir := filepath.Join(j.facts.Root(), "logs")
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: not a folder", dir)
	}
	return appendLog(dir, line)
}

// noteFailure leaves a line where doctor looks.
func (j *judgement) noteFailure(reason string) { noteFailure(j.o, j.event.Name, reason) }

func noteFailure(o Options, event, reason string) {
	line, err := encode(struct {
		Time   int64  `json:"time"`
		Event  string `json:"event"`
		Reason string `json:"reason"`
	}{o.Now().UnixMilli(), event, short(reason, 256)})
	if err != nil || o.NoLog {
		return
	}
	f, err := os.OpenFile(o.Dir.Failures(), os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}

// The client gives up after timeoutSec and lets the call pass: everything has to be over before.
const defaultLimit = 30 * time.Second

func clientLimit(o Options) time.Duration {
	sec, err := strconv.ParseFloat(strings.TrimSpace(o.Getenv(envTimeout)), 64)
	if err != nil || sec <= 0 || math.IsNaN(sec) || sec > 86400 {
		return defaultLimit
	}
	return time.Duration(sec * float64(time.Second))
}

// ownLimit is when steps are ended: a tenth, and at least 0.8 s, before the client's limit. Of that, 0.5 s is what the client
// is owed; the rest is for TERM, the grace, KILL and the end of this process on a machine that is busy.
func ownLimit(o Options) time.Duration {
	limit := clientLimit(o)
	return max(limit-max(limit/10, 800*time.Millisecond), limit/2)
}

// lastLimit is when the answer is given whatever hangs.
func lastLimit(o Options) time.Duration {
	limit := clientLimit(o)
	return max(min(ownLimit(o)+grace+150*time.Millisecond, limit-250*time.Millisecond), limit/2)
}
