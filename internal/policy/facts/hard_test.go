package facts

import (
	"slices"
	"strings"
	"testing"
)

// hard are texts of about size bytes that are hard on parsers and expansions.
func hard(size int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"brackets": rep("("), "braces": rep("{ "), "substitutions": rep("$("), "backquotes": rep("`"), "quotes": rep(`"$(`), "if": rep("if "), "not": rep("! "),
		"pipes": rep("a|"), "and": rep("a&&"), "semicolons": rep("rm -rf /;"), "words": "rm -rf " + rep("a "), "long word": "rm -rf " + rep("a"),
		"brace words": rep("{a,b}"), "brace sequence": "echo {1..100000}", "nested braces": rep("{a,"), "globs": "rm " + rep("* "), "stars": "rm " + rep("*"), "params": "echo " + rep("$x"),
		"doubling": "x=aaaaaaaa;" + rep("x=$x$x;"), "functions": rep("f(){ f;};"), "loops": strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "rm $i" + strings.Repeat("; done", 12),
		"eval": rep("eval "), "sudo": rep("sudo "), "cd": rep("cd a;"), "heredoc": "bash <<E\n" + rep("rm -rf /\n") + "E\n", "find": "find . " + rep("( -name a ") + " -delete",
		"aliases": rep("alias a='a b';"), "escapes": "echo $'" + rep(`\x41`) + "'", "arrays": "a=(" + rep("b ") + "); echo ${a[@]}", "case": rep("case a in a) "), "time": rep("time "),
		"self pipe": rep("sh -c 'sh -c "), "printf": "printf '" + rep("%s") + "' a b", "arith": "echo $((" + rep("1+") + "1))", "params nested": rep("${a:-"), "trap": rep("trap 'a' 0;"),
		"tee": rep("echo a | tee b;"), "append": rep("echo aaaa >> b;"), "xargs": rep("xargs "), "procs": "cat " + rep("<(a) "), "trim": "x=" + rep("a") + "; echo ${x%%a*} ${x//a/aa}",
		"git": rep("git add .;") + "git commit -m x", "unparsed": rep("if (a) { git push }\n"), "redirects": "a " + rep(">b "), "cp": rep("cp a b;"), "mv": rep("mv a b;"),
	}
}

func allFacts(f *Facts) *Shell {
	f.Files()
	f.Commits()
	f.Pushes()
	return f.Shell()
}

// Each of them ends, and what nests too deep is opaque; how long they take is for the benchmark.
func TestHardTexts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range hard(12 << 10) {
		sh := allFacts(bash(t, dir, text))
		if tooDeep := []string{"brackets", "braces", "substitutions", "quotes", "nested braces"}; slices.Contains(tooDeep, name) && !sh.Opaque {
			t.Errorf("%s: too deep, but not opaque", name)
		}
	}
}

func BenchmarkHardTexts(b *testing.B) {
	dir := b.TempDir()
	for name, text := range hard(64 << 10) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				allFacts(bash(b, dir, text))
			}
		})
	}
}

// The floor is an empty command: what decoding the event and starting the walk cost.
func BenchmarkCommand(b *testing.B) {
	dir := b.TempDir()
	for name, text := range map[string]string{"floor": "", "npm": "npm ci && npm run build && npm test -- --watch=false 2>&1 | tail -20", "rm": "rm -rf node_modules dist ./build",
		"commit": "git add -A && git commit -m 'fix: a thing' && git push"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				allFacts(bash(b, dir, text))
			}
		})
	}
}
