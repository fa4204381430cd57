package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// facts is the event that the tables ask about.
func facts() *Env {
	return &Env{Contexts: map[string]Value{
		"event": map[string]any{
			"name": "preToolUse", "cwd": "/srv/Repo",
			"tool": map[string]any{"name": "bash", "args": map[string]any{
				"command": "git push", "n": json.Number("3"), "list": []any{"a", "B", 1.0, nil}, "empty": "", "obj": map[string]any{"K": 1, "k2": "x"},
				"path": "lower", "PATH": "upper", "Key": "b", "KEY": "a",
			}},
			"files": []map[string]any{{"path": "src/a.go", "tags": []string{"x", "y"}}, {"path": "b.md"}, {"other": true}},
			"none":  nil,
			"lazy":  Lazy(func() any { return map[string]any{"deep": Lazy(func() any { return 7 })} }),
			"matrix": []any{
				[]any{1.0, 2.0}, []any{3.0},
			},
		},
		"env":   map[string]string{"A": "one", "B_C": "two"},
		"steps": map[string]any{"build it": map[string]any{"outputs": map[string]any{"v": "1"}, "outcome": "failure"}},
	}}
}

func eval(t *testing.T, src string, env *Env) Value {
	t.Helper()
	e, err := Parse(src)
	if err != nil {
		t.Errorf("%s: %v", src, err)
		return nil
	}
	v, err := e.Eval(env)
	if err != nil {
		t.Errorf("%s: %v", src, err)
	}
	return v
}

type row struct {
	src  string
	want Value
}

func check(t *testing.T, rows []row) {
	t.Helper()
	for _, tt := range rows {
		if diff := cmp.Diff(tt.want, eval(t, tt.src, facts())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.src, diff)
		}
	}
}

func TestLiterals(t *testing.T) {
	check(t, []row{
		{"null", nil}, {"NULL", nil}, {"true", true}, {"True", true}, {"false", false}, {"FALSE", false},
		{"0", 0.0}, {"-1", -1.0}, {"+1", 1.0}, {".5", 0.5}, {"-.5", -0.5}, {"1.", 1.0}, {"711", 711.0}, {"-9.2", -9.2}, {"0xff", 255.0},
		{"0xFf", 255.0},
		{"0o17", 15.0}, {"1e3", 1000.0}, {"-2.99e-2", -0.0299}, {"1E+2", 100.0}, {"1e999", math.Inf(1)},
		{"''", ""}, {"'a'", "a"}, {"'it''s'", "it's"}, {"''''", "'"}, {"'}}'", "}}"}, {"'line\nbreak'", "line\nbreak"}, {"'\"'", `"`},
		{"'é'", "é"},
		{" \t\r\n1\n ", 1.0}, {"(((1)))", 1.0},
	})
}

func TestOperators(t *testing.T) {
	check(t, []row{
		{"true || false && false", true}, {"(true || false) && false", false},
		{"'a' || 'b'", "a"}, {"'' || 'b'", "b"}, {"null && 'b'", nil}, {"'a' && 'b'", "b"}, {"0 || null || ''", ""},
		{"'a' && 0 && 'b'", 0.0},
		{"!true", false}, {"!!'x'", true}, {"!null", true}, {"!''", true}, {"!0", true}, {"!-0", true}, {"! true == false", true},
		{"!event.none", true}, {"!event.files", false}, {"!fromJSON('[]')", false}, {"!fromJSON('{}')", false},
		{"1 == 2 < 3", true}, // order binds tighter: 1 == (2 < 3)
		{"3 > 2 > 1", false}, {"1 < 2 == true", true}, {"1 == 1 == 1", true}, {"5 == 5 == 5", false},
		{"1 < 2 && 2 < 3 || false", true},
		{"false && fromJSON('nope')", false}, {"true || fromJSON('nope')", true},
	})
}

