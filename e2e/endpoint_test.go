//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// step is one answer of the model: text, tool calls, or both.
type step struct {
	Text  string
	Tools []toolUse
}

// toolUse is one tool call. A call with Input is sent as a freeform tool, whose argument is text and not JSON.
type toolUse struct {
	Name  string
	Args  map[string]any
	Input string
}

func use(name string, args map[string]any) step {
	return step{Tools: []toolUse{{Name: name, Args: args}}}
}

// script answers the conversations whose user messages hold Match, one step after the other; the last repeats.
type script struct {
	Match string
	Steps []step
}

// request is what the client sent to the endpoint.
type request struct {
	Path string
	Body chatBody
	Raw  string
}

type chatBody struct {
	Model        string           `json:"model"`
	Stream       bool             `json:"stream"`
	Messages     []message        `json:"messages"`
	Instructions string           `json:"instructions"`
	Input        json.RawMessage  `json:"input"`
	Tools        []map[string]any `json:"tools"`
}

type message struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Output  json.RawMessage `json:"output"` // of a tool, in the Responses API
}

// text joins the text parts of the message, which may be a string or a list of parts.
func (m message) text() string {
	raw := m.Content
	if len(raw) == 0 {
		raw = m.Output
	}
	var whole string
	if json.Unmarshal(raw, &whole) == nil {
		return whole
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text + "\n")
	}
	return b.String()
}

// messages gives the conversation in either wire format.
func (b chatBody) messages() []message {
	if b.Messages != nil {
		return b.Messages
	}
	var ms []message
	if json.Unmarshal(b.Input, &ms) != nil {
		ms = []message{{Role: "user", Content: b.Input}}
	}
	return ms
}

// userText joins what was said in the role of the user: the prompt, and what the client and hooks put beside it.
func (b chatBody) userText() string {
	var s strings.Builder
	for _, m := range b.messages() {
		if m.Role == "user" {
			s.WriteString(m.text() + "\n")
		}
	}
	return s.String()
}

// endpoint is an OpenAI-compatible model (Chat Completions and Responses) that follows scripts.
type endpoint struct {
	URL string

	t        *testing.T
	mu       sync.Mutex
	scripts  []script
	next     []int // per script: the step to give
	calls    int
	requests []request
}

// newEndpoint serves the scripts on the loopback interface until the test ends.
// Requests without tools (titles and summaries) are answered with a fixed title.
func newEndpoint(t *testing.T, scripts ...script) *endpoint {
	t.Helper()
	e := &endpoint{t: t, scripts: scripts, next: make([]int, len(scripts))}
	srv := httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(srv.Close)
	e.URL = srv.URL + "/v1"
	return e
}

// seen gives the requests so far.
func (e *endpoint) seen() []request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]request(nil), e.requests...)
}

