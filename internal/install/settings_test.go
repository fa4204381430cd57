package install

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func addAll(text []byte) ([]byte, Merged) {
	var m Merged
	for _, k := range settingsKeys {
		if current(text, k) == nil {
			text = addKey(text, k, &m)
		}
	}
	return text, m
}

func TestAddKeys(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "{}\n", `{
  "extraKnownMarketplaces": {
    "copilot-mem": {
      "source": {
        "source": "directory",
        "path": "/d/marketplace"
      }
    }
  },
  "enabledPlugins": {
    "copilot-mem@copilot-mem": true
  }
}
`},
		{"on one line", `{"model": "x", "b": [1, {}]}`,
			`{"model": "x", "b": [1, {}], "extraKnownMarketplaces": {"copilot-mem":{"source":{"source":"directory","path":"/d/marketplace"}}}, "enabledPlugins": {"copilot-mem@copilot-mem":true}}`},
		{"tabs and sections there", "{\n\t\"enabledPlugins\": {\n\t\t\"a@b\": false\n\t},\n\t\"extraKnownMarketplaces\": {},\n\t\"z\": 1\n}", `{
	"enabledPlugins": {
		"a@b": false,
		"copilot-mem@copilot-mem": true
	},
	"extraKnownMarketplaces": {
		"copilot-mem": {
			"source": {
				"source": "directory",
				"path": "/d/marketplace"
			}
		}
	},
	"z": 1
}`},
		{"carriage returns", "{\r\n    \"a\": \"x\\\"}\"\r\n}\r\n", "{\r\n    \"a\": \"x\\\"}\",\r\n    \"extraKnownMarketplaces\": {\r\n        \"copilot-mem\": {\r\n            \"source\": {\r\n                \"source\": \"directory\",\r\n                \"path\": \"/d/marketplace\"\r\n            }\r\n        }\r\n    },\r\n    \"enabledPlugins\": {\r\n        \"copilot-mem@copilot-mem\": true\r\n    }\r\n}\r\n"},
	}
	for _, tt := range tests {
		got, m := addAll([]byte(tt.in))
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		back, kept := m.undo(got, true)
		if string(back) != tt.in || kept != nil {
			t.Errorf("%s: undone to %q, kept %v", tt.name, back, kept)
		}
	}
}

// Somebody edits the file between init and uninstall: only our keys go, the rest stays byte for byte.
func TestTakeOutAfterChanges(t *testing.T) {
	const market = `"extraKnownMarketplaces": {"copilot-mem": {"source": {"path": "/d/marketplace", "source": "directory"}}}`
	tests := []struct{ name, now, want, kept string }{
		{"new key behind", `{"a": 1, ` + market + `, "enabledPlugins": {"copilot-mem@copilot-mem": true}, "new" : 2}`, `{"a": 1, "new" : 2}`, ""},
		{"new plugin beside", `{"enabledPlugins": {"copilot-mem@copilot-mem": true, "x@y" : true}, ` + market + `}`, `{"enabledPlugins": {"x@y" : true}}`, ""},
		{"switched off", `{"enabledPlugins": {"copilot-mem@copilot-mem": false}, "z":0}`, `{"z":0}`, ""},
		{"points elsewhere", `{"extraKnownMarketplaces": {"copilot-mem": {"source": "mine"}}}`, `{"extraKnownMarketplaces": {"copilot-mem": {"source": "mine"}}}`, "extraKnownMarketplaces.copilot-mem"},
		{"all gone", `{ "a":1 }`, `{ "a":1 }`, ""},
		{"only ours left", "{\n  " + market + "\n}", `{}`, ""},
	}
	_, m := addAll([]byte("{}"))
	for _, tt := range tests {
		got, kept := m.undo([]byte(tt.now), false)
		if string(got) != tt.want || strings.Join(kept, " ") != tt.kept {
			t.Errorf("%s: %q, kept %v; want %q, kept %q", tt.name, got, kept, tt.want, tt.kept)
		}
	}
}

