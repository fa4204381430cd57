package policy

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

// loadOne compiles the one policy of a workflow text, which must be valid.
func loadOne(t *testing.T, text string) *Policy {
	t.Helper()
	s := Load(newRepo(t, map[string]string{".github/copilot-mem/policies/p.yml": text}).l)
	s.Compile()
	if len(s.Policies) != 1 || s.Policies[0].InvalidText() != "" {
		t.Fatalf("%v", s.Check())
	}
	return s.Policies[0]
}

func evaluated(t *testing.T, text *expr.Text) string {
	t.Helper()
	if text == nil {
		return ""
	}
	s, err := text.Eval(&expr.Env{Contexts: map[string]expr.Value{"event": map[string]any{"name": "N"}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStepValues(t *testing.T) {
	p := loadOne(t, `name: p
on: {hooks: {types: [preToolUse, postToolUse]}}
env: {A: 'a ${{ event.name }}', B: b}
concurrency: {group: 'g-${{ event.name }}'}
on-error: ask
steps:
  - name: one
    id: i
    if: false
    run: echo ${{ event.name }}
    shell: sh
    env: {C: c}
    working-directory: sub
    timeout: 7
    continue-on-error: true
  - uses: ./act
    with: {n: 3, t: true, s: '${{ event.name }}'}
  - modify: &m {text: '${{ event.name }}', n: 12345678901234567890, f: 1.50, t: yes, b: true, z: ~, list: [a, '${{ event.name }}'], map: {k: v}}
  - modify:
      <<: [{a: 1}, {a: 2, b: 3}]
      b: 4
  - redact: [{pattern: 'a+', with: '$1'}, {pattern: b}]
  - truncate: {max-bytes: 10}
  - context: 'x ${{ event.name }}'
`)
	if p.OnError != "ask" || evaluated(t, p.Concurrency.Group) != "g-N" || p.Concurrency.MaxParallel != 1 || len(p.Env) != 2 || p.Env[0].Name != "A" || evaluated(t, p.Env[0].Value) != "a N" || p.Env[0].Line != 3 || p.Env[0].Column != 7 {
		t.Errorf("%+v", p)
	}
	run := p.Steps[0]
	if v, err := run.If.Eval(&expr.Env{}); err != nil || v != false {
		t.Errorf("if is %v, %v", v, err)
	}
	if run.Kind != StepRun || run.Name != "one" || run.ID != "i" || run.Shell != "sh" || run.Script.Shell != "sh" || len(run.Script.Vars) != 1 || run.Env[0].Name != "C" ||
		evaluated(t, run.WorkingDirectory) != "sub" || run.Timeout != 7*time.Second || !run.ContinueOnError || run.Line != 7 || run.Column != 5 {
		t.Errorf("%+v", run)
	}
	if uses := p.Steps[1]; uses.Uses != "./act" || len(uses.With) != 3 || evaluated(t, uses.With[0].Value) != "3" || evaluated(t, uses.With[1].Value) != "true" || evaluated(t, uses.With[2].Value) != "N" {
		t.Errorf("%+v", uses)
	}
	want := []ModifyArg{{"text", "N"}, {"n", json.Number("12345678901234567890")}, {"f", json.Number("1.5")}, {"t", "yes"}, {"b", true}, {"z", nil}, {"list", []any{"a", "N"}}, {"map", map[string]any{"k": "v"}}}
	for i, m := range p.Steps[2].Modify {
		if diff := cmp.Diff(want[i], ModifyArg{m.Name, filled(t, m.Value)}); diff != "" {
			t.Errorf("modify (-want +got):\n%s", diff)
		}
	}
	merged := map[string]any{}
	for _, m := range p.Steps[3].Modify {
		merged[m.Name] = m.Value
	}
	if diff := cmp.Diff(map[string]any{"a": json.Number("1"), "b": json.Number("4")}, merged); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Redaction{{"a+", "$1"}, {"b", "[redacted]"}}, p.Steps[4].Redact); diff != "" {
		t.Errorf("redact (-want +got):\n%s", diff)
	}
	if p.Steps[5].MaxBytes != 10 || evaluated(t, p.Steps[6].Text) != "x N" || p.Steps[6].Kind != StepContext {
		t.Errorf("%+v", p.Steps[5:])
	}
}

// filled evaluates the texts inside a value.
func filled(t *testing.T, v any) any {
	switch v := v.(type) {
	case *expr.Text:
		return evaluated(t, v)
	case []any:
		for i := range v {
			v[i] = filled(t, v[i])
		}
	}
	return v
}

func TestTriggerNames(t *testing.T) {
	p := loadOne(t, "name: p\non:\n  hooks: {types: [Stop], tools: [bash]}\n  tools: [{name: bash}, {name: 'x*', lifecycle: pre}]\n  file:\n  commit: {lifecycle: post}\n"+deny)
	var got []string
	for i := range p.Triggers {
		got = append(got, p.Triggers[i].String())
	}
	if diff := cmp.Diff([]string{"hooks agentStop bash", "tool bash", "tool x*:pre", "file", "commit:post"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"agentStop", "preToolUse", "postToolUse"}, p.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
