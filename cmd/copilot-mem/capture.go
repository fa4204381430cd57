package main

import (
	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/capture"
)

func newCaptureCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "capture EVENT",
		Short: "Store one hook event from stdin (exit code 0 and no output, always)",
		Args:  cobra.ArbitraryArgs,
		// A hook must not end with a usage error, whatever follows the event.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			capture.Main(args, e.Stdin, e.Getenv, "capture")
			return nil
		},
	}
}
