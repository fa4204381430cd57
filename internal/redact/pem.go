package redact

import "strings"

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
)

// dash tells PEM blocks, options and key prefixes apart.
func (sc *scanner) dash(i int) int {
	s := sc.s
	if i > 0 && isAlnum(s[i-1]) {
		if next := sc.dashWord(i); next > i+1 {
			return next
		}
		if !strings.HasPrefix(s[i:], "-----") {
			return i + 1
		}
	}
	if strings.HasPrefix(s[i:], "-----") {
		if next := sc.pem(i); next > i {
			return next
		}
		return max(i+1, span(s, i, func(c byte) bool { return c == '-' })-5)
	}
	return sc.option(i)
}

// pem hides a private key as a whole block; where one of its ends was cut off, what is left of it.
func (sc *scanner) pem(i int) int {
	s := sc.s
	switch {
	case strings.HasPrefix(s[i:], pemBegin):
		label := labelEnd(s, i+len(pemBegin))
		if label < 0 {
			return i
		}
		stop := len(s)
		if k := strings.Index(s[label:], pemBegin); k >= 0 {
			stop = label + k
		}
		if k := strings.Index(s[label:stop], pemEnd); k >= 0 {
			if end := labelEnd(s, label+k+len(pemEnd)); end >= 0 {
				return sc.hide(i, end, "private-key")
			}
		}
		return sc.hide(i, armorEnd(s, label, stop), "private-key")
	case strings.HasPrefix(s[i:], pemEnd):
		end := labelEnd(s, i+len(pemEnd))
		if end < 0 {
			return i
		}
		return sc.hide(armorStart(s, sc.done, i), end, "private-key")
	}
	return i
}

// labelEnd returns the end of a label that names a private key, dashes included, or -1.
func labelEnd(s string, i int) int {
	line := s[i:min(len(s), i+64)]
	k := strings.Index(line, "PRIVATE KEY")
	if k < 0 || span(line, 0, func(c byte) bool { return isUpper(c) || isDigit(c) || c == ' ' }) < k+len("PRIVATE KEY") {
		return -1
	}
	end := i + k + len("PRIVATE KEY")
	if strings.HasPrefix(s[end:], " BLOCK") {
		end += len(" BLOCK")
	}
	for n := 0; end < len(s) && n < 5 && s[end] == '-'; n++ {
		end++
	}
	return end
}

// armorEnd returns the end of the lines after i that belong to a key.
func armorEnd(s string, i, stop int) int {
	for i < stop {
		next, line := lineAt(s, i, stop)
		if !armor(line) {
			break
		}
		i = next
	}
	return i
}

// armorStart returns the start of the lines before i that belong to a key.
func armorStart(s string, floor, i int) int {
	for i > floor {
		end := i
		switch {
		case s[end-1] == '\n':
			end--
		case end-floor >= 2 && s[end-1] == 'n' && s[end-2] == '\\':
			end -= 2
		}
		start := floor
		if k := strings.LastIndexByte(s[floor:end], '\n'); k >= 0 {
			start = floor + k + 1
		}
		if k := strings.LastIndex(s[start:end], `\n`); k >= 0 {
			start += k + 2
		}
		line := strings.Trim(s[start:end], "\" '+-\t\\,r>|")
		if len(line) > 0 && (span(line, 0, isBase64) < len(line) || len(line) < 16) {
			break
		}
		i = start
		if len(line) == 0 && end == start {
			break
		}
	}
	return i
}

// lineAt returns the line at i and where the next one starts; the line break may be written as \n.
func lineAt(s string, i, stop int) (next int, line string) {
	for j := i; j < stop; j++ {
		if s[j] == '\n' {
			return j + 1, s[i:j]
		}
		if s[j] == '\\' && j+1 < stop && s[j+1] == 'n' {
			return j + 2, s[i:j]
		}
	}
	return stop, s[i:stop]
}

// armor reports whether a line may stand inside a key: base64, a header, nothing; also quoted, joined or in a diff.
func armor(line string) bool {
	line = strings.Trim(line, "\"' +-\t\r\\,>|`")
	for _, header := range [...]string{"Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:"} {
		if strings.HasPrefix(line, header) {
			return true
		}
	}
	n := span(line, 0, isBase64)
	return n == len(line) || n >= 40
}
