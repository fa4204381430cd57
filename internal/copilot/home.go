// Package copilot says where the client keeps things and which version it is. It starts nothing and writes nothing.
package copilot

import (
	"errors"
	"path/filepath"
	"runtime"
)

// Home is the client's folder of one person.
type Home struct{ Dir string }

// FindHome gives COPILOT_HOME, else .copilot in the home folder; absolute, whether it exists or not.
func FindHome(getenv func(string) string) (Home, error) {
	if dir := getenv("COPILOT_HOME"); dir != "" {
		abs, err := filepath.Abs(dir)
		return Home{abs}, err
	}
	key := "HOME"
	if runtime.GOOS == "windows" {
		key = "USERPROFILE"
	}
	home := getenv(key)
	if !filepath.IsAbs(home) {
		return Home{}, &HomeError{errors.New(key + ": not set to an absolute path")}
	}
	return Home{filepath.Join(home, ".copilot")}, nil
}

// HomeError says that the client's folder cannot be known.
type HomeError struct{ Err error }

func (e *HomeError) Error() string { return e.Err.Error() }
func (e *HomeError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *HomeError) Hint() string { return "set COPILOT_HOME to the client's folder" }

// Hooks is the folder of the person's hook files.
func (h Home) Hooks() string { return filepath.Join(h.Dir, "hooks") }

// Skills is the folder of the person's skills.
func (h Home) Skills() string { return filepath.Join(h.Dir, "skills") }

// Agents is the folder of the person's agents.
func (h Home) Agents() string { return filepath.Join(h.Dir, "agents") }

// Settings is what the person sets: marketplaces and enabled plugins are here.
func (h Home) Settings() string { return filepath.Join(h.Dir, "settings.json") }

// Config is what the client notes for itself: trusted folders and installed plugins are here.
func (h Home) Config() string { return filepath.Join(h.Dir, "config.json") }

// Logs is the folder of the client's logs.
func (h Home) Logs() string { return filepath.Join(h.Dir, "logs") }

// SessionState has one folder for each session, with its transcript.
func (h Home) SessionState() string { return filepath.Join(h.Dir, "session-state") }
