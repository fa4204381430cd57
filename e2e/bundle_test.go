//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestBundleWorksAsPlugin: what `build` packs is loaded by --plugin-dir with nothing installed, and remembers.
func TestBundleWorksAsPlugin(t *testing.T) {
	t.Parallel()
	w := newMemWorld(t)
	repo := w.repo("fir")
	out := filepath.Join(w.Root, "dist")
	var built struct {
		Name      string
		Artifacts []struct{ Path, Kind, Target string }
	}
	w.memJSON(&built, repoRoot, "build", "--out", out, "--target", runtime.GOOS+"/"+runtime.GOARCH)
	dir := ""
	for _, a := range built.Artifacts {
		if a.Kind == "dir" {
			dir = a.Path
		}
	}
	if dir == "" {
		t.Fatalf("no artifact of the kind dir: %+v", built.Artifacts)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(out, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "plugin.json")); err != nil {
		t.Fatal(err)
	}
	// A folder elsewhere, as somebody has it who unpacked an archive.
	plugin := filepath.Join(w.Home, "plugins", built.Name)
	if err := os.CopyFS(plugin, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	checkLoaded(t, w.load(repo, "--plugin-dir", plugin), built.Name+":")

	s := tourSession(t, repo, "gadwall")
	s.Env, s.Args = nil, []string{"--plugin-dir", plugin} // a plugin needs no trust
	printed := w.runSessions(s)
	if !strings.Contains(printed[0], tourAnswer("gadwall")) {
		t.Errorf("the client did not print %q:\n%s", tourAnswer("gadwall"), printed[0])
	}
	w.checkTour(s, "gadwall", "github.com/acme/fir")
	w.checkSessions(t, s)
}
