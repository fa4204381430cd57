// Package capture brings one hook event, and what the client's transcript adds to it, to the spool.
// It never fails, never prints and never waits for a lock; it decides nothing and opens no store.
package capture

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/redact"
	"github.com/copilot-mem/copilot-mem/internal/spool"
)

const (
	maxInput    = 16 << 20 // bytes of stdin that are read
	maxField    = 1 << 20  // bytes of one text that are kept whole
	maxEvent    = 128      // bytes of an event name
	maxFailures = 1 << 20  // bytes of failures.jsonl before it is put aside
)

// Options says what one event is captured with.
type Options struct {
	Event      string // the name in the hook configuration
	Stdin      io.Reader
	Dir        datadir.Dir
	Getenv     func(string) string
	Now        func() time.Time
	Exe        string   // program that reads transcripts and forwards in the background; empty: none is started
	ReaderArgs []string // stand before --read-transcript PATH SESSION, where Exe is not copilot-mem-hook
}

// Run reads one payload and appends one line to the spool. What it cannot store it notes in [datadir.Dir.Failures].
func Run(o Options) {
	defer func() {
		// A panic would end the process with exit code 2, and the client would deny the tool call.
		if recover() != nil {
			note(o, "panic")
		}
	}()
	if o.Event == "" || o.Getenv("COPILOT_MEM_DISABLE") == "1" || o.Dir.Ensure() != nil {
		return
	}
	src, over := readBounded(o.Stdin, maxInput)
	src = bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")))
	if len(src) == 0 {
		note(o, "empty input")
		return
	}
	if over {
		note(o, "too large")
		src = closeJSON(src)
	}

	buf := make([]byte, lineHead, lineHead+len(src)+len(src)/16+512)
	buf, stats, err := redact.Payload(buf, src, maxField)
	if err != nil {
		note(o, "broken JSON")
		return
	}
	t, ok := scanTop(buf[lineHead:])
	if !ok {
		note(o, "not a JSON object")
		return
	}
	choice := choose(&o, t.cwd)
	if !choice.Keeps(o.Event) {
		return
	}
	l := line{event: o.Event, at: o.Now(), redacted: stats.Redacted, truncated: stats.Truncated || over}
	session := t.session
	if session == "" {
		session = identify(o.Dir, t.cwd, o.Now(), eventKind(o.Event) == kindEnd, t.reason == "user_exit")
		l.session = session
	}
	stored := l.wrap(buf)
	if err := (spool.Spool{Dir: o.Dir.Spool()}).Append(stored); err != nil {
		noteIn(o, session, "spool: "+problem(err))
		return
	}
	forward(o, stored)
	if choice.Responses {
		follow(o, t, session)
	}
}

// kind is what capture has to know about an event; everything else is left to the readers of the spool.
type kind int

const (
	kindOther kind = iota
	kindPrompt
	kindStop
	kindEnd
)

func eventKind(name string) kind {
	switch name {
	case "userPromptSubmitted", "UserPromptSubmitted", "UserPromptSubmit":
		return kindPrompt
	case "agentStop", "AgentStop", "Stop", "subagentStop", "SubagentStop":
		return kindStop
	case "sessionEnd", "SessionEnd":
		return kindEnd
	}
	return kindOther
}

// readBounded reads at most limit bytes and reports whether there were more. What came before a read error is kept.
func readBounded(r io.Reader, limit int) (data []byte, over bool) {
	buf := make([]byte, 0, 64<<10)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) > limit {
			return buf[:limit], true
		}
		if err != nil {
			return buf, false
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(2*cap(buf), limit+1)), buf...)
		}
	}
}

// lineHead is the room that is left before the payload, so that a large one is not copied to put its head in front.
const lineHead = 512

type line struct {
	event, session string
	at             time.Time
	redacted       int
	truncated      bool
}

// wrap makes the spool line of the payload that buf holds from lineHead on.
func (l line) wrap(buf []byte) []byte {
	head := make([]byte, 0, lineHead)
	head = append(head, `{"v":1,"id":"`...)
	head = appendID(head)
	head = append(head, `","event":`...)
	head = appendQuoted(head, l.event, maxEvent)
	head = append(head, `,"at":`...)
	head = strconv.AppendInt(head, l.at.UnixMilli(), 10)
	if l.session != "" {
		head = append(head, `,"session":`...)
		head = appendQuoted(head, l.session, maxEvent)
	}
	if l.redacted > 0 {
		head = append(head, `,"redacted":`...)
		head = strconv.AppendInt(head, int64(l.redacted), 10)
	}
	if l.truncated {
		head = append(head, `,"truncated":true`...)
	}
	head = append(head, `,"payload":`...)
	buf = append(buf, '}')
	if len(head) > lineHead {
		return append(head, buf[lineHead:]...)
	}
	start := lineHead - len(head)
	copy(buf[start:], head)
	return buf[start:]
}

// appendID appends 32 hexadecimal digits. The runtime's generator is seeded by the system and costs no import at start.
func appendID(dst []byte) []byte {
	dst = appendHex(dst, rand.Uint64())
	return appendHex(dst, rand.Uint64())
}

func appendHex(dst []byte, v uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[v>>shift&15])
	}
	return dst
}

// Note leaves word of something that went wrong in a hook, which may not print.
func Note(dir datadir.Dir, now func() time.Time, event, reason string) {
	note(Options{Event: event, Dir: dir, Now: now}, reason)
}

// note counts an event that could not be stored, without a word of its payload. When that fails too, nothing is left to do.
func note(o Options, reason string) { noteIn(o, "", reason) }

// noteIn is note where the session is known.
func noteIn(o Options, session, reason string) {
	defer func() { _ = recover() }()
	path := o.Dir.Failures()
	if info, err := os.Lstat(path); err == nil {
		if !info.Mode().IsRegular() {
			return
		}
		if info.Size() > maxFailures {
			if os.Rename(path, path+".old") != nil {
				return
			}
		}
	}
	b := append(make([]byte, 0, 256), `{"time":`...)
	b = strconv.AppendInt(b, o.Now().UnixMilli(), 10)
	b = append(b, `,"event":`...)
	b = appendQuoted(b, o.Event, maxEvent)
	b = append(b, `,"reason":`...)
	b = appendQuoted(b, reason, 2*maxEvent)
	if session != "" {
		b = append(b, `,"session":`...)
		b = appendQuoted(b, session, maxEvent)
	}
	b = append(b, "}\n"...)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(b)
	_ = f.Close()
}

// problem leaves out the path of a system error, which may be one that a payload named.
func problem(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Op + ": " + pe.Err.Error()
	}
	return err.Error()
}
