package install

import (
	"bytes"
	"path"
)

// between gives the one splice that makes b of a.
func between(a, b []byte) splice {
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	endA, endB := len(a), len(b)
	for endA > from && endB > from && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	return splice{At: from, Cut: string(a[from:endA]), Put: string(b[from:endB])}
}

// edit plans what Edit makes of a text of somebody else.
func (d *differ) edit(want Merge, text []byte, state fileState) {
	old, owned := d.receipt.file(want.Path)
	owned = owned && old.Merged != nil
	next, err := want.Edit(text)
	if err != nil {
		d.fail(&SettingsError{d.full(want.Path), err})
		return
	}
	if bytes.Equal(text, next) && state == regular {
		d.keepSettings(want.Path, old, owned, "up to date")
		return
	}
	info := Merged{Created: state == absent, Free: want.Free}
	if owned {
		info.Created, info.Splices = old.Merged.Created && state != absent || info.Created, old.standing(text)
	}
	info.Splices = append(info.Splices, between(text, next))
	op := Op{Op: OpUpdate, Path: want.Path, Reason: want.Reason, Data: next, Before: hash(text), After: hash(next), Mode: d.mode(want.Path), Old: text}
	if state == absent {
		op.Op, op.Before, op.Mode = OpCreate, "", 0o600
		if want.Mode != 0 {
			op.Mode = want.Mode
		}
	}
	d.makeDirs(path.Dir(want.Path))
	d.plan.Ops = append(d.plan.Ops, op)
	d.record(File{Path: want.Path, Mode: modeText(op.Mode), SHA256: op.After, Was: op.Before, Merged: &info})
}

// done is what has been done to a text whose hash is now: an interrupted run has not come to the last splice.
func (f File) done(now string) []splice {
	n := len(f.Merged.Splices)
	if n > 0 && f.Was != "" && now == f.Was {
		n--
	}
	return f.Merged.Splices[:n:n]
}

// knows reports whether a text is one that we left.
func (f File) knows(now string) bool { return now == f.SHA256 || f.Was != "" && now == f.Was }

// standing are the splices that are still in a text. Where somebody else wrote too, or an interrupted removal has been
// there, only the words can tell.
func (f File) standing(text []byte) []splice {
	now := hash(text)
	all := f.done(now)
	if f.knows(now) {
		return all
	}
	var left []splice
	for _, s := range all {
		if s.Put != "" && bytes.Contains(text, []byte(s.Put)) {
			s.Moved = true
			left = append(left, s)
		}
	}
	return left
}

// unedit plans how our words leave a text: byte for byte when nobody has touched it since, else where they stand once.
func (d *differ) unedit(f File, text []byte, op Op) Op {
	next, whole := text, true
	known, splices := f.knows(op.Before), f.done(op.Before)
	for i := len(splices) - 1; i >= 0; i-- {
		switch s := splices[i]; {
		case known && !s.Moved && s.done(next):
			next = s.undo(next)
		case f.Merged.Free: // its words are too short to be known by themselves
			whole = false
		case s.Put != "" && bytes.Count(next, []byte(s.Put)) == 1:
			next = bytes.Replace(next, []byte(s.Put), []byte(s.Cut), 1)
		default:
			whole = false
		}
	}
	op.Old, op.Reason = text, "our words removed, the rest stays byte for byte"
	switch {
	case !whole && bytes.Equal(next, text):
		op.Op, op.Reason = OpKeep, "changed by hand since"
	case bytes.Equal(next, text):
		op.Op, op.Reason = OpKeep, "nothing of ours in it"
	case f.Merged.Created && len(next) == 0:
		op.Op, op.Reason = OpRemove, ""
	default:
		op.Data, op.After = next, hash(next)
	}
	return op
}

// editState: our words are still there, or a person may change what they like.
func editState(f File, text []byte) string {
	if f.Merged.Free || hash(text) == f.SHA256 {
		return OK
	}
	for _, s := range f.Merged.Splices {
		if !bytes.Contains(text, []byte(s.Put)) {
			return Changed
		}
	}
	return OK
}
