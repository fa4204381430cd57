package copilotmem_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v3"
)

// job is what the tests read of a workflow, and of an action.
type job struct {
	Steps []struct {
		Name string            `yaml:"name"`
		Uses string            `yaml:"uses"`
		Run  string            `yaml:"run"`
		If   string            `yaml:"if"`
		Env  map[string]string `yaml:"env"`
	} `yaml:"steps"`
}

func readYAML(t *testing.T, file string, to any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, to); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func workflows(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) < 2 {
		t.Fatalf("workflows: %v %v", files, err)
	}
	return files
}

func TestWorkflowsAreSound(t *testing.T) {
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	l, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{WorkingDir: root})
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject(root)
	if err != nil {
		t.Fatal(err)
	}
	found, err := l.LintFiles(workflows(t), project)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		t.Error(e)
	}
}

// target is a rule of the Makefile that a person can call.
var target = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)

// TestWorkflowsOnlyCallMake: what runs there must run on anybody's machine. Uploading is the one thing that cannot.
func TestWorkflowsOnlyCallMake(t *testing.T) {
	data, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, m := range target.FindAllStringSubmatch(string(data), -1) {
		targets = append(targets, m[1])
	}
	pinned := regexp.MustCompile(`^(\./|[\w.-]+/[\w./-]+@(v\d+|[0-9a-f]{40})$)`)
	calls, uploads := 0, 0
	for _, file := range workflows(t) {
		var w struct {
			Jobs map[string]job `yaml:"jobs"`
		}
		readYAML(t, file, &w)
		for _, j := range w.Jobs {
			for _, s := range j.Steps {
				words := strings.Fields(s.Run)
				switch {
				case s.Uses != "":
					if !pinned.MatchString(s.Uses) {
						t.Errorf("%s: %s is not pinned to a major version or a commit", file, s.Uses)
					}
				case len(words) == 2 && words[0] == "make" && slices.Contains(targets, words[1]):
					calls++
				case strings.HasPrefix(s.Run, "gh release create ") && !strings.Contains(s.Run, "${{"):
					uploads++
				default:
					t.Errorf("%s: %q is not a target of the Makefile", file, s.Run)
				}
			}
		}
	}
	if calls < 5 || uploads != 1 {
		t.Errorf("%d calls of make and %d uploads: this test looks at nothing", calls, uploads)
	}
	ci, err := os.ReadFile(".ci/run")
	if err != nil || !strings.Contains(string(ci), "\nmake release-dry-run\n") {
		t.Errorf(".ci/run does not rehearse the release: %v", err)
	}
}

// TestActionRuns does what the runner does with action.yml: each step in bash, with the inputs in its environment.
func TestActionRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no bash that is sure to be there on Windows: the action's steps are not run")
	}
	var action struct {
		Inputs map[string]struct {
			Default string `yaml:"default"`
		} `yaml:"inputs"`
		Runs job `yaml:"runs"`
	}
	readYAML(t, "action.yml", &action)
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	work := filepath.Join(temp, "work")
	src := filepath.Join(work, "a plugin; echo $HOME")
	if err := os.MkdirAll(src, 0o755); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(src, "plugin.json")
	run := func(inputs map[string]string) (text string, ran int, err error) {
		t.Helper()
		for _, s := range action.Runs.Steps {
			if s.Run == "" || s.If == "inputs.build == 'true'" && inputs["build"] != "true" {
				continue
			}
			if strings.Contains(s.Run, "${{") {
				t.Errorf("%s: data in the text of a shell command", s.Name)
			}
			env := append(os.Environ(), "GITHUB_PATH="+filepath.Join(temp, "path"))
			for name, value := range s.Env {
				value = strings.NewReplacer("${{ github.action_path }}", root, "${{ runner.temp }}", temp).Replace(value)
				for in, v := range inputs {
					value = strings.ReplaceAll(value, "${{ inputs."+in+" }}", v)
				}
				if strings.Contains(value, "${{") {
					t.Errorf("%s: %s=%s is not understood", s.Name, name, value)
				}
				env = append(env, name+"="+value)
			}
			cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
			cmd.Dir, cmd.Env = work, env
			out, err := cmd.CombinedOutput()
			text += string(out)
			ran++
			if err != nil {
				return text, ran, err
			}
		}
		return text, ran, nil
	}
	inputs := map[string]string{}
	for name, in := range action.Inputs {
		inputs[name] = in.Default
	}
	inputs["path"] = filepath.Base(src)
	if err := os.WriteFile(manifest, []byte(`{"name": "demo", "version": "1.0.0"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	text, ran, err := run(inputs)
	if err != nil || ran != 3 || !strings.Contains(text, "built demo 1.0.0") {
		t.Errorf("a sound plugin: %d steps, %v\n%s", ran, err, text)
	}
	if _, err := os.Stat(filepath.Join(work, "dist", "SHA256SUMS")); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(manifest, []byte(`{`), 0o644); err != nil {
		t.Fatal(err)
	}
	text, ran, err = run(inputs)
	if err == nil || ran != 2 || !strings.Contains(text, "::error file=") {
		t.Errorf("a broken plugin: %d steps, %v\n%s", ran, err, text)
	}
}