func TestCoercion(t *testing.T) {
	check(t, []row{
		{"null == 0", true}, {"null == ''", true}, {"null == false", true}, {"null == null", true}, {"null == 'x'", false},
		{"true == 1", true}, {"true == '1'", true}, {"true == 'true'", false}, {"false == ''", true}, {"'0' == false", true},
		{"1 == '1'", true},
		{"' 1.5 ' == 1.5", true}, {"'0xA' == 10", true}, {"'1e1' == 10", true}, {"'-0xA' == -10", false}, {"'Infinity' == 1e999", true},
		{"'-Infinity' < 0", true},
		{"'1_000' == 1000", false}, {"'nan' == 'nan'", true}, {"'inf' == 1e999", false},
		{"'abc' == 0", false}, {"'abc' != 0", true}, {"'abc' < 0", false}, {"'abc' <= 0", false}, {"'abc' > 0", false},
		{"'abc' >= 0", false},
		{"'ABC' == 'abc'", true}, {"'ÉA' == 'éa'", true}, {"'a' < 'B'", true}, {"'B' > 'a'", true}, {"'a' <= 'A'", true},
		{"'a' < 'ab'", true}, {"'10' < '9'", true},
		{"true > false", true}, {"true >= 1", true}, {"null < 1", true}, {"null >= 0", true}, {"null < null", false},
		{"null <= null", true},
		{"event.files == event.none", false}, {"event.files == 0", false}, {"event.files != 0", true}, {"event.tool == 'Object'", false},
		{"event.tool == event.tool", true}, {"event.tool.args.list == event.tool.args.list", true}, {"event.tool >= event.tool", true},
		{"event.tool < event.tool", false},
		{"fromJSON('[1]') == fromJSON('[1]')", false}, {"fromJSON('[1]') != fromJSON('[1]')", true},
		{"fromJSON('{}') == fromJSON('[]')", false},
	})
}

func TestAccess(t *testing.T) {
	check(t, []row{
		{"event.name", "preToolUse"}, {"EVENT.Name", "preToolUse"}, {"event['name']", "preToolUse"}, {"event [ 'NAME' ]", "preToolUse"},
		{"event . name", "preToolUse"},
		{"event.tool.args.n", 3.0}, {"event.tool.args.path", "lower"}, {"event.tool.args.PATH", "upper"}, {"event.tool.args.Path", "upper"},
		{"event.tool.args.key", "a"},
		{"event.nope", nil}, {"event.nope.deeper.still", nil}, {"event.name.length", nil}, {"event.none.x", nil},
		{"steps.nope.outputs.x", nil}, {"inputs.x", nil}, {"policy", nil},
		{"event.tool.args.list[0]", "a"}, {"event.tool.args.list[1.9]", "B"}, {"event.tool.args.list['1']", "B"},
		{"event.tool.args.list[9]", nil},
		{"event.tool.args.list[-1]", nil}, {"event.tool.args.list['x']", nil}, {"event.tool.args.list[null]", "a"},
		{"event.tool.args.list[event.files]", nil},
		{"event.tool.args.list.x", nil}, {"event[event.files]", nil}, {"fromJSON('{\"1\":\"one\"}')[1]", "one"},
		{"env.a", "one"}, {"env['b_c']", "two"}, {"steps['build it'].outputs.v", "1"}, {"steps['Build It'].outcome == 'failure'", true},
		{"event.lazy.deep", 7.0}, {"event.lazy['deep'] == 7", true}, {"(event).name", "preToolUse"}, {"('a').b", nil},
		{"fromJSON('[5]')[0]", 5.0},
		{"event.tool.true", nil}, {"event.files.path", nil},
	})
	check(t, []row{
		{"event.files.*.path", []any{"src/a.go", "b.md"}}, {"event.files[*].path", []any{"src/a.go", "b.md"}},
		{"event.files.*.tags.*", []any{"x", "y"}},
		{"event.files.*.tags[1]", []any{"y"}}, {"event.files.*.path[0]", []any{}}, {"event.matrix.*[0]", []any{1.0, 3.0}},
		{"event.matrix.*.*", []any{1.0, 2.0, 3.0}},
		{"event.tool.args.obj.*", []any{1, "x"}}, {"event.none.*", []any{}}, {"event.name.*.x", []any{}}, {"event.files.*.nope", []any{}},
		{"join(event.files.*.path, ' ')", "src/a.go b.md"}, {"contains(event.files.*.path, 'B.MD')", true}, {"!event.none.*", false},
		{"toJSON(event.files.*.path)", `["src/a.go","b.md"]`}, {"event.tool.*.n", []any{3.0}},
	})
}