// For every settings file: the edit is valid JSON with our keys and everything that was there, and both ways back
// restore it, to the byte when nobody has touched it and in its meaning after a reformatting.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{
		"// top\n{ // in\n \"a\": 1, // of a\n /* b */ \"enabledPlugins\": {\"x@y\": true, /* z */}, }\n// end", "\ufeff{ /* only */ }", "{\"a\":[1,2,],}",
		"{\n  \"a\": \"//\" /* of\n a */\n}", "{", `{"a":[{"b":"\"}"}],"enabledPlugins":{}}`, "{\r\n\t\"enabledPlugins\" : { \"a\" : true }\r\n}", `{"":{"":null},"x":-1.5e3}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if checkSettings([]byte(text), settingsKeys) != nil || !utf8.ValidString(text) {
			t.Skip("not a settings file")
		}
		for _, k := range settingsKeys {
			if current([]byte(text), k) != nil {
				t.Skip("our keys are there")
			}
		}
		edited, m := addAll([]byte(text))
		for _, k := range settingsKeys {
			if !sameJSON(current(edited, k), k.Value) {
				t.Fatalf("%q: no %s in %q", text, k.Section, edited)
			}
		}
		if back, _ := m.undo(edited, true); string(back) != text {
			t.Fatalf("%q came back as %q", text, back)
		}
		var doc any
		if err := json.Unmarshal(plain(edited), &doc); err != nil {
			t.Fatalf("%q became %q: %v", text, edited, err)
		}
		back, kept := m.undo(edited, false)
		if !sameJSON(plain(back), plain([]byte(text))) || kept != nil {
			t.Fatalf("%q: taken out of %q gives %q", text, edited, back)
		}
		if got, want := remarks([]byte(back)), remarks([]byte(text)); got != want {
			t.Fatalf("%q: taken out of %q gives %q: comments %q, want %q", text, edited, back, got, want)
		}
		if got, want := remarks(edited), remarks([]byte(text)); got != want {
			t.Fatalf("%q: edited to %q: comments %q, want %q", text, edited, got, want)
		}
	})
}

// remarks are the comments of a text, without the blanks.
func remarks(text []byte) string {
	var b strings.Builder
	for i, c := range uncomment(text) {
		if c != text[i] && text[i] != ' ' {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// Comments, trailing commas and a byte order mark stay where they are, with the words around them.
func TestCommentsStay(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"about the last one", "{\n  \"a\": 1 // one\n}", "{\n  \"a\": 1, // one\n  \"s\": {\n    \"k\": true\n  }\n}"},
		{"trailing comma", "{\n  \"a\": 1, // one\n}", "{\n  \"a\": 1, // one\n  \"s\": {\n    \"k\": true\n  }\n}"},
		{"only a comment", "{\n  // nothing yet\n}\n", "{\n  // nothing yet\n\n  \"s\": {\n    \"k\": true\n  }\n}\n"},
		{"before the last one", "{\n  \"a\": 1,\n  // two\n  \"b\": 2\n}", "{\n  \"a\": 1,\n  // two\n  \"b\": 2,\n  \"s\": {\n    \"k\": true\n  }\n}"},
		{"in the section", "// mine\n{\"s\": {/* x */ \"j\": 1 /* y */}}", "// mine\n{\"s\": {/* x */ \"j\": 1, \"k\": true /* y */}}"},
		{"looks like one", `{"a": "// /* \" */"}`, `{"a": "// /* \" */","s": {"k":true}}`},
	}
	for _, tt := range tests {
		var m Merged
		got := addKey([]byte(tt.in), Key{"s", "k", []byte("true")}, &m)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if back, _ := m.undo(got, true); string(back) != tt.in {
			t.Errorf("%s: undone to %q", tt.name, back)
		}
	}
}
