//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// mutant is a folder of files with one of them changed.
type mutant struct {
	dir   string
	files map[string]string
	file  string // the one that was changed
	how   string
}

const (
	skillFile   = ".github/skills/s1/SKILL.md"
	agentFile   = ".github/agents/a1.agent.md"
	hookFile    = ".github/hooks/h.json"
	settingFile = ".github/copilot/settings.json"
	marketFile  = ".github/plugin/marketplace.json"
	commandFile = ".claude/commands/c1.md"
)

// validFiles are folders that the client takes without a word, by kind; the mutated file stands first.
var validFiles = map[string][][2]string{
	"skill": {
		{skillFile, "---\nname: s1\ndescription: \"Does it, when asked: twice\"\nallowed-tools: Bash(git:*), view\nargument-hint: \"[target]\"\n" +
			"user-invocable: true\ndisable-model-invocation: false\nlicense: MIT\nmetadata:\n  author: ann\n  tags: [a, 'b', \"c\"]\n---\n# Body\n\ntext\n"},
		{skillFile, "---\nname: my-skill.v2\ndescription: >-\n  Folded text\n  over lines\nallowed-tools:\n  - view\n  - shell(git status)\nmetadata: {a: 1, b: {c: [1, 2.5, ~]}}\n---\nBody\n"},
		{skillFile, "---\n# comment\n\"name\": 's1'\ndescription: |\n  Literal\n    indented\n\nx: &a [1, 2]\ny: *a\nz: !!str 12\n---\n"},
		{skillFile, "--- \r\nname: s1\r\ndescription: plain text - with dash, comma\r\n---\r\nBody\r\n"},
	},
	"agent": {
		{agentFile, "---\nname: A one\ndescription: helps\ntools: [view, \"bash\"]\nmodel: gpt-5\nmodel-policy: preferred\nreasoning-effort: high\ninfer: true\n" +
			"disable-model-invocation: false\nuser-invocable: true\nskills:\n  - s1\n---\nYou are an agent.\n"},
		{agentFile, "---\ndescription: d\ntools: view, bash\nmodel:\n  - gpt-5\n  - gpt-4.1\nmcp-servers:\n  local:\n    type: local\n    command: node\n    args: [\"x.js\", '-y']\n" +
			"    tools: [\"*\"]\n    env:\n      KEY: value\n  web:\n    type: http\n    url: https://example.com/mcp\n    tools: [\"a\"]\n    headers:\n      X: y\n---\nP\n"},
		{agentFile, "---\ndescription: d\nhooks:\n  preToolUse:\n    - type: command\n      bash: \"true\"\n      timeoutSec: 5\n      matcher: bash|edit\n  PostToolUse:\n    - matcher: Bash\n      hooks:\n" +
			"        - type: command\n          command: \"true\"\n  sessionStart:\n    - type: prompt\n      prompt: hello\n---\nP\n"},
		{agentFile, "---\ndescription: d\ninclude-custom-instructions: true\ndeferred-tool-loading: true\ngithub:\n  toolsets: [all]\nmcp-servers:\n---\nP\n"},
	},
	"command": {
		{commandFile, "---\nname: c1\ndescription: \"Does it\"\nargument-hint: \"[x]\"\nallowed-tools: view, bash\ndisable-model-invocation: false\nmodel: x\n---\nDo $ARGUMENTS\n"},
		{commandFile, "Do it.\n\n---\n\nThen stop.\n"},
	},
	"hooks": {
		{hookFile, `{"version": 1, "disableAllHooks": false, "hooks": {"preToolUse": [{"type": "command", "bash": "true", "powershell": "exit 0", "timeoutSec": 10, "cwd": ".", "env": {"A": "b"}, "matcher": "bash|edit"}],` +
			` "sessionStart": [{"type": "prompt", "prompt": "hi"}, {"command": "true"}]}}`},
		{hookFile, "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"true\", \"timeout\": 5}]},\n      {\"matcher\": \"*\", \"hooks\": []}\n    ],\n" +
			"    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]\n  }\n}\n"},
		{hookFile, `{"version":1,"hooks":{"postToolUse":[{"exec":"/bin/true","args":["-x","y"],"cwd":"sub"},{"type":"http","url":"http://127.0.0.1:9/x","headers":{"A":"b"}}],` +
			`"permissionRequest":[{"type":"http","url":"https://example.com/x","allowedEnvVars":["A"],"timeoutSec":0.5}],"notification":[{"bash":"true","matcher":"x.*"}],"agentStop":[{"bash":""}]}}`},
	},
	"settings": {
		{settingFile, `{"hooks": {"preToolUse": [{"type": "command", "bash": "true", "timeoutSec": 10, "matcher": "bash"}], "Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}, "disableAllHooks": false}`},
	},
	"plugin": {
		{"plugin.json", `{"name": "demo", "version": "1.0.0", "description": "d", "author": {"name": "Ann", "email": "a@example.com"}, "keywords": ["a"], "skills": ["./skills/"], "agents": "./agents", "commands": {"paths": ["./commands"], "exclusive": true}, "hooks": "./hooks.json", "mcpServers": "./.mcp.json"}`},
		{"plugin.json", `{"name": "demo", "hooks": {"preToolUse": [{"type": "command", "bash": "true"}]}, "mcpServers": {"s": {"command": "x"}}}`},
		{"plugin.json", `{"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "demo", "version": "1.0.0", "description": "d", "author": {"name": "Ann", "email": "a@example.com", "url": "https://example.com"},` +
			` "license": "MIT", "keywords": ["a", "b"], "homepage": "https://example.com", "repository": "https://example.com/r", "extensions": {"com.github.copilot": {}}}`},
		{"hooks.json", `{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "true"}, {"exec": "${PLUGIN_ROOT}/x", "args": []}]}}`},
	},
	"marketplace": {
		{marketFile, `{"name": "market-1", "owner": {"name": "Ann", "email": "ann@example.com", "url": "https://example.com"}, "metadata": {"description": "d", "version": "1.0.0", "pluginRoot": "."}, "plugins": [` +
			`{"name": "demo", "source": "./p/demo", "description": "d", "version": "1.0.0", "author": {"name": "Ann", "email": "a@example.com"}, "keywords": ["a"], "category": "x", "tags": ["t"], "strict": true,` +
			` "homepage": "https://example.com", "repository": "https://example.com/r", "license": "MIT"},` +
			`{"name": "far", "source": {"source": "github", "repo": "a/b", "ref": "main"}}, {"name": "url", "source": {"source": "url", "url": "https://example.com/r.git"}}]}`},
	},
}

