package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/validate"
)

func newValidateCmd(e *env) *cobra.Command {
	var format string
	var strict, asJSON bool
	cmd := &cobra.Command{
		Use:   "validate PATH…",
		Short: "Check skills, agents, hook files, manifests, marketplaces and whole plugins",
		Long: "Check files and folders by the rules of Copilot CLI 1.0.102 and of the Agent Skills and Agent Plugins texts.\n\n" +
			"An error is what the client refuses. A warning is what it silently ignores, or what is not portable; --strict makes the latter errors.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			show, ok := findingPrinters[format]
			if !ok {
				return formatError(format)
			}
			findings, summary, err := validate.Paths(args, validate.Options{Strict: strict, Dir: e.Dir})
			if err != nil {
				return err
			}
			if err := show(e, findings, summary); err != nil {
				return err
			}
			if summary.Errors > 0 {
				return codeError(exitFindings)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json or github")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	cmd.Flags().BoolVar(&strict, "strict", false, "what is not portable is an error")
	return cmd
}

func formatError(format string) error {
	hint := "write --format text, json or github"
	if format == "sarif" {
		return &usageError{fmt.Errorf("--format sarif: not available in this version"), hint}
	}
	return &usageError{fmt.Errorf("--format %s: unknown format", format), hint}
}

var findingPrinters = map[string]func(*env, []validate.Finding, validate.Summary) error{
	"text":   printFindingsText,
	"json":   printFindingsJSON,
	"github": printFindingsGitHub,
}

func printFindingsText(e *env, findings []validate.Finding, s validate.Summary) error {
	if err := writeFindings(e.Stdout, findings); err != nil {
		return err
	}
	if s.Files == 0 {
		_, err := fmt.Fprintln(e.Stdout, "nothing to check: no skill, agent, hook file, manifest or marketplace found")
		return err
	}
	_, err := fmt.Fprintf(e.Stdout, "%s checked: %s, %s\n", count(s.Files, "file"), count(s.Errors, "error"), count(s.Warnings, "warning"))
	return err
}

func writeFindings(w io.Writer, findings []validate.Finding) error {
	for _, f := range findings {
		text := fmt.Sprintf("%s:%d:%d: %s: %s [%s]\n", f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule)
		if f.Hint != "" {
			text += "    hint: " + f.Hint + "\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func printFindingsJSON(e *env, findings []validate.Finding, s validate.Summary) error {
	return e.printJSON(struct {
		SchemaVersion int                `json:"schemaVersion"`
		Findings      []validate.Finding `json:"findings"`
		Summary       validate.Summary   `json:"summary"`
	}{1, findings, s})
}

// GitHub's workflow commands: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func printFindingsGitHub(e *env, findings []validate.Finding, _ validate.Summary) error {
	command := map[string]string{validate.Error: "error", validate.Warning: "warning", validate.Info: "notice"}
	for _, f := range findings {
		message := f.Message
		if f.Hint != "" {
			message += "\nhint: " + f.Hint
		}
		_, err := fmt.Fprintf(e.Stdout, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", command[f.Severity],
			githubProperty.Replace(f.File), f.Line, f.Column, githubProperty.Replace(f.Rule), githubData.Replace(message))
		if err != nil {
			return err
		}
	}
	return nil
}
