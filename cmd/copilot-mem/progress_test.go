package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A bar is drawn on one line after a second, not more often than ten times a second, and taken away at the end.
func TestProgressBar(t *testing.T) {
	var out bytes.Buffer
	e := &env{Stderr: &out, Getenv: func(string) string { return "" }}
	if p := e.newProgress("import"); p.on {
		t.Error("a bar is drawn where nobody looks at a terminal")
	}
	p := &progress{e: e, what: "import", on: true, start: time.Now()}
	p.set(1<<20, 4<<20)
	p.done()
	if out.Len() > 0 {
		t.Errorf("work of less than a second shows %q", out.String())
	}
	p.start = p.start.Add(-2 * time.Second)
	p.set(1<<20, 4<<20)
	p.set(2<<20, 4<<20)
	if got, want := out.String(), "\rimport [#######.......................]  25%  1 of 4 MB"; got != want {
		t.Errorf("bar %q, want %q", got, want)
	}
	p.shown = time.Time{}
	p.set(9<<20, 4<<20) // a file that grew
	if !strings.HasSuffix(out.String(), "["+strings.Repeat("#", barWidth)+"] 100%  9 of 4 MB") {
		t.Errorf("more than all: %q", out.String())
	}
	if strings.Contains(out.String(), "\n") {
		t.Error("the bar takes more than a line")
	}
	out.Reset()
	p.done()
	if s := out.String(); strings.TrimSpace(s) != "" || !strings.HasPrefix(s, "\r") || !strings.HasSuffix(s, "\r") {
		t.Errorf("the end leaves %q", s)
	}
}
