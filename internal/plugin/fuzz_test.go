package plugin

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// inside fails when a value stands outside the text that it was read from.
func inside(t *testing.T, text string, v *Value) {
	t.Helper()
	if lines := strings.Count(text, "\n") + 1; v.Line < 1 || v.Line > lines || v.Column < 1 {
		t.Fatalf("value %q at %d:%d of %d lines", v.Text, v.Line, v.Column, lines)
	}
	for _, i := range v.Items {
		inside(t, text, i)
	}
	for _, f := range v.Fields {
		inside(t, text, f.Key)
		inside(t, text, f.Value)
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,-0,true,null,"x\u00e9\ud83d\ude00"]}`, `{,}`, "\ufeff{}", `{"a":1,}`, `[1 2]`, `"\ud800"`,
		`{"a":1,"a":2}`, `01`, `1e999`, strings.Repeat("[", 200), "", `nul`, "[\n \"é\"\n]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseJSON([]byte(s))
		valid := json.Valid([]byte(s))
		if err == nil {
			if !valid {
				t.Fatalf("accepted %q, which is no JSON", s)
			}
			inside(t, s, v)
			return
		}
		var e *SyntaxError
		if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Problem == "" {
			t.Fatalf("%q: %#v", s, err)
		}
		// The client is stricter than encoding/json in these.
		for _, ours := range []string{"recursion limit", "number out of range", "surrogate", "end of hex escape"} {
			if strings.Contains(e.Problem, ours) {
				return
			}
		}
		if valid {
			t.Fatalf("refused %q: %v", s, err)
		}
	})
}

func FuzzParseDocument(f *testing.F) {
	for _, s := range []string{"---\nname: x\ndescription: a: b\n---\nBody\n", "---\n---", "---\na: &x [*x]\n---\n", "--- \r\na: 1\r\n---\r\nb",
		"---\na: \"b\n---\n", "---\n\ta: 1\n---\n", "---\n{{x}}\n---\n", "\ufeff---\n- a\n--- \n", "---\na: !!int x\n---\n", "---\n<<: *a\n---\n",
		"---\na: {b: {c: [1, ~, .inf, 0x1F]}}\n? [x]\n: y\n---\n", "---\na: |\n  b\n  ---\n c\n---\n", "---\n--- b\n---\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		began := time.Now()
		d, err := ParseDocument([]byte(s))
		if took := time.Since(began); took > 3*time.Second {
			t.Fatalf("%d bytes took %v", len(s), took)
		}
		if err != nil {
			var frame *FrameError
			var syntax *SyntaxError
			if !errors.As(err, &frame) && !errors.As(err, &syntax) {
				t.Fatalf("%q: %#v", s, err)
			}
			if syntax != nil && (syntax.Line < 2 || syntax.Column < 1 || syntax.Line > strings.Count(s, "\n")+2) {
				t.Fatalf("%q: %+v", s, syntax)
			}
			return
		}
		if d.Fields.Kind != Null {
			inside(t, s, d.Fields)
		}
		if utf8.ValidString(s) && (!strings.HasSuffix(s, d.Body) || !strings.Contains(s, d.Raw)) {
			t.Fatalf("%q: body %q and frontmatter %q are not parts of it", s, d.Body, d.Raw)
		}
	})
}
