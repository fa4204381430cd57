package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/guard"
)

func TestMain(m *testing.M) {
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
		Dir: "testdata/script",
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