// beside lie next to the mutated file of a plugin or a marketplace.
var beside = map[string]map[string]string{
	"plugin.json": {"skills/s1/SKILL.md": "---\nname: s1\ndescription: d\n---\nB\n", "agents/a.agent.md": "---\ndescription: d\n---\nP\n",
		"hooks.json": `{"hooks": {"preToolUse": [{"bash": "true"}]}}`, ".mcp.json": `{"mcpServers": {}}`, "commands/c.md": "C\n"},
	"hooks.json": {"plugin.json": `{"name": "demo"}`},
	".mcp.json":  {"plugin.json": `{"name": "demo"}`},
	marketFile:   {"p/demo/plugin.json": `{"name": "demo"}`},
}

func mutate(rnd *rand.Rand, valid [2]string) mutant {
	m := mutant{files: map[string]string{}, file: valid[0]}
	maps.Copy(m.files, beside[m.file])
	text := valid[1]
	var hows []string
	for range 1 + rnd.IntN(2) {
		var how string
		if json.Valid([]byte(text)) && rnd.IntN(5) > 0 {
			text, how = mutateJSON(rnd, text)
		} else if strings.HasPrefix(text, "---") && rnd.IntN(5) > 1 {
			text, how = mutateField(rnd, text)
		} else {
			text, how = mutateText(rnd, text)
		}
		hows = append(hows, how)
	}
	m.how = strings.Join(hows, ", then ")
	m.files[m.file] = text
	return m
}

func pick[T any](rnd *rand.Rand, from []T) T { return from[rnd.IntN(len(from))] }

// fragments are what trips readers of YAML, JSON and markdown.
var fragments = []string{": ", ":", " #", "#", "\t", "\"", "'", "[", "]", "{", "}", "- ", "&a ", "*a", "!x ", "!!int ", "| ", ">", "%", "@", "`", "---", "...", "\n", "\r", "\r\n", "\n\n", "  ", ",",
	"\\", "\\u00e9", "\\ud800", "\x00", "\x1b", "\ufeff", "\u00a0", "\u2028", "\u0085", "é", "🚀", "\xff", "? ", "<<: ", "0x1F", "1e400", "007", "~", "null", "true", "0", "-", "=", "//x\n", "/*x*/", "\v", "\f", "\u007f"}

