package redact

import (
	"strconv"
	"strings"
)

// maxDepth is the depth of nesting that encoding/json accepts.
const maxDepth = 10000

// SyntaxError says where a payload stops being one JSON document.
type SyntaxError struct{ Offset int }

func (e *SyntaxError) Error() string {
	return "payload: byte " + strconv.Itoa(e.Offset) + ": not a JSON document"
}

// Payload appends src, one JSON document, to dst as compact JSON on a single line. String values pass through Text, values under
// names that say secret are replaced, and texts over limit bytes keep head and tail round a marker; a limit under 64 counts as 64,
// and 0 or less is none. Numbers, and texts in which nothing is found, stay byte for byte. On an error dst is returned as it was.
func Payload(dst, src []byte, limit int) ([]byte, Stats, error) {
	r := rewriter{s: string(src), limit: limit, out: dst}
	if free := cap(dst) - len(dst); free < len(src) {
		r.out = append(make([]byte, 0, len(dst)+len(src)+64), dst...)
	}
	if err := r.document(); err != nil {
		return dst, Stats{}, err
	}
	return r.out, r.stats, nil
}

// rewriter walks one document with a stack of its own, so that depth costs memory and not call frames.
type rewriter struct {
	s         string
	i         int
	out       []byte
	limit     int
	keepSpace bool // for JSON inside a string: what is not replaced stays byte for byte
	nested    int
	stats     Stats
	stack     []frame
}

// frame is one open object or array.
type frame struct {
	object bool
	hidden string // the kind of the secret that everything in here belongs to
	next   string // the kind that the next value belongs to
	paired string // the kind that a later "value" belongs to, as {"name":"API_TOKEN","value":…} says
	fixed  bool   // the next value is one of the client's own fields
	naming bool   // the next value names the pair
}

func (r *rewriter) document() error {
	r.space()
	for {
		opened, err := r.value()
		if err != nil {
			return err
		}
		if opened {
			continue
		}
		if more, err := r.follow(); err != nil || !more {
			return err
		}
	}
}

// follow reads what stands between two values: closing brackets, a comma, a key. It reports whether a value comes next.
func (r *rewriter) follow() (bool, error) {
	for {
		r.space()
		if len(r.stack) == 0 {
			if r.i < len(r.s) {
				return false, r.fail()
			}
			return false, nil
		}
		top := &r.stack[len(r.stack)-1]
		switch c := r.peek(); {
		case c == ',':
			r.copy(1)
			r.space()
			if top.object {
				return true, r.key(top)
			}
			return true, nil
		case c == '}' && top.object || c == ']' && !top.object:
			r.copy(1)
			r.stack = r.stack[:len(r.stack)-1]
		default:
			return false, r.fail()
		}
	}
}

// value reads one value; opened says that it was a bracket with a first member behind it.
func (r *rewriter) value() (opened bool, err error) {
	var top *frame
	hidden, inside := "", false
	if len(r.stack) > 0 {
		top = &r.stack[len(r.stack)-1]
		hidden, inside = top.hidden, top.hidden != ""
		if top.next != "" && !inside {
			hidden = top.next
		}
		top.next = ""
	}
	switch c := r.peek(); c {
	case '{', '[':
		if len(r.stack) == maxDepth {
			return false, r.fail()
		}
		r.copy(1)
		r.space()
		r.stack = append(r.stack, frame{object: c == '{', hidden: hidden})
		if p := r.peek(); p == '}' && c == '{' || p == ']' && c == '[' {
			return false, nil
		}
		if c == '{' {
			return true, r.key(&r.stack[len(r.stack)-1])
		}
		return true, nil
	case '"':
		return false, r.text(top, hidden, inside)
	case 't':
		return false, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return false, r.word("null")
	}
	end := numberEnd(r.s, r.i)
	if end < 0 {
		return false, r.fail()
	}
	if hidden != "" {
		r.i = end
		r.out = appendString(r.out, mark(hidden))
		r.stats.Redacted++
		return false, nil
	}
	r.copy(end - r.i)
	return false, nil
}

func (r *rewriter) word(w string) error {
	if end := r.i + len(w); end > len(r.s) || r.s[r.i:end] != w {
		return r.fail()
	}
	r.copy(len(w))
	return nil
}

