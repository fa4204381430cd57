package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/copilot-mem/copilot-mem/internal/capture"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"copilot-mem":      main,
		"copilot-mem-hook": hookMain,
	})
}

// hookMain does what cmd/copilot-mem-hook does, which a test of this package cannot import.
func hookMain() {
	capture.Main(os.Args[1:], os.Stdin, os.Getenv)
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("COPILOT_HOME", filepath.Join(e.WorkDir, "copilot"))
			e.Setenv("COPILOT_MEM_HOME", filepath.Join(e.WorkDir, "data"))
			e.Setenv("NO_COLOR", "1")
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o700)
		},
	})
}
