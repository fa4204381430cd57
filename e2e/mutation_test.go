//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// TestMutantsAgree breaks valid files in small ways, asks the client and `copilot-mem validate` about each, and wants
// the same answer: refused or taken. COPILOT_MEM_MUTANTS and COPILOT_MEM_MUTATION_SEED ask for more, and for others.
func TestMutantsAgree(t *testing.T) {
	t.Parallel()
	perKind := setting(t, "COPILOT_MEM_MUTANTS", 100)
	seed := setting(t, "COPILOT_MEM_MUTATION_SEED", 20261121)
	w := newMemWorld(t)
	slots <- struct{}{}
	defer func() { <-slots }()
	o := &oracle{rpc: w.headlessFor(30*time.Minute, w.Home)}
	defer o.rpc.stop()
	var hello struct{ OK bool }
	o.rpc.call("connect", map[string]any{}, &hello)

	seeds := recordedFiles(t)
	for kind, files := range validFiles {
		seeds[kind] = append(seeds[kind], slices.Repeat(files, 1+len(seeds[kind])/len(files))...)
	}
	whole := t
	for _, kind := range slices.Sorted(maps.Keys(validFiles)) {
		t.Run(kind, func(t *testing.T) {
			w.t, o.rpc.t = t, t
			defer func() { w.t, o.rpc.t = whole, whole }() // both outlive this kind
			o.compare(w, kind, breakFiles(w, kind, seeds[kind], perKind, seed))
		})
	}
}

// breakFiles writes the mutants of one kind, each into a folder of its own.
func breakFiles(w *world, kind string, valid [][2]string, n, seed int) []mutant {
	rnd := rand.New(rand.NewPCG(uint64(seed), uint64(len(kind))))
	mutants := make([]mutant, n)
	for i := range mutants {
		m := mutate(rnd, pick(rnd, valid))
		m.dir = filepath.Join(w.Root, "mutants", kind, fmt.Sprintf("m%05d", i))
		for name, text := range m.files {
			w.write(filepath.Join(m.dir, name), text)
		}
		mutants[i] = m
	}
	return mutants
}

// compare asks the client and us about every mutant.
func (o *oracle) compare(w *world, kind string, mutants []mutant) {
	t := w.t
	t.Helper()
	ours := w.verdicts(mutants)
	refused := 0
	for _, m := range mutants {
		theirs := o.ask(kind, m.dir)
		if len(theirs) > 0 {
			refused++
		}
		if (len(theirs) > 0) != (len(ours[m.dir]) > 0) {
			t.Errorf("%s\nclient: %q\nours:   %q\n%s", m.how, theirs, ours[m.dir], m.files[m.file])
		} else if kind == "skill" && len(theirs) == 0 {
			o.compareSkill(t, m)
		}
	}
	t.Logf("%d mutants, the client refuses %d", len(mutants), refused)
	if refused == 0 || refused == len(mutants) {
		t.Errorf("%d of %d refused: the mutations say nothing", refused, len(mutants))
	}
}

// recordedFiles are those of the recorded cases that the client takes and that are one file, by kind.
func recordedFiles(t *testing.T) map[string][][2]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repoRoot, "internal", "validate", "testdata", "loader.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	below := map[string]string{"skill": ".github/skills", "agent": ".github/agents", "hooks": "."}
	seeds := map[string][][2]string{}
	for line := range strings.Lines(string(data)) {
		var c struct {
			Kind, Verdict string
			Files         map[string]any
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		dir, ok := below[c.Kind]
		if !ok || len(c.Files) != 1 || c.Verdict != "loaded" {
			continue
		}
		for name, content := range c.Files {
			if text, ok := content.(string); ok && len(text) < 5000 {
				seeds[c.Kind] = append(seeds[c.Kind], [2]string{path.Join(dir, name), text})
			}
		}
	}
	return seeds
}

