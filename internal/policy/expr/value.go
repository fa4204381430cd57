package expr

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// filtered is what `.*` gives: a further step applies to each of its members.
type filtered []any

// plain turns what a context holds into nil, bool, float64, string, []any, filtered or map[string]any.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, float64, string, []any, filtered, map[string]any:
		return v
	case Lazy:
		return plain(v())
	case func() any:
		return plain(v())
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case json.Number:
		return parseNumber(v.String())
	case []string:
		return anys(v)
	case []map[string]any:
		return anys(v)
	case map[string]string:
		m := make(map[string]any, len(v))
		for k, s := range v {
			m[k] = s
		}
		return m
	}
	return fmt.Sprint(v)
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

// Truthy reports whether a value counts as true: all but false, 0, NaN, the empty text and null.
func Truthy(v Value) bool {
	switch v := plain(v).(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	}
	return true
}

// ToText is the text of a value where it stands in text: null is empty, an array "Array", an object "Object".
func ToText(v Value) string {
	switch v := plain(v).(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return numberText(v)
	case string:
		return v
	case map[string]any:
		return "Object"
	}
	return "Array"
}

// numberText is the shortest text that reads back as f; an exponent only for what is very large or small.
func numberText(f float64) string {
	switch {
	case f == 0:
		return "0"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case math.IsNaN(f):
		return "NaN"
	}
	if a := math.Abs(f); a < 1e-6 || a >= 1e21 {
		return strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "e-0", "e-", 1)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func toNumber(v any) float64 {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	case string:
		switch s := strings.TrimSpace(v); s {
		case "":
			return 0
		case "Infinity":
			return math.Inf(1)
		case "-Infinity":
			return math.Inf(-1)
		default:
			return parseNumber(s)
		}
	}
	return math.NaN()
}

// isPrimitive reports null, a boolean, a number or a string.
func isPrimitive(v any) bool {
	switch v.(type) {
	case nil, bool, float64, string:
		return true
	}
	return false
}

// order compares two plain values as GitHub does; ok is false where nothing but != holds: NaN, and different arrays or objects.
func order(a, b any) (c int, ok bool) {
	switch x := a.(type) {
	case nil:
		if b == nil {
			return 0, true
		}
	case bool:
		if y, same := b.(bool); same {
			return cmp.Compare(toNumber(x), toNumber(y)), true
		}
	case string:
		if y, same := b.(string); same {
			return compareFold(x, y), true
		}
	case []any, filtered, map[string]any:
		return 0, identical(a, b)
	}
	x, y := toNumber(a), toNumber(b)
	return cmp.Compare(x, y), !math.IsNaN(x) && !math.IsNaN(y)
}

// identical reports that two arrays or two objects are one and the same; as in GitHub Actions, equal members are not enough.
func identical(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return y.IsValid() && x.Type() == y.Type() && x.Pointer() == y.Pointer() && x.Len() == y.Len()
}

// foldRune returns the same rune for a letter in either case.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	return unicode.ToUpper(r)
}

func fold(s string) string { return strings.Map(foldRune, s) }

// compareFold orders two texts ignoring case, by code point.
func compareFold(a, b string) int {
	for a != "" && b != "" {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if c := cmp.Compare(foldRune(x), foldRune(y)); c != 0 {
			return c
		}
		a, b = a[n:], b[m:]
	}
	return cmp.Compare(len(a), len(b))
}

// member looks up a property: as written, else ignoring case; of several such names the first in byte order.
func member(m map[string]any, key string) (v any, ok bool) {
	if v, ok = m[key]; ok {
		return plain(v), true
	}
	best := ""
	for k := range m {
		if (!ok || k < best) && len(k) <= 3*len(key) && compareFold(k, key) == 0 {
			best, ok = k, true
		}
	}
	return plain(m[best]), ok
}

// members lists the values of an array, or of an object in the byte order of its keys.
func members(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case filtered:
		return v
	case map[string]any:
		out := make([]any, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, v[k])
		}
		return out
	}
	return nil
}

// appendJSON writes v without spaces, keys in byte order. What JSON has no number for is null.
func appendJSON(b *bytes.Buffer, v any) {
	switch v := plain(v).(type) {
	case string:
		appendJSONText(b, v)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			b.WriteString("null")
			return
		}
		b.WriteString(numberText(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case nil:
		b.WriteString("null")
	case map[string]any:
		b.WriteByte('{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteByte(',')
			}
			appendJSONText(b, k)
			b.WriteByte(':')
			appendJSON(b, v[k])
		}
		b.WriteByte('}')
	default:
		b.WriteByte('[')
		for i, x := range members(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			appendJSON(b, x)
		}
		b.WriteByte(']')
	}
}

func appendJSONText(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if e.Encode(s) == nil { // a string always encodes
		b.Truncate(b.Len() - 1) // the line break
	}
}
