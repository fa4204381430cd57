package facts

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// noFile reports names that a shell or the system gives to streams: redirecting there touches no file.
func noFile(abs string) bool {
	switch abs {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty":
		return true
	}
	for _, prefix := range []string{"/dev/fd/", "/dev/tcp/", "/dev/udp/", "/proc/self/fd/"} {
		if strings.HasPrefix(abs, prefix) {
			return true
		}
	}
	return false
}

// inputs follows the redirections that a command reads from; without one the input stays as it is.
func (w *walk) inputs(redirs []*syntax.Redirect, st *state, in Flow) Flow {
	for _, r := range redirs {
		stdin := r.N == nil || r.N.Value == "0"
		var flow Flow
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			flow = w.hereDoc(st, r)
		case syntax.WordHdoc:
			word := w.literal(st, r.Word)
			flow = Flow{From: true, Known: !strings.Contains(word.Text, Hole), Text: word.Text + "\n", Fetched: word.Fetched}
		case syntax.RdrIn, syntax.RdrInOut:
			word := w.literal(st, r.Word)
			flow = w.read(st, word)
		default:
			continue
		}
		if stdin {
			in = flow
		}
	}
	return in
}

// hereDoc gives the text of a here-document. Its words are expanded unless the delimiter is quoted.
func (w *walk) hereDoc(st *state, r *syntax.Redirect) Flow {
	if r.Hdoc == nil {
		return Flow{From: true, Known: true}
	}
	b := fieldBuilder{whole: true}
	quoted := false
	for _, part := range r.Word.Parts {
		lit, ok := part.(*syntax.Lit)
		quoted = quoted || !ok || strings.Contains(lit.Value, `\`)
	}
	for _, part := range r.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok && quoted {
			b.quoted(lit.Value)
			continue
		}
		w.part(st, &b, part, true)
	}
	f := b.one()
	text := f.text
	if r.Op == syntax.DashHdoc {
		var lines strings.Builder
		for line := range strings.Lines(text) {
			lines.WriteString(strings.TrimLeft(line, "\t"))
		}
		text = lines.String()
	}
	return Flow{From: true, Known: !strings.Contains(text, Hole), Text: text, Fetched: f.fetched}
}

// read is the flow of a file that a command reads, with its event.
func (w *walk) read(st *state, word Word) Flow {
	flow := Flow{From: true, Fetched: word.Fetched}
	if known, ok := w.procs[word.Text]; ok {
		return known
	}
	for _, abs := range w.resolve(st, word.Text) {
		if got, ok := w.written[abs]; ok {
			flow.Known, flow.Text, flow.Fetched = got.Known, got.Text, flow.Fetched || got.Fetched
		}
	}
	w.event(st, "read", word, Flow{})
	return flow
}

// outputs follows the redirections that a command writes to and gives what is left to print.
func (w *walk) outputs(redirs []*syntax.Redirect, st *state, out Flow) Flow {
	w.procIn = out
	left := out
	for _, r := range redirs {
		var stdout bool
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.RdrInOut:
			stdout = r.N == nil && r.Op != syntax.RdrInOut || r.N != nil && r.N.Value == "1"
		case syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
			stdout = true
		case syntax.DplOut:
			if r.Word != nil && isDescriptor(r.Word.Lit()) {
				if r.N == nil && r.Word.Lit() != "1" || r.N != nil && r.N.Value == "1" {
					left = Flow{Known: true}
				}
				continue
			}
			stdout = r.N == nil || r.N.Value == "1"
		default:
			continue
		}
		word := w.literal(st, r.Word)
		content := Flow{}
		if stdout {
			content, left = out, Flow{Known: true}
			content.From = true
		}
		w.write(st, word, content, r.Op == syntax.AppOut || r.Op == syntax.AppAll)
	}
	return left
}

// isDescriptor reports `&2`, `&-` and the like.
func isDescriptor(s string) bool {
	return s != "" && strings.Trim(s, "0123456789-") == ""
}

// write is an event for a file that gets content.
func (w *walk) write(st *state, word Word, content Flow, more bool) {
	w.event(st, "write", word, content)
	for _, abs := range w.resolve(st, word.Text) {
		if more {
			content = w.written[abs].then(content)
		}
		w.written[abs] = content
	}
}
