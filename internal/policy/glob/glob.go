// Package glob answers: does this name, path or argument match that pattern? It never looks at a file system.
package glob

import "fmt"

// Pattern is one compiled glob; the zero value matches nothing.
type Pattern struct{}

// Compile reads a path, branch or tag glob. A leading "!" is not special here.
func Compile(pattern string) (Pattern, error) { return Pattern{}, nil }

// CompileArg reads a glob for arguments: `*` and `?` cross separators, `**/` also matches nothing.
func CompileArg(pattern string) (Pattern, error) { return Pattern{}, nil }

// CompileName reads a tool name: only `*` and `?` are special.
func CompileName(pattern string) (Pattern, error) { return Pattern{}, nil }

// Match reports whether the whole of s matches.
func (p Pattern) Match(s string) bool { return false }

// FoldCase returns the pattern for a file system that ignores case.
func (p Pattern) FoldCase() Pattern { return p }

// List is an ordered list of globs: the last entry that matches decides, `!` negates.
type List struct{}

// ListError names the entry (from 0) that does not compile.
type ListError struct {
	Index int
	Err   error
}

func (e *ListError) Error() string { return fmt.Sprintf("entry %d: %v", e.Index+1, e.Err) }
func (e *ListError) Unwrap() error { return e.Err }

// CompileList reads path, branch or tag globs; the error is a *ListError for the first bad entry.
func CompileList(entries []string) (List, error) { return List{}, nil }

// Match applies the list to one file: a positive entry holds if any candidate matches, a negative one only for the canonical path.
func (l List) Match(candidates []string, canonical string) bool { return false }

// Ignores applies the list as an -ignore list: every entry is held against the canonical path.
func (l List) Ignores(canonical string) bool { return false }

// OnlyNegations reports a list that can match nothing.
func (l List) OnlyNegations() bool { return false }

// FoldCase returns the list for a file system that ignores case.
func (l List) FoldCase() List { return l }

// ExpandHome writes an entry that starts with `~/` (or `!~/`) as an absolute one.
func ExpandHome(entry, home string) string { return entry }
