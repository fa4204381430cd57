package policy

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

const schemaFile = "../../assets/schemas/policy.schema.json"

func readSchema(t *testing.T) map[string]any {
	t.Helper()
	b, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func keysOf(t *testing.T, schema map[string]any, path ...string) []string {
	t.Helper()
	for _, p := range append(path, "properties") {
		next, ok := schema[p].(map[string]any)
		if !ok {
			t.Fatalf("the schema has no %v", path)
		}
		schema = next
	}
	var out []string
	for k := range schema {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// The schema for editors and the decoder know the same keys.
func TestSchemaKeys(t *testing.T) {
	s := readSchema(t)
	for _, tt := range []struct {
		keys []string
		path []string
	}{
		{workflowKeys, nil}, {stepKeys, []string{"$defs", "step"}}, {ruleKeys, []string{"$defs", "rule"}}, {settingsKeys, []string{"$defs", "settings"}},
		{triggerKeys("hooks"), []string{"$defs", "hooks"}}, {triggerKeys("tool"), []string{"$defs", "tool"}}, {triggerKeys("file"), []string{"$defs", "file"}},
		{triggerKeys("commit"), []string{"$defs", "commit"}}, {triggerKeys("push"), []string{"$defs", "push"}},
		{ruleNames(), []string{"$defs", "settings", "properties", "rules"}},
	} {
		want := slices.Sorted(slices.Values(tt.keys))
		if diff := cmp.Diff(want, keysOf(t, s, tt.path...)); diff != "" {
			t.Errorf("%v (-decoder +schema):\n%s", tt.path, diff)
		}
	}
}

func compileSchema(t *testing.T, part string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("policy.json", readSchema(t)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("policy.json" + part)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// structural are the findings that a schema can have: shape, not meaning.
var structural = []string{"unknown-key", "wrong-type", "missing-key", "bad-value"}

// agree holds the schema and the decoder against each other for one document.
func agree(t *testing.T, s *jsonschema.Schema, text string, found []Finding) {
	t.Helper()
	var doc any
	if yaml.Unmarshal([]byte(text), &doc) != nil || doc == nil {
		return
	}
	b, err := json.Marshal(doc)
	if err != nil {
		return // keys that are no text
	}
	instance, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	want := !slices.ContainsFunc(found, func(f Finding) bool { return slices.Contains(structural, f.Rule) })
	if slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == "duplicate-key" }) {
		return
	}
	if err := s.Validate(instance); (err == nil) != want {
		t.Errorf("%s\nschema: %v\ndecoder: %v", text, err, found)
	}
}

func TestSchemaAgrees(t *testing.T) {
	workflow, settings := compileSchema(t, ""), compileSchema(t, "#/$defs/settings")
	for _, text := range workflowTexts() {
		agree(t, workflow, text, Load(newRepo(t, map[string]string{flow: text}).l).Check())
	}
	for _, tt := range settingsTexts {
		agree(t, settings, tt.text, Load(newRepo(t, map[string]string{tt.file: tt.text}).l).Check())
	}
}

func TestSchemaOfRules(t *testing.T) {
	rule := compileSchema(t, "#/$defs/rule")
	for _, tt := range ruleTexts {
		front, _, _, ok, closed := splitFront([]byte(tt.text))
		found := Load(newRepo(t, map[string]string{".github/hookflows/r.md": tt.text}).l).Check()
		if ok && closed && tt.name != "documentation" {
			agree(t, rule, string(front), found)
		}
	}
}
