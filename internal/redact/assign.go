package redact

import "strings"

const (
	maxName  = 64
	maxValue = 4 << 10 // what is longer is a document, not a credential
)

// colon tells addresses, bot tokens and assignments apart.
func (sc *scanner) colon(i int) int {
	s := sc.s
	if i+1 < len(s) {
		switch {
		case s[i+1] == '/' && i+2 < len(s) && s[i+2] == '/':
			return sc.address(i + 3)
		case s[i+1] == ':':
			return i + 2
		case s[i+1] == '=':
			return i + 1 // := is looked at from its second half
		case s[i+1] == 'A' && i > 0 && isDigit(s[i-1]):
			if next := sc.telegram(i); next > i {
				return next
			}
		}
	}
	return sc.assign(i)
}

func (sc *scanner) telegram(i int) int {
	s := sc.s
	j := i
	for j > sc.done && isDigit(s[j-1]) {
		j--
	}
	end := span(s, i+1, isSlug)
	// api.telegram.org/bot<token>: what stands before the number says nothing
	if n := i - j; n < 8 || n > 11 || end-i-1 != 35 || !strings.HasPrefix(s[i+1:], "AA") {
		return i
	}
	return sc.hide(j, end, "telegram-token")
}

// assign looks at NAME=value and name: value in all their spellings; i is at the = or the colon.
func (sc *scanner) assign(i int) int {
	s := sc.s
	if sc.shapesOnly {
		return i + 1
	}
	from, to := nameBefore(s, i)
	kind, lvl := nameKind(s[from:to])
	if kind == "" && s[i] == '=' && to > from {
		from, to = declared(s, from, to)
		kind, lvl = nameKind(s[from:to])
	}
	if kind == "" || strings.HasSuffix(s[:from], "[redacted:") {
		return i + 1
	}
	v := i + 1
	for v < len(s) && (s[v] == '=' || s[v] == '>' && v == i+1) {
		v++
	}
	return sc.value(from, to, i, v, kind, lvl)
}

// What a byte between a name and its value is.
const (
	operator = iota + 1
	closing
	named
)

var beside = [256]byte{
	' ': operator, '\t': operator, '=': operator, '!': operator, ':': operator, '+': operator, '?': operator, '|': operator,
	']': closing, '\\': closing, '"': closing, '\'': closing, '`': closing,
	'a': named, 'b': named, 'c': named, 'd': named, 'e': named, 'f': named, 'g': named, 'h': named, 'i': named, 'j': named,
	'k': named, 'l': named, 'm': named, 'n': named, 'o': named, 'p': named, 'q': named, 'r': named, 's': named, 't': named,
	'u': named, 'v': named, 'w': named, 'x': named, 'y': named, 'z': named, 'A': named, 'B': named, 'C': named, 'D': named,
	'E': named, 'F': named, 'G': named, 'H': named, 'I': named, 'J': named, 'K': named, 'L': named, 'M': named, 'N': named,
	'O': named, 'P': named, 'Q': named, 'R': named, 'S': named, 'T': named, 'U': named, 'V': named, 'W': named, 'X': named,
	'Y': named, 'Z': named, '0': named, '1': named, '2': named, '3': named, '4': named, '5': named, '6': named, '7': named,
	'8': named, '9': named, '_': named, '-': named, '.': named,
}

// nameBefore finds the name that an operator at i belongs to, through spaces, quotes and brackets.
func nameBefore(s string, i int) (from, to int) {
	to = i
	for n := 0; to > 0 && n < 12 && beside[s[to-1]] == operator; n++ {
		to--
	}
	for n := 0; to > 0 && n < 12 && beside[s[to-1]] == closing; n++ {
		to--
	}
	from = to
	for from > 0 && to-from < maxName && beside[s[from-1]] == named {
		from--
	}
	// The letter of an escape is not part of the name: "\nPASSWORD=…".
	if from > 0 && s[from-1] == '\\' && to-from > 3 && strings.IndexByte("ntr", s[from]) >= 0 {
		from++
	}
	return from, to
}

// declared steps over the type in `password: string = …` and `var password string = …`.
func declared(s string, from, to int) (int, int) {
	switch s[from:to] {
	case "string", "str", "String", "char", "text", "bytes":
	default:
		return to, to
	}
	to = from
	for n := 0; to > 0 && n < 8 && strings.IndexByte(" \t:&*", s[to-1]) >= 0; n++ {
		to--
	}
	from = to
	for from > 0 && to-from < maxName && isWord(s[from-1]) {
		from--
	}
	return from, to
}

