package plugin

import "fmt"

// Kind is the type of a Value, in the words of the client's messages.
type Kind string

// The kinds of YAML and JSON values.
const (
	Null   Kind = "null"
	Bool   Kind = "boolean"
	Number Kind = "number"
	String Kind = "string"
	List   Kind = "array"
	Map    Kind = "object"
)

// Value is one YAML or JSON value and where it begins: Line and Column count from 1, in characters of the file.
type Value struct {
	Kind   Kind
	Text   string // what a scalar says, unquoted
	Plain  bool   // a YAML scalar written without quotes
	Line   int
	Column int
	Items  []*Value
	Fields []Field
}

// Field is one entry of a Map. Key is the value under which it was written.
type Field struct {
	Name  string
	Key   *Value
	Value *Value
}

// Get returns the value of the last field with that name: what the client uses where JSON repeats a name.
func (v *Value) Get(name string) *Value {
	if v == nil || v.Kind != Map {
		return nil
	}
	for i := len(v.Fields) - 1; i >= 0; i-- {
		if f := v.Fields[i]; f.Name == name && f.Key.Kind == String {
			return f.Value
		}
	}
	return nil
}

// Str returns the text of a string; "" for everything else.
func (v *Value) Str() string {
	if v == nil || v.Kind != String {
		return ""
	}
	return v.Text
}

// Is reports whether v is present and of that kind.
func (v *Value) Is(k Kind) bool { return v != nil && v.Kind == k }

// SyntaxError is a document that does not parse. Problem is what the client says; Advice what to write instead.
type SyntaxError struct {
	Line, Column int
	Problem      string
	Advice       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d column %d: %s", e.Line, e.Column, e.Problem)
}

// Hint says what to write instead; it may be empty.
func (e *SyntaxError) Hint() string { return e.Advice }
