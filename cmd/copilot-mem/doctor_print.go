package main

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
)

// colours are those of the results on a terminal.
var colours = map[doctor.Result]string{doctor.OK: green, doctor.Info: cyan, doctor.Skipped: dim, doctor.Warning: yellow, doctor.Error: red}

// printReport prints a line for each check, with its hint below. On a terminal long texts are folded to its width; a pipe
// gets every check in one line.
func (e *env) printReport(r doctor.Report, done []doctor.Done, f doctorFlags) error {
	paint, width := painter(e), 0
	if e.TTY {
		width = e.width()
	}
	names := 0
	for _, a := range r.Answers {
		names = max(names, len(a.Group)+1+len(a.Name))
	}
	const results = len("warning")
	var b strings.Builder
	indent := results + 2 + names + 2
	for _, d := range done {
		state := paint(colours[doctor.OK], "fixed")
		if d.Err != nil {
			state = paint(colours[doctor.Error], "failed")
		}
		fmt.Fprintf(&b, "%s  %s/%s  %s\n", state, d.Group, d.Name, d.Does)
		if d.Err != nil {
			fmt.Fprintf(&b, "       %v\n", d.Err)
		}
	}
	if len(done) > 0 {
		b.WriteString("\n")
	}
	for _, a := range r.Answers {
		took := ""
		if f.verbose {
			took = fmt.Sprintf(" (%d ms)", a.Took.Milliseconds())
		}
		result := paint(colours[a.Result], fmt.Sprintf("%-*s", results, a.Result))
		fmt.Fprintf(&b, "%s  %-*s  %s\n", result, names, a.Group+"/"+a.Name, fold(flat(strings.ReplaceAll(a.Detail, "\n", "; "))+took, width, indent))
		if a.Hint != "" && a.Result != doctor.OK {
			fmt.Fprintf(&b, "%*s%s\n", indent, "", fold("→ "+flat(a.Hint), width, indent))
		}
		if f.verbose {
			for _, line := range a.Evidence {
				fmt.Fprintf(&b, "%*s%s\n", indent, "", paint(colours[doctor.Skipped], fold("· "+flat(line), width, indent)))
			}
		}
	}
	fmt.Fprintf(&b, "\nresult: %s%s\n", paint(colours[r.Result], string(r.Result)), fixable(r, f))
	_, err := fmt.Fprint(e.Stdout, b.String())
	return err
}

// fixable says that --fix would help.
func fixable(r doctor.Report, f doctorFlags) string {
	if f.fix {
		return ""
	}
	n := 0
	for _, a := range r.Answers {
		if a.Bad() && a.Repair != nil {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; `copilot-mem doctor --fix` repairs %d of the findings", n)
}

// width is that of the terminal; 0 where it does not say.
func (e *env) width() int {
	f, ok := e.Stdout.(*os.File)
	if !ok {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// fold breaks a text between words so that it stays right of indent and left of width; 0 leaves it in one line. A word that
// is longer, such as a path, is not broken.
func fold(text string, width, indent int) string {
	room := width - indent
	if width == 0 || room < 20 {
		return text
	}
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > room:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
