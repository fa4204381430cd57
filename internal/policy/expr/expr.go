// Package expr answers: what does an expression of a policy say about these facts? It reads ${{ … }} as GitHub Actions does.
//
// It knows no events and touches nothing outside its arguments: contexts, step status, the session record and files come in
// through an Env.
package expr

import "fmt"

// Value is what an expression computes: nil, bool, float64, string, []any, map[string]any (looked up ignoring case) or Lazy.
// Contexts may also hold other integers, json.Number, []string, map[string]string and []map[string]any.
type Value = any

// Lazy is a value computed on demand; who hands it over remembers the answer (sync.OnceValue).
type Lazy func() any

// Error is a load-time or run-time error at a byte offset of the text that was given to Parse, ParseIf or ParseText.
type Error struct {
	Offset int
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("%s (at offset %d)", e.Msg, e.Offset) }

// Env is what an expression may ask for. A nil function is a run-time error where it is called, except Status (all is well)
// and Glob (case-sensitive path globs).
type Env struct {
	Contexts   map[string]Value
	Status     func(name string) bool // success, failure, always, cancelled
	Transcript func(fn, re string) (Value, error)
	HashFiles  func(patterns []string) (string, error)
	Glob       func(pattern, s string) (bool, error)
}
