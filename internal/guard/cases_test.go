package guard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/cases"
	"github.com/copilot-mem/copilot-mem/internal/guard"
)

// TestMain lets the test binary be the hook: cases run in a real process of their own.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_BE_THE_HOOK") == "1" {
		defer os.Exit(0)
		guard.Program{
			Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Alone: true,
			Capture: func(io.Reader) {},
		}.Run()
		return
	}
	os.Exit(m.Run())
}

func hookProcess(ctx context.Context, event string, stdin []byte, dir string, env []string) ([]byte, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, event)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, bytes.NewReader(stdin), append(env, "TEST_BE_THE_HOOK=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, &errs)
	}
	if errs.Len() > 0 {
		return nil, errors.New("stderr: " + errs.String())
	}
	return out.Bytes(), nil
}

// TestCases runs every written-down case in a process of its own.
func TestCases(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the cases' steps are bash scripts")
	}
	for _, root := range []string{"testdata/cases", "testdata/more"} {
		all, err := cases.Find(root)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < 10 {
			t.Fatalf("%s: only %d cases", root, len(all))
		}
		for _, c := range all {
			t.Run(c.Area+"/"+c.Name, func(t *testing.T) {
				if timed(t, c) {
					if underRace {
						t.Skip("SKIPPED: the race detector makes a process start too slowly for a limit of seconds; it runs without")
					}
				} else {
					t.Parallel() // the others wait until the timed ones are done
				}
				r := cases.Run(t.Context(), c, t.TempDir(), os.Environ(), hookProcess)
				if len(r.Problems) > 0 {
					t.Errorf("got %s, want %s\n%s", r.Got, r.Want, strings.Join(r.Problems, "\n"))
				}
			})
		}
	}
}

// timed reports whether a case has a time limit of its own.
func timed(t *testing.T, c cases.Case) bool {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.Dir, "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(b), `"timeoutSec"`)
}

// A hook that answers nonsense must not pass any case that expects something.
func TestCasesCanFail(t *testing.T) {
	all, err := cases.Find("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	silent := func(context.Context, string, []byte, string, []string) ([]byte, error) { return nil, nil }
	chatty := func(context.Context, string, []byte, string, []string) ([]byte, error) {
		return []byte("log line\n{\"permissionDecision\":\"deny\"}"), nil
	}
	for _, c := range all[:10] {
		quiet, loud := cases.Run(t.Context(), c, t.TempDir(), os.Environ(), silent), cases.Run(t.Context(), c, t.TempDir(), os.Environ(), chatty)
		if quiet.Want != "none" && len(quiet.Problems) == 0 {
			t.Errorf("%s: silence passes for %s", filepath.Base(c.Dir), quiet.Want)
		}
		if len(loud.Problems) == 0 {
			t.Errorf("%s: two documents pass", filepath.Base(c.Dir))
		}
	}
}
