package copilot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/Masterminds/semver/v3"
)

func TestFindHome(t *testing.T) {
	home := t.TempDir()
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	base := map[string]string{"HOME": home, "USERPROFILE": home}
	got, err := FindHome(env(base))
	if want := filepath.Join(home, ".copilot"); err != nil || got.Dir != want {
		t.Errorf("FindHome = %q, %v; want %q", got.Dir, err, want)
	}
	other := filepath.Join(home, "other")
	base["COPILOT_HOME"] = other
	if got, err = FindHome(env(base)); err != nil || got.Dir != other {
		t.Errorf("FindHome with COPILOT_HOME = %q, %v; want %q", got.Dir, err, other)
	}
	if want := filepath.Join(other, "settings.json"); got.Settings() != want {
		t.Errorf("Settings = %q, want %q", got.Settings(), want)
	}
	_, err = FindHome(env(nil))
	var h interface{ Hint() string }
	if !errors.As(err, &h) || h.Hint() == "" {
		t.Errorf("FindHome without HOME = %v, want an error with a hint", err)
	}
}

func TestFindClient(t *testing.T) {
	found := func(string) (string, error) { return "/opt/copilot", nil }
	tests := []struct {
		name, out, want string
		bad             bool
	}{
		{"plain", "1.0.102\n", "1.0.102", false},
		{"sentence", "GitHub Copilot CLI 1.0.102.\nRun 'copilot update'…\n", "1.0.102", false},
		{"prerelease", "1.0.103-2\nCommit: abc123", "1.0.103-2", false},
		{"nonsense", "hello", "", true},
	}
	for _, tt := range tests {
		path, v, err := FindClient(found, func(string, ...string) ([]byte, error) { return []byte(tt.out), nil })
		if path != "/opt/copilot" || (err != nil) != tt.bad {
			t.Errorf("%s: path %q, err %v", tt.name, path, err)
			continue
		}
		if !tt.bad && v.String() != tt.want {
			t.Errorf("%s: version %s, want %s", tt.name, v, tt.want)
		}
	}
	if path, v, err := FindClient(func(string) (string, error) { return "", os.ErrNotExist }, nil); err == nil || path != "" || v != nil {
		t.Errorf("FindClient without a client = %q, %v, %v", path, v, err)
	}
}

func TestGitRoot(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "repo", "a", "b")
	tree := filepath.Join(dir, "tree", "x")
	for _, d := range []string{deep, tree, filepath.Join(dir, "repo", ".git")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tree", ".git"), []byte("gitdir: ../repo/.git/worktrees/tree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{deep: filepath.Join(dir, "repo"), tree: filepath.Join(dir, "tree")} {
		if got, err := GitRoot(from); err != nil || got != want {
			t.Errorf("GitRoot(%s) = %q, %v; want %q", from, got, err, want)
		}
	}
	var none *NoRepositoryError
	if _, err := GitRoot(dir); !errors.As(err, &none) {
		t.Errorf("GitRoot outside = %v, want NoRepositoryError", err)
	}
	if _, err := GitRoot(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("GitRoot(absent) = %v, want not exist", err)
	}
}

func TestPackageVersion(t *testing.T) {
	dir := t.TempDir()
	loader := filepath.Join(dir, "copilot", "npm-loader.js")
	manifest := filepath.Join(dir, "copilot", "package.json")
	if err := os.MkdirAll(filepath.Dir(loader), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(loader, "")
	if _, err := PackageVersion(loader); err == nil {
		t.Error("a version without a package.json")
	}
	write(manifest, `{"name":"@github/copilot","version":"1.0.102"}`)
	link := filepath.Join(dir, "bin")
	if err := os.Symlink(loader, link); err != nil {
		t.Skip("no links here: " + err.Error())
	}
	if v, err := PackageVersion(link); err != nil || v.String() != "1.0.102" {
		t.Errorf("PackageVersion = %v, %v", v, err)
	}
	write(manifest, `{"name":"something-else","version":"9.0.0"}`)
	if v, err := PackageVersion(link); err == nil {
		t.Errorf("the version of another package: %v", v)
	}
}

func TestFeaturesAreSortedAndNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for i, f := range Features {
		if seen[f.Name] || f.Source == "" || FeatureNamed(f.Name) != f {
			t.Errorf("%+v: twice, or without a source", f)
		}
		seen[f.Name] = true
		if v := semver.MustParse(f.Since); i > 0 && Older(v, Features[i-1].Since) {
			t.Errorf("%s stands after a newer one", f.Name)
		}
	}
}
