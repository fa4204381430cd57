package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	userSettings = "home/policy.yml"
	repoSettings = ".github/copilot-mem/policy.yml"
)

// actionOf is what the settings make of a hit of the rule: "off" or the action.
func actionOf(s *Set, rule, hit string) string {
	b := s.Settings.Bundled(rule)
	if !b.On() {
		return "off"
	}
	return b.ActionFor(hit)
}

func TestBundledSettings(t *testing.T) {
	tests := []struct {
		name, user, repo, rule, hit string
		untrusted, trusted          string
		note                        string // of the untrusted
	}{
		{"nothing", "", "", "force-push", "deny", "deny", "deny", ""},
		{"the rule's own milder part", "", "", "force-push", "ask", "ask", "ask", ""},
		{"off by default", "", "", "opaque-command", "ask", "off", "off", ""},
		{"user off", "rules: {force-push: off}", "", "force-push", "deny", "off", "off", ""},
		{"user false", "rules: {force-push: false}", "", "force-push", "deny", "off", "off", ""},
		{"user on", "rules: {opaque-command: on}", "", "opaque-command", "ask", "ask", "ask", ""},
		{"user warn", "rules: {force-push: warn}", "", "force-push", "deny", "warn", "warn", ""},
		{"user softens to ask", "rules: {force-push: ask}", "", "force-push", "deny", "ask", "ask", ""},
		{"user hardens", "rules: {policy-files: deny}", "", "policy-files", "ask", "deny", "deny", ""},
		{"user names the default", "rules: {force-push: deny}", "", "force-push", "ask", "ask", "ask", ""},
		{"user has no defaults", "defaults: off", "", "force-push", "deny", "off", "off", ""},
		{"user has one of them", "defaults: off\nrules: {force-push: on}", "", "force-push", "deny", "deny", "deny", ""},
		{"repository relaxes", "", "rules: {force-push: off}", "force-push", "deny", "deny", "off", "not trusted"},
		{"repository softens", "", "rules: {force-push: {action: ask}}", "force-push", "deny", "deny", "ask", "not trusted"},
		{"repository has no defaults", "", "defaults: off", "secret-files", "deny", "deny", "off", "not trusted"},
		{"repository tightens", "", "rules: {policy-files: deny, opaque-command: ask}", "policy-files", "ask", "deny", "deny", ""},
		{"repository turns on", "", "rules: {opaque-command: deny}", "opaque-command", "ask", "deny", "deny", ""},
		{"locked", "lock: [force-push]", "rules: {force-push: off}", "force-push", "deny", "deny", "deny", "lock"},
		{"another one is locked", "lock: [secret-files]", "rules: {force-push: off}", "force-push", "deny", "deny", "off", "not trusted"},
		{"locked defaults", "lock: [force-push]", "defaults: off", "force-push", "deny", "deny", "deny", "lock"},
		{"locked may be tightened", "lock: [policy-files]", "rules: {policy-files: deny}", "policy-files", "ask", "deny", "deny", ""},
		{"the user's word counts", "rules: {force-push: ask}", "rules: {force-push: off}", "force-push", "deny", "ask", "ask", ""},
		{"a broken user file does not relax", "rules: {force-push: off}\nbogus: 1", "", "force-push", "deny", "deny", "deny", ""},
		{"a broken user file tightens", "rules: {policy-files: deny}\nbogus: 1", "", "policy-files", "ask", "deny", "deny", ""},
		{"a broken repository file does not relax", "", "rules: {force-push: off}\nbogus: 1", "force-push", "deny", "deny", "deny", "errors"},
		{"a broken repository file tightens", "", "rules: {policy-files: deny}\nbogus: 1", "policy-files", "ask", "deny", "deny", ""},
		{"a lock that cannot be read locks all", "lock: force-push", "rules: {secret-files: off}", "secret-files", "deny", "deny", "deny", "lock"},
		{"user settings that are no YAML lock all", "lock: [", "rules: {secret-files: off}", "secret-files", "deny", "deny", "deny", "lock"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			if tt.user != "" {
				files[userSettings] = tt.user + "\n"
			}
			if tt.repo != "" {
				files[repoSettings] = tt.repo + "\n"
			}
			r := newRepo(t, files)
			s := Load(r.l)
			if got := actionOf(s, tt.rule, tt.hit); got != tt.untrusted {
				t.Errorf("untrusted: %s, want %s", got, tt.untrusted)
			}
			if note := s.Settings.Bundled(tt.rule).Note; (note == "") != (tt.note == "") || !strings.Contains(note, tt.note) {
				t.Errorf("note %q lacks %q", note, tt.note)
			}
			r.l.Trusted = func(string) bool { return true }
			if got := actionOf(Load(r.l), tt.rule, tt.hit); got != tt.trusted {
				t.Errorf("trusted: %s, want %s", got, tt.trusted)
			}
		})
	}
}

