package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type projectsJSON struct {
	SchemaVersion int           `json:"schemaVersion"`
	Projects      []projectJSON `json:"projects"`
}

type projectJSON struct {
	Name     string   `json:"name"`
	Sessions int      `json:"sessions"`
	Turns    int      `json:"turns"`
	Entries  int      `json:"entries"`
	First    jsonTime `json:"firstActivity"`
	Last     jsonTime `json:"lastActivity"`
	Folders  []string `json:"folders"`
	Aliases  []string `json:"aliases"`
}

type mergeJSON struct {
	SchemaVersion int    `json:"schemaVersion"`
	From          string `json:"from"`
	Into          string `json:"into"`
	Sessions      int    `json:"sessions"`
	Entries       int    `json:"entries"`
}

func newProjectsCmd(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "projects", Short: "List projects, or merge two that are one", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			projects, err := db.ProjectList(cmd.Context())
			if err != nil {
				return err
			}
			return e.printProjects(projects, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	cmd.AddCommand(newMergeCmd(e))
	return cmd
}

func (e *env) printProjects(projects []memory.Project, asJSON bool) error {
	if asJSON {
		out := projectsJSON{1, []projectJSON{}}
		for _, p := range projects {
			out.Projects = append(out.Projects, projectJSON{
				p.Name, p.Sessions, p.Turns, p.Entries, jsonTime(p.First), jsonTime(p.Last), append([]string{}, p.Folders...), append([]string{}, p.Aliases...),
			})
		}
		return e.printJSON(out)
	}
	w := &lines{w: e.Stdout}
	if len(projects) == 0 {
		w.printf("no project is known yet\n")
	}
	for _, p := range projects {
		last := ""
		if !p.Last.IsZero() {
			last = "last active " + screenTime(p.Last, e.Now())
		}
		w.printf("%s\n    %s\n", screen(p.Name), screen(joined(plural(p.Sessions, "session", "sessions"), plural(p.Turns, "turn", "turns"),
			plural(p.Entries, "entry", "entries"), last)))
		for _, f := range p.Folders {
			w.printf("    in %s\n", screen(f))
		}
		if len(p.Aliases) > 0 {
			w.printf("    also known as %s\n", screen(strings.Join(p.Aliases, ", ")))
		}
	}
	return w.err
}

func newMergeCmd(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "merge FROM INTO", Short: "Put everything of one project under the name of another, now and later", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			known, err := db.ProjectList(cmd.Context())
			if err != nil {
				return err
			}
			from, err := oneProject(known, e.projectName(args[0]), false)
			if err != nil {
				return err
			}
			into, err := oneProject(known, e.projectName(args[1]), true)
			if err != nil {
				return err
			}
			if from == into {
				return &usageError{fmt.Errorf("%s: is already one project", from), ""}
			}
			sessions, entries, err := db.MergeProjects(cmd.Context(), from, into)
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(mergeJSON{1, from, into, sessions, entries})
			}
			_, err = fmt.Fprintf(e.Stdout, "%s is %s now: %s, %s\n", screen(from), screen(into), plural(sessions, "session", "sessions"), plural(entries, "entry", "entries"))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

// oneProject finds the project that a name, an alias, or the end of a name means. One that is not known yet is only what
// others are merged into.
func oneProject(known []memory.Project, name string, mayBeNew bool) (string, error) {
	var ends []string
	for _, p := range known {
		if p.Name == name {
			return name, nil
		}
		for _, a := range p.Aliases {
			if a == name {
				return p.Name, nil
			}
		}
		if strings.HasSuffix(p.Name, "/"+name) {
			ends = append(ends, p.Name)
		}
	}
	switch {
	case len(ends) == 1:
		return ends[0], nil
	case len(ends) > 1:
		return "", &store.AmbiguousError{Prefix: name, Candidates: ends}
	case mayBeNew && strings.Contains(name, "/"):
		return name, nil
	}
	return "", &store.NotFoundError{What: "project", Prefix: name}
}
