package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/guard"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	testscript.Main(m, map[string]func(){
		"copilot-mem":      main,
		"copilot-mem-hook": hookMain,
	})
}

// hookMain does what cmd/copilot-mem-hook does, which a test of this package cannot import.
func hookMain() {
	guard.Program{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Usage: true, Alone: true,
		Capture: func(stdin io.Reader) { capture.Main(os.Args[1:], stdin, os.Getenv) },
	}.Run()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"nowhere": nowhere, "subst": subst, "firstid": firstID},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("COPILOT_HOME", filepath.Join(e.WorkDir, "copilot"))
			e.Setenv("COPILOT_MEM_HOME", filepath.Join(e.WorkDir, "data"))
			e.Setenv("NO_COLOR", "1")
			assets, err := filepath.Abs("../../assets")
			if err != nil {
				return err
			}
			e.Setenv("ASSETS", assets)
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o700)
		},
	})
}

// nowhere PATH WORD… fails when one of the words stands in the bytes of a file at or below PATH, in any case, or in a name.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: nowhere PATH WORD…")
	}
	seen := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		seen++
		data, err := os.ReadFile(path)
		for _, word := range args[1:] {
			if bytes.Contains(bytes.ToLower(data), []byte(word)) || strings.Contains(strings.ToLower(d.Name()), word) {
				ts.Fatalf("%s holds %q", path, word)
			}
		}
		return err
	}))
	if seen == 0 {
		ts.Fatalf("%s: no file to look at", args[0])
	}
}

// subst FILE OLD NEW writes a file anew with another text in the place of one, as JSON writes it.
func subst(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: subst FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	escaped, err := json.Marshal(args[2])
	ts.Check(err)
	ts.Check(os.WriteFile(path, bytes.ReplaceAll(data, []byte(args[1]), bytes.Trim(escaped, `"`)), 0o600))
}

// firstID NAME puts the first "id" of the last stdout into a variable.
func firstID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: firstid NAME")
	}
	_, rest, ok := strings.Cut(ts.ReadFile("stdout"), `"id": "`)
	id, _, closed := strings.Cut(rest, `"`)
	if !ok || !closed {
		ts.Fatalf("no id in stdout")
	}
	ts.Setenv(args[0], id)
}
