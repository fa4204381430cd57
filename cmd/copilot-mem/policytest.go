package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/cases"
	"github.com/copilot-mem/copilot-mem/internal/guard"
)

type policyTestDoc struct {
	SchemaVersion int              `json:"schemaVersion"`
	Cases         []policyTestCase `json:"cases"`
	Passed        int              `json:"passed"`
	Failed        int              `json:"failed"`
}

type policyTestCase struct {
	Area   string `json:"area"`
	Name   string `json:"name"`
	Result string `json:"result"` // pass or fail
	Got    string `json:"got"`
	Want   string `json:"want"`
	Detail string `json:"detail"`
}

func newPolicyTestCmd(e *env) *cobra.Command {
	var f policyFlags
	cmd := &cobra.Command{
		Use:   "test DIR",
		Short: "Run written-down cases through the hook and compare",
		Long: "A case is a folder with event.json, repo/, expect.json and, as needed, home/ and git.sh; docs/policy.md describes it.\n" +
			"Every case runs in a folder of its own, with homes of its own.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			base, err := e.folder(f.dir)
			if err != nil {
				return err
			}
			dir := args[0]
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(base, dir)
			}
			all, err := cases.Find(dir)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				return &usageError{fmt.Errorf("%s: no case: no folder in it has an expect.json", dir), "see docs/policy.md"}
			}
			doc, err := e.runCases(cmd.Context(), all, f.asJSON)
			if err != nil {
				return err
			}
			if doc.Failed > 0 {
				return codeError(exitFailed)
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func (e *env) runCases(ctx context.Context, all []cases.Case, asJSON bool) (policyTestDoc, error) {
	doc := policyTestDoc{SchemaVersion: 1, Cases: []policyTestCase{}}
	for _, c := range all {
		r := cases.Run(ctx, c, "", os.Environ(), hookInProcess)
		one := policyTestCase{c.Area, c.Name, "pass", r.Got, r.Want, strings.Join(r.Problems, "; ")}
		if len(r.Problems) == 0 {
			doc.Passed++
		} else {
			doc.Failed++
			one.Result = "fail"
			if !asJSON {
				fmt.Fprintf(e.Stdout, "FAIL %s/%s: %s\n", c.Area, c.Name, one.Detail)
			}
		}
		doc.Cases = append(doc.Cases, one)
	}
	if asJSON {
		return doc, e.printJSON(doc)
	}
	_, err := fmt.Fprintf(e.Stdout, "%d passed, %d failed\n", doc.Passed, doc.Failed)
	return doc, err
}

// hookInProcess is the hook's own function, in this process: what the client would start does the same.
func hookInProcess(ctx context.Context, event string, stdin []byte, _ string, env []string) ([]byte, error) {
	getenv := func(key string) string {
		for _, pair := range env {
			if name, value, _ := strings.Cut(pair, "="); name == key {
				return value
			}
		}
		return ""
	}
	done := make(chan []byte, 1)
	go func() {
		var out bytes.Buffer
		guard.Program{
			Args: []string{event}, Stdin: bytes.NewReader(stdin), Stdout: &out, Stderr: io.Discard, Environ: env,
			// No program is named: no reader of transcripts is left behind.
			Capture: func(in io.Reader) { capture.Event(event, in, getenv) },
		}.Run()
		done <- out.Bytes()
	}()
	select {
	case out := <-done:
		return out, nil
	case <-ctx.Done():
		return nil, cases.ErrTime
	}
}
