package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForgetState(t *testing.T) {
	w := newWorld(t)
	if err := ForgetState(w.dir, func(string) bool { return true }); err != nil {
		t.Fatalf("no folder: %v", err)
	}
	for name, text := range map[string]string{
		"transcript-1.path": "/home/u/session-a/events.jsonl", "transcript-1.pos": "session-a",
		"transcript-2.path": "/home/u/session-b/events.jsonl", "session-3": "copilot-a", "session-3.closed": "session-a",
	} {
		writeFile(t, filepath.Join(w.dir.State(), name), text)
	}
	if err := ForgetState(w.dir, func(content string) bool { return strings.Contains(content, "session-a") }); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(w.dir.State())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Name())
	}
	if diff := cmp.Diff([]string{"session-3", "transcript-1.pos", "transcript-2.path"}, got); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}
