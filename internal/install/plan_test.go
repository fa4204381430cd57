package install

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

func TestDiff(t *testing.T) {
	const name = "skills/a/SKILL.md"
	file := func(text string) fstest.MapFS { return fstest.MapFS{name: {Data: []byte(text), Mode: 0o644}} }
	ours := func(text string) *Receipt {
		return &Receipt{Files: []File{{Path: name, Mode: "0644", SHA256: hash([]byte(text))}}}
	}
	tests := []struct {
		name    string
		disk    fstest.MapFS
		receipt *Receipt
		force   bool
		want    string
		listed  int
	}{
		{"nothing there", fstest.MapFS{}, nil, false, "create", 1},
		{"nothing there any more", fstest.MapFS{}, ours("new"), false, "create", 1},
		{"as wanted", file("new"), ours("new"), false, "keep up to date", 1},
		{"as wanted, by chance", file("new"), nil, false, "keep up to date", 1},
		{"our old one", file("old"), ours("old"), false, "update an older version", 1},
		{"changed", file("mine"), ours("old"), false, "keep changed by hand; --force overwrites it and keeps a copy", 1},
		{"somebody's", file("mine"), nil, false, "keep not ours; --force overwrites it and keeps a copy", 0},
		{"somebody's, forced", file("mine"), nil, true, "update changed by hand; a copy stays beside it", 1},
	}
	tree := plugin.Tree{{Path: name, Data: []byte("new"), Mode: 0o644}}
	for _, tt := range tests {
		plan, err := Diff(tree, tt.disk, tt.receipt, Options{Dir: "/d", Force: tt.force})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got := strings.TrimSpace(plan.Ops[0].Op + " " + plan.Ops[0].Reason)
		if got != tt.want || len(plan.Receipt.Files) != tt.listed || len(plan.Ops) != 1 {
			t.Errorf("%s: %s, %d listed; want %s, %d", tt.name, got, len(plan.Receipt.Files), tt.want, tt.listed)
		}
	}
}

func TestDiffDropsWhatIsNotWantedAnyMore(t *testing.T) {
	disk := fstest.MapFS{"old": {Data: []byte("old")}, "edited": {Data: []byte("mine")}, "before": {Data: []byte("b")}}
	receipt := &Receipt{Files: []File{
		{Path: "old", SHA256: hash([]byte("old"))}, {Path: "edited", SHA256: hash([]byte("old"))},
		{Path: "before", SHA256: hash([]byte("b")), Existed: true}, {Path: "gone", SHA256: hash(nil)},
	}}
	plan, err := Diff(nil, disk, receipt, Options{Dir: "/d"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, op := range plan.Ops {
		got = append(got, op.Op+" "+op.Path)
	}
	if diff := cmp.Diff([]string{"keep edited", "remove old"}, got); diff != "" || len(plan.Receipt.Files) != 0 {
		t.Errorf("%d listed (-want +got):\n%s", len(plan.Receipt.Files), diff)
	}
}

// A tree that leaves its folder is refused whole.
func TestDiffRefusesToLeave(t *testing.T) {
	for _, name := range []string{"../x", "/etc/passwd", "a/../../x", "", ".", "a//b"} {
		_, err := Diff(plugin.Tree{{Path: name}}, fstest.MapFS{}, nil, Options{Dir: "/d"})
		if err == nil || !strings.Contains(err.Error(), "leaves the folder") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestApplyThenRemove(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	plan, err := Diff(sampleTree("1"), root.FS(), nil, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := plan.Apply(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Drift(receipt, root.FS()) {
		if s.State != OK {
			t.Errorf("after Apply: %+v", s)
		}
	}
	back, err := Remove(receipt, root.FS())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := back.Apply(root); err != nil {
		t.Fatal(err)
	}
	if got := snapshot(t, dir); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

func TestRecordsRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, text := range []string{"{", `{"schemaVersion": 99}`} {
		dir := t.TempDir()
		write(t, dir+"/user-1.json", text, 0o600)
		if all, err := Records(dir); err == nil {
			t.Errorf("%s: %d records", text, len(all))
		}
	}
	if all, err := Records(t.TempDir() + "/absent"); err != nil || all != nil {
		t.Errorf("no folder: %v, %v", all, err)
	}
}
