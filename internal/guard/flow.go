package guard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/policy"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

// errDeadline ends whatever still runs when the hook has to answer.
var errDeadline = errors.New("the time for this hook is over")

// flow is one policy that speaks about the event, from its first step to its last.
type flow struct {
	j    *judgement
	ctx  context.Context
	m    policy.Match
	says []say
	json []byte // event as steps get it; made at the first step that runs

	contexts map[string]expr.Value // those that depend on the match
	event    map[string]expr.Value // one of them
}

// scope is what the expressions of one list of steps see: a workflow's, or an action's.
type scope struct {
	env    []pair
	steps  map[string]expr.Value
	inputs map[string]expr.Value
	failed bool // a step failed, without continue-on-error
	ended  bool // a deny or ask step was reached: only always() steps run
}

// pair is one environment variable.
type pair struct{ name, value string }

// run judges one match. It never panics over what a policy says; a panic is the caller's.
func (f *flow) run() []say {
	p := f.m.Policy
	switch {
	case f.m.Invalid != "":
		text := "this policy file is not valid and guards what it could: " + f.m.Invalid
		if f.m.Denies(f.j.event.Name) {
			f.violation(text)
		} else {
			f.say(sayContext, text)
		}
		return f.says
	case f.m.Err != nil:
		f.unjudged("", f.m.Err)
		return f.says
	}
	f.contexts = f.m.Contexts(f.j.facts)
	f.event, _ = f.contexts["event"].(map[string]expr.Value)
	sc := &scope{steps: map[string]expr.Value{}}
	early := p.If != nil && readsEnv(p.If)
	if early && !f.setEnv(sc, p.Env) {
		return f.says
	}
	if p.If != nil {
		ok, err := f.truthy(p.If, sc)
		if err != nil {
			f.unjudged("if", err)
		}
		if err != nil || !ok {
			return f.says
		}
	}
	if !early && !f.setEnv(sc, p.Env) {
		return f.says
	}
	release, ok := f.concurrency(sc)
	if !ok {
		return f.says
	}
	defer release()
	f.steps(p.Steps, sc)
	return f.says
}

func readsEnv(e *expr.Expr) bool {
	for _, root := range e.Roots() {
		if name, _, _ := strings.Cut(root, "."); strings.EqualFold(name, "env") {
			return true
		}
	}
	return false
}

// setEnv evaluates variables in their order; each sees those before it.
func (f *flow) setEnv(sc *scope, vars []policy.EnvVar) bool {
	for _, v := range vars {
		text, err := f.text(v.Value, sc)
		if err != nil {
			f.unjudged("env "+v.Name, err)
			return false
		}
		sc.env = append(sc.env, pair{v.Name, text})
	}
	return true
}

// concurrency waits for a place in the policy's group.
func (f *flow) concurrency(sc *scope) (release func(), ok bool) {
	c := f.m.Policy.Concurrency
	if c == nil || f.j.o.NoSteps {
		return func() {}, true
	}
	group, err := f.text(c.Group, sc)
	if err == nil {
		release, err = slot(f.ctx, f.j.locks(), group, max(1, c.MaxParallel))
	}
	if err != nil {
		f.unjudged("concurrency", err)
		return nil, false
	}
	return release, true
}

// steps runs a list of steps in order.
func (f *flow) steps(list []policy.Step, sc *scope) {
	for i := range list {
		if f.ctx.Err() != nil {
			f.unjudged(label(&list[i], i), errDeadline)
			return
		}
		if !f.step(&list[i], i, sc) {
			return
		}
	}
}

// label names a step for people.
func label(s *policy.Step, i int) string {
	switch {
	case s.Name != "":
		return s.Name
	case s.ID != "":
		return s.ID
	}
	return "step " + strconv.Itoa(i+1)
}

// step runs one step and reports whether the list goes on.
func (f *flow) step(s *policy.Step, i int, sc *scope) bool {
	name := label(s, i)
	run, err := f.due(s, sc)
	if err != nil {
		sc.failed = true
		sc.note(s, outcomeFailure, outcomeFailure, nil)
		f.unjudged(name, fmt.Errorf("if: %w", err))
		return true
	}
	if !run {
		sc.note(s, outcomeSkipped, outcomeSkipped, nil)
		return true
	}
	if s.Kind.Executes() {
		return f.execute(s, name, sc)
	}
	return f.declare(s, name, sc)
}

// due says whether a step runs: without a status function its condition has success() in front.
func (f *flow) due(s *policy.Step, sc *scope) (bool, error) {
	if s.If == nil || !s.If.UsesStatus() {
		if sc.failed || sc.ended {
			return false, nil
		}
		if s.If == nil {
			return true, nil
		}
	}
	return f.truthy(s.If, sc)
}

// execute runs a step that starts a process.
func (f *flow) execute(s *policy.Step, name string, sc *scope) bool {
	if !f.j.mayRun(f.m.Policy) {
		if f.m.Policy.Blocking {
			f.say(sayAsk, name+": this step would run a program of a repository that is not trusted; look at "+
				f.m.Policy.File+", then run `copilot-mem policy trust`")
		}
		return false
	}
	if f.j.o.NoSteps {
		sc.note(s, outcomeSkipped, outcomeSkipped, nil)
		return true
	}
	done := f.start(s, sc)
	if done.err != nil && !(s.ContinueOnError && done.timedOut && f.ctx.Err() == nil) {
		sc.failed = true
		sc.note(s, outcomeFailure, outcomeFailure, nil)
		f.unjudged(name, done.err)
		return true
	}
	if done.err == nil && done.code == 0 {
		sc.note(s, outcomeSuccess, outcomeSuccess, done.outputs)
		return true
	}
	if s.ContinueOnError {
		sc.note(s, outcomeFailure, outcomeSuccess, done.outputs)
		return true
	}
	sc.failed = true
	sc.note(s, outcomeFailure, outcomeFailure, done.outputs)
	text := strings.TrimSpace(done.output)
	if text == "" {
		text = "exit code " + strconv.Itoa(done.code)
	}
	f.violation(name + ": " + text)
	return true
}

