package recall

import (
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/digest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// reasonBack begins the reason of what is given back after a compaction; one prompt may be put aside as the goal and as a
// decision, each for the reason reasonAside.
const (
	reasonBack  = "after a compaction"
	reasonAside = "put aside"
)

const (
	asideEntries = 600 // of the session that are looked at
	maxAside     = 6   // of each kind that is put aside
)

// aside gathers what a compaction must not lose: the goal, what was decided, which commands worked, which files are worked
// on. It is worded now, and given back with the next prompt or tool.
func (d deciding) aside() (Told, error) {
	if d.m.Agent != "" {
		return Told{}, nil
	}
	entries, err := d.store.Last(d.ctx, d.m.Session, asideEntries)
	if err != nil {
		return Told{}, err
	}
	first, err := d.store.Prompt(d.ctx, d.m.Session, 1)
	if err != nil {
		return Told{}, err
	}
	p := d.page(d.l.Compact)
	add := func(section, text string, e memory.Entry) {
		text, _ = Cut(verbatim(text), 100)
		p.add(section, "- "+text, Item{ID: e.ID, Reason: reasonAside})
	}
	latest := latestPrompt(entries)
	if first.Text != "" && !d.st.Muted[first.ID] {
		add("The goal, in the user's words:", first.Text, first)
	}
	if latest.ID != "" && latest.ID != first.ID && !d.st.Muted[latest.ID] {
		add("The latest request:", latest.Text, latest)
	}
	for _, s := range []struct {
		section string
		items   []kept
	}{
		{"Decided in this session:", decided(entries)},
		{"Commands that worked:", worked(entries)},
		{"Files that were changed:", changed(entries, d.m.Root)},
	} {
		for _, k := range s.items {
			if !d.st.Muted[k.e.ID] {
				add(s.section, k.text, k.e)
			}
		}
	}
	t := p.told("put aside before a compaction")
	t.Aside = true
	return t, nil
}

// giveBack is what was put aside, once.
func (d deciding) giveBack() (Told, error) {
	w := d.st.waiting
	if w.Text == "" {
		return Told{}, nil
	}
	if ok, err := d.holds(w.Items); err != nil || !ok {
		return Told{}, err
	}
	t := Told{Text: w.Text, Items: w.Items, Reason: reasonBack}
	if d.m.Prompt == "" {
		return t, nil
	}
	p := d.page(d.l.Prompt)
	if err := d.notes(p); err != nil {
		return Told{}, err
	}
	if _, err := d.about(p); err != nil {
		return Told{}, err
	}
	if more := p.told(""); more.Text != "" && len(t.Text)+len(more.Text) < maxBytes {
		t.Text += "\n" + more.Text
		t.Items = append(slices.Clone(t.Items), more.Items...)
	}
	return t, nil
}

// verbatim leaves a text as it is, but for what could pass for the end of what is recalled or for the client's own words.
func verbatim(s string) string {
	return strings.NewReplacer("<recalled_memory", "‹recalled_memory", "</recalled_memory", "‹/recalled_memory",
		"<system", "‹system", "</system", "‹/system").Replace(strings.TrimSpace(s))
}

func latestPrompt(entries []memory.Entry) (last memory.Entry) {
	for _, e := range entries {
		if e.Kind == memory.KindPrompt && e.AgentID == "" {
			last = e
		}
	}
	return last
}

// kept is one thing of the session, with the entry that tells it.
type kept struct {
	text string
	e    memory.Entry
}

// newest keeps the last of each text, and the last few of all, in their order.
func newest(all []kept) []kept {
	seen := map[string]bool{}
	var out []kept
	for i := len(all) - 1; i >= 0 && len(out) < maxAside; i-- {
		if !seen[all[i].text] {
			seen[all[i].text] = true
			out = append(out, all[i])
		}
	}
	slices.Reverse(out)
	return out
}

func decided(entries []memory.Entry) []kept {
	var all []kept
	for _, d := range digest.Decisions(entries) {
		if d.Rule != "rejected" { // its words are a command's
			all = append(all, kept{d.Quote, d.Entry})
		}
	}
	for _, e := range entries {
		if e.Kind == memory.KindNote {
			all = append(all, kept{e.Text, e})
		}
	}
	return newest(all)
}

func worked(entries []memory.Entry) []kept {
	var all []kept
	for _, e := range entries {
		if c := commandOf(e); e.Kind == memory.KindToolResult && e.ExitCode != nil && *e.ExitCode == 0 && e.AgentID == "" && !onlyLooks(c) {
			all = append(all, kept{c, e})
		}
	}
	return newest(all)
}

func changed(entries []memory.Entry, root string) []kept {
	var all []kept
	for _, e := range entries {
		if e.Kind != memory.KindToolResult || !edits(e.Tool) || e.ResultType == "failure" {
			continue
		}
		for _, p := range paths(e.Tool, e.ToolInput) {
			all = append(all, kept{below(p, root), e})
		}
	}
	return newest(all)
}
