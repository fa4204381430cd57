package expr

import (
	"strings"
	"testing"
)

const usual = "event.tool.name == 'bash' && contains(event.tool.args.command, 'push') && !startsWith(event.cwd, '/tmp')"

func BenchmarkParse(b *testing.B) {
	for name, src := range map[string]string{"usual": usual, "64KiB": strings.Repeat(usual+" || ", 64<<10/len(usual)) + "true"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := Parse(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEval(b *testing.B) {
	big := facts()
	big.Contexts["env"] = map[string]string{"BIG": strings.Repeat("some text to look through ", 64<<10/26)}
	for _, bb := range []struct {
		name, src string
		env       *Env
	}{
		{"usual", usual, facts()}, {"filter", "contains(event.files.*.path, 'b.md')", facts()},
		{"matches64KiB", "matches(env.BIG, 'zz+$')", big},
		{"contains64KiB", "contains(env.BIG, 'ZZ')", big}, {"toJSON64KiB", "toJSON(env)", big},
	} {
		b.Run(bb.name, func(b *testing.B) {
			e, err := Parse(bb.src)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := e.Eval(bb.env); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	src := strings.Repeat("a line of a script that says nothing\n", 1000) + "echo ${{ event.name }}\n"
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := ParseText(src); err != nil {
			b.Fatal(err)
		}
	}
}
