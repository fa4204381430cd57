package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/copilot"
	"github.com/copilot-mem/copilot-mem/internal/validate"
)

func newValidateCmd(e *env) *cobra.Command {
	var format, kind string
	var strict, asJSON bool
	var repair repairs
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
				return &usageError{fmt.Errorf("--format %s: unknown format", format), "write --format " + strings.Join(findingFormats, ", ")}
			}
			o := validate.Options{Strict: strict, Dir: e.Dir, Kind: kind}
			if home, err := copilot.FindHome(e.Getenv); err == nil {
				o.Home = home.Dir
			}
			if repair.wanted {
				if err := repair.run(e, args, o, format == "text"); err != nil {
					return err
				}
			} else if repair.dryRun || repair.yes {
				return &usageError{errors.New("--dry-run and --yes go with --fix"), "add --fix"}
			}
			findings, summary, err := validate.Paths(args, o)
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
	fl := cmd.Flags()
	fl.StringVar(&format, "format", "text", strings.Join(findingFormats, ", "))
	fl.BoolVar(&asJSON, "json", false, "the same as --format json")
	fl.BoolVar(&strict, "strict", false, "what is not portable is an error")
	fl.StringVar(&kind, "kind", "", "what every PATH is, whatever its name says: "+strings.Join(validate.Kinds, ", "))
	fl.BoolVar(&repair.wanted, "fix", false, "repair what is mechanical: quotes, line ends, byte order marks, commas in allowed-tools, executable bits")
	fl.BoolVar(&repair.dryRun, "dry-run", false, "with --fix: show the repairs, change nothing")
	fl.BoolVar(&repair.yes, "yes", false, "with --fix: ask nothing")
	return cmd
}

var findingFormats = []string{"text", "json", "sarif", "github"}

var findingPrinters = map[string]func(*env, []validate.Finding, validate.Summary) error{
	"text":   printFindingsText,
	"json":   printFindingsJSON,
	"sarif":  printFindingsSARIF,
	"github": printFindingsGitHub,
}

func printFindingsJSON(e *env, findings []validate.Finding, s validate.Summary) error {
	return e.printJSON(struct {
		SchemaVersion int                `json:"schemaVersion"`
		Findings      []validate.Finding `json:"findings"`
		Summary       validate.Summary   `json:"summary"`
	}{1, findings, s})
}
