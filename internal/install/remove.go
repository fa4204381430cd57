package install

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// Uninstall plans how everything that a receipt lists goes again: files as we wrote them are removed, those that a person
// changed are kept and named, a shared settings file loses our keys, and what --force put aside comes back.
// shared, which may be nil, names the installation that still needs a file.
func Uninstall(receipt Receipt, disk fs.FS, o Options, shared func(path string) string) (Plan, error) {
	d := &differ{disk: disk, receipt: &receipt, o: o, plan: Plan{Scope: o.Scope, Dir: receipt.Dir}}
	d.plan.Receipt.Dir = receipt.Dir
	for _, f := range receipt.Files {
		user := ""
		if shared != nil {
			user = shared(f.Path)
		}
		switch {
		case user != "":
			d.leave(f, "still used by "+user)
		case f.Merged != nil:
			d.unmerge(f)
		default:
			d.takeBack(f)
		}
	}
	d.plan.Drop = slices.Clone(receipt.Dirs)
	slices.Reverse(d.plan.Drop)
	return d.plan, errors.Join(d.errs...)
}

// Remove plans the way back from a receipt that shares nothing with another installation.
func Remove(receipt Receipt, disk fs.FS) (Plan, error) {
	return Uninstall(receipt, disk, Options{Dir: receipt.Dir}, nil)
}

func (d *differ) leave(f File, reason string) {
	d.plan.Ops = append(d.plan.Ops, Op{Op: OpKeep, Path: f.Path, Mode: parseMode(f.Mode), Reason: reason})
}

func (d *differ) takeBack(f File) {
	data, state, err := d.look(f.Path)
	var where *Error
	switch {
	case errors.As(err, &where):
		d.leave(f, where.Problem)
	case err != nil:
		d.fail(err)
	case state == absent && f.Backup != "" && d.exists(f.Backup):
		d.plan.Ops = append(d.plan.Ops, Op{Op: OpRemove, Path: f.Path, Mode: parseMode(f.Mode), Reason: "the copy comes back", Backup: f.Backup})
	case state == absent:
		d.plan.Ops = append(d.plan.Ops, Op{Op: OpSkip, Path: f.Path, Mode: parseMode(f.Mode), Reason: "not there any more"})
	case f.Existed:
		d.leave(f, "was there before")
	case state == regular && (hash(data) == f.SHA256 || hash(data) == f.Was && f.Was != ""):
		op := Op{Op: OpRemove, Path: f.Path, Mode: parseMode(f.Mode), Before: hash(data)}
		if f.Backup != "" && d.exists(f.Backup) {
			op.Backup, op.Reason = f.Backup, "the copy comes back"
		}
		d.plan.Ops = append(d.plan.Ops, op)
	default:
		d.leave(f, "changed by hand")
		if f.Backup != "" && d.same(f.Path, f.Backup) { // interrupted between the copy and the new file
			if copied, _, err := d.look(f.Backup); err == nil {
				d.plan.Ops = append(d.plan.Ops, Op{Op: OpRemove, Path: f.Backup, Mode: parseMode(f.Mode), Before: hash(copied), Reason: "a copy of what is still there"})
			}
		}
	}
}

// unmerge plans how our keys leave a file of somebody else.
func (d *differ) unmerge(f File) {
	text, state, err := d.look(f.Path)
	op := Op{Op: OpUpdate, Path: f.Path, Mode: d.mode(f.Path), Before: hash(text), Reason: "our keys removed, the rest stays byte for byte"}
	switch {
	case err != nil:
		d.fail(err)
		return
	case state == absent:
		op.Op, op.Reason = OpSkip, "not there any more"
	case state != regular:
		op.Op, op.Reason = OpKeep, "not a regular file any more"
	case f.Merged.text():
		op = d.unedit(f, text, op)
	default:
		op.Old = text
		if err := checkSettings(text, f.Merged.Keys); err != nil {
			d.fail(&SettingsError{d.full(f.Path), err})
			return
		}
		next, kept := f.Merged.undo(text, op.Before == f.SHA256)
		if len(kept) > 0 {
			op.Reason = strings.Join(kept, ", ") + " was changed by hand and stays"
		}
		switch top, _ := readObject(plain(next), 0); {
		case f.Merged.Created && len(top.members) == 0 && !newDocument(next).noted(0, len(next)):
			op.Op, op.Reason = OpRemove, ""
		case bytes.Equal(text, next):
			op.Op = OpKeep
			if len(kept) == 0 {
				op.Reason = "nothing of ours in it"
			}
		default:
			op.Data, op.After = next, hash(next)
		}
	}
	d.plan.Ops = append(d.plan.Ops, op)
}

func (d *differ) exists(name string) bool {
	_, err := fs.Lstat(d.disk, name)
	return err == nil
}

// same reports whether two places hold equal files, or equal links.
func (d *differ) same(a, b string) bool {
	x, errX := fs.ReadLink(d.disk, a)
	y, errY := fs.ReadLink(d.disk, b)
	if errX == nil || errY == nil {
		return errX == nil && errY == nil && x == y
	}
	p, errP := readAll(d.disk, a)
	q, errQ := readAll(d.disk, b)
	return errP == nil && errQ == nil && bytes.Equal(p, q)
}

// The states of an installed file.
const (
	OK      = "ok"
	Changed = "changed"
	Missing = "missing"
)

// FileState is what became of one file of a receipt.
type FileState struct{ Path, State string }

// Drift compares a receipt with the disk. A shared settings file is as it should be when our keys are in it.
func Drift(receipt Receipt, disk fs.FS) []FileState {
	d := &differ{disk: disk, o: Options{Dir: receipt.Dir}}
	states := make([]FileState, 0, len(receipt.Files))
	for _, f := range receipt.Files {
		states = append(states, FileState{f.Path, d.drift(f)})
	}
	return states
}

func (d *differ) drift(f File) string {
	data, state, err := d.look(f.Path)
	switch {
	case err != nil || state == foreign:
		return Changed
	case state == absent:
		return Missing
	case f.Merged != nil && f.Merged.text():
		return editState(f, data)
	case f.Merged != nil:
		if checkSettings(data, f.Merged.Keys) != nil {
			return Changed
		}
		for _, k := range f.Merged.Keys {
			if now := current(data, k); now == nil || !sameJSON(now, k.Value) {
				return Changed
			}
		}
		return OK
	case hash(data) == f.SHA256 && (windows || parseMode(f.Mode)&0o100 == 0 || d.mode(f.Path)&0o100 != 0):
		return OK
	}
	return Changed
}
