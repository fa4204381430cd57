package validate

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// specialSchemes need a host in the WHATWG URL text, which is the client's rule. (file may do
// without one.)
var specialSchemes = map[string]bool{"http": true, "https": true, "ws": true, "wss": true, "ftp": true}

// webURL says whether the client takes the text as a URL, and which scheme it has: blanks at the ends, tabs and line
// ends do not count, `\` is `/` in web addresses, and slashes may be too few or too many.
// Source: url.spec.whatwg.org, and the client's verdict (1.0.102) on some 100 texts.
func webURL(s string) (scheme string, ok bool) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	scheme, rest, found := strings.Cut(s, ":")
	if !found || !isScheme(scheme) {
		return "", false
	}
	scheme = strings.ToLower(scheme)
	switch {
	case specialSchemes[scheme]:
		host, _ := cutAny(strings.TrimLeft(rest, `/\`), `/\?#`)
		return scheme, authority(host, true)
	case scheme == "file":
		rest = strings.ReplaceAll(rest, `\`, "/")
		if !strings.HasPrefix(rest, "//") {
			return scheme, true
		}
		host, _ := cutAny(rest[2:], "/?#")
		drive := len(host) == 2 && isScheme(host[:1]) && (host[1] == ':' || host[1] == '|')
		return scheme, host == "" || drive || webHost(host, true)
	case strings.HasPrefix(rest, "//"):
		host, _ := cutAny(rest[2:], "/?#")
		return scheme, host == "" || authority(host, false)
	}
	return scheme, true
}

func isScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return s != ""
}

func cutAny(s, chars string) (before, after string) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// authority is `user:password@host:port`.
func authority(s string, special bool) bool {
	s = s[strings.LastIndex(s, "@")+1:]
	host, port := s, ""
	if i := strings.LastIndex(s, ":"); i > strings.LastIndex(s, "]") {
		host, port = s[:i], s[i+1:]
	}
	if port != "" {
		if n, err := strconv.ParseUint(port, 10, 64); err != nil || n > 65535 || strings.ContainsAny(port, "+_") {
			return false
		}
	}
	return host != "" && webHost(host, special)
}

func webHost(host string, special bool) bool {
	if strings.HasPrefix(host, "[") {
		a, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		return strings.HasSuffix(host, "]") && err == nil && a.Is6() && a.Zone() == ""
	}
	if !special {
		return !strings.ContainsAny(host, "\x00 #/:<>?@[\\]^|")
	}
	host, err := url.PathUnescape(host)
	if err != nil {
		return false
	}
	host = strings.Map(domainRune, host)
	if host == "" || strings.ContainsAny(host, " #/:<>?@[\\]^|%\x7f") || strings.ContainsFunc(host, notInDomain) {
		return false
	}
	for l := range strings.SplitSeq(strings.ToLower(host), ".") {
		if l == "xn--" || mixedDirections(l) {
			return false
		}
	}
	return goodNumbers(host)
}

// notInDomain: controls, separators, private and unassigned characters, what replaced bytes that were no text, and what
// stands for a dot or a slash with something around it.
func notInDomain(r rune) bool {
	switch {
	case r < 0x80:
		return unicode.IsControl(r)
	case r >= 0x2024 && r <= 0x2026, r >= 0x2488 && r <= 0x249b, r >= 0x2100 && r <= 0x2101, r >= 0x2105 && r <= 0x2106, r >= 0x2ff0 && r <= 0x2fff:
		return true
	}
	return r == unicode.ReplacementChar || !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

// mixedDirections: letters written from the right beside those written from the left.
func mixedDirections(label string) bool {
	right := func(r rune) bool {
		return r >= 0x590 && r <= 0x8ff && unicode.IsLetter(r) || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff
	}
	return strings.ContainsFunc(label, right) && strings.ContainsFunc(label, func(r rune) bool { return unicode.IsLetter(r) && !right(r) })
}

// domainRune is what becomes of a character of a domain before it is looked at: ideographic dots are dots, full-width
// letters are letters, invisible characters are dropped.
func domainRune(r rune) rune {
	switch {
	case r == 0x3002 || r == 0xff0e || r == 0xff61:
		return '.'
	case r >= 0xff01 && r <= 0xff5e:
		return r - 0xff01 + '!'
	case r == 0xad || r == 0x200b || r == 0x2060 || r == 0xfeff || r == 0x180e:
		return -1
	}
	return r
}

// goodNumbers: a host whose last part is a number is an IPv4 address, and must be a possible one.
func goodNumbers(host string) bool {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := parts[len(parts)-1]
	if _, ok := hostNumber(last); !ok && (last == "" || strings.Trim(last, "0123456789") != "") {
		return true
	}
	for i, p := range parts {
		n, ok := hostNumber(p)
		limit := uint64(255)
		if i == len(parts)-1 && len(parts) <= 4 {
			limit = 1<<(8*(5-len(parts))) - 1
		}
		if !ok || n > limit {
			return false
		}
	}
	return len(parts) <= 4
}

// hostNumber reads 10, 0x0a and 012; a bare 0x is 0.
func hostNumber(s string) (uint64, bool) {
	base := 10
	switch lower := strings.ToLower(s); {
	case lower == "0x":
		return 0, true
	case strings.HasPrefix(lower, "0x"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}
