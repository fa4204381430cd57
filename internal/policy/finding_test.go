package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// places lists findings as "line:col rule" (errors) or "line:col rule?" (warnings).
func places(found []Finding) []string {
	out := []string{}
	for _, f := range found {
		mark := ""
		if f.Severity != SeverityError {
			mark = "?"
		}
		out = append(out, fmt.Sprintf("%d:%d %s%s", f.Line, f.Column, f.Rule, mark))
	}
	return out
}

type workflowText struct {
	name, text string
	want       string // joined by ", "
	message    string // of the first
}

func workflowCases() []workflowText {
	const head = "name: x\non: file\n" // 2 lines
	return []workflowText{
		{"fine", head + deny, "", ""},
		{"every key", "name: x\ndescription: d\nblocking: false\nenabled: true\non: {file: ~, hooks: {types: [preToolUse]}}\nif: true\nenv: {A: 'b${{ event.name }}'}\nconcurrency: {group: g, max-parallel: 2}\non-error: ask\nsteps:\n  - {name: n, id: i, if: false, run: echo, shell: sh, env: {A: b}, working-directory: d, timeout: 3, continue-on-error: true}\n  - {uses: ./a, with: {n: 1, t: true, s: x}}\n", "12:5 uses", "has no action.yml"},
		{"empty", "", "1:1 yaml", "empty"},
		{"only comments", "# x\n", "1:1 yaml", "empty"},
		{"not YAML", "name: x\non:\n  file:\n   paths: [a\n steps: }\n", "3:3 yaml", "not YAML"},
		{"a list", "- a\n", "1:1 wrong-type", "must be a map, not a list"},
		{"two documents", head + deny + "---\nname: y\n", "5:1 yaml", "second document"},
		{"no UTF-8", head + deny + "# \xff\n", "5:1 yaml", "UTF-8"},
		{"nothing there", "description: d\n", "1:1 missing-key, 1:1 missing-key, 1:1 missing-key", "name is missing"},
		{"unknown key", head + deny + "step: 1\n", "5:1 unknown-key", `unknown key "step"`},
		{"key twice", head + "name: y\n" + deny, "3:1 duplicate-key", "first in line 1"},
		{"key of a list", head + "? [a]\n: b\n" + deny, "3:3 wrong-type", "must be text"},
		{"name is a number", "name: 12\non: file\n" + deny, "1:7 wrong-type", "must be text, not the number 12"},
		{"name is empty", "name: ''\non: file\n" + deny, "1:7 bad-value", "name is empty"},
		{"blocking in quotes", head + "blocking: 'no'\n" + deny, "3:11 wrong-type", "must be true or false"},
		{"on is a number", "name: x\non: 7\n" + deny, "2:5 wrong-type", "on must be a map"},
		{"on is null", "name: x\non:\n" + deny, "2:4 wrong-type", "not nothing"},
		{"on is empty", "name: x\non: {}\n" + deny, "2:5 bad-value", "on is empty"},
		{"on is an empty list", "name: x\non: []\n" + deny, "2:5 bad-value", "on is empty"},
		{"unknown trigger", "name: x\non:\n  files:\n" + deny, "3:3 unknown-key", "unknown key"},
		{"unknown trigger in a list", "name: x\non: [file, comit]\n" + deny, "2:12 bad-value", `unknown trigger "comit"`},
		{"tool in a list", "name: x\non: [tool]\n" + deny, "2:6 missing-key", "needs the name"},
		{"tool without a name", "name: x\non:\n  tool:\n    args: {a: b}\n" + deny, "3:3 missing-key", "needs the name"},
		{"tool is null", "name: x\non:\n  tool:\n" + deny, "3:3 missing-key", "needs the name"},
		{"tools is a map", "name: x\non:\n  tools: {name: a}\n" + deny, "3:10 wrong-type", "must be a list"},
		{"tools is empty", "name: x\non:\n  tools: []\n" + deny, "3:10 bad-value", "tools is empty"},
		{"unknown event", "name: x\non:\n  hooks:\n    types: [preToolUse, preTool]\n" + deny, "4:25 bad-value", `unknown event "preTool"`},
		{"unknown action of files", "name: x\non:\n  file:\n    types: [write]\n" + deny, "4:13 bad-value", `unknown action "write"`},
		{"types is a text", "name: x\non:\n  file:\n    types: create\n" + deny, "4:12 wrong-type", "must be a list"},
		{"lifecycle", "name: x\non:\n  file: {lifecycle: before}\n" + deny, "3:21 bad-value", "must be pre or post"},
		{"key of a trigger", "name: x\non:\n  commit: {tags: [a]}\n" + deny, "3:12 unknown-key", "unknown key"},
		{"two bad globs", "name: x\non:\n  file:\n    paths:\n      - '[a'\n      - b\n      - '{c'\n" + deny, "5:9 glob, 7:9 glob", "paths"},
		{"bad argument glob", "name: x\non:\n  tool: {name: a, args: {p: '[a'}}\n" + deny, "3:29 glob", "args.p"},
		{"only negations", "name: x\non:\n  file:\n    paths: ['!a']\n" + deny, "4:13 only-negations?", "matches nothing"},
		{"a folder", "name: x\non:\n  file:\n    paths: [a/, b]\n" + deny, "4:13 glob?", "no path ends in /"},
		{"bad if of a trigger", "name: x\non:\n  tool: {name: a, if: 'event.tool ='}\n" + deny, "3:35 expression", "tool.if"},
		{"unknown context", head + "if: evnt.x\n" + deny, "3:5 expression", "evnt"},
		{"double quotes in an expression", head + "if: 'event.name == \"x\"'\n" + deny, "3:20 expression", ""},
		{"text around an expression", head + "if: a ${{ true }}\n" + deny, "3:7 expression", ""},
		{"env values are texts", head + "env: {A: 1, B: x, C: [a]}\n" + deny, "3:10 wrong-type, 3:22 wrong-type", "env.A"},
		{"env names", head + "env: {'A=B': x}\n" + deny, "3:7 bad-value", ""},
		{"concurrency without a group", head + "concurrency: {max-parallel: 0}\n" + deny, "3:14 missing-key, 3:29 bad-value", ""},
		{"concurrency is a text", head + "concurrency: a\n" + deny, "3:14 wrong-type", "must be a map"},
		{"on-error", head + "on-error: block\n" + deny, "3:11 bad-value", "deny, ask or allow"},
		{"steps is a map", head + "steps: {}\n", "3:8 wrong-type", "must be a list"},
		{"no steps", head + "steps: []\n", "3:8 bad-value", "steps is empty"},
		{"a step is a text", head + "steps: [a]\n", "3:9 wrong-type", "step 1 must be a map"},
		{"a step without an action", head + "steps:\n  - name: a\n", "4:5 missing-key", "does nothing"},
		{"a step with two actions", head + "steps:\n  - run: a\n    deny: b\n", "4:5 bad-value", "both run and deny"},
		{"an unknown key of a step", head + "steps:\n  - run: a\n    timout: 3\n", "5:5 unknown-key", `unknown key "timout" in step 1`},
		{"timeout as a text", head + "steps:\n  - run: a\n    timeout: '10s'\n", "5:14 wrong-type", "whole number"},
		{"timeout of nothing", head + "steps:\n  - run: a\n    timeout: 0\n", "5:14 bad-value", "at least 1"},
		{"timeout of a fraction", head + "steps:\n  - run: a\n    timeout: 1.5\n", "5:14 wrong-type", "whole number"},
		{"shell", head + "steps:\n  - run: a\n    shell: zsh\n", "5:12 bad-value", "bash, sh, pwsh or cmd"},
		{"timeout of a denial", head + "steps:\n  - deny: a\n    timeout: 3\n", "5:5 unknown-key", "no meaning beside deny"},
		{"with beside run", head + "steps:\n  - run: a\n    with: {a: b}\n", "5:5 unknown-key", "no meaning beside run"},
		{"id twice", head + "steps:\n  - {id: a, run: x}\n  - {id: a, run: x}\n", "5:5 duplicate-id", "step 1"},
		{"empty run", head + "steps:\n  - run: ''\n", "4:10 bad-value", "empty"},
		{"allow is not false", head + "steps:\n  - allow: false\n", "4:12 bad-value", "only be true"},
		{"approve in a repository", head + "steps:\n  - approve: true\n", "4:5 approve", "may not switch"},
		{"modify is empty", head + "steps:\n  - modify: {}\n", "4:13 bad-value", "empty"},
		{"redact at a file trigger", head + "steps:\n  - redact: [{pattern: '('}]\n", "4:5 no-effect?, 4:24 regex", "no effect"},
		{"redact without a pattern", "name: x\non: {hooks: {types: [postToolUse]}}\nsteps:\n  - redact: [{with: x}]\n", "4:14 missing-key", "no pattern"},
		{"truncate", "name: x\non: {hooks: {types: [postToolUse]}}\nsteps:\n  - truncate: {max-bytes: -1}\n  - truncate: {}\n", "4:27 bad-value, 5:15 missing-key", ""},
		{"error", "name: x\non: {hooks: {types: [errorOccurred]}}\nsteps:\n  - error: again\n  - error: retry\n", "4:5 no-effect?, 4:12 bad-value, 5:5 no-effect?", ""},
		{"deny after the call", "name: x\non: {file: {lifecycle: post}}\nsteps:\n  - ask: a\n", "4:5 no-effect?", "ask has no effect on this client at postToolUse"},
		{"deny after the call, really", "name: x\non: {file: {lifecycle: post}}\nsteps:\n  - deny: a\n", "4:5 no-effect?", "deny has no effect on this client at postToolUse"},
		{"deny of a prompt", "name: x\non: {hooks: {types: [userPromptSubmitted]}}\nsteps:\n  - deny: a\n  - block: a\n", "4:5 no-effect?", "deny has no effect"},
		{"block of a call", "name: x\non: file\nsteps:\n  - block: a\n", "4:5 no-effect?", "block has no effect"},
		{"deny before or after", "name: x\non: {tool: {name: bash}}\nsteps:\n  - deny: a\n  - block: b\n", "", ""},
		{"context on a notification", "name: x\non: {hooks: {types: [notification]}}\nsteps:\n  - context: a\n", "4:5 no-effect?", "model turn"},
		{"uses by name", head + "steps:\n  - uses: check\n", "4:11 uses", "neither a path"},
		{"uses without a commit", head + "steps:\n  - uses: a/b@v1\n", "4:11 uses", "not pinned"},
		{"uses with a commit", head + "steps:\n  - uses: a/b/c@0123456789abcdef0123456789abcdef01234567\n", "", ""},
		{"uses outside", head + "steps:\n  - uses: ./a/../../x\n", "4:11 uses", "leaves the repository"},
		{"an expression in a text", head + "steps:\n  - deny: 'no ${{ evnt.x }}'\n", "4:19 expression", ""},
		{"an expression in a block", head + "steps:\n  - run: |\n      echo a\n      echo ${{ event.x }} ${{ b }}\n", "6:31 expression", ""},
		{"an expression where it cannot be quoted", head + "steps:\n  - run: |\n      cat <<'E'\n      ${{ event.name }}\n      E\n", "6:7 script", "here-document"},
		{"an expression for cmd", head + "steps:\n  - run: echo ${{ event.name }}\n    shell: cmd\n", "4:15 script", "cmd"},
		{"too deep", head + "steps:\n  - modify: {a: " + strings.Repeat("[", 250) + strings.Repeat("]", 250) + "}\n", "4:213 yaml", "more than 200 levels"},
		{"far too deep", "a: " + strings.Repeat("[", 60000), "1:1 yaml", "more than 200 levels"},
		{"an alias of itself", head + "steps:\n  - modify:\n      a: &a [*a]\n", "5:10 yaml", "contains itself"},
		{"all at once", "name: 1\nblocking: x\non: [a]\nsteps:\n  - run: a\n    timeout: x\n", "1:7 wrong-type, 2:11 wrong-type, 3:6 bad-value, 6:14 wrong-type", ""},
	}
}

