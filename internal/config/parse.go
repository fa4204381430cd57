package config

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// ForwardNone and ForwardIngest are the values of the key forward.
const (
	ForwardNone   = "none"
	ForwardIngest = "memory-ingest"
)

// Key is one thing that can be chosen.
type Key struct {
	Name    string // "capture.enabled"
	Default string
	Takes   string // what a value looks like
	Help    string // one sentence
	Repo    bool   // a repository may say it too
	set     func(c *Config, value string) error
	get     func(c Config) string
}

// Value is what a config says of the key.
func (k Key) Value(c Config) string { return k.get(c) }

// Keys are all keys, in the order in which they are listed.
var Keys = []Key{
	boolean("capture.enabled", "true", "capture at all", func(c *Config) *bool { return &c.Capture.Enabled }),
	boolean("capture.prompts", "true", "what you type, and the starts of sessions, which repeat it", func(c *Config) *bool { return &c.Capture.Prompts }),
	boolean("capture.responses", "true", "what the model answers, and summaries of sessions", func(c *Config) *bool { return &c.Capture.Responses }),
	boolean("capture.tools", "true", "tool calls with their arguments, and their results", func(c *Config) *bool { return &c.Capture.Tools }),
	boolean("capture.toolResults", "true", "the results of tool calls", func(c *Config) *bool { return &c.Capture.ToolResults }),
	boolean("capture.errors", "true", "errors of the model and the client", func(c *Config) *bool { return &c.Capture.Errors }),
	boolean("capture.subagents", "true", "starts and ends of sub-agents", func(c *Config) *bool { return &c.Capture.Subagents }),
	boolean("capture.notifications", "true", "notifications of the client", func(c *Config) *bool { return &c.Capture.Notifications }),
	boolean("capture.reasoning", "false", "the model's thoughts, where a transcript has them", func(c *Config) *bool { return &c.Capture.Reasoning }),
	{"forward", ForwardNone, "none or memory-ingest", "hand each stored event to another program too", true, func(c *Config, v string) error {
		if v != ForwardNone && v != ForwardIngest {
			return errors.New("must be none or memory-ingest")
		}
		c.Forward = v
		return nil
	}, func(c Config) string { return c.Forward }},
	{"retention.maxAge", "off", "off, or a number of days, weeks or years: 180d, 26w, 2y", "delete entries that are older; notes stay", false, func(c *Config, v string) (err error) {
		c.Retention.MaxAge, err = age(v)
		return err
	}, func(c Config) string { return ageText(c.Retention.MaxAge) }},
	{"retention.maxSize", "off", "off, or a size: 500MB, 2GB", "delete the oldest entries when the store is larger; notes stay", false, func(c *Config, v string) (err error) {
		c.Retention.MaxBytes, err = size(v)
		return err
	}, func(c Config) string { return sizeText(c.Retention.MaxBytes) }},
	number("search.limit", 20, 1, 1000, "hits that a search gives at most", func(c *Config) *int { return &c.Search.Limit }),
	notRepo(boolean("search.allProjects", "false", "search in all projects, not only that of the current folder", func(c *Config) *bool { return &c.Search.AllProjects })),
	boolean("recall.enabled", "true", "tell the agent by itself what memory knows about its task", func(c *Config) *bool { return &c.Recall.Enabled }),
	number("recall.sessionTokens", 1500, 0, 100_000, "tokens that a session is told at most", func(c *Config) *int { return &c.Recall.Session }),
	number("recall.startTokens", 400, 0, 20_000, "tokens of the briefing at its start", func(c *Config) *int { return &c.Recall.Start }),
	number("recall.promptTokens", 250, 0, 20_000, "tokens beside one prompt, or for one sub-agent", func(c *Config) *int { return &c.Recall.Prompt }),
	number("recall.toolTokens", 200, 0, 2_000, "tokens beside one tool call", func(c *Config) *int { return &c.Recall.Tool }),
	number("recall.compactTokens", 600, 0, 2_000, "tokens that are put aside before a compaction", func(c *Config) *int { return &c.Recall.Compact }),
	number("recall.floor", 35, 1, 100, "percent of a prompt's words, by their rarity, that an entry must hold to be told", func(c *Config) *int { return &c.Recall.Floor }),
	notRepo(boolean("recall.answers", "false", "answer prompts that begin with ?? from memory, without a model", func(c *Config) *bool { return &c.Recall.Answers })),
}

