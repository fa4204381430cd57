package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestParse(t *testing.T) {
	c, problems := Parse([]byte("\ufeff# mine\r\n---\ncapture:\n"))
	_ = c
	if len(problems) != 1 || problems[0].Line != 2 {
		t.Errorf("a document mark on the second line: %v", problems)
	}
	c, problems = Parse([]byte(`# mine
capture: # what
    tools: no   # not these
    'reasoning': yes
`))
	if len(problems) != 1 || problems[0].Line != 4 || problems[0].Column != 5 || c.Capture.Enabled {
		t.Errorf("a quoted key: %+v, %v", c, problems)
	}
	c, problems = Parse([]byte("capture:\n  tools: 'no'   # not these\n  reasoning: \"yes\"\nretention:\n  maxAge: 26w\n  maxSize: 2GB\n\nforward:   memory-ingest\nsearch:\n limit: 7\n allProjects: on\n"))
	want := Default()
	want.Capture.Tools, want.Capture.Reasoning = false, true
	want.Retention = Retention{26 * 7 * 24 * time.Hour, 2e9}
	want.Forward = ForwardIngest
	want.Search = Search{7, true}
	if diff := cmp.Diff(want, c); diff != "" || len(problems) > 0 {
		t.Errorf("Parse (-want +got):\n%s%v", diff, problems)
	}
	if c, problems = Parse([]byte("capture: off # all of it\n")); c.Capture.Enabled || len(problems) > 0 {
		t.Errorf("capture: off: %+v, %v", c, problems)
	}
	if c, problems = Parse(Template()); len(problems) > 0 || c != Default() {
		t.Errorf("the template: %+v, %v", c, problems)
	}
}

func TestProblemsHavePlaces(t *testing.T) {
	for name, tt := range map[string]struct {
		text     string
		captures bool // where the mistake does not touch what may be captured
		want     []Problem
	}{
		"no such key":      {"captures:\n  x: 1\n", false, []Problem{{2, 3, "captures.x", "there is no such key"}}},
		"wrong value":      {"retention:\n  maxAge: 3 moons\n", true, []Problem{{2, 11, "retention.maxAge", `"3 moons" must be off, or days, weeks or years like 180d, 26w, 2y`}}},
		"wrong switch":     {"capture:\n  enabled: flase\n", false, []Problem{{2, 12, "capture.enabled", `"flase" must be true or false`}}},
		"after umlauts":    {"search:\n  limit: 'ä' x\n", true, []Problem{{2, 10, "search.limit", "text after the quote"}}},
		"tabs":             {"capture:\n\tenabled: false\n", false, []Problem{{2, 1, "", "indent with spaces, not with tabs"}}},
		"twice":            {"forward: none\nforward: none\n", true, []Problem{{2, 1, "forward", "said twice"}}},
		"flow":             {"capture: {enabled: false}\n", false, []Problem{{1, 10, "capture.enabled", `only plain values are read here, not YAML's "{"`}}},
		"list":             {"capture:\n  - enabled\n", false, []Problem{{2, 3, "", "expected a line like `key: value`"}}},
		"no section":       {"  enabled: false\n", false, []Problem{{1, 3, "", "indented, but there is no section above it"}}},
		"uneven":           {"capture:\n  tools: true\n   enabled: false\n", false, []Problem{{3, 4, "", "indented unlike the line above it"}}},
		"no value":         {"search:\n  limit:\n", true, []Problem{{2, 3, "search.limit", "a value is missing"}}},
		"no space":         {"forward:none\n", false, []Problem{{1, 1, "", "expected a line like `key: value`"}}},
		"open quote":       {"forward: 'none\n", true, []Problem{{1, 10, "forward", "the quote has no end"}}},
		"not text":         {"\xff\xfe", false, []Problem{{1, 1, "", "not UTF-8"}}},
		"both, in order":   {"search:\n  limit: 0\nwrong: 1\n", true, []Problem{{2, 10, "search.limit", `"0" must be a number from 1 to 1000`}, {3, 1, "wrong", "there is no such key"}}},
		"capture said two": {"capture: on\ncapture: off\n", false, []Problem{{2, 1, "capture.enabled", "said twice"}}},
	} {
		if name == "no such key" {
			tt.captures = false // "captures" may be a slip of "capture"
		}
		c, got := Parse([]byte(tt.text))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if c.Capture.Enabled != tt.captures {
			t.Errorf("%s: captures: %v", name, c.Capture.Enabled)
		}
	}
	err := &FileError{"/x/config.yaml", []Problem{{2, 10, "search.limit", "wrong"}, {3, 1, "", "bad"}}}
	if got := err.Error(); got != "/x/config.yaml:2:10: search.limit: wrong\n/x/config.yaml:3:1: bad" {
		t.Error(got)
	}
}

func TestKeysAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys {
		if seen[k.Name] || k.Help == "" || k.Takes == "" || k.Check(k.Default) != nil || k.Check("no such value") == nil {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
	}
}

