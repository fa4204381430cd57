package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/validate"
)

var someFindings = []validate.Finding{
	{File: "a/SKILL.md", Line: 3, Column: 22, Rule: "skill/yaml", Severity: validate.Error, Message: "broken\nhere \x1b[2Jx", Hint: "quote it", Voice: validate.Copilot},
	{File: "a/SKILL.md", Line: 4, Column: 1, Rule: "skill/bom", Severity: validate.Warning, Message: "marked", Voice: validate.Spec},
	{File: "b.json", Line: 1, Column: 1, Rule: "json/repeated-key", Severity: validate.Warning, Message: "twice", Voice: validate.Copilot},
}

// A person sees groups, in colour where the terminal has it; a pipe gets a line a finding. What files say cannot steer
// the terminal.
func TestFindingsText(t *testing.T) {
	show := func(tty bool, vars map[string]string) string {
		var out bytes.Buffer
		e := &env{Stdout: &out, TTY: tty, Getenv: func(k string) string { return vars[k] }}
		if err := printFindingsText(e, someFindings, validate.Summary{Files: 2, Errors: 1, Warnings: 2}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	grouped := strings.Join([]string{
		"a/SKILL.md",
		`     3:22  error    broken\nhere [2Jx  skill/yaml`,
		"           hint: quote it",
		"      4:1  warning  marked  skill/bom (spec)",
		"b.json",
		"      1:1  warning  twice  json/repeated-key",
		"",
		"2 files checked: 1 error, 2 warnings",
		"",
	}, "\n")
	if diff := cmp.Diff(grouped, show(true, map[string]string{"NO_COLOR": "1"})); diff != "" {
		t.Errorf("terminal without colour (-want +got):\n%s", diff)
	}
	if got := show(true, map[string]string{"TERM": "dumb"}); got != grouped {
		t.Errorf("dumb terminal: %q", got)
	}
	colored := show(true, nil)
	for _, want := range []string{"\x1b[1ma/SKILL.md\x1b[0m", "\x1b[31merror  \x1b[0m", "\x1b[33mwarning\x1b[0m", "\x1b[2mskill/bom (spec)\x1b[0m", "\x1b[31m2 files checked"} {
		if !strings.Contains(colored, want) {
			t.Errorf("no %q in %q", want, colored)
		}
	}
	if strings.Contains(colored, "\x1b[2J") {
		t.Error("a file's text reached the terminal raw")
	}
	lines := `a/SKILL.md:3:22: error: broken\nhere [2Jx [skill/yaml]` + "\n    hint: quote it\na/SKILL.md:4:1: warning: marked [skill/bom]\n" +
		"b.json:1:1: warning: twice [json/repeated-key]\n2 files checked: 1 error, 2 warnings\n"
	if diff := cmp.Diff(lines, show(false, nil)); diff != "" {
		t.Errorf("pipe (-want +got):\n%s", diff)
	}
}
