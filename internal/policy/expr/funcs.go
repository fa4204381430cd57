package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/copilot-mem/copilot-mem/internal/policy/glob"
)

// function is one built-in; its arguments are plain values and as many as it takes.
type function struct {
	name     string
	min, max int
	status   bool
	eval     func(r *run, c *call, args []any) (any, error)
}

func (f function) arity() string {
	count := func(n int) string {
		if n == 1 {
			return "1 argument"
		}
		return strconv.Itoa(n) + " arguments"
	}
	switch {
	case f.max == 0:
		return "no arguments"
	case f.max == many:
		return "at least " + count(f.min)
	case f.min < f.max:
		return fmt.Sprintf("%d to %s", f.min, count(f.max))
	}
	return count(f.min)
}

const many = math.MaxInt

// lookup finds a function by its name in lower case. A switch, because a table would be built on every start.
func lookup(name string) (function, bool) {
	f, ok := function{}, true
	switch name {
	case "contains":
		f = function{"contains", 2, 2, false, contains}
	case "startswith":
		f = function{"startsWith", 2, 2, false, affix(strings.HasPrefix)}
	case "endswith":
		f = function{"endsWith", 2, 2, false, affix(strings.HasSuffix)}
	case "format":
		f = function{"format", 1, many, false, format}
	case "join":
		f = function{"join", 1, 2, false, join}
	case "tojson":
		f = function{"toJSON", 1, 1, false, toJSON}
	case "fromjson":
		f = function{"fromJSON", 1, 1, false, fromJSON}
	case "hashfiles":
		f = function{"hashFiles", 1, many, false, hashFiles}
	case "success", "failure", "always", "cancelled":
		f = function{name, 0, 0, true, status}
	case "matches":
		f = function{name, 2, 2, false, matches}
	case "glob":
		f = function{name, 2, 2, false, globMatch}
	case "basename":
		f = function{name, 1, 1, false, onText(basename)}
	case "dirname":
		f = function{name, 1, 1, false, onText(path.Dir)}
	case "ext":
		f = function{name, 1, 1, false, onText(path.Ext)}
	case "lower":
		f = function{name, 1, 1, false, onText(strings.ToLower)}
	case "upper":
		f = function{name, 1, 1, false, onText(strings.ToUpper)}
	case "trim":
		f = function{name, 1, 1, false, onText(strings.TrimSpace)}
	case "length":
		f = function{name, 1, 1, false, length}
	case "transcript":
		f = function{name, 0, 1, false, transcript}
	case "transcript_since", "transcript_count", "transcript_last":
		f = function{name, 1, 1, false, transcript}
	default:
		ok = false
	}
	return f, ok
}

// call is a function with its arguments; off is where its name stands.
type call struct {
	fn    function
	args  []node
	off   int
	regex memo[*regexp.Regexp]
	glob  memo[glob.Pattern]
}

func (n *call) eval(r *run) (any, error) {
	args := make([]any, len(n.args))
	for i, a := range n.args {
		v, err := a.eval(r)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	v, err := n.fn.eval(r, n, args)
	if err == nil {
		v = plain(v)
		if s, ok := v.(string); ok {
			err = r.spend(len(s))
		}
	}
	if err != nil {
		return nil, &Error{n.off, n.fn.name + ": " + err.Error()}
	}
	return v, nil
}

func (n *call) walk(visit func(node)) {
	visit(n)
	for _, a := range n.args {
		a.walk(visit)
	}
}

// memo remembers the last thing compiled at one place: nearly always the only one.
type memo[T any] struct {
	mu    sync.Mutex
	key   string
	value T
	err   error
	full  bool
}

func (m *memo[T]) get(key string, compile func(string) (T, error)) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.full || m.key != key {
		m.key, m.full = key, true
		m.value, m.err = compile(key)
	}
	return m.value, m.err
}

