package recall

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Receipt is one line of what a session was told, or of what has to be known of it.
type Receipt struct {
	Version int       `json:"v"` // 1
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Agent   string    `json:"agent,omitempty"`
	Project string    `json:"project,omitempty"`
	Event   string    `json:"event"`
	Reason  string    `json:"reason,omitempty"`
	Items   []Item    `json:"items,omitempty"`
	Tokens  int       `json:"tokens,omitempty"`
	Bytes   int       `json:"bytes,omitempty"`
	Text    string    `json:"text,omitempty"`
	Aside   bool      `json:"aside,omitempty"`  // was put aside, and not told
	Back    bool      `json:"back,omitempty"`   // what was put aside was given back
	Prompt  string    `json:"prompt,omitempty"` // hash of the prompt that a session's start was about, or that a stop hook asked for
	Micros  int64     `json:"micros,omitempty"` // how long it took to decide
}

// NewReceipt is the receipt of what is told now.
func NewReceipt(m Moment, t Told, took time.Duration) Receipt {
	r := Receipt{
		Version: 1, Time: m.Now.UTC().Truncate(time.Millisecond), Session: m.Session, Agent: m.Agent, Project: m.Project,
		Event: m.Event, Reason: t.Reason, Items: t.Items, Tokens: Tokens(t.Text), Bytes: len(t.Text), Text: t.Text, Aside: t.Aside,
		Micros: took.Microseconds(), Back: strings.HasPrefix(t.Reason, reasonBack),
	}
	if m.Event == sessionStart || m.Event == agentStop {
		r.Prompt = promptKey(m.Prompt)
	}
	return r
}

// Worth reports whether the receipt has to be kept.
func (r Receipt) Worth() bool {
	return r.Text != "" || r.Event == preCompact || r.Event == sessionStart || r.Event == agentStop
}

func promptKey(prompt string) string {
	if prompt == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(prompt)))
	return hex.EncodeToString(sum[:8])
}

type shownKey struct{ agent, id string }

// State is what a session was told so far.
type State struct {
	Muted  map[string]bool // by the user, in every session
	Tokens int             // told to the main agent and its sub-agents

	shown   map[shownKey]bool
	started bool    // before now
	start   Receipt // the first briefing; no text: nothing was told
	briefed string  // hash of the prompt of the last session start
	waiting Receipt // what was put aside and not given back yet
	stopped time.Time
	asked   string // hash of what a stop hook of ours asked for then
}

// continuation is how soon after the agent stopped a prompt is none of a person's: a stop hook or autopilot sent it. A prompt
// that a person had waiting comes as soon, and does without.
const continuation = 50 * time.Millisecond

// Continues reports whether a prompt goes on with what the agent had just stopped to do: it is what a stop hook of ours asked
// for, or came too soon for a person.
func (st State) Continues(prompt string, at time.Time) bool {
	return st.asked != "" && st.asked == promptKey(prompt) || !st.stopped.IsZero() && at.Sub(st.stopped) < continuation
}

// Waits reports whether something that was put aside is still to be given back.
func (st State) Waits() bool { return st.waiting.Text != "" }

// Fold makes the state of a session's receipts, in their order.
func Fold(receipts []Receipt, muted map[string]bool) State {
	st := State{Muted: muted, shown: map[shownKey]bool{}}
	for _, r := range receipts {
		switch {
		case r.Event == preCompact: // the client drops everything; what is told from here on is told anew
			for k := range st.shown {
				if k.agent == "" {
					delete(st.shown, k)
				}
			}
			st.waiting, st.stopped = r, time.Time{}
			continue
		case r.Event == agentStop:
			st.stopped, st.asked = r.Time, r.Prompt
			continue
		case r.Event == sessionStart:
			st.briefed = r.Prompt
			if !st.started || r.Reason != reasonResumed {
				st.started, st.start = true, r
			}
		}
		if r.Back {
			st.waiting = Receipt{}
		}
		if r.Reason != reasonResumed { // it takes the place of what was told first
			st.Tokens += r.Tokens
		}
		for _, i := range r.Items {
			st.shown[shownKey{r.Agent, i.ID}] = true
		}
	}
	return st
}
