package config

import (
	"fmt"
	"slices"
	"strings"
)

// KeyError says that there is no such key, or that a value does not fit it.
type KeyError struct {
	Key     string
	Message string
}

func (e *KeyError) Error() string { return e.Key + ": " + e.Message }

// Hint says what to do.
func (e *KeyError) Hint() string {
	if k, ok := Find(e.Key); ok {
		return e.Key + " takes " + k.Takes
	}
	return "`copilot-mem config list` shows every key"
}

// ExitCode is that of wrong usage.
func (e *KeyError) ExitCode() int { return 2 }

// Set returns the file with one value changed or added. Everything else, comments too, stays as it is, byte for byte.
func Set(data []byte, name, text string) ([]byte, error) {
	k, ok := Find(name)
	if !ok {
		return nil, &KeyError{name, "there is no such key"}
	}
	if err := k.Check(text); err != nil {
		return nil, &KeyError{name, fmt.Sprintf("%q %v", text, err)}
	}
	d, err := takeApart(data, name)
	if err != nil {
		return nil, err
	}
	if v, ok := d.values[name]; ok {
		line := d.lines[v.line-1]
		d.lines[v.line-1] = line[:v.from] + text + line[v.to:]
		return d.bytes(), nil
	}
	section, key, nested := strings.Cut(name, ".")
	if !nested {
		d.insert(d.commented(0, len(d.lines), name), name+": "+text)
		return d.bytes(), nil
	}
	at, ok := d.sections[section]
	if !ok {
		d.lines = append(d.lines, section+":", "  "+key+": "+text)
		return d.bytes(), nil
	}
	indent := strings.Repeat(" ", max(d.indent[section], 2))
	if d.indent[section] > 0 {
		indent = strings.Repeat(" ", d.indent[section])
	}
	d.insert(d.commented(at, d.sectionEnd(at), key), indent+key+": "+text)
	return d.bytes(), nil
}

// takeApart refuses a file with mistakes, but for a wrong value of the key that is to change.
func takeApart(data []byte, name string) (document, error) {
	d, _ := scan(data)
	_, problems := Parse(data)
	problems = slices.DeleteFunc(problems, func(p Problem) bool {
		return p.Key == name && d.values[name].line == p.Line && p.Column == d.values[name].column
	})
	if len(problems) > 0 {
		return d, &FileError{"config.yaml", problems}
	}
	return d, nil
}

// Unset returns the file without a value, so that the default holds.
func Unset(data []byte, name string) ([]byte, error) {
	if _, ok := Find(name); !ok {
		return nil, &KeyError{name, "there is no such key"}
	}
	d, err := takeApart(data, name)
	if err != nil {
		return nil, err
	}
	if v, ok := d.values[name]; ok {
		d.lines = slices.Delete(d.lines, v.line-1, v.line)
	}
	return d.bytes(), nil
}

// commented gives the index behind the comment that shows a key's default, else the end of the section's own lines.
func (d *document) commented(from, to int, key string) int {
	last := from
	for i := from; i < to; i++ {
		body := strings.TrimLeft(d.lines[i], " ")
		if strings.HasPrefix(body, "# "+key+": ") {
			return i + 1
		}
		if body = strings.TrimRight(body, "\r"); body != "" {
			last = i + 1
		}
	}
	return last
}

// sectionEnd is the index of the first line after a section: the next that is neither indented nor blank nor a comment.
func (d *document) sectionEnd(at int) int {
	for i := at; i < len(d.lines); i++ {
		if line := strings.TrimRight(d.lines[i], "\r"); line != "" && line[0] != ' ' && line[0] != '#' {
			return i
		}
	}
	return len(d.lines)
}

func (d *document) insert(at int, line string) {
	if len(d.lines) > 0 && strings.HasSuffix(d.lines[0], "\r") {
		line += "\r"
	}
	d.lines = slices.Insert(d.lines, at, line)
}

func (d *document) bytes() []byte {
	if len(d.lines) == 0 {
		return nil
	}
	return []byte(strings.Join(d.lines, "\n") + "\n")
}

// Template is a file that changes nothing and shows every key with its default.
func Template() []byte {
	var b strings.Builder
	b.WriteString("# What copilot-mem captures, keeps and forwards. A line counts without the # before it.\n" +
		"# `copilot-mem config list` shows what holds; a repository may say less than this in " + RepoFile + ".\n")
	section := ""
	for _, k := range Keys {
		group, key, nested := strings.Cut(k.Name, ".")
		if !nested {
			group, key = "", k.Name
		}
		indent := ""
		if nested {
			indent = "  "
		}
		if group != section || !nested {
			b.WriteByte('\n')
			if nested {
				b.WriteString(group + ":\n")
			}
			section = group
		}
		fmt.Fprintf(&b, "%s# %s (%s)\n%s# %s: %s\n", indent, k.Help, k.Takes, indent, key, k.Default)
	}
	return []byte(b.String())
}
