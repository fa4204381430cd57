package guard

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
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
	if ctx.Err() != nil {
		return end{timedOut: true}
	}
	in, stdin, err := os.Pipe()
	if err != nil {
		return end{err: err}
	}
	theirs, ours := []*os.File{in}, []*os.File{stdin}
	defer func() { closeAll(ours) }()
	var readers sync.WaitGroup
	pipe := func(to *tail) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		theirs, ours = append(theirs, w), append(ours, r)
		readers.Go(func() { _, _ = io.Copy(to, r) })
		return w, nil
	}
	out, err := pipe(p.out)
	errs := out
	if err == nil && p.errs != p.out {
		errs, err = pipe(p.errs)
	}
	var g group
	if err == nil {
		err = g.start(p, in, out, errs)
	}
	closeAll(theirs) // our copies of their ends
	if err != nil {
		return end{err: err}
	}
	defer g.close()
	go func() {
		_, _ = stdin.Write(p.stdin) // a step that does not read its stdin is no fault
		_ = stdin.Close()
	}()
	result := g.await(ctx)
	patience := grace
	if result.timedOut { // the group was ended already, and the client waits
		g.kill()
		patience = grace / 10
	}
	g.finish(patience)
	// The output of a process that is gone is in the pipe; somebody outside the group may hold it open.
	drained := make(chan struct{})
	go func() { readers.Wait(); close(drained) }()
	select {
	case <-drained:
	case <-time.After(patience):
		for _, f := range ours[1:] {
			_ = f.SetReadDeadline(time.Now())
		}
		<-drained
	}
	return result
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// await waits for the process; when ctx ends before it does, the group is ended.
func (g *group) await(ctx context.Context) end {
	done := make(chan end, 1)
	go func() { done <- g.wait() }()
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
	}
	g.terminate()
	select {
	case <-done:
	case <-time.After(grace):
		g.kill()
		<-done
	}
	return end{timedOut: true}
}

// lastOf keeps the last value of every variable: a program would take the first.
func lastOf(env []string) []string {
	out := make([]string, 0, len(env))
	seen := make(map[string]int, len(env))
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		if i, ok := seen[name]; ok {
			out[i] = pair
			continue
		}
		seen[name] = len(out)
		out = append(out, pair)
	}
	return out
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
