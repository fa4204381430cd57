package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Manifests and catalogues belong to their authors: they are edited as text, and every byte that need not change stays.

// setVersion changes one text and leaves every other byte of the manifest as it is.
func setVersion(data []byte, version string) ([]byte, error) {
	root, err := plugin.ParseJSON(data)
	if err != nil {
		return nil, err
	}
	if !root.Is(plugin.Map) {
		return data, nil
	}
	quoted, err := json.Marshal(version)
	if err != nil {
		return nil, err
	}
	return setField(data, root, "version", quoted), nil
}

// extent is where a value begins, and where what follows it does.
func extent(data []byte, v *plugin.Value) (from, to int) {
	from = offset(data, v.Line, v.Column)
	dec := json.NewDecoder(bytes.NewReader(data[from:]))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return from, from // the text was parsed: this is not reached
	}
	return from, from + int(dec.InputOffset())
}

// offset is the byte where a line and column of plugin.Value stand.
func offset(data []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(data[at:], '\n') + 1
	}
	for i := range string(data[at:]) {
		if column--; column == 0 {
			return at + i
		}
	}
	return len(data)
}

func splice(data []byte, from, to int, put []byte) []byte {
	return slices.Concat(data[:from], put, data[to:])
}

// setField replaces the value of a field, or adds the field behind the last one, laid out as that one is.
func setField(data []byte, object *plugin.Value, name string, value []byte) []byte {
	if v := object.Get(name); v != nil {
		from, to := extent(data, v)
		return splice(data, from, to, value)
	}
	field := slices.Concat([]byte(fmt.Sprintf("%q: ", name)), value)
	if len(object.Fields) == 0 {
		at := offset(data, object.Line, object.Column) + 1
		return splice(data, at, at, field)
	}
	last := object.Fields[len(object.Fields)-1]
	_, end := extent(data, last.Value)
	return splice(data, end, end, slices.Concat([]byte(","), lead(data, last.Key), field))
}

// addItem adds a value behind the last one of a list, laid out as that one is.
func addItem(data []byte, list *plugin.Value, value any) ([]byte, error) {
	if len(list.Items) == 0 {
		from, to := extent(data, list)
		outer := indentOf(data, from)
		text, err := json.MarshalIndent(value, outer+"  ", "  ")
		return splice(data, from, to, []byte(lines(data, "[\n"+outer+"  "+string(text)+"\n"+outer+"]"))), err
	}
	last := list.Items[len(list.Items)-1]
	from, end := extent(data, last)
	before := lead(data, last)
	text, err := json.Marshal(value)
	if bytes.IndexByte(before, '\n') >= 0 {
		text, err = json.MarshalIndent(value, indentOf(data, from), "  ")
	}
	return splice(data, end, end, slices.Concat([]byte(","), before, []byte(lines(data, string(text))))), err
}

// lead is the white space before a value.
func lead(data []byte, v *plugin.Value) []byte {
	at := offset(data, v.Line, v.Column)
	return data[len(bytes.TrimRight(data[:at], " \t\r\n")):at]
}

// indentOf is the indentation of the line that the byte stands in.
func indentOf(data []byte, at int) string {
	line := string(data[bytes.LastIndexByte(data[:at], '\n')+1 : at])
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// lines gives the text the line ends of data.
func lines(data []byte, text string) string {
	if bytes.Contains(data, []byte("\r\n")) {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}
