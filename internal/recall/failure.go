package recall

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

const (
	// maxSteps is how many steps from a failure to the pass are told.
	maxSteps = 4
	// passWithin is how many entries after a failure the pass has to come.
	passWithin = 150
	// telling is how long a line of an error is that says by itself which error it is.
	telling = 24
)

// failure tells how the same error was left behind before: only if the same command did pass later in that session. What a
// tool printed is compared and never told.
func (d deciding) failure() (Told, error) {
	if d.m.Agent == "" {
		if t, err := d.giveBack(); err != nil || t.Text != "" {
			return t, err
		}
	}
	if d.m.Failure == "" {
		return Told{}, nil
	}
	kind := memory.KindToolResult
	if d.m.Event == postToolUseFailure {
		kind = memory.KindError
	}
	mine := errorLines(d.m.Failure)
	past, err := d.similar(target(d.m.Tool, d.m.Input)+" "+strings.Join(mine, " "), memory.Query{
		Project: d.m.Project, Session: d.m.Session, Kind: kind, Tool: d.m.Tool,
	})
	if err != nil {
		return Told{}, err
	}
	for _, e := range past {
		if !d.new(e.ID) || !d.met(e, mine) {
			continue
		}
		after, err := d.store.After(d.ctx, e.SessionID, e.Time, passWithin)
		if err != nil {
			return Told{}, err
		}
		steps, passed := way(e, after, d.m.Root)
		if !passed {
			continue
		}
		p := d.page(d.l.Tool)
		line := d.origin(e) + "the same error of " + quote(target(e.Tool, e.ToolInput), 30) + "; then " + steps + ", and it passed."
		p.add("Met before:", line, Item{ID: e.ID, Score: 1, Reason: "the same error, and it passed later"})
		return p.told("failure"), nil
	}
	return Told{}, nil
}

// similar gives entries that share rare words with a text, newest first among the best.
func (d deciding) similar(text string, q memory.Query) ([]memory.Entry, error) {
	found, _, _, err := d.touching(text, q)
	out := make([]memory.Entry, 0, len(found))
	for _, t := range found {
		out = append(out, t.Entry)
	}
	slices.SortStableFunc(out, func(a, b memory.Entry) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID)) })
	return out, err
}

// met reports whether a failure was the same: of the same command with a line in common, or of another one with a line that
// says which error it is.
func (d deciding) met(e memory.Entry, mine []string) bool {
	if e.Kind == memory.KindToolResult && (e.ExitCode == nil || *e.ExitCode == 0) {
		return false
	}
	theirs := errorLines(e.Text)
	same := target(e.Tool, e.ToolInput) == target(d.m.Tool, d.m.Input)
	if same && len(mine) == 0 && len(theirs) == 0 {
		return e.ExitCode != nil && d.m.Exit != nil && *e.ExitCode == *d.m.Exit
	}
	for _, line := range mine {
		if slices.Contains(theirs, line) && (same || len(line) >= telling) {
			return true
		}
	}
	return false
}

// way tells the steps from a failure to the first pass of the same thing, and whether there was one.
func way(failed memory.Entry, after []memory.Entry, root string) (steps string, passed bool) {
	what := target(failed.Tool, failed.ToolInput)
	var all []string
	for _, e := range after {
		if e.ID == failed.ID || e.Kind != memory.KindToolResult || e.AgentID != failed.AgentID {
			continue
		}
		ok := e.ExitCode == nil && e.ResultType == "success" || e.ExitCode != nil && *e.ExitCode == 0
		switch {
		case !ok:
			continue
		case e.Tool == failed.Tool && target(e.Tool, e.ToolInput) == what:
			return join(all), true
		}
		if step := stepOf(e, root); step != "" && !slices.Contains(all, step) {
			all = append(all, step)
		}
	}
	return "", false
}

func join(steps []string) string {
	if len(steps) == 0 {
		return "it was run again unchanged"
	}
	if n := len(steps) - maxSteps; n > 0 {
		steps = steps[n:]
	}
	return strings.Join(steps, ", ")
}

// stepOf says what a call changed; empty for one that only looked.
func stepOf(e memory.Entry, root string) string {
	if c := commandOf(e); c != "" {
		if onlyLooks(c) {
			return ""
		}
		return "ran " + quote(c, 25)
	}
	if !edits(e.Tool) {
		return ""
	}
	var names []string
	for _, p := range paths(e.Tool, e.ToolInput) {
		names = append(names, below(p, root))
	}
	if len(names) == 0 {
		return ""
	}
	return "edited " + plain(strings.Join(names, ", "))
}

// onlyLooks reports whether a command, by its first word, changes nothing.
func onlyLooks(command string) bool {
	first, rest, _ := strings.Cut(command, " ")
	switch first {
	case "ls", "cat", "cd", "pwd", "head", "tail", "grep", "rg", "find", "which", "env", "wc", "less", "tree", "stat", "file", "du", "df", "ps", "date", "echo":
		return !strings.ContainsAny(command, ">|;&")
	case "git":
		sub, _, _ := strings.Cut(rest, " ")
		return sub == "status" || sub == "diff" || sub == "log" || sub == "show" || sub == "blame"
	}
	return false
}

// target is what a tool was used on: the command on one line, the file, else its whole input.
func target(tool string, input json.RawMessage) string {
	if c := command(tool, input); c != "" {
		return c
	}
	if p := paths(tool, input); len(p) > 0 {
		return strings.Join(p, " ")
	}
	return memory.CanonicalJSON(input)
}

var errorWords = []string{
	"error", "fail", "cannot", "can't", "undefined", "not found", "no such", "exception", "denied", "fatal", "panic", "unresolved",
	"missing", "unknown", "invalid", "unexpected", "refused", "timed out", "does not exist", "traceback", "abort", "not defined", "mismatch",
}

// errorLines are the lines of an output that name an error, without what differs from run to run: numbers, and where the
// client puts its own mark. Without such a line they are the last ones.
func errorLines(text string) (out []string) {
	var last []string
	for line := range strings.Lines(text) {
		line = normal(line)
		if line == "" || strings.HasPrefix(line, "<shellid") {
			continue
		}
		if last = append(last, line); len(last) > 2 {
			last = last[1:]
		}
		for _, w := range errorWords {
			if strings.Contains(line, w) && len(out) < 8 && !slices.Contains(out, line) {
				out = append(out, line)
				break
			}
		}
	}
	if len(out) == 0 {
		return last
	}
	return out
}

func normal(line string) string {
	line = strings.ToLower(strings.Join(strings.Fields(line), " "))
	var b strings.Builder
	digit := false
	for _, r := range line[:min(len(line), 200)] {
		if unicode.IsDigit(r) {
			if !digit {
				b.WriteByte('0')
			}
			digit = true
			continue
		}
		digit = false
		b.WriteRune(r)
	}
	return b.String()
}
