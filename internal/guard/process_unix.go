//go:build unix

package guard

import (
	"os/exec"
	"syscall"
	"time"
)

// group is a process and all it starts, as long as they stay in its process group.
type group struct{ cmd *exec.Cmd }

func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	adopt()
	return &group{cmd}
}

func (g *group) started() {}
func (g *group) close()   {}

func (g *group) terminate() { g.signal(syscall.SIGTERM) }
func (g *group) kill()      { g.signal(syscall.SIGKILL) }

// signal reports whether anybody was there to get it.
func (g *group) signal(s syscall.Signal) bool {
	return g.cmd.Process != nil && syscall.Kill(-g.cmd.Process.Pid, s) == nil
}

// finish ends what the process, which is gone, left behind in its group.
func (g *group) finish() {
	if g.reap(); !g.signal(syscall.SIGTERM) {
		return
	}
	for until := time.Now().Add(grace); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		if g.reap(); !g.signal(0) {
			return
		}
	}
	g.kill()
	g.reap()
}

// reap takes the exit codes of dead members that were adopted: they would else stay members.
func (g *group) reap() {
	for {
		if pid, err := syscall.Wait4(-g.cmd.Process.Pid, nil, syscall.WNOHANG, nil); err != nil || pid <= 0 {
			return
		}
	}
}