func workflowTexts() []string {
	var out []string
	for _, tt := range workflowCases() {
		out = append(out, tt.text)
	}
	return out
}

func TestWorkflowFindings(t *testing.T) {
	for _, tt := range workflowCases() {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t, map[string]string{flow: tt.text})
			got := Load(r.l).Check()
			want := []string{}
			if tt.want != "" {
				want = strings.Split(tt.want, ", ")
			}
			if diff := cmp.Diff(want, places(got)); diff != "" {
				t.Errorf("(-want +got):\n%s%v", diff, got)
			}
			if len(got) > 0 && !strings.Contains(got[0].Message, tt.message) {
				t.Errorf("message %q lacks %q", got[0].Message, tt.message)
			}
			for _, f := range got {
				if f.File != flow {
					t.Errorf("file %q", f.File)
				}
			}
		})
	}
}

func TestAliasBomb(t *testing.T) {
	got := Load(newRepo(t, map[string]string{flow: slowTexts()["bomb"]}).l).Check()
	if len(got) != 1 || !strings.Contains(got[0].Message, "nodes") {
		t.Errorf("%v", got)
	}
}

var ruleTexts = []struct{ name, text, want string }{
	{"fine", "\xef\xbb\xbf\n\n---\nname: r\nevent: bash\npattern: rm\n---\nNo.\n", ""},
	{"Windows lines", "---\r\nname: r\r\nevent: bash\r\npattern: rm\r\n---\r\nNo.\r\n", ""},
	{"documentation", "---\ntitle: x\n---\n", ""},
	{"no front matter", "# x\n\n---\nevent: bash\n---\n", ""},
	{"documentation that is no YAML", "---\na: b: c\n---\n", ""},
	{"a rule that is no YAML", "---\nname: r\nevent: b: c\n---\n", "3:1 yaml"},
	{"a rule that does not end", "---\nname: r\nevent: bash\n", "2:1 yaml"},
	{"nothing there", "---\nenabled: true\n---\n", "2:1 missing-key, 2:1 missing-key"},
	{"unknown key", "---\nname: r\nevent: bash\npatern: x\n---\n", "4:1 unknown-key"},
	{"unknown event", "\n---\nname: r\nevent: shell\n---\n", "4:8 bad-value"},
	{"unknown action", "---\nname: r\nevent: bash\naction: deny\n---\n", "4:9 bad-value"},
	{"lifecycle", "---\nname: r\nevent: bash\nlifecycle: [pre]\n---\n", "4:12 wrong-type"},
	{"regex", "---\nname: r\nevent: bash\npattern: '('\ntool_matcher: '*'\n---\n", "4:10 regex, 5:15 regex"},
	{"both", "---\nname: r\nevent: bash\npattern: a\nconditions: [{field: command, operator: contains, pattern: b}]\n---\n", "4:10 bad-value"},
	{"conditions", "---\nname: r\nevent: bash\nconditions:\n  - field: cmd\n    operator: like\n    pattern: a\n  - field: command\n  - field: command\n    operator: contains\n    pattern: ''\n---\n",
		"5:12 bad-value, 6:15 bad-value, 8:5 missing-key, 8:5 missing-key, 11:14 bad-value"},
	{"conditions is a map", "---\nname: r\nevent: bash\nconditions: {}\n---\n", "4:13 wrong-type"},
	{"no conditions", "---\nname: r\nevent: bash\nconditions: []\n---\n", "4:13 bad-value"},
	{"if", "---\nname: r\nevent: bash\nif: event.\n---\n", "4:11 expression"},
	{"ask on a stop", "---\nname: r\nevent: stop\naction: ask\n---\nx\n", "2:1 no-effect?"},
	{"context after a call", "---\nname: r\nevent: all\nlifecycle: post\naction: block\n---\nx\n", ""},
}