func TestFunctions(t *testing.T) {
	check(t, []row{
		{"contains('Hello world', 'LLO')", true}, {"contains('abc', '')", true}, {"contains('abc', 'd')", false},
		{"contains(123, 2)", true}, {"contains(null, '')", true},
		{"contains(event.tool.args.list, 'b')", true}, {"contains(event.tool.args.list, '1')", true},
		{"contains(event.tool.args.list, 0)", true}, // null == 0
		{"contains(event.tool.args.list, 'z')", false}, {"contains(event.tool, 'bash')", false}, {"contains('abc', event.tool)", false},
		{"contains('TRUE', true)", true},
		{"startsWith('Hello', 'he')", true}, {"startsWith('Hello', 'lo')", false}, {"startsWith(123, 1)", true},
		{"startsWith(event.files, '')", false},
		{"endsWith('Hello', 'LLO')", true}, {"endsWith('Hello', 'he')", false}, {"ENDSWITH('É', 'é')", true},
		{"format('Hello {0} {1} {0}', 'Mona', 3)", "Hello Mona 3 Mona"}, {"format('{{0}}', 1)", "{0}"}, {"format('{{{0}}}', 1)", "{1}"},
		{"format('a')", "a"}, {"format(5)", "5"},
		{"format('{0}{1}{2}', null, true, event.files)", "trueArray"}, {"format('{0}', event.tool)", "Object"},
		{"format('{0}', '{1}')", "{1}"}, {"format('{00}', 'x')", "x"},
		{"join(event.tool.args.list)", "a,B,1,"}, {"join(event.tool.args.list, '')", "aB1"}, {"join('abc', '-')", "abc"},
		{"join(event.tool)", ""}, {"join(fromJSON('[]'))", ""},
		{"join(fromJSON('[[1],{}]'), 0)", "Array0Object"}, {"join(fromJSON('[1,2]'), event.files)", "1,2"},
		{"toJSON(null)", "null"}, {"toJSON('a\"<>&')", `"a\"<>&"`}, {"toJSON(1.50)", "1.5"}, {"toJSON(1e999)", "null"},
		{"toJSON(true)", "true"}, {"toJSON(event.lazy)", `{"deep":7}`},
		{"toJSON(event.tool.args.obj)", `{"K":1,"k2":"x"}`},
		{"toJSON(fromJSON(' { \"b\" : [1, {}], \"a\" : null } '))", `{"a":null,"b":[1,{}]}`}, {"toJSON(env)", `{"A":"one","B_C":"two"}`},
		{"fromJSON('true')", true}, {"fromJSON('1')", 1.0}, {"fromJSON('\"x\"')", "x"}, {"fromJSON('null')", nil},
		{"fromJSON('{\"a\":{\"B\":2}}').A.b", 2.0}, {"fromJSON(5)", 5.0},
		{"success()", true}, {"failure()", false}, {"always()", true}, {"cancelled()", false}, {"SUCCESS ( )", true},
		{"matches('foobar', 'o+b')", true}, {"matches('foobar', '^bar')", false}, {"matches('FOO', 'foo')", false},
		{"matches('FOO', '(?i)foo')", true}, {"matches(42, '^4')", true}, {"matches(null, '^$')", true},
		{"glob('src/**', 'src/a/b')", true}, {"glob('src/**', 'lib/a')", false}, {"glob('*', 'a/b')", false},
		{"glob('**/*.go', 'x.go')", true},
		{"basename('a/b.go')", "b.go"}, {"basename('')", ""}, {"basename('a/b/')", "b"}, {"dirname('a/b.go')", "a"}, {"dirname('a')", "."},
		{"dirname('/a')", "/"}, {"ext('a/b.tar.gz')", ".gz"}, {"ext('a.b/c')", ""},
		{"lower('ÀB')", "àb"}, {"upper('àb')", "ÀB"}, {"trim(' a b\n')", "a b"}, {"length('aé')", 2.0}, {"length(event.files)", 3.0},
		{"length(event.tool.args.obj)", 2.0}, {"length(null)", 0.0}, {"length(event.files.*.path)", 2.0},
	})
}