func mutateText(rnd *rand.Rand, text string) (out, how string) {
	if text == "" {
		return "x", "a letter in an empty file"
	}
	at := rnd.IntN(len(text))
	lines := strings.SplitAfter(text, "\n")
	i := rnd.IntN(len(lines))
	switch rnd.IntN(7) {
	case 0:
		return text[:at] + text[at+1:], fmt.Sprintf("byte %d dropped", at)
	case 1:
		return strings.Join(slices.Delete(lines, i, i+1), ""), fmt.Sprintf("line %d dropped", i)
	case 2:
		return strings.Join(slices.Insert(lines, i, lines[i]), ""), fmt.Sprintf("line %d twice", i)
	case 3:
		return text[:at], fmt.Sprintf("cut at byte %d", at)
	case 4:
		lines[i] = pick(rnd, []string{" ", "  ", "\t", "    "}) + lines[i]
		return strings.Join(lines, ""), fmt.Sprintf("line %d indented", i)
	}
	f := pick(rnd, fragments)
	return text[:at] + f + text[at:], fmt.Sprintf("%q at byte %d", f, at)
}

var yamlValues = []string{"", "~", "null", "true", "True", "yes", "no", "off", "y", "false", "12", "-1", "1.5", ".inf", "1e3", "007", "0o10", "0x1F", "1_000", "1:30", "2026-01-01", "99999999999999999999", "text", "two words",
	"a: b", "a:", "a #b", "\"quoted\"", "'single'", "\"open", "'it''s'", "\"x\" y", "[a, b]", "[]", "[a", "[a] b", "{}", "{a: b}", "{a}", "{{x}}", "!x y", "!!str 1", "!!int x", "!!bool true", "&z v", "*z", "@x", "`x`", "%x", "|", ">", "|\n  block", ">\n  folded\n  text",
	"| x", "\n  - a\n  - b", "\n- a", "\n  - 1", "\n  a: b", "\n  a: b\n  a: c", "\n    deep:\n      er: 1", "-", "- a", "? x", ",", "a, b", "Bash(git:*) Read", "é", "🚀🚀", "naïve name", "UPPER_case.1", "-lead", "trail-", "a--b", "a/b", "a\\b", "   spaced   ", "\"\"", "''", "\"  \"",
	"\"\\x41\"", "\"\\q\"", "\"a\\\n  b\"", "plain\n  continued", "plain\ncontinued", "preferred", "required", "local", "http", "sse", "stdio", "streamable-http", "*", "\"*\"", "<a>", "a\tb", "\ta", "x\u0007", "x\u00a0y", "1.", "+1", "+.5", "0b101", "0O7", ".5", "-.inf", ".nan", "1e400", "-0", "0.0", "=", "<<",
	strings.Repeat("n", 64), strings.Repeat("n", 65), strings.Repeat("d", 1024), strings.Repeat("d", 1025), strings.Repeat("🚀", 513)}

var yamlKeys = []string{"name", "description", "allowed-tools", "argument-hint", "user-invocable", "disable-model-invocation", "license", "metadata", "compatibility", "tools", "model", "model-policy", "reasoning-effort", "infer",
	"include-custom-instructions", "deferred-tool-loading", "skills", "mcp-servers", "hooks", "github", "target", "Name", "foo", "12", "true", "<<", "\"name\"", "a b", "[x]", "? x\n", "x.y", "context", "version", "type", "command", "args", "url", "env", "headers", "cwd", "timeout"}

// mutateField changes one `key: value` line between the `---` lines.
func mutateField(rnd *rand.Rand, text string) (out, how string) {
	lines := strings.SplitAfter(text, "\n")
	var at []int
	for i, l := range lines[1:] {
		if strings.TrimRight(l, " \r\n") == "---" {
			break
		}
		if strings.Contains(l, ":") {
			at = append(at, i+1)
		}
	}
	if len(at) == 0 || rnd.IntN(4) == 0 {
		key, value := pick(rnd, yamlKeys), pick(rnd, yamlValues)
		return strings.Join(slices.Insert(lines, 1, key+": "+value+"\n"), ""), fmt.Sprintf("field %s: %q", key, value)
	}
	i := pick(rnd, at)
	key, _, _ := strings.Cut(lines[i], ":")
	switch rnd.IntN(6) {
	case 0:
		name := pick(rnd, yamlKeys)
		blanks := key[:len(key)-len(strings.TrimLeft(key, " -"))]
		lines[i] = blanks + name + strings.TrimPrefix(lines[i], key)
		return strings.Join(lines, ""), fmt.Sprintf("%q renamed to %s", key, name)
	case 1:
		return strings.Join(slices.Delete(lines, i, i+1), ""), fmt.Sprintf("%q dropped", key)
	}
	value := pick(rnd, yamlValues)
	lines[i] = key + ": " + value + "\n"
	return strings.Join(lines, ""), fmt.Sprintf("%q is now %q", key, value)
}

