package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

const onWindows = runtime.GOOS == "windows"

// hookSource is one file with hooks that the client may read in the working folder (client 1.0.102).
type hookSource struct {
	file     string
	scope    string // user, repo or plugin
	root     string // what ${PLUGIN_ROOT} stands for; empty outside plugins
	settings bool   // the hooks stand in a settings file, which may hold anything else
	disabled bool   // disableAllHooks in this very file
	entries  []hookEntry
	err      error
}

// hookEntry is one hook of a source, under the camelCase name of its event.
type hookEntry struct {
	event string
	plugin.Hook
	file, root string
}

// line is the shell command of an entry on this system, empty where it has none.
func (e hookEntry) line() string {
	if onWindows {
		return firstOf(e.PowerShell, e.Command)
	}
	return firstOf(e.Bash, e.Command)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

var oursInText = regexp.MustCompile(`(^|[^\w-])copilot-mem(-hook)?(\.exe)?($|[^\w-])`)

// ours says whether the entry starts a program of ours.
func (e hookEntry) ours() bool {
	if e.Exec != "" {
		name := strings.TrimSuffix(filepath.Base(filepath.FromSlash(e.Exec)), ".exe")
		return name == "copilot-mem" || name == "copilot-mem-hook"
	}
	return oursInText.MatchString(e.line())
}

func (s hookSource) ours() bool { return slices.ContainsFunc(s.entries, hookEntry.ours) }

// readSources finds the hook files of the user, the repository and the plugins that are switched on.
func (h *health) readSources() []hookSource {
	var all []hookSource
	for _, file := range jsonFiles(h.home.Hooks()) {
		all = append(all, readSource(file, render.User, "", false))
	}
	all = append(all, readSource(h.home.Settings(), render.User, "", true))
	for _, file := range jsonFiles(filepath.Join(h.root, ".github", "hooks")) {
		all = append(all, readSource(file, render.Repo, "", false))
	}
	for _, name := range repoSettings {
		all = append(all, readSource(filepath.Join(h.root, filepath.FromSlash(name)), render.Repo, "", true))
	}
	for _, root := range h.pluginRoots() {
		p, err := plugin.Load(os.DirFS(root))
		if err == nil && p.Hooks != "" {
			all = append(all, readSource(filepath.Join(root, filepath.FromSlash(p.Hooks)), render.Bundle, root, false))
		}
	}
	return slices.DeleteFunc(all, func(s hookSource) bool { return s.settings && s.err == nil && len(s.entries) == 0 && !s.disabled })
}

// repoSettings are the settings files of a repository whose hooks the client runs.
var repoSettings = []string{".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json"}

// jsonFiles lists the files that the client takes for hook files: every *.json below dir that does not begin with a dot.
func jsonFiles(dir string) []string {
	var files []string
	// A folder that is not there, or cannot be read, has none: the client sees it the same way.
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".json") && !strings.HasPrefix(d.Name(), ".") {
			files = append(files, path)
		}
		return nil
	})
	return files
}

func readSource(file, scope, root string, settings bool) hookSource {
	s := hookSource{file: file, scope: scope, root: root, settings: settings}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	if err != nil {
		s.err = err
		return s
	}
	var doc struct {
		DisableAllHooks bool                         `json:"disableAllHooks"`
		Hooks           map[string][]json.RawMessage `json:"hooks"`
	}
	if s.err = json.Unmarshal(withoutComments(data, settings), &doc); s.err != nil {
		return s
	}
	s.disabled = doc.DisableAllHooks
	for name, items := range doc.Hooks {
		event := plugin.EventNames[name]
		for _, raw := range items {
			var item plugin.Hook
			if json.Unmarshal(raw, &item) != nil || event == "" {
				continue // package validate names it, and the client skips it alone
			}
			nested := item.Hooks
			if len(nested) == 0 {
				nested = []plugin.Hook{item}
			}
			for _, hook := range nested {
				hook.Exec = strings.NewReplacer("${PLUGIN_ROOT}", root, "${CLAUDE_PLUGIN_ROOT}", root).Replace(hook.Exec)
				s.entries = append(s.entries, hookEntry{event, hook, file, root})
			}
		}
	}
	slices.SortStableFunc(s.entries, func(a, b hookEntry) int { return strings.Compare(a.event, b.event) })
	return s
}

// withoutComments drops the lines that begin with //: the client writes two of them at the head of its config.json.
func withoutComments(data []byte, lenient bool) []byte {
	if !lenient {
		return data
	}
	var kept strings.Builder
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") {
			kept.WriteString(line)
		}
	}
	return []byte(kept.String())
}

// readSettings decodes a settings file of the client; one that is not there leaves v as it is.
func readSettings(file string, v any) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(withoutComments(data, true), v)
}

// pluginRoots are the folders of the plugins that are switched on: those of local marketplaces, which are loaded where they
// lie, and copies below installed-plugins.
func (h *health) pluginRoots() []string {
	var settings struct {
		Known map[string]struct {
			Source struct{ Source, Path string }
		} `json:"extraKnownMarketplaces"`
		Enabled map[string]bool `json:"enabledPlugins"`
	}
	// What is wrong with the file is told by hooks/valid.
	if readSettings(h.home.Settings(), &settings) != nil {
		return nil
	}
	var roots []string
	for name, on := range settings.Enabled {
		if !on {
			continue
		}
		id, market, _ := strings.Cut(name, "@")
		copied := filepath.Join(h.home.Dir, "installed-plugins", market, id)
		if m := settings.Known[market]; m.Source.Source == "directory" {
			if root := pluginIn(m.Source.Path, id); root != "" {
				roots = append(roots, root)
			}
		} else if isFolder(copied) {
			roots = append(roots, copied)
		}
	}
	direct, err := filepath.Glob(filepath.Join(h.home.Dir, "installed-plugins", "_direct", "*"))
	if err == nil {
		roots = append(roots, direct...)
	}
	slices.Sort(roots)
	return roots
}

// pluginIn finds a plugin in a local marketplace, empty where there is none.
func pluginIn(dir, id string) string {
	for _, name := range []string{"marketplace.json", ".plugin/marketplace.json", ".github/plugin/marketplace.json", ".claude-plugin/marketplace.json"} {
		var m struct {
			Metadata struct{ PluginRoot string }
			Plugins  []struct {
				Name   string
				Source json.RawMessage // a path, or an object for what lies elsewhere
			}
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || json.Unmarshal(data, &m) != nil {
			continue
		}
		for _, p := range m.Plugins {
			var source string
			if p.Name == id && json.Unmarshal(p.Source, &source) == nil {
				return filepath.Join(dir, filepath.FromSlash(m.Metadata.PluginRoot), filepath.FromSlash(source))
			}
		}
	}
	return ""
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
