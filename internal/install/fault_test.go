package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A scene is what somebody was doing when it was interrupted.
type scene struct {
	name   string
	least  int // calls on the disk, so that a test that sees none fails
	before func(t *testing.T, w world)
	job    func(w world) (*Job, error)
}

func (w world) removal() (*Job, error) {
	return PrepareRemoval("user", w.scope, w.data, filepath.Join(w.data, "receipts"))
}

// full is a request with everything in it: files, a shared JSON file, a text with a line of ours; with Force.
func (w world) full(version string) Request {
	r := w.request(version)
	r.Force = true
	r.Parts[1].Merges = append(r.Parts[1].Merges, Merge{Path: "README.md", Reason: "a line added", Edit: func(text []byte) ([]byte, error) {
		if strings.Contains(string(text), "\nours ") {
			return text, nil
		}
		return append(text[:len(text):len(text)], "\nours "+version+"\n"...), nil
	}})
	return r
}

var scenes = []scene{
	{"init", 40, nil, func(w world) (*Job, error) { return Prepare(w.full("1.0.0")) }},
	{"upgrade", 30, func(t *testing.T, w world) { install(t, w.full("1.0.0")) }, func(w world) (*Job, error) { return Prepare(w.full("1.1.0")) }},
	{"uninstall", 15, func(t *testing.T, w world) { install(t, w.full("1.0.0")) }, world.removal},
	{"uninstall after an upgrade", 15, func(t *testing.T, w world) {
		install(t, w.full("1.0.0"))
		install(t, w.full("1.1.0"))
	}, world.removal},
}

// furnished is a world with files of a person, one of them in the way of ours.
func furnished(t *testing.T) world {
	t.Helper()
	return furnish(t, world{dir: t.TempDir()})
}

func furnish(t *testing.T, w world) world {
	t.Helper()
	w = world{w.dir, filepath.Join(w.dir, "scope"), filepath.Join(w.dir, "data")}
	write(t, filepath.Join(w.scope, "settings.json"), "{\n  // mine\n  \"a\": 1,\n}", 0o644)
	write(t, filepath.Join(w.scope, "README.md"), "# Mine\n", 0o644)
	write(t, filepath.Join(w.scope, "agents", "nav.agent.md"), "mine", 0o600)
	if err := os.Symlink("../README.md", filepath.Join(w.scope, "agents", "link.md")); err != nil {
		t.Fatal(err)
	}
	return w
}

// fault is what goes wrong from the nth call on the disk on.
type fault struct {
	name string
	// at says what the call gives; n counts from 0 at the call where the fault begins.
	at func(n int, op string) error
}

var errKilled = errors.New("killed")

var makes = map[string]bool{"mkdir": true, "create": true, "write": true, "copy": true}

var faults = []fault{
	{"dead", func(int, string) error { panic(errKilled) }},
	{"once", func(n int, _ string) error { return only(n == 0, syscall.EIO) }},
	{"full disk", func(_ int, op string) error { return only(makes[op], syscall.ENOSPC) }},
	{"no permission", func(int, string) error { return syscall.EACCES }},
	{"read-only", func(int, string) error { return syscall.EROFS }},
}

func only(when bool, err error) error {
	if when {
		return err
	}
	return nil
}

// strike carries a job out with a fault that begins at call n. reached says whether there was such a call.
func strike(j *Job, n int, f fault) (err error, reached bool) {
	defer func() {
		if r := recover(); r != nil {
			if r != errKilled { //nolint:errorlint // our own value
				panic(r)
			}
			err = errKilled
		}
	}()
	seen := 0
	j.hand = &hand{before: func(op, name string) error {
		seen++
		if seen <= n {
			return nil
		}
		reached = true
		if err := f.at(seen-n-1, op); err != nil {
			return &fs.PathError{Op: op, Path: name, Err: err}
		}
		return nil
	}}
	return j.Do(), reached
}

// Whatever goes wrong at whatever call on the disk: no file that somebody reads is half there; the next init finishes,
// and the next uninstall undoes, to the last byte.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	for _, s := range scenes {
		for _, f := range faults {
			t.Run(s.name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				for n := 0; ; n++ {
					if !everyWayOn(t, s, f, n) {
						if n < s.least {
							t.Errorf("only %d calls on the disk: this test would see nothing", n)
						}
						return
					}
				}
			})
		}
	}
}

// everyWayOn strikes twice, and goes on with an init the first time, with an uninstall the second.
func everyWayOn(t *testing.T, s scene, f fault, n int) (reached bool) {
	t.Helper()
	for _, finish := range []bool{true, false} {
		w := furnished(t)
		clean := snapshot(t, w.dir)
		if s.before != nil {
			s.before(t, w)
		}
		standing := snapshot(t, w.dir)
		j, err := s.job(w)
		if err != nil {
			t.Fatal(err)
		}
		err, reached = strike(j, n, f)
		what := fmt.Sprintf("call %d, finish %v, error %v", n, finish, err)
		hinted(t, what, err)
		allWhole(t, w, what)
		if err != nil && f.name == "once" && wroteNothing(err) {
			same(t, what+": it says that nothing was written", standing, snapshot(t, w.dir))
		}
		recoverAndCheck(t, w, what, finish, clean)
	}
	return reached
}

