package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/copilot"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// checkVersion settles the version: --version, else the manifest's, else a tag of the commit that is checked out. A tag
// that says another version is an error: what is released would not be what the tag names.
func (p *packing) checkVersion() error {
	parsed, err := plugin.Parse(p.tree)
	if err != nil {
		return fmt.Errorf("%s: %w", p.shown, err)
	}
	m := parsed.Manifest
	p.version = p.flags.version
	if p.version == "" {
		p.version = m.Version
	}
	name := m.Name
	if name == "" {
		name = p.name
	}
	tags := p.tagged(name)
	if p.version == "" && len(tags) == 1 {
		p.version = tags[0]
	}
	at := filepath.Join(p.shown, filepath.FromSlash(m.Path))
	switch {
	case p.version == "":
		return &versionError{fmt.Sprintf("%s: no version", at), `write "version": "1.0.0", or give --version 1.0.0`}
	case plugin.CheckVersion(p.version) != nil:
		return &versionError{fmt.Sprintf("%s: version %q: not a semantic version", at, p.version), "write three numbers, such as 1.0.0"}
	case len(tags) > 0 && !slices.Contains(tags, p.version):
		return &versionError{fmt.Sprintf("%s: version %s, but the commit is tagged %s", at, p.version, strings.Join(tags, " and ")),
			"write the tag's version into the manifest, or move the tag"}
	}
	return nil
}

type versionError struct{ problem, advice string }

func (v *versionError) Error() string { return v.problem }
func (v *versionError) Hint() string  { return v.advice }

// tagged gives the versions that tags of the checked-out commit name: v1.2.3, 1.2.3, and the same behind the plugin's
// name. A folder in no repository, or a machine without git, has none. For our own plugin the working directory counts,
// where it is this project.
func (p *packing) tagged(name string) []string {
	dir := p.dir
	if dir == "" {
		data, err := os.ReadFile(filepath.Join(p.e.Dir, "plugin.json"))
		if err != nil {
			return nil
		}
		if here, err := plugin.ParseManifest(data); err != nil || here.Name != name {
			return nil
		}
		dir = p.e.Dir
	}
	var versions []string
	for tag := range strings.Lines(gitOutput(dir, "tag", "--points-at", "HEAD")) {
		tag = strings.TrimSpace(tag)
		if rest, ok := strings.CutPrefix(tag, name); ok && rest != "" && strings.ContainsRune("-@/_", rune(rest[0])) {
			tag = rest[1:]
		}
		if v := strings.TrimPrefix(tag, "v"); plugin.CheckVersion(v) == nil {
			versions = append(versions, v)
		}
	}
	return versions
}

// tracked gives the repository that dir lies in and the files that version control has of it.
func tracked(dir string) (top string, files []string, err error) {
	top, err = copilot.GitRoot(dir)
	var none *copilot.NoRepositoryError
	if errors.As(err, &none) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	list := gitOutput(dir, "ls-files", "--full-name", "-z")
	return top, strings.FieldsFunc(list, func(r rune) bool { return r == 0 }), nil
}

// gitOutput is empty where git has no answer. A repository's settings must not start a program.
func gitOutput(dir string, args ...string) string {
	cmd := exec.Command("git", append([]string{"-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}
