package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// plants are secrets with a shape of their own: they are found wherever a word may start.
func plants() []string {
	return []string{
		"gh" + "p_" + alnum(36), "github" + "_pat_" + alnum(22) + "_" + alnum(59), "sk" + "-ant-api03-" + alnum(80), "sk" + "-proj-" + alnum(60),
		"AK" + "IA" + upper(16), "AI" + "za" + alnum(35), "xo" + "xb-1234567890-" + alnum(24), "sk" + "_live_" + alnum(24), "np" + "m_" + alnum(36),
		"gl" + "pat-" + alnum(20), "S" + "G." + alnum(22) + "." + alnum(43), "h" + "f_" + alnum(34), "hv" + "s." + alnum(24),
		"ey" + "J" + alnum(24) + ".ey" + "J" + alnum(40) + "." + alnum(43), pemBlock("RSA ", "\n"), "Bearer " + alnum(40),
	}
}

var fuzzTexts = []string{
	"", "0010", "-n", `{"a":1}`, `a\b`, "\x1b[31mx", `\u001b[31m`, "<private>", "</private>", "password=", `"token": "`, "https://u:p@h", "--secret ",
	"…[truncated 5 bytes]…", "[redacted:token]", "-----BEGIN ", "-----END PRIVATE " + "KEY-----", "curl -u a:", "\\", "\\\\\"", "Cookie: a=b", "<password>",
	"Authorization: ", "\xff", "\u0301", "🎉", "eyJ", "%3D", "{\"", "api_key=' ", "x:", "&", "://:$@", "key=\"", "\u009b31m", goSource,
}

// FuzzPlanted: a secret never survives, in whatever it stands.
func FuzzPlanted(f *testing.F) {
	for i, s := range fuzzTexts {
		f.Add(s, fuzzTexts[(i+7)%len(fuzzTexts)], uint8(i), uint16(0))
		f.Add(s, fuzzTexts[(i+3)%len(fuzzTexts)], uint8(i*3), uint16(70))
	}
	all := plants()
	f.Fuzz(func(t *testing.T, before, after string, which uint8, limit uint16) {
		secret := all[int(which)%len(all)]
		core := secret[len(secret)/2-4 : len(secret)/2+4]
		if strings.Contains(before, core) || strings.Contains(after, core) {
			t.Skip("the text holds it by itself")
		}
		text := before + " " + secret + " " + after
		if got, _ := Text(text); strings.Contains(got, core) {
			t.Fatalf("Text(%q) = %q", text, got)
		}
		inner := marshal(t, map[string]any{"command": text, "list": []any{map[string]any{"deep": text}}})
		twice := marshal(t, map[string]string{"json": string(inner)})
		in := marshal(t, map[string]any{
			"prompt": text, "toolArgs": json.RawMessage(inner), "tool_input": string(inner), "nested": string(twice),
			"toolResult": map[string]string{"textResultForLlm": text}, "name " + text: 1,
		})
		out, stats, err := Payload(nil, in, int(limit))
		if err != nil {
			t.Fatalf("Payload(%s): %v", in, err)
		}
		if bytes.Contains(out, []byte(core)) || stats.Redacted == 0 {
			t.Fatalf("Payload(%s) = %s", in, out)
		}
	})
}

// FuzzKeys: what stands under a secret name never survives, at any depth.
func FuzzKeys(f *testing.F) {
	f.Add("hunter2", "db_password", uint8(3))
	f.Add(`{"a":"b"}`, "token", uint8(9))
	f.Fuzz(func(t *testing.T, noise, key string, depth uint8) {
		if k, _ := nameKind(key); k == "" {
			key = "apiKey"
		}
		secret := "opensesame" + "42"
		if strings.Contains(noise, secret) || strings.Contains(key, secret) {
			t.Skip("the text holds it by itself")
		}
		var v any = map[string]any{key: secret, "noise": noise}
		for i := range depth % 12 {
			switch i % 4 {
			case 0:
				v = []any{noise, v}
			case 1, 2:
				v = map[string]any{noise: v}
			default:
				if strings.Count(string(marshal(t, v)), `\\`) < 64 {
					v = string(marshal(t, map[string]any{"in": v}))
				}
			}
		}
		in := marshal(t, v)
		out, _, err := Payload(nil, in, 0)
		if err != nil || bytes.Contains(out, []byte(secret)) {
			t.Fatalf("Payload(%s) = %s, %v", in, out, err)
		}
	})
}

// FuzzPayload: the same inputs are accepted as by encoding/json; what comes out is JSON on one line, and final.
func FuzzPayload(f *testing.F) {
	for _, s := range fuzzTexts {
		f.Add([]byte(s), uint16(0))
		if b, err := json.Marshal(map[string]any{"prompt": s, "password": s, "x": []string{s}}); err == nil {
			f.Add(b, uint16(64))
		}
	}
	f.Add([]byte(`{"a":"\ud800\udc00\ud800","b":[1.5e-7,-0,true,null]}`), uint16(1))
	f.Fuzz(func(t *testing.T, in []byte, limit uint16) {
		out, _, err := Payload(nil, in, int(limit))
		if ok := json.Valid(in); ok != (err == nil) {
			t.Fatalf("Payload(%q): %v; encoding/json accepts it: %v", in, err, ok)
		}
		if err != nil {
			return
		}
		if !json.Valid(out) || !utf8.Valid(out) || bytes.ContainsAny(out, "\n\r") {
			t.Fatalf("Payload(%q) = %q: not JSON on one line", in, out)
		}
		again, stats, err := Payload(nil, out, int(limit))
		if err != nil || !bytes.Equal(again, out) || stats.Redacted != 0 || stats.Truncated {
			t.Fatalf("Payload(%q)\nonce  %q\ntwice %q, %+v, %v", in, out, again, stats, err)
		}
	})
}

// FuzzText: Text is final, and what it gives back is UTF-8 when it was given UTF-8.
func FuzzText(f *testing.F) {
	for _, s := range fuzzTexts {
		f.Add(s)
		f.Add("x=" + s + "\n" + plants()[0])
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, n := Text(s)
		if again, m := Text(got); again != got || m != 0 {
			t.Fatalf("Text(%q)\nonce  %q, %d\ntwice %q, %d", s, got, n, again, m)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("Text(%q) = %q: not UTF-8", s, got)
		}
	})
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
