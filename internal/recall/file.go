package recall

import (
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
)

// editTools change a file (client 1.0.102, and the names of others).
var editTools = []string{"edit", "create", "apply_patch", "str_replace_editor", "write_file", "str_replace"}

func edits(tool string) bool { return slices.Contains(editTools, tool) }

// file tells, in one line, what is known of the file that is about to be read or changed.
func (d deciding) file() (Told, error) {
	if d.m.Tool != "view" && !edits(d.m.Tool) {
		return Told{}, nil
	}
	for _, name := range paths(d.m.Tool, d.m.Input) {
		name = below(name, d.m.Root)
		parts, items, err := d.aboutFile(name)
		if err != nil {
			return Told{}, err
		}
		if len(parts) == 0 {
			continue
		}
		p := d.page(d.l.Tool)
		for len(parts) > 0 && !p.add("About "+plain(name)+":", "- "+strings.Join(parts, "; "), items[0]) {
			parts, items = parts[:len(parts)-1], items[:len(items)-1]
		}
		if len(items) > 1 {
			p.items = append(p.items, items[1:]...)
		}
		return p.told("file"), nil
	}
	return Told{}, nil
}

// aboutFile finds the newest note that names a file, and what it was last changed for.
func (d deciding) aboutFile(name string) (parts []string, items []Item, err error) {
	if path.Base(name) == "." {
		return nil, nil, nil
	}
	notes, err := d.newest(memory.KindNote, "", path.Base(name))
	if err != nil {
		return nil, nil, err
	}
	for _, e := range notes {
		if d.new(e.ID) && strings.Contains(e.Text, path.Base(name)) {
			parts = append(parts, strings.TrimPrefix(d.origin(e), "- ")+noteKind(e)+": "+quote(e.Text, 50))
			items = append(items, Item{ID: e.ID, Reason: "names the file"})
			break
		}
	}
	var last memory.Entry
	for _, tool := range editTools {
		found, err := d.newest(memory.KindToolResult, tool, name)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range found {
			named := slices.ContainsFunc(paths(e.Tool, e.ToolInput), func(p string) bool { return below(p, d.m.Root) == name || strings.HasSuffix(slash(p), "/"+name) })
			if named && e.ResultType != "failure" && e.Time.After(last.Time) {
				last = e
			}
		}
	}
	if last.ID == "" || !d.new(last.ID) {
		return parts, items, nil
	}
	why, err := d.store.Prompt(d.ctx, last.SessionID, last.Turn)
	if err != nil || why.ID == "" {
		return parts, items, err
	}
	parts = append(parts, strings.TrimPrefix(d.origin(last), "- ")+"changed for "+quote(why.Text, 40))
	return parts, append(items, Item{ID: last.ID, Reason: "changed the file"}), nil
}

// newest gives the entries of a kind that hold all words of a name, the newest first.
func (d deciding) newest(kind memory.Kind, tool, name string) ([]memory.Entry, error) {
	var words [][]string
	for _, s := range search.Stems(name) {
		if len(words) < maxKeywords {
			words = append(words, []string{s})
		}
	}
	all := func(n int) int { return n } // also the commonest word is part of a name
	found, _, _, err := d.store.Touching(d.ctx, memory.Query{Project: d.m.Project, Session: d.m.Session, Branch: d.m.Branch, Kind: kind, Tool: tool}, words, all, 2*candidates)
	var out []memory.Entry
	for _, t := range found {
		if t.Words == 1<<len(words)-1 {
			out = append(out, t.Entry)
		}
	}
	slices.SortStableFunc(out, func(a, b memory.Entry) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID)) })
	return out, err
}

// paths are the files that a tool was used on, as it names them.
func paths(tool string, input json.RawMessage) []string {
	var patch string
	if json.Unmarshal(input, &patch) == nil {
		return patched(patch)
	}
	var in struct {
		Path     string `json:"path"`
		FilePath string `json:"file_path"`
		Input    string `json:"input"`
		Patch    string `json:"patch"`
	}
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	switch {
	case in.Path != "":
		return []string{in.Path}
	case in.FilePath != "":
		return []string{in.FilePath}
	case tool == "apply_patch":
		return patched(in.Input + in.Patch)
	}
	return nil
}

func patched(patch string) (out []string) {
	for line := range strings.Lines(patch) {
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
				out = append(out, name)
			}
		}
	}
	return out
}

func slash(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// below is a path as it is told: from the project's folder on, with slashes.
func below(p, root string) string {
	if root != "" && filepath.IsAbs(p) {
		if rel, err := filepath.Rel(root, p); err == nil && filepath.IsLocal(rel) {
			p = rel
		}
	}
	return path.Clean(slash(p))
}
