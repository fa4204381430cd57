package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/recall"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type whyJSON struct {
	SchemaVersion int        `json:"schemaVersion"`
	SessionID     string     `json:"sessionId"`
	Tokens        int        `json:"tokens"`
	Told          []toldJSON `json:"told"`
}

type toldJSON struct {
	Time    jsonTime      `json:"time"`
	Event   string        `json:"event"`
	AgentID string        `json:"agentId"` // the sub-agent that was told; empty: the main agent
	Reason  string        `json:"reason"`
	Tokens  int           `json:"tokens"`
	Bytes   int           `json:"bytes"`
	Items   []recall.Item `json:"items"`
	Text    string        `json:"text"`
}

func newWhyCmd(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "why [SESSION]", Short: "What the agent was told by itself, and why", Args: cobra.MaximumNArgs(1),
		Long: "What the agent of a session was told by itself, byte for byte, and why; without SESSION that of the last one that was told something.",
		RunE: func(_ *cobra.Command, args []string) error {
			receipts, err := e.receiptsOf(strings.Join(args, ""))
			if err != nil {
				return err
			}
			out := whyJSON{SchemaVersion: 1, Told: []toldJSON{}}
			for _, r := range receipts {
				out.SessionID = r.Session
				if r.Text == "" || r.Aside {
					continue
				}
				out.Tokens += r.Tokens
				out.Told = append(out.Told, toldJSON{jsonTime(r.Time), r.Event, r.Agent, r.Reason, r.Tokens, r.Bytes, r.Items, r.Text})
			}
			if asJSON {
				return e.printJSON(out)
			}
			return e.printWhy(out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func (e *env) printWhy(out whyJSON) error {
	w := &lines{w: e.Stdout}
	if len(out.Told) == 0 {
		w.printf("No agent was told anything by itself%s.\n", map[bool]string{true: "", false: " in session " + screen(out.SessionID)}[out.SessionID == ""])
		return w.err
	}
	w.printf("Session %s was told %s, %d tokens:\n", screen(out.SessionID), plural(len(out.Told), "thing", "things"), out.Tokens)
	for _, t := range out.Told {
		w.printf("\n%s  %s  %d tokens, %d bytes  (%s)\n", screenTime(time.Time(t.Time), e.Now()), screen(t.Event), t.Tokens, t.Bytes, screen(t.Reason))
		for _, i := range t.Items {
			score := ""
			if i.Score > 0 {
				score = fmt.Sprintf(", score %.2f", i.Score)
			}
			w.printf("  [%s] %s%s\n", screen(i.ID), screen(i.Reason), score)
		}
		for line := range strings.Lines(t.Text) {
			w.printf("  | %s\n", screen(strings.TrimRight(line, "\n")))
		}
	}
	w.printf("\n`copilot-mem mute ID` keeps one from being told again.\n")
	return w.err
}

// receiptsOf gives what the session whose id starts so was told, or the last session.
func (e *env) receiptsOf(session string) ([]recall.Receipt, error) {
	dir, err := e.dataDir()
	if err != nil {
		return nil, err
	}
	paths, err := allReceipts(dir)
	if err != nil {
		return nil, err
	}
	slices.Reverse(paths)
	var found [][]recall.Receipt
	for _, p := range paths {
		receipts, err := readReceipts(p)
		if err != nil {
			return nil, err
		}
		told := slices.ContainsFunc(receipts, func(r recall.Receipt) bool { return r.Text != "" && !r.Aside })
		switch {
		case len(receipts) == 0 || session != "" && !strings.HasPrefix(receipts[0].Session, session):
		case session == "" && told || session != "" && receipts[0].Session == session:
			return receipts, nil
		case session != "":
			found = append(found, receipts)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, &usageError{fmt.Errorf("session %s is not unique", session), "give more of its id"}
	case session != "":
		return nil, &store.NotFoundError{What: "session that was told something", Prefix: session}
	}
	return nil, nil
}

type muteJSON struct {
	SchemaVersion int      `json:"schemaVersion"`
	Muted         []string `json:"muted"` // all that is muted now
}

func newMuteCmd(e *env) *cobra.Command {
	var undo, asJSON bool
	cmd := &cobra.Command{
		Use: "mute [ID]", Short: "Keep an entry, a note or a session from being told to agents by itself", Args: cobra.MaximumNArgs(1),
		Long: "Keep an entry, a note or a session from being told to agents by itself. It stays in memory, and `search` finds it. Without ID what is muted is listed.",
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := e.dataDir()
			if err != nil {
				return err
			}
			list, err := readMutedList(dir)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				id, err := e.wholeID(cmd, args[0], list.IDs)
				if err != nil {
					return err
				}
				list.Version = 1
				list.IDs = slices.DeleteFunc(list.IDs, func(s string) bool { return s == id })
				if !undo {
					list.IDs = append(list.IDs, id)
				}
				slices.Sort(list.IDs)
				if err := writeMuted(dir, list); err != nil {
					return err
				}
			}
			if asJSON {
				return e.printJSON(muteJSON{1, append([]string{}, list.IDs...)})
			}
			w := &lines{w: e.Stdout}
			w.printf("%s muted\n", plural(len(list.IDs), "id is", "ids are"))
			for _, id := range list.IDs {
				w.printf("  %s\n", screen(id))
			}
			return w.err
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "let it be told again")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

// wholeID is the id of the entry or session that is meant; one that is muted already may be gone from memory.
func (e *env) wholeID(cmd *cobra.Command, id string, muted []string) (_ string, err error) {
	for _, m := range muted {
		if strings.HasPrefix(m, id) {
			return m, nil
		}
	}
	db, err := e.openStore(cmd.Context())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := findPart(cmd.Context(), db, id)
	if err != nil {
		return "", err
	}
	if p.entry != "" {
		return p.entry, nil
	}
	return p.session.ID, nil
}
