// Package cases answers: does the hook do what a written-down case expects? It lays out a case's repository and homes,
// sends the event as the client does, and reads the answer as the client reads it.
//
// It knows no policies; the hook is a function of its caller's.
package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Case is one folder with an expect.json: area/name below the folder that was searched.
type Case struct{ Area, Name, Dir string }

// Result is what became of a case. Problems is empty when it passed.
type Result struct {
	Case
	Got, Want string
	Problems  []string
	Took      time.Duration // of the event that was judged
}

// Hook runs the hook once: the event's name as the argument, stdin, the working directory and the whole environment. It
// gives what it printed, or an error for an exit code other than 0 and for a hook that ran out of time.
type Hook func(ctx context.Context, event string, stdin []byte, dir string, env []string) ([]byte, error)

// ErrTime says that the client would have given up and let the call pass.
var ErrTime = errors.New("no answer in time: the client would have let the call pass")

// Find lists the cases below dir, in lexical order.
func Find(dir string) ([]Case, error) {
	var out []Case
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, "expect.json")); err != nil {
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		area, name, ok := strings.Cut(filepath.ToSlash(rel), "/")
		if !ok {
			area, name = filepath.Base(dir), filepath.Base(path)
		}
		out = append(out, Case{area, name, path})
		return fs.SkipDir
	})
	return out, err
}

// expectation is expect.json.
type expectation struct {
	Event             string             `json:"event"`
	File              string             `json:"file"`
	Decision          string             `json:"decision"`
	ReasonContains    []string           `json:"reasonContains"`
	ReasonNotContains []string           `json:"reasonNotContains"`
	ModifiedArgs      map[string]any     `json:"modifiedArgs"`
	ResultContains    []string           `json:"resultContains"`
	ResultNotContains []string           `json:"resultNotContains"`
	Present           []string           `json:"present"`
	Absent            []string           `json:"absent"`
	NoProcess         []string           `json:"noProcess"`
	Log               map[string]any     `json:"log"`
	LogLacks          []string           `json:"logLacks"`
	Env               map[string]*string `json:"env"`
	Before            []struct{ Event, File string }
	TimeoutSec        float64 `json:"timeoutSec"`
	Note              string  `json:"note"`
}

var decisions = []string{"none", "deny", "ask", "modify", "context"}

// Run runs one case in a folder of its own below temp, which it removes. environ is what hook and git.sh inherit; what
// belongs to a client, to git or to us is left out of it.
func Run(ctx context.Context, c Case, temp string, environ []string, hook Hook) Result {
	r := Result{Case: c, Got: "none"}
	if err := run(ctx, &r, temp, environ, hook); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	return r
}

func run(ctx context.Context, r *Result, temp string, environ []string, hook Hook) error {
	var exp expectation
	b, err := os.ReadFile(filepath.Join(r.Dir, "expect.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &exp); err != nil {
		return fmt.Errorf("expect.json: %w", err)
	}
	r.Want = exp.Decision
	if !slices.Contains(decisions, exp.Decision) {
		return fmt.Errorf("expect.json: unknown decision %q", exp.Decision)
	}
	w, err := newWorld(r.Dir, temp, environ, exp)
	if err != nil {
		return err
	}
	defer w.remove()
	if err := w.setUp(ctx); err != nil {
		return err
	}
	for _, before := range exp.Before {
		if _, _, err := w.send(ctx, hook, before.Event, before.File); err != nil && !errors.Is(err, ErrTime) {
			return fmt.Errorf("before: %w", err)
		}
	}
	file := exp.File
	if file == "" {
		file = "event.json"
	}
	out, took, err := w.send(ctx, hook, exp.Event, file)
	r.Took = took
	a := read(exp.Event, out, err)
	r.Got = a.decision
	r.Problems = append(a.problems, judge(exp, a, w.repo)...)
	r.Problems = append(r.Problems, w.traces(exp)...)
	return nil
}

// world is the machine of one case.
type world struct {
	dir                         string // of the case
	top, repo, home, data, temp string
	client                      string // $COPILOT_HOME
	env                         []string
	limit                       time.Duration
}

func newWorld(dir, temp string, environ []string, exp expectation) (*world, error) {
	top, err := os.MkdirTemp(temp, "case-")
	if err == nil {
		top, err = filepath.EvalSymlinks(top)
	}
	if err != nil {
		return nil, err
	}
	in := func(name string) string { return filepath.Join(top, name) }
	w := &world{dir: dir, top: top, repo: in("repo"), home: in("user"), client: in("copilot"), data: in("data"), temp: in("tmp")}
	for _, d := range []string{w.repo, w.home, w.client, w.data, w.temp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	sec := exp.TimeoutSec
	if sec <= 0 {
		sec = 15
	}
	w.limit = time.Duration(sec * float64(time.Second))
	w.env = w.environ(environ, exp, strconv.FormatFloat(sec, 'f', -1, 64))
	return w, nil
}

// strangers are variables of the machine that runs the cases that must not reach them.
var strangers = []string{"COPILOT", "CLAUDE", "GIT_", "MEMORY_", "XDG_", "GITHUB_"}

func (w *world) environ(environ []string, exp expectation, limit string) []string {
	set := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !slices.ContainsFunc(strangers, func(p string) bool { return strings.HasPrefix(name, p) }) {
			set[name] = value
		}
	}
	for name, value := range map[string]string{
		"HOME": w.home, "USERPROFILE": w.home, "COPILOT_HOME": w.client, "COPILOT_MEM_HOME": w.data, "TMPDIR": w.temp, "TEMP": w.temp, "TMP": w.temp,
		"COPILOT_MEM_TRUST_ALL": "1", "COPILOT_MEM_HOOK_TIMEOUT_SEC": limit, "COPILOT_CLI": "1",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
		"GIT_AUTHOR_NAME": "Case", "GIT_AUTHOR_EMAIL": "case@example.com", "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME": "Case", "GIT_COMMITTER_EMAIL": "case@example.com", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
	} {
		set[name] = value
	}
	for name, value := range exp.Env {
		if value == nil {
			delete(set, name)
			continue
		}
		set[name] = strings.ReplaceAll(*value, "$REPO", w.repo)
	}
	var out []string
	for name, value := range set {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

func (w *world) remove() {
	// A case may have taken the right to enter a folder away.
	_ = filepath.WalkDir(w.top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(w.top)
}

// setUp places the case's files and runs git.sh in the repository.
func (w *world) setUp(ctx context.Context) error {
	for from, to := range map[string]string{"repo": w.repo, "home": w.client} {
		from = filepath.Join(w.dir, from)
		if info, err := os.Stat(from); err != nil || !info.IsDir() {
			continue
		}
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return err
		}
	}
	script := filepath.Join(w.dir, "git.sh")
	if _, err := os.Stat(script); err != nil {
		return nil
	}
	abs, err := filepath.Abs(script)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-e", abs)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.repo, w.env, time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git.sh: %w: %s", err, last(string(out), 300))
	}
	return nil
}

func last(s string, n int) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-n):]
}

