// Package memory says what we remember: sessions, their entries, and what a search asks for and gives back.
// It holds no storage, no ranking and no formatting.
package memory

import (
	"encoding/json"
	"time"
)

// Kind says what an [Entry] is. An event of the client that has no kind of its own keeps its event name as kind.
type Kind string

// The kinds that the command line promises.
const (
	KindPrompt       Kind = "prompt"
	KindResponse     Kind = "response"
	KindToolCall     Kind = "toolCall"
	KindToolResult   Kind = "toolResult"
	KindError        Kind = "error"
	KindSessionStart Kind = "sessionStart"
	KindSessionEnd   Kind = "sessionEnd"
	KindSubagent     Kind = "subagent"
	KindCompaction   Kind = "compaction"
	KindNote         Kind = "note"
	// KindNotification is a prompt event that the client sent by itself: never the user's words, never searched.
	KindNotification Kind = "notification"
	// KindReasoning is what the model thought; it is imported only when asked for.
	KindReasoning Kind = "reasoning"
	// KindSkill says that a skill was used; its text is not kept.
	KindSkill Kind = "skill"
	// KindPermission says that a tool was not allowed to run.
	KindPermission Kind = "permission"
	// KindAbort says that the user stopped a turn.
	KindAbort Kind = "abort"
)

// Session is one client session.
type Session struct {
	ID             string    // the client's id, or one of ours with the prefix "copilot-" where the client gave none
	Project        string    // "host/owner/name" of the remote, else the git common directory, else the folder
	Cwd            string    // the first working folder seen
	Branch         string    // the branch at the time of ingest; empty outside git
	HeadCommit     string    // the commit that was checked out when the session started; empty where nothing told it
	Client         string    // "copilot", "claude", or the agent's name in a foreign log
	Title          string    // the client's own, or the user's, name of the session
	Model          string    // the last one used
	StartedAt      time.Time // UTC
	EndedAt        time.Time // zero while the session is open
	EndReason      string
	TranscriptPath string // where the client writes this session's events.jsonl; empty when no event named it
	Turns          int    // prompts of the user
	Entries        int
	FirstPrompt    string
}

// Entry is one thing that happened in a session. Exactly one entry is made of one hook event or transcript message.
type Entry struct {
	ID         string // 20 lower-case characters, stable for the same event
	SessionID  string
	Kind       Kind
	Turn       int       // 1 for the first prompt and what follows it; 0 before it
	Time       time.Time // UTC, milliseconds
	Tool       string    // the client's native tool name ("bash")
	ToolInput  json.RawMessage
	ResultType string // "success", "failure", …; empty where there is none
	Text       string
	AgentID    string // set inside sub-agents
	Cwd        string
	Branch     string
	Project    string
	Truncated  bool // a size limit cut the text
	Redacted   int  // secrets taken out

	CallID    string   // the same for a tool call and its result; empty where the source has none
	ExitCode  *int     // of a shell command; nil: none
	Files     []string // paths that the tool edited, as the client named them
	Model     string
	Withdrawn bool // rewound or withdrawn in the client; kept, but no longer part of the conversation
	Sources   Sources
	Match     int64 // equal for what two sources tell of one thing, see [MatchKey]; 0: only one source ever tells it
}

// Sources says who told of an entry; several may.
type Sources int

// The sources. Zero stands for [FromHook], which is where most entries come from.
const (
	FromHook       Sources = 1
	FromTranscript Sources = 2
	FromElsewhere  Sources = 4 // a note, or an import of another program's log
)

// Project is what is known of one project.
type Project struct {
	Name                     string
	Sessions, Turns, Entries int
	First, Last              time.Time // of its entries; zero without any
	Folders                  []string  // the working folders seen, sorted
	Aliases                  []string  // names that were merged into it, sorted
}

// Query is what a search asks for. Zero fields do not filter.
type Query struct {
	Text    string
	Project string
	Session string
	Branch  string
	Kind    Kind
	Tool    string
	File    string // part of a path in the tool input
	Since   time.Time
	Until   time.Time
	Limit   int // 0: 20
}

// Touched is an entry that holds some of the words that were asked for.
type Touched struct {
	Entry
	Words uint32 // bit i: one of the words of list i
}

// Hit is one search result.
type Hit struct {
	Entry
	Snippet string
	Score   float64  // higher is better
	Reasons []string // why it was found; filled when asked for
}

// Outline is an [Entry] without what it says.
type Outline struct {
	ID        string
	Aliases   []string // ids that other sources gave it
	Kind      Kind
	Time      time.Time
	AgentID   string
	Sources   Sources
	Withdrawn bool
}

// Change says what an addition to the store did, or would do.
type Change struct {
	Added, Duplicates int
	Merged            int // of the duplicates: those that had something to add to what was known
}

// Transcript is what the store knows of a file that was read as a whole.
type Transcript struct {
	Path, Session string
	Stamp         string // changes with the file, and with the way it was read
	Problems      string // JSON
	File          string // identity and size when it was last looked at
}
