package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot builds the whole command tree for one environment.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "copilot-mem",
		Short:         "Long-term memory and guardrails for GitHub Copilot CLI",
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(e.Stdin)
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	root.SetUsageTemplate(root.UsageTemplate() + exitCodesHelp)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{err, "run `" + cmd.CommandPath() + " --help`"}
	})
	root.AddCommand(
		newInitCmd(e), newUpgradeCmd(e), newUninstallCmd(e), newStatusCmd(e), newDoctorCmd(e),
		newCaptureCmd(e), newIngestCmd(e),
		newSearchCmd(e), newSessionsCmd(e), newShowCmd(e), newStatsCmd(e), newRememberCmd(e), newForgetCmd(e),
		newRedactCmd(e), newBackupCmd(e), newRestoreCmd(e), newRepairCmd(e), newExportCmd(e),
		newImportCmd(e), newProjectsCmd(e), newConfigCmd(e),
		newNotesCmd(e), newTimelineCmd(e), newTopicsCmd(e), newDecisionsCmd(e), newMCPCmd(e),
		newRecallCmd(e), newWhyCmd(e), newMuteCmd(e),
		newPolicyCmd(e), newValidateCmd(e), newSchemaCmd(e), newBuildCmd(e), newVersionCmd(e),
	)
	for _, cmd := range root.Commands() {
		usageArgs(cmd)
	}
	return root
}

// usageArgs makes a wrong number of arguments a usage error (exit code 2), as cobra has no hook for it, also below cmd.
func usageArgs(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		usageArgs(sub)
	}
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return &usageError{err, "run `" + c.CommandPath() + " --help`"}
		}
		return nil
	}
}

func unknownCommand(root *cobra.Command, name string) error {
	hint := "run `copilot-mem help`"
	if near := root.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean `copilot-mem " + strings.Join(near, "` or `copilot-mem ") + "`?"
	}
	return &usageError{fmt.Errorf("unknown command %q", name), hint}
}
