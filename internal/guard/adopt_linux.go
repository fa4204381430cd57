package guard

import (
	"bytes"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

const prSetChildSubreaper = 36 // linux/prctl.h

// alone says that this process has no children but those that steps start; adopted, that their orphans come to it.
var alone, adopted atomic.Bool

// adopt makes this process the parent of what its steps leave behind, so that sweep finds those that left their group.
func adopt() {
	if alone.Load() && adopted.CompareAndSwap(false, true) {
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
	}
}

// abandon has sweep end what still runs, steps or not: git, for one.
func abandon() { adopted.Store(alone.Load()) }

// head is how long this process was there before it got to started: the client's clock runs from its creation, and a busy
// machine takes its time. Zero when the kernel does not tell, or says something that cannot be.
func head(started time.Time) time.Duration {
	if !alone.Load() {
		return 0
	}
	stat, err := os.ReadFile("/proc/self/stat")
	up, err2 := os.ReadFile("/proc/uptime")
	if err != nil || err2 != nil {
		return 0
	}
	const startField, ticks = 19, 100 // proc(5), counted after the name; USER_HZ
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	uptime, _, _ := bytes.Cut(up, []byte(" "))
	now, err := strconv.ParseFloat(string(uptime), 64)
	if err != nil || len(f) <= startField {
		return 0
	}
	born, err := strconv.ParseFloat(string(f[startField]), 64)
	age := time.Duration((now-born/ticks)*float64(time.Second)) - time.Since(started)
	if err != nil || age < 0 || age > 10*time.Second {
		return 0
	}
	return age
}

// sweep ends what steps started in a session of its own (setsid): every child of this process, when no step runs any more.
func sweep() {
	if !adopted.Load() {
		return
	}
	for until := time.Now().Add(grace); living() && time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		for _, pid := range children() {
			_ = syscall.Kill(-pid, syscall.SIGKILL) // a step that did not end in time leads a group
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// living reports whether this process has a child that runs; the exit codes of dead ones are taken.
func living() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != nil || pid == 0 {
			return err == nil
		}
	}
}

// children are the processes whose parent is this one.
func children() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	me := strconv.Itoa(os.Getpid())
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // gone meanwhile
		}
		// pid (name) state ppid …: the name may hold anything, a parenthesis too.
		f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(f) > 1 && string(f[1]) == me {
			out = append(out, pid)
		}
	}
	return out
}
