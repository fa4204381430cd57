package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

func demo() plugin.Tree {
	return plugin.Tree{
		{Path: "skills/s/SKILL.md", Data: []byte("---\nname: s\ndescription: d\n---\nB\n"), Mode: 0o600},
		{Path: "plugin.json", Data: []byte(`{"name":"demo", "version":"1.2.3", "author":{"name":"A"}}`), Mode: 0o664},
		{Path: ".claude-plugin/plugin.json", Data: []byte("{\n  \"name\": \"démo\", \"version\": \"1.2.3\"\n}\n"), Mode: 0o644},
		{Path: "bin/run.sh", Data: []byte("#!/bin/sh\n"), Mode: 0o700},
	}
}

func one(tree plugin.Tree) []Pack { return []Pack{{Any, tree}} }

func two() []Pack {
	return []Pack{
		{"linux/amd64", append(demo(), plugin.File{Path: "bin/prog", Data: []byte("elf"), Mode: 0o755})},
		{"windows/arm64", append(demo(), plugin.File{Path: "bin/prog.exe", Data: []byte("pe"), Mode: 0o755})},
	}
}

func build(t *testing.T, packs []Pack, o Options) Result {
	t.Helper()
	r, err := Build(packs, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestBuild(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist")
	r := build(t, two(), Options{Out: out, Version: "2.0.0"})
	var got []string
	for _, a := range r.Artifacts {
		rel, err := filepath.Rel(out, a.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s", filepath.ToSlash(rel), a.Kind, a.Target))
		if a.Kind != "dir" {
			if data := read(t, a.Path); a.Size != int64(len(data)) || a.SHA256 != sum(data) {
				t.Errorf("%s: size %d, sum %s are not the file's", rel, a.Size, a.SHA256)
			}
		}
	}
	want := []string{
		"plugins/demo dir linux/amd64",
		"demo_2.0.0_linux_amd64.tar.gz tar.gz linux/amd64", "demo_2.0.0_linux_amd64.zip zip linux/amd64",
		"demo_2.0.0_windows_arm64.tar.gz tar.gz windows/arm64", "demo_2.0.0_windows_arm64.zip zip windows/arm64",
		"demo_2.0.0.cdx.json sbom any", "SHA256SUMS checksums any",
		".github/plugin/marketplace.json marketplace any", ".claude-plugin/marketplace.json marketplace any",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	if r.Name != "demo" || r.Version != "2.0.0" {
		t.Errorf("name %q, version %q", r.Name, r.Version)
	}
	if got := string(read(t, out, "plugins/demo/.claude-plugin/plugin.json")); got != "{\n  \"name\": \"démo\", \"version\": \"2.0.0\"\n}\n" {
		t.Errorf("manifest %q: more than the version changed", got)
	}
	sums := string(read(t, out, "SHA256SUMS"))
	if n := strings.Count(sums, "\n"); n != 5 {
		t.Errorf("SHA256SUMS has %d lines:\n%s", n, sums)
	}
	market := string(read(t, out, ".github/plugin/marketplace.json"))
	if !strings.Contains(market, `"source": "./plugins/demo"`) || market != string(read(t, out, ".claude-plugin/marketplace.json")) {
		t.Errorf("marketplace:\n%s", market)
	}
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{"bin/prog": 0o755, "bin/run.sh": 0o755, "plugin.json": 0o644, "skills/s/SKILL.md": 0o644} {
			info, err := os.Stat(filepath.Join(out, "plugins/demo", name))
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v %v, want %v", name, info, err, want)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(out, "plugins/demo/bin/prog.exe")); err == nil {
		t.Error("another target's program lies in the folder")
	}
}

func TestArchivesHoldTheSameFiles(t *testing.T) {
	out := t.TempDir()
	build(t, one(demo()), Options{Out: out})
	gz, err := gzip.NewReader(bytes.NewReader(read(t, out, "demo_1.2.3.tar.gz")))
	if err != nil {
		t.Fatal(err)
	}
	tarred := map[string]string{}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		tarred[h.Name] = fmt.Sprintf("%o %s", h.Mode, data)
	}
	z, err := zip.OpenReader(filepath.Join(out, "demo_1.2.3.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	zipped := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		zipped[f.Name] = fmt.Sprintf("%o %s", f.Mode().Perm(), data)
	}
	if diff := cmp.Diff(tarred, zipped); diff != "" {
		t.Errorf("tar and zip differ:\n%s", diff)
	}
	if len(tarred) != 4 || tarred["demo/bin/run.sh"] != "755 #!/bin/sh\n" {
		t.Errorf("archive has %v", tarred)
	}
}

func TestBuildReplacesOnlyPlugins(t *testing.T) {
	out := t.TempDir()
	build(t, one(demo()), Options{Out: out})
	stale := filepath.Join(out, "plugins/demo/stale.txt")
	if err := os.WriteFile(stale, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	build(t, one(demo()), Options{Out: out})
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", stale, err)
	}
	other := t.TempDir()
	mine := filepath.Join(other, "plugins/demo/mine.txt")
	if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(one(demo()), Options{Out: other}); err == nil {
		t.Error("a folder that is no plugin was replaced")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(other, "SHA256SUMS")); !os.IsNotExist(err) {
		t.Errorf("a failed build left checksums: %v", err)
	}
}

func TestBuildRefuses(t *testing.T) {
	manifest := plugin.File{Path: "plugin.json", Data: []byte(`{"name":"x","version":"1.0.0"}`)}
	tests := map[string]plugin.Tree{
		"no manifest":   {{Path: "x", Data: nil}},
		"bad manifest":  {{Path: "plugin.json", Data: []byte("{")}},
		"no name":       {{Path: "plugin.json", Data: []byte(`{"version":"1.0.0"}`)}},
		"no version":    {{Path: "plugin.json", Data: []byte(`{"name":"x"}`)}},
		"odd version":   {{Path: "plugin.json", Data: []byte(`{"name":"x","version":"../1"}`)}},
		"path goes up":  {{Path: "../evil"}, manifest},
		"path is taken": {manifest, manifest},
	}
	for name, tree := range tests {
		out := filepath.Join(t.TempDir(), "dist")
		if _, err := Build(one(tree), Options{Out: out}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := os.Stat(out); !os.IsNotExist(err) {
			t.Errorf("%s: something was written: %v", name, err)
		}
	}
}

// A name is no path, whatever stands in the manifest.
func TestBuildKeepsNamesInside(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a", "dist")
	r := build(t, one(plugin.Tree{{Path: "plugin.json", Data: []byte(`{"name":"../../evil","version":"1.0.0"}`)}}), Options{Out: out})
	for _, a := range r.Artifacts {
		if rel, err := filepath.Rel(out, a.Path); err != nil || strings.HasPrefix(rel, "..") {
			t.Errorf("%s lies outside %s", a.Path, out)
		}
	}
	if r.Name != "evil" {
		t.Errorf("name %q", r.Name)
	}
}

func TestSetVersion(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{}`, `{"version": "9"}`},
		{`{"name":"x"}`, `{"name":"x","version": "9"}`},
		{"{\r\n\t\"name\": \"x\"\r\n}\r\n", "{\r\n\t\"name\": \"x\",\r\n\t\"version\": \"9\"\r\n}\r\n"},
		{"{\n \"é\": 1, \"version\" : [1, 2] , \"z\":0}", "{\n \"é\": 1, \"version\" : \"9\" , \"z\":0}"},
	}
	for _, tt := range tests {
		got, err := setVersion([]byte(tt.in), "9")
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.in, got, err, tt.want)
		}
	}
}
