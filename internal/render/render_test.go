package render

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	kept(t, filepath.Join("testdata", name+".golden"), got)
}

// kept compares a file of the repository with what is rendered; -update writes it.
func kept(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// text shows a whole tree; a skill or an agent is an asset as it stands, so its text is left out.
func text(tree plugin.Tree) []byte {
	var b bytes.Buffer
	for _, f := range tree {
		fmt.Fprintf(&b, "-- %s %04o --\n", f.Path, f.Mode)
		if strings.HasSuffix(f.Path, ".json") {
			b.Write(f.Data)
		}
	}
	return b.Bytes()
}

// The repository is a plugin as it lies there: the hook file that its manifest names is rendered, and kept.
func TestRepositoryHooks(t *testing.T) {
	want, err := RepositoryHooks(copilotmem.Files)
	if err != nil {
		t.Fatal(err)
	}
	kept(t, filepath.Join("..", "..", "assets", "hooks", "onpath.json"), want)
}

func hookProgram(target string) *Program {
	return &Program{Name: "copilot-mem-hook", Target: target, Data: []byte("program")}
}

func TestPluginGolden(t *testing.T) {
	tests := []struct {
		name string
		o    Options
	}{
		{"user", Options{Scope: User, HookCommand: "/opt/my programs/l'été/copilot-mem-hook"}},
		{"user-capture", Options{Scope: User, HookCommand: "/opt/copilot-mem", HookArgs: []string{"capture"}}},
		{"user-recall", Options{Scope: User, HookCommand: "/opt/copilot-mem-hook", Recall: true, Full: "/opt/my programs/copilot-mem"}},
		{"repo-recall", Options{Scope: Repo, Recall: true}},
		{"plugin-recall", Options{Scope: Bundle, Version: "9.8.7", Program: hookProgram("linux-amd64"), Recall: true, Full: "./bin/copilot-mem"}},
		{"repo", Options{Scope: Repo}},
		{"repo-vendored", Options{Scope: Repo, Vendor: []Program{*hookProgram("linux-arm64")}}},
		{"plugin", Options{Scope: Bundle, Version: "9.8.7", Program: hookProgram("linux-amd64")}},
		{"plugin-launcher", Options{Scope: Bundle, Version: "9.8.7", Launcher: true}},
		{"plugin-windows", Options{Scope: Bundle, Version: "9.8.7", Program: hookProgram("windows-amd64")}},
	}
	for _, tt := range tests {
		tree, err := Plugin(copilotmem.Files, tt.o)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		golden(t, tt.name, text(tree))
	}
	tree, err := Marketplace(copilotmem.Files, Options{Version: "9.8.7"})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "marketplace", text(tree))
}

func TestPluginRefuses(t *testing.T) {
	for _, o := range []Options{
		{Scope: "machine"},
		{Scope: User, HookCommand: "/x", HookArgs: []string{"a; rm -rf /"}},
		{Scope: Bundle, Program: &Program{Name: "a b", Target: "linux-amd64"}},
	} {
		if tree, err := Plugin(copilotmem.Files, o); err == nil {
			t.Errorf("Plugin(%+v) = %d files, want an error", o, len(tree))
		}
	}
}

