package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// remembers are names of programs that put memories into prompts.
var remembers = regexp.MustCompile(`(?i)(^|[^a-z])(mem0|claude-mem|agent-?memory|memory-ingest|memory-[a-z]+|[a-z]+-memory|recall|remember|supermemory|letta|zep|cognee)($|[^a-z])`)

// alone: of several hooks that give context to a prompt only the last one's reaches the model (client 1.0.102); at the start
// of a session all do.
func (h *health) alone(context.Context) doctor.Outcome {
	var others, evidence []string
	for _, s := range h.sources() {
		for _, e := range s.entries {
			if e.ours() || e.event != "userPromptSubmitted" && e.event != "sessionStart" {
				continue
			}
			why := h.injects(e)
			evidence = append(evidence, fmt.Sprintf("%s: %s: %s", s.file, e.event, orText(why, "no sign of context")))
			if why != "" && !slices.Contains(others, s.file) {
				others = append(others, s.file)
			}
		}
	}
	if len(others) > 0 {
		return with(warn("keep one of them: remove its hook file or plugin, or ours with `copilot-mem uninstall`",
			"another program gives memories to the model: %s; of several contexts for a prompt only the last one counts", someOf(others)), evidence...)
	}
	return with(ok("no other program gives memories to the model"), evidence...)
}

// injects says what in a hook of somebody else shows that it gives context: its name, or the script that it starts.
func (h *health) injects(e hookEntry) string {
	text := e.Exec + " " + strings.Join(e.Args, " ") + " " + e.line()
	if m := remembers.FindStringSubmatch(filepath.Base(e.file) + " " + text); m != nil {
		return "it is called " + m[2]
	}
	if strings.Contains(text, "additionalContext") {
		return "its command prints additionalContext"
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\"';|&()", r) }) {
		dir := h.root
		if e.root != "" {
			dir = e.root
		}
		path := strings.NewReplacer("${PLUGIN_ROOT}", e.root, "${CLAUDE_PLUGIN_ROOT}", e.root, "$PLUGIN_ROOT", e.root).Replace(word)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 256<<10 {
			continue
		}
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte("additionalContext")) {
			return path + " prints additionalContext"
		}
	}
	return ""
}

// skillPlaces are the folders that the client looks for skills in, first wins; the plugin's come last.
func (h *health) skillPlaces() []string {
	var dirs []string
	for _, convention := range []string{".github", ".agents", ".claude"} {
		for dir := h.Dir; ; dir = filepath.Dir(dir) {
			dirs = append(dirs, filepath.Join(dir, convention, "skills"))
			if h.inGit && dir == h.root || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	dirs = append(dirs, h.home.Skills())
	if h.Getenv("COPILOT_HOME") == "" {
		dirs = append(dirs, filepath.Join(filepath.Dir(h.home.Dir), ".agents", "skills"))
	}
	for _, root := range h.pluginRoots() {
		dirs = append(dirs, filepath.Join(root, "skills"))
	}
	return dirs
}

// shadowed: of several skills with one name the client takes the first that it finds, without a word.
func (h *health) shadowed(context.Context) doctor.Outcome {
	own := h.ownFiles()
	first := map[string]string{}
	n := 0
	for _, place := range h.skillPlaces() {
		for _, file := range skillFiles(place) {
			data, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			name := plugin.ParseSkill(file, filepath.Base(filepath.Dir(file)), data).Name
			before, taken := first[name]
			if !taken {
				first[name] = file
			}
			if !own[file] {
				continue
			}
			n++
			if taken && !own[before] {
				return warn("rename that skill, or remove it", "skill %s: the client takes %s and passes over ours in %s", name, before, file)
			}
		}
	}
	if n == 0 {
		return skipped("no skill of ours is installed for this folder")
	}
	return ok("%d skills, none hidden by another of its name", n)
}

// skillFiles lists the SKILL.md files below a folder; those below another skill are never found by the client.
func skillFiles(place string) []string {
	var files []string
	_ = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error { // a folder that is not there has none
		if err != nil || !d.IsDir() {
			return nil
		}
		if path != place && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		file := filepath.Join(path, "SKILL.md")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			files = append(files, file)
			return fs.SkipDir
		}
		return nil
	})
	return files
}

// serverEntry is an MCP server of ours that the client would start here.
type serverEntry struct {
	file, name string
	Command    string            `json:"command"`
	Args       []string          `json:"args"`
	Env        map[string]string `json:"env"`
}

