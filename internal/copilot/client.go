package copilot

import (
	"fmt"
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
