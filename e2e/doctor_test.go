//go:build e2e

package e2e

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // a second program that holds the store
)

// patientWorld is a machine for the doctor: the client is on PATH, our programs are in a folder of their own, and both can be
// taken away.
type patientWorld struct {
	*world
	repo string
	vars []string // what the test set
}

func newPatient(t *testing.T) *patientWorld {
	w := newMemWorld(t)
	p := &patientWorld{world: w, repo: w.repo("heath")}
	link(t, clientBin, filepath.Join(w.Root, "client", "copilot"))
	p.path(w.Bin, filepath.Join(w.Root, "client"))
	return p
}

func link(t *testing.T, to, name string) {
	t.Helper()
	real, err := filepath.EvalSymlinks(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, name); err != nil {
		t.Fatal(err)
	}
}

// path sets PATH to folders of the test and the system's.
func (p *patientWorld) path(dirs ...string) {
	p.set("PATH", strings.Join(append(dirs, filepath.SplitList(os.Getenv("PATH"))...), string(os.PathListSeparator)))
}

func (p *patientWorld) set(name, value string) {
	p.vars = append(slices.DeleteFunc(p.vars, func(v string) bool { return strings.HasPrefix(v, name+"=") }), name+"="+value)
}

// mem is that of world, with the variables of the test.
func (p *patientWorld) do(args ...string) string {
	p.t.Helper()
	out, errs, code := p.run(p.repo, p.env(p.vars...), p.program("copilot-mem"), args...)
	if code != 0 {
		p.t.Fatalf("copilot-mem %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

type diagnosis struct {
	Result string
	Checks []struct{ Name, Result, Detail, Hint string }
	Fixed  []struct{ Name, Did, Error string }
}

func (d diagnosis) check(name string) (result, detail, hint string) {
	for _, c := range d.Checks {
		if c.Name == name {
			return c.Result, c.Detail, c.Hint
		}
	}
	return "absent", "", ""
}

// complaints are the checks that are not well, as "name: detail".
func (d diagnosis) complaints() []string {
	var list []string
	for _, c := range d.Checks {
		if c.Result == "warning" || c.Result == "error" {
			list = append(list, c.Name+": "+c.Detail)
		}
	}
	return list
}

func (p *patientWorld) doctor(flags ...string) diagnosis {
	p.t.Helper()
	out, errs, code := p.run(p.repo, p.env(p.vars...), p.program("copilot-mem"), append([]string{"doctor", "--json"}, flags...)...)
	var d diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil || errs != "" {
		p.t.Fatalf("doctor %s: %v\n%s%s", flags, err, out, errs)
	}
	if want := map[string]int{"error": 3}[d.Result]; code != want && len(d.Fixed) == 0 {
		p.t.Errorf("doctor says %s and ends with %d, want %d", d.Result, code, want)
	}
	return d
}

func (p *patientWorld) remove(path string) func() {
	return func() {
		if err := os.RemoveAll(path); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *patientWorld) chmod(path string, mode os.FileMode) {
	p.t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		p.t.Fatal(err)
	}
}

// change rewrites a file.
func (p *patientWorld) change(path string, edit func(string) string) {
	p.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	changed := edit(string(data))
	if changed == string(data) {
		p.t.Fatalf("%s: nothing changed: the fault is not planted", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(changed), info.Mode().Perm()); err != nil {
		p.t.Fatal(err)
	}
}

func (p *patientWorld) record() string {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.MemHome, "receipts", "*.json"))
	if err != nil || len(files) != 1 {
		p.t.Fatalf("%d receipts, want one (%v)", len(files), err)
	}
	return files[0]
}

func (p *patientWorld) db() string { return filepath.Join(p.MemHome, "memory.db") }

// open opens the store as any other program might.
func (p *patientWorld) open() *sql.DB {
	p.t.Helper()
	db, err := sql.Open("sqlite", p.db())
	if err != nil {
		p.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	p.t.Cleanup(func() { db.Close() })
	return db
}

func (p *patientWorld) exec(db *sql.DB, statement string) {
	p.t.Helper()
	if _, err := db.Exec(statement); err != nil {
		p.t.Fatal(err)
	}
}

// hook sends one event through the installed capture program.
func (p *patientWorld) hook(event, payload string) {
	p.t.Helper()
	file := filepath.Join(p.Root, "payload.json")
	p.write(file, payload)
	out, errs, code := p.run(p.repo, p.env(p.vars...), "/bin/sh", "-c", `"$1" "$2" < "$3"`, "sh", p.program("copilot-mem-hook"), event, file)
	if code != 0 || out != "" || errs != "" {
		p.t.Fatalf("hook: exit %d, %s%s", code, out, errs)
	}
}

func (p *patientWorld) userHook(name, event, entry string) string {
	file := filepath.Join(p.CopilotHome, "hooks", name)
	p.write(file, fmt.Sprintf(`{"version":1,"hooks":{%q:[%s]}}`, event, entry))
	return file
}

// fault is one thing that is wrong with a healthy machine.
type fault struct {
	name  string
	scope string // user where it is empty
	// copied: our programs are not on PATH when init runs, so that the hooks run the copy in the data folder.
	copied bool
	check  string
	// plant makes it wrong and gives what the hint asks for; nil: `doctor --fix` does it.
	plant func(p *patientWorld) (mend func())
}

var faults = []fault{
	{name: "no client", check: "client/version", plant: func(p *patientWorld) func() {
		p.set("PATH", p.Bin+":/usr/bin:/bin")
		return func() { p.path(p.Bin, filepath.Join(p.Root, "client")) }
	}},
	{name: "client too old", check: "client/features", plant: func(p *patientWorld) func() {
		old := filepath.Join(p.Root, "old", "copilot")
		p.write(old, "#!/bin/sh\necho GitHub Copilot CLI 1.0.9.\n")
		p.chmod(old, 0o755)
		p.path(filepath.Dir(old), p.Bin, filepath.Join(p.Root, "client"))
		return p.remove(old)
	}},
	{name: "not installed", check: "install/receipts", plant: func(p *patientWorld) func() {
		p.do("uninstall", "--scope", "user", "--yes")
		return func() { p.do("init", "--scope", "user", "--yes") }
	}},
	{name: "receipt unreadable", check: "install/receipts", plant: func(p *patientWorld) func() {
		file := p.record()
		p.change(file, func(s string) string { return s[:len(s)/2] })
		return func() { p.remove(file)(); p.do("init", "--scope", "user", "--yes") }
	}},
	{name: "interrupted", check: "install/receipts", plant: func(p *patientWorld) func() {
		p.change(p.record(), func(s string) string { return strings.Replace(s, `"state": "done"`, `"state": "pending"`, 1) })
		return nil
	}},
	{name: "repository moved", check: "install/receipts", plant: func(p *patientWorld) func() {
		gone := p.world.repo("fell")
		p.do("init", "--scope", "repo", "--dir", gone, "--yes")
		if err := os.Rename(gone, gone+"-moved"); err != nil {
			p.t.Fatal(err)
		}
		return func() { p.do("uninstall", "--scope", "repo", "--dir", gone, "--yes") }
	}},
	{name: "another version", check: "install/version", plant: func(p *patientWorld) func() {
		p.change(p.record(), func(s string) string { return strings.Replace(s, `"version": "0.1.0"`, `"version": "0.0.9"`, 1) })
		return nil
	}},
	{name: "file missing", check: "install/files", plant: func(p *patientWorld) func() {
		p.remove(filepath.Join(p.CopilotHome, "skills", "memory-query", "SKILL.md"))()
		return nil
	}},
	{name: "file changed", check: "install/files", plant: func(p *patientWorld) func() {
		p.change(filepath.Join(p.CopilotHome, "skills", "memory-query", "SKILL.md"), func(s string) string { return s + "\nmore\n" })
		return func() { p.do("init", "--scope", "user", "--force", "--yes") }
	}},
	{name: "foreign hook file", check: "install/foreign", plant: func(p *patientWorld) func() {
		return p.remove(p.userHook("older.json", "postToolUse", `{"type":"command","bash":"copilot-mem capture postToolUse || true"}`))
	}},
	{name: "foreign file", check: "install/foreign", plant: func(p *patientWorld) func() {
		file := filepath.Join(p.CopilotHome, "skills", "memory-query", "extra.sh")
		p.write(file, "echo\n")
		return p.remove(file)
	}},
	{name: "installed twice", check: "install/once", plant: func(p *patientWorld) func() {
		p.do("init", "--scope", "plugin", "--yes")
		return func() { p.do("uninstall", "--scope", "plugin", "--yes") }
	}},
	{name: "program gone", copied: true, check: "install/program", plant: func(p *patientWorld) func() {
		p.remove(filepath.Join(p.MemHome, "bin", "copilot-mem-hook"))()
		return nil
	}},
	{name: "program not executable", copied: true, check: "install/program", plant: func(p *patientWorld) func() {
		p.chmod(filepath.Join(p.MemHome, "bin", "copilot-mem-hook"), 0o644)
		return nil
	}},
	{name: "program of another machine", copied: true, check: "install/program", plant: func(p *patientWorld) func() {
		p.change(filepath.Join(p.MemHome, "bin", "copilot-mem-hook"), func(s string) string {
			machine := "\xb7\x00" // EM_AARCH64
			if s[18:20] == machine {
				machine = "\x3e\x00"
			}
			return s[:18] + machine + s[20:]
		})
		return nil
	}},
	{name: "program not the receipt's", copied: true, check: "install/program", plant: func(p *patientWorld) func() {
		p.change(filepath.Join(p.MemHome, "bin", "copilot-mem-hook"), func(s string) string { return s + "x" })
		return nil
	}},
	{name: "programs moved", check: "hooks/command", plant: func(p *patientWorld) func() {
		moved := filepath.Join(p.Root, "moved")
		if err := os.Rename(p.Bin, moved); err != nil {
			p.t.Fatal(err)
		}
		p.Bin = moved
		p.path(moved, filepath.Join(p.Root, "client"))
		return nil
	}},
	{name: "hook file with a comment", check: "hooks/valid", plant: func(p *patientWorld) func() {
		p.change(filepath.Join(p.CopilotHome, "hooks", "copilot-mem.json"), func(s string) string { return "// mine\n" + s })
		return func() { p.do("init", "--scope", "user", "--force", "--yes") }
	}},
	{name: "hook of an event gone", check: "hooks/valid", plant: func(p *patientWorld) func() {
		p.change(filepath.Join(p.CopilotHome, "hooks", "copilot-mem.json"), func(s string) string { return strings.Replace(s, `"agentStop"`, `"agentstop"`, 1) })
		return func() { p.do("init", "--scope", "user", "--force", "--yes") }
	}},
	{name: "hook that denies: program", check: "hooks/closed", plant: func(p *patientWorld) func() {
		return p.remove(p.userHook("guard.json", "preToolUse", `{"type":"command","bash":"/opt/gone/guard --check"}`))
	}},
	{name: "hook that denies: folder", check: "hooks/closed", plant: func(p *patientWorld) func() {
		return p.remove(p.userHook("guard.json", "PreToolUse", `{"type":"command","bash":"true","cwd":"not/there"}`))
	}},
	{name: "hook that denies: syntax", check: "hooks/closed", plant: func(p *patientWorld) func() {
		return p.remove(p.userHook("guard.json", "permissionRequest", `{"type":"command","bash":"if true; then echo"}`))
	}},
	{name: "hooks switched off", check: "hooks/enabled", plant: func(p *patientWorld) func() {
		file := filepath.Join(p.repo, ".github", "copilot", "settings.json")
		p.write(file, `{"disableAllHooks": true}`)
		return p.remove(file)
	}},
	{name: "hooks switched off by a variable", check: "hooks/enabled", plant: func(p *patientWorld) func() {
		p.set("COPILOT_MEM_DISABLE", "1")
		return func() { p.set("COPILOT_MEM_DISABLE", "") }
	}},
	{name: "folder not trusted", scope: "repo", check: "hooks/trust", plant: func(p *patientWorld) func() {
		p.remove(filepath.Join(p.CopilotHome, "config.json"))()
		return p.trustRepo
	}},
	{name: "no program for the repository's hooks", scope: "repo", check: "hooks/command", plant: func(p *patientWorld) func() {
		p.do("uninstall", "--scope", "repo", "--yes")
		p.write(filepath.Join(p.repo, ".github", "hooks", "copilot-mem.json"), teammatesHooks(p.t))
		before := slices.Clone(p.vars)
		p.path(filepath.Join(p.Root, "client"))
		return func() {
			p.vars = before
			p.remove(filepath.Join(p.repo, ".github"))()
			p.do("init", "--scope", "repo", "--yes")
		}
	}},
	{name: "modes", check: "privacy/modes", plant: func(p *patientWorld) func() {
		p.chmod(filepath.Join(p.MemHome, "receipts"), 0o755)
		return nil
	}},
	{name: "choices not understood", check: "privacy/config", plant: func(p *patientWorld) func() {
		file := filepath.Join(p.MemHome, "config.yaml")
		p.write(file, "capture: [\n")
		p.chmod(file, 0o600)
		return p.remove(file)
	}},
	{name: "store locked", check: "store/locked", plant: func(p *patientWorld) func() {
		db := p.open()
		p.exec(db, "BEGIN IMMEDIATE")
		return func() { p.exec(db, "ROLLBACK") }
	}},
	{name: "store damaged", check: "store/open", plant: func(p *patientWorld) func() {
		p.hook("userPromptSubmitted", fmt.Sprintf(`{"sessionId":"s1","timestamp":%d,"cwd":%q,"prompt":"a word"}`, time.Now().UnixMilli(), p.repo))
		p.do("ingest")
		p.change(p.db(), func(s string) string { return strings.Repeat("\x00\xff", 1024) + s[2048:] })
		return func() { p.do("repair") }
	}},
	{name: "store of a newer version", check: "store/open", plant: func(p *patientWorld) func() {
		db := p.open()
		var was int
		if err := db.QueryRow("PRAGMA user_version").Scan(&was); err != nil {
			p.t.Fatal(err)
		}
		p.exec(db, "PRAGMA user_version = 999")
		return func() { p.exec(db, fmt.Sprintf("PRAGMA user_version = %d", was)) } // what a newer copilot-mem would be content with
	}},
	{name: "clock jumped", check: "store/clock", plant: func(p *patientWorld) func() {
		p.hook("userPromptSubmitted", fmt.Sprintf(`{"sessionId":"tomorrow","timestamp":%d,"cwd":%q,"prompt":"a word"}`, time.Now().Add(48*time.Hour).UnixMilli(), p.repo))
		return func() { p.do("forget", "--session", "tomorrow", "--yes") }
	}},
	{name: "backlog", check: "capture/spool", plant: func(p *patientWorld) func() {
		line := fmt.Sprintf(`{"v":1,"id":"%%032d","event":"postToolUse","at":%d,"payload":{"sessionId":"s1","timestamp":%d,"cwd":%q,"toolName":"view","toolArgs":{"path":"%%d"},"toolResult":{"resultType":"success","textResultForLlm":"%s"}}}`+"\n",
			time.Now().UnixMilli(), time.Now().UnixMilli(), p.repo, strings.Repeat("word ", 50_000))
		var b strings.Builder
		for i := range 80 {
			fmt.Fprintf(&b, line, i, i)
		}
		file := filepath.Join(p.MemHome, "spool", "events.jsonl")
		p.write(file, b.String())
		p.chmod(file, 0o600)
		p.chmod(filepath.Dir(file), 0o700)
		return func() { p.do("ingest") }
	}},
	{name: "damaged lines", check: "capture/spool", plant: func(p *patientWorld) func() {
		file := filepath.Join(p.MemHome, "spool", "events.jsonl")
		p.write(file, "this is no event\n")
		p.chmod(file, 0o600)
		p.chmod(filepath.Dir(file), 0o700)
		p.do("ingest")
		return nil
	}},
	{name: "events lost", check: "capture/failures", plant: func(p *patientWorld) func() {
		p.hook("userPromptSubmitted", `{"sessionId":`)
		return nil
	}},
	{name: "sink gone", check: "capture/sink", plant: func(p *patientWorld) func() {
		p.set("COPILOT_MEM_FORWARD", "memory-ingest")
		return func() { p.set("COPILOT_MEM_FORWARD", "") }
	}},
	{name: "session not captured", check: "capture/ledger", plant: func(p *patientWorld) func() {
		id := newID()
		var b strings.Builder
		for i, line := range []string{
			`{"type":"session.start","data":{"sessionId":"` + id + `","version":1,"context":{"cwd":` + fmt.Sprintf("%q", p.repo) + `}},`,
			`{"type":"user.message","data":{"content":"a lost prompt"},`,
			`{"type":"assistant.message","data":{"content":"a lost answer","messageId":"m"},`,
		} {
			fmt.Fprintf(&b, "%s\"id\":\"e%d\",\"timestamp\":%q}\n", line, i, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
		}
		p.write(filepath.Join(p.CopilotHome, "session-state", id, "events.jsonl"), b.String())
		return nil
	}},
	{name: "another memory", check: "recall/alone", plant: func(p *patientWorld) func() {
		return p.remove(p.userHook("notes.json", "userPromptSubmitted", `{"type":"command","bash":"printf '{\"additionalContext\":\"x\"}'"}`))
	}},
	{name: "skill hidden", check: "recall/skills", plant: func(p *patientWorld) func() {
		dir := filepath.Join(p.repo, ".claude", "skills", "other")
		p.write(filepath.Join(dir, "SKILL.md"), "---\nname: memory-query\ndescription: Another one.\n---\n\nDo it.\n")
		return p.remove(dir)
	}},
	{name: "MCP server silent", check: "recall/mcp", plant: func(p *patientWorld) func() {
		server := filepath.Join(p.Root, "slow", "copilot-mem")
		p.write(server, "#!/bin/sh\nexec sleep 20\n")
		p.chmod(server, 0o755)
		file := filepath.Join(p.CopilotHome, "mcp-config.json")
		ours, err := os.ReadFile(file)
		if err != nil {
			p.t.Fatal(err)
		}
		p.write(file, fmt.Sprintf(`{"mcpServers":{"memory":{"type":"local","command":%q,"args":["mcp"],"tools":["*"]}}}`, server))
		return func() { p.write(file, string(ours)) }
	}},
	{name: "policy invalid", check: "policy/active", plant: func(p *patientWorld) func() {
		file := filepath.Join(p.repo, ".github", "hookflows", "bad.yml")
		p.write(file, "name: bad\non:\n  tool:\n    name: bash\nsteps:\n  - deny: x\nsurprise: 1\n")
		return p.remove(file)
	}},
	{name: "everybody trusted", check: "policy/trust", plant: func(p *patientWorld) func() {
		p.set("COPILOT_MEM_TRUST_ALL", "1")
		return func() { p.set("COPILOT_MEM_TRUST_ALL", "") }
	}},
}

// teammatesHooks is what a repository brings along that somebody else ran `init --scope repo` in.
func teammatesHooks(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repoRoot, "assets", "hooks", "onpath.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (p *patientWorld) trustRepo() {
	p.write(filepath.Join(p.CopilotHome, "config.json"), fmt.Sprintf("// This file is managed automatically.\n{\"trustedFolders\":[%q]}\n", filepath.Dir(p.repo)))
}

func (p *patientWorld) setUp(scope string, copied bool) {
	p.t.Helper()
	if copied {
		p.path(filepath.Join(p.Root, "client"))
	}
	p.trustRepo()
	p.do("init", "--scope", scope, "--yes")
	p.do("ingest") // makes the store
}

// TestDoctorNamesFaults plants one fault after the other in a healthy machine: the right check names it, its hint says what
// to do, and what it says helps.
func TestDoctorNamesFaults(t *testing.T) {
	t.Parallel()
	if len(faults) < 30 {
		t.Errorf("%d faults, want 30", len(faults))
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			scope := f.scope
			if scope == "" {
				scope = "user"
			}
			p.setUp(scope, f.copied)
			if d := p.doctor(); len(d.complaints()) > 0 {
				t.Fatalf("before the fault: %q", d.complaints())
			}
			mend := f.plant(p)
			d := p.doctor()
			result, detail, hint := d.check(f.check)
			if result != "warning" && result != "error" || hint == "" || detail == "" {
				t.Fatalf("%s says %s %q, hint %q; complaints: %q", f.check, result, detail, hint, d.complaints())
			}
			if mend != nil {
				mend()
			} else if d = p.doctor("--fix"); len(d.Fixed) == 0 || d.Fixed[0].Error != "" {
				t.Fatalf("--fix did %+v", d.Fixed)
			}
			if d = p.doctor(); len(d.complaints()) > 0 {
				t.Errorf("after %q: %q", hint, d.complaints())
			}
		})
	}
}

// TestDoctorIsContent: no false alarm on healthy machines.
func TestDoctorIsContent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, scope string
		copied      bool
		prepare     func(p *patientWorld)
	}{
		{"user", "user", false, nil},
		{"plugin", "plugin", false, nil},
		{"repository", "repo", false, nil},
		{"copied program", "user", true, nil},
		{"among others", "user", false, func(p *patientWorld) {
			p.furnish(p.repo)
			p.write(filepath.Join(p.CopilotHome, "hooks", "log.json"), `{"version":1,"hooks":{"userPromptSubmitted":[{"type":"command","bash":"cat > /dev/null"}],"preToolUse":[{"bash":"[ -x /opt/gone ] || exit 0; /opt/gone"}]}}`)
			p.write(filepath.Join(p.CopilotHome, "mcp-config.json"), `{"mcpServers":{"files":{"type":"local","command":"/opt/gone/files","args":[]}}}`)
			p.write(filepath.Join(p.repo, ".claude", "skills", "mine", "SKILL.md"), "---\nname: mine\ndescription: Mine.\n---\n\nDo it.\n")
		}},
		{"repository with a space, vendored", "repo", false, func(p *patientWorld) {
			p.repo = p.world.repo("my heath")
			p.do("init", "--scope", "repo", "--vendor-binary", "--yes")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			if tt.prepare != nil {
				tt.prepare(p)
			}
			p.setUp(tt.scope, tt.copied)
			if d := p.doctor("--live"); d.Result != "ok" || len(d.complaints()) > 0 {
				t.Errorf("%s: %q", d.Result, d.complaints())
			}
		})
	}
}