// value hides the value at v when it is a credential. The name is s[from:to]; op is where its operator stands, or -1.
func (sc *scanner) value(from, to, op, v int, kind string, lvl level) int {
	s := sc.s
	afterOp := v
	for v < len(s) && v-afterOp < 64 && isBlank(s[v]) {
		v++
	}
	if kind == "authorization" || kind == "cookie" {
		if next := sc.headerValue(v, op, kind); next > v {
			return next
		}
	}
	start, end, f := v, v, quoted
	if b, e, ok := literal(s, v); ok {
		if b == e || closes(s, v, s[b]) {
			return afterOp
		}
		start, end = b, e
	} else if v < sc.judged {
		return afterOp
	} else {
		f = sc.formOf(from, to, op, v > afterOp || op > to && isBlank(s[op-1]))
		end = bareEnd(s, from, v, f)
		if f == env && reference(s[from:to], s[v:end]) {
			f = code
			end = bareEnd(s, from, v, f)
		}
		if end == v || followedByCode(s, end, f, lvl) {
			return afterOp
		}
	}
	if name := s[from:to]; len(name) > len("password") && strings.HasSuffix(s[start:end], name) {
		return afterOp // a constant named like its value
	}
	if end-start >= maxValue || !credential(lvl, s[start:end], f) {
		if f != quoted && end-start > 1024 {
			sc.judged = end
		}
		return afterOp
	}
	return sc.hide(start, end, kind)
}

// literal returns the inside of the string literal at v; its quotes may be escaped, as in JSON within text.
func literal(s string, v int) (from, to int, ok bool) {
	for n := 1; n <= 2 && v+n < len(s) && strings.IndexByte("bBfFrRuUL@$", s[v+n-1]) >= 0; n++ { // r"…", rb'…', @"…"
		if isQuote(s[v+n]) {
			v += n
			break
		}
	}
	for _, wrap := range [...]string{"[]byte(", "String::from(", "SecretStr(", "new String("} {
		if strings.HasPrefix(s[min(v, len(s)):], wrap) {
			v += len(wrap)
		}
	}
	q := span(s, v, isBackslash)
	if q >= len(s) || !isQuote(s[q]) {
		return 0, 0, false
	}
	slashes := q - v
	for j := q + 1; j < len(s) && j-q <= maxValue; j++ {
		switch {
		case s[j] == '\n':
			return q + 1, j, true // cut short
		case s[j] == '\\':
			k := span(s, j, isBackslash)
			switch {
			case k == len(s) || s[k] != s[q]:
			case slashes == 0 && (k-j)%2 == 0:
				return q + 1, k, true
			case slashes > 0 && k-j <= slashes:
				return q + 1, j, true
			}
			j = k // the byte after the backslashes is theirs
			if slashes > 0 && k < len(s) && s[k] != s[q] {
				j = k - 1
			}
		case s[j] == s[q]:
			return q + 1, j, true
		}
	}
	if len(s)-q-1 > maxValue {
		return q + 1, q + 1, true
	}
	return q + 1, len(s), true
}

// closes reports whether the quote at v ends a string that began earlier on its line: "token=" + x + "&…".
func closes(s string, v int, first byte) bool {
	if isAlnum(first) || strings.IndexByte("+,);. ]}&|:", first) < 0 {
		return false
	}
	q := s[span(s, v, isBackslash)]
	odd := false
	for j := v - 1; j >= 0 && v-j < 400 && s[j] != '\n'; j-- {
		if s[j] == q {
			odd = !odd
		}
	}
	return odd
}

// formOf says how a bare value is written, from its name and what stands before that.
func (sc *scanner) formOf(from, to, op int, spaced bool) form {
	s := sc.s
	if op < 0 {
		return flag
	}
	if s[op] == ':' {
		return yaml
	}
	if spaced || op > 0 && op > to && s[op-1] == ':' {
		return code
	}
	if s[from] == '-' {
		return flag
	}
	capital := true
	for i := from; i < to; i++ {
		capital = capital && !isLower(s[i])
	}
	if capital || from == 0 || strings.IndexByte("?&;\n", s[from-1]) >= 0 {
		return env
	}
	line := s[max(0, from-100):from]
	switch strings.TrimSpace(line[strings.LastIndexByte(line, '\n')+1:]) {
	case "", "export", "set", "ENV", "ARG", "env", "-e", "#", "//":
		return env
	}
	return code
}

// reference reports whether name=v is rather an argument or a field than a line of an environment file.
func reference(name, v string) bool {
	if v == "" || span(name, 0, func(c byte) bool { return !isLower(c) }) == len(name) {
		return false
	}
	if strings.IndexByte(",);", v[len(v)-1]) >= 0 || name == v {
		return true
	}
	kind, _ := nameKind(v)
	return kind != "" && strings.ContainsAny(v, "._") && span(v, 0, isDots) == len(v) && !hasDigit(v)
}

