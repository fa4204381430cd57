// Package datadir says where our files live: one folder, and the name of everything in it.
// It reads and writes none of those files.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Dir is the data folder.
type Dir string

// Find returns the data folder: COPILOT_MEM_HOME, else copilot-mem in XDG_DATA_HOME, in ~/.local/share, or on Windows
// in LOCALAPPDATA. It does not look whether the folder exists.
func Find(getenv func(string) string) (Dir, error) { return find(runtime.GOOS, getenv) }

func find(goos string, getenv func(string) string) (Dir, error) {
	const name = "copilot-mem"
	if home := getenv("COPILOT_MEM_HOME"); home != "" {
		// A hook runs in the session's folder: a relative path would be another folder in every project.
		if !filepath.IsAbs(home) {
			return "", &Error{Path: home, Problem: "COPILOT_MEM_HOME is not an absolute path"}
		}
		return Dir(filepath.Clean(home)), nil
	}
	// The XDG base directory specification: relative paths are invalid and ignored.
	if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return Dir(filepath.Join(data, name)), nil
	}
	if goos == "windows" {
		if data := getenv("LOCALAPPDATA"); data != "" {
			return Dir(filepath.Join(data, name)), nil
		}
		if home := getenv("USERPROFILE"); home != "" {
			return Dir(filepath.Join(home, "AppData", "Local", name)), nil
		}
		return "", &Error{Problem: "no data folder: LOCALAPPDATA is not set"}
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return Dir(filepath.Join(home, ".local", "share", name)), nil
	}
	return "", &Error{Problem: "no data folder: HOME is not set"}
}

// Spool is the folder where events wait.
func (d Dir) Spool() string { return d.join("spool") }

// DB is the store's file.
func (d Dir) DB() string { return d.join("memory.db") }

// State is the folder of session identities and transcript positions.
func (d Dir) State() string { return d.join("state") }

// Failures is the file that notes what capture could not store: one JSON object a line, with time, event and reason.
func (d Dir) Failures() string { return d.join("failures.jsonl") }

// Receipts is the folder of what install wrote.
func (d Dir) Receipts() string { return d.join("receipts") }

// Bin is the folder of the installed capture binary.
func (d Dir) Bin() string { return d.join("bin") }

// Plugin is the folder of the local marketplace that scope plugin installs from.
func (d Dir) Plugin() string { return d.join("marketplace") }

// Forward is the folder of events that wait for the forwarding sink.
func (d Dir) Forward() string { return d.join("forward") }

// Config is the file of what the user chose.
func (d Dir) Config() string { return d.join("config.yaml") }

// Logs is the folder of what policies decided.
func (d Dir) Logs() string { return d.join("logs") }

// Trust is the list of repositories whose policies the user trusts.
func (d Dir) Trust() string { return d.join("trust.json") }

// Recall is the folder of what agents were told: one file for each session, and the list of what is muted.
func (d Dir) Recall() string { return d.join("recall") }

// Backups is the folder of the store's copies: those that were asked for, and what restore and salvage put aside.
func (d Dir) Backups() string { return d.join("backups") }

// Feedback is the folder of what the next call waits for.
func (d Dir) Feedback() string { return d.join("feedback") }

// Locks is the folder of the locks of policies that may not run side by side.
func (d Dir) Locks() string { return d.join("locks") }

// Actions is the folder of the actions that policies use.
func (d Dir) Actions() string { return d.join("actions") }

// Owned are the names of everything that we may put into the folder. What begins with one of them and a hyphen is ours
// too: the store's journal, a file that is being written.
func (d Dir) Owned() []string {
	var names []string
	for _, p := range []string{
		d.Spool(), d.DB(), d.State(), d.Failures(), d.Receipts(), d.Bin(), d.Plugin(), d.Forward(), d.Config(), d.Backups(),
		d.Recall(), d.Logs(), d.Trust(), d.Feedback(), d.Locks(), d.Actions(),
	} {
		names = append(names, filepath.Base(p))
	}
	return append(names, filepath.Base(d.Failures())+".old", ".config", ".trust", ".copilot-mem")
}

func (d Dir) join(name string) string { return filepath.Join(string(d), name) }

// Ensure makes the folder, for its owner alone, and tightens one that is open to others. It refuses a symlink that
// belongs to somebody else, and a folder that is shared by design.
func (d Dir) Ensure() error {
	path := string(d)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		info, err = os.Lstat(path)
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if !ours(info) {
			return &Error{Path: path, Problem: "symlink that belongs to another user"}
		}
		if info, err = os.Stat(path); err != nil {
			return err
		}
	}
	if !info.IsDir() {
		return &Error{Path: path, Problem: "not a folder"}
	}
	if !private || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	// Root could tighten /tmp for everybody.
	if info.Mode()&fs.ModeSticky != 0 {
		return &Error{Path: path, Problem: "folder is shared with other users"}
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return &Error{Path: path, Problem: "open to other users", Err: err}
	}
	return nil
}

// Error says why a folder cannot be the data folder.
type Error struct {
	Path    string // empty when there is none
	Problem string
	Err     error // may be nil
}

func (e *Error) Error() string {
	text := e.Problem
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Err != nil {
		text = fmt.Sprintf("%s: %v", text, e.Err)
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Hint says what to do about it.
func (e *Error) Hint() string {
	return "set COPILOT_MEM_HOME to the absolute path of a folder of your own"
}
