package main

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

func TestTheSetIsWhole(t *testing.T) {
	s, err := codingSet("testdata", 50)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Questions) < 200 {
		t.Errorf("%d questions, want 200 or more", len(s.Questions))
	}
	kinds, held := map[string]int{}, 0
	for _, q := range s.Questions {
		kinds[q.Category]++
		if q.HeldOut {
			held++
		}
	}
	for _, k := range []string{"para", "ident", "error", "time", "multi", "decision", "none"} {
		if kinds[k] < 5 {
			t.Errorf("%d questions of kind %s", kinds[k], k)
		}
	}
	if held < 50 || held > len(s.Questions)-50 {
		t.Errorf("%d of %d are held out", held, len(s.Questions))
	}
}

// The measure is measured: who finds nothing scores 0, who knows the answers 1.
func TestMeasure(t *testing.T) {
	s, err := codingSet("testdata", 0)
	if err != nil {
		t.Fatal(err)
	}
	byUnit := map[string]memory.Entry{}
	for _, e := range s.Stores[0].Entries {
		byUnit[unitOf(e)] = e
	}
	want := map[string][]string{}
	for _, q := range s.Questions {
		want[q.Text] = q.Want
	}
	for _, tt := range []struct {
		name  string
		find  finder
		least float64
		most  float64
	}{
		{"nothing", func(context.Context, string, string, int) ([]memory.Entry, error) { return nil, nil }, 0, 0},
		{"everything right", func(_ context.Context, text, _ string, _ int) (out []memory.Entry, _ error) {
			for _, u := range want[text] {
				out = append(out, byUnit[u])
			}
			return out, nil
		}, 1, 1},
		{"one wrong first", func(_ context.Context, text, _ string, _ int) (out []memory.Entry, _ error) {
			out = append(out, memory.Entry{SessionID: "wrong", Turn: 1})
			for _, u := range want[text] {
				out = append(out, byUnit[u])
			}
			return out, nil
		}, 0.5, 0.5},
	} {
		r, err := measure(t.Context(), s, system{tt.name, func(Store) (finder, error) { return tt.find, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if r.All.MRR < tt.least || r.All.MRR > tt.most {
			t.Errorf("%s: MRR %v, want %v", tt.name, r.All.MRR, tt.least)
		}
		recall := min(1, tt.least*2)
		if r.All.Recall10 != recall || r.HeldOut.Recall10 != recall || r.Train.Recall10 != recall {
			t.Errorf("%s: recall %v, want %v", tt.name, r.All.Recall10, recall)
		}
	}
}

func TestAnEmptyStoreScoresNothing(t *testing.T) {
	s, err := codingSet("testdata", 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Stores[0].Entries = nil
	for _, sys := range systems() {
		r, err := measure(t.Context(), s, sys)
		if err != nil {
			t.Fatalf("%s: %v", sys.name, err)
		}
		if r.All.Recall20 != 0 || r.All.Session1 != 0 {
			t.Errorf("%s finds %+v in an empty store", sys.name, r.All)
		}
	}
}

const locomoSmall = `[{"sample_id":"conv-30","conversation":{"speaker_a":"Ann","speaker_b":"Bo",
"session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[{"speaker":"Ann","dia_id":"D1:1","text":"I got a puppy"},{"speaker":"Bo","dia_id":"D1:2","text":"Cute!","blip_caption":"a photo of a dog"}],
"session_2_date_time":"2:00 pm on 9 May, 2023",
"session_3_date_time":"10:01 am on 12 June, 2023","session_3":[{"speaker":"Bo","dia_id":"D3:1","text":"I moved to Oslo"}]},
"qa":[{"question":"What did Ann get?","answer":"a puppy","evidence":["D1:1"],"category":4},
{"question":"Odd ids","answer":"x","evidence":["D:1:02; D3:01"],"category":1},
{"question":"Nowhere","answer":"x","evidence":["D9:9"],"category":2},
{"question":"Trick","adversarial_answer":"x","evidence":["D3:1"],"category":5}]}]`

func TestLocomo(t *testing.T) {
	s, err := readLocomo(strings.NewReader(locomoSmall))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range s.Questions {
		got = append(got, q.Category+" "+strings.Join(q.Want, ",")+" in "+strings.Join(q.Sessions, ","))
	}
	if diff := cmp.Diff([]string{"single D1.1 in D1", "multi D1.2,D3.1 in D1,D3", "adversarial D3.1 in D3"}, got); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	if e := s.Stores[0].Entries; len(e) != 3 || e[1].Text != "Bo: Cute! [a photo of a dog]" || e[2].Time.Format("2006-01-02 15:04") != "2023-06-12 10:01" || !s.Questions[0].HeldOut {
		t.Errorf("entries %+v", e)
	}
	if _, err := readLocomo(strings.NewReader(`{"a":1}`)); err == nil {
		t.Error("another file is taken")
	}
}
