package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// The public LoCoMo file: a list of conversations, with their questions. Each conversation is a store of its own, each
// utterance a unit.
type locomoSample struct {
	ID           string                     `json:"sample_id"`
	Conversation map[string]json.RawMessage `json:"conversation"`
	QA           []locomoQuestion           `json:"qa"`
}

type locomoQuestion struct {
	Question string   `json:"question"`
	Evidence []string `json:"evidence"`
	Category int      `json:"category"`
}

type locomoTurn struct {
	Speaker string `json:"speaker"`
	ID      string `json:"dia_id"`
	Text    string `json:"text"`
	Caption string `json:"blip_caption"`
}

var locomoCategories = map[int]string{1: "multi", 2: "temporal", 3: "open", 4: "single", 5: "adversarial"}

// locomoHeldOut are the conversations that no weight was chosen on.
var locomoHeldOut = []string{"conv-30", "conv-42", "conv-44", "conv-48", "conv-50"}

// Evidence is written as D1:3; the file also has D:11:26, D30:05 and several in one string.
var locomoEvidence = regexp.MustCompile(`D:?(\d+):0*(\d+)`)

func locomoSet(path string) (Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return Set{}, err
	}
	defer func() { _ = f.Close() }()
	return readLocomo(f)
}

func readLocomo(r io.Reader) (Set, error) {
	var samples []locomoSample
	if err := json.NewDecoder(r).Decode(&samples); err != nil {
		return Set{}, fmt.Errorf("no LoCoMo file: %w", err)
	}
	s := Set{Name: "locomo"}
	for _, sample := range samples {
		store, err := sample.store()
		if err != nil {
			return Set{}, fmt.Errorf("%s: %w", sample.ID, err)
		}
		have := map[string]bool{}
		for _, e := range store.Entries {
			have[unitOf(e)] = true
		}
		for _, qa := range sample.QA {
			q := Question{Store: len(s.Stores), Text: qa.Question, Category: locomoCategories[qa.Category], HeldOut: slices.Contains(locomoHeldOut, sample.ID)}
			sessions := map[string]bool{}
			for _, m := range locomoEvidence.FindAllStringSubmatch(strings.Join(qa.Evidence, ";"), -1) {
				unit := "D" + m[1] + "." + m[2]
				if have[unit] && !slices.Contains(q.Want, unit) {
					q.Want = append(q.Want, unit)
					sessions["D"+m[1]] = true
				}
			}
			q.Sessions = slices.Sorted(maps.Keys(sessions))
			if len(q.Want) > 0 {
				s.Questions = append(s.Questions, q)
			}
		}
		s.Stores = append(s.Stores, store)
	}
	return s, nil
}

func (l locomoSample) store() (Store, error) {
	var st Store
	for n := 1; ; n++ {
		name := "session_" + strconv.Itoa(n)
		raw, ok := l.Conversation[name]
		if !ok {
			if _, dated := l.Conversation[name+"_date_time"]; dated {
				continue // some have a date and no words
			}
			break
		}
		var turns []locomoTurn
		var at time.Time
		var date string
		if err := json.Unmarshal(raw, &turns); err != nil {
			return st, fmt.Errorf("%s: %w", name, err)
		}
		if err := json.Unmarshal(l.Conversation[name+"_date_time"], &date); err != nil {
			return st, fmt.Errorf("%s_date_time: %w", name, err)
		}
		at, err := time.Parse("3:04 pm on 2 January, 2006", date)
		if err != nil {
			return st, fmt.Errorf("%s_date_time: %w", name, err)
		}
		for i, t := range turns {
			m := locomoEvidence.FindStringSubmatch(t.ID)
			if m == nil {
				return st, fmt.Errorf("%s: %q is no id of an utterance", name, t.ID)
			}
			number, err := strconv.Atoi(m[2])
			if err != nil {
				return st, err
			}
			text := t.Speaker + ": " + t.Text
			if t.Caption != "" {
				text += " [" + t.Caption + "]"
			}
			st.Entries = append(st.Entries, memory.Entry{
				ID: l.ID + " " + t.ID, SessionID: "D" + m[1], Turn: number, Kind: memory.KindPrompt, Text: text, Project: l.ID,
				Time: at.Add(time.Duration(i) * time.Second),
			})
		}
		st.Now = at.AddDate(0, 0, 1)
	}
	return st, nil
}
