package validate

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// publicSkills is how many skills were found in public repositories when the rules were written.
const publicSkills = 1661

// writeSkills makes a repository of skills of the sizes that are usual in public: half below 4 KB, some with tables and
// code, some with scripts and references, a few with mistakes.
func writeSkills(tb testing.TB, n int) (dir string, bytes int) {
	tb.Helper()
	dir = tb.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the skill reads a file and writes `output.json` then asks [the guide](references/guide.md) for **rules** about tests deploys `scripts/run.py` reviews - lists | tables # headings")
	for i := range n {
		name := fmt.Sprintf("skill-%04d", i)
		folder := filepath.Join(dir, ".github", "skills", fmt.Sprintf("group-%02d", i%40), name)
		var b strings.Builder
		fmt.Fprintf(&b, "---\nname: %s\ndescription: \"Use it when the user asks for thing %d, or for its parts: a, b and c. %s\"\n", name, i, strings.Repeat("More words. ", rnd.IntN(20)))
		if i%3 == 0 {
			b.WriteString("license: MIT\nmetadata:\n  author: someone\n  version: \"1.2\"\n  tags: [one, two, three]\n")
		}
		if i%50 == 0 {
			b.WriteString("argument-hint: [target]\nnote: see: there\n")
		}
		b.WriteString("---\n\n# Title\n\n")
		for size := 1000 + rnd.IntN(7000)*(1+i%3); b.Len() < size; {
			for range 8 + rnd.IntN(10) {
				b.WriteString(words[rnd.IntN(len(words))] + " ")
			}
			b.WriteString("\n")
			if rnd.IntN(12) == 0 {
				b.WriteString("\n```bash\npython scripts/run.py --all\n```\n\n")
			}
		}
		files := map[string]string{"SKILL.md": b.String()}
		if i%4 == 0 {
			files["references/guide.md"] = "# Guide\n"
			files["scripts/run.py"] = "#!/usr/bin/env python3\n"
		}
		for name, text := range files {
			p := filepath.Join(folder, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				tb.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
				tb.Fatal(err)
			}
			bytes += len(text)
		}
	}
	return dir, bytes
}

// BenchmarkSkills checks as many skills as there are in public. The floor reads the same files and does nothing with
// them; the memory is what the process has taken from the system.
func BenchmarkSkills(b *testing.B) {
	dir, size := writeSkills(b, publicSkills)
	floor := time.Duration(1 << 62)
	for range 3 {
		began := time.Now()
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "SKILL.md" {
				_, err = os.ReadFile(p)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		floor = min(floor, time.Since(began))
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		findings, s, err := Paths([]string{dir}, Options{})
		if err != nil || s.Files < publicSkills || len(findings) < 30 {
			b.Fatalf("%d files, %d findings, %v", s.Files, len(findings), err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(floor), "x-floor")
	b.ReportMetric(float64(m.Sys)/1e6, "MB-sys")
}
