// Package facts answers what one hook event is about: which tool, which files, which shell commands, which commits and
// pushes. It parses and looks at the disk, lazily; it decides nothing.
package facts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/copilot-mem/copilot-mem/internal/hook"
)

// Input is what New needs. Home and CopilotHome are absolute directories or empty.
type Input struct {
	Event             hook.Event
	Home, CopilotHome string
	Git               Git                 // nil: facts that need a git process are unknown
	FileTools         map[string]FileTool // by tool name or glob (* ?); names that facts knows by itself are not remapped
}

// FileTool tells which arguments of a tool hold the path and the content, and what the tool does to the file.
type FileTool struct {
	Action, Path, Content string // Action as in File.Action
}

// Git runs git in a directory and returns its standard output.
type Git interface {
	Run(dir string, args ...string) ([]byte, error)
}

// Call is a tool call, or one that a patch amounts to: canonical tool name and arguments.
type Call struct {
	Tool string
	Args map[string]any
}

// File is something that the event does to one file.
type File struct {
	Path   string // canonical: real, slashes, relative to the root; outside of it absolute
	Abs    string // absolute, links not resolved
	Real   string // absolute, links resolved
	Action string // "create", "edit", "delete", "rename" or "read"

	Content, Old string   // new and old text, as far as the call shows them
	HasContent   bool     // Content is what will be written (or the added part of it)
	Also         []string // further types it answers to: "delete" or "create" for the ends of a rename
	Candidates   []string // every form of the path that a pattern may match, the absolute ones included
	Dir          bool     // a directory that is deleted or moved as a whole; the files below follow as events of their own
	Below        bool     // the call names a directory above it
}

// Is reports whether the event counts as the given type of action.
func (f File) Is(action string) bool {
	if f.Action == action {
		return true
	}
	for _, a := range f.Also {
		if a == action {
			return true
		}
	}
	return false
}

// Value is the file as expressions see it.
func (f File) Value() map[string]any {
	return map[string]any{"path": f.Path, "abs": f.Abs, "action": f.Action, "content": f.Content, "old": f.Old}
}

// Facts computes each fact when it is first asked for. It is safe for concurrent use.
type Facts struct {
	in   Input
	cwd  string
	root func() string
	real func() (root, cwd string)
	disk diskCache

	sources func() []string
	tool    string
	args    func() map[string]any
	tools   func() []Call
	files   func() []File
	walk    func() *walk
	commits func() []*Commit
	pushes  func() []*Push
	branch  func() string
	repo    gitRunner
}

// New prepares the facts of one event; nothing is read or parsed yet.
func New(in Input) *Facts {
	f := &Facts{in: in, cwd: in.Event.Cwd}
	if f.cwd == "" || !filepath.IsAbs(f.cwd) {
		if wd, err := os.Getwd(); err == nil {
			f.cwd = filepath.Join(wd, f.cwd)
		}
	}
	f.cwd = filepath.Clean(f.cwd)
	f.root = sync.OnceValue(func() string { root, _ := Root(f.cwd); return root })
	f.real = sync.OnceValues(func() (string, string) { return realPath(f.Root()), realPath(f.cwd) })
	f.sources = sync.OnceValue(func() []string { return Sources(f.cwd) })
	f.tool = canonicalTool(in.Event)
	f.args = sync.OnceValue(func() map[string]any { return decodeArgs(in.Event.ToolInput) })
	f.tools = sync.OnceValue(f.findTools)
	f.files = sync.OnceValue(f.findFiles)
	f.walk = sync.OnceValue(f.walkShell)
	f.commits = sync.OnceValue(f.findCommits)
	f.pushes = sync.OnceValue(f.findPushes)
	f.branch = sync.OnceValue(func() string { name, _ := f.repo.branchAt(f.cwd); return name })
	f.repo.git, f.repo.home = in.Git, in.Home
	return f
}

// Event is the event itself.
func (f *Facts) Event() hook.Event { return f.in.Event }

// Tool is the canonical name of the tool, empty when the event has none.
func (f *Facts) Tool() string { return f.tool }

// Args are the arguments as sent; arguments that are plain text are {"input": text}. Callers do not change them.
func (f *Facts) Args() map[string]any { return f.args() }

// ArgsText is the arguments as compact JSON.
func (f *Facts) ArgsText() string {
	b, err := json.Marshal(f.args())
	if err != nil {
		return string(f.in.Event.ToolInput)
	}
	return string(b)
}

// Tools is the call itself, followed by the create and edit calls that a patch amounts to.
func (f *Facts) Tools() []Call { return f.tools() }

// Cwd is the absolute working directory of the event.
func (f *Facts) Cwd() string { return f.cwd }

// Root is the repository root, or Cwd outside of a repository.
func (f *Facts) Root() string { return f.root() }

// Files are the file events, those of action "read" included, in the order of the call.
func (f *Facts) Files() []File { return f.files() }

// Commits are the commits that the call makes.
func (f *Facts) Commits() []*Commit { return f.commits() }

// Pushes are the pushes that the call makes.
func (f *Facts) Pushes() []*Push { return f.pushes() }

// Branch is the branch that is checked out at Cwd; empty outside of a repository and on a detached head.
func (f *Facts) Branch() string { return f.branch() }

// Author is the address of who commits at Cwd, empty when unknown.
func (f *Facts) Author() string { return f.repo.author(f.cwd) }

// IsShell reports whether the tool takes a shell command.
func (f *Facts) IsShell() bool { return shellTool(f.tool) }

// ShellText is the text of a shell tool: the first of command, script and code that is text.
func (f *Facts) ShellText() string {
	if !f.IsShell() {
		return ""
	}
	args := f.args()
	if typesInto(f.tool) {
		text, _ := firstText(args, "input", "text")
		return strings.NewReplacer("{enter}", "\n", "{up}", "", "{down}", "", "{left}", "", "{right}", "", "{backspace}", "").Replace(text)
	}
	for _, name := range []string{"command", "script", "code"} {
		if s, ok := args[name].(string); ok && strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// Home is the user's home directory, empty when unknown.
func (f *Facts) Home() string { return f.in.Home }

// CopilotHome is the client's directory, empty when unknown.
func (f *Facts) CopilotHome() string { return f.in.CopilotHome }

// Sources are the directories whose policies hold at Cwd.
func (f *Facts) Sources() []string { return f.sources() }