var jsonValues = []string{`null`, `true`, `false`, `0`, `1`, `-1`, `1.0`, `0.5`, `2`, `1e9`, `1e400`, `9007199254740993`, `99999999999999999999`, `""`, `" "`, `"x"`, `"*"`, `"**"`, `"("`, `"a|b"`, `"(?=x)"`, `"(?i)x"`, `"\\1"`, `"[[:alpha:]]"`, `"a{2,1}"`, `"\\p{L}"`, `"\\d+"`, `"(?<n>x)"`, `"^x$"`,
	`[]`, `[1]`, `["a"]`, `[[]]`, `[null]`, `{}`, `{"a": 1}`, `{"name": "x"}`, `{"paths": ["./skills"]}`, `{"paths": []}`, `{"source": "npm"}`, `{"source": "github", "repo": "a/b"}`, `{"source": "github"}`, `{"source": "url", "url": "x"}`, `{"source": "git-subdir", "url": "https://e.com/x", "path": "p"}`,
	`"command"`, `"http"`, `"prompt"`, `"agent"`, `"Command"`, `"http://example.com"`, `"https://example.com"`, `"ftp://x"`, `"https://"`, `"https://exa mple"`, `"https://[::1"`, `"HTTPS://X"`, `"http:x"`, `"./x"`, `"../x"`, `"/abs"`, `"./skills"`, `"a b"`, `"A_b"`, `"a--b"`, `"a..b"`, `"-a"`, `"a-"`, `"é"`, `"a@b.c"`, `"a@b"`, `"Ann <a@b.c>"`, `"1"`, `"1.0.0"`,
	`"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"`, `"https://agent-plugins.org/schemas/1.1.0/plugin.schema.json"`, `"https://agent-plugins.org/schemas/2.0.0/plugin.schema.json"`,
	`"` + strings.Repeat("n", 64) + `"`, `"` + strings.Repeat("n", 65) + `"`, `{"preToolUse": [{"bash": "x"}]}`, `{"hooks": [{"bash": "x"}]}`, `[{"bash": "x"}]`, `{"hooks": {}}`, `{"type": "http"}`, `{"bash": "x", "exec": "y"}`}

var jsonKeys = []string{"name", "version", "hooks", "preToolUse", "PreToolUse", "pretooluse", "sessionStart", "Stop", "stop", "nope", "type", "bash", "powershell", "command", "exec", "args", "cwd", "env", "matcher", "timeout", "timeoutSec", "url", "headers", "allowedEnvVars", "prompt", "linux", "osx", "windows",
	"enabled", "disableAllHooks", "source", "owner", "plugins", "description", "author", "keywords", "email", "metadata", "pluginRoot", "skills", "agents", "commands", "mcpServers", "lspServers", "extensions", "$schema", "license", "homepage", "repository", "category", "tags", "strict", "ref", "path", "repo", "sha", "", "é", "postInstallMessage"}

// mutateJSON changes one value or name and writes the text anew.
func mutateJSON(rnd *rand.Rand, text string) (out, how string) {
	var root any
	if json.Unmarshal([]byte(text), &root) != nil {
		return mutateText(rnd, text)
	}
	var places []func() string
	var visit func(v any, set func(any), path string)
	visit = func(v any, set func(any), path string) {
		places = append(places, func() string {
			value := pick(rnd, jsonValues)
			set(json.RawMessage(value))
			return fmt.Sprintf("%s is now %s", path, value)
		})
		switch v := v.(type) {
		case map[string]any:
			places = append(places, func() string {
				key, value := pick(rnd, jsonKeys), pick(rnd, jsonValues)
				v[key] = json.RawMessage(value)
				return fmt.Sprintf("%s.%s: %s", path, key, value)
			})
			for _, key := range slices.Sorted(maps.Keys(v)) {
				places = append(places, func() string {
					delete(v, key)
					return fmt.Sprintf("%s.%s dropped", path, key)
				}, func() string {
					to := pick(rnd, jsonKeys)
					v[to] = v[key]
					delete(v, key)
					return fmt.Sprintf("%s.%s renamed to %s", path, key, to)
				})
				visit(v[key], func(n any) { v[key] = n }, path+"."+key)
			}
		case []any:
			for i := range v {
				visit(v[i], func(n any) { v[i] = n }, fmt.Sprintf("%s[%d]", path, i))
			}
		}
	}
	visit(root, func(n any) { root = n }, "")
	how = pick(rnd, places)()
	data, err := json.Marshal(root)
	if err != nil { // a number that Go cannot write
		return strings.Replace(text, ":", ": 1e400,", 1), "1e400"
	}
	return string(data), how
}
