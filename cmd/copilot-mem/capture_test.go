package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCaptureIsSilentAndNeverFails(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		stdin  string
		stored string // part of the spool afterwards; empty: there is no spool
	}{
		{"event", []string{"userPromptSubmitted"}, `{"sessionId":"s1","prompt":"hello"}`, `"prompt":"hello"`},
		{"unknown event", []string{"moonPhase"}, `{"sessionId":"s1"}`, `"event":"moonPhase"`},
		{"more arguments and flags", []string{"agentStop", "--json", "-x", "more"}, `{"sessionId":"s1"}`, `"event":"agentStop"`},
		{"broken payload", []string{"agentStop"}, `{`, ""},
		{"nothing", nil, "", ""},
		{"reader without a transcript", []string{"--read-transcript", "x.jsonl", "s1"}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "data")
			var out bytes.Buffer
			e := &env{
				Stdin: strings.NewReader(tt.stdin), Stdout: &out, Stderr: &out, Now: time.Now,
				Getenv: func(k string) string { return map[string]string{"COPILOT_MEM_HOME": home}[k] },
			}
			cmd := newCaptureCmd(e)
			cmd.SetArgs(append([]string{}, tt.args...))
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			if err := cmd.Execute(); err != nil || out.Len() > 0 {
				t.Errorf("error %v, output %q", err, out.String())
			}
			spool, err := os.ReadFile(filepath.Join(home, "spool", "events.jsonl"))
			if tt.stored == "" {
				if !os.IsNotExist(err) {
					t.Errorf("spool %q, %v", spool, err)
				}
			} else if !strings.Contains(string(spool), tt.stored) {
				t.Errorf("spool %q, want %q in it", spool, tt.stored)
			}
		})
	}
}
