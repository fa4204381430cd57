package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const windows = runtime.GOOS == "windows"

var ending = map[bool]string{true: ".exe"}[windows]

// tempPrefix begins the name of every file that is not yet at its place. The ending is never one that the client reads.
const tempPrefix = ".copilot-mem-"

// Apply does what the plan says: every new file is written and synced beside its place first, and only when all of
// them are there they are renamed. root is the plan's folder.
func (p Plan) Apply(root *os.Root) (Receipt, error) {
	s := staged{plan: p, root: root, token: "apply"}
	if err := s.write(); err != nil {
		s.abort()
		return Receipt{}, err
	}
	if err := s.commit(); err != nil {
		return Receipt{}, err
	}
	return s.settled(), nil
}

// staged is a plan whose files are written, but not at their places.
type staged struct {
	plan  Plan
	root  *os.Root
	token string
	hand  *hand
	undo  bool // part of a removal
	made  []string
	temps []string
}

func (s *staged) temp(i int, ending string) string {
	return path.Join(path.Dir(s.plan.Ops[i].Path), fmt.Sprintf("%s%s-%d.%s", tempPrefix, s.token, i, ending))
}

func (s *staged) write() error {
	for _, dir := range s.plan.Make {
		if err := s.hand.mkdir(s.root, dir, s.plan.DirMode); err != nil {
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return s.unwritable(dir, err)
		}
		s.made = append(s.made, dir)
	}
	for i, op := range s.plan.Ops {
		if op.Op != OpCreate && op.Op != OpUpdate {
			continue
		}
		name := s.temp(i, "tmp")
		s.temps = append(s.temps, name)
		if err := s.hand.writeNew(s.root, name, op.Data, op.Mode); err != nil {
			return s.unwritable(op.Path, err)
		}
	}
	return nil
}

func (s *staged) unwritable(name string, err error) error {
	advice := ", or choose another scope; nothing was written"
	if s.undo {
		advice = again
	}
	return &Error{filepath.Join(s.plan.Dir, filepath.FromSlash(name)), cause(err), adviceFor(err) + advice}
}

const again = ", then run the same command again: it goes on where this one stopped"

// abort takes back what write did.
func (s *staged) abort() {
	for _, name := range s.temps {
		s.hand.remove(s.root, name) //nolint:errcheck // what cannot be removed is found again by its name
	}
	for _, dir := range slices.Backward(s.made) {
		s.hand.rmdir(s.root, dir) // not empty: somebody else uses it by now
	}
}

func (s *staged) commit() error {
	for i, op := range s.plan.Ops {
		if op.Op == OpKeep || op.Op == OpSkip {
			continue
		}
		if err := s.one(i, op); err != nil {
			return &Error{filepath.Join(s.plan.Dir, filepath.FromSlash(op.Path)), cause(err), adviceFor(err) + again}
		}
	}
	for _, dir := range s.plan.Drop {
		s.hand.rmdir(s.root, dir)
	}
	return nil
}

func (s *staged) one(i int, op Op) error {
	if err := s.unchanged(op); err != nil {
		return err
	}
	if op.Op == OpRemove {
		if op.Backup != "" {
			return s.hand.rename(s.root, op.Backup, op.Path)
		}
		err := s.hand.remove(s.root, op.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if op.Backup != "" {
		// It copies rather than renames: the file stays at its place until the new one replaces it in one step.
		if err := s.hand.copyFile(s.root, op.Path, s.temp(i, "bak"), op.Backup); err != nil {
			return err
		}
	}
	if err := s.hand.rename(s.root, s.temp(i, "tmp"), op.Path); err != nil {
		return err
	}
	s.hand.syncDir(s.root, path.Dir(op.Path))
	return nil
}

// unchanged looks a last time whether a file is still what the plan was made for.
func (s *staged) unchanged(op Op) error {
	info, err := s.root.Lstat(op.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		if op.Foreign && op.Op == OpUpdate {
			return nil
		}
		return errors.New("not a regular file any more")
	}
	data, err := s.root.ReadFile(op.Path)
	if err != nil {
		return err
	}
	if hash(data) != op.Before {
		return errors.New("changed in the meantime")
	}
	return nil
}

// settled is the receipt once everything is at its place.
func (s *staged) settled() Receipt {
	r := s.plan.Receipt
	r.Files = append([]File(nil), r.Files...)
	for i := range r.Files {
		r.Files[i].Was = ""
	}
	return r
}

// sweep removes the files that an interrupted run left beside their places. receipts, some of which may be nil, say in
// which folders it worked.
func sweep(h *hand, root *os.Root, token string, receipts ...*Receipt) {
	if token == "" {
		return
	}
	seen := map[string]bool{}
	for _, r := range receipts {
		if r == nil {
			continue
		}
		for _, f := range r.Files {
			dir := path.Dir(f.Path)
			if seen[dir] {
				continue
			}
			seen[dir] = true
			sweepDir(h, root, dir, tempPrefix+token+"-")
		}
	}
}

func sweepDir(h *hand, root *os.Root, dir, prefix string) {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && !e.IsDir() {
			h.remove(root, path.Join(dir, e.Name())) //nolint:errcheck // it stays visible under its name
		}
	}
}
