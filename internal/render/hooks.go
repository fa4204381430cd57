package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"text/template"
)

// event is one line of assets/hooks/events.json.
type event struct {
	TimeoutSec  int    `json:"timeoutSec"`
	Claude      string `json:"claude"`      // Claude Code's name; empty where it has no such event
	FailsClosed bool   `json:"failsClosed"` // a hook that fails denies: it needs the guarded shell form
	Recall      bool   `json:"recall"`      // rare enough that the full program captures and recalls
	RecallTools string `json:"recallTools"` // frequent: the full program only recalls, beside the small one, for these tools
}

// hookFile is what the client reads. Its keys come out sorted, so a file changes only when its content does.
type hookFile struct {
	Version int                `json:"version"`
	Hooks   map[string][]entry `json:"hooks"`
}

// entry is one hook: exec with args, or bash with powershell; the client refuses both at once.
type entry struct {
	Type       string   `json:"type"`
	Matcher    string   `json:"matcher,omitempty"`
	Exec       string   `json:"exec,omitempty"`
	Args       []string `json:"args,omitempty"`
	Bash       string   `json:"bash,omitempty"`
	PowerShell string   `json:"powershell,omitempty"`
	TimeoutSec int      `json:"timeoutSec"`
	// Env tells the program how long the client waits: a hook that runs out of time lets the tool call pass.
	Env map[string]string `json:"env,omitempty"`
}

// timeoutEnv is read by package guard.
const timeoutEnv = "COPILOT_MEM_HOOK_TIMEOUT_SEC"

func (r *renderer) events() map[string]event {
	var all map[string]event
	dec := json.NewDecoder(bytes.NewReader(r.read("assets/hooks/events.json")))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&all); err != nil {
		r.fail(fmt.Errorf("assets/hooks/events.json: %w", err))
	}
	return all
}

func (r *renderer) hookFile(name string, render func(name string, ev event) entry) {
	file := hookFile{Version: 1, Hooks: map[string][]entry{}}
	for ev, e := range r.events() {
		items := []entry{render(ev, e)}
		switch {
		case !r.o.Recall:
		case e.Recall:
			items[0] = r.recallEntry(items[0], e, ev)
		case e.RecallTools != "":
			more := r.recallEntry(entry{}, e, "--no-capture", ev)
			more.Matcher = e.RecallTools
			items = append(items, more)
		}
		for i := range items {
			items[i].Type, items[i].TimeoutSec = "command", e.TimeoutSec
			items[i].Env = map[string]string{timeoutEnv: strconv.Itoa(e.TimeoutSec)}
		}
		file.Hooks[ev] = items
	}
	r.addJSON(name, file)
}

// recallEntry starts the full program. Where its place is not known, or a failure would deny a tool, a shell looks for it;
// without it instead is run, which may be nothing.
func (r *renderer) recallEntry(instead entry, e event, args ...string) entry {
	if r.o.Full != "" && r.o.Scope == User {
		if !e.FailsClosed {
			return entry{Exec: r.o.Full, Args: append([]string{"recall"}, args...)}
		}
		words := "recall " + r.words(args)
		return entry{
			Bash:       r.snippet("path.bash", shell{Path: Bash(r.o.Full), Args: words}),
			PowerShell: r.snippet("path.ps1", shell{Path: PowerShell(r.o.Full), Args: words}),
		}
	}
	s := shell{Args: r.words(args)}
	bash, powershell := "exit 0", "exit 0"
	switch {
	case instead.Bash != "":
		bash, powershell = instead.Bash, instead.PowerShell
	case instead.Exec != "": // of a bundle
		s := shell{Name: r.words([]string{r.programName()}), Args: r.words(instead.Args)}
		bash, powershell = r.snippet("plugin.bash", s), r.snippet("plugin.ps1", s)
	}
	return entry{Bash: r.snippet("recall.bash", s) + " " + bash, PowerShell: r.snippet("recall.ps1", s) + " " + powershell}
}

