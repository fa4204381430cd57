package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/copilot-mem/copilot-mem/internal/policy"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
	"github.com/copilot-mem/copilot-mem/internal/policy/script"
)

const (
	maxVar     = 96 << 10  // bytes of one variable; Linux takes 128 KiB
	maxVars    = 512 << 10 // bytes of all that a step gets beyond what it inherits
	maxOutputs = 1 << 20   // bytes of a step's output file
)

// ran is what a run or uses step came to.
type ran struct {
	code     int
	output   string
	outputs  map[string]expr.Value
	timedOut bool
	err      error // it could not be started or did not end in time
}

// start runs a step that starts processes, within its own time and the hook's.
func (f *flow) start(s *policy.Step, sc *scope) ran {
	inner := &scope{env: append([]pair(nil), sc.env...), steps: sc.steps, inputs: sc.inputs, failed: sc.failed, ended: sc.ended}
	for _, v := range s.Env {
		text, err := f.text(v.Value, inner)
		if err != nil {
			return ran{err: fmt.Errorf("env %s: %w", v.Name, err)}
		}
		inner.env = append(inner.env, pair{v.Name, text})
	}
	ctx := f.ctx
	if s.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Timeout)
		defer cancel()
	}
	if s.Kind == policy.StepUses {
		return f.action(ctx, s, inner)
	}
	return f.script(ctx, s, inner)
}

// script runs one text in its shell.
func (f *flow) script(ctx context.Context, s *policy.Step, sc *scope) ran {
	if s.Script == nil {
		return ran{err: errors.New("run: no script")}
	}
	dir, err := f.workDir(s, sc)
	if err != nil {
		return ran{err: err}
	}
	files, err := f.j.stepFiles()
	if err != nil {
		return ran{err: err}
	}
	vars := append(f.eventVars(), sc.env...)
	for _, v := range s.Script.Vars {
		value, err := v.Expr.Eval(f.exprEnv(sc))
		if err != nil {
			return ran{err: err}
		}
		vars = append(vars, pair{v.Name, expr.ToText(value)})
	}
	event, err := f.eventJSON()
	if err != nil {
		return ran{err: err}
	}
	if err := errors.Join(files.write("event.json", event), files.write("output", nil)); err != nil {
		return ran{err: err}
	}
	small, prologue, err := files.split(s.Script.Shell, vars)
	if err != nil {
		return ran{err: err}
	}
	argv, err := files.command(s.Script.Shell, prologue, s.Script.Text)
	if err != nil {
		return ran{err: err}
	}
	env := append([]string(nil), f.j.o.Env...)
	for _, p := range small {
		env = append(env, p.name+"="+p.value)
	}
	env = append(env, "COPILOT_MEM_EVENT_PATH="+files.path("event.json"), "COPILOT_MEM_OUTPUT="+files.path("output"), "PWD="+dir)
	out := &tail{}
	done := process{argv: argv, dir: dir, env: env, stdin: event, out: out, errs: out}.run(ctx)
	switch {
	case done.timedOut && f.ctx.Err() != nil:
		return ran{err: errDeadline, timedOut: true}
	case done.timedOut:
		return ran{err: fmt.Errorf("not done after %v", s.Timeout), timedOut: true}
	case done.err != nil:
		return ran{err: done.err}
	}
	outputs, err := files.outputs()
	if err != nil {
		return ran{err: err}
	}
	return ran{code: done.code, output: out.String(), outputs: outputs}
}

