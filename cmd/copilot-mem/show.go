package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type showJSON struct {
	SchemaVersion int         `json:"schemaVersion"`
	Session       sessionJSON `json:"session"`
	Entries       []entryJSON `json:"entries"`
}

type entryJSON struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	Turn       int             `json:"turn"`
	Time       jsonTime        `json:"time"`
	Tool       string          `json:"tool"`
	ToolInput  json.RawMessage `json:"toolInput"`
	ResultType string          `json:"resultType"`
	Text       string          `json:"text"`
	AgentID    string          `json:"agentId"`
	Truncated  bool            `json:"truncated"`
	Redacted   int             `json:"redacted"`
	CallID     string          `json:"callId"`
	ExitCode   *int            `json:"exitCode"`
	Files      []string        `json:"files"`
	Model      string          `json:"model"`
	Withdrawn  bool            `json:"withdrawn"`
}

func toEntryJSON(m memory.Entry) entryJSON {
	return entryJSON{
		m.ID, string(m.Kind), m.Turn, jsonTime(m.Time), m.Tool, m.ToolInput, m.ResultType, m.Text, m.AgentID, m.Truncated, m.Redacted,
		m.CallID, m.ExitCode, append([]string{}, m.Files...), m.Model, m.Withdrawn,
	}
}

func newShowCmd(e *env) *cobra.Command {
	var before, after int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a session, a turn, or one entry with its surroundings",
		Long:  "Show a session (ID), a turn of it (ID:3), one entry with its surroundings, or a day, week, month or year (2026-11-20, 2026-W47, 2026-11, 2026). The beginning of an id is enough where it is unique.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if before < 0 || after < 0 {
				return &usageError{errors.New("--before and --after must not be negative"), ""}
			}
			db, err := e.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			part, err := findPart(cmd.Context(), db, args[0])
			if err != nil {
				if _, missing := errors.AsType[*store.NotFoundError](err); missing {
					if ok, problem := e.showPeriod(cmd.Context(), db, args[0], asJSON); ok {
						return problem
					}
				}
				return err
			}
			entries, err := db.Entries(cmd.Context(), part.session.ID)
			if err != nil {
				return err
			}
			if entries, err = part.cut(entries, before, after); err != nil {
				return err
			}
			if asJSON {
				out := showJSON{1, toSessionJSON(part.session), []entryJSON{}}
				for _, m := range entries {
					out.Entries = append(out.Entries, toEntryJSON(m))
				}
				return e.printJSON(out)
			}
			return printEntries(e, part.session, entries, part.entry)
		},
	}
	cmd.Flags().IntVar(&before, "before", 0, "so many entries before, too")
	cmd.Flags().IntVar(&after, "after", 0, "so many entries after, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

// part is what an id names: a session, a turn of it, or an entry of it.
type part struct {
	session memory.Session
	turn    int    // -1: none
	entry   string // "": none
}

func findPart(ctx context.Context, db *store.DB, id string) (part, error) {
	prefix, number, hasTurn := strings.Cut(id, ":")
	turn := -1
	if hasTurn {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			return part{}, &usageError{fmt.Errorf("%s: %q is not the number of a turn", id, number), ""}
		}
		turn = n
	}
	session, err := db.Session(ctx, prefix)
	missing, none := errors.AsType[*store.NotFoundError](err)
	if err != nil && !none {
		return part{}, err
	}
	if hasTurn {
		return part{session, turn, ""}, err
	}
	entry, entryErr := db.Entry(ctx, id)
	_, noEntry := errors.AsType[*store.NotFoundError](entryErr)
	switch {
	case none && noEntry:
		missing.What = "session or entry"
		return part{}, missing
	case noEntry:
		return part{session, -1, ""}, nil
	case !none && session.ID == id: // whole ids are never guessed at
		return part{session, -1, ""}, nil
	case entryErr != nil:
		return part{}, entryErr
	case !none && entry.ID != id:
		return part{}, &store.AmbiguousError{Prefix: id, Candidates: []string{"session " + session.ID, "entry " + entry.ID}}
	}
	session, err = db.Session(ctx, entry.SessionID)
	return part{session, -1, entry.ID}, err
}

// cut keeps the entries that p names, and so many before and after them.
func (p part) cut(entries []memory.Entry, before, after int) ([]memory.Entry, error) {
	if p.turn < 0 && p.entry == "" {
		return entries, nil
	}
	first, last := -1, -1
	for i, m := range entries {
		if (p.entry != "" && m.ID == p.entry) || (p.entry == "" && m.Turn == p.turn) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return nil, fmt.Errorf("session %s has no turn %d: it has %s", short(p.session.ID), p.turn, plural(p.session.Turns, "turn", "turns"))
	}
	return entries[max(0, first-before):min(len(entries), last+1+after)], nil
}

func printEntries(e *env, s memory.Session, entries []memory.Entry, marked string) error {
	w := &lines{w: e.Stdout}
	w.printf("session %s\n%s\n", screen(s.ID), sessionLine(e, s))
	for _, m := range entries {
		mark := " "
		if m.ID == marked {
			mark = ">"
		}
		notes := ""
		if m.ResultType != "" {
			notes += "  " + m.ResultType
		}
		if m.AgentID != "" {
			notes += "  agent " + short(m.AgentID)
		}
		if m.ExitCode != nil && *m.ExitCode != 0 {
			notes += "  exit code " + strconv.Itoa(*m.ExitCode)
		}
		if m.Withdrawn {
			notes += "  withdrawn"
		}
		if m.Redacted > 0 {
			notes += "  " + plural(m.Redacted, "secret", "secrets") + " taken out"
		}
		if m.Truncated {
			notes += "  cut to the size limit"
		}
		at := m.Time.In(e.Now().Location()).Format("2006-01-02 15:04:05")
		w.printf("\n%s %s  %s  [%s]%s\n", mark, at, joined("turn "+strconv.Itoa(m.Turn), string(m.Kind), m.Tool), short(m.ID), screen(notes))
		if len(m.ToolInput) > 0 {
			w.printf("%s\n", indented(string(m.ToolInput)))
		}
		if m.Text != "" {
			w.printf("%s\n", indented(m.Text))
		}
	}
	return w.err
}

func indented(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(screen(s), "\n"), "\n", "\n    ")
}
