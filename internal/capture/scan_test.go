package capture

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScanTop(t *testing.T) {
	tests := []struct {
		name, in string
		want     top
		ok       bool
	}{
		{"camel", `{"sessionId":"s","cwd":"/a","transcriptPath":"/t","reason":"r","agentId":"g","parentAgentId":"p"}`, top{session: "s", cwd: "/a", transcript: "/t", reason: "r", agent: "g", parentAgent: "p"}, true},
		{"Pascal", `{"session_id":"s","transcript_path":"/t","agent_id":"g","parent_agent_id":"p"}`, top{session: "s", transcript: "/t", agent: "g", parentAgent: "p"}, true},
		{"only the top level counts", `{"toolArgs":{"sessionId":"x","cwd":["}"]},"s":"\"sessionId\":\"y\"","n":-1.5e3,"cwd":"/a"}`, top{cwd: "/a"}, true},
		{"escapes", `{"cwd":"C:\\a\"b\/\u00e9\ud83d\ude00"}`, top{cwd: `C:\a"b/é😀`}, true},
		{"half a pair", `{"cwd":"\ud83dx"}`, top{cwd: "\ufffdx"}, true},
		{"other types are absent", `{"sessionId":7,"cwd":null,"reason":{}}`, top{}, true},
		{"empty", `{}`, top{}, true},
		{"array", `["sessionId"]`, top{}, false},
		{"text", `"sessionId"`, top{}, false},
		{"nothing", ``, top{}, false},
		{"cut short", `{"sessionId":"s","cwd`, top{session: "s"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := scanTop([]byte(tt.in))
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(top{})); diff != "" || ok != tt.ok {
				t.Errorf("scanTop = %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestCloseJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"some te`:         `{"a":"some te"}`,
		`{"a":"x","b":{"c":["d`: `{"a":"x","b":{"c":["d"]}}`,
		`{"a":"x","b`:           `{"a":"x"}`,
		`{"a":"x","b":`:         `{"a":"x"}`,
		`{"a":"x",`:             `{"a":"x"}`,
		`{"a":12,"b":34`:        `{"a":12}`,
		`{"a":tru`:              `{}`,
		`{"a":"x\`:              `{"a":"x"}`,
		`{"a":"x\u00e`:          `{"a":"x"}`,
		`{"a":"x` + "\xf0\x9f":  `{"a":"x"}`,
		`{"a":[{"b":1},`:        `{"a":[{"b":1}]}`,
		`{`:                     `{}`,
	} {
		if got := string(closeJSON([]byte(in))); got != want {
			t.Errorf("closeJSON(%s) = %s, want %s", in, got, want)
		}
	}
}

// A document cut anywhere is closed to a document again.
func FuzzCloseJSON(f *testing.F) {
	f.Add([]byte(`{"a":"b\"\\\u00e9é😀","c":[1,{"d":null},[],{}],"e":true,"f":-1.5e3,"g":""}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !json.Valid(doc) || len(bytes.TrimSpace(doc)) == 0 || bytes.TrimSpace(doc)[0] != '{' {
			return
		}
		for cut := bytes.IndexByte(doc, '{') + 1; cut < len(doc); cut++ {
			if got := closeJSON(bytes.Clone(doc[:cut])); !json.Valid(got) {
				t.Fatalf("closeJSON(%q) = %q", doc[:cut], got)
			}
		}
	})
}

// The scanner sees the members that encoding/json sees.
func FuzzFields(f *testing.F) {
	f.Add([]byte(` { "a" : "b\"\\" , "c":[1,{"d":null}], "e":{"f":"}"},"g":1}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		got := map[string]string{}
		ok := fields(doc, func(key, value []byte) {
			got[text(append(append([]byte{'"'}, key...), '"'))] = string(value)
		})
		var want map[string]json.RawMessage
		if json.Unmarshal(doc, &want) != nil || want == nil {
			return
		}
		if !ok || len(got) != len(want) && json.Valid(doc) && bytes.IndexByte(doc, '\\') < 0 && bytes.Equal(bytes.ToValidUTF8(doc, nil), doc) {
			t.Fatalf("fields(%q) = %v, %v; want %s", doc, got, ok, want)
		}
		for key, value := range want {
			if raw, ok := got[key]; ok && raw != string(value) {
				t.Errorf("%q: %q, want %q", key, raw, value)
			}
		}
	})
}
