package expr

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rhysd/actionlint"
)

// differences is where this parser and actionlint's do not agree on purpose. GitHub's own documentation and runner decide, and contract
// section 7 where it says more. A disagreement that is not in this list is a bug of one of the two.
//
// Shapes differ in one place only: == != bind less than < <= > >= here and group from the left, as in the runner; actionlint has one
// level that groups from the right.
var differences = []struct {
	name string
	// rejected reports that only we reject, and this is why.
	rejected func(msg string) bool
	// accepted is what such a source has that only we accept.
	accepted *regexp.Regexp
}{
	{name: "names and functions are known when parsing (theirs are checked later)", rejected: has("unknown name", "unknown function")},
	{name: "so is the number of arguments", rejected: has(" takes ")},
	{name: "a literal has no properties", rejected: has("has no properties")},
	{name: "nesting has an end", rejected: has("nested more than")},
	{name: `"-0x1" is no number in the runner`, rejected: has(`malformed number "-0x`)},
	{name: "a number runs into a following name or sign", rejected: has("malformed number", "no arithmetic")},
	{name: "octal numbers", accepted: regexp.MustCompile(`0o[0-7]`)},
	{name: "a sign before a number or its exponent, and zeros before it", accepted: regexp.MustCompile(`\+\d|\+\.|[-+]?0\d`)},
	{name: "nothing before or after the decimal point", accepted: regexp.MustCompile(`(^|[^\w.])-?\.\d|\d\.(\D|$)`)},
	{name: "zeros before hexadecimal digits and exponents", accepted: regexp.MustCompile(`0x0|[eE]-?0\d`)},
	{name: "integers beyond 32 bits", accepted: regexp.MustCompile(`\d{10}|0x[0-9a-fA-F]{8}`)},
	{name: "numbers too large are infinite", accepted: regexp.MustCompile(`[eE]\d{3}`)},
	{name: "[*] is the same as .*", accepted: regexp.MustCompile(`\[\s*\*\s*\]`)},
	{name: "any ASCII white space", accepted: regexp.MustCompile(`[\v\f]`)},
	{name: "a string may hold any byte", accepted: regexp.MustCompile(`[^\x01-\x7e]`)},
}

func has(parts ...string) func(string) bool {
	return func(msg string) bool {
		for _, p := range parts {
			if strings.Contains(msg, p) {
				return true
			}
		}
		return false
	}
}

// explained names the intended difference behind a disagreement.
func explained(src string, err error) (string, bool) {
	for _, d := range differences {
		if err != nil && d.rejected != nil {
			var e *Error
			if errors.As(err, &e) && d.rejected(e.Msg) {
				return d.name, true
			}
		}
		if err == nil && d.accepted != nil && d.accepted.MatchString(src) {
			return d.name, true
		}
	}
	return "", false
}

// disagreement compares both parsers on one source; it is empty if they agree or differ as listed.
func disagreement(src string) string {
	ours, err := Parse(src)
	lexer := actionlint.NewExprLexer(src + "}}")
	theirs, theirErr := actionlint.NewExprParser().Parse(lexer)
	if theirErr == nil && lexer.Offset() < len(src) {
		return "" // they stopped at a "}}" inside: not one expression
	}
	switch {
	case (err == nil) != (theirErr == nil):
		if _, ok := explained(src, err); ok {
			return ""
		}
		return fmt.Sprintf("%q: we say %v, actionlint %v", src, err, theirErr)
	case err != nil:
		return ""
	}
	a, b := ourShape(ours.root), theirShape(theirs)
	if a != b && strings.Count(a, "(compare") < 2 {
		return fmt.Sprintf("%q: we read %s, actionlint %s", src, a, b)
	}
	return ""
}

func ourShape(n node) string {
	switch n := n.(type) {
	case *literal:
		if s, ok := n.value.(string); ok {
			return fmt.Sprintf("%q", s)
		}
		if n.value == nil {
			return "null"
		}
		return ToText(n.value)
	case *context:
		return n.name
	case *not:
		return "(! " + ourShape(n.operand) + ")"
	case *logic:
		op := "&&"
		if n.or {
			op = "||"
		}
		return "(" + strings.Join(ourOperands(n, op), " "+op+" ") + ")"
	case *comparison:
		s := ourShape(n.first)
		for _, c := range n.rest {
			s = "(compare " + s + " " + c.op + " " + ourShape(c.x) + ")"
		}
		return s
	case *access:
		s := ourShape(n.base)
		for _, a := range n.path {
			if a.all {
				s += ".*"
			} else {
				s += "[" + indexShape(ourShape(a.index)) + "]"
			}
		}
		return s
	case *call:
		var args []string
		for _, a := range n.args {
			args = append(args, ourShape(a))
		}
		return strings.ToLower(n.fn.name) + "(" + strings.Join(args, ", ") + ")"
	}
	return "?"
}

