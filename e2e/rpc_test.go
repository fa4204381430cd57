//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// rpc speaks to a headless client: JSON-RPC with Content-Length frames on stdin and stdout.
type rpc struct {
	t    *testing.T
	in   io.Writer
	out  *bufio.Reader
	last int
	stop func() // ends the client and waits for it
}

type rpcMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// headless starts a client in dir with the repository trusted; it ends with the test, or with stop.
func (w *world) headless(dir string, args ...string) *rpc {
	w.t.Helper()
	return w.headlessFor(2*time.Minute, dir, args...)
}

// headlessFor is headless for tests that ask longer than two minutes.
func (w *world) headlessFor(limit time.Duration, dir string, args ...string) *rpc {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), limit)
	cmd := exec.CommandContext(ctx, clientBin, append([]string{"--headless", "--stdio", "--no-auto-update", "--no-auto-login", "--log-level", "debug"}, args...)...)
	// The provider is only named: nothing here asks a model. Ending the client fires sessionEnd, which no test is about.
	cmd.Dir, cmd.Env = dir, w.env("COPILOT_MEM_DISABLE=1", "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:9/v1", "COPILOT_MODEL=gpt-4.1", "COPILOT_ALLOW_ALL=true")
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
		// The npm package starts the client as a child: a kill would reach its loader only, so the input is closed first.
		in.Close()
		timer := time.AfterFunc(20*time.Second, cancel)
		defer timer.Stop()
		if err := cmd.Wait(); err != nil {
			w.t.Logf("headless client: %v", err)
		}
	})
	w.t.Cleanup(r.stop)
	return r
}

// call asks and decodes the result into result; an error answer ends the test.
func (r *rpc) call(method string, params, result any) {
	r.t.Helper()
	m := r.answer(method, params)
	if m.Error != nil {
		r.t.Fatalf("%s: %s", method, m.Error)
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		r.t.Fatalf("%s: %v: %s", method, err, m.Result)
	}
}

// answer asks and waits for the result or the error.
func (r *rpc) answer(method string, params any) rpcMessage {
	r.t.Helper()
	r.last++
	id := strconv.Itoa(r.last)
	r.send(rpcMessage{ID: json.RawMessage(id), Method: method, Params: params})
	for {
		m, err := r.receive()
		if err != nil {
			r.t.Fatalf("%s: %v", method, err)
		}
		switch {
		case m.Method != "" && m.ID != nil: // the client asks us; nothing here depends on the answer
			r.send(rpcMessage{ID: m.ID, Result: json.RawMessage("{}")})
		case m.Method == "" && string(m.ID) == id:
			return m
		}
	}
}

func (r *rpc) send(m rpcMessage) {
	r.t.Helper()
	m.Version = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(r.in, "Content-Length: %d\r\n\r\n%s", len(data), data); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rpc) receive() (rpcMessage, error) {
	length := 0
	for {
		line, err := r.out.ReadString('\n')
		if err != nil {
			return rpcMessage{}, err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return rpcMessage{}, err
			}
		}
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(r.out, data); err != nil {
		return rpcMessage{}, err
	}
	var m rpcMessage
	return m, json.Unmarshal(data, &m)
}

// loaded is what the client found in a folder, by its own account.
type loaded struct {
	Skills   []string // names, without the built-in ones
	Agents   []string // ids
	Hooks    []string // event names, sorted, each as often as it is registered
	Problems []string // everything the client refused or warned of
}

// load asks the client what a session in dir has; args may name a plugin folder.
func (w *world) load(dir string, args ...string) loaded {
	w.t.Helper()
	slots <- struct{}{}
	defer func() { <-slots }()
	r := w.headless(dir, args...)
	defer r.stop()
	paths := map[string]any{"projectPaths": []string{dir}}
	var got loaded

	var hello struct {
		OK bool `json:"ok"`
	}
	r.call("connect", map[string]any{}, &hello)
	var skills struct {
		Errors []json.RawMessage `json:"errors"`
	}
	r.call("skills.discover", paths, &skills)
	var hooks struct {
		Hooks []struct {
			HookType string `json:"hookType"`
			Enabled  bool   `json:"enabled"`
		} `json:"hooks"`
		Warnings []json.RawMessage `json:"warnings"`
		Errors   []json.RawMessage `json:"errors"`
	}
	r.call("hooks.discover", paths, &hooks)
	for _, h := range hooks.Hooks {
		if h.Enabled {
			got.Hooks = append(got.Hooks, h.HookType)
		}
	}
	slices.Sort(got.Hooks)
	for _, p := range slices.Concat(skills.Errors, hooks.Warnings, hooks.Errors) {
		got.Problems = append(got.Problems, string(p))
	}

	// Plugins given by --plugin-dir show their skills and agents to sessions only.
	var s struct {
		ID string `json:"sessionId"`
	}
	r.call("session.create", map[string]any{"workingDirectory": dir, "model": "gpt-4.1", "enableConfigDiscovery": true,
		"provider": map[string]any{"type": "openai", "baseUrl": "http://127.0.0.1:9/v1"}}, &s)
	id := map[string]any{"sessionId": s.ID}
	var list struct {
		Skills []struct {
			Name, Source string
			Enabled      bool
		} `json:"skills"`
		Agents []struct {
			ID string `json:"id"`
		} `json:"agents"`
	}
	r.call("session.skills.list", id, &list)
	r.call("session.agent.list", id, &list)
	for _, sk := range list.Skills {
		if sk.Source != "builtin" && sk.Enabled {
			got.Skills = append(got.Skills, sk.Name)
		}
	}
	for _, a := range list.Agents {
		got.Agents = append(got.Agents, a.ID)
	}
	// What is wrong with an agent, and with a plugin's parts, stands in the log only.
	for line := range strings.Lines(w.clientLog()) {
		if strings.Contains(line, ".md") || strings.Contains(line, "hook") || strings.Contains(line, "lugin") || strings.Contains(line, "copilot-mem") {
			got.Problems = append(got.Problems, strings.TrimSpace(line))
		}
	}
	return got
}