// orNine is a value that every number takes.
func orNine(value string) string {
	if value == "" {
		return "9"
	}
	return value
}

func TestSetKeepsTheRest(t *testing.T) {
	for name, tt := range map[string]struct{ in, key, value, want string }{
		"empty":        {"", "capture.tools", "false", "capture:\n  tools: false\n"},
		"replaced":     {"# a\ncapture:\n    tools:   true # b\n    errors: true\n", "capture.tools", "false", "# a\ncapture:\n    tools:   false # b\n    errors: true\n"},
		"quoted":       {"forward: 'none' # c\n", "forward", "memory-ingest", "forward: memory-ingest # c\n"},
		"into section": {"capture:\n    tools: true\n\n# next\nforward: none\n", "capture.errors", "false", "capture:\n    tools: true\n\n# next\n    errors: false\nforward: none\n"},
		"new section":  {"forward: none\n", "search.limit", "5", "forward: none\nsearch:\n  limit: 5\n"},
		"top":          {"search:\n  limit: 5\n", "forward", "none", "search:\n  limit: 5\nforward: none\n"},
		"windows":      {"search:\r\n  limit: 5\r\n", "search.allProjects", "true", "search:\r\n  limit: 5\r\n  allProjects: true\r\n"},
		"no newline":   {"search:\n  limit: 5", "search.limit", "6", "search:\n  limit: 6\n"},
		"wrong value":  {"search:\n  limit: many # ?\n", "search.limit", "6", "search:\n  limit: 6 # ?\n"},
		"short form":   {"capture: off # all\n", "capture.enabled", "true", "capture: true # all\n"},
	} {
		got, err := Set([]byte(tt.in), tt.key, tt.value)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if _, problems := Parse(got); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
	for _, k := range Keys {
		value := map[bool]string{true: "false", false: "true"}[k.Default == "true"]
		if k.Check(value) != nil {
			value = orNine(map[string]string{"forward": "memory-ingest", "retention.maxAge": "9d", "retention.maxSize": "9MB"}[k.Name])
		}
		out, err := Set(Template(), k.Name, value)
		if err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		d, _ := scan(out)
		if d.values[k.Name].text != value {
			t.Errorf("%s: not found again in\n%s", k.Name, out)
		}
		if want := len(strings.Split(string(Template()), "\n")) + 1; len(strings.Split(string(out), "\n")) != want {
			t.Errorf("%s: more than one line was added", k.Name)
		}
		if back, err := Unset(out, k.Name); err != nil || string(back) != string(Template()) {
			t.Errorf("%s: unset gives\n%s%v", k.Name, back, err)
		}
	}
	for _, tt := range [][3]string{{"", "no.key", "x"}, {"", "search.limit", "many"}, {"\tbroken", "search.limit", "5"}} {
		if out, err := Set([]byte(tt[0]), tt[1], tt[2]); err == nil {
			t.Errorf("Set(%q) = %q", tt, out)
		}
	}
}

func TestTighten(t *testing.T) {
	repo := t.TempDir()
	sub := filepath.Join(repo, "a", "b")
	for _, dir := range []string{sub, filepath.Join(repo, ".git"), filepath.Join(repo, ".github")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(repo, ".github", "copilot-mem.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, path, err := Default().Tighten(sub); path != "" || err != nil {
		t.Errorf("no file: %q, %v", path, err)
	}
	write("capture:\n  tools: false\n  reasoning: true\nforward: none\n")
	user := Default()
	user.Forward = ForwardIngest
	user.Capture.Errors = false
	c, path, err := user.Tighten(sub)
	if err != nil || path != file || c.Capture.Tools || c.Capture.Errors || c.Capture.Reasoning || !c.Capture.Prompts || c.Forward != ForwardNone {
		t.Errorf("Tighten = %+v, %q, %v", c, path, err)
	}
	user.Capture.Reasoning = true
	if c, _, err = user.Tighten(repo); err != nil || !c.Capture.Reasoning {
		t.Errorf("reasoning that both want: %+v, %v", c, err)
	}
	write("capture: off\n")
	if c, _, err = user.Tighten(repo); err != nil || c.Capture.Enabled {
		t.Errorf("opted out: %+v, %v", c, err)
	}
	write("capture:\n\tenabled: true\n")
	if c, _, err = user.Tighten(repo); err == nil || c.Capture.Enabled {
		t.Errorf("a file that is not understood: %+v, %v", c, err)
	}
	write("retention:\n  maxAge: 1d\n")
	c, _, err = user.Tighten(repo)
	if e, ok := errors.AsType[*FileError](err); !ok || e.Problems[0].Line != 2 || c.Retention.MaxAge != 0 || !c.Capture.Enabled {
		t.Errorf("a key that is not a repository's: %+v, %v", c, err)
	}
	write("capture:\n  enabled: true\nforward: memory-ingest\n")
	off := Default()
	off.Capture.Enabled = false
	if c, _, err = off.Tighten(repo); err != nil || c.Capture.Enabled || c.Forward != ForwardNone {
		t.Errorf("a repository loosened the user's choice: %+v, %v", c, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if c, _, err = user.Tighten(repo); err == nil || c.Capture.Enabled {
		t.Errorf("a folder in the file's place: %+v, %v", c, err)
	}
	// A repository inside another is its own.
	inner := filepath.Join(repo, "inner")
	if err := os.MkdirAll(filepath.Join(inner, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, path, err := user.Tighten(inner); path != "" || err != nil {
		t.Errorf("inner repository: %q, %v", path, err)
	}
	for _, folder := range []string{"", "relative", filepath.Join(repo, "gone", "away")} {
		if c, _, _ := user.Tighten(folder); folder != filepath.Join(repo, "gone", "away") && c != user {
			t.Errorf("%q: %+v", folder, c)
		}
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if c, err := Load(path); err != nil || c != Default() {
		t.Errorf("no file: %+v, %v", c, err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("# long\n", maxFile)), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path); !errors.Is(err, errLarge) || c.Capture.Enabled {
		t.Errorf("a file that is too large: %+v, %v", c, err)
	}
}

func TestKeeps(t *testing.T) {
	off := func(change func(*Capture)) Capture {
		c := Default().Capture
		change(&c)
		return c
	}
	for name, tt := range map[string]struct {
		c            Capture
		drops, keeps []string
		kinds, stay  []string
	}{
		"all":     {off(func(c *Capture) { c.Enabled = false }), []string{"sessionStart", "anything"}, nil, []string{"prompt", "note2"}, nil},
		"prompts": {off(func(c *Capture) { c.Prompts = false }), []string{"userPromptSubmitted", "UserPromptSubmit", "SessionStart"}, []string{"sessionEnd", "preToolUse"}, []string{"prompt"}, []string{"response"}},
		"tools":   {off(func(c *Capture) { c.Tools = false }), []string{"preToolUse", "PostToolUse", "permissionRequest"}, []string{"userPromptSubmitted"}, []string{"toolCall", "toolResult"}, []string{"error"}},
		"results": {off(func(c *Capture) { c.ToolResults = false }), []string{"postToolUse", "postToolUseFailure"}, []string{"preToolUse"}, []string{"toolResult"}, []string{"toolCall"}},
		"answers": {off(func(c *Capture) { c.Responses = false }), []string{"transcript.assistant.message", "SubagentStop"}, []string{"subagentStart"}, []string{"response", "compaction"}, []string{"prompt"}},
		"default": {Default().Capture, nil, []string{"unknownEvent", "notification", "errorOccurred"}, []string{"reasoning"}, []string{"note", "prompt"}},
	} {
		for _, e := range tt.drops {
			if tt.c.Keeps(e) {
				t.Errorf("%s: keeps %s", name, e)
			}
		}
		for _, e := range tt.keeps {
			if !tt.c.Keeps(e) {
				t.Errorf("%s: drops %s", name, e)
			}
		}
		for _, k := range tt.kinds {
			if tt.c.KeepsKind(k) {
				t.Errorf("%s: keeps kind %s", name, k)
			}
		}
		for _, k := range tt.stay {
			if !tt.c.KeepsKind(k) {
				t.Errorf("%s: drops kind %s", name, k)
			}
		}
	}
}

// Where this reader finds no mistake, YAML's reads the same.
func FuzzScan(f *testing.F) {
	f.Add("capture:\n  tools: no # x\nforward: 'none'\n")
	f.Add("search:\n limit: 5\n\n# end")
	f.Add("a: b: c")
	f.Add("capture: off\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, problems := scan([]byte(text))
		if len(problems) > 0 {
			return
		}
		var tree map[string]any
		if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
			return // YAML has rules that this reader does not need
		}
		for name, v := range d.values {
			if v.text != strings.TrimSpace(v.text) || strings.ContainsAny(v.text, "\r\n") {
				t.Errorf("%s: %q", name, v.text)
			}
			section, key, nested := strings.Cut(name, ".")
			want := tree[section]
			if nested {
				if m, ok := want.(map[string]any); ok {
					want = m[key]
				} else if name != "capture.enabled" {
					t.Errorf("%s: no section in %v", name, tree)
				}
			}
			if s, ok := want.(string); ok && s != v.text {
				t.Errorf("%s: %q, YAML reads %q", name, v.text, s)
			}
		}
		for _, k := range Keys {
			out, err := Set([]byte(text), k.Name, k.Default)
			if err != nil {
				continue
			}
			if again, problems := scan(out); len(problems) > 0 || again.values[k.Name].text != k.Default {
				t.Errorf("Set %s gives %q: %v", k.Name, out, problems)
			}
		}
	})
}
