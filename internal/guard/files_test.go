package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

var emptyCall = facts.Call{Tool: "bash", Args: map[string]any{}}

func TestLogRotates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	line := []byte(strings.Repeat("x", maxLine-1) + "\n")
	writes := 5*maxLog/maxLine + 3
	for range writes {
		if err := appendLog(dir, line); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1+keepLogs {
		t.Fatalf("%d files, %v; want the log and %d before it", len(entries), err, keepLogs)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Size() > maxLog || info.Size()%int64(len(line)) != 0 {
			t.Errorf("%s: %d bytes, %v", e.Name(), info.Size(), err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %o", e.Name(), info.Mode().Perm())
		}
	}
}

func TestLogInParallel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if err := appendLog(dir, fmt.Appendf(nil, "{\"n\":%d,\"pad\":%q}\n", i, strings.Repeat("y", 20000))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b, err := os.ReadFile(filepath.Join(dir, logName))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for l := range strings.Lines(string(b)) {
		var e struct{ N int }
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Errorf("%v: %.60s", err, l)
		}
		seen[e.N] = true
	}
	if len(seen) != 50 {
		t.Errorf("%d lines, want 50", len(seen))
	}
}

func TestEntriesAreBounded(t *testing.T) {
	secret := "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	for name, args := range map[string]string{
		"long text":   `{"content":"` + strings.Repeat("a", 100000) + secret + `"}`,
		"many texts":  `{"list":["` + strings.Repeat(`some text of a list","`, 5000) + secret + `"]}`,
		"huge":        `{"content":"` + strings.Repeat("b", 3<<20) + secret + `"}`,
		"text":        `"` + secret + `"`,
		"many keys":   `{` + strings.Repeat(`"k":1,`, 20000) + `"token":"` + secret + `"}`,
		"broken UTF8": "{\"a\":\"\xff" + secret + "\"}",
	} {
		e := newEntry(hook.Event{
			Name: hook.PostToolUse, SessionID: "s", Tool: "create", ToolInput: json.RawMessage(args),
			ResultText: strings.Repeat("c", 100000) + secret, ResultType: "success",
		}, time.Now())
		b := e.line()
		var back entry
		if err := json.Unmarshal(b, &back); err != nil || len(back.Args) > maxValue || len(back.Output) > maxValue || len(b) > maxLine {
			t.Errorf("%s: %d bytes of arguments, %d of output, %d together, %v", name, len(back.Args), len(back.Output), len(b), err)
		}
		if strings.Contains(string(b), secret) {
			t.Errorf("%s: the log holds the secret", name)
		}
	}
}

// A line that is written by hand is what encoding/json would make of the entry, in the same order.
func TestLine(t *testing.T) {
	for _, e := range []entry{
		{V: 1},
		{
			V: 1, Time: "t", Agent: "copilot", Session: "a\"\\\n\x01\u2028é<&>", Event: "tool", Hook: "preToolUse", Tool: "bash", Result: "success",
			Decision: "deny", Rules: []ruleRef{{"a", "f", "deny"}, {"b", "", "ask"}}, Duration: 3.25, Cwd: "/x", Args: json.RawMessage(`{"a":1}`), Output: "o",
		},
	} {
		want, err := encode(e)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		got := e.line()
		if json.Unmarshal(want, &a) != nil || json.Unmarshal(got, &b) != nil || !same(a, b) || !strings.HasPrefix(string(got), `{"v":1,"time":`) {
			t.Errorf("line = %s, want %s", got, want)
		}
	}
	if got := string(appendText(nil, "\xff")); got != `"\uFFFD"` && got != "\"\uFFFD\"" {
		t.Errorf("broken text = %s", got)
	}
}

func TestRecordIsLockedAndBounded(t *testing.T) {
	dir := t.TempDir()
	e := hook.Event{Name: hook.PreToolUse, SessionID: "s", Tool: "bash", ToolInput: json.RawMessage(`{"command":"a"}`)}
	if err := appendLog(dir, newEntry(e, time.Now()).line()); err != nil {
		t.Fatal(err)
	}
	r := record{dir, hook.Event{Name: hook.PreToolUse, SessionID: "s", Tool: "bash", ToolInput: json.RawMessage(`{"command":"b"}`)}}
	lines, err := r.lines()
	if err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], `{"lifecycle":"pre","toolName":"bash","toolArgs":{"command":"a"},"v":1`) || !json.Valid([]byte(lines[0])) {
		t.Fatalf("lines = %q, %v", lines, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, logName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !tryLock(f) {
		t.Fatal("the lock is taken")
	}
	if lines, err := r.lines(); !errors.Is(err, errLocked) || lines != nil {
		t.Errorf("lines = %q, %v; want nothing of a locked log", lines, err)
	}
	if v, err := query(nil, "transcript_count", "x"); err != nil || v != float64(0) {
		t.Errorf("count = %v, %v", v, err)
	}
}

func TestTrust(t *testing.T) {
	data, repo := t.TempDir(), t.TempDir()
	file := filepath.Join(repo, ".github", "hookflows", "a.yml")
	action := filepath.Join(repo, "action", "action.yml")
	for _, f := range []string{file, action} {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte("one"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want bool, why string) {
		t.Helper()
		if got, err := IsTrusted(data, repo); got != want || err != nil {
			t.Errorf("%s: trusted %t, %v; want %t", why, got, err, want)
		}
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check(false, "nobody was asked")
	repos, err := Trust(nil, repo, []string{filepath.Dir(action)}, time.Now())
	if err == nil {
		err = WriteTrust(data, repos)
	}
	if err != nil {
		t.Fatal(err)
	}
	check(true, "as it was")
	write(file, "two")
	check(false, "a policy changed")
	write(file, "one")
	check(true, "and back")
	write(action, "two")
	check(false, "an action changed")
	write(action, "one")
	write(filepath.Join(repo, ".github", "hookflows", "helper.sh"), "x")
	check(false, "a file was added")
	if err := os.Rename(filepath.Join(repo, ".github", "hookflows", "helper.sh"), filepath.Join(repo, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(repo, "main.go"), "package main")
	check(true, "what is no policy does not count")
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(filepath.Join(data, trustName), 0o620); err != nil {
		t.Fatal(err)
	}
	if got, err := IsTrusted(data, repo); got || err == nil {
		t.Errorf("a list that others may write to: %t, %v", got, err)
	}
}

func TestSlots(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	first, err := slot(ctx, dir, "../../group", 2)
	if err != nil {
		t.Fatal(err)
	}
	second, err := slot(ctx, dir, "../../group", 2)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := slot(short, dir, "../../group", 2); err == nil {
		t.Error("a third place of two")
	}
	first()
	third, err := slot(ctx, dir, "../../group", 2)
	if err != nil {
		t.Fatal(err)
	}
	second()
	third()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d lock files, %v", len(entries), err)
	}
}

func TestTailKeepsBothEnds(t *testing.T) {
	var out tail
	for i := range 100000 {
		if _, err := fmt.Fprintf(&out, "line %d\n", i); err != nil {
			t.Fatal(err)
		}
	}
	got := out.String()
	if len(got) > maxOutput+64 || !strings.HasPrefix(got, "line 0\n") || !strings.HasSuffix(got, "line 99999\n") || !strings.Contains(got, "bytes left out") {
		t.Errorf("%d bytes: %.20q … %.20q", len(got), got, got[max(0, len(got)-20):])
	}
}
