// Command floor is the smallest Go program that does a hook's work at all: it appends stdin to a file as one line.
package main

import (
	"io"
	"os"
)

func main() {
	b, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	f, err := os.OpenFile(os.Args[1], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		os.Exit(1)
	}
	if _, err := f.Write(append(b, '\n')); err != nil {
		os.Exit(1)
	}
}