func number(name string, preset, low, high int, help string, at func(*Config) *int) Key {
	takes := "a number from " + strconv.Itoa(low) + " to " + strconv.Itoa(high)
	return Key{name, strconv.Itoa(preset), takes, help, false, func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < low || n > high {
			return errors.New("must be " + takes)
		}
		*at(c) = n
		return nil
	}, func(c Config) string { return strconv.Itoa(*at(&c)) }}
}

func notRepo(k Key) Key {
	k.Repo = false
	return k
}

func boolean(name, preset, help string, at func(*Config) *bool) Key {
	return Key{name, preset, "true or false", help, true, func(c *Config, v string) error {
		switch v {
		case "true", "on", "yes":
			*at(c) = true
		case "false", "off", "no":
			*at(c) = false
		default:
			return errors.New("must be true or false")
		}
		return nil
	}, func(c Config) string { return strconv.FormatBool(*at(&c)) }}
}

// Find gives the key of a name.
func Find(name string) (Key, bool) {
	for _, k := range Keys {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// Check says whether a value fits the key.
func (k Key) Check(value string) error { return k.set(&Config{}, value) }

func age(v string) (time.Duration, error) {
	if v == "off" || v == "0" {
		return 0, nil
	}
	const day = 24 * time.Hour
	units := map[byte]time.Duration{'d': day, 'w': 7 * day, 'y': 365 * day}
	wrong := errors.New("must be off, or days, weeks or years like 180d, 26w, 2y")
	if len(v) < 2 || units[v[len(v)-1]] == 0 {
		return 0, wrong
	}
	n, err := strconv.Atoi(v[:len(v)-1])
	if err != nil || n < 1 || n > 36500 {
		return 0, wrong
	}
	return time.Duration(min(n, int(100*365*day/units[v[len(v)-1]]))) * units[v[len(v)-1]], nil
}

func ageText(d time.Duration) string {
	if d == 0 {
		return "off"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d"
}

func sizeText(n int64) string {
	if n == 0 {
		return "off"
	}
	return strconv.FormatInt(n/1e6, 10) + "MB"
}

func size(v string) (int64, error) {
	if v == "off" || v == "0" {
		return 0, nil
	}
	for _, u := range []struct {
		suffix string
		bytes  int64
	}{{"MB", 1e6}, {"GB", 1e9}} {
		digits, ok := strings.CutSuffix(v, u.suffix)
		if n, err := strconv.Atoi(digits); ok && err == nil && n > 0 && n < 1e6 {
			return int64(n) * u.bytes, nil
		}
	}
	return 0, errors.New("must be off, or a size like 500MB or 2GB")
}

// Problem is one mistake in a file. Line and Column count from 1.
type Problem struct {
	Line, Column int
	Key          string // empty where it is no key's
	Message      string
}

// FileError lists all mistakes of a file.
type FileError struct {
	Path     string
	Problems []Problem
}

func (e *FileError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Path + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) + ": ")
		if p.Key != "" {
			b.WriteString(p.Key + ": ")
		}
		b.WriteString(p.Message)
	}
	return b.String()
}

// Hint says what to do.
func (e *FileError) Hint() string {
	return "run `copilot-mem config edit`; `copilot-mem config list` shows every key"
}

// Parse reads a file. What it does not understand it reports, and goes on with the default; but where the file as a whole
// or a key of capture is not understood, nothing may be captured.
func Parse(data []byte) (Config, []Problem) {
	var c Config
	for _, k := range Keys {
		if err := k.set(&c, k.Default); err != nil {
			panic(k.Name + ": " + err.Error()) // a wrong default; a test sees it
		}
	}
	doc, problems := scan(data)
	for _, k := range Keys {
		v, ok := doc.values[k.Name]
		if !ok {
			continue
		}
		if err := k.set(&c, v.text); err != nil {
			problems = append(problems, Problem{v.line, v.column, k.Name, strconv.Quote(v.text) + " " + err.Error()})
		}
	}
	for _, name := range doc.order {
		if _, ok := Find(name); !ok {
			v := doc.values[name]
			problems = append(problems, Problem{v.line, v.keyColumn, name, "there is no such key"})
		}
	}
	sortProblems(problems)
	for _, p := range problems {
		if p.Key == "" || strings.HasPrefix(p.Key, "capture") {
			c.Capture.Enabled = false
		}
	}
	return c, problems
}

func sortProblems(all []Problem) {
	for i := range all { // a handful
		for j := i; j > 0 && (all[j].Line < all[j-1].Line || all[j].Line == all[j-1].Line && all[j].Column < all[j-1].Column); j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
}
