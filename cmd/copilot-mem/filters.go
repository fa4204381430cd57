package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// filters are the flags that narrow what a command reads.
type filters struct {
	project, session, since, until, branch, kind, tool, file string
	all                                                      bool
	everywhere                                               bool // as --all, but chosen in the config
	limit                                                    int
}

func (f *filters) add(cmd *cobra.Command, limit int) {
	fl := cmd.Flags()
	fl.StringVar(&f.project, "project", "", "only this project: host/owner/name, the end of it, or a folder (default: that of the current folder)")
	fl.BoolVar(&f.all, "all", false, "all projects")
	fl.StringVar(&f.session, "session", "", "only the session whose id starts so")
	fl.StringVar(&f.since, "since", "", "not before this time: "+timeForms)
	fl.StringVar(&f.until, "until", "", "not after this time; a day or month is meant as a whole")
	fl.StringVar(&f.branch, "branch", "", "only this branch")
	fl.StringVar(&f.kind, "kind", "", "only this kind: prompt, response, toolCall, toolResult, error, subagent, compaction, note, …")
	fl.StringVar(&f.tool, "tool", "", "only this tool")
	fl.StringVar(&f.file, "file", "", "only tool calls that name this path, or a part of it")
	fl.IntVar(&f.limit, "limit", limit, "at most so many")
	cmd.MarkFlagsMutuallyExclusive("project", "all")
}

// narrow reports whether any filter was typed.
func (f *filters) narrow() bool {
	return f.project+f.session+f.since+f.until+f.branch+f.kind+f.tool+f.file != ""
}

// query turns the flags into a query. Without --project and --all the project is that of the current folder, where
// that is in git; a session is looked for everywhere.
func (f *filters) query(e *env, text string) (memory.Query, error) {
	q := memory.Query{
		Text: text, Session: f.session, Branch: f.branch, Tool: f.tool, File: f.file,
		Kind: memory.Kind(f.kind), Limit: f.limit,
	}
	if f.limit <= 0 {
		return q, &usageError{fmt.Errorf("--limit %d: must be positive", f.limit), ""}
	}
	switch {
	case f.project != "":
		q.Project = e.projectName(f.project)
	case !f.all && !f.everywhere && f.session == "" && e.Dir != "":
		if project, _, ok := ingest.GitProject(e.Dir); ok {
			q.Project = project
		}
	}
	var errs []error
	now := e.Now()
	if f.since != "" {
		p, err := parsePeriod(f.since, now)
		q.Since, errs = p.from, append(errs, err)
	}
	if f.until != "" {
		p, err := parsePeriod(f.until, now)
		q.Until, errs = p.to, append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return q, err
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && q.Until.Before(q.Since) {
		return q, &usageError{fmt.Errorf("--until %s is before --since %s", f.until, f.since), ""}
	}
	return q, nil
}

// projectName is the project of a folder, where a folder is named, else the name as it is.
func (e *env) projectName(name string) string {
	if name != "." && !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "..") && !filepath.IsAbs(name) {
		return name
	}
	dir := name
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(e.Dir, dir)
	}
	if project, _ := ingest.ProjectOf(dir); project != "" {
		return project
	}
	return filepath.Clean(dir) // temporary: what happened there is found by its folder
}

// scopeJSON says what a search looked at.
type scopeJSON struct {
	Project *string  `json:"project"`
	Since   jsonTime `json:"since"`
	Until   jsonTime `json:"until"`
}

func scopeOf(q memory.Query) scopeJSON {
	s := scopeJSON{Since: jsonTime(q.Since), Until: jsonTime(q.Until)}
	if q.Project != "" {
		s.Project = &q.Project
	}
	return s
}
