// Command copilot-mem-hook answers: what does the client run on every event? It answers the event named by its argument
// where a policy speaks, captures it, and reads transcripts in the background. It prints one JSON object or nothing, and
// ends with exit code 0, whatever happens.
package main

import (
	"io"
	"os"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/guard"
)

func main() {
	defer os.Exit(0) // any other code denies a tool call, a panic's too
	guard.Program{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Usage: true, Alone: true,
		Capture: func(stdin io.Reader) { capture.Main(os.Args[1:], stdin, os.Getenv) },
	}.Run()
}
