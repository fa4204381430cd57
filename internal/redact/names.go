package redact

// A level says how little it takes to believe that the value beside a name is the secret itself.
type level int

const (
	weak   level = iota + 1 // pass, auth, sig: only values that look generated
	medium                  // token, key: values that look like a credential
	semi                    // secret
	strong                  // password: any literal
)

// nameKind says which kind of secret a name announces, or "". The words of a name count, not its letters, and the
// last ones most: secret_access_key and githubToken do, tokenizer, max_tokens and password_file do not.
func nameKind(name string) (kind string, lvl level) {
	name = name[max(0, len(name)-64):]
	if !promising(name) {
		return "", 0
	}
	var low [64]byte
	var prev []byte
	for i := 0; i < len(name); {
		for i < len(name) && !isAlpha(name[i]) {
			i++
		}
		start := i
		for i < len(name) && isAlpha(name[i]) && (i == start || !hump(name, i)) {
			low[i] = lower(name[i])
			i++
		}
		if i == start {
			break
		}
		w := low[start:i]
		k, l := wordKind(w, prev)
		switch {
		case k != "":
			kind, lvl = k, l
		case kind == "" || !tail(w, prev):
			kind, lvl = "", 0
		}
		prev = w
	}
	return kind, lvl
}

// promising is the cheap look that turns most names away: what all the words of wordKind begin or end with.
func promising(name string) bool {
	for i := 2; i < len(name); i++ {
		a, b := name[i-2]|0x20, name[i-1]|0x20
		switch name[i] | 0x20 {
		case 'y': // key
			if a == 'k' && b == 'e' {
				return true
			}
		case 's': // pass
			if a == 'p' && b == 'a' {
				return true
			}
		case 'd': // pwd
			if a == 'p' && b == 'w' {
				return true
			}
		case 'c': // sec(ret)
			if a == 's' && b == 'e' {
				return true
			}
		case 'k': // tok(en), (c)ook(ie)
			if a == 't' && b == 'o' || a == 'o' && b == 'o' {
				return true
			}
		case 'e': // cre(d)
			if a == 'c' && b == 'r' {
				return true
			}
		case 't': // aut(h)
			if a == 'a' && b == 'u' {
				return true
			}
		case 'g': // sig
			if a == 's' && b == 'i' {
				return true
			}
		}
	}
	return false
}

func hump(s string, i int) bool {
	return isUpper(s[i]) && (isLower(s[i-1]) || i+1 < len(s) && isLower(s[i+1]) && isUpper(s[i-1]))
}

func wordKind(w, prev []byte) (string, level) {
	switch string(w) {
	case "password", "passwd", "passphrase", "passcode", "passwort", "passwords":
		return "password", strong
	case "pass", "pwd":
		if len(prev) > 0 {
			return "password", strong
		}
		return "password", weak
	case "secret", "secrets":
		return "secret", semi
	case "token":
		if countsTokens(prev) {
			return "", 0
		}
		return "token", medium
	case "credential", "credentials", "creds", "cred":
		return "credential", medium
	case "cookie", "cookies":
		return "cookie", medium
	case "authorization":
		return "authorization", medium
	case "auth", "sig":
		return "credential", weak
	case "key":
		if string(prev) == "private" {
			return "private-key", medium
		}
		if keyOwner(prev) {
			return "api-key", medium
		}
		return "", 0
	}
	return gluedKind(w)
}

// gluedKind knows names written without a boundary: dbpassword, apikey, accesstoken.
func gluedKind(w []byte) (string, level) {
	if len(w) < 6 {
		return "", 0
	}
	for _, e := range [...]struct {
		end, kind string
		lvl       level
	}{
		{"password", "password", strong}, {"passwd", "password", strong}, {"secret", "secret", semi}, {"token", "token", medium},
		{"apikey", "api-key", medium}, {"secretkey", "api-key", medium}, {"privatekey", "private-key", medium},
		{"accesskey", "api-key", medium}, {"authkey", "api-key", medium}, {"cookie", "cookie", medium},
		{"credentials", "credential", medium},
	} {
		if len(w) >= len(e.end) && string(w[len(w)-len(e.end):]) == e.end {
			if e.end == "token" && countsTokens(w[:len(w)-len(e.end)]) {
				return "", 0
			}
			return e.kind, e.lvl
		}
	}
	return "", 0
}

// countsTokens knows what stands before "token" where it means a piece of text or a place in a list.
func countsTokens(w []byte) bool {
	switch string(w) {
	case "max", "min", "next", "page", "nextpage", "continuation", "cancellation", "cancel", "eos", "bos", "pad", "unk", "mask",
		"sep", "cls", "special", "stop", "start", "end", "first", "last", "per", "num", "input", "output", "prompt", "total",
		"syntax", "lex", "keyword", "peek", "prev", "previous", "design", "color", "ast", "completion", "cached", "reasoning":
		return true
	}
	return false
}

func keyOwner(w []byte) bool {
	switch string(w) {
	case "api", "secret", "access", "auth", "signing", "encryption", "decryption", "master", "service", "account", "storage",
		"subscription", "license", "deploy", "ssh", "gpg", "admin", "consumer", "shared", "webhook", "hmac", "jwt", "app",
		"application", "client", "openai", "anthropic", "claude", "stripe", "github", "gitlab", "aws", "azure", "google", "gemini",
		"sendgrid", "mailgun", "twilio", "datadog", "dd", "hf", "huggingface", "cohere", "groq", "mistral", "deepseek", "rsa",
		"integration", "write", "wireguard", "sas", "session", "xapi", "apis":
		return true
	}
	return false
}

// tail knows the words that may follow without making the name mean something else.
func tail(w, prev []byte) bool {
	switch string(w) {
	case "value", "val", "string", "hash", "confirmation", "confirm", "again", "base", "b", "prod", "production", "dev", "staging",
		"stage", "test", "live", "old", "new", "current", "rw", "ro", "read", "write", "header", "env", "plain", "plaintext",
		"encrypted", "encoded", "pem", "data", "text", "raw", "literal", "default", "main", "primary", "secondary", "backup":
		return true
	case "id":
		return string(prev) == "secret"
	case "access": // secret_access_key
		return string(prev) == "secret"
	}
	return false
}
