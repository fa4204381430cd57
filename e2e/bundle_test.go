//go:build e2e

package e2e

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// packed is what `build` made: its folder, which is a marketplace, and the archive that people download.
type packed struct {
	Name, Out string
	Artifacts []struct{ Path, Kind, Target string }
}

// pack runs build into a folder of its own.
func (w *world) pack(args ...string) packed {
	w.t.Helper()
	var p packed
	w.memJSON(&p, repoRoot, append([]string{"build", "--out", filepath.Join(w.Root, "dist")}, args...)...)
	return p
}

// unpack gives the plugin's folder, as somebody has it who unpacked the archive for the target.
func (w *world) unpack(p packed, target, dir string) string {
	w.t.Helper()
	for _, a := range p.Artifacts {
		if a.Kind == "tar.gz" && a.Target == target {
			untar(w.t, a.Path, dir)
			return filepath.Join(dir, p.Name)
		}
	}
	w.t.Fatalf("no archive for %s: %+v", target, p.Artifacts)
	return ""
}

func untar(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	gz, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			t.Errorf("%s: %s is no regular file", file, h.Name)
		}
		data, err := io.ReadAll(r)
		to := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, h.FileInfo().Mode().Perm())); err != nil {
			t.Fatal(err)
		}
	}
}

// client runs a command of the client that ends by itself.
func (w *world) client(args ...string) string {
	w.t.Helper()
	env := w.env("COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:9/v1", "COPILOT_MODEL=gpt-4.1")
	out, errs, code := w.run(w.Root, env, clientBin, append([]string{"--no-auto-update"}, args...)...)
	if code != 0 {
		w.t.Fatalf("copilot %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// ways are those in which a bundle reaches the client; each gives the arguments of later sessions.
var ways = map[string]func(w *world, p packed, dir string) []string{
	"plugin-dir": func(_ *world, _ packed, dir string) []string { return []string{"--plugin-dir", dir} },
	"install": func(w *world, _ packed, dir string) []string {
		w.client("plugin", "install", dir)
		return nil
	},
	"marketplace": func(w *world, p packed, dir string) []string {
		market := filepath.Join(w.Root, "market")
		for _, from := range []string{".github/plugin", ".claude-plugin"} {
			if err := os.CopyFS(filepath.Join(market, from), os.DirFS(filepath.Join(p.Out, from))); err != nil {
				w.t.Fatal(err)
			}
		}
		if err := os.CopyFS(filepath.Join(market, "plugins", p.Name), os.DirFS(dir)); err != nil {
			w.t.Fatal(err)
		}
		w.client("plugin", "marketplace", "add", market)
		w.client("plugin", "install", p.Name+"@"+p.Name+"-bundle")
		return nil
	},
}

// servers asks a headless session which MCP servers it has, as "name status plugin", once none is still starting.
func (w *world) servers(dir string, args ...string) []string {
	w.t.Helper()
	slots <- struct{}{}
	defer func() { <-slots }()
	r := w.headless(dir, args...)
	defer r.stop()
	var s struct {
		ID string `json:"sessionId"`
	}
	r.call("connect", map[string]any{}, &struct{}{})
	r.call("session.create", map[string]any{"workingDirectory": dir, "model": "gpt-4.1", "enableConfigDiscovery": true,
		"provider": map[string]any{"type": "openai", "baseUrl": "http://127.0.0.1:9/v1"}}, &s)
	var list struct {
		Servers []struct{ Name, Status, SourcePlugin string }
	}
	poll(20*time.Second, func() bool {
		r.call("session.mcp.list", map[string]any{"sessionId": s.ID}, &list)
		return len(list.Servers) > 0 && list.Servers[0].Status != "pending"
	})
	var all []string
	for _, m := range list.Servers {
		all = append(all, m.Name+" "+m.Status+" "+m.SourcePlugin)
	}
	return all
}

// checkLog: no word of the client against what is ours.
func (w *world) checkLog(words ...string) {
	w.t.Helper()
	for line := range strings.Lines(w.clientLog()) {
		if strings.Contains(line, "Failed to reload managed hooks") {
			continue // the headless client says so of every session that it makes, with no plugin at all
		}
		for _, word := range append([]string{"lugin", "ook", "kill", "mcp", "MCP", ".md"}, words...) {
			if strings.Contains(line, word) {
				w.t.Errorf("the client complains: %s", line)
				break
			}
		}
	}
}

// checkOffered: the model was told of each of the texts.
func checkOffered(t *testing.T, m *endpoint, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !slices.ContainsFunc(m.seen(), func(r request) bool { return strings.Contains(r.Raw, text) }) {
			t.Errorf("no request to the model holds %q", text)
		}
	}
}

// TestBundleWorks: our own plugin, from its archive, is loaded in every way with nothing installed, and remembers.
func TestBundleWorks(t *testing.T) {
	t.Parallel()
	for way, bring := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := newMemWorld(t)
			repo := w.repo("fir")
			flags, target := []string{"--target", host()}, host()
			if way == "install" { // the bundle for several systems, with the launcher
				flags, target = w.ourPrograms(), "any"
			}
			p := w.pack(flags...)
			args := bring(w, p, w.unpack(p, target, filepath.Join(w.Home, "downloads")))
			checkLoaded(t, w.load(repo, args...), p.Name+":")

			s := tourSession(t, repo, "gadwall")
			s.Env, s.Args = nil, args // a plugin needs no trust
			printed := w.runSessions(s)
			if !strings.Contains(printed[0], tourAnswer("gadwall")) {
				t.Errorf("the client did not print %q:\n%s", tourAnswer("gadwall"), printed[0])
			}
			checkOffered(t, s.Model, append(shipped(t, "skills", ""), shipped(t, "agents", ".agent.md")...)...)
			w.checkTour(s, "gadwall", "github.com/acme/fir")
			w.checkSessions(t, s)
			w.checkLog(p.Name)
		})
	}
}

