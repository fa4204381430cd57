package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newSpool(t testing.TB) Spool {
	t.Helper()
	return Spool{Dir: filepath.Join(t.TempDir(), "spool")}
}

func lineOf(id string) []byte {
	return fmt.Appendf(nil, `{"v":1,"id":%q,"event":"postToolUse","at":1795257460360,"payload":{"sessionId":"s"}}`, id)
}

func appendIDs(t testing.TB, s Spool, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := s.Append(lineOf(id)); err != nil {
			t.Fatalf("Append(%s): %v", id, err)
		}
	}
}

// appendRaw puts bytes into the current file as a killed or hostile writer would.
func appendRaw(t testing.TB, s Spool, data string) {
	t.Helper()
	f, err := os.OpenFile(s.path(current), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// drain returns the ids in the order they came.
func drain(t testing.TB, s Spool) ([]string, Report) {
	t.Helper()
	var ids []string
	r, err := s.Drain(100, func(lines []Line) error {
		for _, l := range lines {
			ids = append(ids, l.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("Drain: %v", err)
	}
	return ids, r
}

func files(t testing.TB, s Spool) []string {
	t.Helper()
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRoundTrip(t *testing.T) {
	s := newSpool(t)
	want := []Line{
		{Version: 1, ID: "00000000000000aa", Event: "postToolUse", At: 1795257460360, Payload: json.RawMessage(`{"a":"b"}`)},
		{Version: 1, ID: "00000000000000bb", Event: "transcript.assistant.message", At: 1, Session: "s", Redacted: 2, Truncated: true, Payload: json.RawMessage(`[]`)},
		{Version: 1, ID: "00000000000000cc", Event: "SessionEnd"},
	}
	for _, l := range []string{
		`{"v":1,"id":"00000000000000aa","event":"postToolUse","at":1795257460360,"payload":{"a":"b"}}`,
		`{"v":1,"id":"00000000000000bb","event":"transcript.assistant.message","at":1,"session":"s","redacted":2,"truncated":true,"payload":[]}`,
		`{"v":1,"id":"00000000000000cc","event":"SessionEnd","payload":null,"later":"field"}`,
	} {
		if err := s.Append([]byte(l)); err != nil {
			t.Fatal(err)
		}
	}
	if n, size, err := s.Pending(); n != 1 || size < 200 || err != nil {
		t.Errorf("Pending = %d, %d, %v", n, size, err)
	}
	var got []Line
	r, err := s.Drain(100, func(l []Line) error { got = append(got, l...); return nil })
	if err != nil || r != (Report{Lines: 3}) {
		t.Errorf("Drain = %+v, %v", r, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if names := files(t, s); names != nil {
		t.Errorf("left behind: %v", names)
	}
	if n, size, err := s.Pending(); n != 0 || size != 0 || err != nil {
		t.Errorf("Pending = %d, %d, %v", n, size, err)
	}
}

func TestNothingThere(t *testing.T) {
	s := newSpool(t)
	if n, size, err := s.Pending(); n != 0 || size != 0 || err != nil {
		t.Errorf("Pending = %d, %d, %v", n, size, err)
	}
	if ids, r := drain(t, s); ids != nil || r != (Report{}) {
		t.Errorf("drained %v, %+v", ids, r)
	}
	if _, err := os.Lstat(s.Dir); !os.IsNotExist(err) {
		t.Errorf("a reader made the folder: %v", err)
	}
}

func TestAppendRefusesLineEnd(t *testing.T) {
	s := newSpool(t)
	if err := s.Append([]byte("{\n}")); err == nil {
		t.Error("Append = nil, want an error")
	}
	if _, err := os.Lstat(s.Dir); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

func TestTornAndDamagedLines(t *testing.T) {
	s := newSpool(t)
	appendIDs(t, s, "a1")
	appendRaw(t, s, "\n"+string(lineOf("torn")[:40]))
	appendIDs(t, s, "a2")
	appendRaw(t, s, "\n\n  \r\nnot json\n[]\n{\"v\":2,\"id\":\"x\",\"event\":\"e\"}\n{\"v\":1,\"event\":\"no id\"}\n{\"v\":1,\"id\":\"no event\"}\n\x00\x00\x00\n")
	appendIDs(t, s, "a3")
	appendRaw(t, s, "\n"+string(lineOf("torn at the end")[:60]))

	ids, r := drain(t, s)
	if diff := cmp.Diff([]string{"a1", "a2", "a3"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if r != (Report{Lines: 3, Damaged: 8}) {
		t.Errorf("report %+v", r)
	}
	if diff := cmp.Diff([]string{damaged}, files(t, s)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	kept, err := os.ReadFile(s.path(damaged))
	if err != nil {
		t.Fatal(err)
	}
	want := string(lineOf("torn")[:40]) + "\nnot json\n[]\n{\"v\":2,\"id\":\"x\",\"event\":\"e\"}\n{\"v\":1,\"event\":\"no id\"}\n{\"v\":1,\"id\":\"no event\"}\n\x00\x00\x00\n" +
		string(lineOf("torn at the end")[:60]) + "\n"
	if diff := cmp.Diff(want, string(kept)); diff != "" {
		t.Errorf("damaged.jsonl (-want +got):\n%s", diff)
	}
	if n, _, _ := s.Pending(); n != 0 {
		t.Errorf("damaged lines count as pending")
	}
}

func TestLastLineWithoutEndIsTaken(t *testing.T) {
	s := newSpool(t)
	appendIDs(t, s, "a1")
	appendRaw(t, s, "\n"+string(lineOf("a2")))
	if ids, r := drain(t, s); len(ids) != 2 || r.Damaged != 0 {
		t.Errorf("drained %v, %+v", ids, r)
	}
}

func TestBatches(t *testing.T) {
	s := newSpool(t)
	for i := range 25 {
		appendIDs(t, s, fmt.Sprint(i))
	}
	var sizes []int
	var kept [][]Line
	if _, err := s.Drain(10, func(l []Line) error {
		sizes = append(sizes, len(l))
		kept = append(kept, l)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{10, 10, 5}, sizes); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	for i := range 25 { // fn may keep what it was given
		if got := kept[i/10][i%10].ID; got != fmt.Sprint(i) {
			t.Errorf("line %d is %s", i, got)
		}
	}
	appendIDs(t, s, "x", "y")
	calls := 0
	if _, err := s.Drain(0, func(l []Line) error { calls++; return nil }); err != nil || calls != 2 {
		t.Errorf("batch 0: %d calls, %v; want one line at a time", calls, err)
	}
}

func TestErrorKeepsTheFile(t *testing.T) {
	s := newSpool(t)
	appendIDs(t, s, "a1", "a2", "a3")
	appendRaw(t, s, "\nbroken\n")
	refused := errors.New("store is locked")
	for range 2 {
		calls := 0
		r, err := s.Drain(2, func([]Line) error {
			if calls++; calls == 2 {
				return refused
			}
			return nil
		})
		if !errors.Is(err, refused) || r != (Report{Lines: 2}) {
			t.Fatalf("Drain = %+v, %v", r, err)
		}
		if names := files(t, s); len(names) != 1 || !strings.HasPrefix(names[0], claimPrefix) {
			t.Fatalf("files %v", names)
		}
	}
	appendIDs(t, s, "a4")
	if n, _, err := s.Pending(); n != 2 || err != nil {
		t.Errorf("Pending = %d, %v; want the claimed file and the new one", n, err)
	}
	ids, r := drain(t, s)
	if diff := cmp.Diff([]string{"a1", "a2", "a3", "a4"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if r != (Report{Lines: 4, Damaged: 1}) {
		t.Errorf("report %+v", r)
	}
	if kept, err := os.ReadFile(s.path(damaged)); err != nil || string(kept) != "broken\n" {
		t.Errorf("damaged.jsonl: %q, %v; want the line once", kept, err)
	}
}

func TestDeadReadersFile(t *testing.T) {
	s := newSpool(t)
	appendIDs(t, s, "a1")
	if err := os.Rename(s.path(current), s.path("claimed-1795257460360000001-4242.jsonl")); err != nil {
		t.Fatal(err)
	}
	appendIDs(t, s, "a2")
	if err := os.Rename(s.path(current), s.path("claimed-1795257460360000000-99999.jsonl")); err != nil {
		t.Fatal(err)
	}
	appendIDs(t, s, "a3")
	if err := os.WriteFile(s.path("claimed-other.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	ids, _ := drain(t, s)
	if diff := cmp.Diff([]string{"a2", "a1", "a3"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"claimed-other.txt"}, files(t, s)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestClaimLeavesABusyFile(t *testing.T) {
	s := newSpool(t)
	appendIDs(t, s, "a1")
	busy := func(from, to string) error { return &os.LinkError{Op: "rename", Old: from, New: to, Err: errBusy} }
	if err := s.claim(busy); err != nil {
		t.Errorf("claim of a busy file: %v", err)
	}
	if diff := cmp.Diff([]string{current}, files(t, s)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	broken := errors.New("i/o error")
	if err := s.claim(func(string, string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("claim of a broken disk: %v", err)
	}
	if ids, _ := drain(t, s); len(ids) != 1 {
		t.Errorf("drained %v", ids)
	}
}

func TestClaimsNeverShareAName(t *testing.T) {
	s := newSpool(t)
	seen := make(map[string]bool)
	for range 1000 {
		appendIDs(t, s, "a")
		if err := s.claim(func(from, to string) error {
			if seen[to] {
				t.Fatalf("%s twice", to)
			}
			seen[to] = true
			return os.Remove(from)
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d claims", len(seen))
	}
}

func TestHugeLines(t *testing.T) {
	s := newSpool(t)
	text := bytes.Repeat([]byte("x"), 16<<20)
	for _, id := range []string{"h1", "h2", "h3"} {
		line := fmt.Appendf(nil, `{"v":1,"id":%q,"event":"e","payload":%q}`, id, text)
		if err := s.Append(line); err != nil {
			t.Fatal(err)
		}
	}
	calls := 0
	r, err := s.Drain(100, func(lines []Line) error {
		calls++
		for _, l := range lines {
			if len(l.Payload) != len(text)+2 {
				t.Errorf("%s: %d bytes", l.ID, len(l.Payload))
			}
		}
		return nil
	})
	if err != nil || r != (Report{Lines: 3}) || calls != 3 {
		t.Errorf("Drain = %+v, %v in %d calls; want each alone", r, err, calls)
	}
}

func TestOverlongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	long := strings.Repeat("y", 100_000) // more than the reader's buffer
	if err := os.WriteFile(path, []byte("one\n"+long+"\ntwo\n"+strings.Repeat(" ", 20)+"\n"+long), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := newScanner(f)
	sc.max, sc.wait = 10, 0
	var got []string
	var at []span
	for sc.next() {
		got, at = append(got, string(sc.line)), append(at, sc.at)
	}
	if sc.err != nil {
		t.Fatal(sc.err)
	}
	// A blank line that is too long is still too long.
	if diff := cmp.Diff([]string{"one", "", "two", "", ""}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	want := []span{{0, 3}, {4, 100_000}, {100_005, 3}, {100_009, 20}, {100_030, 100_000}}
	if diff := cmp.Diff(want, at, cmp.AllowUnexported(span{})); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

// The property: whatever was there before and wherever a writer was killed, the lines of others come out whole, and
// every byte that is no line is kept.
func FuzzParse(f *testing.F) {
	f.Add([]byte("\n{\"v\":1,\"id\":\"a\",\"event\":\"e\",\"at\":1,\"payload\":{}}\n"), []byte("{\"v\":1,\"i"))
	f.Add([]byte(`{"v":1,"id":"a","event":"e","at":1e9,"payload":null}`), []byte("\n\n\r\n \x00"))
	f.Add([]byte("[]\n{}\nnull\n\xff\xfe"), []byte(`"`))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		s := newSpool(t)
		if err := os.Mkdir(s.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		appendRaw(t, s, string(before))
		appendIDs(t, s, "planted-one")
		appendRaw(t, s, string(after))
		appendIDs(t, s, "planted-two")
		var ids []string
		r, err := s.Drain(3, func(lines []Line) error {
			for _, l := range lines {
				if l.ID == "" || l.Event == "" || l.Version != 1 || (l.Payload != nil && !json.Valid(l.Payload)) {
					t.Errorf("not a line: %+v", l)
				}
				if strings.HasPrefix(l.ID, "planted-") {
					ids = append(ids, l.ID)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"planted-one", "planted-two"}, ids); diff != "" {
			t.Errorf("planted lines (-want +got):\n%s", diff)
		}
		nonBlank := 2
		for _, raw := range [][]byte{before, after} {
			for l := range bytes.SplitSeq(raw, []byte("\n")) {
				if len(bytes.TrimSpace(l)) > 0 {
					nonBlank++
				}
			}
		}
		if r.Lines+r.Damaged != nonBlank {
			t.Errorf("%+v of %d lines", r, nonBlank)
		}
		kept, err := os.ReadFile(s.path(damaged))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if n := bytes.Count(kept, []byte("\n")); n != r.Damaged {
			t.Errorf("%d lines in damaged.jsonl, %d reported", n, r.Damaged)
		}
	})
}
