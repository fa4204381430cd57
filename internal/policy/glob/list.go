package glob

import (
	"errors"
	"fmt"
	"strings"
)

// List is an ordered list of globs for paths or refs: the last entry that matches decides, `!` negates. The zero value matches nothing.
type List struct{ entries []entry }

type entry struct {
	Pattern
	negated  bool
	absolute bool // starts at the root of the file system, not of the repository
	anywhere bool // starts with "**"
}

// ListError names the entry (from 0) that does not compile.
type ListError struct {
	Index int
	Err   error
}

func (e *ListError) Error() string { return fmt.Sprintf("entry %d: %v", e.Index+1, e.Err) }
func (e *ListError) Unwrap() error { return e.Err }

// CompileList reads the entries; the error joins a *ListError for each bad one. `\!` starts an entry with the character itself.
func CompileList(entries []string) (List, error) {
	var l List
	var errs []error
	for i, text := range entries {
		text, negated := strings.CutPrefix(text, "!")
		p, err := Compile(text)
		if err != nil {
			errs = append(errs, &ListError{i, err})
			continue
		}
		l.entries = append(l.entries, entry{p, negated, isAbsolute(text), strings.HasPrefix(text, "**")})
	}
	return l, errors.Join(errs...)
}

// isAbsolute reports a path or pattern that starts with "/" or a drive letter.
func isAbsolute(s string) bool {
	if len(s) > 2 && s[1] == ':' && s[2] == '/' {
		c := s[0] | 0x20
		return 'a' <= c && c <= 'z'
	}
	return strings.HasPrefix(s, "/")
}

// Match applies the list to one file, known by several names: a positive entry holds if any candidate matches, a negative one
// only if canonical does, so that no other spelling opens a rule. Absolute candidates are held against absolute entries only,
// relative ones against relative entries. For a ref both arguments are its name.
func (l List) Match(candidates []string, canonical string) bool {
	matched := false
	for _, e := range l.entries {
		if e.negated == !matched {
			continue // it would change nothing
		}
		if e.negated {
			matched = !e.holds(canonical)
			continue
		}
		for _, c := range candidates {
			if isAbsolute(c) == e.absolute && e.Pattern.Match(c) {
				matched = true
				break
			}
		}
	}
	return matched
}

// Ignores applies the list as an -ignore list: every entry is held against the canonical path.
func (l List) Ignores(canonical string) bool {
	ignored := false
	for _, e := range l.entries {
		if e.negated == ignored && e.holds(canonical) {
			ignored = !e.negated
		}
	}
	return ignored
}

// holds compares with a canonical path. Outside of the repository that is absolute, and an entry that starts at the repository's root
// does not reach it: "src/**" must not excuse "/src/x".
func (e entry) holds(canonical string) bool {
	if isAbsolute(canonical) && !e.absolute {
		return e.anywhere && e.Pattern.Match(strings.TrimPrefix(canonical, "/"))
	}
	return e.Pattern.Match(canonical)
}

// OnlyNegations reports a list that can match nothing, although it has entries.
func (l List) OnlyNegations() bool {
	for _, e := range l.entries {
		if !e.negated {
			return false
		}
	}
	return len(l.entries) > 0
}

// FoldCase returns the list for a file system that ignores case.
func (l List) FoldCase() List {
	folded := make([]entry, len(l.entries))
	for i, e := range l.entries {
		e.Pattern = e.Pattern.FoldCase()
		folded[i] = e
	}
	return List{folded}
}

// ExpandHome writes an entry that starts with `~/` or `!~/` as an absolute one; home has no trailing slash.
func ExpandHome(entry, home string) string {
	text, negated := strings.CutPrefix(entry, "!")
	rest, ok := strings.CutPrefix(text, "~/")
	if !ok || home == "" {
		return entry
	}
	text = Quote(home) + "/" + rest
	if negated {
		text = "!" + text
	}
	return text
}

// Quote escapes what is special in a path glob, so that it matches s alone.
func Quote(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`*?[]{},\!`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
