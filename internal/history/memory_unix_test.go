//go:build unix

package history

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// limit is what an import may take at most, however much there is to read.
const limit = 200 << 20

// peak reads the most memory that an importing process had from what it printed. Its parent cannot ask the system: on Linux
// a child begins with what its parent had.
func peak(t *testing.T, out []byte) int64 {
	t.Helper()
	_, after, _ := strings.Cut(string(out), peakMark)
	kib, err := strconv.ParseInt(strings.TrimSpace(after), 10, 64)
	if err != nil {
		t.Fatalf("no peak in %q", out)
	}
	return kib << 10
}

// ownPeak is the most memory that this process had, in KiB.
func ownPeak() int64 {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		_, after, _ := strings.Cut(string(status), "VmHWM:")
		kib, _, _ := strings.Cut(strings.TrimSpace(after), " ")
		if n, err := strconv.ParseInt(kib, 10, 64); err == nil {
			return n
		}
	}
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss >> 10 // bytes there
	}
	return u.Maxrss
}

func init() { printPeak = func() { fmt.Printf("%s%d\n", peakMark, ownPeak()) } }

// TestMemoryIsFlat imports many sessions, and one transcript of great size, each in a process of its own.
// COPILOT_MEM_BENCH_SESSIONS=10000 makes it the full measurement: 10,000 sessions, 1 GB.
func TestMemoryIsFlat(t *testing.T) {
	n := envInt(t, "COPILOT_MEM_BENCH_SESSIONS", 100)
	for _, tt := range []struct {
		name string
		fill func(home string) int64
	}{
		{fmt.Sprintf("%d sessions", n), func(home string) (bytes int64) {
			for i := range n {
				m := makeSession(i, 68<<10)
				m.write(t, home)
				for _, l := range m.Lines {
					bytes += int64(len(l)) + 1
				}
			}
			return bytes
		}},
		{"one long transcript", func(home string) int64 { return longTranscript(t, home, int64(min(n, 1024))*200<<10) }},
		{"long lines", func(home string) int64 {
			m := makeSession(0, 100)
			for i := range 5 {
				m.Lines = append(m.Lines, fmt.Sprintf(`{"type":"user.message","id":"long%d","data":{"content":"%s"}}`, i, strings.Repeat("long words ", maxLine/11-100)))
			}
			m.write(t, home)
			return 5 * maxLine
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			bytes := tt.fill(home)
			db := filepath.Join(t.TempDir(), "memory.db")
			cmd := child(home, db)
			begun := time.Now()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			took := time.Since(begun)
			info, err := os.Stat(db)
			if err != nil {
				t.Fatal(err)
			}
			got := peak(t, out)
			t.Logf("%d MB in %.1f s (%.1f MB/s), peak memory %d MB, store %d MB: %s", bytes>>20, took.Seconds(), float64(bytes)/1e6/took.Seconds(), got>>20, info.Size()>>20, strings.TrimSpace(string(out)))
			if got > limit {
				t.Errorf("peak memory %d MB, want less than %d", got>>20, limit>>20)
			}
		})
	}
}

// longTranscript writes one session of at least so many bytes.
func longTranscript(t *testing.T, home string, size int64) (bytes int64) {
	t.Helper()
	path := filepath.Join(home, "session-state", "long", "events.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := 0; bytes < size; i++ {
		for _, l := range makeSession(i, 60<<10).Lines {
			if strings.HasPrefix(l, `{"type":"session.`) && i > 0 {
				continue
			}
			n, err := fmt.Fprintln(w, l)
			if err != nil {
				t.Fatal(err)
			}
			bytes += int64(n)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes
}
