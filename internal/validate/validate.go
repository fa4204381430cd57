// Package validate says whether skills, agents, hook files, manifests, marketplaces and whole plugins are well
// formed: what Copilot CLI 1.0.102 refuses or ignores, and what the Agent Skills and Agent Plugins texts want.
//
// It changes nothing, runs nothing, and does not print.
package validate

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Severities of a finding.
const (
	Error   = "error"
	Warning = "warning"
	Info    = "info"
)

// Voices: who says so. Copilot is the client; Spec the written texts (Agent Skills, Agent Plugins, Claude Code).
const (
	Copilot = "copilot"
	Spec    = "spec"
)

// Finding is one problem. Line and Column count from 1, in characters of the file.
//
// An error is what the client refuses. A warning is what it silently ignores or changes, or (the spec's voice) what
// other clients refuse; Options.Strict turns the latter into errors.
type Finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
	Voice    string `json:"voice"`
}

// Summary counts. Files are those that were checked, not those that were seen.
type Summary struct {
	Files    int `json:"files"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
}

// Options change how strict the rules are.
type Options struct {
	Strict bool   // what is not portable is an error
	Dir    string // where relative paths begin, absolute
	Kind   string // one of Kinds: what every path is, whatever its place says; "" finds out
	Home   string // the client's own folder, absolute; "" knows it by its name only

	fix bool // work out what can be repaired
}

// Plugin checks the plugin in fsys. name is what its folder is called: the fallback for missing names; prefix is put
// before the path of every file in the findings. A folder without a manifest is an error finding.
func Plugin(fsys fs.FS, name, prefix string, o Options) ([]Finding, Summary) {
	c := &checker{fsys: fsys, name: name, prefix: prefix, options: o}
	c.plugin(true)
	return finish([]*checker{c})
}

// checker collects the findings below one folder.
type checker struct {
	fsys    fs.FS
	name    string // the folder's own name
	prefix  string // how the user wrote the folder; "" for the working directory
	options Options

	findings []Finding
	files    map[string]bool
	whole    bool              // fsys is a whole repository or plugin: what its files name must be there
	skills   map[string]string // name → file, of one family of folders
	agents   map[string]string // id → file, of one family of folders
	titles   map[string]string // an agent's name → file
	fixes    map[string]Fix    // by file
	listing  []listed          // what the model is shown of the skills, in order
}

// report writes the findings of one file.
type report struct {
	c    *checker
	file string
	// quiet is set where the client drops the file without a word that reaches the user: errors become warnings.
	quiet bool
	data  []byte // of the file, once read
}

func (c *checker) open(file string) *report {
	if c.files == nil {
		c.files = map[string]bool{}
	}
	c.files[file] = true
	return &report{c: c, file: file}
}

func (r *report) add(severity string, line, col int, rule, message, hint string) {
	r.say(Copilot, severity, line, col, rule, message, hint)
}

func (r *report) say(voice, severity string, line, col int, rule, message, hint string) {
	r.c.findings = append(r.c.findings, Finding{
		File: filepath.FromSlash(path.Join(filepath.ToSlash(r.c.prefix), r.file)), Line: max(line, 1), Column: max(col, 1),
		Rule: rule, Severity: severity, Message: message, Hint: hint, Voice: voice,
	})
}

func place(v *plugin.Value) (line, col int) {
	if v == nil {
		return 1, 1
	}
	return v.Line, v.Column
}

// refuse is for what the client refuses.
func (r *report) refuse(v *plugin.Value, rule, message, hint string) {
	line, col := place(v)
	r.refuseAt(line, col, rule, message, hint)
}

func (r *report) refuseAt(line, col int, rule, message, hint string) {
	if r.quiet {
		r.add(Warning, line, col, rule, message+" (dropped without a message)", hint)
		return
	}
	r.add(Error, line, col, rule, message, hint)
}

// warn is for what the client ignores or changes in silence.
func (r *report) warn(v *plugin.Value, rule, message, hint string) {
	line, col := place(v)
	r.add(Warning, line, col, rule, message, hint)
}

// spec is for what the client takes and the written specifications do not.
func (r *report) spec(v *plugin.Value, rule, message, hint string) {
	line, col := place(v)
	r.specAt(line, col, rule, message, hint)
}

func (r *report) specAt(line, col int, rule, message, hint string) {
	severity := Warning
	if r.c.options.Strict {
		severity = Error
	}
	r.say(Spec, severity, line, col, rule, message, hint)
}

// read returns the file's bytes; one that cannot be read is a finding.
func (r *report) read(rule string) ([]byte, bool) {
	if r.data != nil {
		return r.data, true
	}
	data, err := fs.ReadFile(r.c.fsys, r.file)
	if err != nil {
		r.refuse(nil, rule, fmt.Sprintf("failed to read file: %v", err), "")
		return nil, false
	}
	r.data = data
	return data, true
}

func (c *checker) exists(file string) bool {
	_, err := fs.Stat(c.fsys, file)
	return err == nil
}

func (c *checker) isDir(file string) bool {
	info, err := fs.Stat(c.fsys, file)
	return err == nil && info.IsDir()
}

func (c *checker) isFile(file string) bool {
	info, err := fs.Stat(c.fsys, file)
	return err == nil && info.Mode().IsRegular()
}

// finish sorts the findings and drops the doubles of files that were reached twice.
func finish(all []*checker) ([]Finding, Summary) {
	findings := []Finding{}
	files := map[string]bool{}
	for _, c := range all {
		findings = append(findings, c.findings...)
		for f := range c.files {
			files[path.Join(filepath.ToSlash(c.prefix), f)] = true
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	findings = slices.Compact(findings)
	s := Summary{Files: len(files)}
	for _, f := range findings {
		switch f.Severity {
		case Error:
			s.Errors++
		case Warning:
			s.Warnings++
		}
	}
	return findings, s
}
