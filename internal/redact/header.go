package redact

import "strings"

// scheme looks at Bearer and Basic wherever they stand; i is at the B.
func (sc *scanner) scheme(i int) int {
	s := sc.s
	kind, n := "", 0
	switch {
	case hasFold(s[i:], "bearer"):
		kind, n = "bearer-token", 6
	case hasFold(s[i:], "basic"):
		kind, n = "basic-auth", 5
	default:
		return i + 1
	}
	v := i + n
	if v >= len(s) || !wordStart(s, i) {
		return i + 1
	}
	switch {
	case isBlank(s[v]):
		v = span(s, v, isBlank)
	case strings.HasPrefix(s[v:], "%20"):
		v += 3
	default:
		return i + 1
	}
	end := span(s, v, func(c byte) bool { return isBase64(c) || isDots(c) || c == '~' })
	for end > v && s[end-1] == '.' {
		end--
	}
	t := s[v:end]
	if len(t) < 6 || sample(t) || placeholder(t, flag) {
		return i + 1
	}
	if kind == "basic-auth" {
		if !login64(t) {
			return i + 1
		}
	} else if len(t) < 8 || !mixed(t, false) && !(hasDigit(t) && span(t, 0, isAlnum) == len(t)) && !(len(t) >= 24 && span(t, 0, isAlnum) >= 24) {
		return i + 1
	}
	return sc.hide(v, end, kind)
}

// login64 reports whether t is base64 of user:password.
func login64(t string) bool {
	var acc, bits uint
	colon := false
	for i := range len(t) {
		c := t[i]
		switch {
		case isUpper(c):
			c -= 'A'
		case isLower(c):
			c -= 'a' - 26
		case isDigit(c):
			c += 52 - '0'
		case c == '+' || c == '-':
			c = 62
		case c == '/' || c == '_':
			c = 63
		case c == '=':
			return colon
		default:
			return false
		}
		acc, bits = acc<<6|uint(c), bits+6
		if bits >= 8 {
			bits -= 8
			b := byte(acc >> bits)
			if b < 0x20 || b == 0x7f {
				return false
			}
			colon = colon || b == ':'
		}
	}
	return colon
}

// headerValue hides the whole value of an Authorization or Cookie header, but for the name of the scheme.
func (sc *scanner) headerValue(v, op int, kind string) int {
	s := sc.s
	if q := span(s, v, isBackslash); q < len(s) && isQuote(s[q]) {
		v = q + 1
	} else if op < 0 || s[op] != ':' {
		return 0
	}
	if kind == "cookie" {
		k := span(s, v, isDots)
		if k == v || k+1 >= len(s) || s[k] != '=' || strings.IndexByte(" =>{$<%[+\r\n\"'`\\", s[k+1]) >= 0 {
			return 0
		}
		return sc.hide(v, headerEnd(s, k+1, len(s)), kind)
	}
	word := v
	for word < len(s) && word-v < 20 && isSlug(s[word]) {
		word++
	}
	if word == len(s) || s[word] != ' ' || !schemeName(s[v:word]) {
		return 0
	}
	rest := span(s, word, isBlank)
	// A part is enough to decide: to look at all of it again and again would take long where there is much.
	t := s[rest:headerEnd(s, rest, rest+256)]
	if len(t) < 6 || placeholder(t, flag) || !mixed(t, false) && (len(t) < 16 || span(t, 0, isBase64) < len(t)) {
		return 0
	}
	return sc.hide(rest, headerEnd(s, rest, len(s)), kind)
}

func schemeName(s string) bool {
	for _, name := range [...]string{"bearer", "basic", "token", "digest", "apikey", "aws4-hmac", "negotiate", "key"} {
		if hasFold(s, name) {
			return true
		}
	}
	return false
}

// headerEnd returns where a header's value ends: at a line break or quote, also a written-out one.
func headerEnd(s string, i, limit int) int {
	for limit = min(limit, len(s)); i < limit && strings.IndexByte("\r\n\"'`", s[i]) < 0; i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("nr\"'\\", s[i+1]) >= 0 {
			break
		}
	}
	return i
}

// address hides the password of scheme://user:password@host; i is behind the slashes.
func (sc *scanner) address(i int) int {
	s := sc.s
	if sc.shapesOnly && i >= len(s) {
		return i
	}
	at, end, slash, user := -1, i, -1, -1
scan:
	for ; end < len(s) && end-i < 1024; end++ {
		switch c := s[end]; c {
		case '@':
			at = end
		case ':':
			if user < 0 && slash < 0 {
				user = end
			} else if strings.HasPrefix(s[end:], "://") {
				break scan
			}
		case '/', '?', '#':
			if slash < 0 || at >= slash {
				slash = end
				if user < 0 || at < 0 && portBefore(s[user+1:end]) || at >= 0 && hostBefore(s[at+1:end]) {
					break scan
				}
			}
		case '[':
			// an IPv6 address, or what was taken out already
			if k := strings.IndexByte(s[end:min(len(s), end+64)], ']'); k > 0 {
				end += k
			}
		case ' ', '\t', '\n', '\r', '"', '\'', '`', '<', '>', '|':
			break scan
		case '\\':
			if end+1 < len(s) && strings.IndexByte("nrt\"'\\", s[end+1]) >= 0 {
				break scan
			}
		}
	}
	if at < 0 {
		return i
	}
	if user < 0 || user > at {
		if u := s[i:at]; len(u) >= 20 && mixed(u, true) && span(u, 0, isSlug) == len(u) {
			return sc.hide(i, at, "url-password")
		}
		return i
	}
	if p := s[user+1 : at]; p == "" || p[0] == '[' || placeholder(p, flag) || p[0] == '$' && span(p, 1, isWord) == len(p) {
		return i
	}
	return sc.hide(user+1, at, "url-password")
}

// hostBefore reports whether s, between an @ and a slash, can be a host and not the rest of a password.
func hostBefore(s string) bool {
	k := strings.LastIndexByte(s, ':')
	return k < 0 || portBefore(s[k+1:])
}

func portBefore(s string) bool {
	return len(s) <= 5 && span(s, 0, isDigit) == len(s)
}
