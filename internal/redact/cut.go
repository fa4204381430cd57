package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// minLimit leaves room for the marker, so that what was cut once is never cut again.
const minLimit = 64

// cut shortens s to limit bytes: head, marker, tail, each whole characters.
func cut(s string, limit int) string {
	limit = max(limit, minLimit)
	if len(s) <= limit {
		return s
	}
	room := limit - len(marker(len(s)))
	head := before(s, room*3/4)
	tail := after(s, len(s)-(room-room*3/4))
	return s[:head] + marker(tail-head) + s[tail:]
}

func marker(n int) string { return "…[truncated " + strconv.Itoa(n) + " bytes]…" }

// before moves a cut back to where a character starts and no [redacted:KIND] is halved.
func before(s string, i int) int {
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	for steps := 0; i > 0 && steps < 32 && joined(s, i); steps++ {
		_, n := utf8.DecodeLastRuneInString(s[:i])
		i -= n
	}
	if start, _, ok := aroundMark(s, i); ok {
		i = start
	}
	return i
}

// after moves a cut forward in the same way.
func after(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	for steps := 0; i < len(s) && steps < 32 && joined(s, i); steps++ {
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	if _, end, ok := aroundMark(s, i); ok {
		i = end
	}
	return i
}

// aroundMark finds the [redacted:KIND] that a cut at i would halve.
func aroundMark(s string, i int) (start, end int, ok bool) {
	from := max(0, i-48)
	k := strings.LastIndex(s[from:min(len(s), i+10)], "[redacted:")
	if k < 0 || from+k >= i {
		return 0, 0, false
	}
	n := strings.IndexByte(s[from+k:min(len(s), from+k+64)], ']')
	if n < 0 || from+k+n+1 <= i {
		return 0, 0, false
	}
	return from + k, from + k + n + 1, true
}

// joined reports whether the characters on both sides of i are shown as one.
func joined(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	p, _ := utf8.DecodeLastRuneInString(s[:i])
	switch {
	case p == 0x200d, extends(r), p == '\r' && r == '\n':
		return true
	case regional(r) && regional(p):
		n := 0 // flags are pairs: an odd count before the cut means that it stands inside one
		for j := i; j > 0; n++ {
			q, size := utf8.DecodeLastRuneInString(s[:j])
			if !regional(q) {
				break
			}
			j -= size
		}
		return n%2 == 1
	}
	return false
}

func regional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// extends knows the marks people meet; the tables of package unicode would cost the hook its start time.
func extends(r rune) bool {
	if r < 0x300 {
		return false
	}
	for _, b := range [...][2]rune{
		{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f}, {0x0900, 0x0903},
		{0x093a, 0x094f}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1160, 0x11ff}, {0x1ab0, 0x1aff},
		{0x1dc0, 0x1dff}, {0x200d, 0x200d}, {0x20d0, 0x20ff}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
		{0x1f3fb, 0x1f3ff}, {0xe0020, 0xe007f}, {0xe0100, 0xe01ef},
	} {
		if r >= b[0] && r <= b[1] {
			return true
		}
	}
	return false
}
