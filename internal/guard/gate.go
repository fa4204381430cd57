package guard

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/hook"
)

// gateFor is how long feedback that nobody read holds up the next call.
const gateFor = 10 * time.Minute

// The gate of one session: the feedback as the model reads it, and when it was left there.
type gate struct {
	Session string    `json:"session"`
	Time    time.Time `json:"time"`
	File    string    `json:"file"` // the feedback
}

func gateDir(d datadir.Dir) string { return filepath.Join(string(d), "feedback") }

func gatePath(d datadir.Dir, session string) string {
	return filepath.Join(gateDir(d), fileKey(session)+".json")
}

// closeGate leaves the feedback for the model to read before its next call.
func (j *judgement) closeGate(text string) error {
	if j.o.NoLog {
		return nil
	}
	dir := gateDir(j.o.Dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file := filepath.Join(dir, fileKey(j.event.SessionID)+".md")
	b, err := encode(gate{j.event.SessionID, j.o.Now(), file})
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
		return err
	}
	return os.WriteFile(gatePath(j.o.Dir, j.event.SessionID), b, 0o600)
}

// gated is what the gate says about the next call: nothing when it is open, was opened by reading, or is too old. Reads
// pass it.
func (j *judgement) gated() []say {
	if j.event.Name != hook.PreToolUse {
		return nil
	}
	b, err := os.ReadFile(gatePath(j.o.Dir, j.event.SessionID))
	if err != nil {
		return nil
	}
	var g gate
	if json.Unmarshal(b, &g) != nil || j.o.Now().Sub(g.Time) > gateFor {
		j.openGate()
		return nil
	}
	reads := j.facts.IsRead()
	for _, f := range j.facts.Files() {
		if f.Abs == g.File {
			if f.Action == "read" {
				j.openGate()
			}
			return nil
		}
	}
	if reads {
		return nil
	}
	return []say{{
		rule: ruleRef{Name: "copilot-mem/post-gate", Action: string(sayDeny)}, verb: sayDeny,
		text: "the last tool call left feedback that was not read yet: read " + g.File + " first",
	}}
}

func (j *judgement) openGate() {
	if !j.o.NoLog {
		_ = os.Remove(gatePath(j.o.Dir, j.event.SessionID)) // one that stays runs out
	}
}

// Ack opens the gates of all sessions and says how many there were.
func Ack(d datadir.Dir) (int, error) {
	entries, err := os.ReadDir(gateDir(d))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	n := 0
	var problems []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		if err := os.Remove(filepath.Join(gateDir(d), e.Name())); err != nil {
			problems = append(problems, err)
			continue
		}
		n++
	}
	return n, errors.Join(append(problems, err)...)
}
