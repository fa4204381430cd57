package redact

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pieces are what secrets and escapes are made of; put side by side at random they meet in ways nobody writes down.
var pieces = append([]string{
	"password", "Token", "api_key", "=", ":", " ", "\n", `\n`, `\"`, `"`, "'", "`", "\\", ",", ";", "{", "}", "[", "]", "<", ">", "/", "//", "://", "@", "-", "--", "-u ",
	"curl ", "hunter2", "abc123def456", "$X", "${X}", "bearer ", "Basic ", "dXNlcjpwYXNz", "Cookie: ", "Authorization: ", "token ", "export ", "https://", "\x1b[0m", `\u001b`,
	"[31m", "\x1b", `\x1b]8;;`, "\x07", "<private>", "</private>", "&lt;private>", "eyJ", ".", "_", "sk-", "key-", "AKIA", "AIza", "-----BEGIN ", "PRIVATE KEY", "-----", "-----END ",
	"string", "&", "?sig=", "é", "\xc2", "\xff", "🎉", "\u200d", "x", "7", "Password", "</password>", "hooks.slack.com/services/", "SG", "dapi", "Q~", "(", ")", "%3D", "[redacted:token]",
}, other(40), hexs(32), "12345678")

// other is alnum written backwards, which no planted secret holds.
func other(n int) string {
	b := []byte(alnum(n))
	slices.Reverse(b)
	return string(b)
}

func jumble(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(12) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func TestJumbles(t *testing.T) {
	const seed = 2
	rounds := 60000
	if testing.Short() {
		rounds = 5000
	}
	r := rand.New(rand.NewPCG(1, seed))
	all := plants()
	for range rounds {
		s := jumble(r)
		once, _ := Text(s)
		if twice, n := Text(once); twice != once || n != 0 {
			t.Fatalf("Text(%q)\nonce  %q\ntwice %q", s, once, twice)
		}
		limit := r.IntN(200)
		in, err := json.Marshal(map[string]any{"a": s, "b": []string{s, jumble(r)}, jumble(r): jumble(r)})
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := Payload(nil, in, limit)
		if err != nil || !json.Valid(out) {
			t.Fatalf("Payload(%s, %d) = %s, %v", in, limit, out, err)
		}
		if again, _, err := Payload(nil, out, limit); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("Payload(%s, %d)\nonce  %s\ntwice %s, %v", in, limit, out, again, err)
		}
		secret := all[r.IntN(len(all))]
		core := secret[len(secret)/2-4 : len(secret)/2+4]
		if text := s + " " + secret + " " + jumble(r); !strings.Contains(s, core) {
			if got, _ := Text(text); strings.Contains(got, core) {
				t.Fatalf("Text(%q) = %q: the secret is still there", text, got)
			}
		}
	}
}

// What repeats its own beginning must not be read from each beginning to the end: at a quadratic cost these take hours.
func TestLongRuns(t *testing.T) {
	for _, s := range []string{"Cookie: ", "Authorization: token ", "AK" + "IA", "A" + "C", "sk-", "-ey" + "J", "-u ", "\\", "password=", "<private", "\x1b]", "-----END PRIVATE " + "KEY-----"} {
		in := strings.Repeat(s, 512<<10/len(s))
		got, _ := Text(in)
		if again, n := Text(got); again != got || n != 0 {
			t.Errorf("%q repeated: not stable", s)
		}
	}
}
