package install

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Part is what one installation puts below one folder.
type Part struct {
	Dir     string // absolute; made when it is not there
	Tree    plugin.Tree
	Merges  []Merge
	Private bool // for the owner alone
}

// Request is one installation: everything of one scope, in one folder and the data folder.
type Request struct {
	Scope   string
	Dir     string
	Version string
	Data    string // the data folder; the records lie in it
	Records string // <Data>/receipts
	Parts   []Part // in the order of writing: the hook files last
	Force   bool
	Choices map[string]string // what was chosen, for the next time; see [Record]
}

// Job is a whole installation or its removal, planned and not yet done.
type Job struct {
	Plans  []Plan
	record Record  // what will be
	last   *Record // what was; nil when nothing was
	others []Record
	data   string
	folder string // of the records
	undo   bool
	hand   *hand
}

// Prepare plans an installation. It changes nothing.
func Prepare(r Request) (*Job, error) {
	j := &Job{data: r.Data, folder: r.Records}
	j.record = Record{SchemaVersion: 1, Scope: r.Scope, Dir: r.Dir, Version: r.Version, State: Pending, Choices: r.Choices}
	if err := j.load(); err != nil {
		return nil, err
	}
	if j.last != nil && plugin.OlderVersion(r.Version, j.last.Version) {
		return nil, &DowngradeError{*j.last, r.Version}
	}
	var errs []error
	for _, part := range r.Parts {
		base := j.base(part)
		plan, err := withDisk(part.Dir, func(disk fs.FS) (Plan, error) {
			return Diff(part.Tree, disk, base, Options{Scope: r.Scope, Dir: part.Dir, Force: r.Force, Private: part.Private, Merges: part.Merges})
		})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		plan.Receipt.Made = union(plan.Receipt.Made, absentDirs(part.Dir))
		for i, op := range plan.Ops {
			user := j.user(part.Dir, op.Path)
			switch {
			case user == nil:
			case op.Op == OpRemove:
				plan.Ops[i].Op, plan.Ops[i].Reason = OpKeep, "still used by "+user.place()
			case op.Op == OpUpdate && plugin.OlderVersion(r.Version, user.Version):
				errs = append(errs, &DowngradeError{*user, r.Version})
			}
		}
		j.Plans = append(j.Plans, plan)
		j.record.Receipts = append(j.record.Receipts, plan.Receipt)
	}
	if j.last != nil { // a folder that this version does not write below any more
		for _, old := range j.last.Receipts {
			if j.record.receipt(old.Dir) == nil && len(old.Files) > 0 {
				errs = append(errs, &Error{old.Dir, "an earlier installation wrote here", "run `copilot-mem uninstall` first, then init"})
			}
		}
	}
	return j, errors.Join(errs...)
}

// PrepareRemoval plans the way back of the installation in scope and dir; nil when there is none.
func PrepareRemoval(scope, dir, data, records string) (*Job, error) {
	j := &Job{data: data, folder: records, undo: true}
	j.record = Record{SchemaVersion: 1, Scope: scope, Dir: dir}
	if err := j.load(); err != nil {
		return nil, err
	}
	if j.last == nil {
		return nil, nil
	}
	j.record = *j.last
	var errs []error
	for _, r := range slices.Backward(j.last.Receipts) {
		plan, err := withDisk(r.Dir, func(disk fs.FS) (Plan, error) {
			return Uninstall(r, disk, Options{Scope: scope, Dir: r.Dir}, func(name string) string { return j.user(r.Dir, name).place() })
		})
		errs = append(errs, err)
		plan.Receipt.Made = r.Made
		j.Plans = append(j.Plans, plan)
	}
	return j, errors.Join(errs...)
}

// load reads the record of this installation and those of all others.
func (j *Job) load() error {
	all, err := Records(j.folder)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].Scope == j.record.Scope && all[i].Dir == j.record.Dir {
			j.last = &all[i]
		} else {
			j.others = append(j.others, all[i])
		}
	}
	return nil
}

// base is what we know of a folder: our own receipt, and what other installations wrote there of the same files. The
// folders that they made count too, because whoever leaves last removes them.
func (j *Job) base(part Part) *Receipt {
	base := Receipt{Dir: part.Dir}
	if j.last != nil {
		if own := j.last.receipt(part.Dir); own != nil {
			base = *own
			base.Files = slices.Clone(own.Files)
		}
	}
	for _, other := range j.others {
		r := other.receipt(part.Dir)
		if r == nil {
			continue
		}
		base.Made = union(base.Made, r.Made)
		base.Dirs = union(base.Dirs, r.Dirs)
		for _, f := range part.Tree {
			if theirs, ok := r.file(f.Path); ok {
				if _, ours := base.file(f.Path); !ours {
					base.Files = append(base.Files, theirs)
				}
			}
		}
	}
	slices.Sort(base.Made) // a folder sorts before what is in it
	slices.Sort(base.Dirs)
	return &base
}