func wroteNothing(err error) bool {
	var e *Error
	return errors.As(err, &e) && strings.Contains(e.Advice, "nothing was written")
}

func hinted(t *testing.T, what string, err error) {
	t.Helper()
	var h interface{ Hint() string }
	if err != nil && !errors.Is(err, errKilled) && (!errors.As(err, &h) || h.Hint() == "") {
		t.Errorf("%s: no hint", what)
	}
}

func recoverAndCheck(t *testing.T, w world, what string, finish bool, clean map[string]string) {
	t.Helper()
	if finish {
		install(t, w.full("1.1.0"))
		for _, s := range states(t, w) {
			if s.State != OK {
				t.Errorf("%s: after the next init: %v", what, s)
			}
		}
		noLitter(t, w, what)
	}
	w.uninstall(t)
	if err := Tidy(w.data, filepath.Join(w.data, "receipts")); err != nil {
		t.Error(err)
	}
	got := snapshot(t, w.dir)
	if !exists(filepath.Join(w.data, "receipts")) && got["data"] == "drwx------ " {
		delete(got, "data") // before the first record and after the last, nothing knows of the empty data folder
	}
	same(t, what, clean, got)
}

// allWhole: every file that the client or we read by its name is one that somebody wrote on purpose.
func allWhole(t *testing.T, w world, what string) {
	t.Helper()
	for name, content := range snapshot(t, w.dir) {
		base := filepath.Base(name)
		if strings.HasPrefix(base, tempPrefix) || !strings.HasPrefix(content, "-") {
			continue
		}
		_, text, _ := strings.Cut(content, " ")
		switch {
		case strings.Contains(name, "receipts"):
			if !json.Valid([]byte(text)) {
				t.Errorf("%s: %s is %q", what, name, text)
			}
		case base == "settings.json":
			if !json.Valid(plain([]byte(text))) || !strings.Contains(text, "// mine") && len(text) > 0 {
				t.Errorf("%s: %s is %q", what, name, text)
			}
		case base == "copilot-mem.json":
			if !strings.HasPrefix(text, `{"version":1}1.`) {
				t.Errorf("%s: %s is %q", what, name, text)
			}
		case base == "nav.agent.md.bak":
			if text != "mine" {
				t.Errorf("%s: %s is %q", what, name, text)
			}
		}
	}
}

func noLitter(t *testing.T, w world, what string) {
	t.Helper()
	for name := range snapshot(t, w.dir) {
		if strings.HasPrefix(filepath.Base(name), tempPrefix) || strings.HasSuffix(name, ".bak2") {
			t.Errorf("%s: %s is left", what, name)
		}
	}
}

const killEnv = "COPILOT_MEM_TEST_KILL"

// TestMain also plays the process that is killed: it does one scene in a folder, until its nth call on the disk.
func TestMain(m *testing.M) {
	if text := os.Getenv(killEnv); text != "" {
		os.Exit(dieAt(text))
	}
	// A file system in memory, where there is one: most of the time here goes into waiting for a disk.
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		os.Setenv("TMPDIR", "/dev/shm") //nolint:errcheck // then it is slower
	}
	os.Exit(m.Run())
}

func dieAt(text string) int {
	var scene, n int
	var dir string
	if _, err := fmt.Sscanf(text, "%d %d %s", &scene, &n, &dir); err != nil {
		return 3
	}
	j, err := scenes[scene].job(world{dir, filepath.Join(dir, "scope"), filepath.Join(dir, "data")})
	if err != nil {
		return 3
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return 3
	}
	j.hand = &hand{before: func(string, string) error {
		if n--; n < 0 {
			self.Kill() //nolint:errcheck // the test sees an exit code then
			select {}
		}
		return nil
	}}
	if err := j.Do(); err != nil {
		return 4
	}
	return 0
}

// The same with a process that really dies, at every third call.
func TestRealKill(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for n := 0; ; n += 3 {
				w := furnished(t)
				clean := snapshot(t, w.dir)
				if s.before != nil {
					s.before(t, w)
				}
				cmd := exec.Command(exe)
				cmd.Env = append(os.Environ(), killEnv+"="+strconv.Itoa(i)+" "+strconv.Itoa(n)+" "+w.dir)
				err := cmd.Run()
				if err == nil {
					if n < s.least {
						t.Errorf("only %d calls on the disk", n)
					}
					return
				}
				if code := cmd.ProcessState.ExitCode(); code != -1 && !windows {
					t.Fatalf("call %d: exit code %d", n, code)
				}
				what := fmt.Sprintf("killed at call %d", n)
				allWhole(t, w, what)
				recoverAndCheck(t, w, what, n%2 == 0, clean)
			}
		})
	}
}
