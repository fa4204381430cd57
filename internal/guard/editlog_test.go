package guard

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEditLog(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "logs")
	if n, err := EditLog(home, func([]byte) bool { return true }); n != 0 || err != nil {
		t.Fatalf("without a log: %d, %v", n, err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(logName, "keep 1\nsecret 2\nkeep 3\n")
	write(logName+".1", "secret 4\n")
	write(logName+".2", "keep 5\nsecret 6") // the last line without an end
	n, err := EditLog(home, func(line []byte) bool { return bytes.HasPrefix(line, []byte("secret")) })
	if n != 3 || err != nil {
		t.Fatalf("%d lines went, %v; want 3", n, err)
	}
	var left []string
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", f.Name(), info.Mode(), err)
		}
		left = append(left, f.Name()+": "+strings.ReplaceAll(string(b), "\n", "|"))
	}
	if got, want := strings.Join(left, " "), logName+": keep 1|keep 3| "+logName+".2: keep 5|"; got != want {
		t.Errorf("left %q, want %q", got, want)
	}
	if err := appendLog(dir, []byte("more\n")); err != nil {
		t.Errorf("the log takes no line afterwards: %v", err)
	}
}