// TestDoctorRunsTheClient: a whole session in each scope, and nothing of it is left in what belongs to the user.
func TestDoctorRunsTheClient(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			p.setUp(scope, false)
			p.set("XDG_CACHE_HOME", cacheDir)
			client, project := snapshot(t, p.CopilotHome), snapshot(t, p.repo)
			slots <- struct{}{}
			d := p.doctor("--live", "--client")
			<-slots
			if d.Result != "ok" {
				t.Errorf("%s: %q", d.Result, d.complaints())
			}
			for _, name := range []string{"hooks/live", "client/session"} {
				if result, detail, _ := d.check(name); result != "ok" {
					t.Errorf("%s: %s %s", name, result, detail)
				}
			}
			if n := len(topNames(client, snapshot(t, p.CopilotHome))) + len(topNames(project, snapshot(t, p.repo))); n > 0 {
				t.Errorf("%d places of the user's were changed", n)
			}
			var doc struct{ Sessions []struct{ ID string } }
			if err := json.Unmarshal([]byte(p.do("sessions", "--all", "--json")), &doc); err != nil || len(doc.Sessions) > 0 {
				t.Errorf("sessions of the doctor are left: %v %v", doc.Sessions, err)
			}
		})
	}
}

// TestDoctorAfterSessions: what a healthy client leaves behind is no alarm, and the ledger has counted it.
func TestDoctorAfterSessions(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.setUp("user", false)
	s := tourSession(t, p.repo, "whinchat")
	p.runSessions(s)
	p.findHit(p.repo, tourAnswer("whinchat"), func(h hit) bool { return h.Kind == "response" && h.SessionID == s.ID })
	old := time.Now().Add(-time.Minute)
	files, err := filepath.Glob(filepath.Join(p.CopilotHome, "session-state", "*", "events.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d transcripts (%v)", len(files), err)
	}
	record := p.record()
	for _, f := range []string{files[0], record} { // the ledger waits until the client is done
		if err := os.Chtimes(f, old, old); err != nil {
			t.Fatal(err)
		}
	}
	d := p.doctor()
	if len(d.complaints()) > 0 {
		t.Errorf("after a session: %q", d.complaints())
	}
	if result, detail, _ := d.check("capture/ledger"); result != "ok" || !strings.Contains(detail, "1 sessions: ") || strings.Contains(detail, " 0 hook events seen") {
		t.Errorf("ledger: %s %s", result, detail)
	}
}
