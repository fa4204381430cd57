package expr

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// seeds start the fuzzers; they are also compared with actionlint.
var seeds = []string{
	"event.tool.name == 'bash' && contains(event.tool.args.command, 'push')",
	"!(a || b) && event['x'].*.y[0] >= -1.5e3", "format('{0}-{{}}', env.A)", "fromJSON(event.tool.args.j).a.b[1]",
	"'it''s' != ''''", "steps['build it'].outputs.v", "success() || failure() && !cancelled()", "toJSON(event)", "join(event.files.*.path, ',')",
	"null == 0x1F", "((((1))))", "1 < 2 == true", "matches(event.prompt, '(?i)secret')", "glob('src/**', event.file.path)", "event.files[*].path",
	"'}}'", "\"x\"", "'abc", "1 2", "event.", "contains('a')", "a = b", "-", ".5", "1.", "0o7", "!", "()", "event..x", "é", "\xff", "",
}

// limit is generous: the contract's 50 ms per 64 KiB on a busy machine with the fuzzer's own instrumentation.
const limit = 5 * time.Second

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		start := time.Now()
		e, err := Parse(src)
		if err != nil {
			position(t, src, err)
			return
		}
		for _, err := range e.Check() {
			position(t, src, err)
		}
		e.Roots()
		e.UsesStatus()
		v, err := e.Eval(facts())
		if err != nil {
			position(t, src, err)
		}
		ToText(v)
		Truthy(v)
		if took := time.Since(start); took > limit {
			t.Errorf("took %v", took)
		}
		if d := disagreement(src); d != "" {
			t.Error(d)
		}
		in, err := ParseText("${{" + src + "}}")
		if err != nil || len(in.Parts) != 1 {
			t.Errorf("an expression is not one in text: %v", err)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, s := range seeds {
		f.Add("a ${{ " + s + " }} b")
		f.Add(s)
	}
	f.Add("${{ 1 }}${{ '}}' }}$${{ 2 }}}")
	f.Fuzz(func(t *testing.T, src string) {
		x, err := ParseText(src)
		if err != nil {
			position(t, src, err)
		} else {
			whole(t, src, x)
			if _, err := x.Eval(facts()); err != nil {
				position(t, src, err)
			}
		}
		if _, err := ParseIf(src); err != nil {
			position(t, src, err)
		}
	})
}

// whole checks that the parts tile the text.
func whole(t *testing.T, src string, x *Text) {
	at := 0
	for i, p := range x.Parts {
		if p.Expr != nil {
			if !strings.HasPrefix(src[p.Offset:], open) || at > p.Offset {
				t.Errorf("part %d does not start an expression at %d", i, p.Offset)
			}
			at = len(src)
			if i+1 < len(x.Parts) {
				at = x.Parts[i+1].Offset
			}
			if !strings.HasSuffix(src[:at], closing) {
				t.Errorf("part %d is not closed before %d", i, at)
			}
			continue
		}
		if p.Offset != at || !strings.HasPrefix(src[at:], p.Lit) || strings.Contains(p.Lit, open) {
			t.Errorf("part %d: %q is not the text at %d", i, p.Lit, at)
		}
		at += len(p.Lit)
	}
	if at != len(src) {
		t.Errorf("the parts end at %d of %d", at, len(src))
	}
}

// position checks an error: inside the source, at the start of a character, with one short line to say.
func position(t *testing.T, src string, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%T is not an *Error: %v", err, err)
	}
	if e.Offset < 0 || e.Offset > len(src) || e.Offset < len(src) && utf8.ValidString(src) && !utf8.RuneStart(src[e.Offset]) {
		t.Errorf("offset %d of %d: %s", e.Offset, len(src), e.Msg)
	}
	if e.Msg == "" || len(e.Msg) > 2000 {
		t.Errorf("the message has %d bytes", len(e.Msg))
	}
}
