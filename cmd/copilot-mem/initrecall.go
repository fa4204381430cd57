package main

import (
	"os"
	"path/filepath"

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

// recalls says whether the hooks tell the agent what memory knows: as somebody said, else as the config says. Somebody who
// installs a memory expects it to speak up, so it does at first.
func (f *initFlags) recalls(data datadir.Dir) bool {
	if f.recall != "" {
		return f.recall == on
	}
	c, _ := config.Load(data.Config()) // with mistakes in it the defaults hold; doctor tells of them
	return c.Recall.Enabled
}

// full is copilot-mem itself, for hooks and the client to start.
type full struct {
	path string       // empty: not known
	file *plugin.File // to write into the data folder; nil: it is on PATH
}

// fullProgram is where the hooks and the client find copilot-mem itself: on PATH, else a copy in the data folder.
func (e *env) fullProgram(data datadir.Dir, exe string) (full, error) {
	p, err := install.FindMain(exe, e.Getenv("PATH"))
	if err != nil || p.Stable != "" {
		return full{path: p.Stable}, err
	}
	f, err := dataProgram(data, p)
	return full{filepath.Join(string(data), filepath.FromSlash(f.Path)), &f}, err
}

// ourServer is our MCP server in a file that may have others.
func ourServer(file, command string) (install.Merge, error) {
	key, err := install.NewKey("mcpServers", render.ServerName, render.MCPServer(command))
	return install.Merge{Path: file, Keys: []install.Key{key}}, err
}

// repoServers is the file in which a repository names its MCP servers: the client (1.0.102) reads the first that is there.
func repoServers(root string) string {
	if _, err := os.Lstat(filepath.Join(root, ".mcp.json")); err == nil {
		return ".mcp.json"
	}
	return ".github/mcp.json"
}
