package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/policy"
)

// policySchema is the JSON Schema of workflow files and settings, for editors.
const policySchema = schemaDir + "/policy" + schemaEnding

type policyFindings struct {
	SchemaVersion int              `json:"schemaVersion"`
	Findings      []policy.Finding `json:"findings"`
	Summary       policySummary    `json:"summary"`
}

type policySummary struct {
	Files    int `json:"files"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
}

func newPolicyValidateCmd(e *env) *cobra.Command {
	var f policyFlags
	var schema bool
	cmd := &cobra.Command{
		Use:   "validate [PATH…]",
		Short: "Check policy files and settings; without a path, all that apply here",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if schema {
				b, err := copilotmem.Files.ReadFile(policySchema)
				if err != nil {
					return err
				}
				_, err = e.Stdout.Write(b)
				return err
			}
			return e.validatePolicies(f, args)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of policy files, for editors")
	return cmd
}

func (e *env) validatePolicies(f policyFlags, paths []string) error {
	view, cwd, err := e.look(f.dir)
	if err != nil {
		return err
	}
	for i, p := range paths {
		if !filepath.IsAbs(p) {
			paths[i] = filepath.Join(cwd, p)
		}
	}
	found, files, err := policy.Validate(view.Loader(), paths)
	if err != nil {
		return err
	}
	doc := policyFindings{1, append([]policy.Finding{}, found...), policySummary{Files: files}}
	if len(paths) == 0 && view.Err != nil {
		doc.Findings = append(doc.Findings, policy.Finding{
			File: ".claude", Rule: "unreadable", Severity: policy.SeverityWarning, Message: view.Err.Error(), Hint: "none of its hooks runs",
		})
	}
	for _, x := range doc.Findings {
		if x.Severity == policy.SeverityError {
			doc.Summary.Errors++
		} else {
			doc.Summary.Warnings++
		}
	}
	if f.asJSON {
		err = e.printJSON(doc)
	} else {
		err = e.printPolicyFindings(doc.Findings)
		if err == nil {
			s := doc.Summary
			_, err = fmt.Fprintf(e.Stdout, "%s checked: %s, %s\n", count(s.Files, "file"), count(s.Errors, "error"), count(s.Warnings, "warning"))
		}
	}
	if err == nil && doc.Summary.Errors > 0 {
		return codeError(exitFindings)
	}
	return err
}
