package main

import (
	"errors"
	"io"

	"github.com/charmbracelet/huh"
	"github.com/spf13/cobra"
)

// interactive says whether a question may be asked: never without a terminal, where a form would wait for ever.
func (e *env) interactive(yes, asJSON bool) bool { return e.TTY && !yes && !asJSON }

func addAccessibleFlag(e *env, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&e.Accessible, "accessible", false, "questions as lines of text, for a reader of the screen (also: ACCESSIBLE=1)")
}

// ask asks all groups in one form, where one can go back; as lines, one after the other.
func (e *env) ask(groups ...*huh.Group) error {
	form := huh.NewForm(groups...).WithInput(e.Stdin).WithOutput(e.Stderr).WithShowHelp(true)
	if e.Getenv("NO_COLOR") != "" {
		form = form.WithTheme(huh.ThemeBase())
	}
	err := form.Run()
	if errors.Is(err, huh.ErrUserAborted) || errors.Is(err, io.EOF) {
		return codeError(exitInterrupted)
	}
	return err
}

// askOne asks one question: in a form, or as lines.
func (e *env) askOne(field huh.Field) error {
	if !e.plainTerminal() {
		return e.ask(huh.NewGroup(field))
	}
	in := &lineReader{r: e.Stdin}
	field.Init()
	field.Focus()
	if err := field.WithTheme(huh.ThemeBase()).RunAccessible(e.Stderr, in); err != nil {
		return err
	}
	if in.ended { // the field then takes its preset answer, which nobody gave
		return codeError(exitInterrupted)
	}
	return nil
}

// lineReader gives one line at a time and never reads ahead: each question has a scanner of its own.
type lineReader struct {
	r     io.Reader
	ended bool
}

func (l *lineReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		var m int
		m, err = l.r.Read(p[n : n+1])
		n += m
		if err != nil || m > 0 && p[n-1] == '\n' {
			break
		}
	}
	l.ended = l.ended || n == 0 && errors.Is(err, io.EOF)
	return n, err
}

// option is one answer: what it stands for, and what is shown.
type option struct{ value, text string }

func selectField(question string, answer *string, options ...option) *huh.Select[string] {
	list := make([]huh.Option[string], 0, len(options))
	for _, o := range options {
		list = append(list, huh.NewOption(o.text, o.value))
	}
	return huh.NewSelect[string]().Title(question).Options(list...).Value(answer)
}

func (e *env) choose(question string, options ...option) (string, error) {
	answer := options[0].value
	err := e.askOne(selectField(question, &answer, options...))
	return answer, err
}

func (e *env) confirm(question string, preset bool) (bool, error) {
	answer := preset
	err := e.askOne(huh.NewConfirm().Title(question).Value(&answer))
	return answer, err
}
