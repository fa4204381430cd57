package guard

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

const (
	grace     = 200 * time.Millisecond // between TERM and KILL
	maxOutput = 64 << 10               // bytes kept of a step's output
)

// process is one program to run.
type process struct {
	argv  []string
	dir   string
	env   []string
	stdin []byte
	// out and errs get the output; they may be the same.
	out, errs *tail
}

// end is how a process ended.
type end struct {
	code     int
	timedOut bool
	err      error // it could not be started
}

// run starts the process in a group of its own and waits for it. When ctx ends, or the process does and leaves children
// behind, the whole group is ended: TERM, and KILL after the grace.
func (p process) run(ctx context.Context) end {
	if err := ctx.Err(); err != nil {
		return end{timedOut: true}
	}
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	g := newGroup(cmd)
	defer g.close()
	in, err := cmd.StdinPipe()
	if err != nil {
		return end{err: err}
	}
	var files []*os.File
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	var readers sync.WaitGroup
	pipe := func(to *tail) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		files = append(files, r, w)
		readers.Go(func() { _, _ = io.Copy(to, r) })
		return w, nil
	}
	w, err := pipe(p.out)
	if err != nil {
		return end{err: err}
	}
	cmd.Stdout, cmd.Stderr = w, w
	if p.errs != p.out {
		e, err := pipe(p.errs)
		if err != nil {
			return end{err: err}
		}
		cmd.Stderr = e
	}
	if err := cmd.Start(); err != nil {
		return end{err: err}
	}
	g.started()
	for i := 1; i < len(files); i += 2 {
		_ = files[i].Close() // our copy of the writing end
	}
	go func() {
		_, _ = in.Write(p.stdin) // a step that does not read its stdin is no fault
		_ = in.Close()
	}()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var result end
	select {
	case err = <-done:
	case <-ctx.Done():
		result.timedOut = true
		g.terminate()
		select {
		case err = <-done:
		case <-time.After(grace):
			g.kill()
			err = <-done
		}
	}
	g.finish()
	// The output of a process that is gone is in the pipe; somebody outside the group may hold it open.
	drained := make(chan struct{})
	go func() { readers.Wait(); close(drained) }()
	select {
	case <-drained:
	case <-time.After(grace):
		for _, f := range files {
			_ = f.SetReadDeadline(time.Now())
		}
		<-drained
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		result.code = exit.ExitCode()
		if result.code < 0 {
			result.code = 128 // ended by a signal
		}
	default:
		result.err = err
	}
	return result
}

// tail keeps the start and the end of what is written to it, maxOutput bytes together.
type tail struct {
	mu      sync.Mutex
	head    []byte
	end     []byte
	dropped int
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if room := maxOutput/2 - len(t.head); room > 0 {
		take := min(room, len(b))
		t.head = append(t.head, b[:take]...)
		b = b[take:]
	}
	t.end = append(t.end, b...)
	if over := len(t.end) - maxOutput/2; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
		t.dropped += over
	}
	return n, nil
}

// String is the output, with a line in the place of what was dropped.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped == 0 {
		return string(t.head) + string(t.end)
	}
	return string(t.head) + "\n[… " + strconv.Itoa(t.dropped) + " bytes left out …]\n" + string(t.end)
}
