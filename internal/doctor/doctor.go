// Package doctor answers: is this machine healthy? It runs named checks and adds up their results; what a check looks
// at is decided by who asks.
package doctor

import (
	"context"
	"fmt"
	"time"
)

// Result is how one check, or the whole report, came out.
type Result string

// The results, best first; skipped and info never make a report worse.
const (
	OK      Result = "ok"
	Info    Result = "info"
	Skipped Result = "skipped"
	Warning Result = "warning"
	Error   Result = "error"
)

// Outcome is what one check found. Hint says the next step; it is set for every warning and error.
type Outcome struct {
	Result Result
	Detail string
	Hint   string
}

// Check is one named question.
type Check struct {
	Group string
	Name  string
	Run   func(context.Context) Outcome
}

// Answer is a check with its outcome.
type Answer struct {
	Group string
	Name  string
	Outcome
	Took time.Duration
}

// Report holds the answers in the order of the checks; Result is the worst of them.
type Report struct {
	Result  Result
	Answers []Answer
}

// Run asks every check in order. A check that panics is an error of that check and no more.
func Run(ctx context.Context, checks []Check) Report {
	report := Report{Result: OK, Answers: make([]Answer, 0, len(checks))}
	for _, check := range checks {
		start := time.Now()
		outcome := guarded(ctx, check)
		report.Answers = append(report.Answers, Answer{check.Group, check.Name, outcome, time.Since(start)})
		switch {
		case outcome.Result == Error:
			report.Result = Error
		case outcome.Result == Warning && report.Result != Error:
			report.Result = Warning
		}
	}
	return report
}

func guarded(ctx context.Context, check Check) (outcome Outcome) {
	defer func() {
		if r := recover(); r != nil {
			outcome = Outcome{Error, fmt.Sprintf("the check itself broke: %v", r), "report this with the output of `copilot-mem doctor --json`"}
		}
	}()
	if err := ctx.Err(); err != nil {
		return Outcome{Skipped, err.Error(), ""}
	}
	return check.Run(ctx)
}
