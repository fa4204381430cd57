package plugin

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var keyLine = regexp.MustCompile(`^(\s*(?:- +)?(?:"[^"]*"|'[^']*'|[^\s#:'"\[\]{}&*!|>%@` + "`" + `][^:#]*?)\s*:[ \t]+)(\S.*?)\s*$`)

// mistake looks at one value as it was written and answers with the offset of what the parser stumbles over.
type mistake struct {
	find   func(value string) int
	advice string
}

// QuoteAdvice is the Advice of a SyntaxError that goes away when the value on its line stands in double quotes.
const QuoteAdvice = "put the whole value in double quotes"

// mistakes are the frequent ones, the surest first.
var mistakes = []mistake{
	{startsWith("@%`"), QuoteAdvice},
	{badAlias, QuoteAdvice},
	{afterClosing, QuoteAdvice},
	{unclosedQuote, "close the quote, or put the whole value in quotes"},
	{textAfterBlock, "begin the text on the next line, indented, or quote it"},
	{innerColon, QuoteAdvice},
}

// diagnose moves e to the mistake that explains it: on the line the parser names, else on the nearest line before,
// else on any. Without one it stays where the parser put it.
func diagnose(lines []string, e *SyntaxError) {
	order := []int{e.Line - 1}
	for i := e.Line - 2; i >= 0; i-- {
		order = append(order, i)
	}
	for i := e.Line; i < len(lines); i++ {
		order = append(order, i)
	}
	for _, i := range order {
		if i < 0 || i >= len(lines) {
			continue
		}
		if col, advice := stumble(strings.TrimSuffix(lines[i], "\r")); col > 0 {
			e.Line, e.Column, e.Advice = i+1, col, advice
			return
		}
	}
}

func stumble(line string) (column int, advice string) {
	blanks := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if i := strings.IndexByte(blanks, '\t'); i >= 0 && len(blanks) < len(line) {
		return i + 1, "indent with spaces"
	}
	m := keyLine.FindStringSubmatch(line)
	if m == nil {
		return 0, ""
	}
	for _, k := range mistakes {
		if i := k.find(m[2]); i >= 0 {
			return utf8.RuneCountInString(m[1]+m[2][:i]) + 1, k.advice
		}
	}
	return 0, ""
}

func startsWith(set string) func(string) int {
	return func(v string) int {
		if strings.IndexByte(set, v[0]) >= 0 {
			return 0
		}
		return -1
	}
}

func badAlias(v string) int {
	if v[0] == '*' {
		return 0
	}
	return -1
}

// afterClosing finds text behind `"x"`, `[x]` or `{x}`.
func afterClosing(v string) int {
	closing := map[byte]string{'"': `"`, '\'': "'", '[': "]", '{': "}"}[v[0]]
	if closing == "" {
		return -1
	}
	i := strings.Index(v[1:], closing)
	if i < 0 {
		return -1
	}
	rest := v[i+2:]
	text := strings.TrimLeft(rest, " \t")
	if text == "" || text[0] == '#' || v[i] == '\\' && v[0] == '"' || v[0] == '\'' && text[0] == '\'' {
		return -1
	}
	return len(v) - len(text)
}

func unclosedQuote(v string) int {
	if (v[0] == '"' || v[0] == '\'') && strings.Count(v, v[:1])%2 == 1 {
		return 0
	}
	return -1
}

func textAfterBlock(v string) int {
	if v[0] != '>' && v[0] != '|' {
		return -1
	}
	rest := strings.TrimLeft(v[1:], "+-0123456789")
	text := strings.TrimLeft(rest, " \t")
	if text == "" || text[0] == '#' {
		return -1
	}
	return len(v) - len(text)
}

func innerColon(v string) int {
	if strings.IndexByte("\"'[{", v[0]) >= 0 {
		return -1
	}
	if i := strings.Index(v, ": "); i >= 0 {
		return i
	}
	if strings.HasSuffix(v, ":") {
		return len(v) - 1
	}
	return -1
}
