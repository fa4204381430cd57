package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
	"github.com/copilot-mem/copilot-mem/internal/render"
)

const (
	on  = "on"
	off = "off"
)

// settleRecall takes the flag, else the answer, else what the config says. Somebody who installs a memory expects it to speak
// up, so it does at first.
func (e *env) settleRecall(f *initFlags, ask bool) error {
	f.recallSaid = f.recall != ""
	switch f.recall {
	case on, off:
		return nil
	case "":
	default:
		return &usageError{fmt.Errorf("--recall %s: not on or off", f.recall), "leave it out to keep what the config says"}
	}
	data, err := e.dataDir()
	if err != nil {
		return err
	}
	c, _ := config.Load(data.Config()) // with mistakes in it the defaults hold; doctor tells of them
	f.recall = map[bool]string{true: on, false: off}[c.Recall.Enabled]
	if !ask {
		return nil
	}
	yes, err := e.confirm("Should the agent be told by itself what memory knows about its task?", c.Recall.Enabled)
	f.recall, f.recallSaid = map[bool]string{true: on, false: off}[yes], true
	return err
}

// keepRecall writes what was said into the user's config; a repository's hooks are everybody's and say nothing of one user.
func (e *env) keepRecall(f initFlags) error {
	data, err := e.dataDir()
	if err != nil || !f.recallSaid || f.scope == render.Repo {
		return err
	}
	c, err := config.Load(data.Config())
	if err != nil || c.Recall.Enabled == (f.recall == on) {
		return err
	}
	return e.changeConfig(func(text []byte) ([]byte, error) {
		return config.Set(text, "recall.enabled", map[bool]string{true: "true", false: "false"}[f.recall == on])
	})
}

// fullProgram is where the hooks and the client find copilot-mem itself: on PATH, else a copy in the data folder, which
// comes as a file to write.
func (e *env) fullProgram(data datadir.Dir, exe string) (string, *plugin.File, error) {
	p, err := install.FindMain(exe, e.Getenv("PATH"))
	if err != nil || p.Stable != "" {
		return p.Stable, nil, err
	}
	binary, err := os.ReadFile(p.Source)
	if err != nil {
		return "", nil, err
	}
	f := dataProgram(data, &render.Program{Name: p.Name, Target: runtime.GOOS + "-" + runtime.GOARCH, Data: binary})
	return filepath.Join(string(data), filepath.FromSlash(f.Path)), &f, nil
}

// serverEntry is our MCP server in a file that may have others.
func serverEntry(file, command string) (*install.Merge, error) {
	key, err := install.NewKey("mcpServers", render.ServerName, render.MCPServer(command))
	return &install.Merge{Path: file, Keys: []install.Key{key}}, err
}

// repoServers is the file in which a repository names its MCP servers: the client (1.0.102) reads the first that is there.
func repoServers(root string) string {
	if _, err := os.Lstat(filepath.Join(root, ".mcp.json")); err == nil {
		return ".mcp.json"
	}
	return ".github/mcp.json"
}