// serverEntries reads the MCP configurations of the user, the repository and the plugins for servers of ours.
func (h *health) serverEntries() []serverEntry {
	roots := map[string]string{
		filepath.Join(h.home.Dir, "mcp-config.json"):  "",
		filepath.Join(h.root, ".mcp.json"):            "",
		filepath.Join(h.root, ".github", "mcp.json"):  "",
		filepath.Join(h.root, ".copilot", "mcp.json"): "",
		filepath.Join(h.root, ".vscode", "mcp.json"):  "",
	}
	for _, root := range h.pluginRoots() {
		roots[filepath.Join(root, "mcp.json")], roots[filepath.Join(root, ".mcp.json")] = root, root
	}
	var out []serverEntry
	for file, root := range roots {
		var doc struct {
			Servers map[string]serverEntry `json:"mcpServers"`
			VSCode  map[string]serverEntry `json:"servers"`
		}
		if readSettings(file, &doc) != nil {
			continue // hooks/valid is for files of ours; the client tells of its own
		}
		for _, servers := range []map[string]serverEntry{doc.Servers, doc.VSCode} {
			for name, s := range servers {
				s.file, s.name = file, name
				expand := strings.NewReplacer("${PLUGIN_ROOT}", root, "${CLAUDE_PLUGIN_ROOT}", root)
				s.Command = expand.Replace(s.Command)
				if strings.HasPrefix(s.Command, "./") && root != "" {
					s.Command = filepath.Join(root, s.Command)
				}
				base := strings.TrimSuffix(filepath.Base(filepath.FromSlash(s.Command)), ".exe")
				if base == "copilot-mem" || oursInText.MatchString(strings.Join(s.Args, " ")) {
					out = append(out, s)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b serverEntry) int { return strings.Compare(a.file+a.name, b.file+b.name) })
	return out
}

// servers starts each MCP server of ours as the client would and waits for its answer: the first call of the model waits
// for it, too, up to a minute (client 1.0.102).
func (h *health) servers(ctx context.Context) doctor.Outcome {
	entries := h.serverEntries()
	if len(entries) == 0 {
		return skipped("no MCP server of ours is installed for this folder")
	}
	problems := make([]error, len(entries))
	took := make([]time.Duration, len(entries))
	var wg sync.WaitGroup
	for i, s := range entries {
		wg.Go(func() {
			start := time.Now()
			problems[i] = s.greet(ctx, h.patient, h.Dir)
			took[i] = time.Since(start)
		})
	}
	wg.Wait()
	var times []string
	for i, s := range entries {
		if problems[i] != nil {
			hint := "start `" + quoteArgs(append([]string{s.Command}, s.Args...)) + "` by hand and see what it says; remove the entry where it is not wanted"
			if errors.Is(problems[i], fs.ErrNotExist) || errors.Is(problems[i], exec.ErrNotFound) {
				hint = "run `copilot-mem init` again, or correct the command of the server " + s.name
			}
			return bad(hint, "%s: server %s: %v", s.file, s.name, problems[i])
		}
		times = append(times, fmt.Sprintf("%s in %d ms", s.name, took[i].Milliseconds()))
	}
	return ok("answered: %s", strings.Join(times, ", "))
}

// greet does what the client does first: server/discover, which may be refused, then initialize.
func (s serverEntry) greet(ctx context.Context, patience time.Duration, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Command, s.Args...)
	cmd.Dir, cmd.WaitDelay = dir, hurried
	cmd.Env = append(os.Environ(), "COPILOT_AGENT_SESSION_ID=doctor")
	for k, v := range s.Env {
		cmd.Env = append(cmd.Env, k+"="+os.ExpandEnv(v))
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	answered := make(chan error, 1)
	go func() {
		answered <- talkMCP(in, out)
		_ = in.Close()                  // the server ends when its input does
		_, _ = io.Copy(io.Discard, out) // what else it says is not asked for
	}()
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = fmt.Errorf("no answer in %s", patience)
	}
	cancel()
	_ = cmd.Wait() // it was ended
	return err
}

func talkMCP(in io.Writer, out io.Reader) error {
	const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}` + "\n"
	const initialize = `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"copilot-mem doctor","version":"1"}}}` + "\n"
	if _, err := io.WriteString(in, discover+initialize); err != nil {
		return errors.New("it ended without an answer")
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			return fmt.Errorf("it printed a line that is no message: %.60q", lines.Text())
		}
		if string(m.ID) != "2" {
			continue
		}
		if m.Result == nil {
			return fmt.Errorf("it refused to start: %s", m.Error)
		}
		return nil
	}
	return errors.New("it ended without an answer")
}