func TestRuleFindings(t *testing.T) {
	const file = ".github/copilot-mem/policies/r.md"
	for _, tt := range ruleTexts {
		t.Run(tt.name, func(t *testing.T) {
			want := []string{}
			if tt.want != "" {
				want = strings.Split(tt.want, ", ")
			}
			got := Load(newRepo(t, map[string]string{file: tt.text}).l).Check()
			if diff := cmp.Diff(want, places(got)); diff != "" {
				t.Errorf("(-want +got):\n%s%v", diff, got)
			}
		})
	}
}

func TestDuplicateNames(t *testing.T) {
	r := newRepo(t, map[string]string{".github/hookflows/a.yml": "name: x\non: file\n" + deny, ".github/copilot-mem/policies/b.yml": "name: x\non: file\n" + deny})
	got := Load(r.l).Check()
	if len(got) != 1 || got[0].Rule != "duplicate-name" || got[0].Severity != SeverityWarning || got[0].Line != 1 || got[0].Column != 7 || !strings.Contains(got[0].Message, "policies/b.yml") {
		t.Errorf("%v", got)
	}
}

func TestLimits(t *testing.T) {
	files := map[string]string{".github/hookflows/big.yml": "name: big\non: file\n" + deny + strings.Repeat("# x\n", 1<<18)}
	for i := range maxFiles + 5 {
		files[fmt.Sprintf(".github/copilot-mem/policies/%04d.md", i)] = "x\n"
	}
	got := Load(newRepo(t, files).l).Check()
	if len(got) != 2 || !strings.Contains(got[0].Message, "more than 2000") || !strings.Contains(got[0].File, "2000.md") || got[1].Message != "larger than 1 MiB" {
		t.Errorf("%v", got)
	}
}
