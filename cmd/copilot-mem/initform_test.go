package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

// formEnv is a terminal that reads these lines, on a machine of its own.
func formEnv(t *testing.T, lines string, repo bool) (e *env, shown *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	if repo {
		if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	shown = &bytes.Buffer{}
	vars := map[string]string{
		"HOME": dir, "USERPROFILE": dir, "COPILOT_HOME": filepath.Join(dir, "client"), "COPILOT_MEM_HOME": filepath.Join(dir, "data"), "PATH": os.Getenv("PATH"), "NO_COLOR": "1",
	}
	return &env{
		Stdin: strings.NewReader(lines), Stdout: shown, Stderr: shown, Getenv: func(k string) string { return vars[k] },
		Now: time.Now, Dir: dir, TTY: true, Accessible: true,
	}, shown
}

// What is answered is what a flag would have said; what is left as it is, is as if nobody had been asked.
func TestAnswersAreFlags(t *testing.T) {
	all := strings.Join(captureKinds(), ",")
	tests := []struct {
		name  string
		repo  bool
		given initFlags
		lines []string // one each: scope, what is captured (numbers, 0 ends), recall, policy, [vendor, share,] forward
		want  initFlags
	}{
		{"Enter all the way", false, initFlags{}, []string{"", "0", "", "", ""}, initFlags{scope: "user", policy: "on", forward: "none"}},
		{"the plugin, fewer things, other rules, a sink", false, initFlags{}, []string{"2", "4", "0", "n", "2", "2"},
			initFlags{scope: "plugin", recall: "off", capture: []string{"prompts", "responses", "tools", "errors", "subagents", "notifications"}, policy: "warn", forward: "memory-ingest"}},
		{"nothing", false, initFlags{}, []string{"1", "1", "2", "3", "4", "5", "6", "7", "0", "", "3", "1"},
			initFlags{scope: "user", capture: []string{"none"}, policy: "off", forward: "none"}},
		{"the repository with everything", true, initFlags{}, []string{"2", "0", "", "", "2", "y", ""},
			initFlags{scope: "repo", policy: "on", vendor: []string{hostTarget()}, share: true, forward: "none"}},
		{"the repository, as it is", true, initFlags{}, []string{"2", "0", "", "", "", "n", ""}, initFlags{scope: "repo", policy: "on", forward: "none"}},
		{"flags answer", true, initFlags{scope: "repo", policy: "off", forward: "none", capture: strings.Split(all, ","),
			given: map[string]bool{"policy": true, "forward": true, "capture": true, "recall": true, "share": true, "vendor-binary": true}}, nil,
			initFlags{scope: "repo", policy: "off", forward: "none", capture: strings.Split(all, ",")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, shown := formEnv(t, strings.Join(tt.lines, "\n")+"\n", tt.repo)
			f := tt.given
			if f.given == nil {
				f.given = map[string]bool{}
			}
			if err := e.askInit(&f); err != nil {
				t.Fatalf("%v\n%s", err, shown)
			}
			if rest, err := io.ReadAll(e.Stdin); err != nil || strings.TrimSpace(string(rest)) != "" {
				t.Errorf("not read: %q, %v", rest, err)
			}
			f.given = nil
			if diff := cmp.Diff(tt.want, f, cmp.AllowUnexported(initFlags{})); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, shown)
			}
		})
	}
}

// Every question has a flag of that name, so that a script can answer it.
func TestEveryQuestionHasAFlag(t *testing.T) {
	e, _ := formEnv(t, "", true)
	cmd := newInitCmd(e)
	questions := e.initQuestions(&initFlags{given: map[string]bool{}}, &answers{})
	if len(questions) < 6 {
		t.Errorf("only %d questions", len(questions))
	}
	for _, q := range questions {
		if cmd.Flags().Lookup(q.flag) == nil {
			t.Errorf("no flag --%s", q.flag)
		}
	}
}

// The end of the input is no answer: nothing is installed, and nothing waits.
func TestEndOfInputStops(t *testing.T) {
	for _, lines := range []string{"", "1\n", "1\n0\n\n1\n1\n"} {
		e, _ := formEnv(t, lines, false)
		_, err := e.init(t.Context(), initFlags{given: map[string]bool{}, readme: true})
		if err != codeError(exitInterrupted) { //nolint:errorlint // our own value
			t.Errorf("%q: %v", lines, err)
		}
		if entries, err := os.ReadDir(e.Dir); err != nil || len(entries) > 0 {
			t.Errorf("%q: %v, %v", lines, entries, err)
		}
	}
}

