//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// talk is a conversation with a headless client in which a person types more than one prompt. The client's own RPC does
// what its terminal does: send, rewind, compact, clear.
type talk struct {
	*rpc
	w     *world
	model *endpoint
	dir   string
	ID    string // of the session that is talked to
}

// talk starts a client with our hooks, whatever scope they were installed in.
func (w *world) talk(dir string, model *endpoint) *talk {
	w.t.Helper()
	slots <- struct{}{}
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	cmd := exec.CommandContext(ctx, clientBin, "--headless", "--stdio", "--no-auto-update", "--no-auto-login", "--log-level", "debug")
	cmd.Dir, cmd.Env = dir, w.env(
		"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL="+model.URL, "COPILOT_PROVIDER_API_KEY=loopback-key-that-occurs-nowhere-else",
		"COPILOT_MODEL=gpt-4.1", trust)
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	r := &rpc{t: w.t, in: in, out: bufio.NewReader(out)}
	r.stop = sync.OnceFunc(func() {
		defer func() { <-slots }()
		in.Close()
		timer := time.AfterFunc(20*time.Second, cancel)
		defer timer.Stop()
		if err := cmd.Wait(); err != nil {
			w.t.Logf("headless client: %v", err)
		}
	})
	w.t.Cleanup(r.stop)
	c := &talk{rpc: r, w: w, model: model, dir: dir}
	var hello struct{}
	c.call("connect", map[string]any{}, &hello)
	return c
}

// create begins a session; resume takes up one that there is.
func (c *talk) create() { c.session("session.create", map[string]any{}) }

func (c *talk) resume(id string) { c.session("session.resume", map[string]any{"sessionId": id}) }

func (c *talk) session(method string, params map[string]any) {
	c.t.Helper()
	params["workingDirectory"], params["model"], params["enableConfigDiscovery"] = c.dir, "gpt-4.1", true
	params["provider"] = map[string]any{"type": "openai", "baseUrl": c.model.URL}
	var s struct {
		ID string `json:"sessionId"`
	}
	c.call(method, params, &s)
	c.ID = s.ID
	if s.ID == "" {
		c.t.Fatalf("%s: no session", method)
	}
	var allowed struct{}
	c.do("session.permissions.setApproveAll", map[string]any{"enabled": true}, &allowed)
}

// clear does what /clear does in the terminal: it ends the session and begins another one in the same program.
func (c *talk) clear() {
	c.t.Helper()
	var done json.RawMessage
	c.do("session.shutdown", map[string]any{"detachSessionEndHooks": true}, &done)
	c.create()
}

// say sends a prompt and waits for the end of the turn.
func (c *talk) say(prompt string) {
	c.t.Helper()
	var sent struct{}
	c.call("session.send", map[string]any{"sessionId": c.ID, "prompt": prompt}, &sent)
	c.wait("session.idle")
}

// do calls a method of the session.
func (c *talk) do(method string, params map[string]any, result any) {
	c.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	params["sessionId"] = c.ID
	c.call(method, params, result)
}

// wait reads what the client tells until an event of the session has this type.
func (c *talk) wait(event string) {
	c.t.Helper()
	for {
		m, err := c.receive()
		if err != nil {
			c.t.Fatalf("waiting for %s: %v\n%s", event, err, c.w.clientLog())
		}
		switch {
		case m.Method != "" && m.ID != nil:
			c.send(rpcMessage{ID: m.ID, Result: json.RawMessage("{}")})
		case m.Method != "":
			if raw, err := json.Marshal(m.Params); err == nil && strings.Contains(string(raw), `"type":"`+event+`"`) {
				return
			}
		}
	}
}

// userMessages gives the ids of the events with the user's words, in order, as they are on disk.
func (c *talk) userMessages() []string {
	c.t.Helper()
	var ids []string
	for _, e := range c.w.events(c.ID) {
		if e.Type == "user.message" && e.AgentID == "" {
			ids = append(ids, e.ID)
		}
	}
	return ids
}
