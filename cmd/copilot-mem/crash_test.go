package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/spool"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

// asProgram makes the test's own binary behave as copilot-mem.
const asProgram = "COPILOT_MEM_TEST_PROGRAM"

// crashes is how many processes are killed; `make crash` kills 200.
func crashes(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("COPILOT_MEM_CRASHES"))
	if err != nil {
		n = 24
	}
	t.Logf("%d processes are killed (COPILOT_MEM_CRASHES says how many)", n)
	return n
}

// crashWorld is one data folder, and what was acknowledged in it.
type crashWorld struct {
	t      *testing.T
	dir    datadir.Dir
	random *rand.Rand
	kept   map[string]string // word → session: must be there
	gone   map[string]bool   // must not be there
	next   int
	clock  int64                    // Unix milliseconds of the last event
	took   map[string]time.Duration // of a command that was not killed
}

// TestKilledAtRandom kills the program in ingest, forget, backup and migration. After each kill the store must be whole,
// hold everything that was acknowledged, and hold nothing that was forgotten.
func TestKilledAtRandom(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	w := &crashWorld{
		t: t, dir: datadir.Dir(filepath.Join(t.TempDir(), "data")), random: rand.New(rand.NewPCG(seed, 1)),
		kept: map[string]string{}, gone: map[string]bool{}, took: map[string]time.Duration{},
	}
	for i := range crashes(t) {
		switch i % 4 {
		case 0:
			w.append(40)
			w.killed("ingest")
		case 1:
			w.append(5)
			w.forget()
		case 2:
			w.append(5)
			w.killed("backup", "--out", filepath.Join(t.TempDir(), "b.db"))
		case 3:
			w.migration(i)
		}
		w.check(i)
		if t.Failed() {
			return
		}
	}
}

func (w *crashWorld) append(n int) {
	w.t.Helper()
	sp := spool.Spool{Dir: w.dir.Spool()}
	for range n {
		w.next++
		w.clock = max(w.clock+1, time.Now().UnixMilli()) // what happens after a forget is kept
		word, session := fmt.Sprintf("wordnumber%d", w.next), fmt.Sprintf("session-%d", w.next%7)
		line := fmt.Sprintf(`{"v":1,"id":"line%d","event":"userPromptSubmitted","at":%d,"payload":{"sessionId":%q,"timestamp":%d,"cwd":"/src/app","prompt":"say %s %s"}}`,
			w.next, w.clock, session, w.clock, word, strings.Repeat("and more text ", w.random.IntN(60)))
		if err := sp.Append([]byte(line)); err != nil {
			w.t.Fatal(err)
		}
		w.kept[word] = session
	}
}

func (w *crashWorld) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "COPILOT_MEM_HOME="+string(w.dir), "COPILOT_HOME="+filepath.Join(string(w.dir), "none"))
	return cmd
}

// killed starts a command and kills it at a random moment of the time that it took the last time it was let end, and
// reports whether it had ended before.
func (w *crashWorld) killed(args ...string) (ended bool) {
	w.t.Helper()
	if w.took[args[0]] == 0 {
		start := time.Now()
		if out, err := w.command(args...).CombinedOutput(); err != nil {
			w.t.Fatalf("%v: %v\n%s", args, err, out)
		}
		w.took[args[0]] = time.Since(start)
		return true
	}
	cmd := w.command(args...)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			w.t.Errorf("%v: %v", args, err)
		}
		return true
	case <-time.After(time.Duration(w.random.Int64N(int64(w.took[args[0]]) * 5 / 4))):
	}
	_ = cmd.Process.Kill() // it may have ended meanwhile
	<-done
	return cmd.ProcessState.Success()
}

// forget kills a forget. Half of it must not be done; done once more it is done whole.
func (w *crashWorld) forget() {
	w.t.Helper()
	session := fmt.Sprintf("session-%d", w.random.IntN(7))
	if out, err := w.command("ingest").CombinedOutput(); err != nil {
		w.t.Fatalf("ingest: %v\n%s", err, out)
	}
	var words []string
	for word, s := range w.kept {
		if s == session {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return
	}
	w.killed("forget", "--session", session, "--yes")
	found, left := w.found(), 0
	for _, word := range words {
		if found[word] {
			left++
		}
	}
	if left != 0 && left != len(words) {
		w.t.Errorf("forget was killed and left %d of %d entries", left, len(words))
	}
	if left > 0 {
		if out, err := w.command("forget", "--session", session, "--yes").CombinedOutput(); err != nil {
			w.t.Fatalf("forget: %v\n%s", err, out)
		}
	}
	for _, word := range words {
		delete(w.kept, word)
		w.gone[word] = true
	}
}

// migration kills the first opening of a store of the first release.
func (w *crashWorld) migration(i int) {
	w.t.Helper()
	old := datadir.Dir(filepath.Join(w.t.TempDir(), "old"))
	if err := old.Ensure(); err != nil {
		w.t.Fatal(err)
	}
	if err := copyFile(filepath.Join("..", "..", "internal", "store", "testdata", "schema1.db"), old.DB()); err != nil {
		w.t.Fatal(err)
	}
	here := w.dir
	w.dir = old
	w.killed("stats", "--json")
	w.dir = here
	db, err := store.Open(context.Background(), old.DB(), storeOptions)
	if err != nil {
		w.t.Fatalf("%d: after a killed migration: %v", i, err)
	}
	counts, err := db.Counts(context.Background())
	if err != nil || counts.Entries != 17 || counts.Sessions != 3 {
		w.t.Errorf("%d: after a killed migration: %+v, %v", i, counts, err)
	}
	if err := db.Check(context.Background()); err != nil {
		w.t.Errorf("%d: after a killed migration: %v", i, err)
	}
	if err := db.Close(); err != nil {
		w.t.Error(err)
	}
}

// found lists the words that the store has, after everything that waits is ingested.
func (w *crashWorld) found() map[string]bool {
	w.t.Helper()
	if out, err := w.command("ingest").CombinedOutput(); err != nil {
		w.t.Fatalf("ingest: %v\n%s", err, out)
	}
	db, err := store.Open(context.Background(), w.dir.DB(), storeOptions)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	if err := db.Check(context.Background()); err != nil {
		w.t.Error(err)
	}
	out := map[string]bool{}
	hits, err := db.Newest(context.Background(), memory.Query{Limit: 1 << 30})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, h := range hits {
		if fields := strings.Fields(h.Text); len(fields) > 1 {
			out[fields[1]] = true
		}
	}
	return out
}

func (w *crashWorld) check(i int) {
	w.t.Helper()
	found := w.found()
	for word := range w.kept {
		if !found[word] {
			w.t.Errorf("%d: %s was acknowledged and is lost", i, word)
		}
	}
	for word := range w.gone {
		if found[word] {
			w.t.Errorf("%d: %s was forgotten and is back", i, word)
		}
	}
	if i%8 != 7 {
		return
	}
	for _, path := range []string{w.dir.DB(), w.dir.DB() + "-wal"} {
		data, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
		for word := range w.gone {
			if strings.Contains(string(data), word+" ") {
				w.t.Errorf("%d: %s was forgotten and is in %s", i, word, path)
			}
		}
	}
}
