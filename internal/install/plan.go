// Package install answers how files get into a scope, and out again: a plan of operations, a receipt of what was
// written, and the way back from it. It decides nothing about what is in the files (package render), asks nobody
// anything and prints nothing.
package install

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// What an operation does. OpKeep leaves a file as it is, OpSkip does not concern the disk.
const (
	OpCreate = "create"
	OpUpdate = "update"
	OpKeep   = "keep"
	OpRemove = "remove"
	OpSkip   = "skip"
)

// Op is one operation on one file below the plan's folder.
type Op struct {
	Op     string
	Path   string // slash-separated
	Mode   fs.FileMode
	Reason string
	Data   []byte // what to write
	Before string // SHA-256 of what is there now; empty for nothing
	After  string // and of what will be there
	Backup string // OpCreate and OpUpdate: where to put what is there now; OpRemove: what to put back

	Foreign bool   // what is there now is not ours
	Old     []byte // what is there now, where it is a regular file
}

// Plan is what to do below one folder. It holds everything that Apply needs but the folder itself.
type Plan struct {
	Scope   string
	Dir     string
	Ops     []Op
	Receipt Receipt  // what will have been written
	Make    []string // folders to make, outermost first
	Drop    []string // folders to remove when they are empty, innermost first
	DirMode fs.FileMode
}

// Changes reports whether the plan writes anything.
func (p Plan) Changes() bool {
	return slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Op == OpCreate || o.Op == OpUpdate || o.Op == OpRemove })
}

// Options says for whom a plan is.
type Options struct {
	Scope   string
	Dir     string
	Force   bool    // overwrite what a person changed, and leave a copy beside it
	Private bool    // modes for the owner alone
	Merges  []Merge // what goes into files of somebody else
}

// Error is a place where nothing can be installed.
type Error struct {
	Path    string
	Problem string
	Advice  string
}

func (e *Error) Error() string { return e.Path + ": " + e.Problem }

// Hint says what to do.
func (e *Error) Hint() string { return e.Advice }

