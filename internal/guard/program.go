package guard

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/hook"
)

// Program is what a hook runs: one process that answers an event and captures it.
type Program struct {
	Args    []string // without the program's name: the event
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
	// Usage says that an argument which is no event gets a line on stderr.
	Usage bool
	// Alone says that this process does nothing else: what steps leave behind is ended with all its children.
	Alone bool
	// Capture brings the event, or whatever else the arguments ask for, to the spool. It must not panic.
	Capture func(stdin io.Reader)
}

const usage = "usage: copilot-mem-hook EVENT <payload.json, with an event of Copilot CLI: preToolUse, postToolUse, userPromptSubmitted, …\n"

// Run answers and captures. It prints one JSON object or nothing; who calls it ends with exit code 0 whatever happened,
// because any other code denies a tool call.
func (p Program) Run() {
	started := time.Now()
	if p.Alone {
		alone.Store(true)
	}
	if len(p.Args) == 0 {
		p.usage()
		return
	}
	if strings.HasPrefix(p.Args[0], "--") && p.Args[0] != "--help" {
		p.Capture(p.Stdin) // the reader that a stop event leaves behind
		return
	}
	getenv := func(key string) string { return lookup(p.Environ, key) }
	if getenv(envDisable) == "1" {
		return
	}
	name := p.Args[0]
	if _, known := hook.CanonicalName(name); !known {
		p.usage()
		if !isName(name) {
			return
		}
		p.Capture(p.Stdin) // of a later client, maybe
		return
	}
	input, err := io.ReadAll(io.LimitReader(p.Stdin, MaxInput+1))
	if err != nil && len(input) == 0 {
		input = nil // a stdin that cannot be read says nothing
	}
	o := p.options(name, input, started, getenv)
	if out := Answer(o); len(out) > 0 {
		// Nobody is there to hear of an error; the session log has the decision.
		_, _ = p.Stdout.Write(append(out, '\n'))
	}
	sweep()
	p.captureInTime(o)
}

// captureInTime gives the capture of a large event up when the client would: it waits for the end of this process, and a
// hook that is late has not answered.
func (p Program) captureInTime(o Options) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Capture(bytes.NewReader(o.Input))
	}()
	timer := time.NewTimer(max(time.Until(o.Started.Add(lastLimit(o))), grace/2))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		noteFailure(o, o.Event, "capture: not done before the client's time limit")
	}
}

func (p Program) usage() {
	if p.Usage {
		fmt.Fprint(p.Stderr, usage)
	}
}

func isName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func (p Program) options(event string, input []byte, started time.Time, getenv func(string) string) Options {
	o := Options{Event: event, Input: input, Env: p.Environ, Getenv: getenv, Now: time.Now, Started: started}
	o.Home, o.Copilot = Homes(getenv)
	if o.Temp = getenv("TMPDIR"); runtime.GOOS == "windows" {
		o.Temp = getenv("TEMP")
	}
	dir, err := datadir.Find(getenv)
	if err == nil {
		err = dir.Ensure()
	}
	o.Dir, o.NoLog = dir, err != nil
	if getenv("COPILOT_MEM_DEBUG") == "1" {
		o.Debug = p.Stderr
	}
	return o
}

// Homes gives the user's home and the client's folder, empty where they are not known.
func Homes(getenv func(string) string) (home, client string) {
	if home = getenv("HOME"); home == "" {
		home = getenv("USERPROFILE")
	}
	if client = getenv("COPILOT_HOME"); client == "" && home != "" {
		client = filepath.Join(home, ".copilot")
	}
	if !filepath.IsAbs(client) {
		client = "" // a relative one would be another folder in every project
	}
	return home, client
}

// lookup is the last value of a variable, as a program sees it.
func lookup(environ []string, key string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if name, value, ok := strings.Cut(environ[i], "="); ok && name == key {
			return value
		}
	}
	return ""
}