// key reads a member's name and its colon, and what the name says about the value.
func (r *rewriter) key(top *frame) error {
	raw, err := r.scanString()
	if err != nil {
		return err
	}
	name, exact := decode(raw)
	kept, n := clean(name, maxNested)
	r.stats.Redacted += n
	r.put(raw, kept, kept == name && (exact || r.keepSpace))
	r.space()
	if r.peek() != ':' {
		return r.fail()
	}
	r.copy(1)
	r.space()
	top.next = keyKind(kept)
	top.naming, top.fixed = false, false
	switch kept {
	case "name", "key", "Name", "Key", "header":
		top.naming = true
	case "value", "Value", "val":
		if top.next == "" {
			top.next = top.paired
		}
	}
	if len(r.stack) == 1 && r.nested == 0 {
		top.fixed = protocolField(kept)
	}
	return nil
}

// text reads a string value and writes what may be kept of it.
func (r *rewriter) text(top *frame, hidden string, inside bool) error {
	raw, err := r.scanString()
	if err != nil {
		return err
	}
	text, exact := decode(raw)
	kept, n := text, 0
	switch {
	case hidden != "" && text != "":
		if !marked(text) && !(inside && schemaWord(text)) {
			kept, n = mark(hidden), 1
		}
	case top != nil && top.fixed:
		kept, n = shapes(text)
	default:
		kept, n = clean(text, r.nested)
	}
	r.stats.Redacted += n
	if r.limit > 0 && len(kept) > max(r.limit, minLimit) {
		kept = r.shorten(kept, top != nil && top.fixed)
	}
	if top != nil && hidden == "" {
		top.expect(kept)
	}
	r.put(raw, kept, kept == text && (exact || r.keepSpace))
	return nil
}

// shorten cuts text; what the cut put side by side is looked at again.
func (r *rewriter) shorten(s string, fixed bool) string {
	r.stats.Truncated = true
	for range maxRounds {
		s = cut(s, r.limit)
		t, n := s, 0
		if fixed {
			t, n = shapes(s)
		} else {
			t, n = clean(s, r.nested)
		}
		r.stats.Redacted += n
		if t == s {
			break
		}
		s = t
	}
	return cut(s, r.limit)
}

// expect notes what a string says about the value after it: a flag in an argument list, the name of a pair.
func (f *frame) expect(text string) {
	switch {
	case !f.object && len(text) > 3 && text[0] == '-' && len(text) <= maxName:
		f.next = keyKind(text)
	case f.object && f.naming:
		f.paired = keyKind(text)
	}
}

// keyKind is nameKind of what follows the last [redacted:KIND] in a name, whose own words say nothing.
func keyKind(name string) string {
	if k := strings.LastIndex(name, "[redacted:"); k >= 0 {
		name = name[k+strings.IndexByte(name[k:]+"]", ']'):]
	}
	kind, _ := nameKind(name)
	return kind
}

// put writes a string: verbatim where nothing was changed.
func (r *rewriter) put(raw, text string, same bool) {
	if same {
		r.out = append(append(append(r.out, '"'), raw...), '"')
		return
	}
	r.out = appendString(r.out, text)
}

// protocolField knows the client's own fields, which name things and hold no text.
func protocolField(name string) bool {
	switch name {
	case "sessionId", "session_id", "timestamp", "cwd", "hook_event_name", "hookEventName", "transcriptPath", "transcript_path",
		"toolName", "tool_name", "toolCallId", "tool_call_id", "tool_use_id",
		"agentId", "agent_id", "agentType", "agent_type", "agentName", "agent_name", "parentAgentId", "parent_agent_id":
		return true
	}
	return false
}

// schemaWord knows the values of "type" in a schema that describes a secret field.
func schemaWord(s string) bool {
	switch s {
	case "string", "number", "integer", "boolean", "object", "array", "null":
		return true
	}
	return false
}

// marked reports whether s is what Payload puts in the place of a secret.
func marked(s string) bool {
	const open = "[redacted:"
	if len(s) < len(open)+2 || s[:len(open)] != open || s[len(s)-1] != ']' {
		return false
	}
	return span(s, len(open), isSlug) == len(s)-1
}