func TestNumbersAsText(t *testing.T) {
	for _, tt := range []struct {
		f    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {1, "1"}, {-1.5, "-1.5"}, {0.1, "0.1"}, {1e20, "100000000000000000000"}, {1e21, "1e+21"},
		{1e-6, "0.000001"}, {1e-7, "1e-7"}, {1.5e-10, "1.5e-10"},
		{1795253522072, "1795253522072"}, {math.NaN(), "NaN"}, {math.Inf(1), "Infinity"}, {math.Inf(-1), "-Infinity"},
		{1.0 / 3, "0.3333333333333333"},
	} {
		if got := ToText(tt.f); got != tt.want {
			t.Errorf("%g: got %s, want %s", tt.f, got, tt.want)
		}
	}
}

func TestTruthy(t *testing.T) {
	for _, v := range []Value{nil, false, 0.0, math.Copysign(0, -1), math.NaN(), "", 0, json.Number("0"), Lazy(func() any { return "" })} {
		if Truthy(v) {
			t.Errorf("%#v must be false", v)
		}
	}
	for _, v := range []Value{true, 1.0, -1, "0", "false", " ", []any{}, map[string]any{}, []string(nil), Lazy(func() any { return 1 })} {
		if !Truthy(v) {
			t.Errorf("%#v must be true", v)
		}
	}
}

// Load-time errors say where.
func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		src  string
		off  int
		want string
	}{
		{"", 0, "empty"}, {"  \n", 3, "empty"},
		{"foo", 0, `unknown name "foo"`}, {"event.x == github.actor", 11, `unknown name "github"`}, {"secrets.x", 0, "unknown name"},
		{"NaN", 0, "unknown name"}, {"Infinity", 0, "unknown name"},
		{"true && nope('a')", 8, `unknown function "nope"`}, {"true()", 0, "unknown function"}, {"event()", 0, "unknown function"},
		{"contains('a')", 0, "contains takes 2 arguments, not 1"}, {"1 == endsWith('a','b','c')", 5, "endsWith takes 2 arguments, not 3"},
		{"always(1)", 0, "always takes no arguments, not 1"},
		{"format()", 0, "format takes at least 1 argument, not 0"}, {"join(1,2,3)", 0, "join takes 1 to 2 arguments, not 3"},
		{"transcript(1,2)", 0, "transcript takes 0 to 1 argument, not 2"}, {"lower()", 0, "lower takes 1 argument, not 0"},
		{"event.tool.name == \"bash\"", 19, "double quotes"}, {"\"a", 0, "double quotes"},
		{"'abc", 0, "not closed by a single quote"}, {"1 == 'it's'", 9, `unexpected "s" after`}, {"'a' == 'b", 7, "not closed"},
		{"1 2", 2, `unexpected "2" after the expression`}, {"event.name event.cwd", 11, "after the expression"},
		{"(1))", 3, `unexpected ")" after`}, {"true false", 5, "after the expression"},
		{"(1", 2, `unexpected the end of the expression where ")" closes the group`}, {"event[1", 7, `where "]" closes the index`},
		{"event[]", 6, "where a value is expected"}, {"event.", 6, "property name"}, {"event.1", 6, "property name"},
		{"event..x", 6, "property name"}, {"event.'x'", 6, "property name"}, {"contains('a' 'b')", 13, `"," or ")"`},
		{"contains('a',)", 13, "where a value is expected"}, {"contains(,'a')", 9, "where a value"}, {"lower('a'", 9, `"," or ")"`},
		{"()", 1, "where a value is expected"}, {"!", 1, "where a value"}, {"1 ==", 4, "where a value"}, {"== 1", 0, "where a value"},
		{"1 && || 2", 5, "where a value"}, {"*", 0, "where a value"}, {"event.files.*.", 14, "property name"},
		{"a = b", 2, `the operator is "=="`}, {"1 & 2", 2, `the operator is "&&"`}, {"1 | 2", 2, `the operator is "||"`},
		{"1 + 2", 2, "no arithmetic"}, {"1-2", 0, `malformed number "1-2"`}, {"1 / 2", 2, "no arithmetic"}, {"2 % 1", 2, "no arithmetic"},
		{"2 * 1", 2, "after the expression"},
		{"1a", 0, "malformed number"}, {"1.2.3", 0, "malformed number"}, {"0x", 0, "malformed number"}, {"0xg", 0, "malformed number"},
		{"1e", 0, "malformed number"}, {"-", 0, "no arithmetic"}, {"1_0", 0, "malformed number"}, {"-0x1", 0, "malformed number"},
		{"--1", 0, "malformed number"}, {"0x_f", 0, "malformed number"},
		{"'a'.b", 3, "has no properties"}, {"true.x", 4, "has no properties"}, {"'a'[0]", 3, "has no properties"},
		{"null.*", 4, "has no properties"},
		{"event.name }}", 11, `unexpected character '}'`}, {"${{ 1 }}", 0, `"${{" inside an expression`},
		{"a ? b", 2, `unexpected character '?'`}, {"é", 0, `unexpected character 'é'`}, {"1\u00a0", 1, "unexpected character"},
		{"event\x00", 5, "unexpected character"},
		{strings.Repeat("(", 201) + "1" + strings.Repeat(")", 201), 200, "nested more than 200 deep"},
		{strings.Repeat("!", 201) + "1", 200, "nested more than"}, {strings.Repeat("lower(", 201) + "1", 1205, "nested more than"},
		{strings.Repeat("event[", 201) + "1", 1205, "nested more than"},
	} {
		_, err := Parse(tt.src)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, tt.want) || e.Offset != tt.off {
			t.Errorf("%.60q: got %v, want offset %d and %q", tt.src, err, tt.off, tt.want)
		}
	}
}

