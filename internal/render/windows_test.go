package render

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// powerShellLines are all PowerShell lines that we ever install, by where they come from.
func powerShellLines(t *testing.T, program string) map[string]string {
	t.Helper()
	lines := map[string]string{}
	for _, f := range []struct {
		name string
		o    Options
		file string
	}{
		{"user", Options{Scope: User, HookCommand: program}, "hooks/copilot-mem.json"},
		{"user, one program", Options{Scope: User, HookCommand: program, HookArgs: []string{"capture"}}, "hooks/copilot-mem.json"},
		{"repo", Options{Scope: Repo}, ".github/hooks/copilot-mem.json"},
		{"plugin", Options{Scope: Bundle}, "com.github.copilot/hooks/hooks.json"},
		{"plugin for several systems", Options{Scope: Bundle, Launcher: true}, "com.github.copilot/hooks/hooks.json"},
	} {
		for ev, entries := range hooksOf(t, f.o, f.file).Hooks {
			for _, e := range entries {
				if e.PowerShell != "" {
					lines[f.name+" "+ev] = e.PowerShell
				}
			}
		}
	}
	if len(lines) < 20 {
		t.Fatalf("only %d lines: this test would see nothing", len(lines))
	}
	return lines
}

// newer is what Windows PowerShell 5 does not parse: chains, null operators, ternaries, variables of version 7.
var newer = regexp.MustCompile(`&&|\|\||\?\?|\?\.|\?\[|\$Is(Windows|Linux|MacOS)|-Parallel| \? [^}]* : `)

// Every line is one that Windows PowerShell 5 and PowerShell 7 both take, never fails, and is closed.
func TestPowerShellLines(t *testing.T) {
	for where, line := range powerShellLines(t, `C:\Users\Zoë Müller\App Data\copilot-mem\bin\copilot-mem-hook.exe`) {
		if m := newer.FindString(line); m != "" {
			t.Errorf("%s: %q is not in Windows PowerShell 5: %s", where, m, line)
		}
		if !strings.HasPrefix(line, "try {") || !strings.HasSuffix(line, "} catch { }; exit 0") || strings.ContainsAny(line, "\r\n\t") {
			t.Errorf("%s: %s", where, line)
		}
		quoted := regexp.MustCompile(`'(?:[^']|'')*'|"[^"]*"`).ReplaceAllString(line, "")
		for _, pair := range []string{"{}", "()"} {
			if strings.Count(quoted, pair[:1]) != strings.Count(quoted, pair[1:]) || strings.ContainsAny(quoted, `'"`) {
				t.Errorf("%s: not closed: %s", where, line)
			}
		}
	}
}

// The very line for paths as they are on Windows.
func TestPowerShellLineOfAPath(t *testing.T) {
	for program, want := range map[string]string{
		`C:\Program Files\copilot-mem\copilot-mem-hook.exe`: `'C:\Program Files\copilot-mem\copilot-mem-hook.exe'`,
		`C:\Users\Zoë\日本語\copilot-mem-hook.exe`:             `'C:\Users\Zoë\日本語\copilot-mem-hook.exe'`,
		`C:\it's\[1] $HOME\copilot-mem-hook.exe`:            `'C:\it''s\[1] $HOME\copilot-mem-hook.exe'`,
		"D:\\O\u2019Neil\\copilot-mem-hook.exe":             "'D:\\O\u2019\u2019Neil\\copilot-mem-hook.exe'",
		`\\server\share\copilot-mem-hook.exe`:               `'\\server\share\copilot-mem-hook.exe'`,
	} {
		line := hooksOf(t, Options{Scope: User, HookCommand: program}, "hooks/copilot-mem.json").Hooks["preToolUse"][0].PowerShell
		want = "try { if (Test-Path -LiteralPath " + want + " -PathType Leaf) { & " + want + " preToolUse } } catch { }; exit 0"
		if line != want {
			t.Errorf("%s:\n%s, want\n%s", program, line, want)
		}
	}
}

// The lines in a real PowerShell, of any version that is here.
func TestPowerShellRuns(t *testing.T) {
	shell := ""
	for _, name := range []string{"pwsh", "powershell"} {
		if path, err := exec.LookPath(name); err == nil {
			shell = path
			break
		}
	}
	if shell == "" {
		t.Skip("SKIPPED: no PowerShell on this machine (neither pwsh nor powershell on PATH): its lines were only compared as text")
	}
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the program of this test is a shell script")
	}
	for _, name := range []string{"plain", "with space", "l'été", "日本語", "[brackets]", "dollar$HOME", "typo\u2018graphic\u2019"} {
		program := filepath.Join(t.TempDir(), name, "copilot-mem-hook")
		line := hooksOf(t, Options{Scope: User, HookCommand: program}, "hooks/copilot-mem.json").Hooks["preToolUse"][0].PowerShell
		for _, there := range []bool{false, true} {
			want := ""
			if there {
				script(t, program, "exit 2")
				want = "preToolUse {\"a\":1}\n"
			}
			cmd := exec.Command(shell, "-NoProfile", "-NonInteractive", "-Command", line)
			cmd.Stdin, cmd.Env = strings.NewReader("{\"a\":1}"), os.Environ()
			out, err := cmd.Output()
			if got := string(bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n"))); err != nil || got != want {
				t.Errorf("%s, there %v: %q, %v", name, there, got, err)
			}
		}
	}
}