func (r *renderer) args(ev string) []string {
	return append(append([]string(nil), r.o.HookArgs...), ev)
}

// userEntry starts the program directly where an event fails open: no shell, no quoting, one form for every system.
// preToolUse denies the tool when its hook fails, as it would once the program is gone: there the shell looks first.
func (r *renderer) userEntry(ev string, e event) entry {
	if !e.FailsClosed {
		return entry{Exec: r.o.HookCommand, Args: r.args(ev)}
	}
	args := r.words(r.args(ev))
	return entry{
		Bash:       r.snippet("path.bash", shell{Path: Bash(r.o.HookCommand), Args: args}),
		PowerShell: r.snippet("path.ps1", shell{Path: PowerShell(r.o.HookCommand), Args: args}),
	}
}

// repoEntry is the shell form for every event: no path of one person's machine may be in a repository.
func (r *renderer) repoEntry(ev string, _ event) entry {
	s := shell{Event: r.words([]string{ev})}
	return entry{Bash: r.snippet("lookup.bash", s), PowerShell: r.snippet("lookup.ps1", s)}
}

// bundleEntry starts the program directly where that is the same file on every system that the bundle is for.
func (r *renderer) bundleEntry(ev string, e event) entry {
	if !e.FailsClosed && !r.o.Launcher {
		return entry{Exec: "${PLUGIN_ROOT}/bin/" + r.programName(), Args: r.args(ev)}
	}
	s := shell{Name: r.words([]string{r.programName()}), Args: r.words(r.args(ev))}
	windows := "plugin.ps1"
	if r.o.Launcher {
		windows = "plugin-any.ps1"
	}
	return entry{Bash: r.snippet("plugin.bash", s), PowerShell: r.snippet(windows, s)}
}

// onPathEntry is for the plugin as it lies in its repository, where no program is packed.
func (r *renderer) onPathEntry(ev string, _ event) entry {
	s := shell{Event: r.words([]string{ev})}
	return entry{Bash: r.snippet("onpath.bash", s), PowerShell: r.snippet("onpath.ps1", s)}
}

// RepositoryHooks renders the hook file that the manifest of this repository names, so that the repository itself can
// be installed. It is kept in the repository; a test compares.
func RepositoryHooks(assets fs.FS) ([]byte, error) {
	r := renderer{assets: assets}
	r.hookFile("hooks", r.onPathEntry)
	if r.err != nil {
		return nil, r.err
	}
	return r.tree[0].Data, nil
}

// programName is the program in a plugin's bin folder; a bundle that is packed for several systems has it added later.
func (r *renderer) programName() string {
	switch {
	case r.o.HookProgram != "":
		return r.o.HookProgram
	case r.o.Program != nil:
		return r.o.Program.Name
	}
	return "copilot-mem-hook"
}

func (r *renderer) words(args []string) string {
	for _, a := range args {
		if _, err := word(a); err != nil {
			r.fail(err)
		}
	}
	return strings.Join(args, " ")
}

// shell is what a snippet may name. Path is quoted for its shell, Env is statements, the rest are plain words.
type shell struct{ Path, Name, Args, Event, Env string }

// snippet fills in assets/hooks/<name> and makes one line of it: comments go, the line ends become spaces.
func (r *renderer) snippet(name string, s shell) string {
	t, err := template.New(name).Option("missingkey=error").Parse(oneLine(string(r.read("assets/hooks/" + name))))
	if err != nil {
		r.fail(err)
		return ""
	}
	var b strings.Builder
	r.fail(t.Execute(&b, s))
	return b.String()
}

func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}

func (r *renderer) addJSON(name string, v any) {
	data, err := marshal(v)
	r.fail(err)
	r.add(name, data, 0o644)
}

// marshal leaves <, > and & as they are: a shell command must stay readable.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}
