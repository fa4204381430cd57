package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/render"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

const (
	sessionLimit = time.Minute      // for a client that unpacks itself first
	answerLimit  = 10 * time.Second // for the model's last words, which reach the transcript after the end
)

// session runs the installed client once, without a network, against a model that this check plays on 127.0.0.1. The client
// works in a folder for temporary files, with a folder of its own that has only our hooks and our plugin in it, so that
// nothing of the user's is read or changed. What the hooks capture goes into the user's data folder, is found again, and
// removed.
func (h *health) session(ctx context.Context) doctor.Outcome {
	c, err := h.client()
	if err != nil {
		return bad("install Copilot CLI: npm install -g @github/copilot", "there is no client to start: %v", err)
	}
	start := time.Now()
	evidence, err := h.wholeSession(ctx, c)
	if errors.Is(err, errNoHooks) {
		return skipped(err.Error())
	}
	if err != nil {
		return with(bad("run `copilot-mem doctor --live --verbose`: it sends the same events without the client", "a session of %s: %v", c.path, err), evidence...)
	}
	return with(ok("a session of %s %s was captured, found again and removed in %d ms", c.path, c.version, time.Since(start).Milliseconds()), evidence...)
}

var errNoHooks = errors.New("no hook of ours is installed for this folder")

func (h *health) wholeSession(ctx context.Context, c clientProgram) (evidence []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessionLimit+answerLimit)
	defer cancel()
	db, err := h.db()
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "copilot-mem-doctor-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, removeSoon(temp)) }()
	if err := h.furnish(temp); err != nil {
		return nil, err
	}
	model, err := newPlayedModel()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, model.close()) }()
	id := uuid()
	defer func() {
		_, gone := db.Forget(context.WithoutCancel(ctx), store.Selection{Session: id}, h.Now(), false)
		err = errors.Join(err, gone, db.Scrub(context.WithoutCancel(ctx)))
	}()
	cmd := exec.CommandContext(ctx, c.path, "-p", "doctor prompt "+model.prompt, "--session-id", id, "--allow-all-tools", "--no-auto-update", "--log-level", "error")
	cmd.Dir, cmd.Env, cmd.WaitDelay = filepath.Join(temp, "project"), h.clientEnv(temp, model.url), hurried
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, lastWords(out))
	}
	evidence = append(evidence, fmt.Sprintf("the client ran %d ms and asked the model %d times", time.Since(start).Milliseconds(), model.asked()))
	if !bytes.Contains(out, []byte(model.answer)) {
		return evidence, fmt.Errorf("it did not print the model's answer: %s", lastWords(out))
	}
	if !model.toolRan() {
		return evidence, errors.New("a tool call did not run: a hook denied it, or the client did not offer the tool")
	}
	for _, want := range []struct{ what, word, event string }{
		{"prompt", model.prompt, "userPromptSubmitted"}, {"tool result", model.output, "postToolUse"}, {"answer", model.answer, "transcript.assistant.message"},
	} {
		if !h.keeps(want.event) {
			continue
		}
		if err := h.await(ctx, db, id, want.word); err != nil {
			return evidence, fmt.Errorf("%s: %w", want.what, err)
		}
		evidence = append(evidence, "found again: the "+want.what)
	}
	return evidence, nil
}

