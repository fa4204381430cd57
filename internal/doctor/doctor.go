// Package doctor answers: is this machine healthy? It runs named checks, adds up their results and carries out the repairs
// that they offer; what a check looks at is decided by who asks.
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
	Result   Result
	Detail   string
	Hint     string
	Evidence []string // what the check looked at, for those who want to see
	Repair   *Repair  // nil: nothing that is safe to do unasked
}

// Repair is a step that loses nothing, can be done twice, and touches only what is ours.
type Repair struct {
	Does string // "chmod go-rwx /data/spool"
	Do   func(context.Context) error
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

// Bad reports whether the answer makes a report worse.
func (a Answer) Bad() bool { return a.Result == Warning || a.Result == Error }

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
			outcome = Outcome{Result: Error, Detail: fmt.Sprintf("the check itself broke: %v", r), Hint: "report this with the output of `copilot-mem doctor --json`"}
		}
	}()
	if err := ctx.Err(); err != nil {
		return Outcome{Result: Skipped, Detail: err.Error()}
	}
	return check.Run(ctx)
}

// Done is a repair that was tried; Err is nil where it succeeded.
type Done struct {
	Group, Name string
	Does        string
	Err         error
}

// Fix carries out the repairs of the answers that are bad, in order; two answers that offer the same one get it once.
func (r Report) Fix(ctx context.Context) []Done {
	var done []Done
	seen := map[string]bool{}
	for _, a := range r.Answers {
		if !a.Bad() || a.Repair == nil || seen[a.Repair.Does] {
			continue
		}
		seen[a.Repair.Does] = true
		done = append(done, Done{a.Group, a.Name, a.Repair.Does, a.Repair.Do(ctx)})
	}
	return done
}
