package copilot

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/Masterminds/semver/v3"
)

var versionText = regexp.MustCompile(`\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?`)

// FindClient gives the client's place and version. lookPath finds a program on PATH, output runs it and gives its
// standard output; the path stays valid when only the version is not known.
func FindClient(lookPath func(name string) (string, error), output func(path string, args ...string) ([]byte, error)) (string, *semver.Version, error) {
	path, err := lookPath("copilot")
	if err != nil {
		return "", nil, fmt.Errorf("copilot: not on PATH: %w", err)
	}
	out, err := output(path, "--version")
	if err != nil {
		return path, nil, fmt.Errorf("%s --version: %w", path, err)
	}
	text := versionText.Find(out)
	if text == nil {
		return path, nil, fmt.Errorf("%s --version: no version in its answer", path)
	}
	v, err := semver.NewVersion(string(text))
	if err != nil {
		return path, nil, fmt.Errorf("%s --version: %q: %w", path, text, err)
	}
	return path, v, nil
}

// Older says whether a version comes before another one, which must be well formed.
func Older(v *semver.Version, than string) bool {
	return v.LessThan(semver.MustParse(than))
}

// PackageVersion reads the version of a client that npm installed, from the package.json beside what path leads to. Asking
// the client itself takes over a second (client 1.0.102).
func PackageVersion(path string) (*semver.Version, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(filepath.Dir(real), "package.json")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var manifest struct{ Name, Version string }
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if manifest.Name != "@github/copilot" {
		return nil, fmt.Errorf("%s: of the package %q, not of the client", name, manifest.Name)
	}
	v, err := semver.NewVersion(manifest.Version)
	if err != nil {
		return nil, fmt.Errorf("%s: version %q: %w", name, manifest.Version, err)
	}
	return v, nil
}