func ourOperands(n *logic, op string) []string {
	var out []string
	for _, x := range n.operands {
		if inner, ok := x.(*logic); ok && inner.or == n.or {
			out = append(out, ourOperands(inner, op)...)
			continue
		}
		out = append(out, ourShape(x))
	}
	return out
}

// indexShape writes .a and ['a'] the same way: names ignore case.
func indexShape(s string) string {
	if strings.HasPrefix(s, `"`) {
		return strings.ToLower(s)
	}
	return s
}

func theirShape(n actionlint.ExprNode) string {
	switch n := n.(type) {
	case *actionlint.NullNode:
		return "null"
	case *actionlint.BoolNode:
		return fmt.Sprint(n.Value)
	case *actionlint.IntNode:
		return numberText(float64(n.Value))
	case *actionlint.FloatNode:
		return numberText(n.Value)
	case *actionlint.StringNode:
		return fmt.Sprintf("%q", n.Value)
	case *actionlint.VariableNode:
		return n.Name
	case *actionlint.NotOpNode:
		return "(! " + theirShape(n.Operand) + ")"
	case *actionlint.LogicalOpNode:
		op := map[actionlint.LogicalOpNodeKind]string{actionlint.LogicalOpNodeKindAnd: "&&", actionlint.LogicalOpNodeKindOr: "||"}[n.Kind]
		return "(" + strings.Join(theirOperands(n, n.Kind), " "+op+" ") + ")"
	case *actionlint.CompareOpNode:
		return "(compare " + theirShape(n.Left) + " " + n.Kind.String() + " " + theirShape(n.Right) + ")"
	case *actionlint.ObjectDerefNode:
		return theirShape(n.Receiver) + "[" + fmt.Sprintf("%q", n.Property) + "]"
	case *actionlint.ArrayDerefNode:
		return theirShape(n.Receiver) + ".*"
	case *actionlint.IndexAccessNode:
		return theirShape(n.Operand) + "[" + indexShape(theirShape(n.Index)) + "]"
	case *actionlint.FuncCallNode:
		var args []string
		for _, a := range n.Args {
			args = append(args, theirShape(a))
		}
		return strings.ToLower(n.Callee) + "(" + strings.Join(args, ", ") + ")"
	}
	return "?"
}

func theirOperands(n actionlint.ExprNode, kind actionlint.LogicalOpNodeKind) []string {
	if l, ok := n.(*actionlint.LogicalOpNode); ok && l.Kind == kind {
		return append(theirOperands(l.Left, kind), theirOperands(l.Right, kind)...)
	}
	return []string{theirShape(n)}
}

// source writes random expressions, as tokens so that they can be spoilt one by one.
type source struct {
	*rand.Rand
	tokens []string
}

func (s *source) put(tokens ...string) { s.tokens = append(s.tokens, tokens...) }

func (s *source) pick(of ...string) string { return of[s.IntN(len(of))] }

func (s *source) expression(depth int) {
	if depth == 0 {
		s.value(0)
		return
	}
	switch s.IntN(8) {
	case 0, 1:
		s.expression(depth - 1)
		for range 1 + s.IntN(2) {
			s.put(s.pick("&&", "||"))
			s.expression(depth - 1)
		}
	case 2, 3:
		s.value(depth - 1)
		s.put(s.pick("==", "!=", "<", "<=", ">", ">="))
		s.value(depth - 1)
	case 4:
		s.put("!")
		s.value(depth - 1)
	case 5:
		s.put("(")
		s.expression(depth - 1)
		s.put(")")
	default:
		s.value(depth - 1)
	}
}

func (s *source) value(depth int) {
	switch s.IntN(6) {
	case 0:
		s.put(s.pick("null", "true", "false", "0", "1", "-1", "9.25", "0xff", "1e3", "2.5e-3", "-0.5", "1000000"))
	case 1:
		s.put(s.pick("''", "'a'", "'it''s'", "'}'", "'a b'", "'\"'", "'event'"))
	case 2, 3:
		s.put(s.pick("event", "env", "steps", "inputs", "policy", "EVENT"))
		for range s.IntN(4) {
			s.accessor(depth)
		}
	case 4:
		s.call(depth)
	default:
		s.put("(")
		if depth > 0 {
			s.expression(depth - 1)
		} else {
			s.put("event")
		}
		s.put(")")
		if s.IntN(3) == 0 {
			s.accessor(0)
		}
	}
}

func (s *source) accessor(depth int) {
	switch {
	case s.IntN(3) > 0:
		s.put(".", s.pick("a", "B-c", "_x", "true", "name", "*"))
	default:
		s.put("[")
		if depth > 0 {
			s.expression(depth - 1)
		} else {
			s.put(s.pick("0", "'K'", "event.i"))
		}
		s.put("]")
	}
}

