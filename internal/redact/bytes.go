package redact

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isDigit(c byte) bool { return c-'0' < 10 }
func isLower(c byte) bool { return c-'a' < 26 }
func isUpper(c byte) bool { return c-'A' < 26 }
func isAlpha(c byte) bool { return c|0x20-'a' < 26 }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }
func isHex(c byte) bool   { return isDigit(c) || c|0x20-'a' < 6 }
func isWord(c byte) bool  { return isAlnum(c) || c == '_' }
func isSlug(c byte) bool  { return isWord(c) || c == '-' }
func isDots(c byte) bool  { return isSlug(c) || c == '.' }
func isBase64(c byte) bool {
	return isAlnum(c) || c == '+' || c == '/' || c == '='
}
func isBackslash(c byte) bool { return c == '\\' }
func isQuote(c byte) bool     { return c == '"' || c == '\'' || c == '`' }

func lower(c byte) byte {
	if isUpper(c) {
		return c | 0x20
	}
	return c
}

// hasFold reports whether s starts with prefix, which is in lower case.
func hasFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(s[i]) != prefix[i] {
			return false
		}
	}
	return true
}

// span returns the end of the run of bytes that satisfy in, from i.
func span(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

// wordStart reports whether a word may start at i: not inside another one, where the letter of an escape
// (\n, %3D) belongs to the escape.
func wordStart(s string, i int) bool {
	if i == 0 || !isAlnum(s[i-1]) {
		return true
	}
	if i >= 2 && s[i-2] == '\\' {
		return true
	}
	return i >= 3 && s[i-3] == '%' && isHex(s[i-2]) && isHex(s[i-1])
}