// bareEnd finds where a value without quotes ends.
func bareEnd(s string, from, v int, f form) int {
	stop := " \t\r\n\"'`<>|,;)"
	if from > 0 && (s[from-1] == '?' || s[from-1] == '&') {
		stop += "&#"
	} else if f == env && lineStart(s, from) {
		stop = " \t\r\n\"'`"
	}
	if f == yaml || f == code {
		stop += "]}"
	}
	i := v
	for i < len(s) && i-v < maxValue && strings.IndexByte(stop, s[i]) < 0 {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("nrt\"'\\", s[i+1]) >= 0 {
			break
		}
		i++
	}
	// The dot or dots that end a sentence.
	for f != env && i > v && s[i-1] == '.' && (i == len(s) || isSpace(s[i])) {
		i--
	}
	return i
}

func lineStart(s string, i int) bool {
	for i > 0 && isBlank(s[i-1]) {
		i--
	}
	return i == 0 || s[i-1] == '\n' || strings.HasSuffix(s[:i], "export")
}

// followedByCode reports whether what follows a bare value shows that it is an expression or the start of a sentence.
func followedByCode(s string, end int, f form, lvl level) bool {
	if end < len(s) && s[end] == '(' {
		return true
	}
	if f != flag || lvl == weak {
		return false
	}
	// "use --password when needed": a word, then another word
	word := end
	for word > 0 && isAlpha(s[word-1]) {
		word--
	}
	plain := word > 0 && isBlank(s[word-1]) && span(s, word, isLower) == end
	if !plain {
		return false
	}
	next := end
	for next < len(s) && isBlank(s[next]) {
		next++
	}
	if next == end && end < len(s) && strings.IndexByte(".,;)", s[end]) >= 0 {
		return true
	}
	return next > end && next < len(s) && isAlpha(s[next])
}

// option looks at --name value, -name value, and the pairs that curl and sshpass take.
func (sc *scanner) option(i int) int {
	s := sc.s
	if sc.shapesOnly || i > 0 && !isSpace(s[i-1]) && !isQuote(s[i-1]) && s[i-1] != '(' && !(i > 1 && s[i-2] == '\\' && s[i-1] == 'n') {
		return i + 1
	}
	from := i + 1
	if from < len(s) && s[from] == '-' {
		from++
	}
	to := span(s, from, isSlug)
	if to == from || to+1 >= len(s) || to-from > maxName {
		return i + 1
	}
	v := to
	if s[to] == '=' {
		v = to + 1
	} else if !isBlank(s[to]) && !(s[from] == 'u' && from == i+1) {
		return i + 1
	}
	switch name := s[from:to]; {
	case name == "user" || name == "u" || name == "proxy-user" || from == i+1 && name[0] == 'u' && v == to && s[to] == ':':
		return sc.login(i, from, v)
	case name == "p" && v == to && strings.HasSuffix(s[:i], "sshpass "):
		return sc.value(from, to, -1, v, "password", strong)
	}
	if s[to] == '=' || len(s[from:to]) < 3 {
		return i + 1
	}
	kind, lvl := nameKind(s[from:to])
	if kind == "" || v+1 < len(s) && s[v+1] == '-' {
		return i + 1
	}
	return sc.value(from, to, -1, v, kind, lvl)
}

// login hides the password of `curl -u user:password`.
func (sc *scanner) login(i, from, v int) int {
	s := sc.s
	line := s[max(0, i-256):i]
	if !strings.Contains(line[strings.LastIndexByte(line, '\n')+1:], "curl") {
		return i + 1
	}
	if s[from] == 'u' && s[v] == ':' {
		v = from + 1 // -uuser:password
	}
	v = span(s, v, isBlank)
	start, end := v, v
	if b, e, ok := literal(s, v); ok {
		start, end = b, e
	} else {
		end = span(s, v, func(c byte) bool { return !isSpace(c) && !isQuote(c) })
	}
	k := strings.IndexByte(s[start:end], ':')
	if k < 0 || start+k+1 == end || placeholder(s[start+k+1:end], flag) {
		return i + 1
	}
	return sc.hide(start+k+1, end, "password")
}

// element looks at <password>value</password>.
func (sc *scanner) element(i int) int {
	s := sc.s
	from := i
	for from > 0 && i-from < maxName && isSlug(s[from-1]) {
		from--
	}
	if sc.shapesOnly || from == i || from == 0 || s[from-1] != '<' {
		return i + 1
	}
	kind, lvl := nameKind(s[from:i])
	if kind == "" {
		return i + 1
	}
	end := strings.IndexByte(s[i+1:min(len(s), i+1+maxValue)], '<')
	if end < 0 || !strings.HasPrefix(s[i+1+end:], "</") {
		return i + 1
	}
	if v := s[i+1 : i+1+end]; !credential(lvl, v, quoted) {
		return i + 1
	}
	return sc.hide(i+1, i+1+end, kind)
}
