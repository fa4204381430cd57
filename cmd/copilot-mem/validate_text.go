package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/validate"
)

// printFindingsText groups the findings by file for a person; a pipe gets one `file:line:col:` line a finding.
func printFindingsText(e *env, findings []validate.Finding, s validate.Summary) error {
	paint := painter(e)
	var err error
	if e.TTY {
		err = writeGroups(e.Stdout, findings, paint)
	} else {
		err = writeFindings(e.Stdout, findings)
	}
	if err != nil {
		return err
	}
	if s.Files == 0 {
		_, err := fmt.Fprintln(e.Stdout, "nothing to check: no skill, agent, hook file, manifest or marketplace found")
		return err
	}
	text := fmt.Sprintf("%s checked: %s, %s", count(s.Files, "file"), count(s.Errors, "error"), count(s.Warnings, "warning"))
	color := green
	switch {
	case s.Errors > 0:
		color = red
	case s.Warnings > 0:
		color = yellow
	}
	_, err = fmt.Fprintln(e.Stdout, paint(color, text))
	return err
}

func writeFindings(w io.Writer, findings []validate.Finding) error {
	for _, f := range findings {
		text := fmt.Sprintf("%s:%d:%d: %s: %s [%s]\n", flat(f.File), f.Line, f.Column, f.Severity, flat(f.Message), f.Rule)
		if f.Hint != "" {
			text += "    hint: " + flat(f.Hint) + "\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

func writeGroups(w io.Writer, findings []validate.Finding, paint func(color, text string) string) error {
	var b strings.Builder
	file := ""
	for _, f := range findings {
		if f.File != file {
			file = f.File
			b.WriteString(paint(bold, flat(file)) + "\n")
		}
		color := map[string]string{validate.Error: red, validate.Warning: yellow, validate.Info: cyan}[f.Severity]
		voice := ""
		if f.Voice == validate.Spec {
			voice = " (spec)"
		}
		fmt.Fprintf(&b, "  %7s  %s  %s  %s\n", fmt.Sprintf("%d:%d", f.Line, f.Column), paint(color, fmt.Sprintf("%-7s", f.Severity)), flat(f.Message), paint(dim, f.Rule+voice))
		if f.Hint != "" {
			fmt.Fprintf(&b, "           %s\n", paint(dim, "hint: "+flat(f.Hint)))
		}
	}
	if len(findings) > 0 {
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The escape sequences of a terminal's colours.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// painter colours text on a terminal that can, and leaves it alone elsewhere.
func painter(e *env) func(color, text string) string {
	if !e.TTY || e.Getenv("NO_COLOR") != "" || e.Getenv("TERM") == "dumb" {
		return func(_, text string) string { return text }
	}
	return func(color, text string) string { return "\x1b[" + color + "m" + text + "\x1b[0m" }
}

// flat keeps what files say from moving the cursor or beginning a line of its own.
func flat(s string) string { return strings.NewReplacer("\n", `\n`, "\t", " ").Replace(screen(s)) }

func count(n int, what string) string { return plural(n, what, what+"s") }
