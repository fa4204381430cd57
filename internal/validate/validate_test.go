package validate

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const schema = `"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"`

// check lays the files in memory and shows each finding as `file:line:col severity rule`.
func check(t *testing.T, files map[string]string, o Options) []string {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	c := &checker{fsys: fsys, name: "demo", options: o}
	more := c.dir("/demo", o)
	findings, _ := finish(append(more, c))
	checkRules(t, findings)
	got := []string{}
	for _, f := range findings {
		got = append(got, fmt.Sprintf("%s:%d:%d %s %s", strings.ReplaceAll(f.File, `\`, "/"), f.Line, f.Column, f.Severity, f.Rule))
	}
	return got
}

func TestRules(t *testing.T) {
	const skill = ".github/skills/s/SKILL.md"
	const agent = ".github/agents/a.agent.md"
	const hooks = ".github/hooks/h.json"
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"a portable skill has no finding", map[string]string{skill: "---\nname: s\ndescription: \"d # e\"\nlicense: MIT\nmetadata:\n  a: \"1\"\n---\n"}, nil},
		{"silent changes of a skill", map[string]string{skill: "---\nname: My Skill\ndescription: Handles issue #12\nallowed-tools: Bash(git add:*) Read\nallowedTools: [x]\n---\n"},
			[]string{skill + ":2:7 warning skill/name-spaces", skill + ":3:28 warning skill/comment-in-value",
				skill + ":4:16 warning skill/allowed-tools-spaces", skill + ":5:1 warning skill/unknown-field"}},
		{"blanks inside parentheses are one rule", map[string]string{skill: "---\nname: s\ndescription: d\nallowed-tools: \"shell(git add, git commit), write\"\n---\n"}, nil},
		{"what only the spec wants", map[string]string{skill: "\ufeff---\nname: Other\nlicense: 2\ncompatibility: [a]\nmetadata: x\n---\n"},
			[]string{skill + ":1:1 warning skill/bom", skill + ":2:1 warning skill/description-missing", skill + ":2:7 warning skill/name-portable",
				skill + ":3:10 warning skill/license-type", skill + ":4:16 warning skill/compatibility-type", skill + ":5:11 warning skill/metadata-type"}},
		{"skills that are never found", map[string]string{
			skill: "---\nname: s\ndescription: d\n---\n", ".github/skills/s/deep/SKILL.md": "", ".github/skills/.dot/SKILL.md": "", ".github/skills/l/skill.md": ""},
			[]string{".github/skills/.dot/SKILL.md:1:1 warning skill/dot-directory", ".github/skills/l/skill.md:1:1 warning skill/file-name",
				".github/skills/s/deep/SKILL.md:1:1 warning skill/nested"}},
		{"one name twice", map[string]string{skill: "---\nname: s\ndescription: d\n---\n", ".claude/skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\n"},
			[]string{".claude/skills/s/SKILL.md:2:7 warning skill/duplicate-name"}},
		{"merge keys and bad bytes", map[string]string{skill: "---\nname: s\ndescription: d\nmetadata: &m {a: b}\n<<: *m\n---\n\xff"},
			[]string{skill + ":1:1 warning skill/utf8", skill + ":5:1 warning skill/merge-key"}},
		{"lengths in UTF-16", map[string]string{skill: "---\nname: s\ndescription: " + strings.Repeat("🚀", 512) + "\n---\n",
			".github/skills/t/SKILL.md": "---\nname: t\ndescription: " + strings.Repeat("🚀", 513) + "\n---\n"},
			[]string{".github/skills/t/SKILL.md:3:14 error skill/description-length"}},
		{"a file of 1 MiB and one byte", map[string]string{skill: "---\nname: s\ndescription: d\n---\n" + strings.Repeat("x", 1<<20)},
			[]string{skill + ":1:1 error skill/file-size"}},
		{"agent", map[string]string{agent: "---\ndescription: d\nmodelPolicy: x\nmcp-servers:\n  s:\n    command: c\n    args: []\nhooks:\n  stop: []\n---\n",
			".github/agents/bad.md": "---\ndescription: \xff\n---\n", ".github/agents/X.AGENT.MD": ""},
			[]string{".github/agents/X.AGENT.MD:1:1 warning agent/file-name", agent + ":3:1 warning agent/unknown-field", agent + ":6:5 error agent/mcp-server",
				agent + ":9:3 error hooks/unknown-event", ".github/agents/bad.md:1:1 error agent/utf8"}},
		{"hooks that do not do what they say", map[string]string{hooks: "{\"version\": 1, \"hooks\": {\n\"SessionStart\": [{\"matcher\": \"x\", \"bash\": \"a\", \"enabled\": false}],\n" +
			"\"posttooluse\": [],\n\"preToolUse\": [{\"powershell\": \"x\", \"matcher\": \"Bash\"}], \"PreToolUse\": []}}"},
			[]string{hooks + ":2:30 warning hooks/matcher-ignored", hooks + ":2:48 warning hooks/ignored-field", hooks + ":3:1 warning hooks/unknown-event",
				hooks + ":4:16 warning hooks/powershell-only", hooks + ":4:47 warning hooks/matcher-never", hooks + ":4:57 warning hooks/both-spellings",
				hooks + ":4:71 warning hooks/empty"}},
		{"matchers", map[string]string{hooks: "{\"hooks\": {\"preToolUse\": [\n{\"bash\":\"a\",\"matcher\":\"*\"},\n{\"bash\":\"a\",\"matcher\":\"(?=x)\"}],\n\"PreToolUse\": [{\"bash\":\"a\",\"matcher\":\"*\"}]}}"},
			[]string{hooks + ":2:23 error hooks/matcher", hooks + ":4:1 warning hooks/both-spellings"}},
		{"events outside hooks, a key twice", map[string]string{hooks: `{"preToolUse":[{"bash":"a"}]}`, ".github/hooks/i.json": `{"hooks":{},"hooks":{}}`},
			[]string{hooks + ":1:1 error hooks/hooks-type", ".github/hooks/i.json:1:13 warning json/repeated-key"}},
		{"a plugin of the older rules", map[string]string{"plugin.json": "{\"name\": \"My.Demo\", \"version\": \"1\",\n\"$schema\": \"http://agent-plugins.org/schemas/1.0.0/plugin.schema.json\",\n" +
			"\"hooks\": {\"version\": 1, \"hooks\": {}},\n\"mcpServers\": {}, \"agents\": 3, \"commands\": [\"./none\"], \"nope\": 1}", ".mcp.json": "{\"a\": {}}"},
			[]string{".mcp.json:1:2 warning mcp/server", "plugin.json:1:10 warning plugin/name-rewritten", "plugin.json:1:32 warning plugin/version",
				"plugin.json:2:12 warning plugin/schema-near-miss", "plugin.json:3:10 warning plugin/hooks-wrapped", "plugin.json:4:15 warning plugin/servers-shadowed",
				"plugin.json:4:29 warning plugin/agents-type", "plugin.json:4:45 warning plugin/missing-path", "plugin.json:4:56 warning plugin/unknown-field"}},
		{"hooks of a plugin", map[string]string{"plugin.json": `{"name": "demo"}`, "hooks.json": "{\"hooks\": {\"postToolUse\": [\n{\"exec\": \"${PLUGIN_DATA}/x\"},\n{\"bash\": \"{{project_dir}}\", \"cwd\": \"sub\"},\n{\"type\": \"x\"}]}}",
			"hooks/hooks.json": "{}"},
			[]string{"hooks.json:2:10 warning hooks/placeholder", "hooks.json:3:10 warning hooks/placeholder", "hooks.json:3:36 warning hooks/relative-cwd",
				"hooks.json:4:10 error hooks/type", "hooks/hooks.json:1:1 error hooks/hooks-type"}},
		{"the second hook file of a plugin", map[string]string{"plugin.json": `{"name": "demo"}`, "hooks.json": `{"hooks": {"stop": []}}`, "hooks/hooks.json": "{}"},
			[]string{"hooks.json:1:12 warning hooks/unknown-event", "hooks/hooks.json:1:1 warning plugin/hooks-shadowed"}},
		{"servers named where they are anyway", map[string]string{"plugin.json": `{"name": "demo", "mcpServers": "./.mcp.json"}`, ".mcp.json": `{"mcpServers": {"s": {"command": "x"}}}`}, nil},
		{"a plugin of Agent Plugins rules", map[string]string{"plugin.json": "{" + schema + ",\n\"name\": \"a--b\", \"skills\": \"x\", \"author\": {\"github\": \"x\"}}",
			"hooks/hooks.json": "{}", "mcp.json": `{"mcpServers": {"s": {"command": "x"}}}`, ".claude-plugin/plugin.json": `{"name": "c"}`},
			[]string{".claude-plugin/plugin.json:1:10 warning plugin/manifests-differ", "hooks/hooks.json:1:1 warning plugin/not-read",
				"mcp.json:1:1 warning mcp/schema", "mcp.json:1:17 warning mcp/server",
				"plugin.json:2:9 error plugin/name-charset", "plugin.json:2:17 warning plugin/unknown-field", "plugin.json:2:43 error plugin/author"}},
		{"a dual bundle has no finding", map[string]string{"plugin.json": "{" + schema + `, "name": "demo", "version": "1.0.0"}`,
			"mcp.json":         `{"$schema": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json", "mcpServers": {"s": {"type": "stdio", "command": "./bin/x"}}}`,
			"hooks/hooks.json": "{}", "bin/x": "", "com.github.copilot/hooks/hooks.json": `{"version": 1, "hooks": {"postToolUse": [{"exec": "${PLUGIN_ROOT}/bin/x"}]}}`,
			".claude-plugin/plugin.json": `{"name": "demo", "version": "1.0.0"}`}, nil},
		{"an unread agent of a plugin is a warning", map[string]string{"plugin.json": `{"name": "demo"}`, "agents/a.md": "---\nname: x\n---\n", "agents/d/b.agent.md": ""},
			[]string{"agents/a.md:2:1 warning agent/description-missing", "agents/d/b.agent.md:1:1 warning agent/nested"}},
		{"marketplace", map[string]string{".github/plugin/marketplace.json": "{\"name\": \"m k\", \"owner\": {\"name\": \"n\", \"email\": \"x\"}, \"plugins\": [\n" +
			"{\"name\": \"a\", \"source\": \"./p\"},\n{\"name\": \"a\", \"source\": {\"source\": \"npm\"}},\n{\"name\": \"b\", \"source\": \"../up\"}]}",
			"p/plugin.json": "{bad"},
			[]string{".github/plugin/marketplace.json:1:10 error marketplace/name", ".github/plugin/marketplace.json:1:49 error marketplace/person",
				".github/plugin/marketplace.json:3:10 error marketplace/duplicate", ".github/plugin/marketplace.json:3:25 error marketplace/source",
				".github/plugin/marketplace.json:4:25 warning marketplace/source", "p/plugin.json:1:2 error plugin/json"}},
		{"what a skill names and is not there", map[string]string{skill: "---\nname: s\ndescription: d\n---\nRun `scripts/a.py`, then see [the\nguide](references/g.md#x) and [b](./b.md \"t\").\n```\n[no](c.md) python scripts/z.sh\n```\n" +
			"[web](https://x.y/z.md) [here](#a) `[code](d.md)` ${ROOT}/scripts/q.py [y](there.md)\n", ".github/skills/s/there.md": ""},
			[]string{skill + ":5:6 warning skill/missing-reference", skill + ":6:8 warning skill/missing-reference", skill + ":6:35 warning skill/missing-reference",
				skill + ":8:19 warning skill/missing-reference"}},
		{"agents that hide each other", map[string]string{agent: "---\nname: N\ndescription: d\n---\n", ".github/agents/a.md": "---\ndescription: d\n---\n", ".claude/agents/b.md": "---\nname: N\ndescription: d\n---\n"},
			[]string{".claude/agents/b.md:2:7 warning agent/duplicate-name", ".github/agents/a.md:1:1 warning agent/duplicate-id"}},
		{"a command that a skill hides, one with a bad name, and bad fields", map[string]string{skill: "---\nname: s\ndescription: d\n---\n", ".claude/commands/s.md": "text", ".claude/commands/a!.md": "",
			".claude/commands/c.md": "---\nname: 3\ndescription: []\nargument-hint: [x]\n---\n"},
			[]string{".claude/commands/a!.md:1:1 warning command/file-name", ".claude/commands/c.md:2:7 error command/name-type", ".claude/commands/c.md:3:14 error command/description-type",
				".claude/commands/c.md:4:16 error command/argument-hint-type", ".claude/commands/s.md:1:1 warning command/hidden"}},
		{"programs and folders that are not there", map[string]string{hooks: "{\"hooks\": {\"preToolUse\": [\n{\"bash\": \"./scripts/no.sh x\"},\n{\"bash\": \"./scripts/yes.sh\", \"cwd\": \".\"},\n{\"bash\": \"x\", \"cwd\": \"gone\"},\n{\"bash\": \"ls\"}]}}", "scripts/yes.sh": ""},
			[]string{hooks + ":2:10 warning hooks/command-missing", hooks + ":4:22 warning hooks/cwd-missing"}},
		{"folders of other programs", map[string]string{".cursor/skills/x/SKILL.md": "", ".agents/agents/y.agent.md": ""},
			[]string{".agents/agents/y.agent.md:1:1 warning agent/location", ".cursor/skills/x/SKILL.md:1:1 warning skill/location"}},
		{"the client's own folder", map[string]string{"config.json": "{}", "settings.json": `{"hooks": []}`, "skills/a/SKILL.md": "---\nname: 1\n---\n", "agents/a.md": "---\n---\n", "hooks/h.json": "[]", "hooks.json": "{}",
			"installed-plugins/_direct/p/plugin.json": "null"},
			[]string{"agents/a.md:2:1 error agent/description-missing", "hooks.json:1:1 warning hooks/location", "hooks/h.json:1:1 error hooks/not-an-object", "installed-plugins/_direct/p/plugin.json:1:1 error plugin/not-an-object",
				"settings.json:1:11 error hooks/hooks-type", "skills/a/SKILL.md:2:1 warning skill/description-missing", "skills/a/SKILL.md:2:7 error skill/name-type"}},
		{"settings of a repository", map[string]string{".github/copilot/settings.json": `{"model": 1, "mergeStrategy": "x", "enabledPlugins": {"a": 1}, "beep": 3}`, ".claude/settings.json": `{"model": 1, "disableAllHooks": "x"}`,
			".claude/settings.local.json": "[]"},
			[]string{".claude/settings.json:1:33 error settings/field-type", ".claude/settings.local.json:1:1 error settings/not-an-object", ".github/copilot/settings.json:1:11 error settings/field-type",
				".github/copilot/settings.json:1:31 error settings/field-type", ".github/copilot/settings.json:1:60 error settings/field-type"}},
		{"equal names in JSON: the last counts", map[string]string{hooks: `{"hooks": 1, "hooks": {"preToolUse": 1, "preToolUse": []}}`},
			[]string{hooks + ":1:14 warning json/repeated-key", hooks + ":1:41 warning json/repeated-key", hooks + ":1:55 warning hooks/empty"}},
		{"plugins beside each other", map[string]string{"a/plugin.json": `{"name": "a"}`, "b/plugin.json": "[", "c/readme.md": ""},
			[]string{"b/plugin.json:1:2 error plugin/json"}},
		{"other JSON in a folder called hooks", map[string]string{"hooks/data.json": `{"preToolUse": {"timeoutSec": 5}}`, "hooks/h.json": `{"preToolUse": []}`},
			[]string{"hooks/h.json:1:1 error hooks/hooks-type"}},
		{"nothing", map[string]string{"README.md": "# x"}, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(append([]string{}, tt.want...), check(t, tt.files, Options{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Strict turns the spec's voice into errors, and nothing else.
func TestStrict(t *testing.T) {
	files := map[string]string{".github/skills/s/SKILL.md": "---\nname: Other\ndescription: d\nfoo: 1\n---\n"}
	want := []string{".github/skills/s/SKILL.md:2:7 error skill/name-portable", ".github/skills/s/SKILL.md:4:1 warning skill/unknown-field"}
	if diff := cmp.Diff(want, check(t, files, Options{Strict: true})); diff != "" {
		t.Errorf("strict (-want +got):\n%s", diff)
	}
}

func TestUnknownEventHints(t *testing.T) {
	for wrong, want := range map[string]string{
		"PostToolUsed": "PostToolUse", "pretooluse": "preToolUse", "AgentStop": "agentStop", "UserPromptSubmitted": "UserPromptSubmit", "Setup": "", "": "",
	} {
		if got := nearestEvent(wrong); got != want && !strings.EqualFold(got, want) {
			t.Errorf("nearestEvent(%q) = %q, want %q", wrong, got, want)
		}
	}
}

// Every finding of the recorded cases says what to do, and the rule ids keep one form.
func TestFindingsAreComplete(t *testing.T) {
	rules := map[string]bool{}
	without := map[string]bool{}
	for _, c := range loaderCases(t) {
		findings := c.inMemory(t)
		checkRules(t, findings)
		for _, f := range findings {
			rules[f.Rule] = true
			if f.Message == "" || strings.Count(f.Rule, "/") != 1 || strings.ToLower(f.Rule) != f.Rule {
				t.Errorf("%s/%s: %+v", c.Kind, c.ID, f)
			}
			if f.Hint == "" {
				without[f.Rule] = true
			}
		}
	}
	if len(rules) < 40 {
		t.Errorf("only %d rules were met: %v", len(rules), slices.Sorted(maps.Keys(rules)))
	}
	for _, allowed := range []string{"hooks/json", "plugin/json", "marketplace/json", "mcp/json", "skill/yaml", "agent/yaml", "plugin/field-type"} {
		delete(without, allowed)
	}
	if len(without) > 0 {
		t.Errorf("no hint: %v", slices.Sorted(maps.Keys(without)))
	}
}

// The first skills take the room for descriptions; what the model is not shown at all takes none.
func TestListingBudget(t *testing.T) {
	files := map[string]string{}
	for i := range 16 {
		files[fmt.Sprintf(".github/skills/s%02d/SKILL.md", i)] = fmt.Sprintf("---\nname: s%02d\ndescription: %s\n---\n", i, strings.Repeat("<", 225))
	}
	// 94 characters around each entry, 3 of the name, and `&lt;` for each `<`: the 16th goes over 15,000.
	if diff := cmp.Diff([]string{".github/skills/s15/SKILL.md:1:1 warning skill/listing-budget"}, check(t, files, Options{})); diff != "" {
		t.Errorf("16 skills (-want +got):\n%s", diff)
	}
	files[".github/skills/s00/SKILL.md"] = "---\nname: s00\ndescription: d\ndisable-model-invocation: true\n---\n"
	if diff := cmp.Diff([]string{}, check(t, files, Options{})); diff != "" {
		t.Errorf("15 skills for the model (-want +got):\n%s", diff)
	}
}

// Links and modes need a real folder.
func TestFilesOfAPlugin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes, and links need a privilege")
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"bin/run": 0o644, "bin/ok": 0o755, "bin/data": 0o644, "skills/s/scripts/a.py": 0o644} {
		text := "#!/bin/sh\n"
		if name == "bin/data" {
			text = "data"
		}
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"plugin.json": `{"name": "p", "mcpServers": {"s": {"command": "./bin/run"}}}`, "skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\n",
		"hooks.json": `{"hooks": {"preToolUse": [{"exec": "${PLUGIN_ROOT}/bin/run"}, {"exec": "./bin/ok"}]}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"out": "/etc/hostname", "up": "../x", "gone": "nothing", "in": "plugin.json"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	findings, _, err := Paths([]string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, f := range findings {
		rel, err := filepath.Rel(dir, f.File)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", rel, f.Severity, f.Voice, f.Rule))
	}
	want := []string{"bin/run warning copilot file/not-executable", "gone warning copilot plugin/link-broken", "hooks.json warning copilot hooks/command-not-executable",
		"out warning spec plugin/link-outside", "plugin.json warning copilot mcp/command-not-executable", "skills/s/scripts/a.py info copilot file/not-executable",
		"up warning spec plugin/link-outside"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// --kind wins over name and place.
func TestKind(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	skill, object := write("SKILL.md", "---\nname: a/b\n---\n"), write("x.txt", "{}")
	for _, tt := range []struct{ path, kind, want string }{
		{skill, "", "skill/name-charset"}, {skill, "agent", "agent/description-missing"}, {skill, "command", "command/name-charset"},
		{object, "", "file/unknown"}, {object, "hooks", "hooks/hooks-type"}, {object, "marketplace", "marketplace/field-type"}, {object, "settings", ""}, {object, "plugin", ""}, {object, "mcp", ""},
		{dir, "", "skill/name-charset"}, {dir, "plugin", "plugin/manifest-missing"}, {dir, "marketplace", "marketplace/missing"}, {dir, "skill", "skill/name-charset"},
		{dir, "agent", "agent/description-missing"}, {dir, "repository", ""}, {dir, "home", ""}, {dir, "hooks", ""}, {dir, "command", "command/name-charset"},
	} {
		findings, _, err := Paths([]string{tt.path}, Options{Kind: tt.kind})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range findings {
			if f.Severity == Error {
				got = f.Rule
				break
			}
		}
		if got != tt.want {
			t.Errorf("%s as %q: %q, want %q", filepath.Base(tt.path), tt.kind, got, tt.want)
		}
	}
	for _, tt := range []struct{ path, kind string }{{dir, "nope"}, {skill, "repository"}, {skill, "home"}} {
		var kind *KindError
		if _, _, err := Paths([]string{tt.path}, Options{Kind: tt.kind}); !errors.As(err, &kind) || kind.ExitCode() != 2 || kind.Hint() == "" {
			t.Errorf("%s: %v, want a KindError", tt.kind, err)
		}
	}
}