func host() string { return runtime.GOOS + "/" + runtime.GOARCH }

// several gives the flags for a bundle of this system and another one, which has a stand-in for the program: so there
// is a launcher.
func several(t *testing.T, dir, program string) []string {
	t.Helper()
	other := "windows/arm64"
	if runtime.GOOS == "windows" {
		other = "linux/arm64"
	}
	standIn := filepath.Join(dir, strings.ReplaceAll(other, "/", "-"), program+".exe")
	if err := errors.Join(os.MkdirAll(filepath.Dir(standIn), 0o755), os.WriteFile(standIn, []byte("for another system"), 0o755)); err != nil {
		t.Fatal(err)
	}
	return []string{"--binaries", dir, "--target", host(), "--target", other}
}

func hostDir(dir string) string { return filepath.Join(dir, strings.ReplaceAll(host(), "/", "-")) }

// ourPrograms is for our own plugin.
func (w *world) ourPrograms() []string {
	w.t.Helper()
	dir := filepath.Join(w.Root, "programs")
	if err := os.CopyFS(hostDir(dir), os.DirFS(w.Bin)); err != nil {
		w.t.Fatal(err)
	}
	return several(w.t, dir, "copilot-mem-hook")
}

// probePrograms builds the fixture's program.
func probePrograms(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", hostDir(dir)+string(filepath.Separator), "./testdata/probe")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return several(t, dir, "probe")
}

// TestAnybodysPluginWorks: a plugin of the older rules, with a skill, an agent, a command, hooks and an MCP server, is
// packed for several systems and loaded in every way; the launcher finds the program.
func TestAnybodysPluginWorks(t *testing.T) {
	t.Parallel()
	for way, bring := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := newMemWorld(t)
			repo := w.repo("willow")
			p := w.pack(append([]string{filepath.Join("e2e", "testdata", "fixture")}, probePrograms(t, filepath.Join(w.Root, "programs"))...)...)
			args := bring(w, p, w.unpack(p, "any", filepath.Join(w.Home, "my down loads")))
			got := w.load(repo, args...)
			for _, problem := range got.Problems {
				t.Errorf("the client complains: %s", problem)
			}
			if !slices.Contains(got.Skills, "otter") || !slices.Contains(got.Agents, "otter-tools:warden") ||
				!slices.Equal(got.Hooks, []string{"agentStop", "preToolUse", "sessionStart"}) {
				t.Errorf("loaded: %+v", got)
			}
			if all := w.servers(repo, args...); !slices.Equal(all, []string{"probe connected otter-tools"}) {
				t.Errorf("MCP servers: %q", all)
			}
			log := filepath.Join(w.Root, "events.txt")
			s := session{ID: newID(), Dir: repo, Prompt: "Ask the river", Args: args, Env: []string{"PROBE_LOG=" + log},
				Model: newEndpoint(t, script{Match: "Ask the river", Steps: []step{
					use("probe-ping", map[string]any{}), {Text: "The river has answered."},
				}})}
			if printed := w.runSessions(s); !strings.Contains(printed[0], "The river has answered.") {
				t.Errorf("the client printed:\n%s", printed[0])
			}
			checkOffered(t, s.Model, "Knows the otters", "warden", `"probe-ping"`)
			if !s.Model.sawText("pong with [") {
				t.Error("the tool's answer did not reach the model")
			}
			events, err := os.ReadFile(log)
			for _, want := range []string{"sessionStart\n", "preToolUse\n", "agentStop\n"} {
				if !strings.Contains(string(events), want) {
					t.Errorf("hook %q did not run: %v\n%s", want, err, events)
				}
			}
			w.checkLog(p.Name)
		})
	}
}

