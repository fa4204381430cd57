package bundled

import (
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// secretContent looks for keys and tokens in what file events write.
func secretContent(f *facts.Facts, _ func(string) bool) []Hit {
	var out []Hit
	for _, file := range f.Files() {
		if file.Action == "read" || !file.HasContent {
			continue
		}
		if what := secretIn(file.Content); what != "" {
			out = append(out, Hit{Action: "deny", Paths: []string{file.Path},
				Text: "the text for " + file.Path + " holds " + what + "; take it from the environment or a secret store instead"})
		}
	}
	return unique(out)
}

// form is a known form of token: its beginning, the characters after it, and how many there must be.
type form struct {
	prefix   string
	what     string
	alphabet string
	min, max int // of the characters after the prefix; max 0: open
}

const (
	upperDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	letters     = upperDigits + "abcdefghijklmnopqrstuvwxyz"
)

// forms: the prefixes are written in two parts so that this file does not look like a find. Lengths are those that the
// issuers use, or somewhat less where they may change.
var forms = []form{
	{"AK" + "IA", "an AWS access key", upperDigits, 16, 16},
	{"gh" + "p_", "a GitHub token", letters, 30, 0},
	{"gh" + "o_", "a GitHub token", letters, 30, 0},
	{"gh" + "s_", "a GitHub token", letters, 30, 0},
	{"github" + "_pat_", "a GitHub token", letters + "_", 22, 0},
	{"gl" + "pat-", "a GitLab token", letters + "_-.", 16, 0},
	{"xo" + "xa-", "a Slack token", letters + "-", 16, 0},
	{"xo" + "xb-", "a Slack token", letters + "-", 16, 0},
	{"xo" + "xp-", "a Slack token", letters + "-", 16, 0},
	{"sk" + "_live_", "a Stripe key", letters, 16, 0},
	{"np" + "m_", "an npm token", letters, 30, 0},
	{"AI" + "za", "a Google key", letters + "_-", 32, 40},
}

// secretIn names the first secret in a text, or nothing.
func secretIn(text string) string {
	if privateKey(text) {
		return "a private key"
	}
	for _, fm := range forms {
		for rest := text; ; {
			i := strings.Index(rest, fm.prefix)
			if i < 0 {
				break
			}
			before := byte(' ')
			if i > 0 {
				before = rest[i-1]
			}
			rest = rest[i+len(fm.prefix):]
			if !wordByte(before) && fm.holds(rest) {
				return fm.what
			}
		}
	}
	return ""
}

func wordByte(c byte) bool { return strings.IndexByte(letters, c) >= 0 || c == '_' }

// holds reports whether what follows the prefix is a token and no placeholder.
func (fm form) holds(rest string) bool {
	n := 0
	for n < len(rest) && strings.IndexByte(fm.alphabet, rest[n]) >= 0 {
		n++
	}
	if n < fm.min || fm.max > 0 && n > fm.max {
		return false
	}
	return !placeholder(rest[:n])
}

// placeholder reports filler: words such as EXAMPLE, one character or a short group again and again, and runs such as
// 0123456789 or abcdef that make up most of the text.
func placeholder(body string) bool {
	upper := strings.ToUpper(body)
	for _, word := range []string{"EXAMPLE", "PLACEHOLDER", "REDACTED", "CHANGEME", "YOUR", "DUMMY", "SAMPLE", "XXXXX", "00000000"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	same, run, seen := 0, 0, map[byte]bool{}
	for i := 0; i < len(body); i++ {
		seen[upper[i]] = true
		if i == 0 {
			continue
		}
		switch d := int(upper[i]) - int(upper[i-1]); {
		case d == 0:
			same++
		case d == 1, d == -1, upper[i] == '0' && upper[i-1] == '9', upper[i] == 'A' && (upper[i-1] == '9' || upper[i-1] == '0' || upper[i-1] == 'Z'),
			upper[i] == '0' && upper[i-1] == 'Z', upper[i] == '1' && upper[i-1] == 'Z':
			run++
		}
	}
	n := len(body) - 1
	return same*2 > n || run*3 > n*2 || len(seen) <= 4
}

// privateKey finds a block that begins a private key and has a body: a heading alone is prose about keys.
func privateKey(text string) bool {
	for {
		i := strings.Index(text, "-----"+"BEGIN ")
		if i < 0 {
			return false
		}
		text = text[i+len("-----BEGIN "):]
		head, body, ok := strings.Cut(text, "-----")
		if !ok {
			return false
		}
		if len(head) < 40 && strings.HasSuffix(strings.TrimSuffix(head, " BLOCK"), "PRIVATE KEY") && keyBody(body) {
			return true
		}
	}
}

// keyBody reports whether what follows the heading is key material: base64, with line ends written out or escaped, and no
// placeholder.
func keyBody(body string) bool {
	body, _, _ = strings.Cut(body, "-----")
	var b strings.Builder
	for line := range strings.SplitSeq(strings.NewReplacer(`\r`, "", `\n`, "\n", "\r", "", `"`, "", "'", "", "+\n", "\n").Replace(body), "\n") {
		if line = strings.TrimSpace(line); !strings.Contains(line, ":") { // Proc-Type: and the like
			b.WriteString(line)
		}
	}
	key := b.String()
	if len(strings.Trim(key, ".…")) < 8 || strings.ContainsAny(key, "<>${}") {
		return false
	}
	return !placeholder(key[:min(len(key), 200)])
}
