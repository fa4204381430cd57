package main

import (
	"fmt"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/validate"
)

// GitHub's workflow commands: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func printFindingsGitHub(e *env, findings []validate.Finding, _ validate.Summary) error {
	command := map[string]string{validate.Error: "error", validate.Warning: "warning", validate.Info: "notice"}
	for _, f := range findings {
		message := f.Message
		if f.Hint != "" {
			message += "\nhint: " + f.Hint
		}
		_, err := fmt.Fprintf(e.Stdout, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", command[f.Severity],
			githubProperty.Replace(f.File), f.Line, f.Column, githubProperty.Replace(f.Rule), githubData.Replace(message))
		if err != nil {
			return err
		}
	}
	return nil
}