func TestDepthAllowed(t *testing.T) {
	src := "!!" + strings.Repeat("(", 198) + "1" + strings.Repeat(")", 198)
	if v := eval(t, src, nil); v != true {
		t.Errorf("got %v", v)
	}
	wide := "0" + strings.Repeat(" || (!1)", 5000)
	if v := eval(t, wide, nil); v != false {
		t.Errorf("a long chain is not deep: got %v", v)
	}
}

func TestIf(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want Value
	}{
		{"1 == 1", true}, {"${{ 1 == 1 }}", true}, {"  ${{1}}\n", 1.0}, {"${{ 'a }} b' == 'a }} b' }}", true},
		{"contains('${{', '$')", true}, {"'${{ x }}' == ''", false}, {"${{ '${{' }}", "${{"}, {"${{\n true\n &&\n 'x' }}", "x"},
	} {
		e, err := ParseIf(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		if v, err := e.Eval(nil); err != nil || v != tt.want {
			t.Errorf("%s: got %v, %v", tt.src, v, err)
		}
	}
	for _, tt := range []struct {
		src  string
		off  int
		want string
	}{
		{"${{ false }} || ${{ true }}", 13, "unexpected text after ${{ }}"}, {"${{ true }} x", 12, "unexpected text"},
		{"x ${{ true }}", 2, `"${{" inside`}, {"${{ }}", 4, "empty"}, {"${{}}", 3, "empty"}, {"", 0, "empty"}, {"   ", 3, "empty"},
		{"${{ true", 8, `not closed by "}}"`}, {"${{ 'a }}", 4, "not closed by a single quote"},
		{"${{ true } }", 9, "unexpected character '}'"}, {"${{ ${{ 1 }} }}", 4, `"${{" inside`}, {"${{ 1 }}}}", 8, "unexpected text"},
		{"$ {{ 1 }}", 0, "unexpected character '$'"},
	} {
		_, err := ParseIf(tt.src)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, tt.want) || e.Offset != tt.off {
			t.Errorf("%q: got %v, want offset %d and %q", tt.src, err, tt.off, tt.want)
		}
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"", ""}, {"plain $x {{ }} }}", "plain $x {{ }} }}"}, {"${{ event.name }}", "preToolUse"},
		{"a ${{ 1 }}${{ null }}b ${{ event.files }}, ${{ event.tool }}", "a 1b Array, Object"},
		{"${{ 'a }} b' }}!", "a }} b!"}, {"$${{ 'x' }}}", "$x}"}, {"é${{\n'é'\n}}", "éé"}, {"${{ '${{ 1 }}' }}", "${{ 1 }}"},
	} {
		x, err := ParseText(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		if got, err := x.Eval(facts()); err != nil || got != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.src, got, err, tt.want)
		}
	}
	x, err := ParseText("ab ${{ 1 }} c${{2}}")
	if err != nil {
		t.Fatal(err)
	}
	var offsets []string
	for _, p := range x.Parts {
		offsets = append(offsets, fmt.Sprintf("%d %q %v", p.Offset, p.Lit, p.Expr != nil))
	}
	want := []string{`0 "ab " false`, `3 "" true`, `11 " c" false`, `13 "" true`}
	if diff := cmp.Diff(want, offsets); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		src  string
		off  int
		want string
	}{{"ab ${{ foo }}", 7, "unknown name"}, {"x ${{ 1", 7, "not closed"}, {"${{ 1 }} ${{ }}", 13, "empty"},
		{"a ${{ 1 2 }}", 8, "after the expression"}} {
		_, err := ParseText(tt.src)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, tt.want) || e.Offset != tt.off {
			t.Errorf("%q: got %v, want offset %d and %q", tt.src, err, tt.off, tt.want)
		}
	}
}

