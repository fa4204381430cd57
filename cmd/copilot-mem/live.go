package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

// canaries are the events that `doctor --live` sends, in the order of a session, with the field that carries the word.
var canaries = []struct {
	event string
	fill  func(word string) map[string]any
	kept  bool // an entry with the word must be found
}{
	{"sessionStart", func(string) map[string]any { return map[string]any{"source": "new"} }, false},
	{"userPromptSubmitted", func(w string) map[string]any { return map[string]any{"prompt": w} }, true},
	{"preToolUse", func(w string) map[string]any {
		return map[string]any{"toolName": "bash", "toolArgs": map[string]any{"command": "git push --force origin main # " + w, "description": w}}
	}, false},
	{"postToolUse", func(w string) map[string]any {
		return map[string]any{"toolName": "view", "toolArgs": map[string]any{"path": w}, "toolResult": map[string]any{"resultType": "success", "textResultForLlm": w}}
	}, true},
	{"postToolUseFailure", func(w string) map[string]any {
		return map[string]any{"toolName": "view", "toolArgs": map[string]any{"path": w}, "error": w}
	}, true},
	{"sessionEnd", func(string) map[string]any { return map[string]any{"reason": "complete"} }, false},
}

// live sends canaries through each installed hook as the client would start it, finds them by search, and removes them.
func (h *health) live(ctx context.Context) doctor.Outcome {
	var took, evidence []string
	for _, s := range h.sources() {
		if !s.ours() {
			continue
		}
		start := time.Now()
		lines, err := h.canary(ctx, s)
		evidence = append(evidence, lines...)
		if err != nil {
			return with(bad("run `copilot-mem init` again and look at "+h.data.Failures(), "%s: %v", s.file, err), evidence...)
		}
		took = append(took, fmt.Sprintf("%s in %d ms", s.scope, time.Since(start).Milliseconds()))
	}
	if len(took) == 0 {
		return skipped("no hook of ours is installed for this folder")
	}
	return with(ok("events went through the installed hooks, were found again and removed: %s", strings.Join(took, ", ")), evidence...)
}

// canary sends one session through one hook file.
func (h *health) canary(ctx context.Context, s hookSource) (evidence []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*h.patient)
	defer cancel()
	db, err := h.db()
	if err != nil {
		return nil, err
	}
	session := "doctor-" + strings.ToLower(rand.Text())
	defer func() {
		_, gone := db.Forget(context.WithoutCancel(ctx), store.Selection{Session: session}, h.Now(), false)
		err = errors.Join(err, gone, db.Scrub(context.WithoutCancel(ctx)))
	}()
	var words []string
	for _, c := range canaries {
		answered, asked := false, false
		word := "canary" + strings.ToLower(rand.Text()) // one for all entries: some capture, others only tell what memory knows
		for _, e := range s.entries {
			if e.event != c.event || !e.ours() {
				continue
			}
			asked = true
			start := time.Now()
			answer, err := h.fire(ctx, e, session, c.fill(word))
			if err != nil {
				return evidence, fmt.Errorf("%s: %w", c.event, err)
			}
			evidence = append(evidence, fmt.Sprintf("%s: %d ms, answered %d bytes", c.event, time.Since(start).Milliseconds(), len(answer)))
			said, err := decides(c.event, answer)
			if err != nil {
				return evidence, err
			}
			answered = answered || said
		}
		if c.kept && asked {
			words = append(words, c.event+" "+word)
		}
		// One of the entries decides; another may only tell what memory knows. A forced push is what a bundled rule is about.
		if c.event == "preToolUse" && asked && !answered && h.guards() {
			return evidence, errors.New("preToolUse: a rule that is on says nothing about a forced push")
		}
	}
	quiet := *h.env
	if _, err := quiet.catchUp(ctx, h.data, db); err != nil {
		return evidence, err
	}
	for _, w := range words {
		event, word, _ := strings.Cut(w, " ")
		answer, err := h.find(ctx, db, memory.Query{Text: word, Session: session, Limit: 1}, false)
		if err != nil {
			return evidence, err
		}
		if len(answer.Hits) != 1 && h.keeps(event) {
			return evidence, fmt.Errorf("%s: the event was sent, but search does not find it", event)
		}
	}
	if len(words) == 0 {
		return evidence, errors.New("no event that is captured is in it")
	}
	return evidence, nil
}

// keeps says whether the user and the repository let the event be captured in the working folder.
func (h *health) keeps(event string) bool {
	c, err := capture.Choices(h.data, h.Dir)
	return err == nil && c.Capture.Keeps(event)
}

// decides reports whether the answer of a hook decides on a tool call. An answer must be one JSON object or nothing.
func decides(event string, answer []byte) (bool, error) {
	if len(bytes.TrimSpace(answer)) == 0 {
		return false, nil
	}
	var reply map[string]any
	if err := json.Unmarshal(answer, &reply); err != nil {
		return false, fmt.Errorf("%s: the hook printed %.80q, which is not one JSON object", event, answer)
	}
	return reply["permissionDecision"] != nil || reply["additionalContext"] != nil, nil
}

// guards says whether the bundled rule about forced pushes is on here.
func (h *health) guards() bool {
	view, _, err := h.look("")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(listDoc(view).Policies, func(p policyRow) bool {
		return p.Name == "copilot-mem/force-push" && p.State == "active"
	})
}

// fire starts one hook as the client does: without a shell, or with bash without any start-up file, from the git root or the
// plugin's folder, with the variables that it sets (client 1.0.102).
func (h *health) fire(ctx context.Context, e hookEntry, session string, fields map[string]any) ([]byte, error) {
	fields["sessionId"], fields["timestamp"], fields["cwd"] = session, h.Now().UnixMilli(), h.Dir
	payload, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, e.Exec, e.Args...)
	switch {
	case e.Exec != "":
	case onWindows:
		cmd = exec.CommandContext(ctx, "powershell", "-NoProfile", "-NonInteractive", "-Command", e.line())
	default:
		cmd = exec.CommandContext(ctx, "/bin/bash", "--norc", "--noprofile", "-c", e.line())
	}
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = h.root, bytes.NewReader(payload), hurried
	if e.root != "" {
		cmd.Dir = e.root
	}
	cmd.Env = append(os.Environ(), "COPILOT_CLI=1", "COPILOT_PROJECT_DIR="+h.root, "CLAUDE_PROJECT_DIR="+h.root, "COPILOT_HOOK_DIR="+filepath.Dir(e.file))
	if e.root != "" {
		cmd.Env = append(cmd.Env, "PLUGIN_ROOT="+e.root, "COPILOT_PLUGIN_ROOT="+e.root, "CLAUDE_PLUGIN_ROOT="+e.root)
	}
	for k, v := range e.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w %.200s", err, errs.String())
	}
	return out.Bytes(), nil
}
