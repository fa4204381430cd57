package redact

// stripPrivate replaces what stands between <private> and its </private>, or the end of the text where there is none.
func stripPrivate(s string) (string, int) {
	var out []byte
	n, done := 0, 0
	for i := 0; i < len(s); {
		open := privateTag(s, i, false)
		if open == 0 {
			i = pastBackslashes(s, i)
			continue
		}
		out = append(append(out, s[done:i]...), "[redacted:private]"...)
		i = privateEnd(s, i+open)
		done = i
		n++
	}
	if n == 0 {
		return s, 0
	}
	return string(append(out, s[done:]...)), n
}

// privateEnd returns where the passage ends whose opening tag ends at i, counting the tags inside it.
func privateEnd(s string, i int) int {
	for depth := 1; i < len(s); {
		if n := privateTag(s, i, true); n > 0 {
			i += n
			if depth--; depth == 0 {
				return i
			}
		} else if n := privateTag(s, i, false); n > 0 {
			i += n
			depth++
		} else {
			i = pastBackslashes(s, i)
		}
	}
	return len(s)
}

// pastBackslashes steps over one byte, or a whole run of backslashes, which is looked at once, from its start.
func pastBackslashes(s string, i int) int { return max(i+1, span(s, i, isBackslash)) }

// privateTag returns the length of a tag at i; its angle brackets may be written as in JSON made safe for HTML.
func privateTag(s string, i int, closing bool) int {
	if s[i] != '<' && s[i] != '\\' && s[i] != '&' {
		return 0
	}
	j := bracket(s, i, "<", "u003c", "&lt;")
	if j == i {
		return 0
	}
	if closing {
		k := span(s, j, isBackslash) // some encoders write <\/private>
		if k >= len(s) || s[k] != '/' {
			return 0
		}
		j = k + 1
	}
	if !hasFold(s[j:], "private") {
		return 0
	}
	j = span(s, j+len("private"), isSpace)
	end := bracket(s, j, ">", "u003e", "&gt;")
	if end == j {
		return 0
	}
	return end - i
}

// bracket returns the end of the bracket at i in one of its writings, or i.
func bracket(s string, i int, plain, escaped, entity string) int {
	if hasFold(s[min(i, len(s)):], plain) {
		return i + 1
	}
	if hasFold(s[min(i, len(s)):], entity) {
		return i + len(entity)
	}
	if j := span(s, i, isBackslash); j > i && hasFold(s[j:], escaped) {
		return j + len(escaped)
	}
	return i
}
