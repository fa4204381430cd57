package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/digest"
)

type topicsJSON struct {
	SchemaVersion int         `json:"schemaVersion"`
	Scope         scopeJSON   `json:"scope"`
	Topics        []topicJSON `json:"topics"`
}

type topicJSON struct {
	Project  string         `json:"project"`
	Topic    string         `json:"topic"`
	Sessions int            `json:"sessions"`
	Turns    int            `json:"turns"`
	FirstAt  jsonTime       `json:"firstAt"`
	LastAt   jsonTime       `json:"lastAt"`
	LastID   string         `json:"lastId"` // `show` expands it
	Related  []relationJSON `json:"related"`
}

type relationJSON struct {
	Topic string `json:"topic"`
	Turns int    `json:"turns"` // that speak of both
	Days  int    `json:"days"`  // on which both were alive
}

func newTopicsCmd(e *env) *cobra.Command {
	var f filters
	var exitEmpty, asJSON bool
	cmd := &cobra.Command{
		Use: "topics", Short: "Subjects that came back in several sessions, and how they relate", Args: cobra.NoArgs,
		Long: "Subjects that came back in at least two sessions of one project: words of prompts, notes, titles and summaries, counted. With each: when it was last alive, and with which others it came together.",
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
			entries, err := db.Digest(cmd.Context(), q)
			if err != nil {
				return err
			}
			sessions, err := db.SessionsByID(cmd.Context(), entries)
			if err != nil {
				return err
			}
			topics := digest.Topics(entries, sessions, f.limit)
			if asJSON {
				out := topicsJSON{1, scopeOf(q), []topicJSON{}}
				for _, t := range topics {
					out.Topics = append(out.Topics, toTopicJSON(t))
				}
				err = e.printJSON(out)
			} else {
				err = e.printTopics(topics)
			}
			if err == nil && len(topics) == 0 && exitEmpty {
				return codeError(exitNothing)
			}
			return err
		},
	}
	f.add(cmd, 30)
	cmd.Flags().BoolVar(&exitEmpty, "exit-empty", false, "exit code 4 when there is none")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func toTopicJSON(t digest.Topic) topicJSON {
	out := topicJSON{t.Project, t.Name, t.Sessions, t.Turns, jsonTime(t.First), jsonTime(t.Last), t.LastID, []relationJSON{}}
	for _, r := range t.Related {
		out.Related = append(out.Related, relationJSON{r.Name, r.Turns, r.Days})
	}
	return out
}

func (e *env) printTopics(topics []digest.Topic) error {
	w := &lines{w: e.Stdout}
	if len(topics) == 0 {
		w.printf("no subject came back in a second session yet\n")
	}
	for _, t := range topics {
		var with []string
		for _, r := range t.Related {
			with = append(with, fmt.Sprintf("%s (%d)", r.Name, r.Turns))
		}
		w.printf("%s\n", joined(t.Name, t.Project, plural(t.Sessions, "session", "sessions")+", "+plural(t.Turns, "turn", "turns"),
			"last "+screenTime(t.Last, e.Now()), "["+shortPart(t.LastID)+"]"))
		if len(with) > 0 {
			w.printf("    with %s\n", screen(strings.Join(with, ", ")))
		}
	}
	return w.err
}