// Without a terminal no question is asked, whatever stdin holds.
func TestNothingWaits(t *testing.T) {
	for _, name := range []string{"pipe", "--yes", "--json"} {
		e, _ := formEnv(t, "", false)
		e.Stdin, e.TTY = reader(func([]byte) (int, error) { t.Errorf("%s: stdin is read", name); return 0, io.EOF }), name != "pipe"
		if e.interactive(name == "--yes", name == "--json") {
			t.Errorf("%s: asks", name)
		}
	}
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// purge: two questions, the second with how much goes; no is no.
func TestPurgeAsksTwice(t *testing.T) {
	for answer, gone := range map[string]bool{"y\ny\n": true, "y\nn\n": false, "n\ny\n": false, "y\n\n": false} {
		e, shown := formEnv(t, answer, false)
		data, err := e.dataDir()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(data.Spool(), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, size := range map[string]int{data.DB(): 3 << 20, filepath.Join(data.Spool(), "events.jsonl"): 10} {
			if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err = e.uninstall(uninstallFlags{purge: true, scope: "user"})
		if err != nil {
			t.Errorf("%q: %v", answer, err)
		}
		if _, err := os.Stat(string(data)); os.IsNotExist(err) != gone {
			t.Errorf("%q: gone %v, want %v\n%s", answer, !gone, gone, shown)
		}
		if !strings.Contains(shown.String(), "2 files, 3.0 MiB") || strings.HasPrefix(answer, "y") && !strings.Contains(shown.String(), "There is no way back") {
			t.Errorf("%q: %s", answer, shown)
		}
	}
}

func TestByteText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 30: "5.0 GiB", 3 << 40: "3.0 TiB"} {
		if got := byteText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// What we would reject is not installed, and the error names the file and the rule.
func TestRefuseInvalid(t *testing.T) {
	bad := []struct {
		scope string
		file  plugin.File
	}{
		{render.User, plugin.File{Path: "skills/x/SKILL.md", Data: []byte("no frontmatter")}},
		{render.User, plugin.File{Path: "hooks/copilot-mem.json", Data: []byte("{")}},
		{render.Repo, plugin.File{Path: ".github/agents/x.agent.md", Data: []byte("---\nname: 3\n---\n")}},
		{render.Repo, plugin.File{Path: ".github/hooks/copilot-mem.json", Data: []byte(`{"version":2,"hooks":{}}`)}},
		{render.Bundle, plugin.File{Path: "marketplace/.github/plugin/marketplace.json", Data: []byte(`{"name":"x"}`)}},
	}
	for _, b := range bad {
		err := refuseInvalid(b.scope, "/d", plugin.Tree{b.file})
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(b.file.Path, "marketplace/")) {
			t.Errorf("%s: %v", b.file.Path, err)
		}
	}
}

func TestTargetOf(t *testing.T) {
	pe := make([]byte, 0x90)
	copy(pe, "MZ")
	pe[0x3c], pe[0x84], pe[0x85] = 0x80, 0x64, 0x86
	elf := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 20)...)
	elf[18] = 183
	tests := map[string]string{
		string(pe): "windows/amd64", string(elf): "linux/arm64", "\xcf\xfa\xed\xfe\x0c\x00\x00\x01\x00": "darwin/arm64",
		"#!/bin/sh\necho a long enough script": "", "": "", "MZ": "", string(elf[:19]): "",
	}
	for data, want := range tests {
		if got := targetOf([]byte(data)); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}

// The tree has every operation once, under its folders; control characters of a name do not reach the terminal.
func TestPlanTree(t *testing.T) {
	out := outcome{Scope: "user", Dir: "/c", Operations: []operation{
		{"create", "skills/q/SKILL.md", "0644", ""}, {"keep", "hooks/a\x1b[31m.json", "0644", "not ours"}, {"update", "settings.json", "0600", "two keys"},
		{"create", filepath.FromSlash("/data/bin/copilot-mem-hook"), "0700", "the hooks run it"},
	}}
	var b strings.Builder
	planPrinter{w: &b, out: out}.tree()
	want := `scope user in /c
├─ hooks/
│  └─ keep a�[31m.json  (not ours)
├─ update settings.json  (two keys)
└─ skills/
   └─ q/
      └─ create SKILL.md
/data/bin
└─ create copilot-mem-hook  (the hooks run it)
`
	if diff := cmp.Diff(want, filepath.ToSlash(b.String())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Reset()
	printDiff(&b, "settings.json", []byte("{\n  \"a\": \"\x1b]0;x\a\"\n}\n"), []byte("{\n  \"a\": \"\x1b]0;x\a\",\n  \"b\": 1\n}\n"), false)
	if got := b.String(); strings.ContainsAny(got, "\x1b\a") || !strings.Contains(got, "+  \"b\": 1\n") {
		t.Errorf("%q", got)
	}
	b.Reset()
	printDiff(&b, "program", []byte("\x00\x01"), []byte("\xff"), false)
	if got := b.String(); got != "\nprogram: 2 bytes become 1\n" {
		t.Errorf("%q", got)
	}
	if fmt.Sprint(paint(false, "x", "31"), paint(true, "x", "31")) != "x\x1b[31mx\x1b[0m" {
		t.Error("colours")
	}
}
