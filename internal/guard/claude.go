package guard

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// Claude Code's settings files, relative to the root, in the order in which they count.
var claudeFiles = []string{".claude/settings.json", ".claude/settings.local.json"}

// maxClaude is how much of a settings file is read.
const maxClaude = 1 << 20

// ClaudeHook is one command hook of a settings file.
type ClaudeHook struct {
	File    string // relative to the root
	Event   string // hook.PreToolUse or hook.PostToolUse
	Matcher string
	Type    string // only "command" runs
	Command string
	Timeout time.Duration // 0: none given
}

// claudeSettings is what counts of a settings file.
type claudeSettings struct {
	DisableAllHooks bool `json:"disableAllHooks"`
	Hooks           map[string][]struct {
		Matcher string `json:"matcher"`
		Hooks   []struct {
			Type    string  `json:"type"`
			Command string  `json:"command"`
			Timeout float64 `json:"timeout"`
		} `json:"hooks"`
	} `json:"hooks"`
}

// ReadClaude gives the hooks of both settings files below root. An unreadable file is an error and has no hooks; the
// hooks of the other one are there all the same.
func ReadClaude(root string) ([]ClaudeHook, error) {
	var out []ClaudeHook
	var problems []error
	for _, name := range claudeFiles {
		hooks, err := readClaudeFile(root, name)
		out = append(out, hooks...)
		problems = append(problems, err)
	}
	return out, errors.Join(problems...)
}

func readClaudeFile(root, name string) ([]ClaudeHook, error) {
	path := filepath.Join(root, filepath.FromSlash(name))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxClaude:
		return nil, errors.New(name + ": not a file of at most 1 MiB")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseClaude(name, b)
}

func parseClaude(name string, b []byte) ([]ClaudeHook, error) {
	var s claudeSettings
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(b), "\ufeff")), &s); err != nil {
		return nil, errors.New(name + ": " + err.Error())
	}
	if s.DisableAllHooks {
		return nil, nil
	}
	var out []ClaudeHook
	for _, event := range []string{"PreToolUse", "PostToolUse"} {
		canonical, _ := hook.CanonicalName(event)
		for _, group := range s.Hooks[event] {
			for _, h := range group.Hooks {
				out = append(out, ClaudeHook{
					File: name, Event: canonical, Matcher: group.Matcher, Type: h.Type, Command: h.Command,
					Timeout: time.Duration(min(max(h.Timeout, 0), 1e6) * float64(time.Second)),
				})
			}
		}
	}
	return out, nil
}

// bridged says whether it is on us to run the hooks: clients from 1.0.12 on run them themselves in trusted folders.
func bridged(setting, override, client string) bool {
	if override == "on" || override == "off" || override == "auto" {
		setting = override
	}
	switch setting {
	case "on":
		return true
	case "off":
		return false
	}
	return client == "" || olderVersion(client, 1, 0, 12)
}

func olderVersion(v string, want ...int) bool {
	parts := strings.Split(strings.TrimPrefix(v, "v"), ".")
	for i, w := range want {
		n := 0
		if i < len(parts) {
			digits, _, _ := strings.Cut(parts[i], "-")
			n, _ = strconv.Atoi(digits) // what is no number is old
		}
		if n != w {
			return n < w
		}
	}
	return false
}

// claudeTool gives the names that Claude Code has for a canonical tool; the first is the one hooks are told.
func claudeTool(tool string) []string {
	switch tool {
	case "bash":
		return []string{"Bash"}
	case "view":
		return []string{"Read"}
	case "create":
		return []string{"Write"}
	case "edit", "apply_patch":
		return []string{"Edit"}
	case "grep":
		return []string{"Grep"}
	case "glob":
		return []string{"Glob"}
	case "task":
		return []string{"Task", "Agent"}
	}
	// <server>-<tool> of the client is mcp__<server>__<tool>; its own tools have no hyphen.
	if server, name, ok := strings.Cut(tool, "-"); ok {
		return []string{"mcp__" + server + "__" + name, tool}
	}
	return []string{tool}
}

// claudeNames maps the client's argument names to Claude Code's.
var claudeNames = [][2]string{{"path", "file_path"}, {"file_text", "content"}, {"old_str", "old_string"}, {"new_str", "new_string"}}

