package glob

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// The reference is the definition in words, with no regard for time: expand the braces, then try every split.

// seam marks in an expanded pattern where a brace was: stars on its two sides stay two.
const seam = "\x00"

// expand writes a pattern as the patterns without braces that it stands for.
func expand(pattern string) []string {
	depth, start := 0, -1
	var cuts []int
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			for i++; pattern[i] != ']'; i++ {
				if pattern[i] == '\\' {
					i++
				}
			}
		case '{':
			if depth++; depth == 1 {
				start, cuts = i, []int{i}
			}
		case ',':
			if depth == 1 {
				cuts = append(cuts, i)
			}
		case '}':
			if depth--; depth > 0 {
				continue
			}
			var out []string
			for k, c := range append(cuts, i)[:len(cuts)] {
				end := i
				if k+1 < len(cuts) {
					end = cuts[k+1]
				}
				out = append(out, expand(pattern[:start]+seam+pattern[c+1:end]+seam+pattern[i+1:])...)
			}
			return out
		}
	}
	return []string{pattern}
}

// refers reports a match of a pattern without braces; at is the character before s, or "/" at the start.
func refers(pattern, s string, at byte, whole dialect) bool {
	pattern = strings.TrimLeft(pattern, seam)
	if pattern == "" {
		return s == ""
	}
	free := func(c rune) bool { return c != '/' || whole == args }
	rest := strings.TrimLeft(pattern, "*")
	switch stars := len(pattern) - len(rest); {
	case stars > 1:
		if after, ok := strings.CutPrefix(strings.TrimLeft(rest, seam), "/"); ok && (at == '/' || whole == args) && refers(after, s, at, whole) {
			return true
		}
		for i := 0; i <= len(s); i++ {
			if refers(rest, s[i:], before(s, i, at), whole) {
				return true
			}
		}
		return false
	case stars == 1:
		for i := 0; i <= len(s); i++ {
			if refers(rest, s[i:], before(s, i, at), whole) {
				return true
			}
			if i < len(s) && !free(rune(s[i])) {
				return false
			}
		}
		return false
	}
	if s == "" {
		after, ok := strings.CutPrefix(pattern, "/")
		after = strings.TrimLeft(after, seam)
		tail := strings.TrimLeft(after, "*")
		return ok && whole == paths && len(after)-len(tail) > 1 && refers(tail, "", at, whole)
	}
	c, size := utf8.DecodeRuneInString(s)
	next := func(n int) bool { return refers(pattern[n:], s[size:], s[size-1], whole) }
	switch pattern[0] {
	case '?':
		return free(c) && next(1)
	case '[':
		in, n := inBrackets(pattern, c)
		return free(c) && in && next(n)
	case '\\':
		p, n := utf8.DecodeRuneInString(pattern[1:])
		return p == c && next(1+n)
	}
	p, n := utf8.DecodeRuneInString(pattern)
	return p == c && next(n)
}

func before(s string, i int, at byte) byte {
	if i == 0 {
		return at
	}
	return s[i-1]
}

func inBrackets(pattern string, c rune) (in bool, size int) {
	i := 1
	negated := pattern[i] == '!' || pattern[i] == '^'
	if negated {
		i++
	}
	read := func() rune {
		if pattern[i] == '\\' {
			i++
		}
		r, n := utf8.DecodeRuneInString(pattern[i:])
		i += n
		return r
	}
	for pattern[i] != ']' {
		lo := read()
		hi := lo
		if pattern[i] == '-' && pattern[i+1] != ']' {
			i++
			hi = read()
		}
		in = in || lo <= c && c <= hi
	}
	return in != negated, i + 1
}

func reference(pattern, s string, d dialect) bool {
	for _, p := range expand(pattern) {
		if refers(p, s, '/', d) {
			return true
		}
	}
	return false
}

// made writes a random pattern and a name that it may well match.
type made struct{ *rand.Rand }

func (m made) pick(of ...string) string { return of[m.IntN(len(of))] }

func (m made) pattern(depth int) string {
	var b strings.Builder
	for range 1 + m.IntN(5) {
		switch m.IntN(12) {
		case 0, 1:
			b.WriteString("*")
		case 2, 3:
			b.WriteString("**")
		case 4, 5, 6:
			b.WriteString("/")
		case 7:
			b.WriteString(m.pick("?", "[ab]", "[!a]", "[^b-z]", "[a-b/]", `[\]a]`, `\*`, `\a`, "***"))
		case 8:
			if depth > 0 {
				b.WriteString("{" + m.pattern(depth-1) + "," + m.pick("", "a", m.pattern(depth-1)) + "}")
				break
			}
			fallthrough
		default:
			b.WriteString(m.pick("a", "b", "ab", "é", ".a"))
		}
	}
	return b.String()
}

func (m made) name() string {
	var b strings.Builder
	for range m.IntN(7) {
		b.WriteString(m.pick("a", "b", "/", "/", "ab", ".a", "é", "*", "]"))
	}
	return b.String()
}

func TestSameAsReference(t *testing.T) {
	m := made{rand.New(rand.NewPCG(5, 0))}
	hits := 0
	for range 60_000 {
		pattern, s := m.pattern(2), m.name()
		for d, compile := range map[dialect]func(string) (Pattern, error){paths: Compile, args: CompileArg} {
			p, err := compile(pattern)
			if err != nil {
				t.Fatalf("%q: %v", pattern, err)
			}
			want := reference(pattern, s, d)
			if got := p.Match(s); got != want {
				t.Errorf("%q on %q (dialect %d): got %v, want %v", pattern, s, d, got, want)
			}
			if want {
				hits++
			}
		}
	}
	if hits < 5000 {
		t.Errorf("only %d of the names match: the generator misses", hits)
	}
}

