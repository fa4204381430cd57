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
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

// canaryEvent is the event that `doctor --live` sends: it fails open, so it has the direct form where there is one.
const canaryEvent = "userPromptSubmitted"

// hookEntry is one entry of an installed hook file, with the folder that ${PLUGIN_ROOT} stands for.
type hookEntry struct {
	file string
	root string
	Exec string   `json:"exec"`
	Args []string `json:"args"`
	Bash string   `json:"bash"`
}

// hookEntries reads the entries of one event from every hook file that we installed.
func (h *health) hookEntries(event string) ([]hookEntry, error) {
	var out []hookEntry
	for _, record := range h.records {
		for _, receipt := range record.Receipts {
			for _, f := range receipt.Files {
				root, isHooks := hookFileRoot(f.Path)
				if !isHooks {
					continue
				}
				name := filepath.Join(receipt.Dir, filepath.FromSlash(f.Path))
				data, err := os.ReadFile(name)
				if err != nil {
					return nil, err
				}
				var config struct {
					Hooks map[string][]hookEntry `json:"hooks"`
				}
				if err := json.Unmarshal(data, &config); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				for _, entry := range config.Hooks[event] {
					entry.file, entry.root = name, filepath.Join(receipt.Dir, filepath.FromSlash(root))
					entry.Exec = strings.ReplaceAll(entry.Exec, "${PLUGIN_ROOT}", entry.root)
					out = append(out, entry)
				}
			}
		}
	}
	return out, nil
}

// hookFileRoot says whether a file of a receipt is a hook file that the client reads, and where its plugin starts.
func hookFileRoot(name string) (root string, ok bool) {
	if root, ok = strings.CutSuffix(name, "com.github.copilot/hooks/hooks.json"); ok {
		return root, true
	}
	root, ok = strings.CutSuffix(name, "hooks/copilot-mem.json")
	return root, ok
}

// hookCommands gives the programs that installed hooks name by their path.
func (h *health) hookCommands() ([]string, error) {
	entries, err := h.hookEntries(canaryEvent)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, entry := range entries {
		if entry.Exec != "" && !slices.Contains(out, entry.Exec) {
			out = append(out, entry.Exec)
		}
	}
	return out, nil
}

// live sends a canary through each installed hook as the client would start it, finds it by search, and removes it.
func (h *health) live(ctx context.Context) doctor.Outcome {
	entries, err := h.hookEntries(canaryEvent)
	if err != nil {
		return broken(err)
	}
	if len(entries) == 0 {
		return skipped("no hook is installed")
	}
	var took []string
	for _, entry := range entries {
		start := time.Now()
		if err := h.canary(ctx, entry); err != nil {
			return bad("run `copilot-mem init` again and look at "+h.data.Failures(), "%s: %v", entry.file, err)
		}
		took = append(took, fmt.Sprintf("%d ms", time.Since(start).Milliseconds()))
	}
	return ok("an event went through the installed hook and was found again in %s", strings.Join(took, ", "))
}

func (h *health) canary(ctx context.Context, entry hookEntry) error {
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	session, word := "doctor-"+strings.ToLower(rand.Text()), "canary"+strings.ToLower(rand.Text())
	payload, err := json.Marshal(map[string]any{
		"sessionId": session, "timestamp": h.Now().UnixMilli(), "cwd": h.Dir, "prompt": word,
	})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, entry.Exec, entry.Args...)
	if entry.Exec == "" {
		if runtime.GOOS == "windows" {
			return fmt.Errorf("this check does not start PowerShell entries")
		}
		cmd = exec.CommandContext(ctx, "/bin/bash", "--norc", "--noprofile", "-c", entry.Bash)
	}
	cmd.Dir, cmd.Stdin = h.Dir, bytes.NewReader(payload)
	cmd.Env = append(os.Environ(), "COPILOT_CLI=1", "COPILOT_PROJECT_DIR="+h.Dir, "PLUGIN_ROOT="+entry.root)
	if answer, err := cmd.CombinedOutput(); err != nil {
		return err
	} else if len(answer) > 0 {
		return fmt.Errorf("the hook printed %q", answer)
	}
	db, err := h.openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	answer, err := h.find(ctx, db, memory.Query{Text: word, Session: session, Limit: 1}, false)
	if err != nil {
		return err
	}
	if len(answer.Hits) != 1 {
		return fmt.Errorf("the event was sent, but search does not find it")
	}
	_, err = db.Forget(ctx, store.Selection{Session: session}, h.Now(), false)
	return errors.Join(err, db.Scrub(ctx))
}