// matches reports whether the matcher names the tool, and under which name. A matcher that does not compile matches
// nothing, as in Claude Code.
func (h ClaudeHook) matches(names []string) (string, bool) {
	if h.Matcher == "" || h.Matcher == "*" {
		return names[0], true
	}
	re, err := regexp.Compile("^(?:" + h.Matcher + ")$")
	if err != nil {
		return "", false
	}
	for _, n := range names {
		if re.MatchString(n) {
			return n, true
		}
	}
	return "", false
}

// maxPatchCalls is how many files of one patch are shown to hooks.
const maxPatchCalls = 20

// claude runs the hooks that match the event, all at once, and gives what they say in the order of the file.
func (j *judgement) claude() []say {
	if j.event.Name != hook.PreToolUse && j.event.Name != hook.PostToolUse || j.o.NoSteps {
		return nil
	}
	root := j.facts.Root()
	hooks, err := ReadClaude(root)
	if err != nil {
		j.debug("%v", err)
	}
	if len(hooks) == 0 {
		return nil
	}
	calls := j.facts.Tools()
	if len(calls) > 1 {
		calls = calls[1:] // a patch, as the edits that it amounts to
	}
	if len(calls) > maxPatchCalls {
		calls = calls[:maxPatchCalls]
	}
	type job struct {
		hook ClaudeHook
		call facts.Call
		name string
	}
	var jobs []job
	seen := map[string]bool{}
	for _, h := range hooks {
		if h.Event != j.event.Name || h.Type != "command" || strings.TrimSpace(h.Command) == "" {
			continue
		}
		for i, c := range calls {
			key := strconv.Itoa(i) + "\x00" + h.Command
			if name, ok := h.matches(claudeTool(c.Tool)); ok && !seen[key] {
				seen[key] = true
				jobs = append(jobs, job{h, c, name})
			}
		}
	}
	if len(jobs) == 0 || !j.trusted(root) {
		return nil
	}
	ctx := j.context()
	answers := make([][]say, len(jobs))
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for i, one := range jobs {
		wg.Go(func() {
			defer j.guardPanic()
			slots <- struct{}{}
			defer func() { <-slots }()
			answers[i] = j.claudeHook(ctx, one.hook, one.call, one.name, root)
		})
	}
	wg.Wait()
	var out []say
	for _, a := range answers {
		out = append(out, a...)
	}
	return out
}

// claudeInput is what a hook reads on stdin.
type claudeInput struct {
	SessionID      string         `json:"session_id"`
	TranscriptPath string         `json:"transcript_path"`
	Cwd            string         `json:"cwd"`
	HookEventName  string         `json:"hook_event_name"`
	ToolName       string         `json:"tool_name"`
	ToolInput      map[string]any `json:"tool_input"`
	ToolResponse   map[string]any `json:"tool_response,omitempty"`
}

