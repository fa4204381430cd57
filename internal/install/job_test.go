package install

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever was there, init and uninstall leave every byte, mode and link as it was; with --force and after an upgrade
// too, but for a file that was there before with our very bytes and got the new ones.
func TestInitThenUninstallRestores(t *testing.T) {
	t.Parallel()
	var upgraded atomic.Int32
	t.Run("trees", func(t *testing.T) {
		for seed := range uint64(200) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel() // most of the time goes into fsync
				w, r := newWorld(t), rand.New(rand.NewPCG(seed, 7))
				randomTree(t, w, r)
				before := snapshot(t, w.dir)
				request := w.request
				if seed%4 == 1 { // with a text of somebody else
					request = w.full
				}
				req := request("1")
				req.Force = seed%3 == 0
				job := install(t, req)
				installed := snapshot(t, w.dir)
				second := request("1")
				second.Force = false
				again := install(t, second)
				if again.Changes() {
					t.Errorf("a second init would change something: %+v", again.Plans)
				}
				same(t, "after the second init", installed, snapshot(t, w.dir))
				if seed%2 == 0 && !hasExisted(job) {
					install(t, request("2"))
					upgraded.Add(1)
				}
				w.uninstall(t)
				same(t, "after uninstall", before, snapshot(t, w.dir))
			})
		}
	})
	if n := upgraded.Load(); n < 20 {
		t.Errorf("only %d of 200 runs had an upgrade", n)
	}
}

func hasExisted(j *Job) bool {
	for _, r := range j.record.Receipts {
		for _, f := range r.Files {
			if f.Existed {
				return true
			}
		}
	}
	return false
}

func states(t *testing.T, w world) []FileState {
	t.Helper()
	all, err := Records(filepath.Join(w.data, "receipts"))
	if err != nil || len(all) != 1 || all[0].State != Done {
		t.Fatalf("records: %+v, %v", all, err)
	}
	var out []FileState
	for _, r := range all[0].Receipts {
		s, err := ReadDrift(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s...)
	}
	return out
}

// Nothing is begun when any place is wrong, and the error says which one and what to do.
func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	tests := map[string]struct {
		make func(w world)
		want string
	}{
		"a folder links out of the scope": {func(w world) {
			mustSymlink(t, outside, filepath.Join(w.scope, "hooks"))
		}, filepath.Join("scope", "hooks") + ": "},
		"settings are broken":         {func(w world) { write(t, filepath.Join(w.scope, "settings.json"), "{\n  \"a\": 1,\n  b}", 0o644) }, "settings.json: line 3"},
		"a comment has no end":        {func(w world) { write(t, filepath.Join(w.scope, "settings.json"), "{} /* x", 0o644) }, "settings.json: line 1"},
		"settings are a list":         {func(w world) { write(t, filepath.Join(w.scope, "settings.json"), "[]", 0o644) }, "settings.json: not a JSON object"},
		"settings are empty":          {func(w world) { write(t, filepath.Join(w.scope, "settings.json"), "", 0o644) }, "settings.json: line 1"},
		"a section is a list":         {func(w world) { write(t, filepath.Join(w.scope, "settings.json"), `{"enabledPlugins":[]}`, 0o644) }, `"enabledPlugins" is not an object`},
		"settings are a link":         {func(w world) { mustSymlink(t, "other.json", filepath.Join(w.scope, "settings.json")) }, "settings.json: not a regular file"},
		"a file is where a folder is": {func(w world) { write(t, filepath.Join(w.scope, "skills"), "x", 0o644) }, "skills: not a folder"},
		"a folder is where a file is": {func(w world) { write(t, filepath.Join(w.scope, "hooks", "copilot-mem.json", "x"), "x", 0o644) }, "a folder, not a file"},
		"a link leads nowhere":        {func(w world) { mustSymlink(t, "gone", filepath.Join(w.scope, "agents")) }, "agents: a link to nowhere"},
		"the scope is a file":         {func(w world) { write(t, w.scope, "x", 0o644) }, "scope: not a directory"},
	}
	for name, tt := range tests {
		w := newWorld(t)
		tt.make(w)
		before := snapshot(t, w.dir)
		_, err := Prepare(w.request("1"))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
			continue
		}
		var hinted interface{ Hint() string }
		if !errors.As(err, &hinted) || hinted.Hint() == "" {
			t.Errorf("%s: %v has no hint", name, err)
		}
		same(t, name, before, snapshot(t, w.dir))
	}
}

func mustSymlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// A file that two installations need goes with the last of them, and so does the data folder.
func TestSharedProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := snapshot(t, w.dir)
	other := w.request("1")
	other.Scope, other.Dir = "repo", filepath.Join(w.dir, "repo")
	other.Parts = []Part{other.Parts[0], {Dir: other.Dir, Tree: sampleTree("1")}}
	install(t, w.request("1"))
	install(t, other)
	program := filepath.Join(w.data, "bin", "program")
	install(t, w.request("2"))
	all, err := Records(other.Records)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		for _, receipt := range r.Receipts {
			s, err := ReadDrift(receipt)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range s {
				if f.State != OK {
					t.Errorf("%s after the other one's upgrade: %+v", r.Scope, f)
				}
			}
		}
	}
	w.uninstall(t)
	if !exists(program) {
		t.Error("the program went although the repository still needs it")
	}
	j, err := PrepareRemoval("repo", other.Dir, w.data, other.Records)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Do(); err != nil {
		t.Fatal(err)
	}
	same(t, "after both uninstalls", before, snapshot(t, w.dir))
}

// What a person changed stays, is named, and is seen as changed.
func TestPersonsChangesStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	install(t, w.request("1"))
	skill, hooks := filepath.Join(w.scope, "skills/query/SKILL.md"), filepath.Join(w.scope, "hooks/copilot-mem.json")
	write(t, skill, "my words", 0o644)
	if err := os.Remove(hooks); err != nil {
		t.Fatal(err)
	}
	want := []FileState{
		{"bin/program", OK}, {"agents/nav.agent.md", OK}, {"hooks/copilot-mem.json", Missing},
		{"settings.json", OK}, {"skills/query/SKILL.md", Changed},
	}
	if diff := cmp.Diff(want, states(t, w)); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	j := install(t, w.request("2"))
	if got := reason(j, "skills/query/SKILL.md"); got != "keep changed by hand; --force overwrites it and keeps a copy" {
		t.Errorf("init: %s", got)
	}
	if !exists(hooks) {
		t.Error("init did not put a removed file back")
	}
	j = w.uninstall(t)
	if got := reason(j, "skills/query/SKILL.md"); got != "keep changed by hand" {
		t.Errorf("uninstall: %s", got)
	}
	got := snapshot(t, w.dir)
	if len(got) != 5 || !strings.HasSuffix(got[filepath.Join("scope", "skills", "query", "SKILL.md")], "my words") {
		t.Errorf("left behind: %v", got)
	}
}

func reason(j *Job, name string) string {
	for _, p := range j.Plans {
		for _, op := range p.Ops {
			if op.Path == name {
				return op.Op + " " + op.Reason
			}
		}
	}
	return "not in the plan"
}

