package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// Limits of a source (section 2).
const (
	maxFiles = 2000
	maxBytes = 1 << 20
)

// Loader says where policies may be. All paths are absolute.
type Loader struct {
	UserDir string   // $COPILOT_HOME/copilot-mem; "" = no user policies
	Sources []string // directories that may hold .github: from the event's directory to the root, and on into a superproject
	Root    string   // repository root, for the names of files
	Home    string   // for patterns that start with ~/
	// Trusted says whether a repository, by the directory that its .github lies in, may relax bundled rules; asked only when a setting
	// would. nil: no.
	Trusted func(dir string) bool
	// Shell names the shell of steps that name none; nil: bash.
	Shell func(Source) string
}

// Set is all that was loaded.
type Set struct {
	Policies []*Policy // by precedence of their source, then by directory and name
	Settings Settings
	Findings []Finding // of settings and places; those of a policy are its Problems
	Files    int       // policy and settings files read

	root string
}

// Repairs reports whether the call does nothing but write or delete invalid policy files: then no rule for policy files is to
// stop it. A file that cannot be read at all does not count: taking its permissions away must not open it for writing.
func (s *Set) Repairs(f *facts.Facts) bool { return s.repairs(f, false) }

func (s *Set) repairs(f *facts.Facts, unread bool) bool {
	found := false
	for i := range f.Files() {
		file := &f.Files()[i]
		if !written(*file) {
			continue
		}
		if !s.broken(f, file, unread) {
			return false
		}
		found = true
	}
	return found && (!f.IsShell() || plainShell(f.Shell()))
}

// broken reports whether a file is a policy or settings file with errors. Only that file is looked into.
func (s *Set) broken(f *facts.Facts, file *facts.File, unread bool) bool {
	same := func(path string) bool {
		if file.Abs == path {
			return true
		}
		if filepath.Base(path) != filepath.Base(file.Abs) {
			return false
		}
		_, canonical := f.Paths(path)
		return canonical == file.Path
	}
	for _, p := range s.Policies {
		if p.Enabled && same(p.Path) {
			p.compile()
			return p.InvalidText() != "" && (unread || !p.unread)
		}
	}
	return slices.ContainsFunc(s.Settings.invalid, same)
}

// plainShell reports whether a command line consists of programs that only read and write the files they name.
func plainShell(sh *facts.Shell) bool {
	if sh == nil || sh.Opaque {
		return false
	}
	return !slices.ContainsFunc(sh.Commands, func(c facts.Command) bool {
		return !slices.Contains([]string{"rm", "unlink", "cp", "tee", "cat", "echo", "printf", "cd", "true"}, c.Name)
	})
}

// Load reads the settings and what of the policies says whether they speak about a call. Where there are no policies it only
// asks the disk whether there are any.
func Load(l Loader) *Set {
	s := &Set{root: l.Root}
	var files []*settingsFile
	var jobs []job
	if l.UserDir != "" && isDir(l.UserDir) {
		files = append(files, s.settings(l, l.UserDir, filepath.Join(l.UserDir, "policy.yml"), User))
		jobs = append(jobs, s.walk(l, place{filepath.Join(l.UserDir, "policies"), l.UserDir, User})...)
	}
	var flows []job
	for _, dir := range l.Sources {
		github := filepath.Join(dir, ".github")
		if !isDir(github) {
			continue
		}
		if mem := filepath.Join(github, "copilot-mem"); isDir(mem) {
			files = append(files, s.settings(l, dir, filepath.Join(mem, "policy.yml"), Repo))
			jobs = append(jobs, s.walk(l, place{filepath.Join(mem, "policies"), dir, Repo})...)
		}
		flows = append(flows, s.walk(l, place{filepath.Join(github, "hookflows"), dir, Hookflow})...)
	}
	files = slices.DeleteFunc(files, func(f *settingsFile) bool { return f == nil })
	s.Files += len(files)
	s.Settings = s.merge(l, files)
	s.Policies = l.read(append(jobs, flows...))
	for _, p := range s.Policies {
		p.settle(files)
	}
	s.Files += len(s.Policies)
	return s
}

