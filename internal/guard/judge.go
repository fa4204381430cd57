package guard

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy"
	"github.com/copilot-mem/copilot-mem/internal/policy/bundled"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// maxParallel is how many policies with steps to run are judged at a time.
const maxParallel = 4

// judgement is one event being judged, as it came or as rules changed it.
type judgement struct {
	o     Options
	event hook.Event
	facts *facts.Facts
	set   *policy.Set
	*shared
}

// shared is what both have in common.
type shared struct {
	context func() context.Context   // ends when the hook must answer; made when something first waits
	cancel  context.CancelFunc       // nil: not made yet
	lines   func() ([]string, error) // the session's record

	trusting sync.Mutex      // beside mu: hashing a large repository must not hold up the end
	trust    map[string]bool // by folder

	mu        sync.Mutex
	temp      string // the private folder of all steps; empty: not made yet
	steps     int
	signals   chan os.Signal
	recovered any // the first panic of a policy that ran beside others
}

func newJudgement(o Options, e hook.Event) *judgement {
	s := &shared{trust: map[string]bool{}}
	s.context = sync.OnceValue(func() context.Context {
		ctx, cancel := context.WithDeadline(context.Background(), o.Started.Add(ownLimit(o)-head(o.Started)))
		s.mu.Lock()
		defer s.mu.Unlock()
		s.cancel = cancel
		return ctx
	})
	s.lines = sync.OnceValues(record{filepath.Join(string(o.Dir), "logs"), e}.lines)
	return &judgement{o: o, event: e, shared: s}
}

// load finds the policies and settings that apply in the folder of the event.
func (j *judgement) load() {
	j.facts = j.newFacts(j.event)
	j.set = policy.Load(j.loader())
	if len(j.set.Settings.Tools) > 0 {
		j.facts = j.newFacts(j.event)
	}
}

func (j *judgement) newFacts(e hook.Event) *facts.Facts {
	in := facts.Input{Event: e, Home: j.o.Home, CopilotHome: j.o.Copilot, Git: facts.NewGit(j.o.Env)}
	if j.set != nil {
		in.FileTools = j.set.Settings.Tools
	}
	return facts.New(in)
}

// judge gives all that the rules say about the event as it is now, in order: the user's policies, the repository's,
// Claude hooks, the bundled rules.
func (j *judgement) judge() []say {
	matches := j.set.Match(j.facts, j.exprEnv())
	says := make([][]say, len(matches)+2)
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for i, m := range matches {
		if !waits(m.Policy) {
			says[i] = j.one(m)
			continue
		}
		wg.Go(func() {
			defer j.guardPanic()
			slots <- struct{}{}
			defer func() { <-slots }()
			says[i] = j.one(m)
		})
	}
	if j.bridged() {
		says[len(matches)] = j.claude()
	}
	says[len(matches)+1] = append(j.bundled(), j.gated()...)
	wg.Wait()
	if j.recovered != nil {
		panic(j.recovered)
	}
	return slices.Concat(says...)
}

func (j *judgement) one(m policy.Match) []say {
	f := flow{j: j, m: m}
	if waits(m.Policy) {
		f.ctx = j.context()
	} else {
		f.ctx = context.Background()
	}
	return f.run()
}

// guardPanic keeps a panic beside the main goroutine for it.
func (j *judgement) guardPanic() {
	if r := recover(); r != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.recovered == nil {
			j.recovered = r
		}
	}
}

// waits says whether a policy may take its time.
func waits(p *policy.Policy) bool {
	return p.Concurrency != nil || Executes(p)
}

// bundled gives the breaches of the bundled rules, as the settings have them.
func (j *judgement) bundled() []say {
	if j.event.Name != hook.PreToolUse {
		return nil
	}
	settings := &j.set.Settings
	on := func(rule string) bool { return settings.Bundled(rule).On() }
	var guarded func(string) bool
	if j.set.Repairs(j.facts) {
		guarded = func(string) bool { return false }
	}
	var out []say
	for _, hit := range bundled.Check(j.facts, on, guarded) {
		b := settings.Bundled(hit.Rule)
		if b.Excepted(hit.Paths) {
			continue
		}
		s := say{rule: ruleRef{Name: "copilot-mem/" + hit.Rule}, text: hit.Text}
		switch b.ActionFor(hit.Action) {
		case "deny":
			s.verb = sayDeny
		case "ask":
			s.verb = sayAsk
		default:
			s.verb = sayContext
		}
		out = append(out, s.acted())
	}
	return out
}

// mayRun says whether a policy may start processes.
func (j *judgement) mayRun(p *policy.Policy) bool {
	return p.Source == policy.User || j.trusted(p.Dir)
}

// trusted says whether the repository's files in dir were trusted by the user as they are now.
func (j *judgement) trusted(dir string) bool {
	if j.o.Getenv(envTrustAll) == "1" {
		return true
	}
	j.trusting.Lock()
	defer j.trusting.Unlock()
	if known, ok := j.trust[dir]; ok {
		return known
	}
	ok, err := IsTrusted(string(j.o.Dir), dir)
	if err != nil {
		j.debug("trust: %v", err)
	}
	j.trust[dir] = ok
	return ok
}

func (j *judgement) bridged() bool {
	return bridged(j.set.Settings.ClaudeBridge, j.o.Getenv(envBridge), j.o.Getenv(envClient))
}

// exprEnv is what every expression may ask beside its contexts.
func (j *judgement) exprEnv() *expr.Env {
	return &expr.Env{
		Transcript: func(fn, re string) (expr.Value, error) {
			lines, err := j.lines()
			if err != nil {
				j.debug("session record: %v", err)
			}
			return query(lines, fn, re)
		},
		HashFiles: func(patterns []string) (string, error) {
			return expr.HashFiles(os.DirFS(j.facts.Root()), patterns)
		},
	}
}

// stepFiles makes the private folder of all steps for the first one, and gives each names of its own in it. The folder is
// removed in the end, also when the client or the user ends the hook before.
func (j *judgement) stepFiles() (stepFiles, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.temp == "" {
		dir, err := os.MkdirTemp(j.o.Temp, "copilot-mem-") // 0700
		if err != nil {
			return stepFiles{}, err
		}
		j.temp = dir
		j.signals = make(chan os.Signal, 1)
		signal.Notify(j.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		cancel := j.cancel
		go func() {
			if _, ok := <-j.signals; ok {
				cancel()
			}
		}()
	}
	j.steps++
	return stepFiles{j.temp, strconv.Itoa(j.steps) + "-"}, nil
}

func (j *judgement) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cancel != nil {
		j.cancel()
	}
	if j.temp != "" {
		signal.Stop(j.signals)
		close(j.signals)
		_ = os.RemoveAll(j.temp) // a step may have left a folder that only its owner can enter
		j.temp = ""
	}
}

func (j *judgement) locks() string { return filepath.Join(string(j.o.Dir), "locks") }

func (j *judgement) debug(format string, args ...any) {
	if j.o.Debug != nil {
		fmt.Fprintf(j.o.Debug, "copilot-mem: "+format+"\n", args...)
	}
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func same(a, b any) bool { return reflect.DeepEqual(a, b) }
