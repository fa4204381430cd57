package recall

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
)

const (
	// recent is how old a session may be to be what is going on.
	recent = 30 * 24 * time.Hour
	// maxPreferences of the newest are told at the start.
	maxPreferences = 4
	// tail is how many entries at the end of a session say how it ended.
	tail = 30
)

// notes adds how the user wants things, whatever the task.
func (d deciding) notes(p *page) error {
	notes, err := d.store.Notes(d.ctx, memory.Query{Project: d.m.Project, Limit: 50}, false)
	if err != nil {
		return err
	}
	n := 0
	for _, e := range notes {
		if noteKind(e) != "preference" || !d.new(e.ID) || n == maxPreferences {
			continue
		}
		if p.add("How the user wants it:", d.origin(e)+quote(e.Text, 50), Item{ID: e.ID, Reason: "preference"}) {
			n++
		}
	}
	return nil
}

// lately adds what was going on in the last session on this branch, where the prompt goes on with something or does not say
// with what, and what that session left open.
func (d deciding) lately(p *page, told []hit) error {
	sessions, err := d.store.Lately(d.ctx, memory.Query{Project: d.m.Project, Branch: d.m.Branch, Since: d.m.Now.Add(-recent), Limit: 4})
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if s.ID == d.m.Session || s.Turns == 0 || !d.new(s.ID) {
			continue
		}
		entries, err := d.store.Last(d.ctx, s.ID, tail)
		if err != nil {
			return err
		}
		end := endOf(entries)
		touched := slices.ContainsFunc(told, func(h hit) bool { return h.SessionID == s.ID })
		open := end.open()
		if !touched && len(open) == 0 && !goesOn(d.m.Prompt) {
			return nil
		}
		if line := end.line(s, p); line != "" && !p.add("Last session on this branch:", line, Item{ID: s.ID, Reason: "last session"}) {
			return nil
		}
		for _, o := range open {
			p.add("Left open:", d.origin(o.Entry)+o.text, Item{ID: o.ID, Reason: "left open"})
		}
		return nil
	}
	return nil
}

// vague is how few words a prompt has that does not say what it is about.
const vague = 3

// goesOn reports whether a prompt takes up what was done before, or says too little to know.
func goesOn(prompt string) bool {
	if len(search.Keywords(prompt, vague)) < vague {
		return true
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return !('a' <= r && r <= 'z') }) {
		switch w {
		case "continue", "resume", "proceed", "carry", "again", "finish", "unfinished", "remaining", "rest", "left", "last", "latest", "recent",
			"recently", "previous", "previously", "earlier", "yesterday", "ago", "before", "where", "next", "still", "status", "progress", "stopped":
			return true
		}
	}
	return false
}

// line says what a session was about and what came of it, without what the page already says; empty when that is all.
func (end ending) line(s memory.Session, p *page) string {
	line := ""
	for _, part := range []struct {
		what, text string
		tokens     int
	}{{"asked", s.FirstPrompt, 30}, {"last asked", end.prompt.Text, 25}, {"answered", end.response.Text, 25}} {
		said, _ := Cut(plain(part.text), 15)
		said = strings.TrimSuffix(said, "…")
		if said == "" || strings.Contains(line, said) || strings.Contains(p.String(), said) {
			continue
		}
		line += ", " + part.what + " " + quote(part.text, part.tokens)
	}
	if line == "" {
		return ""
	}
	return "- [" + s.ID[:min(len(s.ID), 8)] + "] " + s.StartedAt.UTC().Format("2006-01-02") + line
}

// ending is how a session ended.
type ending struct {
	prompt, response memory.Entry
	failed           []memory.Entry // the last run of commands that failed and were not run well after it
	problem          memory.Entry   // that the model, or the user, broke it off
}

func endOf(entries []memory.Entry) (end ending) {
	for _, e := range entries {
		if e.AgentID != "" {
			continue
		}
		switch e.Kind {
		case memory.KindPrompt:
			end.prompt, end.response, end.problem = e, memory.Entry{}, memory.Entry{}
		case memory.KindResponse:
			end.response, end.problem = e, memory.Entry{}
		case memory.KindAbort:
			end.problem = e
		case memory.KindError:
			if e.Tool == "" {
				end.problem = e
			}
		case memory.KindToolResult:
			end.run(e)
		}
	}
	return end
}

func (end *ending) run(e memory.Entry) {
	command := commandOf(e)
	if command == "" || e.ExitCode == nil {
		return
	}
	for i, f := range end.failed {
		if commandOf(f) == command {
			end.failed = append(end.failed[:i], end.failed[i+1:]...)
			break
		}
	}
	if *e.ExitCode != 0 {
		end.failed = append(end.failed, e)
	}
}

type openEnd struct {
	memory.Entry
	text string
}

// open lists at most two things that were not finished.
func (end ending) open() (out []openEnd) {
	if end.problem.ID != "" && end.prompt.ID != "" {
		out = append(out, openEnd{end.prompt, "broken off: " + quote(end.prompt.Text, 30)})
	}
	// A search that finds nothing fails too: only what is run to see it pass counts.
	for i := len(end.failed) - 1; i >= 0 && len(out) < 2; i-- {
		if f := end.failed[i]; isCheck(commandOf(f)) {
			out = append(out, openEnd{f, "still failing: " + quote(commandOf(f), 30)})
		}
	}
	return out
}

// isCheck reports whether a command is a build, a test or the like.
func isCheck(command string) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(command), func(r rune) bool { return !('a' <= r && r <= 'z') }) {
		switch w {
		case "test", "tests", "build", "check", "lint", "make", "compile", "install", "pytest", "jest", "vitest", "tox", "ctest", "mvn", "gradle",
			"vet", "deploy", "migrate", "typecheck", "tsc", "clippy", "rspec", "phpunit", "verify", "ci", "bench":
			return true
		}
	}
	return false
}

// commandOf is the shell command of a tool call or its result, on one line; empty for other tools.
func commandOf(e memory.Entry) string { return command(e.Tool, e.ToolInput) }

func command(tool string, input json.RawMessage) string {
	if tool != "bash" && tool != "powershell" && tool != "shell" {
		return ""
	}
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	return strings.Join(strings.Fields(in.Command), " ")
}
