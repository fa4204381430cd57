package validate

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

func schemaOf(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../../assets/schemas/" + kind + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plain is the value as a JSON decoder gives it.
func plain(v *plugin.Value) any {
	switch v.Kind {
	case plugin.Bool:
		return strings.EqualFold(v.Text, "true")
	case plugin.String:
		return v.Text
	case plugin.Number:
		if n, err := strconv.ParseInt(strings.TrimPrefix(v.Text, "+"), 0, 64); err == nil {
			return json.Number(strconv.FormatInt(n, 10))
		}
		f, _ := strconv.ParseFloat(v.Text, 64)
		return f
	case plugin.List:
		list := []any{}
		for _, i := range v.Items {
			list = append(list, plain(i))
		}
		return list
	case plugin.Map:
		m := map[string]any{}
		for _, f := range v.Fields {
			m[f.Name] = plain(f.Value)
		}
		return m
	}
	return nil
}

// beyondSchema are the errors that a schema has no words for: framing and syntax come before, the rest is about
// expressions, addresses, units of length, and other files.
var beyondSchema = map[string]bool{"hooks/matcher": true, "hooks/nesting": true, "hooks/url": true, "skill/description-length": true, "marketplace/duplicate": true,
	"plugin/skills-path": true, "plugin/hooks-path": true, "skill/name-derived": true, "plugin/skills-type": true, "plugin/manifest-missing": true, "marketplace/missing": true}

// Where a schema can judge a recorded case, it says what the client says.
func TestSchemasAgreeWithTheClient(t *testing.T) {
	judged, refused := map[string]int{}, map[string]int{}
	schemas := map[string]*jsonschema.Schema{}
	for _, kind := range []string{"skill", "agent", "hooks", "plugin", "marketplace"} {
		schemas[kind] = schemaOf(t, kind)
	}
	for _, c := range loaderCases(t) {
		verdict, settled := c.want()
		for name, data := range c.tree(t) {
			root := parseFor(c.Kind, name, data)
			if !settled || root == nil {
				continue
			}
			err := schemas[c.Kind].Validate(plain(root))
			if err != nil && !verdict {
				t.Errorf("%s/%s: the client takes it, the schema does not: %v", c.Kind, c.ID, err)
			}
			judgeable := false
			for _, f := range c.inMemory(t) {
				judgeable = judgeable || f.Severity == Error && f.File == name && !beyondSchema[f.Rule]
			}
			if err == nil && judgeable {
				t.Errorf("%s/%s: the schema takes it, the client does not: %s", c.Kind, c.ID, c.Message)
			}
			judged[c.Kind]++
			if err != nil {
				refused[c.Kind]++
			}
		}
	}
	for kind, least := range map[string]int{"skill": 15, "agent": 15, "hooks": 15, "plugin": 6, "marketplace": 10} {
		t.Logf("%s: %d judged, %d refused", kind, judged[kind], refused[kind])
		if refused[kind] < least {
			t.Errorf("%s: the schema refuses only %d of %d cases", kind, refused[kind], judged[kind])
		}
	}
}

// parseFor returns what the schema of that kind is about; nil where the file is none of those, or does not parse.
func parseFor(kind, name string, data []byte) *plugin.Value {
	switch {
	case kind == "skill" && path.Base(name) == "SKILL.md", kind == "agent" && plugin.IsAgentFile(name):
		doc, err := plugin.ParseDocument(data)
		if err != nil || !doc.Fields.Is(plugin.Map) {
			return nil
		}
		return doc.Fields
	case kind == "hooks" && strings.HasPrefix(name, ".github/hooks/"), kind == "plugin" && path.Base(name) == "plugin.json", kind == "marketplace" && path.Base(name) == "marketplace.json":
		root, err := plugin.ParseJSON(data)
		if err != nil || root.Kind != plugin.Map {
			return nil
		}
		return root
	}
	return nil
}

// Each schema takes a good example and refuses a bad one.
func TestSchemaExamples(t *testing.T) {
	for _, tt := range []struct {
		kind, text string
		ok         bool
	}{
		{"skill", `{"name":"a-b","description":"d","allowed-tools":["view"],"argument-hint":"[x]","user-invocable":true}`, true},
		{"skill", `{"argument-hint":["x"]}`, false}, {"skill", `{"name":"-a"}`, false}, {"skill", `{"user-invocable":"yes"}`, false},
		{"agent", `{"description":"d","tools":"*","model":["a"],"mcp-servers":{"s":{"command":"x","args":[],"tools":["*"]},"w":{"type":"http","url":"u","tools":[]}}}`, true},
		{"agent", `{}`, false}, {"agent", `{"description":"d","mcp-servers":{"s":{"command":"x","args":[]}}}`, false}, {"agent", `{"description":"d","hooks":{"nope":[]}}`, false},
		{"agent", `{"description":"d","mcp-servers":{"s":{"type":"foo","command":"x","args":[],"tools":[]}}}`, false}, {"agent", `{"description":"d","github":{"toolsets":"all"}}`, false},
		{"hooks", `{"version":1,"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x"}]}],"sessionStart":[{"type":"prompt","prompt":"p"}],"notification":[{"exec":"x"}]}}`, true},
		{"hooks", `{"hooks":{"preToolUse":[{"bash":"x","exec":"y"}]}}`, false}, {"hooks", `{"hooks":{"preToolUse":[{"type":"prompt","prompt":"p"}]}}`, false}, {"hooks", `{"preToolUse":[]}`, false},
		{"hooks", `{"hooks":{"preToolUse":[{"bash":"x","matcher":""}]}}`, false}, {"hooks", `{"hooks":{"agentStop":[{"bash":"x","timeoutSec":0}]}}`, false}, {"hooks", `{"version":2,"hooks":{}}`, false},
		{"plugin", `{"name":"Any Name","skills":["./s"],"hooks":{"preToolUse":[{"bash":"x"}]}}`, true}, {"plugin", `{"skills":3}`, false}, {"plugin", `{"hooks":{"preToolUse":3}}`, false},
		{"plugin", `{` + schema + `,"name":"a.b","author":{"name":"n"},"extensions":{"x":{}}}`, true}, {"plugin", `{` + schema + `,"name":"a--b"}`, false}, {"plugin", `{` + schema + `,"name":"a","author":"n"}`, false},
		{"marketplace", `{"name":"m.k","owner":{"name":"n","email":"a@b.co"},"plugins":[{"name":"p","source":"./p"},{"name":"q","source":{"source":"github","repo":"a/b"}}]}`, true},
		{"marketplace", `{"name":"m","owner":{"name":"n"},"plugins":[{"name":"p","source":{"source":"npm"}}]}`, false}, {"marketplace", `{"name":"m_k","owner":{"name":"n"},"plugins":[]}`, false},
		{"marketplace", `{"name":"m","owner":{"name":"n","email":"x"},"plugins":[]}`, false},
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schemaOf(t, tt.kind).Validate(v); (err == nil) != tt.ok {
			t.Errorf("%s %s: %v, want ok %v", tt.kind, tt.text, err, tt.ok)
		}
	}
}
