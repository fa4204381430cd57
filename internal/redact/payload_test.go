package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func payload(t *testing.T, in string, limit int) (string, Stats) {
	t.Helper()
	out, stats, err := Payload(nil, []byte(in), limit)
	if err != nil {
		t.Fatalf("Payload(%q): %v", in, err)
	}
	if !json.Valid(out) || bytes.ContainsAny(out, "\n\r") {
		t.Fatalf("Payload(%q) = %q: not JSON on one line", in, out)
	}
	return string(out), stats
}

func TestPayloadVerbatim(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"prompt":"0010"}`, ""}, {`{"prompt":"-n"}`, ""}, {`{"prompt":"1 2 3"}`, ""}, {`{"prompt":"12345678901234567890"}`, ""},
		{`{"prompt":"{\"a\":1}"}`, ""}, {`{"prompt":"{ \"a\" : 1 }\n"}`, ""}, {`{"prompt":"a\\b"}`, ""}, {`{"prompt":"a\/b\u0041\u00e9"}`, ""},
		{`{"n":12345678901234567890,"m":-0.10e+20,"k":1E5,"z":-0}`, ""}, {`{"a":1,"a":2}`, ""}, {`{"a":"<b>&</b>"}`, ""}, {`{"a":"\u003cb\u003e"}`, ""},
		{`"text"`, ""}, {`null`, ""}, {`true`, ""}, {`[]`, ""}, {`{}`, ""}, {`[[],{},[{}]]`, ""}, {"{\"a\":\"\u2028\u2029\U0001f389\"}", ""},
		{" {\r\n \"a\" : [ 1 , 2 ] ,\t\"b\":{ } } \n", `{"a":[1,2],"b":{}}`},
		{"{\"a\":\"x\xffy\"}", "{\"a\":\"x\ufffdy\"}"}, {"{\"a\":\"\xe2\x82\"}", "{\"a\":\"\ufffd\ufffd\"}"}, {`{"a":"\ud800"}`, "{\"a\":\"\ufffd\"}"},
		{`{"a":"\ud83c\udf89"}`, ""}, {`{"a":"\udf89\ud83cx"}`, "{\"a\":\"\ufffd\ufffdx\"}"}, {"{\"\xff\":1}", "{\"\ufffd\":1}"},
		{`{"toolArgs":"{\"command\": \"ls -la\"}"}`, ""}, {`{"toolArgs":"not json {"}`, ""}, {`{"toolArgs":"[1,2"}`, ""}, {`{"toolArgs":""}`, ""}, {`{"toolArgs":null}`, ""},
		{`{"cwd":"/home/a/password=hunter2","sessionId":"token=abc12345678","timestamp":"2026-01-01T00:00:00.123Z","hook_event_name":"PostToolUse"}`, ""},
		{`{"cwd":"C:\\x1b[0m\\src","transcriptPath":"/a/<private>/b","toolName":"mcp__token: hunter22"}`, ""},
	} {
		want := tt.want
		if want == "" {
			want = tt.in
		}
		if got, stats := payload(t, tt.in, 1<<20); got != want || stats != (Stats{}) {
			t.Errorf("Payload(%q)\n got %q %+v\nwant %q", tt.in, got, stats, want)
		}
	}
}

func TestPayloadKeys(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		n        int
	}{
		{`{"apiKey":"a"}`, `{"apiKey":"[redacted:api-key]"}`, 1},
		{`{"API-KEY":"a","x":{"y":[{"Token":"b"}]}}`, `{"API-KEY":"[redacted:api-key]","x":{"y":[{"Token":"[redacted:token]"}]}}`, 2},
		{`{"password":12345}`, `{"password":"[redacted:password]"}`, 1},
		{`{"password":null,"secret":"","token":true,"cookie":[],"passwd":{}}`, `{"password":null,"secret":"","token":true,"cookie":[],"passwd":{}}`, 0},
		{`{"credentials":{"user":"ann","deep":["x",1,null,{"y":"z"}]},"after":"kept"}`,
			`{"credentials":{"user":"[redacted:credential]","deep":["[redacted:credential]","[redacted:credential]",null,{"y":"[redacted:credential]"}]},"after":"kept"}`, 4},
		{`{"token":["a","b"]}`, `{"token":["[redacted:token]","[redacted:token]"]}`, 2},
		{`{"max_tokens":4096,"tokenizer":"bpe","token_count":"12","tokens":["a"],"secretary":"Ann"}`, `{"max_tokens":4096,"tokenizer":"bpe","token_count":"12","tokens":["a"],"secretary":"Ann"}`, 0},
		{`{"\u0061piKey":"a"}`, `{"\u0061piKey":"[redacted:api-key]"}`, 1},
		{`{"password":{"type":"string","minLength":"8"}}`, `{"password":{"type":"string","minLength":"[redacted:password]"}}`, 1},
		{`{"apiKey":"[redacted:api-key]"}`, `{"apiKey":"[redacted:api-key]"}`, 0},
		{`{"toolArgs":"{\"apiKey\": \"abc\", \"n\": 1}"}`, `{"toolArgs":"{\"apiKey\": \"[redacted:api-key]\", \"n\": 1}"}`, 1},
		{`{"toolArgs":"{\"in\":\"{\\\"token\\\":\\\"abc\\\"}\"}"}`, `{"toolArgs":"{\"in\":\"{\\\"token\\\":\\\"[redacted:token]\\\"}\"}"}`, 1},
		{`{"env":[{"name":"API_TOKEN","value":"abc"},{"name":"HOST","value":"b"}]}`, `{"env":[{"name":"API_TOKEN","value":"[redacted:token]"},{"name":"HOST","value":"b"}]}`, 1},
		{`{"args":["--password","abc","--host","b"]}`, `{"args":["--password","[redacted:password]","--host","b"]}`, 1},
		{`{"prompt":"a <private>b</private> c"}`, `{"prompt":"a [redacted:private] c"}`, 1},
		{`{"prompt":"\u001b[31mred\u001b[0m \\u001b[1mx"}`, `{"prompt":"red x"}`, 0},
	} {
		got, stats := payload(t, tt.in, 1<<20)
		if diff := cmp.Diff(tt.want, got); diff != "" || stats.Redacted != tt.n {
			t.Errorf("Payload(%s): %d redacted, want %d (-want +got):\n%s", tt.in, stats.Redacted, tt.n, diff)
		}
	}
}

func TestPayloadRealSecretInProtocolField(t *testing.T) {
	got, stats := payload(t, `{"cwd":"/tmp/gh`+`p_`+alnum(36)+`"}`, 0)
	if want := `{"cwd":"/tmp/[redacted:github-token]"}`; got != want || stats.Redacted != 1 {
		t.Errorf("got %s %+v, want %s", got, stats, want)
	}
}

func TestPayloadRefuses(t *testing.T) {
	for _, in := range []string{
		"", " ", "{", "[", "{]", "[}", `{"a"}`, `{"a":}`, `{"a":1,}`, "[1,]", "[,1]", `{a:1}`, `{'a':1}`, "01", "-", "1.", "1e", "+1", ".5", "tru", "nul", "NaN",
		`"a`, `"\x"`, `"\u12g4"`, `"\u123`, "\"a\nb\"", "\"\x00\"", "1 2", "{} {}", `{"a":1}x`, "]", ",", `{"a":1 "b":2}`, "[1 2]", "\ufeff{}", `"\`, "{\"a\":\"b\"",
	} {
		dst := []byte("kept")
		out, stats, err := Payload(dst, []byte(in), 0)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || string(out) != "kept" || stats != (Stats{}) {
			t.Errorf("Payload(%q) = %q, %+v, %v; want a syntax error and dst as it was", in, out, stats, err)
		}
		if json.Valid([]byte(in)) {
			t.Errorf("%q is JSON", in)
		}
	}
}

