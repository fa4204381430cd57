package plugin

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// The scalars that the client (1.0.102) does not read as strings. yaml.v3 reads 007, 010, 1_000, 0O10 and dates
// otherwise, so a plain scalar is resolved here and not there.
var (
	yamlInt   = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*|0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+)$`)
	yamlFloat = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	yamlInf   = regexp.MustCompile(`^([+-]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
	zeroLed   = regexp.MustCompile(`^[+-]?0[0-9]+$`)
)

// scalarKind says what a plain YAML scalar is; the problem is set for an integer that the client cannot hold.
func scalarKind(s string) (kind Kind, problem string) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null, ""
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool, ""
	}
	if zeroLed.MatchString(s) {
		return String, ""
	}
	if yamlInt.MatchString(s) {
		return Number, intProblem(s)
	}
	if yamlInf.MatchString(s) { // the client keeps values as JSON, which has neither
		return Null, ""
	}
	if yamlFloat.MatchString(s) {
		if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(f, 0) {
			return Number, ""
		}
	}
	return String, ""
}

var (
	minInt64   = big.NewInt(math.MinInt64)
	maxUint64  = new(big.Int).SetUint64(math.MaxUint64)
	minInt128  = new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 127))
	maxUint128 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
)

// intProblem: beyond 64 bits the client refuses, beyond 128 it reads a float.
func intProblem(s string) string {
	n, ok := new(big.Int).SetString(strings.TrimPrefix(s, "+"), 0)
	if !ok || n.Cmp(minInt64) >= 0 && n.Cmp(maxUint64) <= 0 {
		return ""
	}
	if n.Cmp(minInt128) < 0 || n.Cmp(maxUint128) > 0 {
		return ""
	}
	typ := "u128"
	if n.Sign() < 0 {
		typ = "i128"
	}
	return fmt.Sprintf("invalid type: integer `%s` as %s, expected any YAML value", n, typ)
}