// workDir is where a step runs: working-directory below the event's folder, or that folder.
func (f *flow) workDir(s *policy.Step, sc *scope) (string, error) {
	dir := f.j.facts.Cwd()
	if s.WorkingDirectory != nil {
		text, err := f.text(s.WorkingDirectory, sc)
		if err != nil {
			return "", fmt.Errorf("working-directory: %w", err)
		}
		if !filepath.IsAbs(text) {
			text = filepath.Join(dir, text)
		}
		dir = text
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("working-directory: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("working-directory: %s is not a folder", dir)
	}
	return dir, nil
}

// eventVars are the short forms of the event, for scripts without expressions.
func (f *flow) eventVars() []pair {
	get := func(path ...string) string { return expr.ToText(dig(f.event, path...)) }
	return []pair{
		{"EVENT_NAME", get("name")},
		{"EVENT_TOOL", get("tool", "name")},
		{"EVENT_COMMAND", f.j.facts.ShellText()},
		{"EVENT_FILE_PATH", get("file", "path")},
		{"EVENT_FILE_ACTION", get("file", "action")},
		{"EVENT_COMMIT_MESSAGE", get("commit", "message")},
		{"EVENT_PUSH_REF", get("push", "ref")},
	}
}

// dig follows names through objects, computing what is lazy.
func dig(v any, path ...string) any {
	for {
		if l, ok := v.(expr.Lazy); ok {
			v = l()
			continue
		}
		if len(path) == 0 {
			return v
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v, path = m[path[0]], path[1:]
	}
}

// eventJSON is the event context as one JSON document.
func (f *flow) eventJSON() ([]byte, error) {
	if f.json == nil {
		b, err := encode(settle(f.event))
		if err != nil {
			return nil, err
		}
		f.json = b
	}
	return f.json, nil
}

// settle computes all that is lazy in a value.
func settle(v any) any {
	switch v := v.(type) {
	case expr.Lazy:
		return settle(v())
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = settle(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = settle(x)
		}
		return out
	}
	return v
}

// stepFiles are the files of one step, in the private folder of all steps; it is removed when the hook answers.
type stepFiles struct{ dir, prefix string }

func (s stepFiles) path(name string) string { return filepath.Join(s.dir, s.prefix+name) }

func (s stepFiles) write(name string, data []byte) error {
	return os.WriteFile(s.path(name), data, 0o600)
}

// split keeps the variables that an environment can hold; the others go into files that a prologue reads.
func (s stepFiles) split(shell string, vars []pair) (small []pair, prologue string, err error) {
	var b strings.Builder
	total := 0
	for i, p := range vars {
		p.value = strings.ReplaceAll(p.value, "\x00", "") // neither an environment nor a shell holds it
		if total += len(p.value); len(p.value) < maxVar && total < maxVars {
			small = append(small, p)
			continue
		}
		total -= len(p.value)
		name := fmt.Sprintf("value-%d", i)
		if err := s.write(name, []byte(p.value)); err != nil {
			return nil, "", err
		}
		switch file := s.path(name); shell {
		case script.Bash, script.Sh:
			// The dot keeps line ends at the end, which $( ) drops.
			fmt.Fprintf(&b, "%[1]s=$(cat -- %[2]s; printf .); %[1]s=${%[1]s%%.}\n", p.name, quoteSh(file))
		case script.PowerShell:
			fmt.Fprintf(&b, "$env:%s = [IO.File]::ReadAllText('%s')\n", p.name, strings.ReplaceAll(file, "'", "''"))
		}
	}
	return small, b.String(), nil
}

func quoteSh(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// command writes the script and gives the command line that runs it.
func (s stepFiles) command(shell, prologue, text string) ([]string, error) {
	name := "step.sh"
	var argv []string
	switch shell {
	case script.Bash:
		argv = []string{"bash", "--noprofile", "--norc", "-eo", "pipefail"}
	case script.Sh:
		argv = []string{"sh", "-e"}
	case script.PowerShell:
		name = "step.ps1"
		argv = []string{"pwsh", "-NoProfile", "-NonInteractive", "-File"}
		text = "$ErrorActionPreference = 'Stop'\n" + text + "\nif (Test-Path -LiteralPath variable:\\LASTEXITCODE) { exit $LASTEXITCODE }\n"
	case script.Cmd:
		name = "step.cmd"
		argv = []string{"cmd", "/D", "/E:ON", "/V:OFF", "/C"}
		text = "@echo off\r\n" + strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	default:
		return nil, fmt.Errorf("shell %q: not one of bash, sh, pwsh, cmd", shell)
	}
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, fmt.Errorf("shell %s: %w", argv[0], err)
	}
	argv[0] = program
	if err := s.write(name, []byte(prologue+text)); err != nil {
		return nil, err
	}
	return append(argv, s.path(name)), nil
}

// outputs reads what the step wrote to COPILOT_MEM_OUTPUT: key=value, or key<<MARK up to a line MARK.
func (s stepFiles) outputs() (map[string]expr.Value, error) {
	info, err := os.Lstat(s.path("output"))
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil // the step took it away
	}
	if info.Size() > maxOutputs {
		return nil, fmt.Errorf("COPILOT_MEM_OUTPUT: more than %d bytes", maxOutputs)
	}
	b, err := os.ReadFile(s.path("output"))
	if err != nil {
		return nil, err
	}
	return parseOutputs(string(b)), nil
}

// parseOutputs passes over lines of no known form.
func parseOutputs(text string) map[string]expr.Value {
	out := map[string]expr.Value{}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	lines := strings.Split(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		eq, here := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case here > 0 && (eq < 0 || here < eq):
			key, mark := line[:here], line[here+2:]
			var value []string
			for i++; i < len(lines) && lines[i] != mark; i++ {
				value = append(value, lines[i])
			}
			if i < len(lines) {
				out[key] = strings.Join(value, "\n")
			}
		case eq > 0:
			out[line[:eq]] = line[eq+1:]
		}
	}
	return out
}

// DefaultShell is the shell of a run step that names none. Files written for hookflow expect PowerShell where it is there.
func DefaultShell(source policy.Source) string {
	if runtime.GOOS == "windows" {
		return script.PowerShell
	}
	if source == policy.Hookflow {
		if _, err := exec.LookPath("pwsh"); err == nil {
			return script.PowerShell
		}
	}
	return script.Bash
}
