package install

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// world is a folder with a scope and a data folder in it.
type world struct{ dir, scope, data string }

func newWorld(t *testing.T) world {
	t.Helper()
	dir := t.TempDir()
	return world{dir, filepath.Join(dir, "scope"), filepath.Join(dir, "share", "data")}
}

var settingsKeys = []Key{
	{"extraKnownMarketplaces", "copilot-mem", []byte(`{"source":{"source":"directory","path":"/d/marketplace"}}`)},
	{"enabledPlugins", "copilot-mem@copilot-mem", []byte(`true`)},
}

func sampleTree(version string) plugin.Tree {
	return plugin.Tree{
		{Path: "agents/nav.agent.md", Data: []byte("agent " + version), Mode: 0o644},
		{Path: "hooks/copilot-mem.json", Data: []byte(`{"version":1}` + version), Mode: 0o644},
		{Path: "skills/query/SKILL.md", Data: []byte("skill"), Mode: 0o644},
	}
}

func (w world) request(version string) Request {
	bin := plugin.Tree{{Path: "bin/program", Data: []byte("program " + version), Mode: 0o755}}
	return Request{
		Scope: "user", Dir: w.scope, Version: version, Data: w.data, Records: filepath.Join(w.data, "receipts"),
		Parts: []Part{
			{Dir: w.data, Tree: bin, Private: true},
			{Dir: w.scope, Tree: sampleTree(version), Merges: []Merge{{Path: "settings.json", Keys: settingsKeys}}},
		},
	}
}

func install(t *testing.T, r Request) *Job {
	t.Helper()
	j, err := Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Do(); err != nil {
		t.Fatal(err)
	}
	return j
}

func (w world) uninstall(t *testing.T) *Job {
	t.Helper()
	j, err := PrepareRemoval("user", w.scope, w.data, filepath.Join(w.data, "receipts"))
	if err != nil {
		t.Fatal(err)
	}
	if j == nil {
		return nil
	}
	if err := j.Do(); err != nil {
		t.Fatal(err)
	}
	return j
}

// snapshot maps every path below dir to its mode and content or link.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			what, err = os.Readlink(p)
		case info.Mode().IsRegular():
			var data []byte
			data, err = os.ReadFile(p)
			what = string(data)
		}
		rel, _ := filepath.Rel(dir, p)
		all[rel] = info.Mode().String() + " " + what
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func write(t *testing.T, name, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // it may be read-only
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// pick takes one of some values.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randomTree fills the world with what people have there: nothing, files of their own, ours by chance, links, odd modes.
func randomTree(t *testing.T, w world, r *rand.Rand) {
	t.Helper()
	if r.IntN(4) == 0 {
		return
	}
	modes := []fs.FileMode{0o644, 0o600, 0o755, 0o444, 0o664}
	for range r.IntN(6) {
		name := pick(r, "hooks/mine.json", "hooks/sub/x.json", "skills/mine/SKILL.md", "agents/a.agent.md", "config.json", "deep/er/file", "hooks/.hidden")
		write(t, filepath.Join(w.scope, name), fmt.Sprintf("mine %d", r.Int()), pick(r, modes...))
	}
	for _, f := range sampleTree("1") {
		at := filepath.Join(w.scope, f.Path)
		switch r.IntN(8) {
		case 0:
			write(t, at, "somebody's own", pick(r, modes...))
		case 1:
			write(t, at, string(f.Data), pick(r, modes...))
		case 2:
			write(t, at+".bak", "an old copy", 0o644)
		case 3:
			write(t, filepath.Join(w.scope, "target"), "linked", 0o644)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../target", at); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r.IntN(2) == 0 {
		write(t, filepath.Join(w.scope, "README.md"), pick(r, "", "# Mine", "# Mine\r\n\r\nwords\r\n"), pick(r, modes...))
	}
	if r.IntN(2) == 0 {
		write(t, filepath.Join(w.scope, "settings.json"), randomSettings(r), pick(r, modes...))
	}
	if r.IntN(3) == 0 {
		write(t, filepath.Join(w.data, "memory.db"), "memories", 0o600)
	}
	if r.IntN(3) == 0 {
		write(t, filepath.Join(w.data, "bin", "program"), pick(r, "another program", "program 1"), 0o755)
	}
	if r.IntN(5) == 0 && !exists(filepath.Join(w.scope, "skills")) {
		write(t, filepath.Join(w.scope, "real", "keep"), "x", 0o644)
		if err := os.Symlink("real", filepath.Join(w.scope, "skills")); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"agents", "hooks", "."} {
		if r.IntN(3) == 0 && exists(filepath.Join(w.scope, d)) {
			if err := os.Chmod(filepath.Join(w.scope, d), pick(r, fs.FileMode(0o700), 0o755, 0o775)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func randomSettings(r *rand.Rand) string {
	nl, unit := pick(r, "\n", "\r\n"), pick(r, "  ", "\t", "    ")
	return pick(r,
		"{}", "{ }", "{\n}\n", "  {}  \n",
		`{"a":1}`, `{ "model" : "x" , "b":[1,{"c":"}"}] }`,
		"{"+nl+unit+`"model": "a\"b{",`+nl+unit+`"enabledPlugins": {}`+nl+"}"+nl,
		"{"+nl+unit+`"enabledPlugins": {"other@m": true},`+nl+unit+`"z": null`+nl+"}",
		"{"+nl+unit+`"extraKnownMarketplaces": {`+nl+unit+unit+`"m": {"source": {"source": "directory", "path": "/x"}}`+nl+unit+"},"+nl+unit+`"é": "日本"`+nl+"}"+nl,
		`{"enabledPlugins":{"copilot-mem@copilot-mem":true},"trailing":[]}`,
		"// mine"+nl+"{ /* a */ \"a\": 1, // of a"+nl+"}"+nl, "\ufeff{"+nl+unit+"// nothing yet"+nl+"}",
		"{"+nl+unit+`"enabledPlugins": { /* none */ },`+nl+unit+`"b": [1,2,],`+nl+"}",
		`{"enabledPlugins":{"a@b":false},"enabledPlugins":{"c@d":true}}`,
		`{"extraKnownMarketplaces":{"copilot-mem":{"source":{"source":"directory","path":"/elsewhere"}}}}`,
	)
}
