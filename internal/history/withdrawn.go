package history

import (
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// flush is how long after an event the client may write it (client 1.0.102: 0.8 s were seen), with a margin.
const flush = 3 * time.Second

// withdrawn says which marks of a session's entries have to change. The client rewrites a transcript when the user rewinds
// or takes a prompt back: what another reading, or a hook, told of and the file does not is no longer part of the
// conversation. seen are the ids that the file tells of, written the time it was last written.
func withdrawn(entries []memory.Outline, seen map[string]bool, written time.Time) map[string]bool {
	marks := map[string]bool{}
	lost := false // the turn that the last prompt began is gone
	for _, e := range entries {
		told := e.Sources&memory.FromTranscript != 0
		if e.Time.After(written) || !told && e.Time.After(written.Add(-flush)) {
			continue // not yet in the file, perhaps
		}
		there := seen[e.ID]
		for _, a := range e.Aliases {
			there = there || seen[a]
		}
		if e.Kind == memory.KindPrompt && e.AgentID == "" {
			lost = !there
		}
		gone := false
		switch {
		case e.Kind == memory.KindSessionStart || e.Kind == memory.KindSessionEnd || e.Kind == memory.KindNote:
		case e.Sources == memory.FromElsewhere:
			gone = e.Withdrawn // another list said so
		case told:
			gone = !there
		default:
			gone = lost // hooks tell more than the file: only whole turns are known to be gone
		}
		if gone != e.Withdrawn {
			marks[e.ID] = gone
		}
	}
	return marks
}
