// Package guard answers: what does the client hear about this event? It loads the policies that apply, runs their steps
// before the client loses patience, merges what they say and writes the one answer.
//
// It matches nothing itself (package policy) and knows no commands of ours.
package guard

import (
	"io"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

// MaxInput is how many bytes of an event are judged; a larger one is denied.
const MaxInput = 16 << 20

// Options says what one event is judged with. The zero value of what is not marked as needed is usable.
type Options struct {
	Event   string // needed: the hook's argument, in either dialect
	Input   []byte // what came on stdin, at most MaxInput+1 bytes of it
	Dir     datadir.Dir
	Home    string // the user's home
	Copilot string // the client's folder ($COPILOT_HOME)
	Temp    string // where temporary folders go; empty: the system's place

	Env     []string // of the hook; steps inherit it
	Getenv  func(string) string
	Now     func() time.Time
	Started time.Time // when the hook started; zero: now
	Debug   io.Writer // nil: nothing is said

	NoSteps bool // policy explain: nothing is started, a step that would run is passed over
	NoLog   bool // policy explain: nothing is written
}

// COPILOT_MEM_… variables that guard reads.
const (
	envDisable  = "COPILOT_MEM_DISABLE"
	envTrustAll = "COPILOT_MEM_TRUST_ALL"
	envTimeout  = "COPILOT_MEM_HOOK_TIMEOUT_SEC"
	envBridge   = "COPILOT_MEM_CLAUDE_BRIDGE"
	envClient   = "COPILOT_CLI_BINARY_VERSION"
)
