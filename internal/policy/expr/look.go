package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/policy/glob"
)

// UsesStatus reports a status function anywhere: then an if has no implicit success().
func (e *Expr) UsesStatus() bool {
	found := false
	e.root.walk(func(n node) {
		if c, ok := n.(*call); ok && c.fn.status {
			found = true
		}
	})
	return found
}

// Roots lists the contexts that the expression reads, with the first property where that is fixed, in lower case and sorted:
// "env.a", "event", "event.push".
func (e *Expr) Roots() []string {
	seen := map[string]bool{}
	inside := map[node]bool{}
	e.root.walk(func(n node) {
		switch n := n.(type) {
		case *context:
			if !inside[n] {
				seen[n.name] = true
			}
		case *access:
			if c, ok := n.base.(*context); ok {
				inside[c] = true
				seen[c.name+n.path[0].suffix()] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(seen))
}

// suffix is ".name" for a fixed property, else empty.
func (a accessor) suffix() string {
	if l, ok := a.index.(*literal); ok {
		return "." + strings.ToLower(ToText(l.value))
	}
	return ""
}

// Check lists the calls whose literal regex or glob is malformed. Format strings and JSON are left to the run time: they may stand in a
// branch that is never reached.
func (e *Expr) Check() []*Error {
	var out []*Error
	e.root.walk(func(n node) {
		if c, ok := n.(*call); ok {
			if err := c.check(); err != nil {
				out = append(out, &Error{c.off, c.fn.name + ": " + err.Error()})
			}
		}
	})
	return out
}

func (c *call) check() error {
	if len(c.args) == 0 {
		return nil
	}
	text := func(i int) (string, bool) {
		l, ok := c.args[i].(*literal)
		if !ok {
			return "", false
		}
		return ToText(l.value), true
	}
	first, fixed := text(0)
	switch c.fn.name {
	case "matches":
		if s, ok := text(1); ok {
			_, err := c.regex.get(s, compileRegex)
			return err
		}
	case "transcript", "transcript_since", "transcript_count", "transcript_last":
		if fixed {
			_, err := compileRegex(first)
			return err
		}
	case "glob":
		if fixed {
			_, err := c.glob.get(first, glob.Compile)
			return err
		}
	case "hashFiles":
		for i := range c.args {
			if s, ok := text(i); ok {
				if _, err := glob.CompileList([]string{s}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
