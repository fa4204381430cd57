package mcpserver

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// The SDK gives up what it is doing when the input ends. Somebody who pipes requests in wants the answers all the same,
// so the end of the input is held back until the last request was answered.
type drain struct {
	in   *bufio.Reader
	out  io.WriteCloser
	line []byte // what was read and not yet handed on

	mu   sync.Mutex
	open map[string]bool // requests without an answer
	done chan struct{}   // closed when there is none, and made anew
}

// patience is how long the end of the input is held back.
const patience = 30 * time.Second

func newDrain(in io.Reader, out io.WriteCloser) *drain {
	return &drain{in: bufio.NewReaderSize(in, 64<<10), out: out, open: map[string]bool{}}
}

type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func (d *drain) Read(p []byte) (int, error) {
	if len(d.line) == 0 {
		line, err := d.in.ReadBytes('\n')
		if len(line) == 0 {
			d.wait()
			return 0, err
		}
		var m envelope
		if json.Unmarshal(line, &m) == nil && len(m.ID) > 0 && m.Method != "" {
			d.mu.Lock()
			d.open[string(m.ID)] = true
			d.mu.Unlock()
		}
		d.line = line
	}
	n := copy(p, d.line)
	d.line = d.line[n:]
	return n, nil
}

func (d *drain) wait() {
	d.mu.Lock()
	if len(d.open) == 0 {
		d.mu.Unlock()
		return
	}
	done := make(chan struct{})
	d.done = done
	d.mu.Unlock()
	select {
	case <-done:
	case <-time.After(patience):
	}
}

func (d *drain) Write(p []byte) (int, error) {
	n, err := d.out.Write(p)
	var m envelope
	if json.Unmarshal(p, &m) == nil && len(m.ID) > 0 && m.Method == "" || err != nil {
		d.mu.Lock()
		delete(d.open, string(m.ID))
		if (len(d.open) == 0 || err != nil) && d.done != nil {
			close(d.done)
			d.done = nil
		}
		d.mu.Unlock()
	}
	return n, err
}

func (d *drain) Close() error { return d.out.Close() }
