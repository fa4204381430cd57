package plugin

import (
	"os"
	"strings"
	"testing"
)

// The recorded answers of client 1.0.102 to `description: <scalar>`.
func TestParseYAMLScalarsLikeTheClient(t *testing.T) {
	data, err := os.ReadFile("testdata/yaml-scalars.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimRight(string(data), "\n"), "\n")[1:]
	if len(rows) < 100 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, row := range rows {
		cols := strings.Split(row, "\t")
		scalar := unpython(cols[0])
		d, err := ParseDocument([]byte("---\nname: x\ndescription: " + scalar + "\n---\nBody\n"))
		switch cols[1] {
		case "yaml-error":
			if err == nil {
				t.Errorf("%s: accepted, want %s", cols[0], cols[2])
				continue
			}
			cause := strings.TrimPrefix(cols[2], "failed to parse YAML frontmatter: ")
			if want, _, _ := strings.Cut(cause, " at line "); !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", cols[0], err, want)
			}
		case "not-string":
			if err != nil || d.Fields.Get("description").Is(String) {
				t.Errorf("%s: %v %+v, want no string", cols[0], err, d.Fields.Get("description"))
			}
		case "string":
			want := unpython("'" + strings.Trim(cols[2], `"`) + "'")
			if err != nil || !d.Fields.Get("description").Is(String) {
				t.Errorf("%s: %v %+v, want a string", cols[0], err, d.Fields)
			} else if got := d.Fields.Get("description").Text; strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s: %q, want %q", cols[0], got, want)
			}
		default:
			t.Fatalf("unknown verdict %q", cols[1])
		}
	}
}

// unpython undoes the quoting of the table's first column.
func unpython(s string) string {
	s = s[1 : len(s)-1]
	return strings.NewReplacer(`\t`, "\t", `\xa0`, "\u00a0", `\'`, "'").Replace(s)
}
