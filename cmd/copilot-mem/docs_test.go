package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestEveryCommandInTheDocsParses: what a person, or an agent, copies out of a skill, an agent or a document has to be a
// command with flags that there are, and with the arguments that it takes.
func TestEveryCommandInTheDocsParses(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	for _, dir := range []string{"assets", "docs", "README.md", "CONTRIBUTING.md", "AGENTS.md", "e2e/README.md"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".txt") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, line := range commandsIn(string(text)) {
				seen++
				if problem := parses(t, line); problem != "" {
					t.Errorf("%s: `%s`: %s", filepath.ToSlash(path), line, problem)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 40 {
		t.Errorf("only %d commands were found: the search is broken", seen)
	}
}

func TestParsesSeesMistakes(t *testing.T) {
	for _, line := range []string{"copilot-mem serch x", "copilot-mem search --alll x", "copilot-mem sessions too many words", "copilot-mem config gett x", "copilot-mem why a b"} {
		if parses(t, line) == "" {
			t.Errorf("%s: passes", line)
		}
	}
}

var (
	inline = regexp.MustCompile("`+(copilot-mem(?: [^`]*)?)`+")
	pipes  = regexp.MustCompile(`\s*(\||&&|;|>|<|2>|#)\s.*$`)
	// prose stands where a person fills something in: ID, TEXT…, [SESSION], <file>, a|b.
	optional = regexp.MustCompile(`\[[^\]]*\]`)
)

// commandsIn gives the lines of code that begin with our program: those between backquotes, and those of code blocks.
func commandsIn(text string) (out []string) {
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if fenced {
			line = strings.TrimPrefix(strings.TrimPrefix(line, "$ "), "./bin/")
			if strings.HasPrefix(line, "copilot-mem ") {
				out = append(out, line)
			}
			continue
		}
		for _, m := range inline.FindAllStringSubmatch(line, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// parses says what is wrong with a command line; nothing is run.
func parses(t *testing.T, line string) string {
	line = optional.ReplaceAllString(pipes.ReplaceAllString(line, ""), "")
	line = strings.NewReplacer("…", "", "...", "").Replace(line)
	args := split(line)[1:]
	e := &env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, Now: time.Now, Dir: t.TempDir()}
	root := newRoot(e)
	cmd, rest, err := root.Find(args)
	switch {
	case err != nil:
		return err.Error()
	case len(args) > 0 && cmd == root && !strings.HasPrefix(args[0], "-") && args[0] != "help" && args[0] != "completion":
		return "no such command"
	case cmd.DisableFlagParsing || cmd == root:
		return ""
	}
	if cmd.HasSubCommands() && !cmd.Runnable() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return "no such subcommand"
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err.Error()
	}
	// In running text a command is often named without what it takes.
	given := cmd.Flags().Args()
	if len(given) == 0 {
		return ""
	}
	if err := checkArgs(cmd, given); err != nil {
		return err.Error()
	}
	return ""
}

func checkArgs(cmd *cobra.Command, args []string) error {
	if cmd.Args == nil {
		return nil
	}
	return cmd.Args(cmd, args)
}

// split takes a command line apart as a shell does, as far as documents need it.
func split(line string) (out []string) {
	var word bytes.Buffer
	quote := rune(0)
	any := false
	flush := func() {
		if any {
			out = append(out, word.String())
		}
		word.Reset()
		any = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, any = r, true
		case quote == 0 && r == ' ':
			flush()
		default:
			word.WriteRune(r)
			any = true
		}
	}
	flush()
	return out
}
