package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// policies measures what deciding costs. Each row is a repository of its own; all are run in turn, so that a busy moment
// hits them alike. The limits on the right are the specification's, computed from the same run.
func policies(out io.Writer, rounds int, hook, empty, work string) error {
	const (
		miss   = "name: miss %d\non:\n  file:\n    paths: ['secrets/%d/**']\nsteps:\n  - deny: no\n"
		denial = "name: no\non:\n  tool:\n    name: bash\n    lifecycle: pre\nsteps:\n  - deny: not here\n"
		step   = "name: step\non:\n  tool:\n    name: bash\n    lifecycle: pre\nsteps:\n  - shell: bash\n    run: 'true'\n"
	)
	base := &program{name: "empty Go program", argv: []string{empty}}
	rows := []*program{base}
	add := func(name string, files ...string) (*program, error) {
		repo, err := os.MkdirTemp(work, "repo-")
		if err != nil {
			return nil, err
		}
		flows := filepath.Join(repo, ".github", "hookflows")
		if err := os.MkdirAll(filepath.Join(repo, ".git"), 0o755); err != nil {
			return nil, err
		}
		for i, text := range files {
			if err := os.MkdirAll(flows, 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(filepath.Join(flows, fmt.Sprintf("p%03d.yml", i)), []byte(text), 0o644); err != nil {
				return nil, err
			}
		}
		in, err := json.Marshal(map[string]any{
			"sessionId": "ee0862ee-1981-4e47-bc82-04eb315967a5", "timestamp": 1795257460555, "cwd": repo, "toolName": "bash",
			"toolArgs": map[string]string{"command": "go test ./... && git log --oneline -5", "description": "run the tests"},
		})
		p := &program{name: name, argv: []string{hook, "preToolUse"}, in: in}
		rows = append(rows, p)
		return p, err
	}
	var hundred []string
	for i := range 100 {
		hundred = append(hundred, fmt.Sprintf(miss, i, i))
	}
	none, err := add("no policy")
	if err != nil {
		return err
	}
	one, err := add("one that does not match", fmt.Sprintf(miss, 0, 0))
	if err != nil {
		return err
	}
	many, err := add("100 that do not match", hundred...)
	if err != nil {
		return err
	}
	refused, err := add("one that denies", denial)
	if err != nil {
		return err
	}
	ran, err := add("one bash step", step)
	if err != nil {
		return err
	}
	var shell *program
	if bash, err := exec.LookPath("bash"); err == nil {
		shell = &program{name: "bash -c true", argv: []string{bash, "-c", "true"}}
		rows = append(rows, shell)
	} else {
		fmt.Fprintln(out, "SKIPPED: the limit of the bash step, because bash is not on PATH")
	}
	data := filepath.Join(work, "policy-data")
	env := append(os.Environ(), "COPILOT_MEM_HOME="+data, "COPILOT_HOME="+filepath.Join(work, "client"), "COPILOT_MEM_DISABLE=",
		"COPILOT_MEM_TRUST_ALL=1", "COPILOT_MEM_DEBUG=")
	for i := range rounds {
		for _, p := range rows {
			if err := p.once(env, nil); err != nil {
				return err
			}
		}
		if i%50 == 49 {
			_ = os.RemoveAll(data)
		}
	}
	table(out, "preToolUse of a shell command, decided and captured", rows, base)
	median := func(p *program) float64 { return ms(quantile(p.wall, 0.5)) }
	fmt.Fprintf(out, "\n%-36s %8s %8s\n", "policy, medians in ms", "is", "limit")
	limit := func(name string, is, most float64) {
		word := "kept"
		if is > most {
			word = "OVER"
		}
		fmt.Fprintf(out, "%-36s %8.2f %8.2f  %s\n", name, is, most, word)
	}
	limit("no policy: 1.6 x empty + 0.5", median(none), 1.6*median(base)+0.5)
	limit("no match: 1.6 x empty + 0.5", median(one), 1.6*median(base)+0.5)
	limit("100 files, none matching: 8", median(many), 8)
	limit("declarative deny: no match + 0.5", median(refused), median(one)+0.5)
	if shell != nil {
		limit("bash step: no match + 2 x bash", median(ran), median(one)+2*median(shell))
	}
	return nil
}