// await searches until a word of the session is found.
func (h *health) await(ctx context.Context, db *store.DB, session, word string) error {
	for end := time.Now().Add(answerLimit); ; {
		if _, err := h.catchUp(ctx, h.data, db); err != nil {
			return err
		}
		answer, err := h.find(ctx, db, memory.Query{Text: word, Session: session, Limit: 1}, false)
		if err != nil || len(answer.Hits) > 0 {
			return err
		}
		if time.Now().After(end) {
			return errors.New("the session ended, but search does not find it")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// furnish makes a client's folder and a project that have our hooks in the scopes where they are installed.
func (h *health) furnish(temp string) error {
	client, project := filepath.Join(temp, "copilot"), filepath.Join(temp, "project")
	for _, dir := range []string{client, filepath.Join(project, ".git"), filepath.Join(client, "hooks")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(project, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		return err
	}
	some := false
	for i, s := range h.sources() {
		if !s.ours() {
			continue
		}
		some = true
		var err error
		switch s.scope {
		case render.User:
			err = copyInto(s.file, filepath.Join(client, "hooks", fmt.Sprintf("%d.json", i)))
		case render.Repo:
			err = copyInto(s.file, filepath.Join(project, ".github", "hooks", fmt.Sprintf("%d.json", i)))
			if programs := filepath.Join(h.root, ".github", "copilot-mem", "bin"); err == nil && isFolder(programs) {
				err = os.CopyFS(filepath.Join(project, ".github", "copilot-mem", "bin"), os.DirFS(programs))
			}
		case render.Bundle:
			err = h.enablePlugin(filepath.Join(client, "settings.json"), s.root)
		}
		if err != nil {
			return err
		}
	}
	if !some {
		return errNoHooks
	}
	return nil
}

// enablePlugin writes settings with one local marketplace and one plugin of it: those of the user that root belongs to.
func (h *health) enablePlugin(file, root string) error {
	var settings struct {
		Known map[string]struct {
			Source struct {
				Source string `json:"source"`
				Path   string `json:"path"`
			} `json:"source"`
		} `json:"extraKnownMarketplaces"`
		Enabled map[string]bool `json:"enabledPlugins"`
	}
	if err := readSettings(h.home.Settings(), &settings); err != nil {
		return err
	}
	for name := range settings.Enabled {
		id, market, _ := strings.Cut(name, "@")
		if m, known := settings.Known[market]; known && pluginIn(m.Source.Path, id) == root {
			data, err := json.Marshal(map[string]any{"extraKnownMarketplaces": map[string]any{market: m}, "enabledPlugins": map[string]bool{name: true}})
			if err != nil {
				return err
			}
			return os.WriteFile(file, data, 0o600)
		}
	}
	return fmt.Errorf("%s: no local marketplace in %s has this plugin", root, h.home.Settings())
}

func copyInto(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// clientEnv is the environment without anything that names an account, a model or a folder of the client.
func (h *health) clientEnv(temp, url string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "COPILOT_") && !strings.HasPrefix(name, "COPILOT_MEM_") || strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_API_KEY") || name == "COPILOT_MEM_DISABLE"
	})
	return append(env,
		"COPILOT_HOME="+filepath.Join(temp, "copilot"), "COPILOT_MEM_HOME="+string(h.data), "COPILOT_OFFLINE=true", "COPILOT_ALLOW_ALL=true",
		"COPILOT_PROVIDER_BASE_URL="+url, "COPILOT_PROVIDER_API_KEY=this-key-occurs-nowhere-else", "COPILOT_MODEL=gpt-4.1", "NO_COLOR=1")
}

func lastWords(out []byte) string {
	text := strings.TrimSpace(string(out))
	return text[max(0, len(text)-300):]
}

// removeSoon removes a folder that a reader in the background may still be in.
func removeSoon(dir string) (err error) {
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// playedModel is a model with two answers, a tool call and a sentence, in the form of Chat Completions.
type playedModel struct {
	url                    string
	prompt, output, answer string
	server                 *http.Server
	requests               chan string // one text for each request that offered tools
}

func newPlayedModel() (*playedModel, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	word := func(s string) string { return s + strings.ToLower(rand.Text()) }
	m := &playedModel{url: "http://" + l.Addr().String() + "/v1", prompt: word("canary"), output: word("canary"), answer: word("canary"), requests: make(chan string, 64)}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: patient}
	go func() { _ = m.server.Serve(l) }() // ends with close
	return m, nil
}

func (m *playedModel) close() error { return m.server.Close() }

func (m *playedModel) asked() int { return len(m.requests) }

// toolRan says whether a request had the output of the tool: the words of the command itself have a break in them.
func (m *playedModel) toolRan() bool {
	for range len(m.requests) {
		body := <-m.requests
		m.requests <- body
		if strings.Contains(body, m.output) {
			return true
		}
	}
	return false
}

func (m *playedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		writeBody(w, "application/json", map[string]any{"object": "list", "data": []any{map[string]any{"id": "gpt-4.1", "object": "model"}}})
		return
	}
	var raw json.RawMessage
	var body struct {
		Stream bool              `json:"stream"`
		Tools  []json.RawMessage `json:"tools"`
	}
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, 32<<20)).Decode(&raw) != nil || json.Unmarshal(raw, &body) != nil {
		http.Error(w, "not a request of the client", http.StatusBadRequest)
		return
	}
	message, finish := map[string]any{"role": "assistant", "content": "Doctor"}, "stop"
	if len(body.Tools) > 0 {
		select {
		case m.requests <- string(raw):
		default: // more than any session of this check
		}
		message["content"] = "The doctor says " + m.answer
		if m.asked() == 1 {
			half := len(m.output) / 2
			args, err := json.Marshal(map[string]any{"command": "echo " + m.output[:half] + `""` + m.output[half:], "description": "print a word"})
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			finish, message["content"] = "tool_calls", nil
			message["tool_calls"] = []any{map[string]any{"index": 0, "id": "call_1", "type": "function", "function": map[string]any{"name": "bash", "arguments": string(args)}}}
		}
	}
	m.reply(w, body.Stream, message, finish)
}

func (m *playedModel) reply(w http.ResponseWriter, stream bool, message map[string]any, finish string) {
	doc := func(object, key string, value map[string]any, finish any) map[string]any {
		return map[string]any{
			"id": "doctor", "object": object, "created": time.Now().Unix(), "model": "gpt-4.1",
			"choices": []any{map[string]any{"index": 0, key: value, "finish_reason": finish}},
		}
	}
	usage := map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	if !stream {
		d := doc("chat.completion", "message", message, finish)
		d["usage"] = usage
		writeBody(w, "application/json", d)
		return
	}
	last := doc("chat.completion.chunk", "delta", map[string]any{}, finish)
	last["usage"] = usage
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range []map[string]any{doc("chat.completion.chunk", "delta", message, nil), last} {
		b, err := json.Marshal(d)
		if err != nil {
			return // maps of text and numbers always have a form
		}
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func writeBody(w http.ResponseWriter, kind string, v any) {
	w.Header().Set("Content-Type", kind)
	_ = json.NewEncoder(w).Encode(v) // a client that went away
}
