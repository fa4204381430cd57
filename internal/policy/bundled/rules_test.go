package bundled

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The samples are put together here, so that this file itself holds no token.
func TestSecretContent(t *testing.T) {
	body := "q8Zr2LmN5xVb7TwYc3KdJf6HsPa9GuEo1iRe"
	for text, want := range map[string]bool{
		"gh" + "p_" + body: true, "gh" + "o_" + body: true, "gh" + "s_" + body: true, `"gh` + `p_` + body + `"`: true, "x=gh" + "p_" + body + ";": true,
		"github" + "_pat_11ABCDEFG0" + body: true, "gl" + "pat-Zx8Yk2LmQ9pRt5VwBn3C": true, "xo" + "xb-2847593021-zQkWvLmT8rPnYc3K": true,
		"sk" + "_live_Zx8Yk2LmQ9pRt5VwBn3C": true, "np" + "m_" + body: true, "AI" + "za" + "SyD9tSrke72PouQMnMX-a7eZSW0jkFMBWY": true, "AK" + "IA4QZ7M2XW9PLRT6VB": true,
		"aws_access_key_id = AK" + "IA4QZ7M2XW9PLRT6VB": true,
		"AK" + "IAIOSFODNN7EXAMPLE":                     false, "gh" + "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": false, "gh" + "p_" + strings.Repeat("0", 36): false,
		"gh" + "p_1234567890abcdefghijklmnopqrstuvwxyz": false, "gh" + "p_abcdefghijklmnopqrstuvwxyz0123456789": false, "gh" + "p_${TOKEN}": false, "gh" + "p_<your token>": false,
		"AK" + "IA${REST}": false, "AK" + "IA4QZ7M2XW9PLRT6VBX": false, "xAK" + "IA4QZ7M2XW9PLRT6VB": false, "gh" + "p_short": false, "sk" + "_test_Zx8Yk2LmQ9pRt5VwBn3C": false, "npm_config_registry": false,
		"-----" + "BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\n-----END RSA PRIVATE KEY-----": true, "-----" + "BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA": true,
		"-----" + "BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBGQz7kIBCADg": true, `"-----` + `BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n"`: true,
		"-----" + "BEGIN PUBLIC KEY-----\nMIIBIjANBgkq\n-----END PUBLIC KEY-----": false, "-----" + "BEGIN CERTIFICATE-----\nMIIBIjANBgkq": false,
		"-----" + "BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----": false, "-----" + "BEGIN PRIVATE KEY-----\n${KEY}\n-----END": false,
		"starts with -----" + "BEGIN RSA PRIVATE KEY-----": false, "-----" + "BEGIN PRIVATE KEY-----\nEXAMPLEEXAMPLEEXAMPLE\n": false,
	} {
		if got := secretIn(text); (got != "") != want {
			t.Errorf("%q: %q, want a find %v", text, got, want)
		}
	}
}

func TestActionsAndPaths(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		line, rule, action string
		paths              []string
	}{
		{"git push -f", "force-push", "deny", nil},
		{"git push --force-with-lease", "force-push", "ask", nil},
		{`rm -rf "$X"`, "recursive-delete", "ask", nil},
		{"rm -rf /", "recursive-delete", "deny", nil},
		{"cat src/../.env", "secret-files", "deny", []string{".env"}},
		{"cat secretlink", "secret-files", "deny", []string{".env"}},
		{"rm .github/hookflows/guard.yml", "policy-files", "ask", []string{".github/hookflows/guard.yml"}},
		{"copilot-mem policy trust", "self-trust", "deny", nil},
	} {
		var got *Hit
		for _, hit := range Check(w.facts(t, tt.line), on, nil) {
			if hit.Rule == tt.rule {
				got = &hit
				break
			}
		}
		if got == nil || got.Action != tt.action || got.Text == "" {
			t.Errorf("%s: %+v", tt.line, got)
			continue
		}
		if diff := cmp.Diff(tt.paths, got.Paths); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestSwitches(t *testing.T) {
	w := newWorld(t)
	f := w.facts(t, "git push -f; cat .env; echo > .github/hookflows/guard.yml")
	if got := Check(f, func(string) bool { return false }, nil); len(got) != 0 {
		t.Errorf("everything is off, but %v", got)
	}
	if got := Check(f, func(rule string) bool { return rule == "policy-files" }, func(p string) bool {
		return p != filepath.Join(w.repo, ".github", "hookflows", "guard.yml")
	}); len(got) != 0 {
		t.Errorf("the file is excused, but %v", got)
	}
	opaque := w.facts(t, "$X")
	if got := Check(opaque, func(rule string) bool { return rule == "opaque-command" }, nil); len(got) != 1 || got[0].Action != "ask" {
		t.Errorf("opaque-command: %v", got)
	}
	names := map[string]bool{}
	for _, r := range Rules() {
		if names[r.Name] || r.Doc == "" || r.Action == "" || r.check == nil {
			t.Errorf("rule %+v", r)
		}
		names[r.Name] = true
	}
}

// No command makes the rules panic, and none of the rules speaks of nothing.
func FuzzCheck(f *testing.F) {
	w := newWorld(f)
	for _, line := range append(lines(f, "evasions.txt")[:60], lines(f, "everyday.txt")[:60]...) {
		_, command, _ := strings.Cut("\t"+line, "\t")
		f.Add(command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		if strings.HasPrefix(command, "@") {
			return
		}
		for _, hit := range Check(w.facts(t, command), func(string) bool { return true }, nil) {
			if hit.Rule == "" || hit.Text == "" || hit.Action != "deny" && hit.Action != "ask" || strings.ContainsAny(hit.Text, "\x00\n") {
				t.Errorf("%q: %+v", command, hit)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	w := newWorld(b)
	for name, line := range map[string]string{"floor": "", "everyday": "npm ci && npm run build && npm test -- --watch=false 2>&1 | tail -20", "deny": "git push --force", "view": `@view {"path":"src/main.go"}`} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Check(w.facts(b, line), on, nil)
			}
		})
	}
}
