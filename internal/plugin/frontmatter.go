package plugin

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/adrg/frontmatter"
)

// Document is a markdown file with YAML frontmatter.
type Document struct {
	Fields  *Value // Null where the frontmatter is empty; a List or a scalar is possible
	Body    string
	BOM     bool   // begins with a byte order mark
	BadUTF8 bool   // holds bytes that are not UTF-8; the client shows U+FFFD for them
	Raw     string // the frontmatter as it was written
}

// ErrFrontmatter is the cause of every problem with the `---` lines; its text is the client's.
var ErrFrontmatter = errors.New("missing or malformed YAML frontmatter")

// FrameError is a file whose frontmatter does not begin or end as the client wants it.
type FrameError struct {
	Line   int
	Advice string
}

func (e *FrameError) Error() string { return ErrFrontmatter.Error() }

// Unwrap makes errors.Is find ErrFrontmatter.
func (e *FrameError) Unwrap() error { return ErrFrontmatter }

// Hint says what to write instead.
func (e *FrameError) Hint() string { return e.Advice }

const byteOrderMark = "\uFEFF"

// ParseDocument reads a skill or agent file. The first line must be `---`, a later line `---`; neither may be indented.
// The error is a *FrameError or a *SyntaxError.
func ParseDocument(data []byte) (*Document, error) {
	d := &Document{BadUTF8: !utf8.Valid(data)}
	text := string(data)
	if d.BadUTF8 {
		text = string([]rune(text)) // one U+FFFD for each bad byte
	}
	text, bom := strings.CutPrefix(text, byteOrderMark)
	d.BOM = bom
	first, rest, _ := strings.Cut(text, "\n")
	if !isDelimiter(first) {
		return d, &FrameError{Line: 1, Advice: openingAdvice(text)}
	}
	at, found := 0, false
	for at < len(rest) {
		line, _, _ := strings.Cut(rest[at:], "\n")
		if found = isDelimiter(line); found {
			d.Raw = rest[:at]
			d.Body = rest[min(at+len(line)+1, len(rest)):]
			break
		}
		at += len(line) + 1
	}
	if !found {
		return d, &FrameError{Line: 1, Advice: closingAdvice(rest)}
	}
	var err error
	// The client parses the lines between, without the last line end: a block at the end has none either.
	d.Fields, err = ParseYAML([]byte(strings.TrimSuffix(strings.TrimSuffix(d.Raw, "\n"), "\r")), 2)
	return d, err
}

// ParseCommand reads a slash command, where frontmatter may be absent: a text that does not begin with `---`, blanks
// aside, is all body. The errors are those of ParseDocument.
func ParseCommand(data []byte) (*Document, error) {
	text, bom := bytes.CutPrefix(data, []byte(byteOrderMark))
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("---")) {
		return ParseDocument(data)
	}
	// The splitter knows the other ways to begin a frontmatter (+++, ---toml, ;;;), which the client takes for text; it is
	// asked for `---` only and finds none.
	var none any
	body, err := frontmatter.Parse(bytes.NewReader(text), &none, frontmatter.NewFormat("---", "---", func([]byte, any) error { return nil }))
	if err != nil {
		return nil, err
	}
	return &Document{Body: string(body), BOM: bom, BadUTF8: !utf8.Valid(data), Fields: &Value{Kind: Null, Line: 1, Column: 1}}, nil
}

func isDelimiter(line string) bool { return strings.TrimRight(line, " \t\r") == "---" }

func openingAdvice(text string) string {
	trimmed := strings.TrimLeft(text, " \t\r\n"+byteOrderMark)
	line, _, _ := strings.Cut(trimmed, "\n")
	switch {
	case trimmed == "":
		return "begin the file with `---`, the fields, and `---`"
	case strings.HasPrefix(text, byteOrderMark):
		return "save the file without a byte order mark"
	case strings.HasPrefix(line, "```"):
		return "remove the code fence around the file: `---` must be the first line"
	case strings.HasPrefix(line, "+++"):
		return "write YAML between `---` lines: `+++` (TOML) is not read"
	case strings.HasPrefix(line, "---\r"):
		return "end lines with LF or CRLF"
	case isDelimiter(line):
		return "remove what stands before the first `---`: it must be the first line, at the margin"
	case strings.HasPrefix(line, "---"):
		return "write exactly `---` on the first line"
	}
	return "put a `---` line, the fields, and a `---` line before the text"
}

func closingAdvice(rest string) string {
	for line := range strings.Lines(rest) {
		switch t := strings.TrimSpace(line); {
		case t == "...", strings.HasPrefix(t, "---"):
			return "close the frontmatter with exactly `---`, at the margin"
		}
	}
	return "close the frontmatter with a `---` line"
}
