package render

import (
	"path"
	"strings"
)

// ServerName is the name of our MCP server; the client puts it before the tools' names.
const ServerName = "copilot-mem"

// Server is an MCP server as a client's configuration names it. The working folder "." is that of the session (client
// 1.0.102), which tells the server its project.
type Server struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Cwd     string   `json:"cwd,omitempty"`
	Tools   []string `json:"tools,omitempty"`
}

// MCPServer is our server in a configuration of the client, for a program at a path or on PATH.
func MCPServer(command string) Server {
	return Server{Type: "local", Command: command, Args: []string{"mcp"}, Cwd: ".", Tools: []string{"*"}}
}

// servers adds our MCP server to a bundle, in the form of either client.
func (r *renderer) servers() {
	if r.o.Full == "" {
		return
	}
	type file struct {
		Schema  string            `json:"$schema,omitempty"`
		Servers map[string]Server `json:"mcpServers"`
	}
	ours := Server{Type: "stdio", Command: r.o.Full, Args: []string{"mcp"}, Cwd: "."}
	r.addJSON("mcp.json", file{"https://agent-plugins.org/schemas/1.0.0/mcp.schema.json", map[string]Server{ServerName: ours}})
	ours.Type, ours.Cwd = "", ""
	if rest, ok := strings.CutPrefix(r.o.Full, "./"); ok {
		ours.Command = "${CLAUDE_PLUGIN_ROOT}/" + rest
	}
	r.addJSON(path.Join(claudeDir, "mcp.json"), file{Servers: map[string]Server{ServerName: ours}})
}
