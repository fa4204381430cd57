package guard

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
	"slices"
	"strconv"
	"strings"
	"time"
)

// trustName is the file in the data folder that holds what the user trusts.
const trustName = "trust.json"

// maxTrustFile is how much of one file counts for the hash; a policy file is at most 1 MiB.
const maxTrustFile = 64 << 20

// Trusted is one trusted folder of policies, as trust.json holds it.
type Trusted struct {
	Root    string    `json:"root"`              // the folder that .github lies in, without links
	Hash    string    `json:"hash"`              // of its policies, settings, Claude hooks and local actions
	Actions []string  `json:"actions,omitempty"` // folders of the local actions, absolute
	Time    time.Time `json:"time"`
}

type trustFile struct {
	V     int       `json:"v"`
	Repos []Trusted `json:"repos"`
}

// TrustError says why the list of trusted repositories is not believed.
type TrustError struct{ Path, Problem string }

func (e *TrustError) Error() string { return e.Path + ": " + e.Problem }

// Hint says what to do about it.
func (e *TrustError) Hint() string { return "remove the file and run `copilot-mem policy trust` again" }

// ReadTrust reads the list. A file that somebody else owns or may write to is refused.
func ReadTrust(data string) ([]Trusted, error) {
	path := filepath.Join(data, trustName)
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &TrustError{path, "not a regular file"}
	case foreign(info):
		return nil, &TrustError{path, "others may write to it"}
	case info.Size() > 1<<20:
		return nil, &TrustError{path, "too large"}
	}
	var doc trustFile
	if err := json.NewDecoder(f).Decode(&doc); err != nil {
		return nil, &TrustError{path, err.Error()}
	}
	return doc.Repos, nil
}

// WriteTrust replaces the list.
func WriteTrust(data string, repos []Trusted) error {
	b, err := json.MarshalIndent(trustFile{1, repos}, "", "  ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(data, trustName), append(b, '\n'))
}

// IsTrusted reports whether dir is trusted as it is now. A policy that uses another action than before has changed itself.
func IsTrusted(data, dir string) (bool, error) {
	repos, err := ReadTrust(data)
	if err != nil {
		return false, err
	}
	real := realPath(dir)
	i := slices.IndexFunc(repos, func(t Trusted) bool { return t.Root == real })
	if i < 0 {
		return false, nil
	}
	hash, err := TrustHash(real, repos[i].Actions)
	return err == nil && hash == repos[i].Hash, err
}

// Trust returns the list with dir in it as it is now. actions are the folders of its local actions.
func Trust(repos []Trusted, dir string, actions []string, now time.Time) ([]Trusted, error) {
	real := realPath(dir)
	hash, err := TrustHash(real, actions)
	if err != nil {
		return nil, err
	}
	return append(Revoke(repos, dir), Trusted{real, hash, actions, now.UTC().Truncate(time.Second)}), nil
}

// Revoke returns the list without dir.
func Revoke(repos []Trusted, dir string) []Trusted {
	real := realPath(dir)
	return slices.DeleteFunc(slices.Clone(repos), func(t Trusted) bool { return t.Root == real })
}

func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// trustRoots are what may execute or relax below a folder, relative to it.
var trustRoots = []string{
	".github/hookflows", ".github/copilot-mem/policies",
	".github/copilot-mem/policy.yml", ".github/copilot-mem/policy.yaml",
	".claude/settings.json", ".claude/settings.local.json",
}

// TrustHash is SHA-256 over the names and bytes of all files that trust is about, in the order of their names. A link
// counts with its target's bytes.
func TrustHash(dir string, actions []string) (string, error) {
	files := map[string]bool{}
	for _, name := range trustRoots {
		if err := collect(filepath.Join(dir, filepath.FromSlash(name)), files); err != nil {
			return "", err
		}
	}
	for _, a := range actions {
		if err := collect(a, files); err != nil {
			return "", err
		}
	}
	names := make([]string, 0, len(files))
	for f := range files {
		names = append(names, f)
	}
	slices.Sort(names)
	var list bytes.Buffer
	for _, name := range names {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return "", err
		}
		sum, err := fileHash(name)
		if err != nil {
			return "", err
		}
		list.WriteString(strconv.Quote(filepath.ToSlash(rel)) + " " + sum + "\n")
	}
	sum := sha256.Sum256(list.Bytes())
	return hex.EncodeToString(sum[:]), nil
}

// collect adds a file, or all files below a folder.
func collect(root string, files map[string]bool) error {
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		files[root] = true
		return nil
	}
	const most = 20000
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			files[p] = true
		}
		if len(files) > most {
			return fmt.Errorf("%s: more than %d files", root, most)
		}
		return nil
	})
}

// fileHash hashes what a path leads to; something that is no file is hashed by its kind.
func fileHash(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "none", nil
	}
	if info.Size() > maxTrustFile {
		return "", fmt.Errorf("%s: too large to be trusted", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// insideOf says whether path is dir or lies below it; both are clean and absolute.
func insideOf(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel)) && !strings.HasPrefix(rel, "..")
}
