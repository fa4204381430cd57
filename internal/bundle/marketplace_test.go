package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

func TestAddEntry(t *testing.T) {
	entry := Entry{Name: "demo", Source: "./plugins/demo", Description: "Does <it>.", Version: "2.0.0"}
	tests := []struct{ name, in, want, source string }{
		{
			name: "no plugins yet", source: "plugins/demo",
			in:   "{\n  \"name\": \"m\",\n  \"plugins\": []\n}\n",
			want: "{\n  \"name\": \"m\",\n  \"plugins\": [\n    {\n      \"name\": \"demo\",\n      \"source\": \"./plugins/demo\",\n      \"description\": \"Does \\u003cit\\u003e.\",\n      \"version\": \"2.0.0\"\n    }\n  ]\n}\n",
		},
		{
			name: "on one line", source: "plugins/demo",
			in:   `{"plugins":[{"name":"other","source":"./o"}], "z" : 1 }`,
			want: `{"plugins":[{"name":"other","source":"./o"},{"name":"demo","source":"./plugins/demo","description":"Does \u003cit\u003e.","version":"2.0.0"}], "z" : 1 }`,
		},
		{
			name: "behind another, tabs and CRLF", source: "plugins/demo",
			in:   "{\"plugins\": [\r\n\t\t{\"name\": \"other\"}\r\n\t]}",
			want: "{\"plugins\": [\r\n\t\t{\"name\": \"other\"},\r\n\t\t{\r\n\t\t  \"name\": \"demo\",\r\n\t\t  \"source\": \"./plugins/demo\",\r\n\t\t  \"description\": \"Does \\u003cit\\u003e.\",\r\n\t\t  \"version\": \"2.0.0\"\r\n\t\t}\r\n\t]}",
		},
		{
			name: "pluginRoot", source: "tools/demo",
			in:   `{"metadata":{"pluginRoot":"./tools"},"plugins":[{"name":"a","source":"./a"}]}`,
			want: `{"metadata":{"pluginRoot":"./tools"},"plugins":[{"name":"a","source":"./a"},{"name":"demo","source":"./demo","description":"Does \u003cit\u003e.","version":"2.0.0"}]}`,
		},
		{
			name: "there already, elsewhere and with more", source: "mine",
			in:   "{\"plugins\": [ {\"version\" : \"1.0.0\", \"name\":\"demo\", \"category\":\"é\",\n \"source\":\"./mine\"}, {\"name\":\"z\"} ]}",
			want: "{\"plugins\": [ {\"version\" : \"2.0.0\", \"name\":\"demo\", \"category\":\"é\",\n \"source\":\"./mine\",\n \"description\": \"Does \\u003cit\\u003e.\"}, {\"name\":\"z\"} ]}",
		},
		{
			name: "from another repository", source: "",
			in:   `{"plugins":[{"name":"demo","source":{"source":"github","repo":"a/b"},"version":"2.0.0","description":"Does <it>."}]}`,
			want: `{"plugins":[{"name":"demo","source":{"source":"github","repo":"a/b"},"version":"2.0.0","description":"Does <it>."}]}`,
		},
	}
	for _, tt := range tests {
		got, source, err := addEntry([]byte(tt.in), entry)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if source != tt.source {
			t.Errorf("%s: source %q, want %q", tt.name, source, tt.source)
		}
		if again, _, err := addEntry(got, entry); err != nil || string(again) != string(got) {
			t.Errorf("%s: a second time changes it: %v\n%s", tt.name, err, again)
		}
	}
	for in, problem := range map[string]string{
		"{": "line 1", `{"plugins":{}}`: "no list", `{"plugins":[{"name":"demo","source":"../x"}]}`: "outside",
	} {
		if _, _, err := addEntry([]byte(in), entry); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: error %v, want one with %q", in, err, problem)
		}
	}
}

func TestMarketplaceName(t *testing.T) {
	long := strings.Repeat("a", 56) + "-bcdefgh"
	for in, want := range map[string]string{"demo": "demo-bundle", long: strings.Repeat("a", 56) + "-bundle"} {
		if got := marketplaceName(in); got != want || len(got) > 64 {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestAddTo(t *testing.T) {
	r := build(t, one(demo()), Options{Out: filepath.Join(t.TempDir(), "dist")})
	if _, err := AddTo(t.TempDir(), r); err == nil || !strings.Contains(err.Error(), "no marketplace.json") {
		t.Errorf("no catalogue: %v", err)
	}
	dir := t.TempDir()
	text := `{"name":"team","owner":{"name":"T"},"plugins":[]}`
	for _, p := range []string{".github/plugin", ".claude-plugin"} {
		if err := os.MkdirAll(filepath.Join(dir, p), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".github/plugin/marketplace.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, ".claude-plugin/marketplace.json")
	if err := os.Symlink("../.github/plugin/marketplace.json", link); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := AddTo(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(read(t, dir, ".claude-plugin/marketplace.json")); strings.Count(got, `"demo"`) != 1 || !strings.Contains(got, `"./plugins/demo"`) {
		t.Errorf("catalogue: %s", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if got := read(t, dir, "plugins/demo/bin/run.sh"); string(got) != "#!/bin/sh\n" {
		t.Errorf("plugin's file: %q", got)
	}
	// Somebody's own folder in the plugin's place stays.
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "marketplace.json"), []byte(`{"plugins":[{"name":"demo","source":"./src"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(other, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := AddTo(other, r); err == nil {
		t.Error("a folder that is no plugin was replaced")
	}
}

// FuzzAddEntry: whatever the catalogue looks like, the result is JSON with the entry in it, or there is an error.
func FuzzAddEntry(f *testing.F) {
	f.Add([]byte(`{"plugins":[{"name":"demo"}]}`))
	f.Add([]byte("{\n\t\"plugins\": [\r\n {} ]}"))
	f.Add([]byte(`{"plugins":[],"metadata":{"pluginRoot":"p"}}`))
	entry := Entry{Name: "demo", Source: "./plugins/demo", Version: "2.0.0", Keywords: []string{"k"}}
	f.Fuzz(func(t *testing.T, data []byte) {
		out, _, err := addEntry(data, entry)
		if err != nil {
			return
		}
		root, err := plugin.ParseJSON(out)
		if err != nil {
			t.Fatalf("%q became %q: %v", data, out, err)
		}
		n := 0
		for _, v := range root.Get("plugins").Items {
			if v.Get("name").Str() == "demo" && v.Get("version").Str() == "2.0.0" {
				n++
			}
		}
		if n == 0 {
			t.Errorf("%q became %q: no entry", data, out)
		}
	})
}
