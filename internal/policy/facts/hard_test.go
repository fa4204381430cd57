package facts

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Texts that are hard on parsers and expansions stay within the bounds of section 18, and too deep ones are opaque.
func TestHardTexts(t *testing.T) {
	const size = 64 << 10
	rep := func(s string) string { return strings.Repeat(s, size/len(s)) }
	dir := t.TempDir()
	only := os.Getenv("HARD")
	for name, text := range map[string]string{
		"brackets": rep("("), "braces": rep("{ "), "substitutions": rep("$("), "backquotes": rep("`"), "quotes": rep(`"$(`), "if": rep("if "), "not": rep("! "),
		"pipes": rep("a|"), "and": rep("a&&"), "semicolons": rep("rm -rf /;"), "words": "rm -rf " + rep("a "), "long word": "rm -rf " + rep("a"),
		"brace words": rep("{a,b}"), "brace sequence": "echo {1..100000}", "nested braces": rep("{a,"), "globs": "rm " + rep("* "), "stars": "rm " + rep("*"), "params": "echo " + rep("$x"),
		"doubling": "x=aaaaaaaa;" + rep("x=$x$x;"), "functions": rep("f(){ f;};"), "loops": strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "rm $i" + strings.Repeat("; done", 12),
		"eval": rep("eval "), "sudo": rep("sudo "), "cd": rep("cd a;"), "heredoc": "bash <<E\n" + rep("rm -rf /\n") + "E\n", "find": "find . " + rep("( -name a ") + " -delete",
		"aliases": rep("alias a='a b';"), "escapes": "echo $'" + rep(`\x41`) + "'", "arrays": "a=(" + rep("b ") + "); echo ${a[@]}", "case": rep("case a in a) "), "time": rep("time "),
		"self pipe": rep("sh -c 'sh -c "), "printf": "printf '" + rep("%s") + "' a b", "arith": "echo $((" + rep("1+") + "1))", "params nested": rep("${a:-"), "trap": rep("trap 'a' 0;"),
		"tee": rep("echo a | tee b;"), "append": rep("echo aaaa >> b;"), "xargs": rep("xargs "), "procs": "cat " + rep("<(a) "), "trim": "x=" + rep("a") + "; echo ${x%%a*} ${x//a/aa}",
		"git": rep("git add .;") + "git commit -m x", "unparsed": rep("if (a) { git push }\n"), "redirects": "a " + rep(">b "), "cp": rep("cp a b;"), "mv": rep("mv a b;"),
	} {
		if only != "" && only != name {
			continue
		}
		start := time.Now()
		f := bash(t, dir, text)
		opaque := f.Shell().Opaque
		f.Files()
		f.Commits()
		f.Pushes()
		if took := time.Since(start); took > patience(len(text)) {
			t.Errorf("%s: %v", name, took)
		} else if took > slowest {
			t.Logf("%s: %v", name, took)
		}
		if strings.Contains("brackets braces substitutions quotes nested braces", name) && !opaque {
			t.Errorf("%s: too deep, but not opaque", name)
		}
	}
}
