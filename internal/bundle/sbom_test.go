package bundle

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// The test binary stands for a bundled program.
func TestInventory(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	packs := []Pack{{Any, append(demo(), plugin.File{Path: "bin/prog", Data: program})}}
	m := plugin.Manifest{Name: "demo", Version: "1.2.3", License: "MIT", Author: plugin.Person{Name: "A"}}
	data, err := Inventory(m, packs, Epoch)
	if err != nil {
		t.Fatal(err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(data), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if bom.SpecVersion != cdx.SpecVersion1_6 || bom.Metadata.Timestamp != "1980-01-01T00:00:00Z" || bom.Metadata.Component.Name != "demo" {
		t.Errorf("head: %v %+v", bom.SpecVersion, bom.Metadata)
	}
	refs := map[string]bool{"plugin": true}
	for _, c := range *bom.Components {
		if refs[c.BOMRef] {
			t.Errorf("%s: twice", c.BOMRef)
		}
		refs[c.BOMRef] = true
		if c.Type == cdx.ComponentTypeFile && (*c.Hashes)[0].Value == "" {
			t.Errorf("%s: no hash", c.Name)
		}
	}
	for _, want := range []string{"file:bin/prog#" + sum(program)[:12], "file:plugin.json#" + sum(demo()[1].Data)[:12]} {
		if !refs[want] {
			t.Errorf("no component %s", want)
		}
	}
	if !refs["pkg:golang/stdlib@"+strings.TrimPrefix(runtime.Version(), "go")] {
		t.Errorf("the program says nothing of Go %s", runtime.Version())
	}
	for _, d := range *bom.Dependencies {
		for _, ref := range append(*d.Dependencies, d.Ref) {
			if !refs[ref] {
				t.Errorf("%s depends on %s, which is not listed", d.Ref, ref)
			}
		}
	}
	again, err := Inventory(m, packs, Epoch)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("a second time it differs: %v", err)
	}
	m.Version = "1.2.4"
	var first, second struct{ SerialNumber string }
	other, err := Inventory(m, packs, Epoch)
	if err != nil {
		t.Fatal(err)
	}
	for data, to := range map[string]any{string(data): &first, string(other): &second} {
		if err := json.Unmarshal([]byte(data), to); err != nil {
			t.Fatal(err)
		}
	}
	if first.SerialNumber == second.SerialNumber || !strings.HasPrefix(first.SerialNumber, "urn:uuid:") {
		t.Errorf("serial numbers %q and %q", first.SerialNumber, second.SerialNumber)
	}
}

func TestLinked(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "example.com/main", Version: "(devel)"}, Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0+incompatible"},
		{Path: "example.com/b", Version: "v2.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v2.0.1"}},
	}}
	var got []string
	for _, c := range linked(info) {
		got = append(got, c.PackageURL)
	}
	want := []string{"pkg:golang/stdlib@1.26.0", "pkg:golang/example.com/main", "pkg:golang/example.com/a@v1.0.0%2Bincompatible", "pkg:golang/example.com/fork@v2.0.1"}
	if !slices.Equal(got, want) {
		t.Errorf("modules %v, want %v", got, want)
	}
}

func TestLicence(t *testing.T) {
	for text, expression := range map[string]bool{"MIT": true, "Apache-2.0 OR MIT": true, "SEE LICENSE IN x": false, "my/own": false} {
		l := (*licence(text))[0]
		if (l.Expression == text) != expression || (l.License == nil) != expression {
			t.Errorf("%s: %+v", text, l)
		}
	}
	if licence("") != nil {
		t.Error("no licence is one")
	}
}

func TestParts(t *testing.T) {
	tree := plugin.Tree{}
	for path, n := range map[string]int{"bin/x": 9, "skills/a/SKILL.md": 5, "com.github.copilot/agents/a.md": 1, "com.anthropic.claude-code/agents/a.md": 1,
		".claude-plugin/plugin.json": 3, "plugin.json": 3, "mcp.json": 1, ".mcp.json": 1, "com.anthropic.claude-code/mcp.json": 1, "README.md": 4, "hooks": 2} {
		tree = append(tree, plugin.File{Path: path, Data: make([]byte, n)})
	}
	want := []Part{{"programs", 1, 9}, {"manifests", 2, 6}, {"other", 2, 6}, {"skills", 1, 5}, {"servers", 3, 3}, {"agents", 2, 2}}
	if got := Parts(tree); !slices.Equal(got, want) {
		t.Errorf("parts %v, want %v", got, want)
	}
}
