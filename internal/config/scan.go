package config

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// document is a file taken apart: the values by their dotted names, and where everything stands.
type document struct {
	lines    []string
	values   map[string]value
	order    []string       // names in the order of the file
	sections map[string]int // name → index of its line
	indent   map[string]int // section → columns that its keys are indented by
}

// value is a scalar. Line and columns count from 1, the columns in characters; from and to are bytes of the line.
type value struct {
	text            string
	line, keyColumn int
	column          int
	from, to        int
}

func scan(data []byte) (document, []Problem) {
	d := document{values: map[string]value{}, sections: map[string]int{}, indent: map[string]int{}}
	var problems []Problem
	text := strings.TrimPrefix(string(data), "\ufeff")
	if !utf8.ValidString(text) {
		return d, []Problem{{1, 1, "", "not UTF-8"}}
	}
	if text != "" {
		d.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	section := ""
	for i, raw := range d.lines {
		line := strings.TrimSuffix(raw, "\r")
		body := strings.TrimLeft(line, " ")
		indent := len(line) - len(body)
		bad := func(at int, key, message string) {
			problems = append(problems, Problem{i + 1, utf8.RuneCountInString(line[:at]) + 1, key, message})
		}
		if at := strings.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }); at >= 0 {
			bad(at, "", "a control character")
			continue
		}
		switch {
		case body == "" || body[0] == '#' || i == 0 && strings.TrimRight(body, " ") == "---":
			continue
		case strings.HasPrefix(body, "\t"):
			bad(indent, "", "indent with spaces, not with tabs")
			continue
		}
		key, rest, ok := strings.Cut(body, ":")
		if !ok || !isKey(key) || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			bad(indent, "", "expected a line like `key: value`")
			continue
		}
		name := key
		if indent > 0 {
			if section == "" {
				bad(indent, "", "indented, but there is no section above it")
				continue
			}
			if known := d.indent[section]; known != 0 && known != indent {
				bad(indent, "", "indented unlike the line above it")
				continue
			}
			d.indent[section] = indent
			name = section + "." + key
		}
		if name == "capture" && strings.Trim(rest, " \t") != "" && strings.TrimLeft(rest, " \t")[0] != '#' {
			name = "capture.enabled" // `capture: off` says it all
		}
		at := indent + len(key) + 1
		v, rest, ok := scalar(line, at)
		if !ok {
			bad(at+len(line[at:])-len(strings.TrimLeft(line[at:], " \t")), name, rest)
			continue
		}
		if _, twice := d.values[name]; twice || d.sections[name] > 0 || d.sections["capture"] > 0 && name == "capture.enabled" && indent == 0 {
			bad(indent, name, "said twice")
			continue
		}
		if v.text == "" && v.from == v.to {
			if _, takesValue := Find(name); indent > 0 || takesValue {
				bad(indent, name, "a value is missing")
				continue
			}
			section = key
			d.sections[key] = i + 1
			continue
		}
		v.line, v.keyColumn = i+1, indent+1
		d.values[name] = v
		d.order = append(d.order, name)
		if indent == 0 {
			section = ""
		}
	}
	return d, problems
}

func isKey(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && (c >= '0' && c <= '9' || c == '_' || c == '-')) {
			return false
		}
	}
	return s != ""
}

// scalar reads the value of a line from a byte on. Where it is none of ours, problem says what is wrong.
func scalar(line string, at int) (v value, problem string, ok bool) {
	for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
		at++
	}
	v.from, v.to, v.column = at, at, utf8.RuneCountInString(line[:at])+1
	rest := line[at:]
	if rest == "" || rest[0] == '#' {
		return v, "", true
	}
	switch rest[0] {
	case '\'', '"':
		end := strings.IndexByte(rest[1:], rest[0]) + 2
		if end < 2 {
			return v, "the quote has no end", false
		}
		v.text, v.to = rest[1:end-1], at+end
		if rest[0] == '"' && strings.Contains(v.text, `\`) {
			return v, "escapes are not read here", false
		}
		if after := strings.TrimLeft(rest[end:], " \t"); after != "" && (after[0] != '#' || after == rest[end:]) {
			return v, "text after the quote", false
		}
		return v, "", true
	case '{', '[', '&', '*', '!', '|', '>', '%', '@', '`', '?', ',', ']', '}':
		return v, "only plain values are read here, not YAML's " + strconv.Quote(rest[:1]), false
	}
	end := len(rest)
	for i := 1; i < len(rest); i++ {
		if rest[i] == '#' && (rest[i-1] == ' ' || rest[i-1] == '\t') {
			end = i
			break
		}
	}
	v.text = strings.TrimRight(rest[:end], " \t")
	v.to = at + len(v.text)
	if strings.Contains(v.text, ": ") || strings.HasSuffix(v.text, ":") || strings.HasPrefix(v.text, "- ") || v.text == "-" {
		return v, "only one value fits on a line", false
	}
	return v, "", true
}
