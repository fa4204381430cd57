//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// recordArg turns the test binary into a hook that appends what it is told to a file: recordArg EVENT FILE.
const recordArg = "record-hook-event"

var (
	repoRoot  string // of this project
	clientBin string // Copilot CLI
	binDir    string // holds copilot-mem and copilot-mem-hook
	cacheDir  string // where the client unpacks itself (240 MB), once for all tests
	tempDir   string // everything that the tests write
	buildErr  error
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == recordArg {
		os.Exit(record(os.Args[2], os.Args[3], os.Stdin))
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	if os.Getenv("COPILOT_MEM_E2E_SKIP") == "1" {
		fmt.Println("e2e: skipped, because COPILOT_MEM_E2E_SKIP=1")
		return 0
	}
	wd, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	repoRoot = filepath.Dir(wd)
	if clientBin, err = findClient(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		fmt.Fprintln(os.Stderr, "e2e: hint: run e2e/install-client.sh, or set COPILOT_BIN, or set COPILOT_MEM_E2E_SKIP=1 to do without these tests")
		return 1
	}
	if tempDir, err = os.MkdirTemp("", "copilot-mem-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(tempDir)
	// The client and git report resolved folders.
	if tempDir, err = filepath.EvalSymlinks(tempDir); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	cacheDir = filepath.Join(tempDir, "cache")
	binDir = filepath.Join(tempDir, "bin")
	// A build that fails is reported by the tests that need it, so that the others still say something.
	buildErr = build(binDir)
	if err := unpackClient(tempDir); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	return m.Run()
}

// findClient looks where a person would expect: COPILOT_BIN, then PATH, then what e2e/install-client.sh installed.
func findClient() (string, error) {
	if p := os.Getenv("COPILOT_BIN"); p != "" {
		if _, err := exec.LookPath(p); err != nil {
			return "", fmt.Errorf("COPILOT_BIN: %w", err)
		}
		return filepath.Abs(p)
	}
	if p, err := exec.LookPath("copilot"); err == nil {
		return filepath.Abs(p)
	}
	if p, err := exec.LookPath(filepath.Join(repoRoot, "e2e", "node_modules", ".bin", "copilot")); err == nil {
		return p, nil
	}
	return "", fmt.Errorf("Copilot CLI: not found")
}

func build(dir string) error {
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./cmd/copilot-mem", "./cmd/copilot-mem-hook")
	cmd.Dir = repoRoot
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// unpackClient starts the client once: two first starts at the same time would unpack into the same folder.
func unpackClient(home string) error {
	cmd := exec.Command(clientBin, "--version")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "COPILOT_HOME=" + filepath.Join(home, "unused"), "XDG_CACHE_HOME=" + cacheDir, "COPILOT_OFFLINE=true"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s --version: %w\n%s", clientBin, err, out)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	fmt.Printf("e2e: %s (%s), %s/%s\n", strings.TrimSpace(line), clientBin, runtime.GOOS, runtime.GOARCH)
	return nil
}

// recorded is one line of what [record] writes.
type recorded struct {
	Event   string
	Payload json.RawMessage
}

func record(event, file string, stdin io.Reader) int {
	payload, err := io.ReadAll(stdin)
	if err != nil {
		return 1
	}
	line, err := json.Marshal(recorded{event, payload})
	if err != nil {
		return 1
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		return 1
	}
	return 0
}

func readRecorded(t *testing.T, file string) []recorded {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	for line := range bytes.Lines(data) {
		var r recorded
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v: %s", file, err, line)
		}
		all = append(all, r)
	}
	return all
}

// poll asks again until ok, for slow machines up to a limit that no healthy run comes near.
func poll(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(250 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}
