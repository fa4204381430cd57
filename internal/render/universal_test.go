package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// archive reads a plugin that is kept as one text.
func archive(t *testing.T, file string) plugin.Tree {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var tree plugin.Tree
	for _, f := range a.Files {
		mode := os.FileMode(0o644)
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			mode = 0o755
		}
		tree = append(tree, plugin.File{Path: f.Name, Data: f.Data, Mode: mode})
	}
	tree.Sort()
	return tree
}

func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "schemas", name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkSchemas holds the files of Agent Plugins against its rules.
func checkSchemas(t *testing.T, name string, tree plugin.Tree) {
	t.Helper()
	for _, file := range []string{"plugin.json", "mcp.json"} {
		f, ok := tree.Get(file)
		if !ok {
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.ReplaceAll(f.Data, []byte("/1.1.0/"), []byte("/1.0.0/"))))
		if err != nil {
			t.Fatalf("%s: %s: %v", name, file, err)
		}
		if err := schema(t, file).Validate(doc); err != nil {
			t.Errorf("%s: %s: %v", name, file, err)
		}
	}
}

func TestUniversalGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/universal/*.txtar")
	if err != nil || len(files) < 4 {
		t.Fatalf("fixtures: %v %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		in := archive(t, file)
		tree, notes, err := Universal(copilotmem.Files, in, "folder")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var b bytes.Buffer
		for _, n := range notes {
			fmt.Fprintln(&b, "note:", n)
		}
		for _, f := range tree {
			fmt.Fprintf(&b, "-- %s %04o --\n", f.Path, f.Mode)
			if old, ok := in.Get(f.Path); !ok || !bytes.Equal(old.Data, f.Data) {
				b.Write(f.Data)
			}
		}
		golden(t, "universal/"+name, b.Bytes())
		checkSchemas(t, name, tree)
		again, _, err := Universal(copilotmem.Files, tree, "folder")
		if err != nil {
			t.Errorf("%s: a second time: %v", name, err)
		}
		if diff := cmp.Diff(tree, again); diff != "" {
			t.Errorf("%s: a second time changes it:\n%s", name, diff)
		}
	}
}

func TestOurBundlePassesTheSchemas(t *testing.T) {
	tree, err := Plugin(copilotmem.Files, Options{Scope: Bundle, Launcher: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := tree.Get("plugin.json"); !ok {
		t.Fatal("no plugin.json")
	}
	checkSchemas(t, "ours", tree)
}

// The rules that checkSchemas holds refuse what Agent Plugins refuses.
func TestSchemasRefuse(t *testing.T) {
	head := `{"$schema":"https://agent-plugins.org/schemas/1.0.0/`
	for doc, file := range map[string]string{
		head + `plugin.schema.json","name":"a--b"}`: "plugin.json", head + `plugin.schema.json","name":"A"}`: "plugin.json",
		head + `plugin.schema.json","name":"a","skills":"x"}`: "plugin.json", head + `plugin.schema.json","name":"a","author":"x"}`: "plugin.json",
		head + `mcp.schema.json","mcpServers":{"s":{"command":"x"}}}`: "mcp.json", head + `mcp.schema.json","mcpServers":{"s":{"type":"http","url":"u"}}}`: "mcp.json",
		head + `mcp.schema.json","mcpServers":{"s":{"type":"stdio","command":"x","cwd":"y"}}}`: "mcp.json",
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		if schema(t, file).Validate(value) == nil {
			t.Errorf("%s passes", doc)
		}
	}
}

func TestPortableName(t *testing.T) {
	for in, want := range map[string]string{
		"My Demo": "my-demo", "../evil": "evil", "a--b_c": "a-b-c", "été": "t", "日本": "", strings.Repeat("a", 63) + "-b": strings.Repeat("a", 63),
	} {
		if got := portableName(in); got != want {
			t.Errorf("portableName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShellWords(t *testing.T) {
	needBash(t)
	for _, word := range awkward {
		if out, code := bash(t, "printf %s "+ShellWords([]string{word}), t.TempDir(), "HOME=/h"); out != word || code != 0 {
			t.Errorf("%q came out as %q, exit %d", word, out, code)
		}
		out, _ := bash(t, "printf %s "+ShellWords([]string{"${PLUGIN_ROOT}/" + word}), t.TempDir(), "PLUGIN_ROOT=/a b")
		if out != "/a b/"+word {
			t.Errorf("${PLUGIN_ROOT}/%s came out as %q", word, out)
		}
	}
}

// A translated hook runs there as it does here: in the plugin's folder, with its variables and arguments.
func TestTranslatedHookRuns(t *testing.T) {
	needBash(t)
	root := filepath.Join(t.TempDir(), "a plugin's été")
	script(t, filepath.Join(root, "bin", "run it"), `pwd; echo "$PLUGIN_ROOT|$COPILOT_PROJECT_DIR|$MODE"`)
	u := universal{assets: copilotmem.Files}
	for _, h := range []plugin.Hook{
		{Exec: "${PLUGIN_ROOT}/bin/run it", Args: []string{"x  y"}, Env: map[string]string{"MODE": "$5 `id`"}},
		{Bash: `"./bin/run it" "x  y"`, Env: map[string]string{"MODE": "$5 `id`"}},
	} {
		item, ok := u.claudeItem("sessionStart", h)
		if !ok || u.err != nil {
			t.Fatalf("%+v: %v", h, u.err)
		}
		out, code := bash(t, item.Command, t.TempDir(), "CLAUDE_PLUGIN_ROOT="+root, "CLAUDE_PROJECT_DIR=/p", "PATH="+os.Getenv("PATH"))
		if want := "x  y {\"a\":1}\n" + root + "\n" + root + "|/p|$5 `id`\n"; out != want || code != 0 {
			t.Errorf("%s\ncame out as %q, exit %d, want %q", item.Command, out, code, want)
		}
	}
}

func TestLauncher(t *testing.T) {
	body, err := copilotmem.Files.ReadFile("assets/launch/launcher.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, sh := range []string{"dash", "bash", "sh", "busybox"} {
		path, err := exec.LookPath(sh)
		if err != nil {
			t.Logf("no %s on this machine: the launcher is not run with it", sh)
			continue
		}
		t.Run(sh, func(t *testing.T) { testLauncher(t, path, string(body)) })
	}
}

// testLauncher runs the launcher with a /proc and a uname of the test's own.
func testLauncher(t *testing.T, sh, body string) {
	dir := filepath.Join(t.TempDir(), "a plugin's été 日本", "bin")
	tools, proc := t.TempDir(), t.TempDir()
	run := func(dir, body, uname string) (string, int) {
		t.Helper()
		for name, text := range map[string]string{filepath.Join(dir, "prog"): body, filepath.Join(tools, "uname"): "#!/bin/sh\n" + uname + "\n"} {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{filepath.Join(dir, "prog"), "one two", "$x", ""}
		if filepath.Base(sh) == "busybox" {
			args = append([]string{"sh"}, args...)
		}
		cmd := exec.Command(sh, args...)
		cmd.Env, cmd.Stdin = []string{"PATH=" + tools}, strings.NewReader("input")
		out, err := cmd.CombinedOutput()
		if _, ok := err.(*exec.ExitError); err != nil && !ok {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	program := "#!/bin/sh\nread -r in\nprintf '%s|' \"${0##*/}\" \"$in\" \"$@\"\nexit 3\n"
	add := func(target string, mode os.FileMode) string {
		t.Helper()
		file := filepath.Join(dir, target, "prog")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(file, []byte(program), mode), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	withoutProc := strings.ReplaceAll(body, "/proc/sys/kernel", filepath.Join(proc, "none"))
	silent := func(what, body, uname string) {
		t.Helper()
		if out, code := run(dir, body, uname); out != "" || code != 0 {
			t.Errorf("%s: %q, exit %d", what, out, code)
		}
	}
	silent("no program", withoutProc, "echo Linux x86_64")
	for target, says := range map[string]string{
		"linux-amd64": "Linux x86_64", "linux-arm64": "Linux aarch64", "darwin-amd64": "Darwin x86_64", "darwin-arm64": "Darwin arm64",
	} {
		file := add(target, 0o755)
		if out, code := run(dir, withoutProc, "echo "+says); out != "prog|input|one two|$x||" || code != 3 {
			t.Errorf("%s: %q, exit %d", says, out, code)
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		silent("not executable", withoutProc, "echo "+says)
	}
	add("linux-amd64", 0o755)
	silent("another system", withoutProc, "echo Plan9 mips")
	silent("a uname that fails", withoutProc, "exit 1")
	silent("a uname that complains", withoutProc, "echo oh >&2; exit 1")
	// Where /proc says it, uname is not asked.
	if err := os.WriteFile(filepath.Join(proc, "ostype"), []byte("Linux\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	withProc := strings.ReplaceAll(body, "/proc/sys/kernel", proc)
	silent("half of /proc", withProc, "exit 1")
	if err := os.WriteFile(filepath.Join(proc, "arch"), []byte("x86_64\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, code := run(dir, withProc, "echo asked >&2; exit 1"); out != "prog|input|one two|$x||" || code != 3 {
		t.Errorf("with /proc: %q, exit %d", out, code)
	}
}

func TestWithPrograms(t *testing.T) {
	prog := func(target, name string) Programs {
		return Programs{target, []plugin.File{{Path: name, Data: []byte(target), Mode: 0o600}}}
	}
	tree := plugin.Tree{{Path: "bin/prog", Data: []byte("old")}, {Path: "plugin.json", Data: []byte("{}")}}
	for _, tt := range []struct {
		sets []Programs
		want []string
	}{
		{[]Programs{{Target: "any"}}, []string{"bin/prog", "plugin.json"}},
		{[]Programs{prog("windows/amd64", "prog.exe")}, []string{"bin/prog", "bin/prog.exe", "plugin.json"}},
		{[]Programs{prog("windows/amd64", "prog.exe"), prog("linux/arm64", "prog")},
			[]string{"bin/linux-arm64/prog", "bin/prog", "bin/prog.ps1", "bin/windows-amd64/prog.exe", "plugin.json"}},
	} {
		got, err := WithPrograms(copilotmem.Files, tree, tt.sets...)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range got {
			names = append(names, f.Path)
			if strings.HasPrefix(f.Path, "bin/") && f.Mode&0o111 == 0 && f.Path != "bin/prog.ps1" && len(tt.sets) > 1 {
				t.Errorf("%s: mode %v", f.Path, f.Mode)
			}
		}
		if diff := cmp.Diff(tt.want, names); diff != "" {
			t.Errorf("%d sets (-want +got):\n%s", len(tt.sets), diff)
		}
	}
	if _, err := WithPrograms(copilotmem.Files, tree, Programs{"linux/arm64", []plugin.File{{Path: "../x"}}}); err == nil {
		t.Error("a program outside its folder is taken")
	}
}

// FuzzUniversal: no manifest or component is too odd, and what comes out is a tree that can be packed.
func FuzzUniversal(f *testing.F) {
	f.Add([]byte(`{"name":"x","skills":["./a",7],"hooks":{"preToolUse":[]},"mcpServers":{"s":{"command":"c","env":{"A":1}}}}`), []byte(`{"hooks":{"stop":[{}]}}`), []byte(`{"s":[]}`))
	f.Add([]byte(`{"skills":{"paths":["../x"]},"agents":"/abs","lspServers":{}}`), []byte("x"), []byte(`{"mcpServers":null}`))
	f.Fuzz(func(t *testing.T, manifest, hooks, servers []byte) {
		tree := plugin.Tree{{Path: ".mcp.json", Data: servers}, {Path: "agents/a.md", Data: hooks}, {Path: "hooks/hooks.json", Data: hooks},
			{Path: "plugin.json", Data: manifest}, {Path: "skills/x/SKILL.md", Data: servers}}
		out, _, err := Universal(copilotmem.Files, tree, "folder")
		if err != nil {
			return
		}
		if err := out.Check(); err != nil {
			t.Error(err)
		}
		for _, f := range out {
			if strings.HasSuffix(f.Path, "/plugin.json") && !json.Valid(f.Data) {
				t.Errorf("%s: %s", f.Path, f.Data)
			}
		}
	})
}