// compareSkill wants the name and the description that the client has read from a skill.
func (o *oracle) compareSkill(t *testing.T, m mutant) {
	t.Helper()
	s := plugin.ParseSkill(m.file, path.Base(path.Dir(m.file)), []byte(m.files[m.file]))
	if len(o.skills) != 1 || o.skills[0].Name != s.Name {
		t.Errorf("skill %s: the client has %+v, we read the name %q\n%s", m.how, o.skills, s.Name, m.files[m.file])
	} else if d := o.skills[0].Description; s.Doc.Fields.Get("description") != nil && d != s.Description {
		t.Errorf("skill %s: the client has the description %q, we %q\n%s", m.how, d, s.Description, m.files[m.file])
	}
}

func setting(t *testing.T, name string, preset int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return preset
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// verdicts gives the messages of our errors for each folder.
func (w *world) verdicts(mutants []mutant) map[string][]string {
	w.t.Helper()
	var dirs []string
	for _, m := range mutants {
		dirs = append(dirs, m.dir)
	}
	out, stderr, code := w.run(w.Home, w.env(), filepath.Join(w.Bin, "copilot-mem"), append([]string{"validate", "--json"}, dirs...)...)
	if code != 0 && code != 3 {
		w.t.Fatalf("validate: exit code %d\n%s", code, stderr)
	}
	var answer struct {
		Findings []struct{ File, Severity, Message, Rule string }
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		w.t.Fatal(err)
	}
	errs := map[string][]string{}
	for _, f := range answer.Findings {
		if f.Severity != "error" {
			continue
		}
		for _, d := range dirs {
			if strings.HasPrefix(f.File, d+string(filepath.Separator)) {
				errs[d] = append(errs[d], f.Message)
			}
		}
	}
	return errs
}

// oracle asks the client.
type oracle struct {
	rpc    *rpc
	skills []struct{ Name, Description string } // that the last answer had
}

// ask returns what the client says against the files in dir; nothing when it takes them.
func (o *oracle) ask(kind, dir string) []string {
	paths := map[string]any{"projectPaths": []string{dir}}
	var found struct {
		Errors   []string
		Warnings []string
		Agents   []struct{ Path string }
		Skills   []struct{ Name, Description string }
	}
	switch kind {
	case "skill", "command":
		o.rpc.call("skills.discover", paths, &found)
		o.skills = found.Skills
	case "agent":
		// The reason stands in the log only: an agent that is not listed was refused.
		o.rpc.call("agents.discover", paths, &found)
		if len(found.Agents) == 0 {
			return []string{"not listed"}
		}
	case "hooks", "settings":
		o.rpc.call("hooks.discover", paths, &found)
	case "plugin":
		var installed struct{ Plugin struct{ Name string } }
		if err := o.rpc.try("plugins.install", map[string]any{"source": dir}, &installed); err != nil {
			return []string{err.Error()}
		}
		defer o.rpc.call("plugins.uninstall", map[string]any{"name": installed.Plugin.Name}, &struct{}{})
		var more struct{ Errors []string }
		o.rpc.call("hooks.discover", paths, &found)
		o.rpc.call("skills.discover", paths, &more)
		found.Errors = append(found.Errors, more.Errors...)
	case "marketplace":
		var added struct{ Name string }
		if err := o.rpc.try("plugins.marketplaces.add", map[string]any{"source": dir}, &added); err != nil {
			return []string{err.Error()}
		}
		o.rpc.call("plugins.marketplaces.remove", map[string]any{"name": added.Name}, &struct{}{})
	}
	// A part that is passed over is said among the errors too; the plugin is loaded all the same.
	return slices.DeleteFunc(append(found.Errors, found.Warnings...), func(m string) bool {
		return strings.HasSuffix(m, "(ignored)") || strings.Contains(m, "is no longer read; move it there")
	})
}

// try is call for questions that the client may refuse.
func (r *rpc) try(method string, params, result any) error {
	r.t.Helper()
	answer := r.answer(method, params)
	if answer.Error != nil {
		var e struct{ Message string }
		if err := json.Unmarshal(answer.Error, &e); err != nil {
			return err
		}
		return fmt.Errorf("%s", e.Message)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}
