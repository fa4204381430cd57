//go:build unix

package guard

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// group is a process and all it starts, as long as they stay in its process group.
type group struct{ pid int }

// start: package os would fork a probe process first, to learn whether the kernel has process descriptors.
func (g *group) start(p process, in, out, errs *os.File) (err error) {
	adopt()
	g.pid, err = syscall.ForkExec(p.argv[0], p.argv, &syscall.ProcAttr{
		Dir: p.dir, Env: lastOf(p.env), Files: []uintptr{in.Fd(), out.Fd(), errs.Fd()}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	return err
}

func (g *group) wait() end {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(g.pid, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return end{err: os.NewSyscallError("wait4", err)}
		case status.Exited():
			return end{code: status.ExitStatus()}
		}
		return end{code: 128 + int(status.Signal())} // as a shell would say
	}
}

func (g *group) close()     {}
func (g *group) terminate() { g.signal(syscall.SIGTERM) }
func (g *group) kill()      { g.signal(syscall.SIGKILL) }

// signal reports whether anybody was there to get it.
func (g *group) signal(s syscall.Signal) bool { return syscall.Kill(-g.pid, s) == nil }

// finish ends what the process, which is gone, left behind in its group: TERM, and KILL after the given time.
func (g *group) finish(patience time.Duration) {
	if g.reap(); !g.signal(syscall.SIGTERM) {
		return
	}
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
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
		if pid, err := syscall.Wait4(-g.pid, nil, syscall.WNOHANG, nil); err != nil || pid <= 0 {
			return
		}
	}
}