// checkout copies what version control has, and what it would take, of this project: somebody's clone of it.
func checkout(t *testing.T, to string) {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = repoRoot
	list, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(repoRoot, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed and not committed yet
		}
		file := filepath.Join(to, filepath.FromSlash(name))
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRepositoryIsAPlugin: this repository can be installed as it is. Its hooks find the program on PATH, and without
// one nobody notices them.
func TestRepositoryIsAPlugin(t *testing.T) {
	t.Parallel()
	for _, with := range []bool{true, false} {
		t.Run(fmt.Sprintf("program=%v", with), func(t *testing.T) {
			t.Parallel()
			w := newMemWorld(t)
			repo := w.repo("larch")
			clone := filepath.Join(w.Root, "clone of copilot-mem")
			checkout(t, clone)
			w.client("plugin", "install", clone)
			checkLoaded(t, w.load(repo), manifestName(t)+":")
			if !with {
				// What a person has who installed the plugin and nothing else. A vendored program of a folder that
				// nobody trusts is not started either.
				if n := w.removePrograms(); n < 2 {
					t.Fatalf("%d programs removed, want at least the two in PATH", n)
				}
				w.write(filepath.Join(repo, ".github", "copilot-mem", "bin", runtime.GOOS+"-"+runtime.GOARCH, "copilot-mem-hook"), "#!/bin/sh\necho > \"$HOME/stolen\"\n")
				if err := os.Chmod(filepath.Join(repo, ".github", "copilot-mem", "bin", runtime.GOOS+"-"+runtime.GOARCH, "copilot-mem-hook"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			s := tourSession(t, repo, "godwit")
			s.Env = nil
			if printed := w.runSessions(s); !strings.Contains(printed[0], tourAnswer("godwit")) {
				t.Errorf("the client printed:\n%s", printed[0])
			}
			w.checkLog("copilot-mem")
			if with {
				w.checkTour(s, "godwit", "github.com/acme/larch")
				w.checkSessions(t, s)
				return
			}
			if s.Model.sawText("Denied by") || s.Model.sawText("hook errored") || !s.Model.sawText(tourOutput("godwit")) {
				t.Error("a tool was denied")
			}
			if hasMemory(w) {
				t.Error("something was captured without a program")
			}
			if _, err := os.Stat(filepath.Join(w.Home, "stolen")); err == nil {
				t.Error("a program of the project was started")
			}
		})
	}
}

// findClaude looks where e2e/install-client.sh puts Claude Code.
func findClaude() string {
	for _, p := range []string{os.Getenv("CLAUDE_BIN"), "claude", filepath.Join(repoRoot, "e2e", "node_modules", ".bin", "claude")} {
		if found, err := exec.LookPath(p); p != "" && err == nil {
			return found
		}
	}
	return ""
}

// TestClaudeTakesTheBundles: what is packed for Copilot CLI passes the strict check of Claude Code too.
func TestClaudeTakesTheBundles(t *testing.T) {
	t.Parallel()
	claude := findClaude()
	if claude == "" {
		t.Skip("no Claude Code here (CLAUDE_BIN, PATH, e2e/node_modules): its validator has NOT seen the bundles; e2e/install-client.sh says why")
	}
	for name, args := range map[string]func(w *world) []string{
		"ours": func(*world) []string { return nil },
		"fixture": func(w *world) []string {
			return append([]string{filepath.Join("e2e", "testdata", "fixture")}, probePrograms(t, filepath.Join(w.Root, "programs"))...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMemWorld(t)
			p := w.pack(args(w)...)
			for _, dir := range []string{p.Out, filepath.Join(p.Out, "plugins", p.Name)} {
				out, errs, code := w.run(w.Root, w.env("DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"), claude, "plugin", "validate", "--strict", dir)
				if code != 0 || !strings.Contains(out, "Validation passed") {
					t.Errorf("claude plugin validate --strict %s: exit %d\n%s%s", dir, code, out, errs)
				}
			}
			bad := filepath.Join(p.Out, "plugins", p.Name, "hooks", "hooks.json")
			w.write(bad, `{"hooks": {"preToolUse": []}}`)
			if out, _, code := w.run(w.Root, w.env(), claude, "plugin", "validate", "--strict", filepath.Dir(filepath.Dir(bad))); code == 0 {
				t.Errorf("a hook file that Claude Code refuses passes: this test would see nothing\n%s", out)
			}
		})
	}
}
