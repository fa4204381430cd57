package guard

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy"
	"github.com/copilot-mem/copilot-mem/internal/policy/bundled"
	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// View is what applies in one folder, for lists and for trust.
type View struct {
	Set     *policy.Set
	Root    string
	Dirs    []string // that may hold .github: from the folder up to the root, and on into a superproject
	Claude  []ClaudeHook
	Bridged bool  // whether we run those
	Err     error // about Claude Code's settings files

	j *judgement
}

// Look reads everything that applies in cwd.
func Look(o Options, cwd string) View {
	j := newJudgement(o.filled(), hook.Event{Name: hook.PreToolUse, Cwd: cwd})
	j.load()
	j.set.Compile()
	v := View{Set: j.set, Root: j.facts.Root(), Dirs: facts.Sources(j.facts.Cwd()), Bridged: j.bridged(), j: j}
	v.Claude, v.Err = ReadClaude(v.Root)
	return v
}

// Loader is where the policies of the folder come from.
func (v View) Loader() policy.Loader { return v.j.loader() }

// Trusted says whether the files of a folder are trusted as they are now.
func (v View) Trusted(dir string) bool { return v.j.trusted(dir) }

// Executes says whether a policy starts processes.
func Executes(p *policy.Policy) bool {
	return slices.ContainsFunc(p.Steps, func(s policy.Step) bool { return s.Kind.Executes() })
}

// Actions are the folders of the local actions that the policies of dir use.
func (v View) Actions(dir string) []string {
	var out []string
	for _, p := range v.Set.Policies {
		if p.Source == policy.User || p.Dir != dir {
			continue
		}
		for _, s := range p.Steps {
			if s.Kind == policy.StepUses && IsLocalAction(s.Uses) {
				if a, err := LocalActionDir(p, s.Uses); err == nil {
					out = append(out, realPath(a))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Explained is one rule's part in an answer.
type Explained struct {
	Name    string
	File    string
	Matched bool
	Why     []policy.Check
	Effects []Effect
}

// Effect is one thing that a rule said.
type Effect struct {
	Action string `json:"action"`
	Text   string `json:"text"`
}

// Explanation is an answer with every rule that was asked and the facts that it was asked about.
type Explanation struct {
	Event    map[string]any
	Rules    []Explained
	Decision string
	Output   []byte
	Duration time.Duration
}

// Explain judges an event and says why. It writes nothing; whether steps run is for the options to say.
func Explain(o Options) (Explanation, error) {
	o = o.filled()
	o.NoLog = true
	e, err := decode(o)
	if err != nil {
		return Explanation{}, err
	}
	j := newJudgement(o, e)
	defer j.close()
	j.load()
	var rules []Explained
	for _, x := range j.set.Explain(j.facts, j.exprEnv()) {
		rules = append(rules, Explained{Name: x.Policy.Name, File: x.Policy.File, Matched: x.Matched, Why: x.Why})
	}
	settings := &j.set.Settings
	for _, r := range bundled.Rules() {
		if e.Name != hook.PreToolUse {
			break
		}
		on := settings.Bundled(r.Name).On()
		why := policy.Check{Check: "rules." + r.Name, Pattern: "on", Value: map[bool]string{true: "on", false: "off"}[on], Result: on}
		rules = append(rules, Explained{Name: "copilot-mem/" + r.Name, Why: []policy.Check{why}})
	}
	out := j.safely()
	for _, s := range out.says {
		i := slices.IndexFunc(rules, func(r Explained) bool { return r.Name == s.rule.Name && r.File == s.rule.File })
		if i < 0 {
			rules = append(rules, Explained{Name: s.rule.Name, File: s.rule.File})
			i = len(rules) - 1
		}
		rules[i].Matched = true
		rules[i].Effects = append(rules[i].Effects, Effect{s.rule.Action, s.text})
	}
	facts, _ := settle(j.facts.Context()).(map[string]any)
	return Explanation{facts, rules, out.reply.decision(), out.reply.bytes(), o.Now().Sub(o.Started)}, nil
}

// loader says where policies may be.
func (j *judgement) loader() policy.Loader {
	return policy.Loader{
		UserDir: filepath.Join(j.o.Copilot, "copilot-mem"),
		Root:    j.facts.Root(),
		Sources: facts.Sources(j.facts.Cwd()),
		Home:    j.o.Home,
		Trusted: j.trusted,
		Shell:   DefaultShell,
	}
}