// A file that changes between the plan and its carrying out is not overwritten.
func TestChangedInTheMeantime(t *testing.T) {
	w := newWorld(t)
	name := filepath.Join(w.scope, "agents", "nav.agent.md")
	install(t, w.request("1"))
	j, err := Prepare(w.request("2"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, "just typed", 0o644)
	if err := j.Do(); err == nil || !strings.Contains(err.Error(), "changed in the meantime") {
		t.Errorf("Do = %v", err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "just typed" {
		t.Errorf("%s = %q, %v", name, data, err)
	}
}

func TestPurgeLeavesWhatIsNotOurs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, name := range []string{"memory.db", "memory.db-wal", "spool/events.jsonl", "thesis.tex"} {
		write(t, filepath.Join(dir, name), "x", 0o600)
	}
	ours := []string{"memory.db", "spool"}
	left, err := Purge(dir, ours)
	if err != nil || len(left) != 1 || left[0] != "thesis.tex" {
		t.Errorf("Purge = %v, %v", left, err)
	}
	if got := snapshot(t, dir); len(got) != 2 {
		t.Errorf("left: %v", got)
	}
	if err := os.Remove(filepath.Join(dir, "thesis.tex")); err != nil {
		t.Fatal(err)
	}
	if _, err := Purge(dir, ours); err != nil || exists(dir) {
		t.Errorf("an empty data folder stays: %v", err)
	}
}

// An older program does not touch what a newer one installed, in its own scope or in a file that both use; it may still
// take out, so that there is a way back.
func TestDowngradeIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	clean := snapshot(t, w.dir)
	install(t, w.request("1.10.0"))
	before := snapshot(t, w.dir)
	other := w.request("1.9.0")
	other.Scope, other.Dir = "repo", filepath.Join(w.dir, "repo")
	other.Parts = []Part{other.Parts[0], {Dir: other.Dir, Tree: sampleTree("1.9.0")}}
	for name, r := range map[string]Request{"the same scope": w.request("1.9.0"), "a pre-release": w.request("1.10.0-rc.1"), "a file that both use": other} {
		_, err := Prepare(r)
		var down *DowngradeError
		if !errors.As(err, &down) || !strings.Contains(err.Error(), "installed by version 1.10.0") || !strings.Contains(down.Hint(), "uninstall --scope user --dir "+w.scope) {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name, before, snapshot(t, w.dir))
	}
	w.uninstall(t)
	same(t, "after uninstall", clean, snapshot(t, w.dir))
}

// An upgrade takes what a person has not touched, keeps and names what they changed, and drops what is gone.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	clean := snapshot(t, w.dir)
	install(t, w.full("1.0.0"))
	write(t, filepath.Join(w.scope, "skills/query/SKILL.md"), "my words", 0o644)
	next := w.request("2.0.0")
	next.Choices = map[string]string{"a": "b"}
	next.Parts[1].Tree = next.Parts[1].Tree[1:] // without the agent
	j := install(t, next)
	for name, want := range map[string]string{
		"hooks/copilot-mem.json": "update an older version", "skills/query/SKILL.md": "keep changed by hand; --force overwrites it and keeps a copy",
		"agents/nav.agent.md": "remove no longer part of it", "README.md": "remove ", "settings.json": "keep up to date",
	} {
		if got := reason(j, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	all, err := Records(next.Records)
	if err != nil || all[0].Version != "2.0.0" || all[0].Choices["a"] != "b" {
		t.Errorf("%+v, %v", all, err)
	}
	if err := os.Remove(filepath.Join(w.scope, "skills/query/SKILL.md")); err != nil {
		t.Fatal(err)
	}
	w.uninstall(t)
	same(t, "after uninstall", clean, snapshot(t, w.dir))
}

// A text of somebody else: our line goes wherever it stands by then; a choice that a person changed since stays theirs.
func TestTextOfSomebodyElse(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, now, left, state string }{
		{"untouched", "", "# Mine\n", OK},
		{"text before", "# New\n\nwords\n\nours 1.0.0\n", "# New\n\nwords\n", OK},
		{"the line is gone", "# New\n", "# New\n", Changed},
		{"twice", "a\nours 1.0.0\n\nours 1.0.0\n", "a\nours 1.0.0\n\nours 1.0.0\n", OK},
	}
	for _, tt := range tests {
		w := newWorld(t)
		name := filepath.Join(w.scope, "README.md")
		write(t, name, "# Mine\n", 0o640)
		install(t, w.full("1.0.0"))
		if tt.now != "" {
			write(t, name, tt.now, 0o640)
		}
		for _, s := range states(t, w) {
			if s.Path == "README.md" && s.State != tt.state {
				t.Errorf("%s: %s, want %s", tt.name, s.State, tt.state)
			}
		}
		w.uninstall(t)
		if data, err := os.ReadFile(name); err != nil || string(data) != tt.left {
			t.Errorf("%s: left %q, %v; want %q", tt.name, data, err, tt.left)
		}
	}
	w := newWorld(t)
	r := w.request("1.0.0")
	r.Parts[0].Merges = []Merge{{Path: "config.yaml", Free: true, Edit: func([]byte) ([]byte, error) { return []byte("a: 1\n"), nil }}}
	install(t, r)
	write(t, filepath.Join(w.data, "config.yaml"), "a: 2\n", 0o600)
	install(t, w.request("1.0.0")) // does not ask again
	for _, s := range states(t, w) {
		if s.State != OK {
			t.Errorf("a choice that was changed: %v", s)
		}
	}
	w.uninstall(t)
	if data, err := os.ReadFile(filepath.Join(w.data, "config.yaml")); err != nil || string(data) != "a: 2\n" {
		t.Errorf("config.yaml: %q, %v", data, err)
	}
}

// A receipt that somebody has changed by hand takes nothing out that is not ours, and does not end the program.
func TestReceiptWithWrongSplices(t *testing.T) {
	t.Parallel()
	for _, at := range []int{-1, 3, 1 << 30} {
		w := newWorld(t)
		write(t, filepath.Join(w.scope, "README.md"), "# Mine\n", 0o644)
		write(t, filepath.Join(w.scope, "settings.json"), `{"a":1}`, 0o644)
		before := snapshot(t, w.scope)
		r := w.full("1.0.0")
		install(t, r)
		all, err := Records(r.Records)
		if err != nil {
			t.Fatal(err)
		}
		for _, receipt := range all[0].Receipts {
			for _, f := range receipt.Files {
				if f.Merged != nil {
					f.Merged.Splices[0].At = at
				}
			}
		}
		if err := all[0].save(nil, r.Records); err != nil {
			t.Fatal(err)
		}
		w.uninstall(t)
		same(t, fmt.Sprint(at), before, snapshot(t, w.scope))
	}
}
