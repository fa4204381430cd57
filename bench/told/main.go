// Command told answers: what does it cost that an agent is told by itself what memory knows, and is it the right thing?
// It times the program at the start of a session and beside a prompt, in a store of many entries, turn by turn with an empty
// Go program; and it lets generated sessions with marked entries run through it. It judges nothing.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

func main() {
	entries := flag.Int("entries", 100_000, "entries of the store that is timed")
	rounds := flag.Int("n", 60, "rounds of timing")
	sessions := flag.Int("sessions", 50, "generated sessions")
	flag.Parse()
	if err := run(os.Stdout, *entries, *rounds, *sessions); err != nil {
		fmt.Fprintln(os.Stderr, "bench/told:", err)
		os.Exit(1)
	}
}

// world is one person's machine.
type world struct {
	work, data, repo string
	program, empty   string
}

func run(out io.Writer, entries, rounds, sessions int) error {
	work, err := os.MkdirTemp("", "copilot-mem-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	w := world{work: work}
	const module = "github.com/copilot-mem/copilot-mem"
	var err1, err2 error
	w.program, err1 = w.build("copilot-mem", module+"/cmd/copilot-mem")
	w.empty, err2 = w.build("empty", module+"/bench/testdata/empty")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	w.repo = filepath.Join(work, "app")
	if err := w.git(); err != nil {
		return err
	}
	w.data = filepath.Join(work, "quality")
	if err := w.quality(out, sessions); err != nil {
		return err
	}
	w.data = filepath.Join(work, "speed")
	return w.speed(out, entries, rounds)
}

func (w world) build(name, pkg string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	bin := filepath.Join(w.work, name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	return bin, nil
}

func (w world) git() error {
	if err := os.MkdirAll(filepath.Join(w.repo, ".git"), 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(w.repo, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
		os.WriteFile(filepath.Join(w.repo, ".git", "config"), []byte("[remote \"origin\"]\n\turl = https://github.com/acme/app.git\n"), 0o600))
}

// event runs the program for one hook event and gives what the agent is told.
func (w world) event(name string, payload map[string]any) (string, time.Duration, error) {
	payload["cwd"] = w.repo
	in, err := json.Marshal(payload)
	if err != nil {
		return "", 0, err
	}
	cmd := exec.Command(w.program, "recall", name)
	cmd.Env = append(os.Environ(), "COPILOT_MEM_HOME="+w.data, "COPILOT_MEM_DISABLE=", "COPILOT_MEM_FORWARD=")
	cmd.Stdin = bytes.NewReader(in)
	var out bytes.Buffer
	cmd.Stdout = &out
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return "", 0, err
	}
	took := time.Since(begun)
	var answer struct{ AdditionalContext string }
	if out.Len() > 0 {
		err = json.Unmarshal(out.Bytes(), &answer)
	}
	return answer.AdditionalContext, took, err
}

func (w world) ingest() error {
	cmd := exec.Command(w.program, "ingest")
	cmd.Env = append(os.Environ(), "COPILOT_MEM_HOME="+w.data)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ingest: %w\n%s", err, out)
	}
	return nil
}

// speed times the two events that a person waits for.
func (w world) speed(out io.Writer, entries, rounds int) error {
	if err := os.MkdirAll(w.data, 0o700); err != nil {
		return err
	}
	if err := fill(filepath.Join(w.data, "memory.db"), entries); err != nil {
		return err
	}
	times := map[string][]time.Duration{}
	told := map[string]int{}
	rng := rand.New(rand.NewPCG(1, 2))
	at := time.Now().UnixMilli()
	for i := range rounds {
		begun := time.Now()
		if err := exec.Command(w.empty).Run(); err != nil {
			return err
		}
		times["empty Go program"] = append(times["empty Go program"], time.Since(begun))
		id := fmt.Sprintf("bench-%d", i)
		for _, ev := range []string{"sessionStart", "userPromptSubmitted"} {
			key, prompt := "prompt", "please look at the "+subject(rng.IntN(subjects))+" "+pick(rng)+" "+pick(rng)+" "+pick(rng)
			if ev == "sessionStart" {
				key = "initialPrompt"
			}
			at += 5000
			text, took, err := w.event(ev, map[string]any{"sessionId": id, "timestamp": at, "source": "new", key: prompt})
			if err != nil {
				return err
			}
			times[ev] = append(times[ev], took)
			if text != "" {
				told[ev]++
			}
		}
		if err := w.ingest(); err != nil { // as the end of a session does in the background
			return err
		}
	}
	base := quantile(times["empty Go program"], 0.5)
	fmt.Fprintf(out, "\n%d entries, %d rounds, %s/%s, %d cores\n%-24s %8s %8s %10s %6s\n", entries, rounds, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		"", "p50 ms", "p95 ms", "p50/empty", "told")
	for _, name := range []string{"empty Go program", "sessionStart", "userPromptSubmitted"} {
		p50 := quantile(times[name], 0.5)
		fmt.Fprintf(out, "%-24s %8.1f %8.1f %10.1f %6d\n", name, ms(p50), ms(quantile(times[name], 0.95)), float64(p50)/float64(base), told[name])
	}
	return nil
}

// fill makes a store of sessions of twenty entries in five projects.
func fill(path string, entries int) error {
	ctx := context.Background()
	db, err := store.Open(ctx, path, store.Options{Words: search.Document, Stem: search.Stem})
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(3, 4))
	begun := time.Now().Add(-200 * 24 * time.Hour)
	const perSession = 20
	for s := 0; s*perSession < entries; s++ {
		id := fmt.Sprintf("s%06d", s)
		project := []string{"github.com/acme/app", "github.com/acme/web", "github.com/acme/ops", "github.com/acme/lib", "github.com/acme/doc"}[s%5]
		at := begun.Add(time.Duration(s) * 50 * time.Minute)
		var all []memory.Entry
		for i := range perSession {
			e := memory.Entry{
				ID: fmt.Sprintf("e%06d%02d", s, i), SessionID: id, Time: at.Add(time.Duration(i) * time.Minute), Project: project, Branch: "main",
				Kind: memory.KindToolResult, Tool: "bash", ToolInput: json.RawMessage(`{"command":"go test ./` + pick(rng) + `"}`), ResultType: "success",
			}
			switch i {
			case 0, 10:
				e.Kind, e.Tool, e.ToolInput, e.ResultType = memory.KindPrompt, "", nil, ""
			case 9, 19:
				e.Kind, e.Tool, e.ToolInput, e.ResultType = memory.KindResponse, "", nil, ""
			}
			var b strings.Builder
			for range 12 {
				b.WriteString(sentence(rng) + "\n")
			}
			e.Text = b.String()
			if e.Kind == memory.KindPrompt {
				e.Text = sentence(rng) + " " + subject((s/5)%subjects)
			}
			all = append(all, e)
		}
		session := memory.Session{ID: id, Project: project, Branch: "main", Client: "copilot", StartedAt: at, EndedAt: at.Add(time.Hour)}
		if _, _, err := db.Add(ctx, []memory.Session{session}, all); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	return db.Close()
}

// pick takes a word of 4,000, common ones more often, as in a language.
func pick(rng *rand.Rand) string {
	return word(int(4000 * rng.Float64() * rng.Float64() * rng.Float64()))
}

func word(n int) string {
	const onset, vowel, coda = "bdfgklmnprst", "aeiou", "nrstlkmd"
	var b strings.Builder
	for range 3 {
		b.WriteByte(onset[n%12])
		b.WriteByte(vowel[n/3%5])
		n = n*7 + 5
	}
	b.WriteByte(coda[n%8])
	return b.String()
}

// subjects is how many things the prompts of the store are about.
const subjects = 500

func subject(n int) string {
	tail := string([]byte{byte('a' + n%26), byte('a' + n/26)})
	return "quay" + tail + " mole" + tail + " buoy" + tail
}

func sentence(rng *rand.Rand) string {
	words := make([]string, 10)
	for i := range words {
		words[i] = pick(rng)
	}
	return "please look at the " + strings.Join(words, " ")
}

func quantile(d []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[int(q*float64(len(sorted)-1))]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