// settle gives a policy what its own source's settings say.
func (p *Policy) settle(files []*settingsFile) {
	p.OnError = "deny"
	for _, f := range files {
		if f.dir == p.Dir && (f.source == User) == (p.Source == User) {
			if f.onError != "" {
				p.OnError = f.onError
			}
			p.PostGate = f.postGate
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// place is a folder of policies.
type place struct {
	folder string
	dir    string // as Policy.Dir
	source Source
}

// job is one file to read.
type job struct {
	place
	path    string
	problem string // it is not to be read, and this is why
}

// walk lists the policy files of a folder in lexical order. Linked folders are not followed; a linked file counts if it is in the
// same repository.
func (s *Set) walk(l Loader, at place) []job {
	info, err := os.Lstat(at.folder)
	if err != nil {
		return nil
	}
	if info.Mode()&fs.ModeSymlink != 0 && !l.inside(at.folder, at) || !isDir(at.folder) {
		s.warn(l.name(at.folder), "link", "", "not followed: a link out of the repository, or no folder")
		return nil
	}
	var jobs []job
	err = filepath.WalkDir(at.folder+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			jobs = append(jobs, job{at, path, "cannot be read: " + cause(err)})
			return nil
		case d.IsDir() || !policyFile(path):
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			if target, err := os.Stat(path); err == nil && !target.Mode().IsRegular() {
				return nil
			}
			if !l.inside(path, at) {
				s.warn(l.name(path), "link", "copy the file into the repository", "not read: the link leads out of the repository")
				return nil
			}
		case !d.Type().IsRegular():
			return nil
		}
		if len(jobs) == maxFiles {
			jobs = append(jobs, job{at, path, fmt.Sprintf("more than %d policy files: this one and those after it are not read", maxFiles)})
			return fs.SkipAll
		}
		jobs = append(jobs, job{place: at, path: path})
		return nil
	})
	if err != nil {
		jobs = append(jobs, job{at, at.folder, "cannot be read: " + cause(err)})
	}
	return jobs
}

func (s *Set) warn(file, rule, hint, message string) {
	s.Findings = append(s.Findings, Finding{File: file, Rule: rule, Severity: SeverityWarning, Message: message, Hint: hint})
}

// cause is an error without the path, which the finding names anyway.
func cause(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

func policyFile(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yml", ".yaml", ".md":
		return true
	}
	return false
}

// inside reports whether a link resolves to somewhere in the repository, or the user's folder, that it is in.
func (l Loader) inside(path string, at place) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	top, err := filepath.EvalSymlinks(l.repository(at))
	return err == nil && within(top, real)
}

// repository is the folder that the files of a place may not lead out of.
func (l Loader) repository(at place) string {
	if at.source != User && l.Root != "" && within(l.Root, at.dir) {
		return l.Root
	}
	return at.dir
}

func within(top, path string) bool {
	rel, err := filepath.Rel(top, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// name is a file as findings and reasons name it.
func (l Loader) name(path string) string {
	if l.Root != "" && within(l.Root, path) {
		if rel, err := filepath.Rel(l.Root, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}

// read reads the files, several at a time, and leaves out markdown files that are no rules.
func (l Loader) read(jobs []job) []*Policy {
	out := make([]*Policy, len(jobs))
	workers := min(4, runtime.GOMAXPROCS(0), (len(jobs)+7)/8)
	if workers < 2 {
		for i, j := range jobs {
			out[i] = l.policy(j)
		}
		return compact(out)
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(jobs); i += workers {
				out[i] = l.policy(jobs[i])
			}
		})
	}
	wg.Wait()
	return compact(out)
}

func compact(in []*Policy) []*Policy {
	return slices.DeleteFunc(in, func(p *Policy) bool { return p == nil })
}

func (l Loader) policy(j job) *Policy {
	p := l.newPolicy(j)
	if j.problem != "" {
		p.unread = true
		return p.broken(j.problem)
	}
	src, problem := readFile(j.path)
	if problem != "" {
		p.unread = src == nil
		return p.broken(problem)
	}
	return p.decode(src)
}

func (l Loader) newPolicy(j job) *Policy {
	name := filepath.Base(j.path)
	p := &Policy{
		Name: strings.TrimSuffix(name, filepath.Ext(name)), Path: j.path, File: l.name(j.path), Dir: j.dir, Source: j.source,
		Format: Workflow, OnError: "deny", home: l.Home, shell: l.Shell, base: ".",
	}
	if rel, err := filepath.Rel(l.repository(j.place), j.dir); err == nil {
		p.base = filepath.ToSlash(rel)
	}
	if strings.EqualFold(filepath.Ext(name), ".md") {
		p.Format = Markdown
	}
	p.decoder = &decoder{file: p.File}
	return p
}

// decode reads the text of a policy file; nil for a markdown file that is no rule.
func (p *Policy) decode(src []byte) *Policy {
	if p.Format == Markdown {
		p.src = src
		if !p.decodeRule() {
			return nil
		}
		return p
	}
	p.src = trimMark(src)
	p.decodeWorkflow()
	return p
}

func trimMark(src []byte) []byte { return bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")) }

// broken makes the policy one that cannot be read at all.
func (p *Policy) broken(problem string) *Policy {
	p.Enabled, p.Blocking = true, true
	p.onUnreadable, p.mutatingOnly = true, true
	p.errorf(nil, "unreadable", "", "%s", problem)
	return p
}

// readFile reads a file up to the limit; problem says why it cannot be used, and src is nil if it could not even be read.
func readFile(path string) (src []byte, problem string) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, "cannot be read: not a regular file"
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "cannot be read: " + cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "cannot be read: " + cause(err)
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), maxBytes)) + bytes.MinRead)
	if _, err = b.ReadFrom(io.LimitReader(f, maxBytes+1)); err != nil {
		return nil, "cannot be read: " + cause(err)
	}
	if b.Len() > maxBytes {
		return b.Bytes(), "larger than 1 MiB"
	}
	return b.Bytes(), ""
}
