package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	copier "github.com/otiai10/copy"
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
	step  func(what string) error // tests stop here; nil otherwise
	made  []string
	temps []string
}

func (s *staged) at(what string) error {
	if s.step == nil {
		return nil
	}
	return s.step(what)
}

func (s *staged) temp(i int) string {
	return path.Join(path.Dir(s.plan.Ops[i].Path), fmt.Sprintf("%s%s-%d.tmp", tempPrefix, s.token, i))
}

func (s *staged) write() error {
	for _, dir := range s.plan.Make {
		if err := s.at("mkdir " + dir); err != nil {
			return err
		}
		if err := s.root.Mkdir(dir, s.plan.DirMode); err != nil {
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
		name := s.temp(i)
		if err := s.at("write " + op.Path); err != nil {
			return err
		}
		s.temps = append(s.temps, name)
		if err := writeNew(s.root, name, op.Data, op.Mode); err != nil {
			return s.unwritable(op.Path, err)
		}
	}
	return nil
}

func (s *staged) unwritable(name string, err error) error {
	return &Error{filepath.Join(s.plan.Dir, filepath.FromSlash(name)), cause(err), "make the folder writable for you, or choose another scope; nothing was written"}
}

// abort takes back what write did.
func (s *staged) abort() {
	for _, name := range s.temps {
		s.root.Remove(name) //nolint:errcheck // what cannot be removed is found again by its name
	}
	for i := len(s.made) - 1; i >= 0; i-- {
		s.root.Remove(s.made[i]) //nolint:errcheck // not empty: somebody else uses it by now
	}
}

func (s *staged) commit() error {
	for i, op := range s.plan.Ops {
		if op.Op == OpKeep || op.Op == OpSkip {
			continue
		}
		if err := s.at(op.Op + " " + op.Path); err != nil {
			return err
		}
		if err := s.one(i, op); err != nil {
			return &Error{filepath.Join(s.plan.Dir, filepath.FromSlash(op.Path)), cause(err), "run the same command again: it goes on where this one stopped"}
		}
	}
	for _, dir := range s.plan.Drop {
		if err := s.at("rmdir " + dir); err != nil {
			return err
		}
		if info, err := s.root.Lstat(dir); err == nil && info.IsDir() {
			s.root.Remove(dir) //nolint:errcheck // not empty: it stays
		}
	}
	return nil
}

func (s *staged) one(i int, op Op) error {
	if err := s.unchanged(op); err != nil {
		return err
	}
	if op.Op == OpRemove {
		if op.Backup != "" {
			return s.root.Rename(op.Backup, op.Path)
		}
		err := s.root.Remove(op.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if op.Backup != "" {
		if err := s.backup(op); err != nil {
			return err
		}
	}
	if err := s.root.Rename(s.temp(i), op.Path); err != nil {
		return err
	}
	syncDir(s.root, path.Dir(op.Path))
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
		if op.Backup != "" && op.Op == OpUpdate {
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

// backup copies rather than renames: the file stays at its place until the new one replaces it in one step. A link is
// copied as a link.
func (s *staged) backup(op Op) error {
	from := filepath.Join(s.root.Name(), filepath.FromSlash(op.Path))
	to := filepath.Join(s.root.Name(), filepath.FromSlash(op.Backup))
	return copier.Copy(from, to, copier.Options{
		OnSymlink:         func(string) copier.SymlinkAction { return copier.Shallow },
		PermissionControl: copier.PerservePermission,
		PreserveTimes:     true,
		Sync:              true,
	})
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

// writeNew writes a file that is not there yet, with exactly this mode, and syncs it.
func writeNew(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
		if err := root.Remove(name); err != nil { // the rest of an interrupted run
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes a rename last; systems that cannot sync a folder do without.
func syncDir(root *os.Root, dir string) {
	if f, err := root.Open(dir); err == nil {
		f.Sync() //nolint:errcheck // see above
		f.Close()
	}
}

// sweep removes the files that an interrupted run left beside their places.
func sweep(root *os.Root, r Receipt, token string) {
	if token == "" {
		return
	}
	seen := map[string]bool{}
	for _, f := range r.Files {
		dir := path.Dir(f.Path)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		entries, err := fs.ReadDir(root.FS(), dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), tempPrefix+token+"-") && e.Type().IsRegular() {
				root.Remove(path.Join(dir, e.Name())) //nolint:errcheck // it stays visible under its name
			}
		}
	}
}
