package spool

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain lets the tests start this binary as a writer; the variable holds id, count and folder.
func TestMain(m *testing.M) {
	if job := os.Getenv("COPILOT_MEM_SPOOL_WRITER"); job != "" {
		id, rest, _ := strings.Cut(job, " ")
		count, dir, _ := strings.Cut(rest, " ")
		os.Exit(writer(dir, id, count))
	}
	os.Exit(m.Run())
}

// writer prints each id once its line is stored.
func writer(dir, id, count string) int {
	n, err := strconv.Atoi(count)
	if err != nil {
		return 2
	}
	for i := range n {
		name := fmt.Sprintf("%s-%d", id, i)
		if err := (Spool{Dir: dir}).Append(bulky(name)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(name)
	}
	return 0
}

// bulky lines take long enough to write that a kill can hit them.
func bulky(id string) []byte {
	return fmt.Appendf(nil, `{"v":1,"id":%q,"event":"e","payload":%q}`, id, strings.Repeat("z", 20_000))
}

func startWriter(t *testing.T, s Spool, id string, count int) (*exec.Cmd, io.Reader) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), fmt.Sprintf("COPILOT_MEM_SPOOL_WRITER=%s %d %s", id, count, s.Dir))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// drainUntil drains again and again, in two readers at once, and once more after done is closed. It returns how often
// each id came.
func drainUntil(t *testing.T, s Spool, done <-chan struct{}) map[string]int {
	var mu sync.Mutex
	seen := make(map[string]int)
	take := func() {
		r, err := s.Drain(50, func(lines []Line) error {
			mu.Lock()
			defer mu.Unlock()
			for _, l := range lines {
				seen[l.ID]++
			}
			return nil
		})
		if err != nil {
			t.Errorf("Drain: %v", err)
		}
		if r.Damaged > 0 { // a writer that was put to sleep within its write; it appends again
			t.Logf("%d unfinished lines", r.Damaged)
		}
	}
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					take()
				}
			}
		})
	}
	readers.Wait()
	take()
	return seen
}

func wantAll(t *testing.T, seen map[string]int, want int) {
	t.Helper()
	doubles := 0
	for _, n := range seen {
		doubles += n - 1
	}
	if len(seen) != want {
		t.Errorf("%d of %d lines arrived", len(seen), want)
	}
	t.Logf("%d lines, %d doubles", len(seen), doubles)
}

func TestTwoHundredAtOnce(t *testing.T) {
	const writers, each = 200, 20
	s := newSpool(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					if err := s.Append(lineOf(fmt.Sprintf("%d-%d", w, i))); err != nil {
						t.Errorf("Append: %v", err)
					}
				}
			})
		}
		wg.Wait()
	}()
	wantAll(t, drainUntil(t, s, done), writers*each)
	for _, name := range files(t, s) {
		if name != damaged {
			t.Errorf("left behind: %s", name)
		}
	}
}

func TestManyProcesses(t *testing.T) {
	writers, each := 200, 5
	if testing.Short() {
		writers = 20
	}
	s := newSpool(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		for w := range writers {
			cmd, out := startWriter(t, s, fmt.Sprint("p", w), each)
			wg.Go(func() {
				if _, err := io.Copy(io.Discard, out); err != nil {
					t.Error(err)
				}
				if err := cmd.Wait(); err != nil {
					t.Errorf("writer: %v", err)
				}
			})
		}
		wg.Wait()
	}()
	wantAll(t, drainUntil(t, s, done), writers*each)
}

func TestKilledWritersLoseTheirLineOnly(t *testing.T) {
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	s := newSpool(t)
	stored := make(map[string]bool)
	seen := make(map[string]bool)
	damagedLines := 0
	for round := range rounds {
		cmd, out := startWriter(t, s, fmt.Sprint("k", round), 1_000_000)
		// The kill comes after some lines, at no chosen place in the next one.
		r := bufio.NewReader(out)
		killed := false
		for printed := 0; ; printed++ {
			id, err := r.ReadString('\n')
			if err != nil {
				break // what follows the last line end was cut by the kill
			}
			stored[strings.TrimSuffix(id, "\n")] = true
			if printed == round {
				killed = true
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if cmd.Wait() == nil || !killed {
			t.Fatal("the writer ended by itself")
		}
		// Somebody else's line follows the torn one.
		other := fmt.Sprint("other", round)
		appendIDs(t, s, other)
		stored[other] = true

		ids, report := drain(t, s)
		for _, id := range ids {
			seen[id] = true
		}
		if damagedLines += report.Damaged; report.Damaged > 1 {
			t.Errorf("round %d: %d damaged lines, want at most the killed one", round, report.Damaged)
		}
	}
	for id := range stored {
		if !seen[id] {
			t.Errorf("%s was stored and is lost", id)
		}
	}
	// A line may be stored without having been printed: one a round.
	extra := slices.DeleteFunc(slices.Collect(maps.Keys(seen)), func(id string) bool { return stored[id] })
	if len(extra) > rounds {
		t.Errorf("lines that nobody stored: %v", extra)
	}
	t.Logf("%d stored, %d damaged", len(stored), damagedLines)
}

// A reader that comes to the end of a file while a write is under way waits for it.
func TestUnfinishedLineIsWaitedFor(t *testing.T) {
	s := newSpool(t)
	appendIDs(t, s, "a1")
	whole := string(lineOf("a2"))
	appendRaw(t, s, "\n"+whole[:30])
	f, err := os.OpenFile(s.path(current), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := os.Open(s.path(current))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sc := newScanner(r)
	rest := make(chan error, 1)
	go func() {
		time.Sleep(10 * time.Millisecond)
		_, err := f.WriteString(whole[30:] + "\n")
		rest <- err
	}()
	sc.wait = 300 * time.Millisecond
	var got []string
	for sc.next() {
		l, ok := parseLine(sc.line)
		if !ok {
			t.Errorf("damaged: %q", sc.line)
		}
		got = append(got, l.ID)
	}
	if err := <-rest; err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"a1", "a2"}) {
		t.Errorf("got %v", got)
	}
}

func BenchmarkAppend(b *testing.B) {
	s := newSpool(b)
	line := bulky("b")
	for b.Loop() {
		if err := s.Append(line); err != nil {
			b.Fatal(err)
		}
	}
}
