package glob

import (
	"errors"
	"strings"
	"testing"
)

func TestPathGlobs(t *testing.T) {
	for _, tt := range []struct {
		pattern, yes, no string // names separated by spaces
	}{
		{"*", "a .env a.go", "a/b src/a.go"},
		{"?", "a é", "ab / "},
		{"a?c", "abc aéc", "a/c ac"},
		{"**", "a a/b .git/config a/b/c/d", ""},
		{"secrets/**", "secrets/x secrets/a/b secrets", "secretsfoo/x a/secrets/x secretsfoo"},
		{"**/secrets/**", "secrets/x a/secrets/x a/b/secrets/x/y secrets", "secretsfoo/x asecrets/x"},
		{"src/**/test/**", "src/test/b src/a/test/b.go src/a/b/test/c/d", "src/a/b src/atest/b"},
		{"**/*.go", "a.go x/a.go x/y/.go", "a.gox go"},
		{"**.go", "a.go x/a.go x/y/b.go", "a.gox"},
		{"foo**", "foo foobar foo/bar foobar/x/y", "bar/foo fo"},
		{"foo**/bar", "foo/bar foox/bar foo/x/bar", "foobar bar"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "ab axb a/xb"},
		{"a**b", "ab a/b axx/yyb", "a b"},
		{"a/***/b", "a/b a/x/b", "ab"},
		{"**/**/x", "x a/x a/b/x", "ax"},
		{"a/**/**", "a a/b a/b/c", "ab"},
		{"a/**/*", "a/b a/b/c", "a"},
		{"a/*", "a/b a/.b", "a a/b/c"},
		{"[^a]*.md", "bbc.md é.md ..md", "abc.md .md x/a.md"},
		{"[!a]", "b", "a /"},
		{"[a-c]x", "ax bx cx", "dx Ax"},
		{"[a-]x", "ax -x", "bx"},
		{"[-a]x", "ax -x", "bx"},
		{`[\]a]`, "] a", "b"},
		{`[^\]]`, "[ a", "]"},
		{"[/]", "", "/"},
		{"[:a]", ": a", "b"},
		{"*.{js,ts}", "a.js a.ts", "a.jsx a.j"},
		{"{a,b}/{c,d}", "a/c b/d", "a/b c/d"},
		{"{src,lib}/**", "src lib src/a lib/a/b", "srcx"},
		{"{**/,}x", "x a/x", "ax"},
		{"{**,q}/x", "x a/x q/x a/b/x", "ax"},
		{"a{/**,}", "a a/b a/b/c", "ab"},
		{"{a,{b,c}d}", "a bd cd", "b c d"},
		{"x{}y", "xy", "x y"},
		{"{a..c}", "a..c", "a b"},
		{"a,b", "a,b", "a b"},
		{"]", "]", "["},
		{`\*`, "*", "a"},
		{`\{a\}`, "{a}", "a"},
		{`a\b`, "ab", `a\b`},
		{"!a", "!a", "a b"},
		{"é*", "é éa", "e"},
		{"\xff*", "\xff \xffa", "\xfe \uFFFD"},
		{"release/**-alpha", "release/1-alpha release/a/b-alpha release/-alpha", "release/1 release"},
		{"v[0-9]*", "v1 v1.2", "v vx v1/2"},
		{"/etc/**", "/etc/passwd /etc", "etc/passwd"},
		{"a b", "", "a b"},
	} {
		p, err := Compile(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		for _, s := range strings.Fields(tt.yes) {
			if !p.Match(s) {
				t.Errorf("%q must match %q", tt.pattern, s)
			}
		}
		for _, s := range strings.Split(tt.no, " ") {
			if tt.no != "" && p.Match(s) {
				t.Errorf("%q must not match %q", tt.pattern, s)
			}
		}
	}
}

func TestArgumentGlobs(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{"*", []string{"", "a", "a/b", "a b\nc"}, nil},
		{"rm *", []string{"rm -rf /", "rm a\nb"}, []string{"rm", "xrm a"}},
		{"*secret*", []string{"secret", "a/secret/b", "my secrets"}, []string{"Secret", "secre t"}},
		{"src/**/x", []string{"src/x", "src/a/x", "src/a/b/x"}, []string{"srcx"}},
		{"**/x", []string{"x", "a/x", "/a/x"}, []string{"ax"}},
		{"rm **/x", []string{"rm x", "rm a/b/x"}, []string{"rm ax"}},
		{"a?b", []string{"a/b", "axb"}, []string{"ab"}},
		{"a[!x]b", []string{"a/b"}, []string{"axb"}},
		{"a/**", []string{"a/", "a/b"}, []string{"a"}},
		{"{git,hub} push*", []string{"git push", "hub push x/y"}, []string{"git pull"}},
		{"3", []string{"3"}, []string{"30", "3.0"}},
	} {
		p, err := CompileArg(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		for _, s := range tt.yes {
			if !p.Match(s) {
				t.Errorf("argument glob %q must match %q", tt.pattern, s)
			}
		}
		for _, s := range tt.no {
			if p.Match(s) {
				t.Errorf("argument glob %q must not match %q", tt.pattern, s)
			}
		}
	}
}

func TestNameGlobs(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"bash", "bash", true}, {"bash", "Bash", false}, {"github-*", "github-create_issue", true}, {"*", "a/b", true},
		{"str_replace_edit??", "str_replace_editor", true}, {"a[b]", "a[b]", true}, {"a{b,c}", "ab", false}, {`a\*`, `a\x`, true},
	} {
		p, err := CompileName(tt.pattern)
		if err != nil {
			t.Fatalf("%s: %v", tt.pattern, err)
		}
		if got := p.Match(tt.s); got != tt.want {
			t.Errorf("name glob %q on %q: got %v, want %v", tt.pattern, tt.s, got, tt.want)
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, tt := range []struct{ pattern, want string }{
		{"", "may not be empty"},
		{"[a", `"[" at offset 0 is not closed`},
		{"x[", `"[" at offset 1 is not closed`},
		{"[^", "is not closed"},
		{`[\`, "is not closed"},
		{"[a-", "is not closed"},
		{`[a-\`, "is not closed"},
		{"[]", "brackets are empty"},
		{"[]a]", "brackets are empty"},
		{"[!]", "brackets are empty"},
		{"[z-a]", "runs backwards"},
		{"[[:alpha:]]", "named classes"},
		{"{a,b", `"{" at offset 0 is not closed`},
		{"{a,{b}", `"{" at offset 0 is not closed`},
		{"a}", `"}" at offset 1 closes nothing`},
		{`a\`, "nothing follows the last backslash"},
		{strings.Repeat("a", maxPattern+1), "longer than 4096 bytes"},
		{strings.Repeat("{", maxNesting+1) + strings.Repeat("}", maxNesting+1), "more than 200 braces inside each other"},
	} {
		for name, compile := range map[string]func(string) (Pattern, error){"Compile": Compile, "CompileArg": CompileArg} {
			_, err := compile(tt.pattern)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s(%.20q): got %v, want an error with %q", name, tt.pattern, err, tt.want)
			}
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("%s(%.20q): the error repeats the whole pattern", name, tt.pattern)
			}
		}
	}
}

func TestFoldCase(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"Secrets/**", "sECRETS/X", true},
		{"É*", "éa", true},
		{"[a-c]x", "BX", true},
		{"[^a-c]x", "BX", false},
		{"*.KEY", "a.key", true},
		{"ab", "a", false},
		{"ab", "ax", false},
	} {
		p, err := Compile(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.FoldCase().Match(tt.s); got != tt.want {
			t.Errorf("%q ignoring case on %q: got %v, want %v", tt.pattern, tt.s, got, tt.want)
		}
		if p.Match(tt.s) {
			t.Errorf("%q must still tell cases apart (%q)", tt.pattern, tt.s)
		}
	}
	if (Pattern{}).FoldCase().Match("") {
		t.Error("the zero pattern matches")
	}
}

func list(t testing.TB, entries ...string) List {
	t.Helper()
	l, err := CompileList(entries)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestListLastMatchWins(t *testing.T) {
	for _, tt := range []struct {
		entries []string
		s       string
		want    bool
	}{
		{nil, "a", false},
		{[]string{"src/**"}, "src/a", true},
		{[]string{"src/**", "!src/gen/**"}, "src/gen/a", false},
		{[]string{"src/**", "!src/gen/**", "src/gen/keep"}, "src/gen/keep", true},
		{[]string{"!src/gen/**", "src/**"}, "src/gen/a", true},
		{[]string{"!docs/**"}, "src/a", false},
		{[]string{`\!a`}, "!a", true},
		{[]string{"releases/**", "!releases/**-alpha"}, "releases/1/2-alpha", false},
		{[]string{"releases/**", "!releases/**-alpha"}, "releases/1/2", true},
	} {
		if got := list(t, tt.entries...).Match([]string{tt.s}, tt.s); got != tt.want {
			t.Errorf("%q on %q: got %v, want %v", tt.entries, tt.s, got, tt.want)
		}
		if got := list(t, tt.entries...).Ignores(tt.s); got != tt.want {
			t.Errorf("%q as an ignore list on %q: got %v, want %v", tt.entries, tt.s, got, tt.want)
		}
	}
}

// Another spelling of a path must not open a rule: contract section 4.2.4.
func TestListCandidates(t *testing.T) {
	for _, tt := range []struct {
		name       string
		entries    []string
		candidates []string
		canonical  string
		want       bool
		ignored    bool
	}{
		{"a link's own name is guarded", []string{"guarded/**"}, []string{"real/x", "guarded/x"}, "real/x", true, false},
		{"a link's own name does not excuse", []string{"**", "!free/**"}, []string{"real/x", "free/x"}, "real/x", true, true},
		{"the canonical name excuses", []string{"**", "!free/**"}, []string{"real/x", "free/x"}, "free/x", false, false},
		{"absolute entry, absolute candidate", []string{"/srv/**"}, []string{"srv/x", "/srv/x"}, "srv/x", true, false},
		{"absolute entry, relative candidate only", []string{"/srv/**"}, []string{"srv/x"}, "srv/x", false, false},
		{"relative entry, not the directories above the root", []string{"**/me/**"}, []string{"x", "/home/me/x"}, "x", false, false},
		{"outside of the root, canonical is absolute", []string{"**/*.conf"}, []string{"etc/a.conf"}, "/etc/a.conf", true, true},
		{"relative negation outside of the root", []string{"**", "!etc/**"}, []string{"etc/a.conf"}, "/etc/a.conf", true, true},
		{"negation anywhere, outside of the root", []string{"**", "!**/etc/**"}, []string{"etc/a.conf"}, "/etc/a.conf", false, false},
		{"absolute negation outside of the root", []string{"**", "!/etc/**"}, []string{"etc/a.conf"}, "/etc/a.conf", false, false},
		{"drive", []string{"C:/x/**"}, []string{"C:/x/y"}, "C:/x/y", true, true},
	} {
		l := list(t, tt.entries...)
		if got := l.Match(tt.candidates, tt.canonical); got != tt.want {
			t.Errorf("%s: Match got %v, want %v", tt.name, got, tt.want)
		}
		if got := l.Ignores(tt.canonical); got != tt.ignored {
			t.Errorf("%s: Ignores got %v, want %v", tt.name, got, tt.ignored)
		}
	}
}

func TestListErrors(t *testing.T) {
	l, err := CompileList([]string{"a/**", "!b[", "c", "!"})
	var first *ListError
	if !errors.As(err, &first) || first.Index != 1 {
		t.Fatalf("got %v, want the second entry named first", err)
	}
	for _, want := range []string{"entry 2: malformed glob", "entry 4: a glob may not be empty"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	if !l.Match([]string{"a/x"}, "a/x") || !l.Match([]string{"c"}, "c") {
		t.Error("the good entries must stay in force")
	}
}

func TestOnlyNegations(t *testing.T) {
	for _, tt := range []struct {
		entries []string
		want    bool
	}{{nil, false}, {[]string{"!a"}, true}, {[]string{"!a", "b"}, false}, {[]string{"!a", "!b"}, true}} {
		if got := list(t, tt.entries...).OnlyNegations(); got != tt.want {
			t.Errorf("%q: got %v", tt.entries, got)
		}
	}
}

func TestExpandHome(t *testing.T) {
	for _, tt := range []struct{ entry, home, want string }{
		{"~/x/**", "/home/me", "/home/me/x/**"},
		{"!~/x", "/home/me", "!/home/me/x"},
		{"a/~/x", "/home/me", "a/~/x"},
		{"~x", "/home/me", "~x"},
		{"~/x", "", "~/x"},
		{"~/x", "/home/[me]", `/home/\[me\]/x`},
	} {
		if got := ExpandHome(tt.entry, tt.home); got != tt.want {
			t.Errorf("ExpandHome(%q, %q) = %q, want %q", tt.entry, tt.home, got, tt.want)
		}
	}
	l := list(t, ExpandHome("~/.ssh/**", "/home/a*b,{c}"))
	if !l.Match([]string{"/home/a*b,{c}/.ssh/id"}, "x") || l.Match([]string{"/home/axb,c/.ssh/id"}, "x") {
		t.Error("a home with special characters must stand for itself")
	}
}

func TestListFoldCase(t *testing.T) {
	l := list(t, "**", "!Docs/**").FoldCase()
	if l.Match([]string{"dOCS/a"}, "dOCS/a") || !l.Match([]string{"src"}, "src") {
		t.Error("the list does not ignore case")
	}
}
