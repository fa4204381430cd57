package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
)

// Score is the mean of the questions' measures, from 0 to 1.
type Score struct {
	Questions  int     `json:"questions"`
	Recall5    float64 `json:"recall5"` // share of the wanted units among the first five found
	Recall10   float64 `json:"recall10"`
	Recall20   float64 `json:"recall20"`
	Hit1       float64 `json:"hit1"` // the first unit is wanted
	MRR        float64 `json:"mrr"`  // one by the place of the first wanted unit
	Session1   float64 `json:"session1"`
	Unanswered int     `json:"unanswered"` // questions for which nothing was found
}

// Report is what one system reached on one set.
type Report struct {
	Set        string           `json:"set"`
	System     string           `json:"system"`
	All        Score            `json:"all"`
	Train      Score            `json:"train"`
	HeldOut    Score            `json:"heldOut"`
	Categories map[string]Score `json:"categories"`
	missed     []string
}

// depth is how many entries are asked for, so that twenty units are among them.
const depth = 60

func measure(ctx context.Context, s Set, sys system) (Report, error) {
	r := Report{Set: s.Name, System: sys.name, Categories: map[string]Score{}}
	var finders []finder
	for _, st := range s.Stores {
		f, err := sys.open(st)
		if err != nil {
			return r, err
		}
		finders = append(finders, f)
	}
	for _, q := range s.Questions {
		found, err := finders[q.Store](ctx, q.Text, q.Project, depth)
		if err != nil {
			return r, fmt.Errorf("%q: %w", q.Text, err)
		}
		var units, sessions []string
		for _, e := range found {
			if u := unitOf(e); !slices.Contains(units, u) {
				units, sessions = append(units, u), append(sessions, e.SessionID)
			}
		}
		one := judge(q, units, sessions)
		if one.Recall10 < 1 && len(q.Want) > 0 {
			r.missed = append(r.missed, fmt.Sprintf("%s: %q wants %v, found %v", q.Category, q.Text, q.Want, units[:min(4, len(units))]))
		}
		part := r.Categories[q.Category]
		part.add(one)
		r.Categories[q.Category] = part
		// Adversarial questions, and those without an answer, are told apart and not part of the sums.
		if len(q.Want) == 0 || q.Category == "adversarial" {
			continue
		}
		r.All.add(one)
		if q.HeldOut {
			r.HeldOut.add(one)
		} else {
			r.Train.add(one)
		}
	}
	for _, sc := range []*Score{&r.All, &r.Train, &r.HeldOut} {
		sc.mean()
	}
	for k, sc := range r.Categories {
		sc.mean()
		r.Categories[k] = sc
	}
	return r, nil
}

// judge measures one answer.
func judge(q Question, units, sessions []string) Score {
	s := Score{Questions: 1}
	if len(units) == 0 {
		s.Unanswered = 1
	}
	if len(q.Want) == 0 || len(units) == 0 {
		return s
	}
	recall := func(k int) float64 {
		n := 0
		for _, w := range q.Want {
			if slices.Contains(units[:min(k, len(units))], w) {
				n++
			}
		}
		return float64(n) / float64(len(q.Want))
	}
	s.Recall5, s.Recall10, s.Recall20 = recall(5), recall(10), recall(20)
	if first := slices.IndexFunc(units, func(u string) bool { return slices.Contains(q.Want, u) }); first >= 0 {
		s.MRR = 1 / float64(first+1)
		if first == 0 {
			s.Hit1 = 1
		}
	}
	if slices.Contains(q.Sessions, sessions[0]) {
		s.Session1 = 1
	}
	return s
}

func (s *Score) add(o Score) {
	s.Questions += o.Questions
	s.Recall5 += o.Recall5
	s.Recall10 += o.Recall10
	s.Recall20 += o.Recall20
	s.Hit1 += o.Hit1
	s.MRR += o.MRR
	s.Session1 += o.Session1
	s.Unanswered += o.Unanswered
}

func (s *Score) mean() {
	if n := float64(s.Questions); n > 0 {
		for _, v := range []*float64{&s.Recall5, &s.Recall10, &s.Recall20, &s.Hit1, &s.MRR, &s.Session1} {
			*v /= n
		}
	}
}

func printSet(s Set, reports []Report) {
	entries := 0
	for _, st := range s.Stores {
		entries += len(st.Entries)
	}
	fmt.Printf("\n%s: %d entries in %d stores, %d questions\n", s.Name, entries, len(s.Stores), len(s.Questions))
	var categories []string
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range reports {
		if r.Set != s.Name {
			continue
		}
		if categories == nil {
			categories = slices.Sorted(maps.Keys(r.Categories))
			fmt.Fprint(w, "system\tR@5\tR@10\tR@20\thit@1\tMRR\tsess@1\theld R@10\ttrain R@10\t")
			for _, c := range categories {
				fmt.Fprintf(w, "%s\t", c)
			}
			fmt.Fprintln(w)
		}
		a := r.All
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t", r.System, a.Recall5, a.Recall10, a.Recall20, a.Hit1, a.MRR, a.Session1, r.HeldOut.Recall10, r.Train.Recall10)
		for _, c := range categories {
			sc := r.Categories[c]
			if sc.Recall20 == 0 && c == "none" {
				fmt.Fprintf(w, "%d/%d silent\t", sc.Unanswered, sc.Questions)
				continue
			}
			fmt.Fprintf(w, "%.3f\t", sc.Recall10)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
}
