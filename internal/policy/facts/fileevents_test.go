package facts

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestToolFileEvents(t *testing.T) {
	root := tree(t, "d/x", "d/y", "f")
	for _, tt := range []struct {
		tool string
		args any
		want []string
	}{
		{"create", map[string]any{"path": "a", "file_text": "x"}, []string{"create a"}},
		{"Write", map[string]any{"file_path": "a", "content": "x"}, []string{"create a"}},
		{"write_file", map[string]any{"filename": "a", "text": "x"}, []string{"create a"}},
		{"edit", map[string]any{"filePath": "a", "old_str": "x", "new_str": "y"}, []string{"edit a"}},
		{"MultiEdit", map[string]any{"file_path": "a", "edits": []any{map[string]any{"old_string": "x", "new_string": "y"}}}, []string{"edit a"}},
		{"insert", map[string]any{"target_file": "a", "new_str": "y"}, []string{"edit a"}},
		{"str_replace_editor", map[string]any{"command": "create", "path": "a", "file_text": "x"}, []string{"create a"}},
		{"str_replace_editor", map[string]any{"command": "str_replace", "path": "a"}, []string{"edit a"}},
		{"str_replace_editor", map[string]any{"command": "view", "path": "a"}, []string{"read a"}},
		{"str_replace_based_edit_tool", map[string]any{"command": "insert", "path": "a"}, []string{"edit a"}},
		{"view", map[string]any{"path": "a"}, []string{"read a"}},
		{"Read", map[string]any{"file_path": "a"}, []string{"read a"}},
		{"grep", map[string]any{"pattern": "a", "paths": []any{"a", "b"}}, []string{"read a", "read b"}},
		{"grep", map[string]any{"pattern": "a"}, nil},
		{"glob", map[string]any{"pattern": "a"}, nil},
		{"delete_file", map[string]any{"path": "f"}, []string{"delete f"}},
		{"delete_file", map[string]any{"path": "d"}, []string{"delete d", "delete d/x", "delete d/y"}},
		{"move_file", map[string]any{"source": "f", "destination": "g"}, []string{"rename f", "rename g"}},
		{"rename_file", map[string]any{"path": "d/x", "new_name": "z"}, []string{"rename d/x", "rename d/z"}},
		{"files-write_file", map[string]any{"path": "a", "content": "x"}, []string{"create a"}},
		{"srv__edit_file", map[string]any{"path": "a"}, []string{"edit a"}},
		{"srv/delete_file", map[string]any{"path": "a"}, []string{"delete a"}},
		{"srv-move_file", map[string]any{"source": "a", "destination": "b"}, []string{"rename a", "rename b"}},
		{"notes-save", map[string]any{"target": "a", "body": "x"}, []string{"create a"}},
		{"notes-drop", map[string]any{"path": "a"}, []string{"delete a"}},
		{"create_issue", map[string]any{"path": "a", "command": "create"}, nil},
		{"apply_patch", "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@\n-x\n+y\n*** Delete File: c\n*** Update File: d/x\n*** Move to: e\n@@\n-x\n+y\n*** End Patch\n",
			[]string{"create a", "edit b", "delete c", "rename d/x", "rename e"}},
		{"apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}, []string{"create a"}},
		{"apply_patch", map[string]any{"patch": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"}, []string{"edit f"}},
		{"Edit", "*** Begin Patch\n*** Delete File: a\n*** End Patch", []string{"delete a"}},
	} {
		f := New(Input{Event: event(t, root, tt.tool, tt.args), FileTools: map[string]FileTool{
			"notes-save": {"create", "target", "body"}, "notes-d*": {Action: "delete"}, "create": {Action: "read"}}})
		want := tt.want
		if want == nil {
			want = []string{}
		}
		if diff := cmp.Diff(want, brief(f.Files())); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", tt.tool, tt.args, diff)
		}
	}
}

func TestFileContent(t *testing.T) {
	root := tree(t, "f")
	for _, tt := range []struct {
		name, tool string
		args       any
		want, old  string
	}{
		{"create", "create", map[string]any{"path": "a", "file_text": "x"}, "x", ""},
		{"edit", "edit", map[string]any{"path": "a", "old_str": "x", "new_str": "y"}, "y", "x"},
		{"mapped", "notes-save", map[string]any{"target": "a", "body": "x"}, "x", ""},
		{"patch", "apply_patch", "*** Begin Patch\n*** Update File: f\n@@\n x\n-a\n+b\n+c\n*** End Patch", "b\nc\n", "a\n"},
		{"echo", "bash", map[string]any{"command": "echo 'a  b' > f"}, "a  b\n", ""},
		{"echo -n", "bash", map[string]any{"command": "echo -n a > f"}, "a", ""},
		{"printf", "bash", map[string]any{"command": `printf '%s-%d\n' a 7 b 8 > f`}, "a-7\nb-8\n", ""},
		{"here-document", "bash", map[string]any{"command": "cat > f <<E\na\nb\nE\n"}, "a\nb\n", ""},
		{"here-document with tabs", "bash", map[string]any{"command": "cat > f <<-E\n\ta\n\tE\n"}, "a\n", ""},
		{"tee", "bash", map[string]any{"command": "echo a | tee f"}, "a\n", ""},
		{"here-string", "bash", map[string]any{"command": "tee f <<< a"}, "a\n", ""},
		{"group", "bash", map[string]any{"command": "{ echo a; echo b; } > f"}, "a\nb\n", ""},
	} {
		f := New(Input{Event: event(t, root, tt.tool, tt.args), FileTools: map[string]FileTool{"notes-save": {"create", "target", "body"}}})
		files := f.Files()
		if len(files) == 0 {
			t.Errorf("%s: no event", tt.name)
			continue
		}
		got := files[len(files)-1]
		if got.Content != tt.want || got.Old != tt.old || !got.HasContent {
			t.Errorf("%s: content %q, old %q, known %v", tt.name, got.Content, got.Old, got.HasContent)
		}
	}
}

func TestPatchCalls(t *testing.T) {
	root := tree(t)
	f := New(Input{Event: event(t, root, "apply_patch", "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@\n-x\n+y\n*** End Patch")})
	want := []Call{
		{"apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@\n-x\n+y\n*** End Patch"}},
		{"create", map[string]any{"path": "a", "file_text": "x\n"}},
		{"edit", map[string]any{"path": "b", "old_str": "x\n", "new_str": "y\n"}},
	}
	if diff := cmp.Diff(want, f.Tools()); diff != "" {
		t.Errorf("Tools (-want +got):\n%s", diff)
	}
}

func TestUnifiedDiffs(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []patched
	}{
		{"edit", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", []patched{{"edit", "x", "", "c\n", "b\n"}}},
		{"new", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", []patched{{"create", "x", "", "a\n", ""}}},
		{"deleted", "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", []patched{{"delete", "x", "", "", "a\n"}}},
		{"renamed", "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", []patched{{"rename", "x", "y", "", ""}}},
		{"empty new file", "diff --git a/x b/x\nnew file mode 100644\nindex 000..e69\n", []patched{{"create", "x", "", "", ""}}},
		{"lines that look like headers", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n-- z\n+++ b/y\n+x\n", []patched{{"edit", "x", "", "++ b/y\nx\n", "-- a/y\n- z\n"}}},
		{"two files", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", []patched{{"edit", "x", "", "b\n", "a\n"}, {"edit", "y", "", "b\n", "a\n"}}},
		{"dates", "--- x\t2026-01-01\n+++ x\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n", []patched{{"edit", "x", "", "b\n", "a\n"}}},
	} {
		if diff := cmp.Diff(tt.want, parsePatch(tt.text), cmp.AllowUnexported(patched{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestRenameEnds(t *testing.T) {
	root := tree(t, "f")
	files := bash(t, root, "mv f g").Files()
	if len(files) != 2 || !files[0].Is("delete") || !files[1].Is("create") || files[0].Is("create") || !files[0].Is("rename") {
		t.Errorf("mv: %+v", files)
	}
}

func TestShellFileEvents(t *testing.T) {
	root := tree(t, "f", "g", "d/x", "d/y", "src/a.go", "src/b.go")
	for _, tt := range []struct {
		command string
		want    []string
	}{
		{"echo a > new", []string{"create new"}},
		{"echo a > f", []string{"edit f"}},
		{"echo a >> f; echo b >| f; : <> f; ls &> f; ls >& f", []string{"edit f", "edit f", "read f", "edit f", "edit f", "edit f"}},
		{"ls > /dev/null 2>&1 >/dev/stderr 2>/dev/tty >&2 3>/dev/fd/4", nil},
		{"cat < f", []string{"read f"}},
		{"tee -a f new", []string{"edit f", "create new"}},
		{"cp f new", []string{"read f", "create new"}},
		{"cp f g d", []string{"read f", "create d/f", "read g", "create d/g"}},
		{"cp -t d f", []string{"read f", "create d/f"}},
		{"cp -r d e", []string{"read d", "create e", "create e/x", "create e/y"}},
		{"mv f d", []string{"rename f", "rename d/f"}},
		{"mv d e", []string{"rename d", "rename d/x", "rename d/y", "rename e", "rename e/x", "rename e/y"}},
		{"ln -s f new", []string{"create new"}},
		{"install -m 600 f new", []string{"create new"}},
		{"rsync -a f host:/x", nil},
		{"rsync -a f d/", []string{"create d/f"}},
		{"rm f g", []string{"delete f", "delete g"}},
		{"rm -r d", []string{"delete d", "delete d/x", "delete d/y"}},
		{"unlink f; rmdir e; shred -u g", []string{"delete f", "delete e", "delete g"}},
		{"rm -f d/*", []string{"delete d/x", "delete d/y"}},
		{"rm -f nothing*", []string{"delete nothing*"}},
		{"rm {f,g}", []string{"delete f", "delete g"}},
		{"rm n{1..3}", []string{"delete n1", "delete n2", "delete n3"}},
		{"touch -r f new g", []string{"create new", "edit g"}},
		{"truncate -s 0 f", []string{"edit f"}},
		{"sed -i s/a/b/ f g", []string{"edit f", "edit g"}},
		{"sed -i.bak -e s/a/b/ f", []string{"edit f"}},
		{"sed -n -Ei s/a/b/ f", []string{"edit f"}},
		{"sed --in-place=.bak s/a/b/ f", []string{"edit f"}},
		{"sed -i '' s/a/b/ f", []string{"edit f"}},
		{"sed -n s/a/b/p f", []string{"read f"}},
		{"perl -pi -e 's/a/b/' f", []string{"edit f"}},
		{"dd if=f of=new bs=1", []string{"read f", "create new"}},
		{"curl -o new https://h/x", []string{"create new"}},
		{"curl -sSLO https://h/x.tgz?a=b", []string{"create x.tgz"}},
		{"wget -qO new https://h/x", []string{"create new"}},
		{"wget https://h/a/x.tgz", []string{"create x.tgz"}},
		{"curl -d @f https://h", []string{"read f"}},
		{"curl -F a=@f https://h", []string{"read f"}},
		{"curl -u a@b https://h", nil},
		{"git checkout -- f", []string{"edit f"}},
		{"git checkout HEAD~1 -- f g", []string{"edit f", "edit g"}},
		{"git checkout f", []string{"edit f"}},
		{"git checkout main", nil},
		{"git restore f", []string{"edit f"}},
		{"git restore --staged f", nil},
		{"git rm f", []string{"delete f"}},
		{"git rm --cached f", nil},
		{"git mv f new", []string{"rename f", "rename new"}},
		{"git -C d rm x", []string{"delete d/x"}},
		{"cd d && rm x", []string{"delete d/x"}},
		{"(cd d; rm x); rm f", []string{"delete d/x", "delete f"}},
		{"pushd d; rm x", []string{"delete d/x"}},
		{"cd src/../d/ && touch z && cd .. && touch z", []string{"create d/z", "create z"}},
		{"env -C d rm x", []string{"delete d/x"}},
		{`cd "$X" && rm f`, nil},
		{"D=d; rm $D/x", []string{"delete d/x"}},
		{`D=d; E="$D/x"; rm "$E"`, []string{"delete d/x"}},
		{"rm $PWD/f ${PWD}/g", []string{"delete f", "delete g"}},
		{"rm ~/x $HOME/y", []string{"delete /home/me/x", "delete /home/me/y"}},
		{"if x; then D=d; else D=e; fi; rm $D/x", nil},
		{"rm $X f", []string{"delete f"}},
		{`rm "a b" a\ b 'a b' $'a b'`, []string{"delete a b", "delete a b", "delete a b", "delete a b"}},
		{"rm '*'", []string{"delete *"}},
		{"cat f | head -n 3 g", []string{"read f", "read g"}},
		{"grep x f; grep -e x f; grep -r x src", []string{"read f", "read f", "read src"}},
		{"awk '{print}' f; base64 f; xxd f; od -c f; strings f; tail -n5 f; less f", []string{"read f", "read f", "read f", "read f", "read f", "read f", "read f"}},
		{"source f; . g", []string{"read f", "read g"}},
		{"scp f host:/x", []string{"read f"}},
		{"scp host:/x new", []string{"create new"}},
		{"tar czf x.tgz src", []string{"create x.tgz", "read src"}},
		{"echo 'rm f'", nil},
		{"ls # rm f", nil},
		{"for x in f g; do rm $x; done", []string{"delete f", "delete g"}},
		{"find src -name a.go -delete", []string{"delete src/a.go"}},
		{"xargs rm <<< 'f g'", []string{"delete f", "delete g"}},
		{"w() { rm \"$1\"; }; w f", []string{"delete f"}},
		{"T=x; export U=f; rm $U", []string{"delete f"}},
		{"a=(f g); rm \"${a[@]}\"", []string{"delete f", "delete g"}},
	} {
		want := tt.want
		if want == nil {
			want = []string{}
		}
		if diff := cmp.Diff(want, brief(bash(t, root, tt.command).Files())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.command, diff)
		}
	}
}

func TestOutsideOfTheRoot(t *testing.T) {
	root := tree(t)
	files := bash(t, root, "touch ../beside").Files()
	if want := filepath.ToSlash(filepath.Join(filepath.Dir(root), "beside")); len(files) != 1 || files[0].Path != want || files[0].Abs != filepath.FromSlash(want) {
		t.Errorf("got %+v", files)
	}
}
