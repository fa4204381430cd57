package main

import (
	"errors"
	"fmt"
	"io"
)

// The exit codes of every command; they are a promise to scripts.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitFindings    = 3
	exitNothing     = 4
	exitInterrupted = 130
)

const exitCodesHelp = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 findings (validate, doctor), 4 nothing found (--exit-empty), 130 interrupted.
`

// usageError is a mistake in what was typed.
type usageError struct {
	err  error
	hint string
}

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }
func (u *usageError) Hint() string  { return u.hint }
func (u *usageError) ExitCode() int { return exitUsage }

// codeError ends the program with a code and without a word: the command has said everything.
type codeError int

func (c codeError) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
func (c codeError) ExitCode() int { return int(c) }

// report prints an error with its hint and returns the exit code that it asks for.
func report(stderr io.Writer, err error) int {
	code := exitFailed
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		code = coded.ExitCode()
	}
	var silent codeError
	if errors.As(err, &silent) {
		return code
	}
	fmt.Fprintf(stderr, "copilot-mem: error: %v\n", err)
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		fmt.Fprintf(stderr, "copilot-mem: hint: %s\n", hinted.Hint())
	}
	return code
}
