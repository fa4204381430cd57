// Command copilot-mem answers: what can a person type? It wires flags, terminal, environment and packages together,
// and decides nothing itself.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/term"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main without the process: the scripts of testdata/script call it in-process.
func run(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // the folder is gone: commands that need it say so, `capture` must not
	}
	e := &env{
		Stdin: stdin, Stdout: stdout, Stderr: stderr,
		Getenv: os.Getenv, Now: time.Now, Dir: dir, TTY: isTerminal(stdin) && isTerminal(stdout),
	}
	root := newRoot(e)
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		if ctx.Err() != nil {
			return exitInterrupted
		}
		return report(stderr, err)
	}
	return exitDone
}

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
