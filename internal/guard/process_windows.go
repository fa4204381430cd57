package guard

import (
	"errors"
	"os"
	"os/exec"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object: closing its last handle ends every process in it.
type group struct {
	cmd *exec.Cmd
	job windows.Handle
}

func (g *group) start(p process, in, out, errs *os.File) error {
	g.cmd = exec.Command(p.argv[0], p.argv[1:]...)
	g.cmd.Dir, g.cmd.Env = p.dir, lastOf(p.env)
	g.cmd.Stdin, g.cmd.Stdout, g.cmd.Stderr = in, out, errs
	g.open()
	if err := g.cmd.Start(); err != nil {
		g.close()
		return err
	}
	g.join()
	return nil
}

func (g *group) wait() end {
	err := g.cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return end{}
	case errors.As(err, &exit):
		return end{code: exit.ExitCode()}
	}
	return end{err: err}
}

// open makes the job; without one the process itself can still be ended.
func (g *group) open() {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		_ = windows.CloseHandle(job)
		return
	}
	g.job = job
}

// join puts the process into the job. What it started before that escapes, which takes a faster child than any shell.
func (g *group) join() {
	if g.job == 0 {
		return
	}
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE
	h, err := windows.OpenProcess(access, false, uint32(g.cmd.Process.Pid))
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(h) }()
	_ = windows.AssignProcessToJobObject(g.job, h)
}

// terminate: a console program has no TERM here.
func (g *group) terminate() { g.kill() }

func (g *group) kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
	if g.cmd.Process != nil {
		_ = g.cmd.Process.Kill()
	}
}

func (g *group) finish(time.Duration) {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
}

func (g *group) close() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}
