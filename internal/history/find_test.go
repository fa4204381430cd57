package history

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const firstLine = `{"type":"session.start","data":{"sessionId":"one"},"id":"1","timestamp":"2026-11-20T08:00:00.000Z"}` + "\n"

// A folder that is reached over a link is looked into; a transcript that is no file is named.
func TestFindNamesWhatIsNoFile(t *testing.T) {
	real := t.TempDir()
	for path, content := range map[string]string{"one/events.jsonl": firstLine, "two/events.jsonl/x": "a folder", "three/notes.txt": "nothing"} {
		file := filepath.Join(real, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip("this system makes no links here: ", err)
	}
	files, bad, err := Find(link, "")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, f := range files {
		got = append(got, f.Path)
	}
	for _, p := range bad {
		got = append(got, p.Path+": "+p.Message)
	}
	want := []string{filepath.Join(link, "one", "events.jsonl"), filepath.Join(link, "two", "events.jsonl") + ": not a regular file"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMarkBeforeTheFirstLine(t *testing.T) {
	line, err := newLines(strings.NewReader("\xef\xbb\xbf{}\r\n")).next()
	if err != nil || string(line) != "{}" {
		t.Errorf("%q, %v", line, err)
	}
}

func TestBadLineIsASentence(t *testing.T) {
	var v struct {
		ToolRequests []string
		Name         string `json:"name"`
	}
	for in, want := range map[string]string{
		`[]`:                   "the line: an array where something else was meant",
		`7`:                    "the line: a number where something else was meant",
		`{"toolRequests":"x"}`: "field toolRequests: a string where something else was meant",
		`{"name":{}}`:          "field name: an object where something else was meant",
		`{`:                    "not a JSON document from byte 1 on",
	} {
		if err := badLine(json.Unmarshal([]byte(in), &v)); err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	if err := badLine(errors.New("with a secret")); strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
