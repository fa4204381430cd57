package validate

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// loaderCase is one recorded verdict of client 1.0.102.
type loaderCase struct {
	Kind, ID, Note, Verdict, Message string
	Files                            map[string]any
}

func loaderCases(t *testing.T) []loaderCase {
	t.Helper()
	data, err := os.ReadFile("testdata/loader.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var cases []loaderCase
	for line := range strings.Lines(string(data)) {
		var c loaderCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if runtime.GOOS == "windows" { // some names cannot be written there
		cases = slices.DeleteFunc(cases, func(c loaderCase) bool {
			for name := range c.Files {
				if strings.ContainsAny(name, `:*?"<>|`) {
					return true
				}
			}
			return false
		})
	}
	if len(cases) < 490 {
		t.Fatalf("only %d cases", len(cases))
	}
	return cases
}

// tree gives the files the paths where the client looks for that kind.
func (c loaderCase) tree(t *testing.T) map[string][]byte {
	t.Helper()
	below := map[string]string{"skill": ".github/skills", "agent": ".github/agents"}[c.Kind]
	tree := map[string][]byte{}
	for name, content := range c.Files {
		var data []byte
		switch v := content.(type) {
		case string:
			data = []byte(v)
		case map[string]any:
			var err error
			if data, err = base64.StdEncoding.DecodeString(v["b64"].(string)); err != nil {
				t.Fatal(err)
			}
		}
		tree[path.Join(below, name)] = data
	}
	return tree
}

// write returns a folder with the files in it.
func (c loaderCase) write(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "plug")
	for name, data := range c.tree(t) {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// inMemory returns the findings of the case without a disk.
func (c loaderCase) inMemory(t *testing.T) []Finding {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, data := range c.tree(t) {
		fsys[name] = &fstest.MapFile{Data: data}
	}
	top := &checker{fsys: fsys, name: "plug"}
	more := top.dir("/plug", Options{})
	findings, _ := finish(append(more, top))
	return findings
}

// want says whether the verdict asks for an error; settled is false where the client takes a part and complains.
func (c loaderCase) want() (refused, settled bool) {
	switch c.Verdict {
	case "rejected", "installed-but-rejected-at-load":
		return true, true
	case "loaded", "installed", "added", "not-found", "nothing":
		return false, true
	}
	return false, false
}

// The cases where we do not agree with the client stand in testdata/disagree.txt: one more fails the test, and so does
// one that agrees by now.
func TestAgreesWithTheClient(t *testing.T) {
	data, err := os.ReadFile("testdata/disagree.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := []string{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			known = append(known, line)
		}
	}
	slices.Sort(known)
	got := []string{}
	agreed, total := map[string]int{}, map[string]int{}
	for _, c := range loaderCases(t) {
		findings, s, err := Paths([]string{c.write(t)}, Options{})
		if err != nil {
			t.Fatalf("%s/%s: %v", c.Kind, c.ID, err)
		}
		total[c.Kind]++
		refused, settled := c.want()
		if settled && refused != (s.Errors > 0) {
			got = append(got, c.Kind+"/"+c.ID)
			t.Logf("%s/%s: client %s (%s), we have %+v", c.Kind, c.ID, c.Verdict, c.Message, findings)
			continue
		}
		agreed[c.Kind]++
	}
	for kind, n := range total {
		t.Logf("%s: %d of %d", kind, agreed[kind], n)
	}
	slices.Sort(got)
	if diff := cmp.Diff(known, got); diff != "" {
		t.Errorf("testdata/disagree.txt (-listed +found):\n%s", diff)
	}
}

// Where the client names a cause, ours is the same one and not another fault of the same file.
func TestMessagesAreTheClients(t *testing.T) {
	const part = "failed to parse YAML frontmatter: "
	same, total := 0, 0
	for _, c := range loaderCases(t) {
		if c.Verdict != "rejected" || c.Kind != "skill" && c.Kind != "agent" && c.Kind != "hooks" {
			continue
		}
		findings := c.inMemory(t)
		want := strings.ReplaceAll(c.Message, "$P/.github/hooks/h.json: ", "")
		want = strings.Replace(want, "Invalid hook configuration in ", "Invalid hook configuration: ", 1)
		if strings.HasPrefix(want, part) || strings.Contains(want, "Invalid JSON") {
			want, _, _ = strings.Cut(want, " at line ")
			want, _, _ = strings.Cut(want, " at position ")
		}
		total++
		if slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity == Error && f.Message == want }) {
			same++
			continue
		}
		t.Logf("%s/%s: want %q, have %+v", c.Kind, c.ID, want, findings)
	}
	if same != total {
		t.Errorf("%d of %d messages are the client's", same, total)
	}
}

// A file named alone gets the verdict that it gets in its folder.
func TestSingleFilesAgreeWithTheClient(t *testing.T) {
	checked := 0
	for _, c := range loaderCases(t) {
		refused, settled := c.want()
		if len(c.Files) != 1 || !settled || c.Kind != "skill" && c.Kind != "agent" && c.Kind != "hooks" {
			continue
		}
		root := c.write(t)
		for name := range c.tree(t) {
			p := filepath.Join(root, filepath.FromSlash(name))
			findings, s, err := Paths([]string{p}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if refused != (s.Errors > 0) {
				t.Errorf("%s/%s: client %s (%s), we have %+v", c.Kind, c.ID, c.Verdict, c.Message, findings)
			}
			for _, f := range findings {
				if f.File != p {
					t.Errorf("%s/%s: finding in %s, want %s", c.Kind, c.ID, f.File, p)
				}
			}
		}
		checked++
	}
	if checked < 300 {
		t.Errorf("only %d cases", checked)
	}
}

// Said to be what the client was asked about, every case agrees.
func TestKindAgreesWithTheClient(t *testing.T) {
	as := map[string]string{"skill": "repository", "agent": "repository", "hooks": "repository", "plugin": "plugin", "marketplace": "marketplace"}
	for _, c := range loaderCases(t) {
		findings, s, err := Paths([]string{c.write(t)}, Options{Kind: as[c.Kind]})
		if err != nil {
			t.Fatalf("%s/%s: %v", c.Kind, c.ID, err)
		}
		if refused, settled := c.want(); settled && refused != (s.Errors > 0) {
			t.Errorf("%s/%s: client %s (%s), we have %+v", c.Kind, c.ID, c.Verdict, c.Message, findings)
		}
	}
}

// Where the client takes a part and complains, we complain too; an error is an error only where something is refused.
func TestPartialVerdicts(t *testing.T) {
	seen := 0
	for _, c := range loaderCases(t) {
		if _, settled := c.want(); settled {
			continue
		}
		seen++
		findings, s, err := Paths([]string{c.write(t)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(findings) == 0 {
			t.Errorf("%s/%s: client %s (%s), we say nothing", c.Kind, c.ID, c.Verdict, c.Message)
		}
		if want := strings.HasSuffix(c.Verdict, "+error") && c.ID != "ap-root-components" && c.ID != "ap-ext-arr" || c.Verdict == "nothing+warning"; want != (s.Errors > 0) {
			t.Errorf("%s/%s: client %s (%s), we have %+v", c.Kind, c.ID, c.Verdict, c.Message, findings)
		}
	}
	if seen < 25 {
		t.Errorf("only %d cases", seen)
	}
}
