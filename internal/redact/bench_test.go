package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// goSource is ordinary code: names, operators, strings, a hash, an address.
const goSource = `package store

// Open opens the database at path and runs what migrations it lacks; see https://sqlite.org/wal.html:443/x.
func Open(path string, token int) (*DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range tokens {
		if tokens[i].kind == kindSpace || tokens[i].text == "" {
			continue // commit 3f2a9c1b7d5e4f60a1b2c3d4e5f60718293a4b5c changed this
		}
		out = append(out, token{kind: tokens[i].kind, text: strings.ToLower(tokens[i].text), pos: i})
	}
	return &DB{db: db, now: time.Now, key_count: len(out)}, nil
}
`

func payloadOf(text string) []byte {
	b, err := json.Marshal(map[string]any{
		"sessionId": "6f1d0a52-58d3-4f7e-9d25-0c9d6f0a7b11", "timestamp": 1764000000000, "cwd": "/home/ann/src/app",
		"toolName": "view", "toolArgs": `{"path":"/home/ann/src/app/store.go","view_range":[1,40]}`,
		"toolResult": map[string]any{"resultType": "success", "textResultForLlm": text},
	})
	if err != nil {
		panic(err)
	}
	return b
}

func source(n int) string { return strings.Repeat(goSource, n/len(goSource)+1)[:n] }

func benchmark(b *testing.B, payload []byte) {
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Payload(nil, payload, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPayload1KB(b *testing.B)   { benchmark(b, payloadOf(source(700))) }
func BenchmarkPayload100KB(b *testing.B) { benchmark(b, payloadOf(source(100<<10))) }

func BenchmarkPayloadSecrets(b *testing.B) {
	planted := "\nexport GITHUB_TOKEN=" + "gh" + "p_" + alnum(36) + "\ncurl -u ann:" + "hunter2" + " https://example.com\nAuthorization: Bearer " + alnum(40) + "\n"
	b.Run("1KB", func(b *testing.B) { benchmark(b, payloadOf(source(600)+planted)) })
	b.Run("100KB", func(b *testing.B) { benchmark(b, payloadOf(source(50<<10)+planted+source(50<<10))) })
}

func BenchmarkText100KB(b *testing.B) {
	s := source(100 << 10)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if _, n := Text(s); n != 0 {
			b.Fatal("found a secret in ordinary code")
		}
	}
}