// user is another installation that lists a file; nil when there is none.
func (j *Job) user(dir, name string) *Record {
	for i, other := range j.others {
		if _, ok := other.receipt(dir).file(name); ok {
			return &j.others[i]
		}
	}
	return nil
}

func (r *Record) place() string {
	if r == nil {
		return ""
	}
	return "scope " + r.Scope + " in " + r.Dir
}

// DowngradeError is an older program over what a newer one installed: it does not know what the newer one's files need.
type DowngradeError struct {
	There   Record
	Version string
}

func (e *DowngradeError) Error() string {
	return fmt.Sprintf("%s was installed by version %s, and this is the older %s: it would take back what the newer one put there", e.There.place(), e.There.Version, e.Version)
}

// Hint says what to do.
func (e *DowngradeError) Hint() string {
	return fmt.Sprintf("use copilot-mem %s or newer; or to go back, run `copilot-mem uninstall --scope %s --dir %s` first", e.There.Version, e.There.Scope, e.There.Dir)
}

// Last is what was installed before: nil when nothing was.
func (j *Job) Last() *Record { return j.last }

// Changes reports whether Do will write anything but the record.
func (j *Job) Changes() bool { return slices.ContainsFunc(j.Plans, Plan.Changes) }

// Do carries the job out. The record is written before the first file and again after the last.
func (j *Job) Do() error {
	token := make([]byte, 6)
	if _, err := rand.Read(token); err != nil {
		return err
	}
	last := ""
	if j.last != nil {
		last = j.last.Token
	}
	j.record.Token = hex.EncodeToString(token)
	j.sweepRecords()
	if j.undo {
		return j.remove(last)
	}
	if j.settledAlready() {
		return nil
	}
	return j.install(last)
}

// settledAlready reports whether the last installation is finished and this one would be the same.
func (j *Job) settledAlready() bool {
	if j.Changes() || j.last == nil || j.last.State != Done {
		return false
	}
	next := j.record
	next.State, next.Token = Done, ""
	return equalJSON(next, *j.last)
}

func (j *Job) install(lastToken string) (err error) {
	made := &madeDirs{hand: j.hand}
	defer func() {
		if err != nil {
			made.undo()
		}
	}()
	dataPart := j.record.receipt(j.data)
	if dataPart == nil {
		return fmt.Errorf("install: the data folder %s is no part of the plan", j.data)
	}
	if j.last == nil && len(j.others) == 0 { // the folder of records is ours, also where an interrupted run has left it
		dataPart.Dirs = union(dataPart.Dirs, []string{filepath.Base(j.folder)})
		if holdsOnly(j.data, filepath.Base(j.folder)) {
			dataPart.Made = union(dataPart.Made, []string{j.data})
		}
	}
	if err := made.all(j.data, 0o700); err != nil {
		return err
	}
	if err := made.all(j.folder, 0o700); err != nil {
		return err
	}
	// From here on a kill at any instruction leaves a record of what may be on the disk.
	if err := j.record.save(j.hand, j.folder); err != nil {
		return err
	}
	stages, err := j.stage(made, lastToken)
	if err != nil {
		return errors.Join(err, j.restoreRecord())
	}
	made.keep()
	defer func() {
		for _, s := range stages {
			s.root.Close()
		}
	}()
	for i, s := range stages {
		if err := s.commit(); err != nil {
			return err
		}
		j.record.Receipts[i].Files = s.settled().Files
	}
	if err := j.tellOthers(); err != nil {
		return err
	}
	j.record.State = Done
	j.record.Token = ""
	return j.record.save(j.hand, j.folder)
}

// stage writes every new file of every part beside its place. When one cannot be written, none stays.
func (j *Job) stage(made *madeDirs, lastToken string) (stages []*staged, err error) {
	defer func() {
		if err == nil {
			return
		}
		for _, s := range slices.Backward(stages) {
			s.abort()
			s.root.Close()
		}
		made.undo()
		made.keep()
	}()
	for i, p := range j.Plans {
		if err := made.all(p.Dir, p.DirMode); err != nil {
			return stages, err
		}
		root, err := os.OpenRoot(p.Dir)
		if err != nil {
			return stages, &Error{p.Dir, cause(err), "make the folder accessible for you, or choose another scope"}
		}
		s := &staged{plan: p, root: root, token: j.record.Token, hand: j.hand}
		stages = append(stages, s)
		sweep(j.hand, root, lastToken, &j.record.Receipts[i], j.lastReceipt(p.Dir))
		if err := s.write(); err != nil {
			return stages, err
		}
	}
	return stages, nil
}