// claudeAnswer is what a hook may print.
type claudeAnswer struct {
	Continue           *bool  `json:"continue"`
	StopReason         string `json:"stopReason"`
	SystemMessage      string `json:"systemMessage"`
	Decision           string `json:"decision"`
	Reason             string `json:"reason"`
	PermissionDecision string `json:"permissionDecision"`
	PermissionReason   string `json:"permissionDecisionReason"`
	AdditionalContext  string `json:"additionalContext"`
	Specific           struct {
		PermissionDecision string         `json:"permissionDecision"`
		PermissionReason   string         `json:"permissionDecisionReason"`
		UpdatedInput       map[string]any `json:"updatedInput"`
		AdditionalContext  string         `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

func (j *judgement) claudeHook(ctx context.Context, h ClaudeHook, call facts.Call, tool, root string) []say {
	event := "PreToolUse"
	in := claudeInput{
		SessionID: j.event.SessionID, TranscriptPath: j.event.TranscriptPath, Cwd: j.facts.Cwd(),
		ToolName: tool, ToolInput: claudeArgs(call.Args),
	}
	if j.event.Name == hook.PostToolUse {
		event = "PostToolUse"
		in.ToolResponse = map[string]any{
			"resultType": j.event.ResultType, "textResultForLlm": j.event.ResultText, "stdout": j.event.ResultText,
		}
	}
	in.HookEventName = event
	stdin, err := encode(in)
	if err != nil {
		j.debug("%s: %v", h.File, err)
		return nil
	}
	if h.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.Timeout)
		defer cancel()
	}
	shell, err := claudeShell()
	if err != nil {
		j.debug("%s: %v", h.File, err)
		return nil
	}
	out, errs := &tail{}, &tail{}
	env := append(append([]string(nil), j.o.Env...), "CLAUDE_PROJECT_DIR="+root, "PWD="+in.Cwd)
	done := process{argv: append(shell, h.Command), dir: in.Cwd, env: env, stdin: stdin, out: out, errs: errs}.run(ctx)
	rule := ruleRef{Name: "claude", File: h.File}
	switch {
	case done.timedOut:
		s := say{rule: rule, verb: sayAsk, text: "the hook `" + short(h.Command, 200) + "` did not answer in time"}
		return []say{s.acted()}
	case done.err != nil:
		j.debug("%s: %v", h.File, done.err)
		return nil
	case done.code == 2:
		text := strings.TrimSpace(errs.String())
		if text == "" {
			text = "the hook `" + short(h.Command, 200) + "` refused this call"
		}
		return []say{say{rule: rule, verb: sayDeny, text: text}.acted()}
	case done.code != 0:
		j.debug("%s: %s: exit code %d", h.File, h.Command, done.code)
		return nil
	}
	return claudeSays(rule, []byte(out.String()), call)
}

// acted fills in what the session log says the rule did.
func (s say) acted() say {
	s.rule.Action = string(s.verb)
	return s
}

// claudeSays reads the JSON that a hook printed; other text means nothing.
func claudeSays(rule ruleRef, out []byte, call facts.Call) []say {
	var a claudeAnswer
	if json.Unmarshal(out, &a) != nil {
		return nil
	}
	var says []say
	add := func(v verb, text, fallback string) {
		if strings.TrimSpace(text) == "" {
			text = fallback
		}
		if text != "" {
			says = append(says, say{rule: rule, verb: v, text: text}.acted())
		}
	}
	decision, reason := a.Specific.PermissionDecision, a.Specific.PermissionReason
	if decision == "" {
		decision, reason = a.PermissionDecision, a.PermissionReason
	}
	switch {
	case a.Continue != nil && !*a.Continue:
		add(sayDeny, a.StopReason, "a hook of this repository asked to stop")
	case decision == "deny":
		add(sayDeny, reason, "a hook of this repository refused this call")
	case a.Decision == "block":
		add(sayDeny, a.Reason, "a hook of this repository refused this call")
	case decision == "ask":
		add(sayAsk, reason, "a hook of this repository wants to be asked")
	}
	add(sayContext, a.Specific.AdditionalContext, a.AdditionalContext)
	add(sayContext, a.SystemMessage, "")
	if len(a.Specific.UpdatedInput) > 0 {
		says = append(says, say{rule: rule, verb: sayModify, args: copilotArgs(a.Specific.UpdatedInput, call)}.acted())
	}
	return says
}

// claudeArgs are the client's arguments and, beside them, the same under Claude Code's names.
func claudeArgs(args map[string]any) map[string]any {
	out := make(map[string]any, len(args)+len(claudeNames))
	for k, v := range args {
		out[k] = v
	}
	for _, n := range claudeNames {
		if v, ok := args[n[0]]; ok && out[n[1]] == nil {
			out[n[1]] = v
		}
	}
	return out
}

// copilotArgs are the arguments that a hook changed, under the names that the call has.
func copilotArgs(updated map[string]any, call facts.Call) []setArg {
	ours := claudeArgs(call.Args)
	var out []setArg
	for _, name := range sortedKeys(updated) {
		value := updated[name]
		if same(ours[name], value) {
			continue
		}
		for _, n := range claudeNames {
			if name == n[1] {
				if _, ok := call.Args[n[0]]; ok {
					name = n[0]
				}
			}
		}
		out = append(out, setArg{name, value})
	}
	return out
}

// claudeShell is the shell that runs a command hook: sh, on Windows bash where there is one.
func claudeShell() ([]string, error) {
	if runtime.GOOS != "windows" {
		return []string{"/bin/sh", "-c"}, nil
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		return []string{bash, "-c"}, nil
	}
	cmd, err := exec.LookPath("cmd")
	return []string{cmd, "/D", "/S", "/C"}, err
}