// send hands one event to the hook, with $REPO filled in.
func (w *world) send(ctx context.Context, hook Hook, event, file string) ([]byte, time.Duration, error) {
	b, err := os.ReadFile(filepath.Join(w.dir, file))
	if err != nil {
		return nil, 0, err
	}
	quoted, err := json.Marshal(w.repo)
	if err != nil {
		return nil, 0, err
	}
	text := strings.ReplaceAll(string(b), "$REPO", string(quoted[1:len(quoted)-1]))
	dir := w.repo
	var in struct {
		Cwd string `json:"cwd"`
	}
	if json.Unmarshal([]byte(text), &in) == nil && in.Cwd != "" {
		if info, err := os.Stat(in.Cwd); err == nil && info.IsDir() {
			dir = in.Cwd
		}
	}
	ctx, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	start := time.Now()
	out, err := hook(ctx, event, []byte(text), dir, w.env)
	if ctx.Err() != nil {
		err = ErrTime
	}
	return out, time.Since(start), err
}

// traces looks at what the hook left: files, processes, the session log.
func (w *world) traces(exp expectation) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, p := range exp.Present {
		if _, err := os.Lstat(filepath.Join(w.repo, p)); err != nil {
			say("%s must exist after the run", p)
		}
	}
	for _, p := range exp.Absent {
		if _, err := os.Lstat(filepath.Join(w.repo, p)); err == nil {
			say("%s must not exist after the run", p)
		}
	}
	if len(exp.NoProcess) > 0 {
		time.Sleep(300 * time.Millisecond)
	}
	for _, fragment := range exp.NoProcess {
		if running(fragment) {
			say("process left behind: %q", fragment)
		}
	}
	if len(exp.Log) > 0 || len(exp.LogLacks) > 0 {
		out = append(out, w.log(exp)...)
	}
	if left, err := os.ReadDir(w.temp); err != nil || len(left) > 0 {
		say("temporary files left behind: %v %v", left, err)
	}
	return out
}

func (w *world) log(exp expectation) []string {
	var out []string
	b, err := os.ReadFile(filepath.Join(w.data, "logs", "session-events.jsonl"))
	if err != nil {
		return []string{"session log: " + err.Error()}
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	var got map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		return []string{"session log: " + err.Error()}
	}
	for k, want := range exp.Log {
		if !equal(got[k], want) {
			out = append(out, fmt.Sprintf("session log: %s is %v, want %v", k, got[k], want))
		}
	}
	for _, s := range exp.LogLacks {
		if strings.Contains(string(b), s) {
			out = append(out, fmt.Sprintf("session log holds %q", s))
		}
	}
	return out
}

// running says whether a process has the fragment in its command line; only systems with /proc can tell.
func running(fragment string) bool {
	if runtime.GOOS != "linux" {
		return false
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return false
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil && f != fmt.Sprintf("/proc/%d/cmdline", os.Getpid()) && strings.Contains(strings.ReplaceAll(string(b), "\x00", " "), fragment) {
			return true
		}
	}
	return false
}
