package policy

import (
	"fmt"
	"strings"
	"testing"
)

// slowTexts are texts of 64 KiB that parsers tend to take long for.
func slowTexts() map[string]string {
	fill := func(s string) string { return strings.Repeat(s, (64<<10)/len(s)) }
	var keys strings.Builder
	for i := 0; keys.Len() < 64<<10; i++ {
		fmt.Fprintf(&keys, "k%d:\n", i)
	}
	const head = "name: x\non: file\n"
	bomb := head + "steps:\n  - modify:\n      a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("      a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return map[string]string{
		"lists in a line": fill("- "), "flow lists": strings.Repeat("[", 1999), "more flow lists": fill("["), "flow maps": fill("{a: "), "keys": keys.String(), "the same key": fill("a:\n"),
		"env":      head + "env:\n  " + strings.ReplaceAll(keys.String(), "\n", " ''\n  ") + "\n" + deny,
		"question": fill("? "), "quotes": fill("'"), "double quotes": "a: \"" + fill(`\x41`) + "\"\n", "anchors": fill("&a "), "aliases": "a: &a x\nb: [" + fill("*a, ") + "]\n",
		"bomb": bomb + fill("# x\n"), "text": "a: |\n" + fill("  x\n"), "folded": "a: >\n" + fill("  x\n\n"), "plain": "a: " + fill("b "), "items": "a:\n" + fill("- b\n"), "steps": head + "steps:\n" + fill("- deny: ${{ event.x }}\n"),
		"bad steps": head + "steps:\n" + fill("- den: x\n"), "scripts": head + "steps:\n  - run: |\n" + fill("      echo ${{ event.x }}\n"), "globs": "name: x\non: {file: {paths: [" + fill("'**/*', ") + "]}}\n" + deny,
		"negations": "name: x\non: {file: {paths: ['" + fill("{a,") + "']}}\n" + deny, "expression": head + "if: " + fill("!") + "true\n" + deny,
		"parentheses": head + "if: " + fill("(") + "\n" + deny, "dashes": fill("---\n"), "comments": fill("#\n"), "blanks": "a:" + fill(" \n"),
	}
}

// The promise is 50 ms for 64 KiB: see "ms/64KiB".
func BenchmarkSlowTexts(b *testing.B) {
	for name, text := range slowTexts() {
		for kind, file := range map[string]string{"workflow": flow, "rule": ".github/copilot-mem/policies/r.md", "settings": userSettings} {
			body := text
			if kind == "rule" {
				body = "---\nevent: bash\n" + text + "\n---\n"
			}
			b.Run(strings.ReplaceAll(name, " ", "-")+"/"+kind, func(b *testing.B) {
				r := newRepo(b, map[string]string{file: body})
				for b.Loop() {
					Load(r.l).Check()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/64KiB")
			})
		}
	}
}

func TestSlowTextsHaveFindings(t *testing.T) {
	for name, text := range slowTexts() {
		if len(text) < 60<<10 && name != "flow lists" {
			t.Errorf("%s has only %d bytes", name, len(text))
		}
		r := newRepo(t, map[string]string{flow: text})
		switch found := Load(r.l).Check(); name {
		case "env", "steps", "scripts", "globs":
			if len(found) > 0 {
				t.Errorf("%s: %v", name, found[:1])
			}
		default:
			if len(found) == 0 || len(found) > maxFindings+1 {
				t.Errorf("%s: %d findings", name, len(found))
			}
		}
	}
}
