// Package glob answers: does this path, ref, argument or tool name match that pattern? It never looks at a file system.
package glob

// Pattern is one compiled glob; the zero value matches nothing.
type Pattern struct{ prog *program }

// Compile reads a glob for a path, branch or tag, where `*`, `?` and `[…]` stop at "/". A leading "!" is an ordinary character.
func Compile(pattern string) (Pattern, error) { return compile(pattern, paths) }

// CompileArg reads a glob for a tool argument: wildcards cross separators, and `**/` also matches nothing.
func CompileArg(pattern string) (Pattern, error) { return compile(pattern, args) }

// CompileName reads a glob for a tool name: only `*` and `?` are special.
func CompileName(pattern string) (Pattern, error) { return compile(pattern, names) }

// FoldCase returns the pattern for a file system that ignores case.
func (p Pattern) FoldCase() Pattern {
	if p.prog == nil {
		return p
	}
	folded := *p.prog
	folded.fold = true
	return Pattern{&folded}
}
