// Package policy answers: which rules are there, what is wrong with them, and which of them speak about this call? It reads
// policy files and settings, keeps the place of every mistake, and matches triggers and conditions against facts.
//
// It runs nothing and decides nothing: steps, deadlines and the answer belong to guard.
package policy

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
	"github.com/copilot-mem/copilot-mem/internal/policy/script"
)

// Source says where a policy comes from; the lower, the higher its precedence.
type Source int

// The sources, in order of precedence.
const (
	User Source = iota + 1
	Repo
	Hookflow
	Bundled
	Claude
)

func (s Source) String() string {
	if s < User || s > Claude {
		return "unknown"
	}
	return [...]string{"user", "repo", "hookflow", "bundled", "claude"}[s-1]
}

// Format is the form of a policy file.
type Format string

// The forms.
const (
	Workflow Format = "workflow"
	Markdown Format = "rule"
)

// Policy is one file. Name, Enabled, Blocking and Triggers are there after Load; what follows the mark below is there once the
// policy is part of a Match, or after Set.Compile.
type Policy struct {
	Name, Description string // Name is the file's when the file has none
	File              string // for people: relative to the repository root with slashes, else absolute
	Path              string // absolute
	Dir               string // the directory that .github lies in; for the user's policies the folder they are in
	Source            Source
	Format            Format
	Enabled, Blocking bool
	OnError           string // "deny", "ask" or "allow", from the file, else from its source's settings
	PostGate          bool   // its source's settings want the post-tool gate
	Triggers          []Trigger
	Rule              *Rule // markdown only

	// From here on: only after a Match or Compile.
	If          *expr.Expr // nil: none
	Env         []EnvVar   // in file order
	Concurrency *Concurrency
	Steps       []Step    // a markdown rule is one declarative step
	Problems    []Finding // in file order; an error among them makes the policy invalid

	*decoder
	nameAt       *yaml.Node // nil: the file has no name
	later        []func()   // what compile still has to read
	compiled     bool
	onUnreadable bool                // `on` or `event` cannot be read, or the text is no YAML
	unread       bool                // the file cannot be read, whatever is in it
	mutatingOnly bool                // no YAML at all: only calls that may change something are affected
	home         string              // of the user, for patterns that start with ~/
	base         string              // Dir relative to its repository, with slashes
	shell        func(Source) string // of steps that name none; nil: bash
}

// EnvVar is one entry of an `env`, `with` or `outputs` map.
type EnvVar struct {
	Name         string
	Value        *expr.Text
	Line, Column int
}

// Concurrency limits how many runs of a group there are at a time.
type Concurrency struct {
	Group       *expr.Text
	MaxParallel int // at least 1
}

// StepKind says what a step does; its value is the key in the file.
type StepKind string

// The kinds of steps.
const (
	StepRun      StepKind = "run"
	StepUses     StepKind = "uses"
	StepDeny     StepKind = "deny"
	StepAsk      StepKind = "ask"
	StepWarn     StepKind = "warn"
	StepContext  StepKind = "context"
	StepAllow    StepKind = "allow"
	StepModify   StepKind = "modify"
	StepRedact   StepKind = "redact"
	StepTruncate StepKind = "truncate"
	StepApprove  StepKind = "approve"
	StepBlock    StepKind = "block"
	StepError    StepKind = "error"
)

// Executes reports whether the step starts a process.
func (k StepKind) Executes() bool { return k == StepRun || k == StepUses }

// Step is one step of a workflow or of a composite action.
type Step struct {
	Kind             StepKind
	Name, ID         string
	If               *expr.Expr // nil: none
	ContinueOnError  bool
	Line, Column     int
	Text             *expr.Text     // deny, ask, warn, context, block
	Script           *script.Script // run
	Shell            string         // run: "" when the file does not say
	Uses             string
	With, Env        []EnvVar // in file order
	WorkingDirectory *expr.Text
	Timeout          time.Duration // 0: none given
	Modify           []ModifyArg   // in file order
	Redact           []Redaction
	MaxBytes         int    // truncate
	Handling         string // error: retry, skip or abort
}

// ModifyArg replaces one argument. Value is a JSON value in which texts with ${{ }} are *expr.Text.
type ModifyArg struct {
	Name  string
	Value any
}

// Redaction replaces what Pattern (RE2, checked) matches.
type Redaction struct {
	Pattern string
	With    string // taken literally
}

// Match is a policy that speaks about a call.
type Match struct {
	Policy  *Policy
	Trigger int // index into Policy.Triggers; -1 for a rule, and where no trigger can be read
	File    int // index into the facts' files, commits, pushes of the first that matched; -1: none
	Commit  int
	Push    int
	Call    *facts.Call // the edit or create that a patch amounts to, when that is what matched
	// Invalid says, where the file is not valid, what is wrong: "file:line:col: cause". The call is to be denied, or for a
	// policy that does not block (Policy.Blocking) to be told so.
	Invalid string
	// Err is the run-time error of a trigger's `if`: the policy could not be judged (on-error).
	Err error
	Why []Check // only from Explain
}

// Check is one question that matching asked.
type Check struct {
	Check   string `json:"check"`
	Pattern string `json:"pattern"`
	Value   string `json:"value"`
	Result  bool   `json:"result"`
}