// hooksOf decodes one rendered hook file.
func hooksOf(t *testing.T, o Options, name string) hookFile {
	t.Helper()
	tree, err := Plugin(copilotmem.Files, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tree {
		if f.Path == name {
			var h hookFile
			if err := json.Unmarshal(f.Data, &h); err != nil {
				t.Fatal(err)
			}
			return h
		}
	}
	t.Fatalf("%s: not rendered", name)
	return hookFile{}
}

func TestHookFileRules(t *testing.T) {
	tests := []struct {
		o    Options
		name string
	}{
		{Options{Scope: User, HookCommand: "/p"}, "hooks/copilot-mem.json"},
		{Options{Scope: Repo}, ".github/hooks/copilot-mem.json"},
		{Options{Scope: Bundle}, "com.github.copilot/hooks/hooks.json"},
	}
	for _, tt := range tests {
		h := hooksOf(t, tt.o, tt.name)
		if h.Version != 1 || len(h.Hooks) < 11 {
			t.Errorf("%s: version %d, %d events", tt.o.Scope, h.Version, len(h.Hooks))
		}
		if _, ok := h.Hooks["permissionRequest"]; ok {
			t.Errorf("%s: permissionRequest is registered: it denies when the program is gone", tt.o.Scope)
		}
		for ev, items := range h.Hooks {
			for _, e := range items {
				shell := e.Bash != "" && e.PowerShell != ""
				if (e.Exec != "") == shell || e.TimeoutSec <= 0 {
					t.Errorf("%s %s: %+v", tt.o.Scope, ev, e)
				}
				if (ev == "preToolUse" || tt.o.Scope == Repo) && !shell {
					t.Errorf("%s %s: not the guarded shell form", tt.o.Scope, ev)
				}
			}
		}
	}
}

var awkward = []string{
	"plain", "with space", "l'été", "quote\"double", "a'b''c", "dollar$HOME`id`", "back\\slash", "percent%PATH%",
	"日本語", "typo‘graphic’", "semi;colon&and|pipe", "new\nline", "[brackets]*?", "-dash", "!bang", "~",
}

// bash runs one rendered command as the client does and gives its output.
func bash(t *testing.T, command, dir string, env ...string) (stdout string, code int) {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "--noprofile", "-c", command)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(`{"a":1}`)
	out, err := cmd.Output()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// script writes a program that says how it was called and what it read.
func script(t *testing.T, path, end string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"$*\" \"$(cat)\"\n"+end+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func needBash(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash on this machine: the rendered bash commands are not run")
	}
}

func TestBashQuoting(t *testing.T) {
	needBash(t)
	for _, name := range awkward {
		out, code := bash(t, "printf %s "+Bash(name), t.TempDir(), "HOME=/h")
		if out != name || code != 0 {
			t.Errorf("Bash(%q) came out as %q, exit %d", name, out, code)
		}
	}
}

func TestPowerShellQuoting(t *testing.T) {
	tests := map[string]string{
		`C:\Program Files\x.exe`: `'C:\Program Files\x.exe'`,
		`it's`:                   `'it''s'`,
		"typo‘graphic’‚‛":        "'typo‘‘graphic’’‚‚‛‛'",
		"$env:X `n \"q\" été日本":  "'$env:X `n \"q\" été日本'",
	}
	for in, want := range tests {
		if got := PowerShell(in); got != want {
			t.Errorf("PowerShell(%q) = %s, want %s", in, got, want)
		}
	}
}

// A user's program may lie anywhere, may fail, and may be gone: preToolUse never blocks a tool.
func TestUserPreToolUse(t *testing.T) {
	needBash(t)
	for _, name := range awkward {
		program := filepath.Join(t.TempDir(), name, "copilot-mem-hook")
		command := hooksOf(t, Options{Scope: User, HookCommand: program}, "hooks/copilot-mem.json").Hooks["preToolUse"][0].Bash
		if out, code := bash(t, command, t.TempDir()); out != "" || code != 0 {
			t.Errorf("%q, program gone: %q, exit %d", name, out, code)
		}
		script(t, program, "exit 2")
		if out, code := bash(t, command, t.TempDir(), "PATH="+os.Getenv("PATH")); out != "preToolUse {\"a\":1}\n" || code != 0 {
			t.Errorf("%q, program fails: %q, exit %d", name, out, code)
		}
	}
}

func TestBundlePreToolUse(t *testing.T) {
	needBash(t)
	command := hooksOf(t, Options{Scope: Bundle, HookArgs: []string{"capture"}}, "com.github.copilot/hooks/hooks.json").Hooks["preToolUse"][0].Bash
	for _, name := range awkward {
		root := filepath.Join(t.TempDir(), name)
		if out, code := bash(t, command, t.TempDir(), "PLUGIN_ROOT="+root); out != "" || code != 0 {
			t.Errorf("%q, program gone: %q, exit %d", name, out, code)
		}
		script(t, filepath.Join(root, "bin", "copilot-mem-hook"), "exit 1")
		out, code := bash(t, command, t.TempDir(), "PLUGIN_ROOT="+root, "PATH="+os.Getenv("PATH"))
		if out != "capture preToolUse {\"a\":1}\n" || code != 0 {
			t.Errorf("%q: %q, exit %d", name, out, code)
		}
	}
}

func TestRepoLookup(t *testing.T) {
	needBash(t)
	command := hooksOf(t, Options{Scope: Repo}, ".github/hooks/copilot-mem.json").Hooks["postToolUse"][0].Bash
	uname, err := exec.Command("uname", "-sm").Output()
	if err != nil {
		t.Fatal(err)
	}
	target, ok := map[string]string{
		"Linux x86_64": "linux-amd64", "Linux aarch64": "linux-arm64", "Darwin arm64": "darwin-arm64", "Darwin x86_64": "darwin-amd64",
	}[strings.TrimSpace(string(uname))]
	if !ok {
		t.Fatalf("uname says %s: not a system that programs are vendored for", uname)
	}
	dir := t.TempDir()
	home, repo, bin := filepath.Join(dir, "a home"), filepath.Join(dir, "a repo"), filepath.Join(dir, "a bin")
	for _, d := range []string{home, repo, bin} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(env ...string) string {
		out, code := bash(t, command, repo, append(env, "HOME="+home, "PATH="+bin+":/usr/bin:/bin")...)
		if code != 0 {
			t.Errorf("exit %d with %v", code, env)
		}
		return out
	}
	if out := run(); out != "" {
		t.Errorf("nothing installed: %q", out)
	}
	// From the last choice to the first: each one wins over those before it.
	steps := []struct{ path, want string }{
		{filepath.Join(home, ".local/share/copilot-mem/bin/copilot-mem"), "capture postToolUse"},
		{filepath.Join(bin, "copilot-mem"), "capture postToolUse"},
		{filepath.Join(repo, ".github/copilot-mem/bin", target, "copilot-mem-hook"), "postToolUse"},
		{filepath.Join(home, ".local/share/copilot-mem/bin/copilot-mem-hook"), "postToolUse"},
		{filepath.Join(bin, "copilot-mem-hook"), "postToolUse"},
	}
	for _, s := range steps {
		script(t, s.path, "echo \"$0\"; exit 2")
		want := s.want + " {\"a\":1}\n" + s.path + "\n"
		if got := strings.ReplaceAll(run(), "./.github", filepath.Join(repo, ".github")); got != want {
			t.Errorf("with %s: %q, want %q", s.path, got, want)
		}
	}
	data := filepath.Join(dir, "data")
	script(t, filepath.Join(data, "bin/copilot-mem-hook"), "echo data")
	if err := os.Remove(filepath.Join(bin, "copilot-mem-hook")); err != nil {
		t.Fatal(err)
	}
	if got := run("COPILOT_MEM_HOME=" + data); !strings.HasSuffix(got, "data\n") {
		t.Errorf("COPILOT_MEM_HOME is not looked at: %q", got)
	}
}

// Nothing of this machine may be in the files of a repository or of a bundle.
func TestSharedTreesArePortable(t *testing.T) {
	for _, scope := range []string{Repo, Bundle} {
		tree, err := Plugin(copilotmem.Files, Options{Scope: scope, HookCommand: "/home/somebody/copilot-mem-hook"})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range tree {
			if bytes.Contains(f.Data, []byte("/home/")) || !fs.ValidPath(f.Path) {
				t.Errorf("%s: %s holds a path of one machine", scope, f.Path)
			}
		}
	}
}
