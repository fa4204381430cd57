package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

const captureSection = "capture."

// captureKinds are what --capture takes: the switches of the section capture that are on unless somebody says no.
func captureKinds() (kinds []string) {
	preset := config.Default()
	for _, k := range config.Keys {
		if name, ok := strings.CutPrefix(k.Name, captureSection); ok && name != "enabled" && k.Value(preset) == "true" {
			kinds = append(kinds, name)
		}
	}
	return kinds
}

func checkCapture(words []string) error {
	for _, w := range words {
		alone := w == "all" || w == "none"
		if alone && len(words) > 1 {
			return &usageError{fmt.Errorf("--capture %s: %s goes alone", strings.Join(words, ","), w), "run `copilot-mem init --help`"}
		}
		if !alone && !slices.Contains(captureKinds(), w) {
			return &usageError{fmt.Errorf("--capture %s: unknown", w), "write all, none, or some of " + strings.Join(captureKinds(), ",")}
		}
	}
	return nil
}

// wanted gives the values that the answers ask for, by key; a key that nobody spoke of is not in it.
func (f *initFlags) wanted() map[string]string {
	want := map[string]string{}
	switch {
	case len(f.capture) == 0:
	case f.capture[0] == "none":
		want[captureSection+"enabled"] = "false"
	default:
		want[captureSection+"enabled"] = "true"
		for _, kind := range captureKinds() {
			want[captureSection+kind] = fmt.Sprint(f.capture[0] == "all" || slices.Contains(f.capture, kind))
		}
	}
	if f.recall != "" && f.scope != render.Repo { // a repository's hooks are everybody's and say nothing of one user
		want["recall.enabled"] = fmt.Sprint(f.recall == on)
	}
	if f.forward != "" {
		want["forward"] = f.forward
	}
	return want
}

// choices is the edit of the person's own file; nil when nothing was said. Only what is not so already is written.
func (f *initFlags) choices() *install.Merge {
	want := f.wanted()
	if len(want) == 0 {
		return nil
	}
	return &install.Merge{Path: "config.yaml", Free: true, Reason: "what you chose", Edit: func(text []byte) ([]byte, error) {
		now, problems := config.Parse(text)
		if len(problems) > 0 {
			return nil, &config.FileError{Path: "config.yaml", Problems: problems}
		}
		out := text
		for _, k := range config.Keys {
			value, ok := want[k.Name]
			if !ok || k.Value(now) == value {
				continue
			}
			if len(out) == 0 {
				out = config.Template()
			}
			var err error
			if out, err = config.Set(out, k.Name, value); err != nil {
				return nil, err
			}
		}
		return out, nil
	}}
}
