package guard_test

import (
	"os"
	"path/filepath"
	"testing"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/policy"
	"github.com/copilot-mem/copilot-mem/internal/policy/bundled"
)

// What `init --policy` writes means what it says, for every bundled rule.
func TestSettingsThatInitWrites(t *testing.T) {
	for _, choice := range []string{"on", "warn", "off"} {
		data, err := copilotmem.Files.ReadFile("assets/settings/" + choice + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "policy.yml"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		set := policy.Load(policy.Loader{UserDir: dir})
		if len(set.Findings) > 0 {
			t.Errorf("%s: %v", choice, set.Findings)
		}
		for _, r := range bundled.Rules() {
			b := set.Settings.Bundled(r.Name)
			got := "off"
			if b.On() {
				got = b.ActionFor(r.Action)
			}
			want := map[string]string{"on": r.Action, "warn": "warn", "off": "off"}[choice]
			if r.Action == "off" {
				want = "off"
			}
			if got != want {
				t.Errorf("%s: %s is %s, want %s", choice, r.Name, got, want)
			}
		}
	}
}
