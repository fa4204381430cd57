package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

type sessionsJSON struct {
	SchemaVersion int           `json:"schemaVersion"`
	Sessions      []sessionJSON `json:"sessions"`
}

type sessionJSON struct {
	ID          string   `json:"id"`
	Project     string   `json:"project"`
	Cwd         string   `json:"cwd"`
	Branch      string   `json:"branch"`
	Client      string   `json:"client"`
	StartedAt   jsonTime `json:"startedAt"`
	EndedAt     jsonTime `json:"endedAt"`
	EndReason   string   `json:"endReason"`
	Turns       int      `json:"turns"`
	Entries     int      `json:"entries"`
	FirstPrompt string   `json:"firstPrompt"`
	Title       string   `json:"title"`
	Model       string   `json:"model"`
	HeadCommit  string   `json:"headCommit"`
}

func toSessionJSON(s memory.Session) sessionJSON {
	return sessionJSON{
		s.ID, s.Project, s.Cwd, s.Branch, s.Client, jsonTime(s.StartedAt), jsonTime(s.EndedAt), s.EndReason,
		s.Turns, s.Entries, s.FirstPrompt, s.Title, s.Model, s.HeadCommit,
	}
}

func newSessionsCmd(e *env) *cobra.Command {
	var f filters
	var exitEmpty, asJSON bool
	cmd := &cobra.Command{
		Use: "sessions", Short: "List sessions, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			q, err := f.query(e, "")
			if err != nil {
				return err
			}
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			sessions, err := db.Sessions(cmd.Context(), q)
			if err != nil {
				return err
			}
			if err := printSessions(e, q, sessions, asJSON); err != nil {
				return err
			}
			if len(sessions) == 0 && exitEmpty {
				return codeError(exitNothing)
			}
			return nil
		},
	}
	f.add(cmd, 50)
	cmd.Flags().BoolVar(&exitEmpty, "exit-empty", false, "exit code 4 when there is none")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func printSessions(e *env, q memory.Query, sessions []memory.Session, asJSON bool) error {
	if asJSON {
		out := sessionsJSON{1, []sessionJSON{}}
		for _, s := range sessions {
			out.Sessions = append(out.Sessions, toSessionJSON(s))
		}
		return e.printJSON(out)
	}
	w := &lines{w: e.Stdout}
	if len(sessions) == 0 {
		if q.Project != "" {
			w.printf("no session of %s passes the filters (--all looks at all projects)\n", screen(q.Project))
		} else {
			w.printf("no session passes the filters\n")
		}
	}
	for _, s := range sessions {
		w.printf("%s\n", sessionLine(e, s))
		if s.FirstPrompt != "" {
			w.printf("    %s\n", screen(clip(s.FirstPrompt, 100)))
		}
	}
	return w.err
}

func sessionLine(e *env, s memory.Session) string {
	state := "open"
	if !s.EndedAt.IsZero() {
		state = "ended " + screenTime(s.EndedAt, e.Now())
		if s.EndReason != "" {
			state += " (" + s.EndReason + ")"
		}
	}
	return joined(short(s.ID), screenTime(s.StartedAt, e.Now()), s.Project, s.Branch,
		fmt.Sprintf("%s, %s", plural(s.Turns, "turn", "turns"), plural(s.Entries, "entry", "entries")), state)
}

// clip makes one line of at most n characters.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
