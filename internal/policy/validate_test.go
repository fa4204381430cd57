package policy

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidate(t *testing.T) {
	const approve = "name: x\non: {hooks: {types: [preToolUse]}}\nsteps:\n  - approve: true\n"
	r := newRepo(t, map[string]string{
		flow: "name: a\non: file\nbogus: 1\n" + deny, ".github/copilot-mem/policies/r.md": "---\nevent: bash\n---\n", ".github/copilot-mem/policy.yml": "lock: []\n",
		"home/policies/u.yml": approve, "home/policy.yml": "rulez: {}\n", "loose/approve.yml": approve, "loose/policy.yml": "on-error: x\n", "loose/README.md": "# x\n", "loose/text.txt": "x",
		"other/policy.yml": "name: p\non: file\n" + deny + "x: 1\n", "uses/.github/hookflows/u.yml": "name: u\non: file\nsteps:\n  - uses: ./act\n  - uses: ./gone\n", "uses/act/action.yml": "runs:\n  using: node20\n",
	})
	at := func(path string) string { return filepath.Join(r.root, path) }
	user := func(path string) string { return filepath.Join(r.l.UserDir, path) }
	tests := []struct {
		name  string
		paths []string
		want  []string // base name:line:col rule
		files int
	}{
		{"what applies here", nil, []string{"r.md:2:1 missing-key", "policy.yml:1:1 no-effect", "guard.yml:3:1 unknown-key", "policy.yml:1:1 unknown-key"}, 5},
		{"a workflow", []string{at(flow)}, []string{"guard.yml:3:1 unknown-key"}, 1},
		{"a rule", []string{at(".github/copilot-mem/policies/r.md")}, []string{"r.md:2:1 missing-key"}, 1},
		{"settings of a repository", []string{at(".github/copilot-mem/policy.yml")}, []string{"policy.yml:1:1 no-effect"}, 1},
		{"the user's settings", []string{user("policy.yml")}, []string{"policy.yml:1:1 unknown-key"}, 1},
		{"the user may approve", []string{user("policies/u.yml")}, nil, 1},
		{"nobody else may", []string{at("loose/approve.yml")}, []string{"approve.yml:4:5 approve"}, 1},
		{"a folder", []string{at("loose")}, []string{"approve.yml:4:5 approve", "policy.yml:1:11 bad-value"}, 3},
		{"a workflow named as settings are", []string{at("other")}, []string{"policy.yml:5:1 unknown-key"}, 1},
		{"a repository and its actions", []string{at("uses")}, []string{"u.yml:5:5 uses", "action.yml:2:3 missing-key", "action.yml:2:10 bad-value"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, files, err := Validate(r.l, tt.paths)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				place := strings.TrimPrefix(f.String(), strings.TrimSuffix(f.File, filepath.Base(f.File)))
				got = append(got, place[:strings.Index(place, ": ")]+" "+f.Rule)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || files != tt.files {
				t.Errorf("%d files (-want +got):\n%s", files, diff)
			}
		})
	}
	if _, _, err := Validate(r.l, []string{at("nothing")}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a path that is not there: %v", err)
	}
}

func TestLoadAction(t *testing.T) {
	const good = "name: check\nauthor: somebody\ninputs:\n  word: {required: true, description: d}\n  n: {default: 3}\n  none:\noutputs:\n  v: {value: '${{ steps.a.outputs.v }}'}\nruns:\n  using: composite\n  steps:\n    - {id: a, run: echo, shell: bash}\n"
	r := newRepo(t, map[string]string{"good/action.yaml": good})
	a, found := LoadAction(filepath.Join(r.root, "good"))
	if len(found) > 0 || a == nil {
		t.Fatalf("%v", found)
	}
	if diff := cmp.Diff([]Input{{Name: "word", Required: true}, {Name: "n", Default: "3", HasDefault: true}, {Name: "none"}}, a.Inputs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a.Name != "check" || len(a.Outputs) != 1 || a.Outputs[0].Name != "v" || len(a.Steps) != 1 || a.Steps[0].ID != "a" || a.Steps[0].Script == nil {
		t.Errorf("%+v", a)
	}
	tests := []struct{ text, want string }{
		{"[", "1:1 yaml"},
		{"[]", "1:1 wrong-type"},
		{"name: x\n", "1:1 missing-key"},
		{"runs: {using: docker}\n", "1:7 missing-key, 1:15 bad-value"},
		{"runs: {steps: [{run: a}]}\n", "1:7 missing-key"},
		{"runs: {using: composite, steps: []}\n", "1:33 bad-value"},
		{"runs:\n  using: composite\n  steps:\n    - uses: ./x\n    - deny: x\n    - run: a\n      timeout: x\n", "4:7 bad-value, 5:7 bad-value, 7:16 wrong-type"},
		{"inputs: {a: {required: 'yes'}}\nruns: {using: composite, steps: [{run: a}]}\n", "1:24 wrong-type"},
		{"outputs: {a: {value: '${{ bogus.x }}'}}\nruns: {using: composite, steps: [{run: a}]}\n", "1:27 expression"},
	}
	for _, tt := range tests {
		r := newRepo(t, map[string]string{"action.yml": tt.text})
		_, found := LoadAction(r.root)
		if diff := cmp.Diff(strings.Split(tt.want, ", "), places(found)); diff != "" {
			t.Errorf("%q (-want +got):\n%s%v", tt.text, diff, found)
		}
	}
	if a, found := LoadAction(filepath.Join(r.root, "nothing")); a != nil || len(found) != 1 || found[0].Rule != "unreadable" {
		t.Errorf("%v %v", a, found)
	}
}