func (j *Job) lastReceipt(dir string) *Receipt {
	if j.last == nil {
		return nil
	}
	return j.last.receipt(dir)
}

// restoreRecord puts the last record back after an installation that wrote nothing.
func (j *Job) restoreRecord() error {
	if j.last != nil {
		return j.last.save(j.hand, j.folder)
	}
	err := j.drop()
	(&madeDirs{hand: j.hand, list: j.record.receipt(j.data).Made}).undo()
	return err
}

// drop removes the record, and the folder of records with it when it was the last one.
func (j *Job) drop() error {
	root, err := os.OpenRoot(j.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	if err := j.hand.remove(root, j.record.name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &Error{filepath.Join(j.folder, j.record.name()), cause(err), adviceFor(err) + again}
	}
	if len(j.others) == 0 {
		j.hand.removeEmpty(j.folder)
	}
	return nil
}

// sweepRecords takes away what an interrupted run left in the folder of records.
func (j *Job) sweepRecords() {
	if root, err := os.OpenRoot(j.folder); err == nil {
		sweepDir(j.hand, root, ".", tempPrefix)
		root.Close()
	}
}

// tellOthers renews the hash of a file that other installations list too. It goes before the own record's last word, so
// that an interrupted run does it again.
func (j *Job) tellOthers() error {
	for _, other := range j.others {
		changed := false
		for _, mine := range j.record.Receipts {
			theirs := other.receipt(mine.Dir)
			for _, f := range mine.Files {
				if old, ok := theirs.file(f.Path); ok && old.Merged == nil && old.SHA256 != f.SHA256 {
					i := slices.IndexFunc(theirs.Files, func(x File) bool { return x.Path == f.Path })
					theirs.Files[i].SHA256, theirs.Files[i].Mode = f.SHA256, f.Mode
					changed = true
				}
			}
		}
		if changed {
			if err := other.save(j.hand, j.folder); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *Job) remove(lastToken string) error {
	if j.last.State == Done { // an interrupted installation has told nobody yet
		if err := j.tellOthers(); err != nil {
			return err
		}
	}
	// The token must be known to whoever finishes an interrupted removal.
	j.record.State = Pending
	if err := j.record.save(j.hand, j.folder); err != nil {
		return err
	}
	for i, p := range j.Plans {
		if err := j.removeBelow(p, lastToken, &j.record.Receipts[len(j.Plans)-1-i]); err != nil {
			return err
		}
	}
	if err := j.drop(); err != nil {
		return err
	}
	for _, r := range j.record.Receipts {
		for _, dir := range slices.Backward(r.Dirs) {
			j.hand.removeEmpty(filepath.Join(r.Dir, filepath.FromSlash(dir)))
		}
		for _, dir := range slices.Backward(r.Made) {
			j.hand.removeEmpty(dir)
		}
	}
	return nil
}

func (j *Job) removeBelow(p Plan, lastToken string, receipt *Receipt) error {
	root, err := os.OpenRoot(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Error{p.Dir, cause(err), "make the folder accessible for you"}
	}
	defer root.Close()
	sweep(j.hand, root, lastToken, receipt)
	s := &staged{plan: p, root: root, token: j.record.Token, hand: j.hand, undo: true}
	if err := s.write(); err != nil {
		s.abort()
		return err
	}
	return s.commit()
}

// holdsOnly reports whether a folder has that one name in it.
func holdsOnly(dir, name string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 1 && entries[0].Name() == name
}

// Tidy takes away what an installation left that was ended before its first record: the folder of records, and the data
// folder with it when nothing else is in it. It does nothing where there is a record.
func Tidy(data, records string) error {
	all, err := Records(records)
	if err != nil || len(all) > 0 {
		return err
	}
	root, err := os.OpenRoot(records)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	sweepDir(nil, root, ".", tempPrefix)
	root.Close()
	var h *hand
	h.removeEmpty(records)
	if _, err := os.Lstat(records); errors.Is(err, fs.ErrNotExist) {
		h.removeEmpty(data)
	}
	return nil
}
