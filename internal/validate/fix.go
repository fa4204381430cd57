package validate

import (
	"bytes"
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Fix is what would repair one file without changing what its author meant: quoting, line ends, byte order marks,
// commas in allowed-tools, and the executable bit.
type Fix struct {
	File          string // as in the findings
	Before, After []byte // equal where only the bit is missing
	Executable    bool   // the file should be executable
}

// Fixes says what can be repaired mechanically below the paths, in order of files. It writes nothing.
func Fixes(paths []string, o Options) ([]Fix, error) {
	o.fix = true
	checkers, err := run(paths, o)
	if err != nil {
		return nil, err
	}
	byFile := map[string]Fix{}
	for _, c := range checkers {
		for file, f := range c.fixes {
			f.File = filepath.FromSlash(path.Join(filepath.ToSlash(c.prefix), file))
			if known, twice := byFile[f.File]; twice {
				f.Executable = f.Executable || known.Executable
				if bytes.Equal(f.Before, f.After) {
					f.Before, f.After = known.Before, known.After
				}
			}
			byFile[f.File] = f
		}
	}
	var fixes []Fix
	for _, f := range byFile {
		fixes = append(fixes, f)
	}
	slices.SortFunc(fixes, func(a, b Fix) int { return strings.Compare(a.File, b.File) })
	return fixes, nil
}

func (c *checker) fix(file string, change func(*Fix)) {
	if c.fixes == nil {
		c.fixes = map[string]Fix{}
	}
	f := c.fixes[file]
	change(&f)
	c.fixes[file] = f
}

// fixText remembers how the report's file would be better, if it would.
func (r *report) fixText(after []byte) {
	if !bytes.Equal(r.data, after) {
		r.c.fix(r.file, func(f *Fix) { f.Before, f.After = r.data, after })
	}
}

// fixJSON takes the byte order mark off a JSON file that is well formed without it.
func (r *report) fixJSON() {
	if after, marked := bytes.CutPrefix(r.data, []byte(bom)); marked && r.c.options.fix {
		if _, err := plugin.ParseJSON(after); err == nil {
			r.fixText(after)
		}
	}
}

const bom = "\uFEFF"

// fixFrontmatter repairs a skill, an agent or a command.
func (r *report) fixFrontmatter() {
	if !r.c.options.fix {
		return
	}
	text := string(r.data)
	for strings.HasPrefix(text, bom) {
		text = strings.TrimPrefix(text, bom)
	}
	if strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	for range 100 { // one mistake at a time; each step ends at a later line or with a valid text
		next, ok := fixOne(text)
		if !ok {
			break
		}
		text = next
	}
	r.fixText([]byte(text))
}

// fixOne repairs the first mistake that it knows how to repair.
func fixOne(text string) (string, bool) {
	doc, err := plugin.ParseDocument([]byte(text))
	var syntax *plugin.SyntaxError
	if errors.As(err, &syntax) && syntax.Advice == plugin.QuoteAdvice {
		fixed := quoteLine(text, syntax.Line)
		_, err := plugin.ParseDocument([]byte(fixed))
		var later *plugin.SyntaxError
		return fixed, fixed != text && (err == nil || errors.As(err, &later) && later.Line > syntax.Line)
	}
	if err != nil || !doc.Fields.Is(plugin.Map) {
		return text, false
	}
	for _, f := range doc.Fields.Fields {
		fixed := text
		switch {
		case textFields[f.Name] && f.Value.Plain && (f.Value.Kind == plugin.Number || f.Value.Kind == plugin.Bool):
			fixed = quoteScalar(text, f.Value)
		case f.Name == "argument-hint" && f.Value.Kind == plugin.List, textFields[f.Name] && f.Value.Plain && cutWord(text, f.Value):
			fixed = quoteLine(text, f.Value.Line)
		case f.Name == "allowed-tools" && f.Value.Is(plugin.String) && f.Value.Line > 0 && spaceSeparated(f.Value.Text):
			fixed = replaceValue(text, f.Value.Line, quoted(commaSeparated(f.Value.Text)))
		}
		if fixed == text {
			continue
		}
		if after, err := plugin.ParseDocument([]byte(fixed)); err == nil && after.Fields.Get(f.Name).Is(plugin.String) {
			return fixed, true
		}
	}
	return text, false
}

// Fields that hold a text, in skills, agents and commands.
var textFields = map[string]bool{"name": true, "description": true, "argument-hint": true, "license": true, "compatibility": true,
	"model": true, "reasoning-effort": true}

var valueLine = regexp.MustCompile(`^(\s*(?:- +)?[^\s:][^:]*:[ \t]+)(.*?)([ \t\r]*)$`)

// quoteLine puts the value on that line of the text in double quotes, as it stands there.
func quoteLine(text string, line int) string {
	lines := strings.Split(text, "\n")
	if m := valueLine.FindStringSubmatch(lines[line-1]); m != nil && m[2] != "" {
		lines[line-1] = m[1] + quoted(m[2]) + m[3]
	}
	return strings.Join(lines, "\n")
}

// cutWord reports whether the value ends before a word such as `#12`: `# ` may well be meant as a comment.
func cutWord(text string, v *plugin.Value) bool {
	at := commentAt(text, v)
	if at == 0 {
		return false
	}
	line := []rune(strings.Split(text, "\n")[v.Line-1])
	return at < len(line) && line[at] > ' '
}

// quoteScalar quotes what the value says and keeps a comment behind it.
func quoteScalar(text string, v *plugin.Value) string {
	lines := strings.Split(text, "\n")
	line := []rune(lines[v.Line-1])
	if at := v.Column - 1; at <= len(line) && strings.HasPrefix(string(line[at:]), v.Text) {
		lines[v.Line-1] = string(line[:at]) + quoted(v.Text) + strings.TrimPrefix(string(line[at:]), v.Text)
	}
	return strings.Join(lines, "\n")
}

func replaceValue(text string, line int, value string) string {
	lines := strings.Split(text, "\n")
	if m := valueLine.FindStringSubmatch(lines[line-1]); m != nil && m[2] != "" && !strings.ContainsAny(m[2][:1], "|>&!*") {
		lines[line-1] = m[1] + value + m[3]
	}
	return strings.Join(lines, "\n")
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
