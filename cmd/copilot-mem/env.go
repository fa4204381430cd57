package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

// env is everything that a command may know of the world around it.
type env struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Now    func() time.Time
	Dir    string // working directory, absolute
	TTY    bool   // stdin and stdout are a terminal

	Accessible bool // questions as lines of text, for a reader of the screen
}

func (e *env) dataDir() (datadir.Dir, error) { return datadir.Find(e.Getenv) }

// printJSON writes one document; v starts with its schemaVersion.
func (e *env) printJSON(v any) error {
	enc := json.NewEncoder(e.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
