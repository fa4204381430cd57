// Package config answers: what did the user choose? It reads one file in the data folder and one in a repository, which
// can only tighten the first. The hook reads both on every event, so nothing but the standard library is linked, and the
// files are a part of YAML that fits in a screen of code: comments, keys, and one level of keys below them.
// It writes no file.
package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Config is what was chosen, or the default.
type Config struct {
	Capture Capture
	Forward string // "none" or "memory-ingest"
	// NeverForward is set by a repository that says `forward: none`; the environment does not overrule it.
	NeverForward bool
	Retention    Retention
	Search       Search
	Recall       Recall
}

// Recall says what an agent is told by itself. The numbers are tokens, but Floor, which is a percentage.
type Recall struct {
	Enabled                               bool
	Session, Start, Prompt, Tool, Compact int
	Floor                                 int
	Answers                               bool // prompts that begin with ?? are answered from memory, without a model
}

// Capture says which events are stored.
type Capture struct {
	Enabled       bool
	Prompts       bool
	Responses     bool
	Tools         bool // calls and results
	ToolResults   bool
	Errors        bool
	Subagents     bool
	Notifications bool
	Reasoning     bool // the model's thoughts, where a transcript has them; off by default
}

// Retention says when entries are deleted by themselves. Zero is never.
type Retention struct {
	MaxAge   time.Duration
	MaxBytes int64
}

// Search has the defaults of `copilot-mem search`.
type Search struct {
	Limit       int
	AllProjects bool
}

// Default is what holds without any file.
func Default() Config {
	c, _ := Parse(nil)
	return c
}

// RepoFile is where a repository says what is captured in it, as a slash path below its root.
const RepoFile = ".github/copilot-mem.yaml"

// maxFile is how much of a file is read.
const maxFile = 64 << 10

// Load reads the user's file at path; a missing one is all defaults. What is wrong with it is returned as a [*FileError]
// together with what could be understood. Where it is not clear what may be captured, nothing is.
func Load(path string) (Config, error) {
	data, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		c := Default()
		c.Capture.Enabled = false
		return c, err
	}
	c, problems := Parse(data)
	if len(problems) == 0 {
		return c, nil
	}
	return c, &FileError{path, problems}
}

// Tighten applies the file of the repository that folder lies in, and returns its path, "" where there is none. It can
// switch off what the user's file leaves on, and nothing else.
func (c Config) Tighten(folder string) (Config, string, error) {
	path, data, err := findRepoFile(folder)
	if path == "" {
		return c, "", nil
	}
	if err != nil {
		c.Capture.Enabled = false
		return c, path, err
	}
	repo, problems := Parse(data)
	a, b := c.Capture, repo.Capture
	c.Capture = Capture{
		Enabled: a.Enabled && b.Enabled, Prompts: a.Prompts && b.Prompts, Responses: a.Responses && b.Responses, Tools: a.Tools && b.Tools,
		ToolResults: a.ToolResults && b.ToolResults, Errors: a.Errors && b.Errors, Subagents: a.Subagents && b.Subagents,
		Notifications: a.Notifications && b.Notifications,
		// It is off by default: only a word against it counts.
		Reasoning: a.Reasoning && (b.Reasoning || !says(data, "capture.reasoning")),
	}
	c.Recall.Enabled = c.Recall.Enabled && repo.Recall.Enabled
	if repo.Forward == ForwardNone && says(data, "forward") {
		c.Forward, c.NeverForward = ForwardNone, true
	}
	problems = append(problems, notForRepos(data)...)
	if len(problems) > 0 {
		return c, path, &FileError{path, problems}
	}
	return c, path, nil
}

func says(data []byte, key string) bool {
	doc, _ := scan(data)
	_, ok := doc.values[key]
	return ok
}

// notForRepos names the keys that only the user may set.
func notForRepos(data []byte) (problems []Problem) {
	doc, _ := scan(data)
	for _, k := range Keys {
		if v, ok := doc.values[k.Name]; ok && !k.Repo {
			problems = append(problems, Problem{v.line, v.keyColumn, k.Name, "only the user's own file may say this"})
		}
	}
	return problems
}

// findRepoFile looks from the folder up to the root of its repository.
func findRepoFile(folder string) (path string, data []byte, err error) {
	if !filepath.IsAbs(folder) {
		return "", nil, nil
	}
	for dir := filepath.Clean(folder); ; {
		path := filepath.Join(dir, ".github", "copilot-mem.yaml")
		data, err := read(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return path, data, err
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return "", nil, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil, nil
		}
		dir = parent
	}
}

var errLarge = errors.New("larger than 64 KiB")

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	if info.Size() > maxFile {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errLarge}
	}
	return os.ReadFile(path)
}

// Keeps says whether an event is stored. event is a hook's name in either dialect, or "transcript.TYPE".
func (c Capture) Keeps(event string) bool {
	if !c.Enabled {
		return false
	}
	switch event {
	case "userPromptSubmitted", "UserPromptSubmitted", "UserPromptSubmit", "userPromptTransformed", "UserPromptTransformed",
		"sessionStart", "SessionStart": // the start of a session has its first prompt
		return c.Prompts
	case "preToolUse", "PreToolUse", "permissionRequest", "PermissionRequest", "preMcpToolCall", "PreMcpToolCall":
		return c.Tools
	case "postToolUse", "PostToolUse", "postToolUseFailure", "PostToolUseFailure":
		return c.Tools && c.ToolResults
	case "errorOccurred", "ErrorOccurred":
		return c.Errors
	case "subagentStart", "SubagentStart":
		return c.Subagents
	case "subagentStop", "SubagentStop":
		return c.Subagents && c.Responses
	case "notification", "Notification":
		return c.Notifications
	case "transcript.assistant.message", "transcript.session.compaction_complete":
		return c.Responses
	}
	return true
}

// KeepsKind says whether an entry of a kind is stored, for what does not come by hooks. kind is a memory.Kind.
func (c Capture) KeepsKind(kind string) bool {
	if !c.Enabled {
		return false
	}
	switch kind {
	case "prompt":
		return c.Prompts
	case "response", "compaction":
		return c.Responses
	case "toolCall":
		return c.Tools
	case "toolResult":
		return c.Tools && c.ToolResults
	case "error":
		return c.Errors
	case "subagent":
		return c.Subagents
	case "notification":
		return c.Notifications
	case "reasoning":
		return c.Reasoning
	}
	return true
}