// doublestar agrees where a "**" is a whole segment and not the last one, and classes leave "/" alone. (For it "a/**" matches "a",
// but "a*/**" and "a/**/**" do not.)
func TestSameAsDoublestar(t *testing.T) {
	m := made{rand.New(rand.NewPCG(6, 0))}
	segments := []string{"**", "*", "a", "?", "a*", "*b", "[ab]", "[!/a]", ".a", "{a,b}", "x{,y}", "é"}
	hits := 0
	for range 60_000 {
		var parts []string
		for range m.IntN(4) {
			parts = append(parts, m.pick(segments...))
		}
		parts = append(parts, m.pick(segments[1:]...))
		pattern, s := strings.Join(parts, "/"), strings.Trim(m.name(), "/")
		if s == "" || strings.Contains(s, "//") {
			continue
		}
		want, err := doublestar.Match(pattern, s)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		p, err := Compile(pattern)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		if got := p.Match(s); got != want {
			t.Errorf("%q on %q: got %v, doublestar says %v", pattern, s, got, want)
		}
		if want {
			hits++
		}
	}
	if hits < 2000 {
		t.Errorf("only %d of the names match: the generator misses", hits)
	}
}

// Patterns made to backtrack cost time in proportion, not without end.
func TestHostilePatterns(t *testing.T) {
	for _, tt := range []struct{ pattern, s string }{
		{strings.Repeat("*a", 30) + "b", strings.Repeat("a", 2000)},
		{strings.Repeat("**/", 60) + "b", strings.Repeat("a/", 2000)},
		{strings.Repeat("{a,aa}", 300) + "b", strings.Repeat("a", 1000)},
		{strings.Repeat("{**/,}", 100) + "b", strings.Repeat("a/", 500)},
		{strings.Repeat("{", 200) + "a" + strings.Repeat(",a}", 200), "b"},
	} {
		done := make(chan bool, 1)
		go func() {
			p, err := Compile(tt.pattern)
			done <- err == nil && !p.Match(tt.s)
		}()
		select {
		case ok := <-done:
			if !ok {
				t.Errorf("%.20q: must compile and not match", tt.pattern)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%.20q runs without end", tt.pattern)
		}
	}
}

var seeds = []string{
	"**/*.go", "src/**", "foo**/bar", "[^a-z]*", "{a,{b,c}/**}", `\*`, "[", "{", "}", "a**b/**", "***",
	"é?", "\xff*", "[[:alpha:]]", "!x", "~/x", "/etc/**", "", `[\]]`, "[z-a]",
}

func FuzzGlob(f *testing.F) {
	for _, p := range seeds {
		f.Add(p, "src/a/b.go")
		f.Add(p, p)
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		start := time.Now()
		for d, compile := range map[dialect]func(string) (Pattern, error){paths: Compile, args: CompileArg, names: CompileName} {
			p, err := compile(pattern)
			if err != nil {
				if p.Match(s) {
					t.Error("a pattern that does not compile matches")
				}
				continue
			}
			got := p.Match(s)
			if negated := strings.Contains(pattern, "[^") || strings.Contains(pattern, "[!"); got && !negated && !p.FoldCase().Match(s) {
				t.Error("ignoring case, less matches")
			}
			if d != names && !strings.Contains(pattern, seam) && len(pattern) < 12 && len(s) < 12 && utf8.ValidString(pattern) && utf8.ValidString(s) {
				if want := reference(pattern, s, d); got != want {
					t.Errorf("%q on %q (dialect %d): got %v, want %v", pattern, s, d, got, want)
				}
			}
		}
		quoted, err := Compile(Quote(s))
		if s != "" && len(s) < 2000 && (err != nil || !quoted.Match(s)) {
			t.Errorf("%q quoted does not match itself: %v", s, err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func FuzzList(f *testing.F) {
	f.Add("src/**\n!src/gen/**\nsrc/gen/keep", "src/gen/a\nlink/a")
	f.Add("!a", "a")
	f.Add("/etc/**\n!etc/x", "etc/x\n/etc/x")
	f.Fuzz(func(t *testing.T, entries, candidates string) {
		lines, names := strings.Split(entries, "\n"), strings.Split(candidates, "\n")
		l, err := CompileList(lines)
		if err == nil && l.OnlyNegations() && l.Match(names, names[0]) {
			t.Error("a list of only negations matches")
		}
		want := false
		for _, e := range l.entries {
			holds := false
			if e.negated {
				holds = e.holds(names[0])
			} else {
				for _, n := range names {
					holds = holds || isAbsolute(n) == e.absolute && e.Pattern.Match(n)
				}
			}
			if holds {
				want = !e.negated
			}
		}
		if got := l.Match(names, names[0]); got != want {
			t.Errorf("%q on %q: got %v, want %v", lines, names, got, want)
		}
		if l.Ignores(names[0]) && len(l.entries) == 0 {
			t.Error("an empty list ignores")
		}
		if err != nil && fmt.Sprint(err) == "" {
			t.Error("an error that says nothing")
		}
	})
}
