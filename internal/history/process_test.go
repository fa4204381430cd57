package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

// importer turns the test binary into a process that imports HOME into the store DB and prints what it did.
const importer = "COPILOT_MEM_TEST_IMPORT"

// peakMark stands before what printPeak prints, on systems that know it.
const peakMark = "peak KiB: "

var printPeak func()

func TestMain(m *testing.M) {
	if job := os.Getenv(importer); job != "" {
		if err := importJob(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func importJob(job string) error {
	home, path, _ := strings.Cut(job, "\n")
	db, err := store.Open(context.Background(), path, store.Options{Words: search.Document, Stem: search.Stem})
	if err != nil {
		return err
	}
	files, _, err := Find(home, "")
	if err != nil {
		return err
	}
	r, err := Run(context.Background(), db, Options{Files: files})
	fmt.Printf("%+v\n", r)
	if printPeak != nil {
		printPeak()
	}
	return errors.Join(err, db.Close())
}

// child starts an import in its own process.
func child(home, db string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), importer+"="+home+"\n"+db)
	return cmd
}

// kills is how often an import is killed before one may end.
const kills = 60

// TestKilledImport kills an import again and again, at any instruction; then one is let through. Nothing is missing, nothing
// is double, and the store is whole after every kill.
func TestKilledImport(t *testing.T) {
	if testing.Short() {
		t.Skip("60 processes: not in short mode")
	}
	home, path := t.TempDir(), filepath.Join(t.TempDir(), "memory.db")
	want := newStore(t)
	for i := range 60 {
		makeSession(i, 2000).write(t, home)
	}
	begun := time.Now()
	importAll(t, want, home, nil)
	whole := time.Since(begun)
	r := rand.New(rand.NewPCG(3, 4))
	killed := 0
	for n := 0; killed < kills; n++ {
		if n > 20*kills {
			t.Fatalf("only %d of %d imports lived long enough to be killed", killed, n)
		}
		cmd := child(home, path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.Int64N(int64(whole/4))) + time.Millisecond)
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			killed++
		} else if err := os.RemoveAll(filepath.Dir(path)); err != nil { // it was through: begin again
			t.Fatal(err)
		}
		if killed%10 == 0 {
			checkWhole(t, path)
		}
	}
	if out, err := child(home, path).CombinedOutput(); err != nil {
		t.Fatalf("the import after %d kills: %v\n%s", killed, err, out)
	}
	checkWhole(t, path)
	got := openStore(t, path)
	if dump(t, got) != dump(t, want) {
		t.Error("after the kills the store is not what one import makes of the same files")
	}
}

// checkWhole opens the store as the next process would and looks at what it holds.
func checkWhole(t *testing.T, path string) {
	t.Helper()
	db, err := store.Open(t.Context(), path, store.Options{Words: search.Document, Stem: search.Stem})
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := db.Sessions(t.Context(), memory.Query{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		entries, err := db.Entries(t.Context(), s.ID)
		if err != nil || len(entries) != s.Entries {
			t.Fatalf("session %s says %d entries and has %d (%v)", s.ID, s.Entries, len(entries), err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// envInt is a number that a benchmark is scaled with.
func envInt(tb testing.TB, name string, or int) int {
	s := os.Getenv(name)
	if s == "" {
		return or
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}
