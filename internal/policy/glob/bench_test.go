package glob

import (
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

var benchPatterns = []string{"src/**", "**/*.go", "**/secrets/**", "*.{js,ts}", "src/**/test/**", "docs/README.md"}

const benchPath = "src/internal/policy/glob/test/match_test.go"

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		for _, p := range benchPatterns {
			if _, err := Compile(p); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkMatch prints doublestar, which reads the pattern each time, as the floor of the same run.
func BenchmarkMatch(b *testing.B) {
	b.Run("compiled", func(b *testing.B) {
		var compiled []Pattern
		for _, text := range benchPatterns {
			p, err := Compile(text)
			if err != nil {
				b.Fatal(err)
			}
			compiled = append(compiled, p)
		}
		for b.Loop() {
			for _, p := range compiled {
				p.Match(benchPath)
			}
		}
	})
	b.Run("doublestar", func(b *testing.B) {
		for b.Loop() {
			for _, p := range benchPatterns {
				doublestar.MatchUnvalidated(p, benchPath)
			}
		}
	})
}

func BenchmarkMatchArgument64KiB(b *testing.B) {
	text := strings.Repeat("some words of a long command ", 64<<10/29)
	for _, pattern := range []string{"*rm -rf*", "*curl*|*sh*", "*[0-9]?x*"} {
		b.Run(pattern, func(b *testing.B) {
			p, err := CompileArg(pattern)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				p.Match(text)
			}
		})
	}
}
