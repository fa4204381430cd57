// Command copilot-mem-hook answers: what does the client run on every event? It captures the event named by its
// argument, and reads transcripts in the background. It prints nothing and ends with exit code 0, whatever happens.
package main

import (
	"os"

	"github.com/copilot-mem/copilot-mem/internal/capture"
)

func main() {
	capture.Main(os.Args[1:], os.Stdin, os.Getenv)
	os.Exit(0) // any other code denies a tool call
}
