package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/policy"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// ActionSource takes a checked value owner/repo[/sub]@commit apart: the repository, and where that commit of it lies.
// `policy trust` puts it there, the hook only reads it.
func ActionSource(data, uses string) (repo, dir, commit string) {
	name, commit, _ := strings.Cut(uses, "@")
	parts := append(strings.SplitN(name, "/", 3), "")
	repo = parts[0] + "/" + parts[1]
	return repo, filepath.Join(data, "actions", parts[0], parts[1], commit), commit
}

// IsLocalAction says whether a uses value names a folder and no repository.
func IsLocalAction(uses string) bool {
	return strings.HasPrefix(uses, "./") || strings.HasPrefix(uses, "../")
}

// LocalActionDir is the folder of a local action; it stays inside the repository of the policy file, also through links.
func LocalActionDir(p *policy.Policy, uses string) (string, error) {
	root := p.Dir
	if p.Source != policy.User {
		root, _ = facts.Root(p.Dir)
	}
	dir := filepath.Join(p.Dir, filepath.FromSlash(uses))
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if !insideOf(real, realPath(root)) {
		return "", fmt.Errorf("%s leaves %s", uses, root)
	}
	return dir, nil
}

func (f *flow) actionDir(uses string) (string, error) {
	if IsLocalAction(uses) {
		return LocalActionDir(f.m.Policy, uses)
	}
	_, dir, _ := ActionSource(string(f.j.o.Dir), uses)
	name, _, _ := strings.Cut(uses, "@")
	if parts := strings.SplitN(name, "/", 3); len(parts) == 3 {
		dir = filepath.Join(dir, filepath.FromSlash(parts[2]))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", errors.New(uses + " is not here: run `copilot-mem policy trust` to fetch it")
	}
	return dir, nil
}

// action runs the steps of a composite action. Its output is that of all of them.
func (f *flow) action(ctx context.Context, s *policy.Step, sc *scope) ran {
	dir, err := f.actionDir(s.Uses)
	if err != nil {
		return ran{err: fmt.Errorf("uses: %w", err)}
	}
	a, findings := policy.LoadAction(dir)
	for _, finding := range findings {
		if finding.Severity == policy.SeverityError {
			return ran{err: fmt.Errorf("uses: %s", finding)}
		}
	}
	if a == nil {
		return ran{err: fmt.Errorf("uses: %s: no action.yml", s.Uses)}
	}
	inner := &scope{env: append([]pair(nil), sc.env...), steps: map[string]expr.Value{}, inputs: map[string]expr.Value{}}
	given := map[string]string{}
	for _, w := range s.With {
		if given[strings.ToLower(w.Name)], err = f.text(w.Value, sc); err != nil {
			return ran{err: fmt.Errorf("with %s: %w", w.Name, err)}
		}
	}
	for _, in := range a.Inputs {
		value, ok := given[strings.ToLower(in.Name)]
		if !ok && in.Required && !in.HasDefault {
			return ran{err: fmt.Errorf("uses: %s: input %q is required", s.Uses, in.Name)}
		}
		if !ok {
			value = in.Default
		}
		delete(given, strings.ToLower(in.Name))
		inner.setInput(in.Name, value)
	}
	for name, value := range given {
		inner.setInput(name, value) // not declared, but given
	}
	out := ran{outputs: map[string]expr.Value{}}
	var text strings.Builder
	for i := range a.Steps {
		step := &a.Steps[i]
		run, err := f.due(step, inner)
		if err != nil {
			return ran{err: fmt.Errorf("%s: if: %w", label(step, i), err)}
		}
		if !run {
			inner.note(step, outcomeSkipped, outcomeSkipped, nil)
			continue
		}
		one := f.inside(ctx, step, inner)
		text.WriteString(one.output)
		if one.err != nil {
			return ran{err: fmt.Errorf("%s: %w", label(step, i), one.err), timedOut: one.timedOut}
		}
		outcome, conclusion := outcomeSuccess, outcomeSuccess
		if one.code != 0 {
			outcome = outcomeFailure
			if !step.ContinueOnError {
				conclusion = outcomeFailure
				inner.failed = true
				out.code = one.code
			}
		}
		inner.note(step, outcome, conclusion, one.outputs)
	}
	for _, o := range a.Outputs {
		value, err := f.text(o.Value, inner)
		if err != nil {
			return ran{err: fmt.Errorf("output %s: %w", o.Name, err)}
		}
		out.outputs[o.Name] = value
	}
	out.output = text.String()
	return out
}

// inside runs one step of an action, in the time that the whole action has.
func (f *flow) inside(ctx context.Context, step *policy.Step, sc *scope) ran {
	if step.Kind != policy.StepRun {
		return ran{err: fmt.Errorf("%s: an action's steps can only run scripts", step.Kind)}
	}
	g := *f
	g.ctx = ctx
	done := g.start(step, sc)
	f.json = g.json
	return done
}

// setInput makes an input known to expressions and, as INPUT_<NAME>, to scripts.
func (sc *scope) setInput(name, value string) {
	sc.inputs[name] = value
	sc.env = append(sc.env, pair{"INPUT_" + strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(name)), value})
}
