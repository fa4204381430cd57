package history

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Past is a session in the client's own list of turns, which it keeps when the session's folder is gone. The list has the
// words of the user and the last answer of each turn, also of turns that were taken back, and nothing of tools.
type Past struct {
	ID, Cwd, Repository, HostType, Branch, Title string
	CreatedAt, UpdatedAt                         time.Time
	Turns                                        []PastTurn
}

// PastTurn is one turn of [Past]; Response is empty where the turn was cut off.
type PastTurn struct {
	Index            int
	Prompt, Response string
	Time             time.Time
}

// past takes from the client's list what the files do not tell: sessions whose folder is gone, and turns that are no longer
// in a transcript.
func past(ctx context.Context, w Writer, o *Options, r *Report) error {
	if o.Past == nil {
		return nil
	}
	files := map[string]bool{}
	for _, f := range o.Files {
		if f.Source == Copilot {
			files[idOf(f)] = true
		}
	}
	return o.Past(func(p Past) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(p.Turns) == 0 || !o.Since.IsZero() && p.UpdatedAt.Before(o.Since) {
			return nil
		}
		out := newSink(ctx, w, o)
		if err := p.fold(out, files[p.ID]); err != nil {
			return err
		}
		if files[p.ID] { // counted as a file
			r.Entries += out.change.Added
			return nil
		}
		r.count(out.outcome(0))
		return nil
	})
}

// fold makes entries of the turns. Where there is a transcript, what it does not tell was taken back; what is known by its
// words and time is not stored again.
func (p Past) fold(out *sink, transcript bool) error {
	meta, err := out.session(name(p.ID), "copilot")
	if err != nil {
		return err
	}
	where := place{Cwd: p.Cwd, Repository: p.Repository, HostType: p.HostType, Branch: p.Branch}
	meta.Cwd, meta.Branch, meta.Title, meta.StartedAt = name(p.Cwd), name(p.Branch), name(p.Title), p.CreatedAt
	if p.Cwd != "" {
		meta.Project = projectOf(where, out.o.World)
	}
	for _, t := range p.Turns {
		for part, text := range []string{t.Prompt, t.Response} {
			if strings.TrimSpace(text) == "" {
				continue
			}
			c := cleanText(text)
			m := memory.Entry{
				ID:        memory.TranscriptID(meta.ID, "session-store", fmt.Sprintf("%d %d", t.Index, t.Time.UnixMilli()), strconv.Itoa(part)),
				SessionID: meta.ID, Sources: memory.FromElsewhere, Withdrawn: transcript, Time: t.Time, Text: c.text,
				Redacted: c.redacted, Truncated: c.truncated, Cwd: meta.Cwd, Branch: meta.Branch, Project: meta.Project,
			}
			m.Kind, m.Match = memory.KindPrompt, memory.MatchKey(meta.ID, memory.ClassSaid, "", c.text)
			if part == 1 {
				m.Kind, m.Match = memory.KindResponse, memory.MatchKey(meta.ID, memory.ClassAnswer, "", c.text)
			}
			if err := out.add(m); err != nil {
				return err
			}
		}
	}
	return out.flush()
}

// idOf is the session that a file is the transcript of.
func idOf(f File) string {
	if id, _ := beginning(f.Path); id != "" {
		return name(id)
	}
	return folderName(f.Path)
}
