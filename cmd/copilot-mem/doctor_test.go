package main

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// testHealth is a machine in a folder for temporary files.
func testHealth(t *testing.T) *health {
	t.Helper()
	dir := t.TempDir()
	e := &env{
		Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now, Dir: dir,
		Getenv: func(name string) string {
			return map[string]string{"HOME": dir, "USERPROFILE": dir, "COPILOT_MEM_HOME": filepath.Join(dir, "data"), "COPILOT_HOME": filepath.Join(dir, "copilot")}[name]
		},
	}
	h, err := e.newHealth(context.Background(), hurried)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	return h
}

// TestEveryCheckIsDocumented: docs/doctor.md has a row for each check, and no other.
func TestEveryCheckIsDocumented(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "doctor.md"))
	if err != nil {
		t.Fatal(err)
	}
	var have, want []string
	groups := []string{"client", "install", "hooks", "capture", "store", "recall", "policy", "privacy"}
	for line := range strings.Lines(string(data)) {
		name, ok := strings.CutPrefix(line, "| `")
		name, _, _ = strings.Cut(name, "`")
		if group, _, found := strings.Cut(name, "/"); ok && found && slices.Contains(groups, group) {
			have = append(have, name)
		}
	}
	for _, c := range testHealth(t).checks(checkMode{live: true, client: true}) {
		want = append(want, c.Group+"/"+c.Name)
		if !slices.Contains(groups, c.Group) {
			t.Errorf("%s/%s: the group is not one of %v", c.Group, c.Name, groups)
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("documented: %v\nchecks:     %v", have, want)
	}
}

// TestEveryComplaintHasAHint on a machine with nothing.
func TestEveryComplaintHasAHint(t *testing.T) {
	h := testHealth(t)
	report := doctor.Run(context.Background(), h.checks(checkMode{}))
	if report.Result != doctor.Error {
		t.Errorf("nothing is installed, and the result is %s", report.Result)
	}
	for _, a := range report.Answers {
		if a.Detail == "" || a.Bad() && a.Hint == "" {
			t.Errorf("%s/%s: %s without a detail or a hint", a.Group, a.Name, a.Result)
		}
	}
}

func TestVolume(t *testing.T) {
	const gib = 1 << 30
	for _, tt := range []struct {
		v    volume
		want doctor.Result
	}{
		{volume{free: gib}, doctor.OK},
		{volume{free: 100 << 20}, doctor.Warning},
		{volume{free: 1 << 20}, doctor.Error},
		{volume{free: gib, kind: "nfs"}, doctor.Warning},
		{volume{free: 0, kind: "nfs"}, doctor.Error},
	} {
		if got := tt.v.outcome("/data"); got.Result != tt.want || got.Result != doctor.OK && got.Hint == "" {
			t.Errorf("%+v: %s (%s)", tt.v, got.Result, got.Hint)
		}
	}
	if v, err := readVolume(t.TempDir()); err != nil || v.free == 0 {
		t.Errorf("the disk of the test: %+v, %v", v, err)
	}
}

func TestPlatformOf(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := platformOf(exe); err != nil || got != buildInfo().Platform {
		t.Errorf("this program: %s, %v", got, err)
	}
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_AARCH64), Version: uint32(elf.EV_CURRENT), Ehsize: 64,
	}
	arm, err := binary.Append(nil, binary.LittleEndian, header)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"arm": {string(arm), "linux/arm64"}, "empty": {"", ""}, "script": {"#!/bin/sh\n", ""}, "cut": {"\x7fELF\x02", ""},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(tt.text), 0o700); err != nil {
			t.Fatal(err)
		}
		if got, err := platformOf(path); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestHookEntryPrograms(t *testing.T) {
	for _, tt := range []struct {
		hook    plugin.Hook
		root    string
		ours    bool
		program string
	}{
		{plugin.Hook{Exec: "/opt/copilot-mem-hook"}, "", true, "/opt/copilot-mem-hook"},
		{plugin.Hook{Exec: "/opt/other", Args: []string{"copilot-mem"}}, "", false, "/opt/other"},
		{plugin.Hook{Bash: `[ -x '/it'\''s here/copilot-mem-hook' ] || exit 0; '/it'\''s here/copilot-mem-hook' preToolUse || true`}, "", true, "/it's here/copilot-mem-hook"},
		{plugin.Hook{Bash: `p="$PLUGIN_ROOT/bin/copilot-mem-hook"; [ -x "$p" ] || exit 0; "$p" stop || true`}, "/plug", true, filepath.Join("/plug", "bin", "copilot-mem-hook")},
		{plugin.Hook{Bash: `p=$(command -v copilot-mem-hook) || exit 0`}, "", true, ""},
		{plugin.Hook{Bash: "my-copilot-memory --log"}, "", false, ""},
	} {
		if onWindows && tt.hook.Exec == "" {
			continue // the shell forms of another system
		}
		e := hookEntry{Hook: tt.hook, root: tt.root}
		if e.ours() != tt.ours || e.program() != tt.program {
			t.Errorf("%+v: ours %v, program %q", tt.hook, e.ours(), e.program())
		}
	}
}

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		text          string
		width, indent int
		want          string
	}{
		{"one two three", 0, 4, "one two three"},
		{"one two three four five six", 24, 4, "one two three four\n    five six"},
		{"/a/very/long/path/that/nobody/breaks", 24, 4, "/a/very/long/path/that/nobody/breaks"},
		{"a narrow terminal", 10, 4, "a narrow terminal"},
	} {
		if got := fold(tt.text, tt.width, tt.indent); got != tt.want {
			t.Errorf("%q at %d: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func TestWithoutComments(t *testing.T) {
	in := "// one\n{\"a\": \"http://x\"}\n  // two\n"
	if got := string(withoutComments([]byte(in), true)); got != "{\"a\": \"http://x\"}\n" {
		t.Errorf("got %q", got)
	}
	if got := string(withoutComments([]byte(in), false)); got != in {
		t.Errorf("a strict file was changed: %q", got)
	}
}
