package spool

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEdit(t *testing.T) {
	s := Spool{Dir: t.TempDir()}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(damaged, "keep\n\nbad one\nsecret here\ntorn bad")
	write("unfolded.jsonl", "bad\n")
	write("events.jsonl", "bad, but it waits\n")
	write(editing+"17", "left by a killed process: bad\n")
	if err := os.Chtimes(filepath.Join(s.Dir, editing+"17"), time.Time{}, time.Now().Add(-2*editTime)); err != nil {
		t.Fatal(err)
	}
	write("lock", "bad\n")
	edit := func(line []byte) []byte {
		if bytes.Contains(line, []byte("bad")) {
			return nil
		}
		return bytes.ReplaceAll(line, []byte("secret"), []byte("******"))
	}
	if n, err := s.Edit(edit, true); n != 4 || err != nil {
		t.Errorf("Edit = %d, %v", n, err)
	}
	got := map[string]string{}
	files, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(s.Dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name()] = string(b)
	}
	want := map[string]string{damaged: "keep\n****** here\n", "events.jsonl": "bad, but it waits\n", "lock": "bad\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	before, err := os.Stat(filepath.Join(s.Dir, damaged))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Edit(edit, true); n != 0 || err != nil {
		t.Errorf("second Edit = %d, %v", n, err)
	}
	if after, err := os.Stat(filepath.Join(s.Dir, damaged)); err != nil || !os.SameFile(before, after) {
		t.Error("a file without such lines was written anew")
	}
	if n, err := (Spool{Dir: filepath.Join(s.Dir, "none")}).Edit(edit, true); n != 0 || err != nil {
		t.Errorf("Edit of no folder = %d, %v", n, err)
	}
}

func TestEditWaiting(t *testing.T) {
	s := Spool{Dir: t.TempDir()}
	for _, text := range []string{"one", "bad", "secret"} {
		if err := s.Append([]byte(`{"v":1,"id":"` + text + `","event":"x","at":1,"payload":"` + text + `"}`)); err != nil {
			t.Fatal(err)
		}
	}
	n, err := s.EditWaiting(func(line []byte) []byte {
		if bytes.Contains(line, []byte("bad")) {
			return nil
		}
		return bytes.ReplaceAll(line, []byte(`"secret"}`), []byte(`"******"}`))
	})
	if n != 2 || err != nil {
		t.Errorf("EditWaiting = %d, %v", n, err)
	}
	var got []string
	if _, err := s.Drain(10, func(lines []Line) error {
		for _, l := range lines {
			got = append(got, l.ID+" "+strings.Trim(string(l.Payload), `"`))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one one", "secret ******"}, got); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
}