// Diff plans how the files of tree come onto disk, which is the folder o.Dir; receipt is what the last installation
// wrote there, nil when there was none. It changes nothing. All problems come back at once.
func Diff(tree plugin.Tree, disk fs.FS, receipt *Receipt, o Options) (Plan, error) {
	d := &differ{disk: disk, receipt: receipt, o: o, plan: Plan{Scope: o.Scope, Dir: o.Dir, DirMode: 0o755}}
	if o.Private {
		d.plan.DirMode = 0o700
	}
	d.plan.Receipt.Dir = o.Dir
	if receipt != nil {
		d.plan.Receipt.Dirs = slices.Clone(receipt.Dirs)
		d.plan.Receipt.Made = slices.Clone(receipt.Made)
	}
	wanted := map[string]bool{}
	for _, f := range tree {
		wanted[f.Path] = true
		d.file(f)
	}
	for _, m := range o.Merges {
		wanted[m.Path] = true
		d.merge(m)
	}
	if receipt != nil {
		for _, f := range receipt.Files {
			if !wanted[f.Path] {
				d.obsolete(f)
			}
		}
	}
	d.dropUnused()
	slices.SortStableFunc(d.plan.Ops, func(a, b Op) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(d.plan.Receipt.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return d.plan, errors.Join(d.errs...)
}

// dropUnused plans that folders go in which nothing of this version lies. They stay on the receipt: one that somebody
// else uses by now goes when that is over.
func (d *differ) dropUnused() {
	used := func(dir string) bool {
		return slices.ContainsFunc(d.plan.Receipt.Files, func(f File) bool { return strings.HasPrefix(f.Path, dir+"/") })
	}
	removes := slices.ContainsFunc(d.plan.Ops, func(o Op) bool { return o.Op == OpRemove })
	for _, dir := range slices.Backward(d.plan.Receipt.Dirs) {
		if removes && !used(dir) && !slices.Contains(d.plan.Make, dir) {
			d.plan.Drop = append(d.plan.Drop, dir)
		}
	}
}

type differ struct {
	disk    fs.FS
	receipt *Receipt
	o       Options
	plan    Plan
	errs    []error
}

func (d *differ) fail(err error) { d.errs = append(d.errs, err) }
func (d *differ) record(f File)  { d.plan.Receipt.Files = append(d.plan.Receipt.Files, f) }
func (d *differ) full(name string) string {
	return filepath.Join(d.o.Dir, filepath.FromSlash(name))
}

func (d *differ) add(op string, f plugin.File, before, reason string) *Op {
	d.plan.Ops = append(d.plan.Ops, Op{Op: op, Path: f.Path, Mode: f.Mode, Reason: reason, Before: before})
	return &d.plan.Ops[len(d.plan.Ops)-1]
}

// file decides what becomes of one wanted file.
func (d *differ) file(f plugin.File) {
	if d.o.Private {
		f.Mode &= 0o700
	}
	data, state, err := d.look(f.Path)
	if err != nil {
		d.fail(err)
		return
	}
	old, owned := d.receipt.file(f.Path)
	now, next := hash(data), hash(f.Data)
	entry := File{Path: f.Path, Mode: modeText(f.Mode), SHA256: next, Existed: old.Existed, Backup: old.Backup}
	if entry.Backup != "" && !d.exists(entry.Backup) { // an interrupted run did not come to it, or put it back
		entry.Backup = ""
	}
	mine := owned && state == regular && (now == old.SHA256 || now == old.Was)
	switch {
	case state == absent:
		entry.Existed = false
		d.write(d.add(OpCreate, f, "", ""), f)
		d.record(entry)
	case state == regular && now == next && d.modeServes(f):
		d.add(OpKeep, f, now, "up to date")
		entry.Existed = !owned || old.Existed
		d.record(entry)
	case mine:
		entry.Was = now
		op := d.add(OpUpdate, f, now, "an older version")
		op.Old = data
		d.write(op, f)
		d.record(entry)
	case d.o.Force:
		d.force(f, data, entry)
	case owned:
		d.add(OpKeep, f, now, "changed by hand; --force overwrites it and keeps a copy").Foreign = true
		d.record(old)
	default:
		d.add(OpKeep, f, now, "not ours; --force overwrites it and keeps a copy").Foreign = true
	}
}

// force plans to overwrite what a person wrote, and to keep a copy of it.
func (d *differ) force(f plugin.File, data []byte, entry File) {
	entry.Existed = false // and no Was: what is there now is not ours, whatever interrupts us
	op := d.add(OpUpdate, f, hash(data), "changed by hand; a copy stays beside it")
	op.Foreign, op.Old = true, data
	if entry.Backup == "" || !d.same(f.Path, entry.Backup) { // else an interrupted run has made the copy already
		op.Backup = d.freeBackup(f.Path)
	}
	if entry.Backup == "" {
		entry.Backup = op.Backup
	}
	d.write(op, f)
	d.record(entry)
}

func (d *differ) write(op *Op, f plugin.File) {
	op.Data, op.After = f.Data, hash(f.Data)
	d.makeDirs(path.Dir(f.Path))
}

// obsolete decides what becomes of a file that the last installation wrote and this one has not.
func (d *differ) obsolete(f File) {
	data, state, err := d.look(f.Path)
	switch {
	case err != nil:
		d.fail(err)
	case f.Merged != nil && f.Merged.Free:
		d.record(f)
	case f.Merged != nil:
		d.unmerge(f)
	case f.Existed || state == absent:
	case state == regular && (hash(data) == f.SHA256 || hash(data) == f.Was):
		op := d.add(OpRemove, plugin.File{Path: f.Path, Mode: parseMode(f.Mode)}, hash(data), "no longer part of it")
		op.Backup = f.Backup
	default:
		d.add(OpKeep, plugin.File{Path: f.Path, Mode: parseMode(f.Mode)}, "", "no longer part of it, but changed by hand")
	}
}

type fileState int

const (
	absent  fileState = iota
	regular           // a regular file
	foreign           // a link or something else that we never write
)

// look reads what is at a place, and refuses places that are not below the folder.
func (d *differ) look(name string) ([]byte, fileState, error) {
	if !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) || name == "." {
		return nil, 0, &Error{name, "leaves the folder " + d.o.Dir, "this is a fault of the plugin: nothing was written"}
	}
	for i := range len(name) { // from the outermost folder, so that the error names the one at fault
		if name[i] != '/' {
			continue
		}
		dir := name[:i]
		info, err := fs.Stat(d.disk, dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if link, lerr := fs.Lstat(d.disk, dir); lerr == nil && link.Mode()&fs.ModeSymlink != 0 {
				return nil, 0, &Error{d.full(dir), "a link to nowhere", "remove the link or make its target"}
			}
		case errors.Is(err, fs.ErrPermission):
			return nil, 0, &Error{d.full(dir), "permission denied", "make the folder readable and writable for you"}
		case err != nil:
			return nil, 0, d.outside(dir, err)
		case !info.IsDir():
			return nil, 0, &Error{d.full(dir), "not a folder", "move the file away"}
		}
	}
	info, err := fs.Lstat(d.disk, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, absent, nil
	case err != nil:
		return nil, 0, d.outside(name, err)
	case info.IsDir():
		return nil, 0, &Error{d.full(name), "a folder, not a file", "move the folder away"}
	case !info.Mode().IsRegular():
		return nil, foreign, nil
	}
	data, err := readAll(d.disk, name)
	if err != nil {
		return nil, 0, &Error{d.full(name), cause(err), "make the file readable for you"}
	}
	return data, regular, nil
}

func (d *differ) outside(name string, err error) error {
	return &Error{d.full(name), cause(err), "replace the link by a folder, or choose another scope"}
}

// adviceFor says what to do about an error of the system.
func adviceFor(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return "make room on the disk"
	case errors.Is(err, syscall.EROFS):
		return "the disk is read-only: mount it writable"
	}
	return "make the folder writable for you"
}

// cause is an error's last word, without the operation and path that our own message names already.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func readAll(disk fs.FS, name string) ([]byte, error) {
	f, err := disk.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// modeServes reports whether a file that has the right bytes can stay: a program must be executable, and the exact
// mode of everything else is its owner's affair.
func (d *differ) modeServes(f plugin.File) bool {
	return f.Mode&0o100 == 0 || windows || d.mode(f.Path)&0o100 != 0
}

// makeDirs plans the folders that are missing.
func (d *differ) makeDirs(dir string) {
	var missing []string
	for ; dir != "."; dir = path.Dir(dir) {
		if _, err := fs.Stat(d.disk, dir); err == nil {
			break
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	d.plan.Make = union(d.plan.Make, missing)
	d.plan.Receipt.Dirs = union(d.plan.Receipt.Dirs, missing)
}

// freeBackup is a name beside the file that nothing has.
func (d *differ) freeBackup(name string) string {
	for i := 1; ; i++ {
		backup := name + ".bak"
		if i > 1 {
			backup = fmt.Sprintf("%s.bak%d", name, i)
		}
		if _, err := fs.Lstat(d.disk, backup); errors.Is(err, fs.ErrNotExist) {
			return backup
		}
	}
}
