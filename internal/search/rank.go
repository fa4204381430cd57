package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// worth is how much a kind of entry counts: what people and the model said, before what scrolled by.
var worth = map[memory.Kind]float64{
	memory.KindNote:         1.5,
	memory.KindPrompt:       1.2,
	memory.KindResponse:     1.1,
	memory.KindCompaction:   1.1,
	memory.KindToolCall:     0.9,
	memory.KindSessionStart: 0.9,
}

// rank orders candidates: those of all, which hold every word, before those of some. Equal scores: the newer first.
func rank(all, some []memory.Hit, explain bool, why func(h memory.Hit, whole bool) []string) []memory.Hit {
	whole := map[string]bool{}
	for _, h := range all {
		whole[h.ID] = true
	}
	hits := slices.Clone(all)
	for _, h := range some {
		if !whole[h.ID] {
			hits = append(hits, h)
		}
	}
	top := 0.0
	for i := range hits {
		h := &hits[i]
		if explain && why != nil {
			h.Reasons = why(*h, whole[h.ID])
		}
		if w, ok := worth[h.Kind]; ok {
			h.Score *= w
		}
		if !whole[h.ID] {
			top = max(top, h.Score)
		}
	}
	for i := range hits {
		if len(some) > 0 && whole[hits[i].ID] {
			hits[i].Score += top
		}
	}
	hits = fold(hits)
	slices.SortStableFunc(hits, func(a, b memory.Hit) int {
		// What somebody wrote to be remembered comes before what only happened.
		return cmp.Or(-compareBool(whole[a.ID], whole[b.ID]),
			-compareBool(whole[a.ID] && a.Kind == memory.KindNote, whole[b.ID] && b.Kind == memory.KindNote), cmp.Compare(b.Score, a.Score), b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID))
	})
	for i := range hits {
		hits[i].Score = math.Round(hits[i].Score*1e4) / 1e4
	}
	return hits
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// preferred is which of several entries with one text stands for them, the lowest first.
var preferred = map[memory.Kind]int{memory.KindNote: 1, memory.KindPrompt: 2, memory.KindResponse: 3, memory.KindToolResult: 4, memory.KindError: 5}

// fold leaves one entry of those that say the same in one session: the first prompt is also in the session's start,
// and a tool's call is also in its result. The one that stays takes the best score.
func fold(hits []memory.Hit) []memory.Hit {
	answered := map[string]bool{}
	for _, h := range hits {
		if h.Kind == memory.KindToolResult || h.Kind == memory.KindError {
			answered[h.SessionID+"\x00"+h.Tool+"\x00"+string(h.ToolInput)] = true
		}
	}
	at := map[string]int{}
	out := make([]memory.Hit, 0, len(hits))
	for _, h := range hits {
		input := h.Tool + "\x00" + string(h.ToolInput)
		if h.Kind == memory.KindToolCall && answered[h.SessionID+"\x00"+input] {
			continue
		}
		text := strings.TrimSpace(h.Text)
		if text == "" && len(h.ToolInput) == 0 {
			out = append(out, h)
			continue
		}
		key := h.SessionID + "\x00" + input + "\x00" + text
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, h)
			continue
		}
		score := max(out[i].Score, h.Score)
		if cmp.Compare(order(h), order(out[i])) < 0 {
			out[i] = h
		}
		out[i].Score = score
	}
	return out
}

func order(h memory.Hit) int {
	if n, ok := preferred[h.Kind]; ok {
		return n
	}
	return len(preferred) + 1
}
