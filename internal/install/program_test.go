package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindProgram(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	cellar, links, alone := at("cellar 1.0"), at("links"), at("alone")
	exe, hook := mainName+ending, hookName+ending
	write(t, filepath.Join(cellar, exe), "main", 0o755)
	write(t, filepath.Join(cellar, hook), "hook", 0o755)
	write(t, filepath.Join(alone, exe), "main", 0o755)
	write(t, filepath.Join(at("other"), hook), "another hook", 0o755)
	mustSymlink(t, filepath.Join(cellar, exe), filepath.Join(links, exe))
	mustSymlink(t, filepath.Join(cellar, hook), filepath.Join(links, hook))

	list := func(dirs ...string) string {
		path := ""
		for _, d := range dirs {
			path += d + string(os.PathListSeparator)
		}
		return path
	}
	tests := []struct {
		name, exe, path string
		want            Program
	}{
		{"beside, nothing on PATH", filepath.Join(cellar, exe), list("", "relative"), Program{hookName, filepath.Join(cellar, hook), nil, ""}},
		{"a link on PATH leads to it", filepath.Join(cellar, exe), list(at("other"), links), Program{hookName, filepath.Join(cellar, hook), nil, filepath.Join(links, hook)}},
		{"started through the link", filepath.Join(links, exe), list(links), Program{hookName, filepath.Join(links, hook), nil, filepath.Join(links, hook)}},
		{"another one on PATH", filepath.Join(cellar, exe), list(at("other")), Program{hookName, filepath.Join(cellar, hook), nil, ""}},
		{"alone", filepath.Join(alone, exe), list(at("other")), Program{mainName, filepath.Join(alone, exe), []string{"capture"}, ""}},
		{"alone on PATH", filepath.Join(alone, exe), list(alone), Program{mainName, filepath.Join(alone, exe), []string{"capture"}, filepath.Join(alone, exe)}},
	}
	for _, tt := range tests {
		got, err := FindProgram(tt.exe, tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if _, err := FindProgram(at("gone"), ""); err == nil {
		t.Error("an executable that is gone was found")
	}
	if !OnPath(mainName, list(alone)) || OnPath(hookName, list(alone)) {
		t.Error("OnPath")
	}
}
