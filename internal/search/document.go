package search

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// What a word counts in the fields of an entry.
const (
	weightText   = 1.0
	weightInput  = 0.7
	weightHeader = 0.5
)

// maxIndexed bounds how much of a field is indexed: what stands after a quarter of a megabyte of output is noise.
const maxIndexed = 256 << 10

// Document calls emit with the words that the index keeps of an entry, and what each counts: those of its text, of its
// tool's input, and of a header that says who spoke, with which tool, and when (in now's zone as the entry has it).
func Document(e memory.Entry, emit func(word []byte, weight float32)) {
	field := func(text string, weight float32) {
		if len(text) > maxIndexed {
			text = text[:maxIndexed]
		}
		Words(text, func(w []byte) { emit(w, weight) })
	}
	field(e.Text, weightText)
	if len(e.ToolInput) > 0 {
		eachString(e.ToolInput, func(s string) { field(s, weightInput) })
	}
	field(header(e), weightHeader)
}

// speaker is who says an entry of this kind, in the words of somebody who asks for it.
var speaker = map[memory.Kind]string{
	memory.KindPrompt: "user", memory.KindResponse: "assistant", memory.KindToolCall: "ran", memory.KindToolResult: "output",
	memory.KindError: "error", memory.KindNote: "note remember", memory.KindCompaction: "summary", memory.KindSubagent: "subagent",
}

func header(e memory.Entry) string {
	parts := []string{speaker[e.Kind], e.Tool}
	if !e.Time.IsZero() {
		parts = append(parts, strings.ToLower(e.Time.Format("January 2006-01-02 Monday")))
	}
	return strings.Join(parts, " ")
}

// eachString calls fn with every string of a JSON value, or with the text itself where it is none.
func eachString(raw json.RawMessage, fn func(string)) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		fn(string(raw))
		return
	}
	walkStrings(v, fn)
}

func walkStrings(v any, fn func(string)) {
	switch v := v.(type) {
	case string:
		fn(v)
	case []any:
		for _, x := range v {
			walkStrings(x, fn)
		}
	case map[string]any:
		for _, x := range v {
			walkStrings(x, fn)
		}
	}
}

// age is how long ago an entry was, in days, never negative.
func age(e memory.Entry, now time.Time) float64 {
	return max(0, now.Sub(e.Time).Hours()/24)
}