func TestRunTimeErrors(t *testing.T) {
	for _, tt := range []struct {
		src  string
		off  int
		want string
	}{
		{"true && fromJSON('{nope')", 8, "fromJSON: invalid character"}, {"fromJSON('')", 0, "fromJSON: unexpected end"},
		{"fromJSON(null)", 0, "fromJSON"}, {"fromJSON('1 2')", 0, "fromJSON"},
		{"format('{1}', 'a')", 0, "{1} asks for an argument that is not there"}, {"format('{0}')", 0, "not there"},
		{"format('{99999999999999999999}', 1)", 0, "not there"},
		{"format('{', 1)", 0, "malformed format string at its offset 0"}, {"format('a}', 1)", 0, "offset 1"},
		{"format('{a}', 1)", 0, "malformed"}, {"format('{0', 1)", 0, "malformed"}, {"format('{ 0 }', 1)", 0, "malformed"},
		{"format('{0:x}', 1)", 0, "malformed"}, {"format('{-1}', 1)", 0, "malformed"},
		{"matches('a', '(')", 0, "malformed regex: missing closing ): `(`"}, {"matches('a', '(?=b)')", 0, "malformed regex"},
		{"glob('[', 'a')", 0, "glob: malformed glob"},
		{"hashFiles('**')", 0, "hashFiles: there are no files here"}, {"transcript()", 0, "transcript: there is no session record here"},
	} {
		e, err := Parse(tt.src)
		if err != nil {
			t.Errorf("%s: must parse, got %v", tt.src, err)
			continue
		}
		_, err = e.Eval(nil)
		var at *Error
		if !errors.As(err, &at) || !strings.Contains(at.Msg, tt.want) || at.Offset != tt.off {
			t.Errorf("%s: got %v, want offset %d and %q", tt.src, err, tt.off, tt.want)
		}
	}
}

// An expression of a few hundred bytes must not fill the memory.
func TestWorkIsBounded(t *testing.T) {
	bomb := "'aaaaaaaaaaaaaaaa'"
	for range 60 {
		bomb = "format('{0}{0}{0}{0}{0}{0}{0}{0}', " + bomb + ")"
	}
	list := "fromJSON('[" + strings.Repeat("1,", 1000) + "1]')"
	long := "'" + strings.Repeat("x", 1<<17) + "'"
	for _, src := range []string{bomb, "join(" + list + ", " + long + ")", "length(toJSON(" + bomb + "))"} {
		e, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = e.Eval(nil); err == nil || !strings.Contains(err.Error(), "builds more than 64 MiB") {
			t.Errorf("%.40s: got %v", src, err)
		}
	}
	x, err := ParseText(strings.Repeat("${{ env.big }}", 200))
	if err != nil {
		t.Fatal(err)
	}
	_, err = x.Eval(&Env{Contexts: map[string]Value{"env": map[string]string{"big": strings.Repeat("x", 1<<20)}}})
	if err == nil || !strings.Contains(err.Error(), "builds more than") {
		t.Errorf("text: got %v", err)
	}
}

