package policy

import (
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// Action is a composite action.
type Action struct {
	Name    string
	Inputs  []Input  // in file order
	Outputs []EnvVar // in file order
	Steps   []Step
}

// Input is one input of an action.
type Input struct {
	Name, Default        string
	HasDefault, Required bool
}

// LoadAction reads action.yml or action.yaml in a folder; dir is the absolute path. Findings of severity error make the action
// unusable.
func LoadAction(dir string) (*Action, []Finding) {
	path := filepath.Join(dir, "action.yml")
	if _, err := os.Stat(path); err != nil {
		if other := filepath.Join(dir, "action.yaml"); exists(other) {
			path = other
		}
	}
	d := &decoder{file: filepath.ToSlash(path)}
	src, problem := readFile(path)
	if problem != "" {
		d.errorf(nil, "unreadable", "", "%s", problem)
		return nil, d.problems
	}
	d.src = trimMark(src)
	a := d.action()
	return a, sorted(d.problems)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// action reads an action. Actions are written for others, too: keys that we have no use for are not ours to refuse.
func (d *decoder) action() *Action {
	top := d.parse()
	if top == nil {
		return nil
	}
	fields, ok := d.fields(top, "the action", nil)
	if !ok {
		return nil
	}
	a := &Action{}
	runs := false
	for _, e := range fields {
		switch e.name {
		case "name":
			a.Name, _ = d.text(e.v, "name", false)
		case "inputs":
			a.Inputs = d.inputs(e.v)
		case "outputs":
			a.Outputs = d.outputs(e.v)
		case "runs":
			runs = true
			a.Steps = d.runs(e.v)
		}
	}
	if !runs {
		d.errorf(top, "missing-key", "", "runs is missing")
	}
	return a
}

func (d *decoder) inputs(n *yaml.Node) []Input {
	fields, _ := d.fields(n, "inputs", nil)
	var out []Input
	for _, e := range fields {
		in := Input{Name: e.name}
		if e.v.Kind == yaml.ScalarNode && e.v.Tag == "!!null" {
			out = append(out, in)
			continue
		}
		parts, _ := d.fields(e.v, "inputs."+e.name, nil)
		for _, x := range parts {
			switch x.name {
			case "default":
				in.Default, in.HasDefault = d.scalar(x.v, "inputs."+e.name+".default")
			case "required":
				in.Required, _ = d.boolean(x.v, "inputs."+e.name+".required")
			}
		}
		out = append(out, in)
	}
	return out
}

func (d *decoder) outputs(n *yaml.Node) []EnvVar {
	fields, _ := d.fields(n, "outputs", nil)
	var out []EnvVar
	for _, e := range fields {
		parts, _ := d.fields(e.v, "outputs."+e.name, nil)
		for _, x := range parts {
			if x.name != "value" {
				continue
			}
			if t := d.template(x.v, "outputs."+e.name+".value", false); t != nil {
				out = append(out, EnvVar{e.name, t, e.k.Line, e.k.Column})
			}
		}
	}
	return out
}

func (d *decoder) runs(n *yaml.Node) []Step {
	fields, ok := d.fields(n, "runs", nil)
	var steps []Step
	using := ""
	for _, e := range fields {
		switch e.name {
		case "using":
			using, _ = d.text(e.v, "runs.using", true)
			if using != "" && using != "composite" {
				d.errorf(e.v, "bad-value", "", "only composite actions can run, not %q", using)
			}
		case "steps":
			if steps = d.steps(e.v, nil); steps == nil {
				ok = false
			}
		}
	}
	if ok && using == "" {
		d.errorf(n, "missing-key", "", "runs.using is missing")
	}
	if ok && steps == nil {
		d.errorf(n, "missing-key", "", "runs.steps is missing")
	}
	for i := range steps {
		if steps[i].Kind != StepRun {
			d.errorf(&yaml.Node{Line: steps[i].Line, Column: steps[i].Column}, "bad-value", "", "a step of an action can only run, not %s", steps[i].Kind)
		}
	}
	return steps
}
