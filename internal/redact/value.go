package redact

import "strings"

// A form says how a value is written beside its name.
type form int

const (
	quoted form = iota
	env         // NAME=value
	yaml        // name: value
	code        // name = value, without quotes
	flag        // --name value
)

// credential decides whether v, beside a name of that level, is a secret rather than a word, a type or a reference.
func credential(lvl level, v string, f form) bool {
	if len(v) < 4 || placeholder(v, f) || path(v) || typeWord(v) && (f != env || lvl != strong) {
		return false
	}
	spaced := strings.IndexByte(v, ' ') >= 0
	if spaced && f != env {
		return false
	}
	letters := true
	for i := range len(v) {
		letters = letters && (isAlpha(v[i]) || v[i] == '_' || v[i] == '.' || v[i] == ':')
	}
	if lvl == weak {
		return hasDigit(v) && mixed(v, f != quoted)
	}
	switch f {
	case quoted:
		switch lvl {
		case strong:
			return true
		case semi:
			return len(v) >= 6 && (mixed(v, false) || span(v, 0, isAlnum) == len(v) && len(v) >= 8)
		}
		return mixed(v, false)
	case env:
		return lvl == strong || len(v) >= 6
	case code, yaml:
		if lvl == strong {
			return !letters
		}
		return mixed(v, true)
	default:
		return lvl == strong || mixed(v, false) || lvl == semi && len(v) >= 6 && hasDigit(v) || len(v) >= 8 && !letters
	}
}

// mixed reports whether v looks generated: letters and digits within one part of it, long hex, or cases in disorder.
// Where names and calls may stand too (strict), one number in a word is not enough.
func mixed(v string, strict bool) bool {
	for i := 0; i < len(v); {
		if !isAlnum(v[i]) {
			i++
			continue
		}
		start, digits, runs, flips, alpha, hex := i, 0, 0, 0, 0, true
		for ; i < len(v) && isAlnum(v[i]); i++ {
			c := v[i]
			hex = hex && isHex(c)
			if isDigit(c) {
				digits++
				if i == start || !isDigit(v[i-1]) {
					runs++
				}
				continue
			}
			alpha++
			if i > start && isAlpha(v[i-1]) && isUpper(c) != isUpper(v[i-1]) {
				flips++
			}
		}
		switch n := i - start; {
		case n >= 16 && hex && alpha > 0:
			return true
		case digits > 0 && alpha > 0 && n >= 20 && (!strict || flips*4 >= n):
			return true
		case !strict && digits >= 2 && alpha > 0 && n >= 6 && len(v) >= 8:
			return true
		case strict && runs >= 2 && alpha > 0 && n >= 8:
			return true
		case !strict && n >= 16 && flips*5 >= n*2:
			return true
		}
	}
	return !strict && len(v) >= 8 && symbols(v)
}

// symbols reports whether v has a letter, a digit and a sign that names and file names do not have.
func symbols(v string) bool {
	sign := strings.ContainsAny(v, "!@#$%^&*+=~?")
	return sign && hasDigit(v) && strings.ContainsFunc(v, func(r rune) bool { return r < 0x80 && isAlpha(byte(r)) })
}

func hasDigit(s string) bool {
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
	}
	return false
}

// path reports whether v is a file name or address.
func path(v string) bool {
	if strings.Contains(v, "://") {
		return true
	}
	rooted := v[0] == '/' && strings.IndexByte(v[1:], '/') >= 0 || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~/")
	return rooted && (len(v) < 32 || !mixed(v, true))
}

// sample reports whether a token is made of one filler character (xxxx).
func sample(v string) bool {
	for i := range len(v) {
		switch v[i] {
		case 'x', 'X', '*', '.', '-', '_', '0':
		default:
			return false
		}
	}
	return true
}

// placeholder reports whether v stands for a value that is somewhere else.
func placeholder(v string, f form) bool {
	switch c := v[0]; c {
	case '[', '<', '{', '(':
		return c != '<' || strings.IndexByte(v, '>') > 0
	case '$':
		if len(v) > 1 && (v[1] == '{' || v[1] == '(' || span(v, 1, isWord) == len(v)) {
			return true
		}
	case '%':
		if f != quoted || len(v) <= 3 || v[1] == '(' || v[len(v)-1] == '%' {
			return true
		}
	case '!', '&', '@', '|':
		if f != quoted && f != env {
			return true
		}
	}
	if sample(v) || strings.Contains(v, "${") || strings.Contains(v, "{{") || strings.Contains(v, "$(") || strings.Contains(v, "[redacted:") ||
		strings.HasPrefix(v, "…") || strings.HasSuffix(v, "...") || strings.HasSuffix(v, "…") {
		return true
	}
	if f != quoted && f != env && (strings.ContainsAny(v, "([") || v[0] == '$' && len(v) > 1 && isAlpha(v[1]) || hasFold(v, "0x") && len(v) <= 18) {
		return true
	}
	for _, p := range [...]string{
		"your", "example", "changeme", "change_me", "change-me", "placeholder", "dummy", "replace", "insert", "enter_", "enter-",
		"todo", "fixme", "xxx", "none", "null", "undefined", "redacted", "hidden", "process.env", "os.environ", "os.getenv", "getenv",
		"import.meta", "env.", "system.", "config.", "self.", "this.", "secrets.", "vault:", "op://", "arn:", "env:", "file:", "id=", "src=",
		"from_env", "test_token", "fake",
	} {
		if hasFold(v, p) {
			return true
		}
	}
	if (hasFold(v, "my_") || hasFold(v, "my-")) && !hasDigit(v) {
		return true
	}
	return len(v) > 5 && (hasFold(v[len(v)-5:], "_here") || hasFold(v[len(v)-5:], "-here"))
}

// typeWord knows what follows a name in a declaration or a help text.
func typeWord(v string) bool {
	if len(v) > 16 {
		return false
	}
	var low [16]byte
	for i := range len(v) {
		low[i] = lower(v[i])
	}
	switch string(low[:len(v)]) {
	case "string", "str", "text", "number", "integer", "int", "bool", "boolean", "bytes", "byte", "any", "object", "array", "char", "varchar",
		"unknown", "required", "optional", "void", "value", "default", "true", "false", "nil", "undefined", "secretstr", "uuid", "password",
		"token", "secret", "file", "stdin", "prompt", "redacted", "credential", "credentials", "authorization", "apikey", "api_key", "void;",
		"string;", "string,", "string)", "*string", "[]byte", "string|null", "optional[str]", "cookie", "never", "always", "basic", "bearer",
		"option", "options", "flag", "flags", "argument", "arguments", "parameter", "parameters", "respectively", "instead":
		return true
	}
	return false
}