func (s *source) call(depth int) {
	args := []int{0, 1, 2}[s.IntN(3)]
	s.put([][]string{{"success", "ALWAYS"}, {"lower", "toJSON", "fromjson"}, {"contains", "startsWith", "matches"}}[args][s.IntN(2)], "(")
	for i := range args {
		if i > 0 {
			s.put(",")
		}
		s.expression(max(0, depth-1))
	}
	s.put(")")
}

// spoil drops, doubles, swaps or replaces one token.
func (s *source) spoil() {
	i := s.IntN(len(s.tokens))
	switch s.IntN(4) {
	case 0:
		s.tokens = append(s.tokens[:i:i], s.tokens[i+1:]...)
	case 1:
		s.tokens = append(s.tokens[:i+1:i+1], s.tokens[i:]...)
	case 2:
		j := s.IntN(len(s.tokens))
		s.tokens[i], s.tokens[j] = s.tokens[j], s.tokens[i]
	default:
		s.tokens[i] = s.pick("(", ")", "[", "]", ",", ".", "*", "!", "==", "=", "&", "&&", "'", "''", `"x"`, "-", "1", "x",
			"}", "}}", "$", "é", "1.", ".5", "+1", "0o7", "08", "true")
	}
}

func (s *source) String() string {
	var b strings.Builder
	for i, t := range s.tokens {
		if i > 0 && (s.IntN(2) == 0 || wordy(s.tokens[i-1]) && wordy(t)) {
			b.WriteString(s.pick(" ", " ", "\n", "\t  "))
		}
		b.WriteString(t)
	}
	return b.String()
}

// wordy tokens need a space between them to stay two.
func wordy(t string) bool {
	return t != "" && (isNameByte(t[0]) || t[0] == '\'' || t[0] == '.' && len(t) > 1 || t[0] == '+' || t[0] >= utf8.RuneSelf)
}

func TestSameAsActionlint(t *testing.T) {
	const seed, count = 8, 40_000
	s := &source{Rand: rand.New(rand.NewPCG(seed, 0))}
	good, bad := 0, 0
	for i := range count {
		s.tokens = s.tokens[:0]
		s.expression(1 + i%5)
		if i%2 == 1 {
			s.spoil()
		}
		src := s.String()
		if d := disagreement(src); d != "" {
			t.Error(d)
		}
		if _, err := Parse(src); err == nil {
			good++
		} else {
			bad++
			if i%2 == 0 {
				t.Errorf("%q: a well-formed expression is refused: %v", src, err)
			}
		}
	}
	if good < count/2 || bad < count/8 {
		t.Errorf("%d accepted and %d rejected of %d: the generator no longer reaches both sides", good, bad, count)
	}
	for _, src := range seeds {
		if d := disagreement(src); d != "" {
			t.Error(d)
		}
	}
}

// Every listed difference is real: an example on which the parsers do not agree and the list says why.
func TestDifferencesAreReal(t *testing.T) {
	for _, tt := range []struct{ src, name string }{
		{"foo.bar", "names and functions"}, {"nope()", "names and functions"}, {"contains(event)", "number of arguments"},
		{"'a'.b", "a literal has no properties"},
		{strings.Repeat("!", 300) + "event", "nesting has an end"}, {"-0x1", `"-0x1"`}, {"0o17", "octal"}, {"+1", "a sign"},
		{"1e+2", "a sign"}, {"01", "a sign"},
		{".5", "decimal point"}, {"1.", "decimal point"}, {"0x0f", "zeros before"}, {"4294967296", "beyond 32 bits"}, {"1e999", "infinite"},
		{"event[*]", "[*]"}, {"event\v", "white space"}, {"'\xff'", "any byte"},
	} {
		_, err := Parse(tt.src)
		_, theirErr := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(tt.src + "}}"))
		if (err == nil) == (theirErr == nil) {
			t.Errorf("%q: both say %v and %v", tt.src, err, theirErr)
		}
		if why, ok := explained(tt.src, err); !ok || !strings.Contains(why, tt.name) {
			t.Errorf("%q: explained by %q, want %q", tt.src, why, tt.name)
		}
	}
	for _, tt := range []struct{ src, ours, theirs string }{
		{"1 == 2 == 3", "(compare (compare 1 == 2) == 3)", "(compare 1 == (compare 2 == 3))"},
		{"1 < 2 == 3", "(compare (compare 1 < 2) == 3)", "(compare 1 < (compare 2 == 3))"},
		{"TRUE", "true", "true"}, // theirs is a name
	} {
		e, err := Parse(tt.src)
		if err != nil {
			t.Fatal(err)
		}
		theirs, theirErr := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(tt.src + "}}"))
		if theirErr != nil {
			t.Fatal(theirErr)
		}
		if a, b := ourShape(e.root), theirShape(theirs); a != tt.ours || b != tt.theirs {
			t.Errorf("%s: %s and %s", tt.src, a, b)
		}
	}
}