func TestEnvFunctions(t *testing.T) {
	env := &Env{
		Status: func(name string) bool { return name == "failure" },
		Transcript: func(fn, re string) (Value, error) {
			if fn == "transcript_count" {
				return 2, nil
			}
			return fn + ":" + re, nil
		},
		HashFiles: func(patterns []string) (string, error) { return strings.Join(patterns, "+"), nil },
		Glob:      func(pattern, s string) (bool, error) { return pattern == s, nil },
	}
	for _, tt := range []row{
		{"failure()", true}, {"success()", false}, {"always()", false}, {"Transcript()", "transcript:"},
		{"transcript('a')", "transcript:a"}, {"transcript_since('b')", "transcript_since:b"},
		{"transcript_last('c')", "transcript_last:c"},
		{"transcript_count('x') > 1", true}, {"hashFiles('a', 1)", "a+1"}, {"glob('*', 'a')", false}, {"glob('*', '*')", true},
	} {
		if diff := cmp.Diff(tt.want, eval(t, tt.src, env)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.src, diff)
		}
	}
}

func TestLook(t *testing.T) {
	for _, tt := range []struct {
		src    string
		roots  []string
		status bool
	}{
		{"1", []string{}, false}, {"event", []string{"event"}, false},
		{"event.push.ref == event['Push']['x'] && ENV.a", []string{"env.a", "event.push"}, false},
		{"event[env.x].y", []string{"env.x", "event"}, false}, {"event.*.x", []string{"event"}, false},
		{"contains(toJSON(event), steps.a.outcome)", []string{"event", "steps.a"}, false},
		{"(event).file.path", []string{"event.file"}, false}, {"event.file && event", []string{"event", "event.file"}, false},
		{"!(lower(failure()))", []string{}, true}, {"event[always()]", []string{"event"}, true},
		{"1 == 2 || 3 < success()", []string{}, true},
	} {
		e, err := Parse(tt.src)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.roots, e.Roots(), cmp.Comparer(slices.Equal[[]string])); diff != "" {
			t.Errorf("%s: roots (-want +got):\n%s", tt.src, diff)
		}
		if got := e.UsesStatus(); got != tt.status {
			t.Errorf("%s: UsesStatus %v", tt.src, got)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"matches(event.name, '(')", "0 matches: malformed regex"}, {"matches('(', event.name)", ""}, {"matches('(', 'a')", ""},
		{"1 == 1 && glob('a[', event.name)", "10 glob: malformed glob"}, {"glob(event.x, '[')", ""},
		{"transcript_count('(')", "0 transcript_count: malformed regex"}, {"transcript()", ""},
		{"hashFiles('ok', '{')", "hashFiles: entry 1: malformed glob"}, {"hashFiles('!**/x', event.y)", ""},
		{"format('{1}', event.x)", ""}, {"fromJSON('{')", ""}, {"lower(event.x)", ""},
	} {
		e, err := Parse(tt.src)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range e.Check() {
			got += fmt.Sprintf("%d %s\n", e.Offset, e.Msg)
		}
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.src, got, tt.want)
		}
	}
}

// Lazy facts are asked for only where an expression needs them.
func TestLazyStaysLazy(t *testing.T) {
	asked := 0
	env := &Env{Contexts: map[string]Value{"event": map[string]any{
		"name": "x", "push": Lazy(func() any { asked++; return map[string]any{"ref": "refs/heads/main"} }),
	}}}
	for _, src := range []string{"event.name == 'y' && event.push.ref", "length(event)", "event != null", "event.tool.name"} {
		eval(t, src, env)
	}
	if asked != 0 {
		t.Errorf("the lazy member was computed %d times", asked)
	}
	if v := eval(t, "event.push.ref", env); v != "refs/heads/main" || asked != 1 {
		t.Errorf("got %v after %d calls", v, asked)
	}
}

func TestOneExpressionManyGoroutines(t *testing.T) {
	e, err := Parse("matches(env.x, env.re) && glob(env.g, env.x)")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				x := fmt.Sprintf("v%d", i)
				v, err := e.Eval(&Env{Contexts: map[string]Value{"env": map[string]string{"x": x, "re": "^" + x + "$", "g": x[:1] + "?"}}})
				if err != nil || v != true {
					t.Errorf("%s: %v, %v", x, v, err)
					return
				}
			}
		})
	}
	wg.Wait()
}
