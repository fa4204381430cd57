package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// Receipt is what was written below one folder.
type Receipt struct {
	Dir   string   `json:"dir"`            // absolute
	Files []File   `json:"files"`          // sorted by path
	Dirs  []string `json:"dirs,omitempty"` // folders below Dir that were made for them, outermost first
	Made  []string `json:"made,omitempty"` // Dir and those above it that were made, absolute, outermost first
}

// File is one file of a receipt.
type File struct {
	Path    string  `json:"path"` // slash-separated, below Dir
	Mode    string  `json:"mode"`
	SHA256  string  `json:"sha256"`
	Was     string  `json:"was,omitempty"`     // what it was before, while an installation is under way
	Existed bool    `json:"existed,omitempty"` // the same bytes were there before: uninstall leaves them
	Backup  string  `json:"backup,omitempty"`  // where --force put somebody's file; uninstall puts it back
	Merged  *Merged `json:"merged,omitempty"`  // a file of somebody else with keys of ours in it
}

// The states of a Record.
const (
	Pending = "pending" // written before the first file: an interrupted installation is finished or undone from it
	Done    = "done"
)

// Record is one installation: a scope in a folder, and a receipt for each folder that it wrote below.
type Record struct {
	SchemaVersion int    `json:"schemaVersion"`
	Scope         string `json:"scope"`
	Dir           string `json:"dir"`
	Version       string `json:"version"`
	State         string `json:"state"`
	Token         string `json:"token,omitempty"` // part of the names of files that are being written
	// Choices are what was chosen beside scope and folder, in the caller's words: the next init keeps them.
	Choices  map[string]string `json:"choices,omitempty"`
	Receipts []Receipt         `json:"receipts"`
}

// name is the record's file name: one for each scope and folder.
func (r Record) name() string {
	sum := sha256.Sum256([]byte(r.Dir))
	return r.Scope + "-" + hex.EncodeToString(sum[:6]) + ".json"
}

func (r Record) receipt(dir string) *Receipt {
	for i := range r.Receipts {
		if r.Receipts[i].Dir == dir {
			return &r.Receipts[i]
		}
	}
	return nil
}

func (r *Receipt) file(name string) (File, bool) {
	if r != nil {
		for _, f := range r.Files {
			if f.Path == name {
				return f, true
			}
		}
	}
	return File{}, false
}

// Records reads every record of a folder, sorted by scope and folder. A folder that is not there has none.
func Records(folder string) ([]Record, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Record
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || !e.Type().IsRegular() || strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		name := filepath.Join(folder, e.Name())
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var r Record
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, &RecordError{name, err}
		}
		if r.SchemaVersion != 1 {
			return nil, &RecordError{name, fmt.Errorf("schema version %d is not known", r.SchemaVersion)}
		}
		all = append(all, r)
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].Scope != all[j].Scope {
			return all[i].Scope < all[j].Scope
		}
		return all[i].Dir < all[j].Dir
	})
	return all, nil
}

// RecordError is a receipt that cannot be read: without it nothing can be taken out safely.
type RecordError struct {
	Path string
	Err  error
}

func (e *RecordError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *RecordError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *RecordError) Hint() string {
	return "use a newer copilot-mem, or remove the file and what it lists by hand"
}

// save writes the record beside its name, synced, and renames it. The name beside it is always the same: the next save
// replaces what an interrupted one left.
func (r Record) save(h *hand, folder string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	temp := tempPrefix + r.name()
	if err = h.writeNew(root, temp, append(data, '\n'), 0o600); err == nil {
		err = h.rename(root, temp, r.name())
	}
	if err != nil {
		h.remove(root, temp) //nolint:errcheck // the next run finds it by its name
		return &Error{filepath.Join(folder, r.name()), cause(err), adviceFor(err)}
	}
	h.syncDir(root, ".")
	return nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func modeText(m fs.FileMode) string { return fmt.Sprintf("%04o", m.Perm()) }

func parseMode(s string) fs.FileMode {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil {
		return 0o600
	}
	return fs.FileMode(n).Perm()
}

func equalJSON(a, b Record) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}