// sawText tells whether any request carried the text, and so whether the model was told of it.
func (e *endpoint) sawText(text string) bool {
	for _, r := range e.seen() {
		for _, m := range r.Body.messages() {
			if strings.Contains(m.text(), text) {
				return true
			}
		}
	}
	return false
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		writeJSON(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": "gpt-4.1", "object": "model"}}})
		return
	}
	var raw json.RawMessage
	var body chatBody
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		e.t.Errorf("%s: the client sent a body of an unknown form: %v", r.URL.Path, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	st, calls, n := e.answer(request{Path: r.URL.Path, Body: body, Raw: string(raw)})
	if strings.HasSuffix(r.URL.Path, "/responses") {
		writeResponse(w, body, st, calls, n)
		return
	}
	writeCompletion(w, body, st, calls, n)
}

// call is a toolUse with the id and the encoded arguments that the wire wants.
type call struct {
	toolUse
	ID   string
	Args string
}

func (e *endpoint) answer(r request) (step, []call, int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = append(e.requests, r)
	n := len(e.requests)
	if len(r.Body.Tools) == 0 {
		return step{Text: "Title"}, nil, n
	}
	user := r.Body.userText()
	for i, s := range e.scripts {
		if !strings.Contains(user, s.Match) {
			continue
		}
		st := s.Steps[min(e.next[i], len(s.Steps)-1)]
		e.next[i]++
		var calls []call
		for _, u := range st.Tools {
			e.calls++
			args, err := json.Marshal(u.Args)
			if err != nil {
				e.t.Errorf("arguments of %s: %v", u.Name, err)
			}
			calls = append(calls, call{toolUse: u, ID: fmt.Sprintf("call_%d", e.calls), Args: string(args)})
		}
		return st, calls, n
	}
	return step{Text: "This conversation has no script."}, nil, n
}

func writeCompletion(w http.ResponseWriter, body chatBody, st step, calls []call, n int) {
	finish := "stop"
	if len(calls) > 0 {
		finish = "tool_calls"
	}
	msg := map[string]any{"role": "assistant", "content": nil}
	if st.Text != "" {
		msg["content"] = st.Text
	}
	var list []any
	for i, c := range calls {
		m := map[string]any{"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Args}}
		if c.Input != "" {
			m = map[string]any{"index": i, "id": c.ID, "type": "custom", "custom": map[string]any{"name": c.Name, "input": c.Input}}
		}
		list = append(list, m)
	}
	if list != nil {
		msg["tool_calls"] = list
	}
	doc := func(object string, choice map[string]any) map[string]any {
		return map[string]any{"id": fmt.Sprintf("chatcmpl-%d", n), "object": object, "created": time.Now().Unix(), "model": body.Model, "choices": []any{choice}}
	}
	usage := map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	if !body.Stream {
		d := doc("chat.completion", map[string]any{"index": 0, "message": msg, "finish_reason": finish})
		d["usage"] = usage
		writeJSON(w, d)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	first := doc("chat.completion.chunk", map[string]any{"index": 0, "delta": msg, "finish_reason": nil})
	last := doc("chat.completion.chunk", map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish})
	last["usage"] = usage
	for _, d := range []any{first, last} {
		fmt.Fprintf(w, "data: %s\n\n", encode(d))
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func writeResponse(w http.ResponseWriter, body chatBody, st step, calls []call, n int) {
	var output []map[string]any
	if st.Text != "" {
		output = append(output, map[string]any{"type": "message", "id": fmt.Sprintf("msg_%d", n), "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": st.Text, "annotations": []any{}}}})
	}
	for _, c := range calls {
		it := map[string]any{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": c.Args, "status": "completed"}
		if c.Input != "" {
			it = map[string]any{"type": "custom_tool_call", "id": "ctc_" + c.ID, "call_id": c.ID, "name": c.Name, "input": c.Input, "status": "completed"}
		}
		output = append(output, it)
	}
	doc := func(status string, out []map[string]any) map[string]any {
		return map[string]any{"id": fmt.Sprintf("resp_%d", n), "object": "response", "created_at": time.Now().Unix(), "status": status, "model": body.Model, "output": out,
			"usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
				"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0}}}
	}
	if !body.Stream {
		writeJSON(w, doc("completed", output))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	seq := 0
	send := func(typ string, fields map[string]any) {
		fields["type"], fields["sequence_number"] = typ, seq
		seq++
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", typ, encode(fields))
	}
	send("response.created", map[string]any{"response": doc("in_progress", []map[string]any{})})
	for i, it := range output {
		at := func(more map[string]any) map[string]any {
			more["output_index"], more["item_id"] = i, it["id"]
			return more
		}
		send("response.output_item.added", map[string]any{"output_index": i, "item": it})
		switch it["type"] {
		case "message":
			send("response.content_part.added", at(map[string]any{"content_index": 0, "part": map[string]any{"type": "output_text", "text": "", "annotations": []any{}}}))
			send("response.output_text.delta", at(map[string]any{"content_index": 0, "delta": st.Text}))
			send("response.output_text.done", at(map[string]any{"content_index": 0, "text": st.Text}))
		case "function_call":
			send("response.function_call_arguments.delta", at(map[string]any{"delta": it["arguments"]}))
			send("response.function_call_arguments.done", at(map[string]any{"arguments": it["arguments"]}))
		case "custom_tool_call":
			send("response.custom_tool_call_input.delta", at(map[string]any{"delta": it["input"]}))
			send("response.custom_tool_call_input.done", at(map[string]any{"input": it["input"]}))
		}
		send("response.output_item.done", map[string]any{"output_index": i, "item": it})
	}
	send("response.completed", map[string]any{"response": doc("completed", output)})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(encode(v))
}

// encode is for values of maps, lists and text, which always have a JSON form.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
