package search

import "github.com/copilot-mem/copilot-mem/internal/memory"

// worth is how much a kind of entry counts: what people and the model said, before what scrolled by.
var worth = map[memory.Kind]float64{
	memory.KindNote:         1.5,
	memory.KindPrompt:       1.2,
	memory.KindResponse:     1.1,
	memory.KindCompaction:   1.1,
	memory.KindToolCall:     0.9,
	memory.KindSessionStart: 0.9,
}

// preferred is which of several entries with one text stands for them, the lowest first.
var preferred = map[memory.Kind]int{memory.KindNote: 1, memory.KindPrompt: 2, memory.KindResponse: 3, memory.KindToolResult: 4, memory.KindError: 5}

// order is how an entry stands among those with the same text.
func order(kind memory.Kind) int {
	if n, ok := preferred[kind]; ok {
		return n
	}
	return len(preferred) + 1
}