func TestPayloadDepth(t *testing.T) {
	for _, tt := range []struct {
		n  int
		ok bool
	}{{100, true}, {10000, true}, {10001, false}, {1 << 20, false}} {
		for _, pair := range []string{"[]", `{"a":|}`} {
			open, closing := pair[:len(pair)-1], pair[len(pair)-1:]
			open = strings.TrimSuffix(open, "|")
			in := strings.Repeat(open, tt.n) + "1" + strings.Repeat(closing, tt.n)
			_, _, err := Payload(nil, []byte(in), 0)
			if (err == nil) != tt.ok || json.Valid([]byte(in)) != tt.ok {
				t.Errorf("%d times %s: %v, want ok = %v", tt.n, pair, err, tt.ok)
			}
			nested, _ := json.Marshal(in)
			if _, _, err := Payload(nil, nested, 0); err != nil {
				t.Errorf("%d times %s in a string: %v", tt.n, pair, err)
			}
		}
	}
}

func TestPayloadAppends(t *testing.T) {
	out, _, err := Payload([]byte(`{"payload":`), []byte(`{ "a": 1 }`), 0)
	if got, want := string(out), `{"payload":{"a":1}`; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestPayloadLimit(t *testing.T) {
	flag, family := "\U0001f1e9\U0001f1ea", "\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f3fd"
	for _, unit := range []string{"a", "é", "e\u0301", "日", "🎉", "👍🏽", flag, family, "❤\ufe0f", "\r\n", "x[redacted:github-token]"} {
		for limit := 64; limit < 64+2*len(unit)+3; limit++ {
			text := strings.Repeat(unit, 200)
			in, _ := json.Marshal(map[string]string{"prompt": text})
			out, stats := payload(t, string(in), limit)
			var got struct{ Prompt string }
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			head, tail, found := strings.Cut(got.Prompt, "…[truncated ")
			_, tail, closed := strings.Cut(tail, " bytes]…")
			if !stats.Truncated || !found || !closed || len(got.Prompt) > limit || !utf8.ValidString(got.Prompt) {
				t.Fatalf("limit %d, %q: %q", limit, unit, got.Prompt)
			}
			if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
				t.Errorf("limit %d, %q: head %q, tail %q are not the ends", limit, unit, head, tail)
			}
			whole := len(head)%len(unit) == 0 && len(tail)%len(unit) == 0
			if unit[0] == 'x' { // only the mark must stay in one piece
				whole = strings.Count(head, "[") == strings.Count(head, "]") && strings.Count(tail, "[") == strings.Count(tail, "]")
			}
			if !whole {
				t.Errorf("limit %d: a character was cut: head %q, tail %q", limit, head, tail)
			}
			again, _ := payload(t, out, limit)
			if again != out {
				t.Errorf("limit %d: %q is cut again to %q", limit, out, again)
			}
		}
	}
}

// A secret across the cut is gone as a whole: no half of it is kept.
func TestPayloadRedactsBeforeItCuts(t *testing.T) {
	secret := "gh" + "p_" + alnum(36)
	for n := range 200 {
		in, _ := json.Marshal(map[string]string{"prompt": strings.Repeat("word ", 20)[:n%100] + strings.Repeat(" ", n) + secret + strings.Repeat(" tail", 60)})
		out, stats := payload(t, string(in), 200)
		if strings.Contains(out, secret[:8]) || strings.Contains(out, secret[30:]) || !stats.Truncated {
			t.Fatalf("%d: %s", n, out)
		}
	}
}

func TestPayloadKeepsShortFieldsWhole(t *testing.T) {
	in := `{"prompt":"` + strings.Repeat("a", 100) + `","n":` + strings.Repeat("1", 300) + `}`
	if out, stats := payload(t, in, 100); out != in || stats.Truncated {
		t.Errorf("got %s %+v", out, stats)
	}
}
