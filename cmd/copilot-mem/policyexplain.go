package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/guard"
	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy"
)

type explainDoc struct {
	SchemaVersion int             `json:"schemaVersion"`
	Event         map[string]any  `json:"event"`
	Rules         []explainRule   `json:"rules"`
	Decision      string          `json:"decision"`
	Output        json.RawMessage `json:"output"` // null: the hook prints nothing
	DurationMs    float64         `json:"durationMs"`
}

type explainRule struct {
	Name    string         `json:"name"`
	File    string         `json:"file"`
	Matched bool           `json:"matched"`
	Why     []policy.Check `json:"why"`
	Effects []guard.Effect `json:"effects"`
}

func newPolicyExplainCmd(e *env) *cobra.Command {
	var f policyFlags
	var event string
	var run bool
	cmd := &cobra.Command{
		Use:   "explain [FILE|-]",
		Short: "What the hook would answer to an event, and which rule says why",
		Long: "Reads one event as the client sends it, from FILE or stdin, and judges it as the hook does.\n" +
			"Steps that would start programs are passed over without --run.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			input, err := e.eventInput(args)
			if err != nil {
				return err
			}
			o, err := e.guardOptions()
			if err != nil {
				return err
			}
			if o.Input, err = withCwd(input, e, f.dir); err != nil {
				return err
			}
			if o.Event = event; event == "" {
				o.Event = eventOf(input)
			}
			o.NoSteps = !run
			x, err := guard.Explain(o)
			if err != nil {
				return &usageError{err, "give one event as the client sends it, and its name with --event"}
			}
			doc := explanation(x)
			if f.asJSON {
				return e.printJSON(doc)
			}
			return e.printExplanation(doc)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&event, "event", "", "the event's name (default: what the payload says, else preToolUse)")
	cmd.Flags().BoolVar(&run, "run", false, "run the steps of policies, too")
	return cmd
}

func (e *env) eventInput(args []string) ([]byte, error) {
	if len(args) == 0 || args[0] == "-" {
		if e.TTY {
			return nil, &usageError{fmt.Errorf("no event"), "name a file with the event's JSON, or pipe it in"}
		}
		return io.ReadAll(io.LimitReader(e.Stdin, guard.MaxInput+1))
	}
	path := args[0]
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.Dir, path)
	}
	return os.ReadFile(path)
}

// withCwd puts the folder that is asked about into an event that names none, or in the place of the event's when --dir says so.
func withCwd(input []byte, e *env, dir string) ([]byte, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(input, &object) != nil || object == nil {
		return input, nil // what is wrong with it is said later
	}
	if _, has := object["cwd"]; has && dir == "" {
		return input, nil
	}
	cwd, err := e.folder(dir)
	if err != nil {
		return nil, err
	}
	if object["cwd"], err = json.Marshal(cwd); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// eventOf is the name that some payloads carry.
func eventOf(input []byte) string {
	var named struct {
		Name string `json:"hook_event_name"`
	}
	if json.Unmarshal(input, &named) == nil && named.Name != "" {
		return named.Name
	}
	return hook.PreToolUse
}

func explanation(x guard.Explanation) explainDoc {
	doc := explainDoc{1, x.Event, []explainRule{}, x.Decision, json.RawMessage("null"), math.Round(x.Duration.Seconds()*1e5) / 100}
	for _, r := range x.Rules {
		doc.Rules = append(doc.Rules, explainRule{r.Name, r.File, r.Matched, append([]policy.Check{}, r.Why...), append([]guard.Effect{}, r.Effects...)})
	}
	if len(x.Output) > 0 {
		doc.Output = x.Output
	}
	return doc
}

func (e *env) printExplanation(doc explainDoc) error {
	for _, r := range doc.Rules {
		word := "does not match"
		if r.Matched {
			word = "matches"
		}
		if len(r.Effects) == 0 && !r.Matched && r.File == "" {
			continue // a bundled rule that has nothing to say
		}
		fmt.Fprintf(e.Stdout, "%s (%s): %s\n", r.Name, orText(r.File, "bundled"), word)
		for _, w := range r.Why {
			fmt.Fprintf(e.Stdout, "    %s %s: %s → %t\n", w.Check, w.Pattern, oneLine(w.Value, 100), w.Result)
		}
		for _, x := range r.Effects {
			fmt.Fprintf(e.Stdout, "    %s: %s\n", x.Action, strings.ReplaceAll(strings.TrimSpace(x.Text), "\n", "\n      "))
		}
	}
	_, err := fmt.Fprintf(e.Stdout, "decision: %s (%.1f ms)\noutput: %s\n", doc.Decision, doc.DurationMs, orText(strings.Trim(string(doc.Output), " "), "null"))
	return err
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