// declare is a step that starts nothing.
func (f *flow) declare(s *policy.Step, name string, sc *scope) bool {
	text := ""
	if s.Text != nil {
		var err error
		if text, err = f.text(s.Text, sc); err != nil {
			sc.failed = true
			sc.note(s, outcomeFailure, outcomeFailure, nil)
			f.unjudged(name, err)
			return true
		}
	}
	sc.note(s, outcomeSuccess, outcomeSuccess, nil)
	switch s.Kind {
	case policy.StepDeny:
		f.violation(text)
		sc.ended = true
	case policy.StepAsk:
		f.held(sayAsk, text)
		sc.ended = true
	case policy.StepBlock:
		f.held(sayBlock, text)
		sc.ended = true
	case policy.StepWarn, policy.StepContext:
		f.say(sayContext, text)
	case policy.StepAllow:
		f.say(sayAllow, "")
		return false
	case policy.StepApprove:
		if f.m.Policy.Source == policy.User {
			f.say(sayApprove, "")
		}
	case policy.StepModify:
		return f.modify(s, name, sc)
	case policy.StepRedact:
		f.add(say{verb: sayRedact, redact: s.Redact})
	case policy.StepTruncate:
		f.add(say{verb: sayTruncate, max: s.MaxBytes})
	}
	return true
}

// modify evaluates the new values. A patch has no arguments that could be replaced one by one.
func (f *flow) modify(s *policy.Step, name string, sc *scope) bool {
	if f.m.Call != nil {
		f.held(sayAsk, name+": the arguments of a patch cannot be changed")
		return true
	}
	out := say{verb: sayModify}
	for _, a := range s.Modify {
		v, err := f.value(a.Value, sc)
		if err != nil {
			sc.failed = true
			f.unjudged(name, err)
			return true
		}
		out.args = append(out.args, setArg{a.Name, v})
	}
	f.add(out)
	return true
}

// value is a JSON value with the texts in it evaluated.
func (f *flow) value(v any, sc *scope) (any, error) {
	switch v := v.(type) {
	case *expr.Text:
		return f.text(v, sc)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			x, err := f.value(v[i], sc)
			if err != nil {
				return nil, err
			}
			out[i] = x
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			x, err := f.value(v[k], sc)
			if err != nil {
				return nil, err
			}
			out[k] = x
		}
		return out, nil
	}
	return v, nil
}

func (f *flow) add(s say) {
	s.rule = ruleRef{f.m.Policy.Name, f.m.Policy.File, string(s.verb)}
	s.gate = f.m.Policy.PostGate
	f.says = append(f.says, s)
}

func (f *flow) say(v verb, text string) { f.add(say{verb: v, text: text}) }

// held stops the call; a policy that does not block only tells.
func (f *flow) held(v verb, text string) {
	if !f.m.Policy.Blocking {
		v = sayContext
	}
	f.say(v, text)
}

func (f *flow) violation(text string) { f.held(sayDeny, text) }

// unjudged is a step that could not be judged: on-error decides.
func (f *flow) unjudged(name string, err error) {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = errDeadline
	}
	text := "could not be judged: " + err.Error()
	if name != "" {
		text = name + ": " + text
	}
	f.j.debug("%s: %s", f.m.Policy.File, text)
	switch f.m.Policy.OnError {
	case "allow":
	case "ask":
		f.held(sayAsk, text)
	default:
		f.violation(text)
	}
}

// Outcomes of a step, as `steps.<id>` has them.
const (
	outcomeSuccess = "success"
	outcomeFailure = "failure"
	outcomeSkipped = "skipped"
)

// note keeps what became of a step, under its id and its name.
func (sc *scope) note(s *policy.Step, outcome, conclusion string, outputs map[string]expr.Value) {
	if outputs == nil {
		outputs = map[string]expr.Value{}
	}
	v := map[string]expr.Value{"outputs": outputs, "outcome": outcome, "conclusion": conclusion}
	for _, key := range []string{s.Name, s.ID} { // an id counts more than another step's name
		if key != "" {
			sc.steps[key] = v
		}
	}
}

func (f *flow) exprEnv(sc *scope) *expr.Env {
	env := make(map[string]expr.Value, len(sc.env))
	for _, p := range sc.env {
		env[p.name] = p.value
	}
	contexts := maps.Clone(f.contexts)
	contexts["env"], contexts["steps"] = env, sc.steps
	if sc.inputs != nil {
		contexts["inputs"] = sc.inputs
	}
	out := f.j.exprEnv()
	out.Contexts = contexts
	out.Status = func(name string) bool {
		switch name {
		case "failure":
			return sc.failed && !sc.ended
		case "always":
			return true
		case "cancelled":
			return f.ctx.Err() != nil
		}
		return !sc.failed && !sc.ended
	}
	return out
}

func (f *flow) truthy(e *expr.Expr, sc *scope) (bool, error) {
	v, err := e.Eval(f.exprEnv(sc))
	return err == nil && expr.Truthy(v), err
}

func (f *flow) text(t *expr.Text, sc *scope) (string, error) { return t.Eval(f.exprEnv(sc)) }
