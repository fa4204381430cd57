package capture

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// top holds the few top-level fields of a payload that capture acts on.
type top struct {
	session, cwd, transcript, reason string
	agent, parentAgent               string
}

// scanTop reads them from one compact JSON object, in either dialect. It reports false when b is no object.
func scanTop(b []byte) (top, bool) {
	var t top
	ok := fields(b, func(key, value []byte) {
		switch string(key) {
		case "sessionId", "session_id":
			set(&t.session, value)
		case "cwd":
			set(&t.cwd, value)
		case "transcriptPath", "transcript_path":
			set(&t.transcript, value)
		case "reason":
			set(&t.reason, value)
		case "agentId", "agent_id":
			set(&t.agent, value)
		case "parentAgentId", "parent_agent_id":
			set(&t.parentAgent, value)
		}
	})
	return t, ok
}

func set(dst *string, value []byte) {
	if s := text(value); s != "" {
		*dst = s
	}
}

// fields calls fn with each key and raw value of the JSON object b. Values are delimited, not checked.
func fields(b []byte, fn func(key, value []byte)) bool {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == '}' {
		return true
	}
	for i < len(b) && b[i] == '"' {
		end := stringEnd(b, i)
		if end < 0 {
			return false
		}
		key := b[i+1 : end-1]
		if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
			return false
		}
		i = skipSpace(b, i+1)
		if end = valueEnd(b, i); end <= i {
			return false
		}
		fn(key, b[i:end])
		if i = skipSpace(b, end); i >= len(b) {
			return false
		}
		if b[i] == '}' {
			return true
		}
		if b[i] != ',' {
			return false
		}
		i = skipSpace(b, i+1)
	}
	return false
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index after the string that opens at i, or -1.
func stringEnd(b []byte, i int) int {
	for from := i + 1; ; {
		q := bytes.IndexByte(b[from:], '"')
		if q < 0 {
			return -1
		}
		q += from
		slashes := 0
		for b[q-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return q + 1
		}
		from = q + 1
	}
}

// valueEnd returns the index after the value that starts at i, or -1.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i >= 0 && i < len(b) {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); i < 0 || depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	if depth > 0 {
		return -1
	}
	return i
}

// text decodes a JSON string; any other value is the empty text.
func text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			out = append(out, raw[i])
			continue
		}
		i++
		switch raw[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			r := hex4(raw[i+1:])
			i += 4
			if utf16.IsSurrogate(r) && i+2 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
				if pair := utf16.DecodeRune(r, hex4(raw[i+3:])); pair != utf8.RuneError {
					r = pair
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, raw[i])
		}
	}
	return string(out)
}

func hex4(b []byte) rune {
	var r rune
	for i := range 4 {
		if i >= len(b) {
			return utf8.RuneError
		}
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return utf8.RuneError
		}
	}
	return r
}

// appendQuoted appends s as a JSON string, cut to limit bytes.
func appendQuoted(dst []byte, s string, limit int) []byte {
	const digits = "0123456789abcdef"
	if len(s) > limit {
		s = s[:limit]
	}
	dst = append(dst, '"')
	for _, r := range s { // an invalid byte comes as U+FFFD
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
