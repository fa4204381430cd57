package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/copilot-mem/copilot-mem/internal/validate"
)

// What we print passes the published schema of SARIF 2.1.0, which that module carries.
func TestSARIFPassesTheSchema(t *testing.T) {
	for _, findings := range [][]validate.Finding{
		{},
		{{File: "a b/ü#x.md", Line: 3, Column: 22, Rule: "skill/yaml", Severity: validate.Error, Message: "m", Hint: "h", Voice: validate.Copilot},
			{File: "/abs/plugin.json", Line: 1, Column: 1, Rule: "plugin/field-type", Severity: validate.Warning, Message: "m", Voice: validate.Spec},
			{File: "plugin.json", Line: 2, Column: 1, Rule: "skill/yaml", Severity: validate.Info, Message: "", Voice: validate.Copilot}},
	} {
		var out bytes.Buffer
		if err := printFindingsSARIF(&env{Stdout: &out}, findings, validate.Summary{}); err != nil {
			t.Fatal(err)
		}
		report, err := sarif.FromBytes(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := report.Validate(); err != nil {
			t.Errorf("%v\n%s", err, &out)
		}
		// The module validates what it has understood: that must be everything.
		var again bytes.Buffer
		if err := report.Write(&again); err != nil {
			t.Fatal(err)
		}
		var ours, theirs any
		if err := json.Unmarshal(out.Bytes(), &ours); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again.Bytes(), &theirs); err != nil {
			t.Fatal(err)
		}
		if at := missing(ours, theirs, "$"); at != "" {
			t.Errorf("the module does not know %s\n%s", at, &again)
		}
	}
}

// missing is the place of something in want that got does not have; "" is none. The module writes more: empty lists.
func missing(want, got any, at string) string {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for k := range w {
			if _, ok := g[k]; !ok {
				return at + "." + k
			}
			if m := missing(w[k], g[k], at+"."+k); m != "" {
				return m
			}
		}
		return ""
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return at
		}
		for i := range w {
			if m := missing(w[i], g[i], fmt.Sprintf("%s[%d]", at, i)); m != "" {
				return m
			}
		}
		return ""
	}
	if want != got {
		return at
	}
	return ""
}

func TestFileURI(t *testing.T) {
	for file, want := range map[string]string{"a b/ü#x.md": "a%20b/%C3%BC%23x.md", "../x": "../x", "a:b": "./a:b"} {
		if got := fileURI(file); got != want {
			t.Errorf("fileURI(%q) = %q, want %q", file, got, want)
		}
	}
}
