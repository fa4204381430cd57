// Command bench answers: what does one hook event cost, from start to exit? It compares copilot-mem-hook with the
// cheapest programs that could do its work and with a shell hook, turn by turn in one run. It judges nothing.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	n := flag.Int("n", 200, "rounds; slow programs run in every tenth")
	only := flag.Bool("policy", false, "only what deciding costs")
	flag.Parse()
	if err := run(os.Stdout, *n, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// program is one row of the table.
type program struct {
	name string
	argv []string
	slow bool
	in   []byte // nil: what all programs of the table get
	wall []time.Duration
	cpu  []time.Duration
}

func run(out io.Writer, rounds int, onlyPolicy bool) error {
	work, err := os.MkdirTemp("", "copilot-mem-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	build := func(name, pkg string) (string, error) {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		bin := filepath.Join(work, name)
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", pkg, err, text)
		}
		return bin, nil
	}
	const module = "github.com/copilot-mem/copilot-mem"
	hook, err1 := build("copilot-mem-hook", module+"/cmd/copilot-mem-hook")
	empty, err2 := build("empty", module+"/bench/testdata/empty")
	floor, err3 := build("floor", module+"/bench/testdata/floor")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if onlyPolicy {
		return policies(out, rounds, hook, empty, work)
	}
	data := filepath.Join(work, "data")
	env := append(os.Environ(), "COPILOT_MEM_HOME="+data, "COPILOT_MEM_DISABLE=")
	for _, size := range []int{1 << 10, 100 << 10} {
		payload, err := toolEvent(size)
		if err != nil {
			return err
		}
		sink := filepath.Join(work, fmt.Sprintf("floor-%d.jsonl", size))
		base := &program{name: "floor: read stdin, append one line", argv: []string{floor, sink}}
		programs := []*program{
			base,
			{name: "copilot-mem-hook postToolUse", argv: []string{hook, "postToolUse"}},
			{name: "empty Go program", argv: []string{empty}},
		}
		programs, err = addShell(out, programs, work, size)
		if err != nil {
			return err
		}
		for i := range rounds {
			for _, p := range programs {
				if p.slow && i%10 != 0 {
					continue
				}
				if err := p.once(env, payload); err != nil {
					return err
				}
			}
			// Neither may profit from a shorter file.
			if i%50 == 49 {
				_ = os.Remove(sink)
				_ = os.RemoveAll(data)
			}
		}
		table(out, fmt.Sprintf("%d KB on stdin", size>>10), programs, base)
	}
	return policies(out, rounds, hook, empty, work)
}

// addShell adds the rows that need programs which may be absent.
func addShell(out io.Writer, programs []*program, work string, size int) ([]*program, error) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		fmt.Fprintln(out, "SKIPPED: the two bash rows, because bash is not on PATH")
		return programs, nil
	}
	programs = append(programs, &program{name: "bash -c true", argv: []string{bash, "-c", "true"}})
	if _, err := exec.LookPath("jq"); err != nil {
		fmt.Fprintln(out, "SKIPPED: the bash+jq hook, because jq is not on PATH")
		return programs, nil
	}
	script := filepath.Join("bench", "testdata", "script-hook.sh")
	if _, err := os.Stat(script); err != nil {
		return nil, fmt.Errorf("%s: run from the root of the repository: %w", script, err)
	}
	sink := filepath.Join(work, fmt.Sprintf("script-%d.jsonl", size))
	return append(programs, &program{name: "bash+jq hook", argv: []string{bash, script, sink, work}, slow: true}), nil
}

// toolEvent is a postToolUse payload of about size bytes of ordinary text.
func toolEvent(size int) ([]byte, error) {
	const lines = "func (s *Server) handle(w http.ResponseWriter, r *http.Request) { // see issue 1842\n" +
		"\tif err := s.store.Put(r.Context(), key, value); err != nil {\n\t\treturn fmt.Errorf(\"put %q: %w\", key, err)\n\t}\n" +
		"ok  \texample.com/app/internal/server\t0.412s\tcommit 3f2a9c1d\n"
	room := max(size-420, 0)
	return json.Marshal(map[string]any{
		"sessionId": "ee0862ee-1981-4e47-bc82-04eb315967a5",
		"timestamp": 1795257460555,
		"cwd":       "/home/dev/app",
		"toolName":  "bash",
		"toolArgs":  map[string]string{"command": "go test ./... && git log --oneline -5", "description": "run the tests"},
		"toolResult": map[string]string{
			"resultType":       "success",
			"textResultForLlm": strings.Repeat(lines, room/len(lines)+1)[:room*7/8],
		},
	})
}

func (p *program) once(env []string, payload []byte) error {
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Env = env
	if p.in != nil {
		payload = p.in
	}
	cmd.Stdin = bytes.NewReader(payload)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.wall = append(p.wall, time.Since(start))
	p.cpu = append(p.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	return nil
}

func table(out io.Writer, title string, programs []*program, base *program) {
	fmt.Fprintf(out, "\n%s, %s/%s, medians in ms\n", title, runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(out, "%-36s %5s %8s %8s %8s %12s %12s\n", "", "n", "p50", "p99", "cpu", "p50/floor", "cpu/floor")
	for _, p := range programs {
		wall, cpu := quantile(p.wall, 0.5), quantile(p.cpu, 0.5)
		fmt.Fprintf(out, "%-36s %5d %8.2f %8.2f %8.2f %12.2f %12.2f\n", p.name, len(p.wall), ms(wall), ms(quantile(p.wall, 0.99)),
			ms(cpu), ratio(wall, quantile(base.wall, 0.5)), ratio(cpu, quantile(base.cpu, 0.5)))
	}
}

func quantile(d []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[int(q*float64(len(sorted)-1))]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
