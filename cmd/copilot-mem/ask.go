package main

import (
	"errors"
	"io"

	"github.com/charmbracelet/huh"
)

// interactive says whether a question may be asked: never without a terminal, where a form would wait for ever.
func (e *env) interactive(yes, asJSON bool) bool { return e.TTY && !yes && !asJSON }

func (e *env) ask(field huh.Field) error {
	form := huh.NewForm(huh.NewGroup(field)).WithInput(e.Stdin).WithOutput(e.Stderr).WithShowHelp(true)
	// A dumb terminal cannot draw; a reader of the screen reads lines.
	form = form.WithAccessible(e.Getenv("TERM") == "dumb" || e.Getenv("ACCESSIBLE") != "")
	if e.Getenv("NO_COLOR") != "" {
		form = form.WithTheme(huh.ThemeBase())
	}
	err := form.Run()
	if errors.Is(err, huh.ErrUserAborted) || errors.Is(err, io.EOF) {
		return codeError(exitInterrupted)
	}
	return err
}

// option is one answer: what it stands for, and what is shown.
type option struct{ value, text string }

func (e *env) choose(question string, options ...option) (string, error) {
	answer := options[0].value
	list := make([]huh.Option[string], 0, len(options))
	for _, o := range options {
		list = append(list, huh.NewOption(o.text, o.value))
	}
	err := e.ask(huh.NewSelect[string]().Title(question).Options(list...).Value(&answer))
	return answer, err
}

func (e *env) confirm(question string, preset bool) (bool, error) {
	answer := preset
	err := e.ask(huh.NewConfirm().Title(question).Value(&answer))
	return answer, err
}

func (e *env) askScope() (string, error) {
	return e.choose("Where should copilot-mem be installed?",
		option{"user", "user: for me, in every folder"},
		option{"repo", "repo: for everybody who works in this git repository"},
		option{"plugin", "plugin: for me, as a plugin of the client"})
}

func (e *env) askPolicy() (string, error) {
	return e.choose("Which guardrails should hold for the agent's tool calls?",
		option{"on", "on: stop deletions of whole trees, forced pushes, access to secrets and the like"},
		option{"warn", "warn: only tell the model"},
		option{"off", "off: none but those of my own policies"})
}