func compileRegex(s string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, fmt.Errorf("malformed regex: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

// onText makes a function of one text.
func onText(f func(string) string) func(*run, *call, []any) (any, error) {
	return func(_ *run, _ *call, args []any) (any, error) { return f(ToText(args[0])), nil }
}

// basename is the last element of a path; of the empty text it is empty.
func basename(s string) string {
	if s == "" {
		return ""
	}
	return path.Base(s)
}

func contains(r *run, _ *call, args []any) (any, error) {
	if isPrimitive(args[0]) {
		if !isPrimitive(args[1]) {
			return false, nil
		}
		s, sub := ToText(args[0]), ToText(args[1])
		return strings.Contains(fold(s), fold(sub)), r.spend(len(s) + len(sub))
	}
	if _, isObject := args[0].(map[string]any); isObject {
		return false, nil
	}
	list := members(args[0])
	for _, x := range list {
		if compare("==", plain(x), args[1]) {
			return true, nil
		}
	}
	return false, r.spend(len(list))
}

// affix makes startsWith and endsWith, which ignore case.
func affix(has func(s, affix string) bool) func(*run, *call, []any) (any, error) {
	return func(r *run, _ *call, args []any) (any, error) {
		if !isPrimitive(args[0]) || !isPrimitive(args[1]) {
			return false, nil
		}
		s, sub := ToText(args[0]), ToText(args[1])
		return has(fold(s), fold(sub)), r.spend(len(s) + len(sub))
	}
}

// format puts arguments in for {0}, {1} …; {{ and }} are braces. Each is paid for before it is written.
func format(r *run, _ *call, args []any) (any, error) {
	s, args := ToText(args[0]), args[1:]
	var b strings.Builder
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], "{}")
		if n < 0 {
			n = len(s) - i
		}
		b.WriteString(s[i : i+n])
		if i += n; i == len(s) {
			break
		}
		if i+1 < len(s) && s[i+1] == s[i] {
			b.WriteByte(s[i])
			i += 2
			continue
		}
		digits := span(s[i+1:], isDigit)
		after := i + 1 + digits
		if s[i] == '}' || digits == 0 || after == len(s) || s[after] != '}' {
			return nil, fmt.Errorf("malformed format string at its offset %d: a brace is neither {0} nor doubled", i)
		}
		k, err := strconv.Atoi(s[i+1 : after])
		if err != nil || k >= len(args) {
			return nil, fmt.Errorf("{%s} asks for an argument that is not there", s[i+1:after])
		}
		arg := ToText(args[k])
		if err := r.spend(len(arg)); err != nil {
			return nil, err
		}
		b.WriteString(arg)
		i = after + 1
	}
	return b.String(), nil
}

func join(r *run, _ *call, args []any) (any, error) {
	if isPrimitive(args[0]) {
		return ToText(args[0]), nil
	}
	if _, isObject := args[0].(map[string]any); isObject {
		return "", nil
	}
	separator := ","
	if len(args) > 1 && isPrimitive(args[1]) {
		separator = ToText(args[1])
	}
	list := members(args[0])
	if len(list) > 0 && len(separator) > r.left/len(list) {
		return nil, r.spend(r.left + 1)
	}
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = ToText(x)
		if err := r.spend(len(parts[i])); err != nil {
			return nil, err
		}
	}
	return strings.Join(parts, separator), nil
}

func toJSON(_ *run, _ *call, args []any) (any, error) {
	var b bytes.Buffer
	appendJSON(&b, args[0])
	return b.String(), nil
}

func fromJSON(r *run, _ *call, args []any) (any, error) {
	s := ToText(args[0])
	if err := r.spend(len(s)); err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return nil, err
	}
	return v, nil
}

func length(_ *run, _ *call, args []any) (any, error) {
	if !isPrimitive(args[0]) {
		return len(members(args[0])), nil
	}
	return utf8.RuneCountInString(ToText(args[0])), nil
}

// status asks the Env about the steps before; without an answer nothing went wrong.
func status(r *run, c *call, _ []any) (any, error) {
	if r.env.Status == nil {
		return c.fn.name == "success" || c.fn.name == "always", nil
	}
	return r.env.Status(c.fn.name), nil
}

func matches(_ *run, c *call, args []any) (any, error) {
	re, err := c.regex.get(ToText(args[1]), compileRegex)
	if err != nil {
		return nil, err
	}
	return re.MatchString(ToText(args[0])), nil
}

func globMatch(r *run, c *call, args []any) (any, error) {
	pattern, s := ToText(args[0]), ToText(args[1])
	if r.env.Glob != nil {
		return r.env.Glob(pattern, s)
	}
	p, err := c.glob.get(pattern, glob.Compile)
	if err != nil {
		return nil, err
	}
	return p.Match(s), nil
}

func transcript(r *run, c *call, args []any) (any, error) {
	if r.env.Transcript == nil {
		return nil, errors.New("there is no session record here")
	}
	re := ""
	if len(args) > 0 {
		re = ToText(args[0])
	}
	return r.env.Transcript(c.fn.name, re)
}

func hashFiles(r *run, _ *call, args []any) (any, error) {
	if r.env.HashFiles == nil {
		return nil, errors.New("there are no files here")
	}
	patterns := make([]string, len(args))
	for i, a := range args {
		patterns[i] = ToText(a)
	}
	return r.env.HashFiles(patterns)
}
