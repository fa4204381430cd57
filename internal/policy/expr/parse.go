package expr

// Expr is one parsed expression; it may be evaluated by several goroutines at once.
type Expr struct{}

// Text is text with ${{ }} parts, in order.
type Text struct{ Parts []Part }

// Part is literal text or an expression; Offset is where it starts (for an expression: its "${{").
type Part struct {
	Lit    string
	Expr   *Expr // nil: Lit
	Offset int
}

// Parse reads one expression without braces.
func Parse(src string) (*Expr, error) { return &Expr{}, nil }

// ParseIf reads the value of an `if` key: bare text or exactly one ${{ }}.
func ParseIf(src string) (*Expr, error) { return Parse(src) }

// ParseText reads text with any number of ${{ }} parts.
func ParseText(src string) (*Text, error) { return &Text{}, nil }

// UsesStatus reports a status function anywhere: then there is no implicit success().
func (e *Expr) UsesStatus() bool { return false }

// Roots lists the contexts that the expression reads, at most two levels deep and in lower case, sorted: "event.push", "env".
func (e *Expr) Roots() []string { return nil }

// Eval computes the value; the error is an *Error.
func (e *Expr) Eval(env *Env) (Value, error) { return nil, nil }

// Eval fills in the parts.
func (t *Text) Eval(env *Env) (string, error) { return "", nil }

// Truthy reports whether a value counts as true in a condition.
func Truthy(v Value) bool { return false }

// ToText is the text of a value as it appears around expressions.
func ToText(v Value) string { return "" }