func TestTrustIsAskedOnlyToRelax(t *testing.T) {
	for text, want := range map[string]bool{"rules: {policy-files: deny}\n": false, "on-error: allow\n": false, "rules: {force-push: off}\n": true, "rules: {secret-files: {except: [a]}}\n": true} {
		r := newRepo(t, map[string]string{repoSettings: text})
		asked := false
		r.l.Trusted = func(string) bool { asked = true; return true }
		Load(r.l)
		if asked != want {
			t.Errorf("%q: asked %v", text, asked)
		}
	}
}

func TestExceptions(t *testing.T) {
	r := newRepo(t, map[string]string{userSettings: "rules: {secret-files: {except: ['user/**']}}\n", repoSettings: "rules: {secret-files: {action: ask, except: ['fixtures/**', '!fixtures/real/**']}}\n"})
	for _, trusted := range []bool{false, true} {
		r.l.Trusted = func(string) bool { return trusted }
		b := Load(r.l).Settings.Bundled("secret-files")
		for paths, want := range map[string]bool{"user/a": true, "a": false, "fixtures/a": trusted, "fixtures/real/a": false, "fixtures/a,user/b": trusted, "fixtures/a,b": false, "": false} {
			var list []string
			if paths != "" {
				list = strings.Split(paths, ",")
			}
			if got := b.Excepted(list); got != want {
				t.Errorf("trusted %v: %q: %v, want %v", trusted, paths, got, want)
			}
		}
	}
}

func TestOtherSettings(t *testing.T) {
	const rule = "name: x\non: file\n" + deny
	r := newRepo(t, map[string]string{
		userSettings: "on-error: allow\ntelemetry: {repo-log: true}\ntools:\n  notes-save: {action: create, path: target, content: body}\n", "home/policies/u.yml": rule,
		repoSettings: "on-error: ask\npost-gate: on\nclaude-bridge: off\ntools:\n  notes-save: {action: edit, path: x}\n  'mcp-*': {action: delete, path: p}\n", ".github/copilot-mem/policies/r.yml": rule,
		".github/hookflows/h.yml": rule, ".github/hookflows/own.yml": "on-error: deny\n" + rule,
	})
	s := Load(r.l)
	s.Compile()
	var got []string
	for _, p := range s.Policies {
		got = append(got, fmt.Sprint(p.File[strings.LastIndex(p.File, "/")+1:], " ", p.OnError, " ", p.PostGate))
	}
	if diff := cmp.Diff([]string{"u.yml allow false", "r.yml ask true", "h.yml ask true", "own.yml deny true"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !s.Settings.RepoLog || s.Settings.ClaudeBridge != "off" || !s.Settings.PostGate || s.Settings.Tools["notes-save"].Content != "body" || s.Settings.Tools["mcp-*"].Action != "delete" {
		t.Errorf("%+v", s.Settings)
	}
	none := Load(newRepo(t, nil).l).Settings
	if none.RepoLog || none.ClaudeBridge != "auto" || none.PostGate || none.Tools != nil {
		t.Errorf("defaults: %+v", none)
	}
}

var settingsTexts = []struct{ file, text, want string }{
	{userSettings, "", ""},
	{userSettings, "# nothing\n", ""},
	{userSettings, "rules:\n  force-push: off\n  secret-files: {action: ask, except: ['a']}\ndefaults: on\nlock: [recursive-delete]\non-error: deny\npost-gate: off\nclaude-bridge: auto\ntelemetry: {repo-log: false}\ntools:\n  \"notes-save\": {action: create, path: target, content: body}\n", ""},
	{userSettings, "rules: [\n", "1:1 yaml"},
	{userSettings, "- a\n", "1:1 wrong-type"},
	{userSettings, "rule: {}\n", "1:1 unknown-key"},
	{userSettings, "rules: {force-pusch: off}\n", "1:9 unknown-key"},
	{userSettings, "rules: {force-push: no}\n", "1:21 bad-value"},
	{userSettings, "rules: {force-push: {acton: ask}}\n", "1:22 unknown-key"},
	{userSettings, "rules: {secret-files: {except: ['[a']}}\n", "1:33 glob"},
	{userSettings, "lock: [x]\n", "1:8 bad-value"},
	{userSettings, "defaults: warn\n", "1:11 bad-value"},
	{userSettings, "on-error: fail\n", "1:11 bad-value"},
	{userSettings, "claude-bridge: maybe\n", "1:16 bad-value"},
	{userSettings, "telemetry: {log: true}\n", "1:13 unknown-key"},
	{userSettings, "tools: {a: {action: create}}\n", "1:9 missing-key"},
	{userSettings, "tools: {a: {action: write, path: p}}\n", "1:21 bad-value"},
	{repoSettings, "lock: [force-push]\ntelemetry: {repo-log: true}\n", "1:1 no-effect?, 2:1 no-effect?"},
	{repoSettings, "rules: {force-push: off}\n", "1:9 relaxation-ignored?"},
}

func TestSettingsFindings(t *testing.T) {
	for _, tt := range settingsTexts {
		want := []string{}
		if tt.want != "" {
			want = strings.Split(tt.want, ", ")
		}
		got := Load(newRepo(t, map[string]string{tt.file: tt.text}).l).Check()
		if diff := cmp.Diff(want, places(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s%v", tt.text, diff, got)
		}
	}
}
