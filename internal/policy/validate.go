package policy

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Check returns everything that is wrong with a loaded set, by file and place: findings of places and settings, all problems of all
// policies, actions that steps use and that cannot be read, and names that several policies have.
func (s *Set) Check() []Finding {
	s.Compile()
	out := slices.Clone(s.Findings)
	first := map[string]*Policy{}
	for _, p := range s.Policies {
		out = append(out, p.Problems...)
		out = append(out, p.localActions(s.root)...)
		if twin := first[p.Name]; twin != nil {
			f := Finding{File: p.File, Rule: "duplicate-name", Severity: SeverityWarning,
				Message: fmt.Sprintf("the name %q is also that of %s", p.Name, twin.File), Hint: "both count; give them different names"}
			if p.nameAt != nil {
				f.Line, f.Column = p.nameAt.Line+p.lineOff, p.nameAt.Column
			}
			out = append(out, f)
			continue
		}
		first[p.Name] = p
	}
	return sorted(out)
}

// localActions checks the actions of the repository that the steps use.
func (p *Policy) localActions(root string) []Finding {
	var out []Finding
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Kind != StepUses || !strings.HasPrefix(s.Uses, ".") {
			continue
		}
		if msg, _ := badUses(s.Uses, p); msg != "" {
			continue
		}
		_, problems := LoadAction(filepath.Join(p.Dir, filepath.FromSlash(s.Uses)))
		for _, f := range problems {
			if f.Rule == "unreadable" {
				f = Finding{File: p.File, Line: s.Line, Column: s.Column, Rule: "uses", Severity: SeverityError, Message: s.Uses + " has no action.yml that can be read"}
			} else if rel, err := filepath.Rel(root, filepath.FromSlash(f.File)); err == nil && within(root, filepath.FromSlash(f.File)) {
				f.File = filepath.ToSlash(rel)
			}
			out = append(out, f)
		}
	}
	return out
}

// Validate checks policy files and settings by path: files, folders of policies, or a folder that holds .github. Without paths it
// checks what l would load. The error is about a path that is not there.
func Validate(l Loader, paths []string) (found []Finding, files int, err error) {
	if len(paths) == 0 {
		s := Load(l)
		return s.Check(), s.Files, nil
	}
	all := &Set{root: l.Root}
	for _, path := range paths {
		if path, err = filepath.Abs(path); err != nil {
			return nil, 0, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", path, errCause(err))
		}
		switch {
		case !info.IsDir():
			all.take(l, path)
		case isDir(filepath.Join(path, ".github")):
			l := l
			l.UserDir, l.Sources, l.Root = "", []string{path}, path
			s := Load(l)
			all.Policies, all.Findings, all.Files = append(all.Policies, s.Policies...), append(all.Findings, s.Findings...), all.Files+s.Files
		default:
			err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() && policyFile(file) {
					all.take(l, file)
				}
				return err
			})
			if err != nil {
				return nil, 0, err
			}
		}
	}
	return all.Check(), all.Files, nil
}

func errCause(err error) error {
	if at, ok := err.(*fs.PathError); ok {
		return at.Err
	}
	return err
}

// take adds one file, as what its place makes it.
func (s *Set) take(l Loader, path string) {
	at := placeOf(l, path)
	if at.folder == "" {
		f := newSettings(l.name(path), path, at.dir, at.source)
		if src, problem := readFile(path); problem != "" {
			f.errorf(nil, "unreadable", "", "%s", problem)
		} else {
			f.src = trimMark(src)
			f.decode(l.Home)
		}
		s.Findings = append(s.Findings, sorted(f.problems)...)
		s.Files++
		return
	}
	s.Files++
	if p := l.policy(job{place: at, path: path}); p != nil {
		s.Policies = append(s.Policies, p)
	}
}

// placeOf finds the source of a file by its path; a file in none of the places counts as one of a repository. Settings have no
// folder.
func placeOf(l Loader, path string) place {
	slash := filepath.ToSlash(path)
	if l.UserDir != "" && within(l.UserDir, path) {
		if filepath.Dir(path) == filepath.Clean(l.UserDir) && filepath.Base(path) == "policy.yml" {
			return place{"", l.UserDir, User}
		}
		return place{l.UserDir, l.UserDir, User}
	}
	for _, mark := range []struct {
		part   string
		source Source
	}{{"/.github/hookflows/", Hookflow}, {"/.github/copilot-mem/policies/", Repo}, {"/.github/copilot-mem/policy.yml", Repo}} {
		if i := strings.LastIndex(slash, mark.part); i >= 0 {
			dir := filepath.FromSlash(slash[:max(i, 1)])
			if strings.HasSuffix(mark.part, ".yml") {
				return place{"", dir, Repo}
			}
			return place{filepath.Join(dir, filepath.FromSlash(mark.part)), dir, mark.source}
		}
	}
	if filepath.Base(path) == "policy.yml" && looksLikeSettings(path) {
		return place{"", filepath.Dir(path), Repo}
	}
	return place{filepath.Dir(path), filepath.Dir(path), Repo}
}

// looksLikeSettings reports whether a loose policy.yml has no key that only a workflow has.
func looksLikeSettings(path string) bool {
	src, problem := readFile(path)
	if problem != "" {
		return false
	}
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, "on:") || strings.HasPrefix(line, "steps:") {
			return false
		}
	}
	return true
}
