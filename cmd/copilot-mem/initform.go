package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/huh"

	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

// question is one thing that init may ask. A flag that was given answers it already.
type question struct {
	flag string
	when func(f *initFlags) bool // nil: always
	// field shows the preset answer and changes it.
	field func(f *initFlags) huh.Field
}

// answers are what fields write to, where a flag's own form is another.
type answers struct {
	vendor  string
	capture []string
	recall  bool
}

// initQuestions are all questions, in the order of asking. A new choice of init adds its flag and one of these.
func (e *env) initQuestions(f *initFlags, a *answers) []question {
	repo := func(f *initFlags) bool { return f.scope == render.Repo }
	return []question{
		{"scope", nil, func(f *initFlags) huh.Field { return e.scopeField(f) }},
		{"capture", nil, func(*initFlags) huh.Field { return captureField(&a.capture) }},
		{"recall", nil, func(*initFlags) huh.Field {
			return huh.NewConfirm().Title("Tell the agent by itself what memory knows about its task?").
				Description("Within a small budget of tokens; `copilot-mem why` shows what it was told.").Value(&a.recall)
		}},
		{"policy", nil, func(f *initFlags) huh.Field { return policyField(&f.policy) }},
		{"vendor-binary", repo, func(*initFlags) huh.Field { return vendorField(&a.vendor) }},
		{"share", repo, func(f *initFlags) huh.Field {
			return huh.NewConfirm().Title("Tell teammates, with a line in README.md?").
				Description("The files are committed either way, and do nothing for people without copilot-mem.").Value(&f.share)
		}},
		{"forward", nil, func(f *initFlags) huh.Field { return forwardField(&f.forward) }},
	}
}

// askInit asks what no flag has said, and writes the answers into the flags.
func (e *env) askInit(f *initFlags) error {
	a, err := e.presets(f)
	if err != nil {
		return err
	}
	var open []question
	for _, q := range e.initQuestions(f, &a) {
		if !f.given[q.flag] && (q.flag != "scope" || f.scope == "") {
			open = append(open, q)
		}
	}
	before := a
	before.capture = slices.Clone(a.capture)
	if e.plainTerminal() {
		for _, q := range open {
			if q.when == nil || q.when(f) {
				if err := e.askOne(q.field(f)); err != nil {
					return err
				}
			}
		}
	} else if err := e.askForm(f, open); err != nil {
		return err
	}
	f.take(a, before)
	return nil
}

func (e *env) askForm(f *initFlags, open []question) error {
	var groups []*huh.Group
	for _, q := range open {
		g := huh.NewGroup(q.field(f))
		if q.when != nil {
			g = g.WithHideFunc(func() bool { return !q.when(f) })
		}
		groups = append(groups, g)
	}
	if len(groups) == 0 {
		return nil
	}
	return e.ask(groups...)
}

// presets are the answers that hold now, so that Enter changes nothing.
func (e *env) presets(f *initFlags) (answers, error) {
	a := answers{vendor: "none"}
	data, err := e.dataDir()
	if err != nil {
		return a, err
	}
	now, err := config.Load(data.Config())
	if err != nil {
		return a, err
	}
	for _, k := range config.Keys {
		if slices.Contains(captureKinds(), captureName(k.Name)) && now.Capture.Enabled && k.Value(now) == "true" {
			a.capture = append(a.capture, captureName(k.Name))
		}
	}
	a.recall = now.Recall.Enabled
	if !f.given["forward"] {
		f.forward = now.Forward
	}
	if f.policy == "" {
		f.policy = "on"
		if dir, err := e.scopeDir(cmp.Or(f.scope, render.User), f.dir); err == nil {
			f.policy = cmp.Or(installedPolicy(cmp.Or(f.scope, render.User), dir), "on")
		}
	}
	return a, nil
}

// take turns the answers into what the flags would have said. What was left as it was is as if nobody had been asked.
func (f *initFlags) take(a, before answers) {
	if !f.given["capture"] && !slices.Equal(a.capture, before.capture) {
		f.capture = a.capture
		switch len(a.capture) {
		case 0:
			f.capture = []string{"none"}
		case len(captureKinds()):
			f.capture = []string{"all"}
		}
	}
	if !f.given["recall"] && a.recall != before.recall {
		f.recall = map[bool]string{true: on, false: off}[a.recall]
	}
	if f.scope == render.Repo && !f.given["vendor-binary"] && a.vendor != before.vendor {
		f.vendor = []string{a.vendor}
		f.given["vendor-binary"] = true
	}
	if f.scope != render.Repo && !f.given["share"] { // an answer that going back has made void
		f.share = false
	}
}

func (e *env) scopeField(f *initFlags) huh.Field {
	options := []option{
		{render.User, "user (recommended) - for me, in every folder; no repository is touched"},
		{render.Repo, "repo - for everybody who works in this git repository; its hooks run once the folder is trusted"},
		{render.Bundle, "plugin - for me, as a plugin of the client, beside others in its list"},
	}
	if !e.inRepository(f.dir) {
		options = slices.Delete(options, 1, 2)
	}
	f.scope = options[0].value
	return selectField("Where should copilot-mem be installed?", &f.scope, options...)
}

var captureTexts = map[string]string{
	"prompts": "what I type", "responses": "what the model answers", "tools": "which tools it uses", "toolResults": "what they give back",
	"errors": "errors", "subagents": "sub-agents", "notifications": "notifications",
}

func captureName(key string) string {
	name, ok := strings.CutPrefix(key, captureSection)
	if !ok {
		return ""
	}
	return name
}

func captureField(answer *[]string) huh.Field {
	var list []huh.Option[string]
	for _, kind := range captureKinds() {
		list = append(list, huh.NewOption(cmp.Or(captureTexts[kind], kind), kind))
	}
	return huh.NewMultiSelect[string]().Title("What should be remembered?").
		Description("Secrets are taken out before anything is written. Nothing leaves this machine.").Options(list...).Value(answer)
}

func policyField(answer *string) huh.Field {
	return selectField("Which guardrails should hold for the agent's tool calls?", answer,
		option{"on", "on (recommended) - stop deletions of whole trees, forced pushes, access to secrets and the like"},
		option{"warn", "warn - only tell the model"},
		option{"off", "off - none but those of my own policies"})
}

func vendorField(answer *string) huh.Field {
	options := []option{
		{"none", "no (recommended) - everybody installs copilot-mem, or notices nothing"},
		{hostTarget(), "yes - for " + hostTarget() + "; trusted checkouts then run a program from the repository"},
	}
	if hostTarget() == cloudTarget {
		options[1].text = "yes - for " + cloudTarget + ", which the cloud agent runs too; checkouts then run a program from the repository"
	}
	return selectField("Put the capture program into the repository?", answer, options...)
}

func forwardField(answer *string) huh.Field {
	return selectField("Hand each stored event to another program too?", answer,
		option{config.ForwardNone, "none (recommended) - everything stays in the data folder"},
		option{config.ForwardIngest, "memory-ingest - run the program in MEMORY_INGEST_PATH for each event"})
}
