// Command probe is what the fixture plugin brings: an MCP server with one tool, and a hook that writes down its events.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "hook" {
		hook(os.Args[2])
		return
	}
	serve(os.Stdin, os.Stdout)
}

// hook appends the event's name to the file in PROBE_LOG, and fails where that cannot be done.
func hook(event string) {
	f, err := os.OpenFile(os.Getenv("PROBE_LOG"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, event)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
}

func serve(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	enc := json.NewEncoder(out)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		var p struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Params, &p)
		answer := message{Version: "2.0", ID: m.ID, Result: map[string]any{}}
		switch m.Method {
		case "initialize":
			answer.Result = map[string]any{"protocolVersion": p.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "probe", "version": "1.0.0"}}
		case "tools/list":
			answer.Result = map[string]any{"tools": []any{map[string]any{"name": "ping", "description": "Answers.",
				"inputSchema": map[string]any{"type": "object", "properties": map[string]any{}}}}}
		case "tools/call":
			answer.Result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "pong with " + fmt.Sprint(os.Args[1:])}}}
		}
		if enc.Encode(answer) != nil {
			return
		}
	}
}
