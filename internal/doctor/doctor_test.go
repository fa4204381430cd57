package doctor

import (
	"context"
	"errors"
	"testing"
)

func says(r Result) Check {
	return Check{"g", string(r), func(context.Context) Outcome { return Outcome{Result: r} }}
}

func TestRunTakesTheWorst(t *testing.T) {
	for _, tt := range []struct {
		name   string
		checks []Check
		want   Result
	}{
		{"none", nil, OK},
		{"info and skipped do not count", []Check{says(Info), says(Skipped), says(OK)}, OK},
		{"warning", []Check{says(Warning), says(OK)}, Warning},
		{"error beats a later warning", []Check{says(Error), says(Warning)}, Error},
		{"a panic is an error", []Check{{"g", "boom", func(context.Context) Outcome { panic("x") }}}, Error},
	} {
		got := Run(context.Background(), tt.checks)
		if got.Result != tt.want || len(got.Answers) != len(tt.checks) {
			t.Errorf("%s: got %s with %d answers, want %s with %d", tt.name, got.Result, len(got.Answers), tt.want, len(tt.checks))
		}
	}
}

func TestRunStopsAskingWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got := Run(ctx, []Check{says(Error)})
	if got.Answers[0].Result != Skipped {
		t.Errorf("got %s, want skipped", got.Answers[0].Result)
	}
}

func TestFixRepairsWhatIsBadOnce(t *testing.T) {
	broken := errors.New("read-only")
	ran := 0
	offer := func(r Result, does string, err error) Check {
		return Check{"g", does, func(context.Context) Outcome {
			return Outcome{Result: r, Repair: &Repair{does, func(context.Context) error { ran++; return err }}}
		}}
	}
	report := Run(context.Background(), []Check{
		offer(Error, "init", nil), offer(Warning, "chmod", broken), offer(Warning, "init", nil), offer(OK, "not needed", nil), says(Error),
	})
	done := report.Fix(context.Background())
	if ran != 2 || len(done) != 2 || done[0].Does != "init" || done[0].Err != nil || !errors.Is(done[1].Err, broken) {
		t.Errorf("%d repairs ran: %+v", ran, done)
	}
}
