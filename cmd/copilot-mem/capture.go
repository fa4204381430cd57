package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/guard"
)

func newCaptureCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "capture EVENT",
		Short: "Store one hook event from stdin and print what policies answer (exit code 0, always)",
		Args:  cobra.ArbitraryArgs,
		// A hook must not end with a usage error, whatever follows the event.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			guard.Program{
				Args: args, Stdin: e.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Environ: os.Environ(), Alone: true,
				Capture: func(stdin io.Reader) { capture.Main(args, stdin, e.Getenv, "capture") },
			}.Run()
			return nil
		},
	}
}
