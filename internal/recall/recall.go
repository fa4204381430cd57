// Package recall answers what the model should see now, within a budget.
// It chooses and words; it reads no event, keeps no state and prints nothing: the caller tells it what happened and what
// was told before, and asks its own store.
package recall

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Store is what a recall asks of a store. Texts may be cut.
type Store interface {
	// Touching gives the entries that hold words of the lists, the best first, and how many entries hold each list, of all.
	Touching(ctx context.Context, q memory.Query, words [][]string, common func(all int) int, limit int) (found []memory.Touched, docs []int, all int, err error)
	After(ctx context.Context, session string, from time.Time, limit int) ([]memory.Entry, error)
	Last(ctx context.Context, session string, limit int) ([]memory.Entry, error)
	Prompt(ctx context.Context, session string, turn int) (memory.Entry, error)
	Lately(ctx context.Context, q memory.Query) ([]memory.Session, error)
	Notes(ctx context.Context, q memory.Query, replaced bool) ([]memory.Entry, error)
	Known(ctx context.Context, ids []string) (map[string]bool, error)
}

// The events that may be told something, by the client's names.
const (
	sessionStart        = "sessionStart"
	userPromptSubmitted = "userPromptSubmitted"
	preToolUse          = "preToolUse"
	postToolUse         = "postToolUse"
	postToolUseFailure  = "postToolUseFailure"
	subagentStart       = "subagentStart"
	preCompact          = "preCompact"
	agentStop           = "agentStop"
)

// Moment is what happens now.
type Moment struct {
	Event   string
	Session string // of the user, also inside a sub-agent
	Agent   string // the sub-agent that it happens in, or that starts; empty: the main agent
	Project string // or the folder, where it is in none
	Branch  string
	Root    string // the folder that paths are told below of; empty: none
	Prompt  string // in the user's own words, empty where it is not; on agentStop what a hook asks the agent to go on with
	Tool    string
	Input   json.RawMessage
	Failure string // what a failed tool printed
	Exit    *int   // of a shell command
	Resumed bool   // the session goes on after its program had ended
	Now     time.Time
}

// Limits are what may be told, in tokens, and from which score on.
type Limits struct {
	Session, Start, Prompt, Tool, Compact int
	Floor                                 float64 // 0 to 1: the share of the request's words, by their rarity, that an entry must hold
}

// Item is one thing that is told.
type Item struct {
	ID     string  `json:"id"` // of the entry, note or session
	Score  float64 `json:"score,omitempty"`
	Reason string  `json:"reason"`
}

// Told is what the model is told; without a text it is nothing.
type Told struct {
	Text   string
	Reason string
	Items  []Item
	// Aside is to be given back after a compaction, not now.
	Aside bool
}

// Do decides what to tell. Nothing is told twice between two compactions, nothing of another project, and nothing that
// st says is muted.
func Do(ctx context.Context, s Store, m Moment, st State, l Limits) (Told, error) {
	d := deciding{ctx, s, m, st, l}
	switch m.Event {
	case sessionStart:
		return d.start()
	case userPromptSubmitted:
		return d.prompt()
	case preToolUse:
		return d.file()
	case postToolUse, postToolUseFailure:
		return d.failure()
	case subagentStart:
		return d.baseline()
	case preCompact:
		return d.aside()
	}
	return Told{}, nil
}

// deciding is one call of Do.
type deciding struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call of Do
	store Store
	m     Moment
	st    State
	l     Limits
}

// reasonResumed is why a session is told again what it was told at its start.
const reasonResumed = "resumed: as at the start"

// new reports whether an id may be told.
func (d deciding) new(id string) bool {
	return !d.st.Muted[id] && !d.st.shown[shownKey{d.m.Agent, id}]
}

// room is what is left of a budget, and of the session's.
func (d deciding) room(tokens int) int { return min(tokens, d.l.Session-d.st.Tokens) }

// start is the briefing of a session. One that is taken up again is told the same as before, so that the model's cache of
// it holds.
func (d deciding) start() (Told, error) {
	if d.m.Resumed && d.st.started {
		if ok, err := d.holds(d.st.start.Items); err != nil || ok {
			return Told{Text: d.st.start.Text, Items: d.st.start.Items, Reason: reasonResumed}, err
		}
	}
	p := d.page(d.l.Start)
	if err := d.notes(p); err != nil {
		return Told{}, err
	}
	told, err := d.about(p)
	if err != nil {
		return Told{}, err
	}
	if err := d.lately(p, told); err != nil {
		return Told{}, err
	}
	return p.told("briefing"), nil
}

// holds reports whether everything of what was told is still there and may be told.
func (d deciding) holds(items []Item) (bool, error) {
	var ids []string
	for _, i := range items {
		if d.st.Muted[i.ID] {
			return false, nil
		}
		if !slices.Contains(ids, i.ID) {
			ids = append(ids, i.ID)
		}
	}
	known, err := d.store.Known(d.ctx, ids)
	return len(known) == len(ids), err
}

// prompt adds what was not told yet; after a compaction that is also what was put aside before it.
func (d deciding) prompt() (Told, error) {
	if d.m.Agent != "" || d.m.Prompt == "" {
		return Told{}, nil
	}
	if t, err := d.giveBack(); err != nil || t.Text != "" {
		return t, err
	}
	if d.st.briefed == promptKey(d.m.Prompt) { // the session's start has just told of it
		return Told{}, nil
	}
	p := d.page(d.l.Prompt)
	_, err := d.about(p)
	return p.told("prompt"), err
}

// baseline is what holds whatever the task: how the user wants things.
func (d deciding) baseline() (Told, error) {
	p := d.page(d.l.Prompt)
	err := d.notes(p)
	return p.told("baseline"), err
}
