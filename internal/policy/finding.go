package policy

import "fmt"

// Finding is one problem of a policy file; Line and Column count from 1, 0 means the whole file.
type Finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"` // "error", "warning" or "info"
	Message  string `json:"message"`
	Hint     string `json:"hint"`
}

// Severities.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// String is "file:line:col: message".
func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.File, f.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}
