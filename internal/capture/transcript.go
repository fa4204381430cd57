package capture

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/redact"
	"github.com/copilot-mem/copilot-mem/internal/spool"
)

const (
	maxChunk = 8 << 20   // bytes of a transcript in memory at once, and of its longest line
	maxRead  = 256 << 20 // bytes that one reader takes before it leaves the rest to the next
	poll     = 50 * time.Millisecond
	// The client flushes within 0.1 s when idle; the longest delay seen was 0.8 s (client 1.0.102).
	flush = time.Second
)

var errTranscript = errors.New("transcript: not a regular .jsonl file with an absolute path")

// ReadTranscript adds to the spool what the transcript at path has got since the last reading. It waits up to wait for
// the end of the turn to be written. A transcript that is missing or half written is no error.
func ReadTranscript(dir datadir.Dir, path, session string, wait time.Duration) (added int, err error) {
	return readTranscript(dir, path, session, wait, false)
}

// readTranscript is ReadTranscript, for the sink too where forwarded is set.
func readTranscript(dir datadir.Dir, path, session string, wait time.Duration, forwarded bool) (added int, err error) {
	if session == "" || !trusted(path) {
		return 0, errTranscript
	}
	if err := dir.Ensure(); err != nil {
		return 0, err
	}
	r := reader{dir: dir, path: path, session: session, now: time.Now, forwarded: forwarded}
	start := time.Now()
	for total := int64(0); total < maxRead; {
		got, err := r.readNew(maxChunk)
		if err != nil {
			return r.added, err
		}
		total += got
		if got > 0 {
			continue
		}
		waited := time.Since(start)
		// An end that was there before this reader came may be that of the turn before.
		if waited >= wait || r.tail == tailEnded && (total > 0 || waited >= flush) {
			break
		}
		time.Sleep(min(poll, wait-waited))
	}
	prune(dir.State(), time.Now())
	return r.added, nil
}

// reader reads one transcript for one session.
type reader struct {
	dir           datadir.Dir
	path, session string
	now           func() time.Time
	forwarded     bool // the sink gets what is added
	added         int
	tail          byte
}

// readNew reads at most limit new bytes, complete lines only, and reports how many it took.
func (r *reader) readNew(limit int64) (int64, error) {
	f, err := os.OpenFile(r.path, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errTranscript
	}
	state, err := stateDir(r.dir)
	if err != nil {
		return 0, err
	}
	file := positionFile(state, r.session, r.path)
	pos := parsePosition(readState(file))
	if !pos.continues(f, info) {
		pos.offset, pos.tail = 0, tailNone
	}
	r.tail = pos.tail
	buf := make([]byte, min(limit, info.Size()-pos.offset))
	n, err := f.ReadAt(buf, pos.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	taken := bytes.LastIndexByte(buf[:n], '\n') + 1
	if taken == 0 && int64(n) == maxChunk {
		taken = n // no message is that long; what follows of the line is not JSON and passed over
	}
	if taken == 0 {
		return 0, nil
	}
	if err := r.lines(buf[:taken], &pos); err != nil {
		return 0, err
	}
	r.tail = pos.tail
	pos.move(f, info, int64(taken))
	return int64(taken), writeState(file, pos.encode())
}

func (r *reader) lines(b []byte, pos *position) error {
	for len(b) > 0 {
		raw, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		e := scanEntry(raw)
		pos.tail = e.tail(pos.tail)
		if e.content == nil || len(bytes.TrimSpace([]byte(text(e.content)))) == 0 {
			continue
		}
		if e.id == nil {
			e.id = appendQuoted(nil, stateName("line-", string(raw)), maxEvent)
		}
		if !pos.add(e.id) {
			continue
		}
		if err := r.append(e); err != nil {
			return err
		}
		r.added++
	}
	return nil
}

func (r *reader) append(e entry) error {
	buf := make([]byte, lineHead, lineHead+len(e.content)+len(e.content)/16+512)
	buf, stats, err := redact.Payload(buf, e.payload(), maxField)
	if err != nil {
		return nil // a line that is not JSON, or of a version that writes something else
	}
	l := line{
		event: "transcript." + e.kind, session: r.session, at: r.now(),
		redacted: stats.Redacted, truncated: stats.Truncated,
	}
	stored := l.wrap(buf)
	if err := (spool.Spool{Dir: r.dir.Spool()}).Append(stored); err != nil || !r.forwarded {
		return err
	}
	return forwardSpool(r.dir).Append(stored)
}

// entry holds the raw JSON values of one transcript line that capture looks at.
type entry struct {
	kind                                 string
	id, timestamp, agent, model, content []byte
	calls                                bool // the message asks for tools: the turn goes on
}

// scanEntry takes messages of the model and compaction summaries. What the user typed comes by hooks; transformed
// prompts, system messages and hook records hold memories that were put in, and must not come back as new ones.
func scanEntry(raw []byte) entry {
	var e entry
	var data []byte
	if !fields(raw, func(key, value []byte) {
		switch string(key) {
		case "type":
			e.kind = text(value)
		case "id":
			e.id = nonEmpty(value)
		case "timestamp":
			e.timestamp = nonEmpty(value)
		case "agentId":
			e.agent = nonEmpty(value)
		case "data":
			data = value
		}
	}) {
		return entry{}
	}
	want := ""
	switch e.kind {
	case "assistant.message":
		want = "content"
	case "session.compaction_complete":
		want = "summaryContent"
	default:
		return e
	}
	_ = fields(data, func(key, value []byte) {
		switch string(key) {
		case want:
			e.content = nonEmpty(value)
		case "model":
			e.model = nonEmpty(value)
		case "toolRequests":
			e.calls = len(value) > 2 && value[0] == '['
		}
	})
	return e
}

// nonEmpty returns value when it is a JSON string with something in it.
func nonEmpty(value []byte) []byte {
	if len(value) > 2 && value[0] == '"' {
		return value
	}
	return nil
}

// payload is what the spool keeps of the entry, before redaction.
func (e entry) payload() []byte {
	b := make([]byte, 0, len(e.content)+512)
	b = append(b, `{"id":`...)
	b = append(b, e.id...)
	for _, f := range []struct {
		key   string
		value []byte
	}{{"timestamp", e.timestamp}, {"content", e.content}, {"agentId", e.agent}, {"model", e.model}} {
		if f.value != nil {
			b = append(b, `,"`+f.key+`":`...)
			b = append(b, f.value...)
		}
	}
	return append(b, '}')
}

// How far the last turn in the file has come.
const (
	tailNone   = '-' // nothing known
	tailSaid   = 's' // a message without tool requests: perhaps the last of the turn
	tailActive = 'a'
	tailEnded  = 'e'
)

// tail says how far the turn is after this line. Hook records come after the end of a turn and change nothing.
func (e entry) tail(before byte) byte {
	switch e.kind {
	case "session.shutdown":
		return tailEnded
	case "assistant.message":
		if e.calls || e.content == nil {
			return tailActive
		}
		return tailSaid
	case "assistant.turn_end":
		if before == tailSaid {
			return tailEnded
		}
		return tailActive
	case "user.message", "assistant.turn_start", "tool.execution_start", "session.resume":
		return tailActive
	}
	return before
}
