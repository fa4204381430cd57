package expr

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/copilot-mem/copilot-mem/internal/policy/glob"
)

const (
	maxHashed      = 10_000   // files
	maxHashedBytes = 64 << 20 // together
)

// HashFiles hashes the regular files below the root of fsys that a list of globs selects, as hashFiles() of GitHub Actions does: the
// SHA-256 of the files' SHA-256 sums, in the order of their paths; the empty text if there is none. ".git" is left out.
func HashFiles(fsys fs.FS, patterns []string) (string, error) {
	list, err := glob.CompileList(patterns)
	if err != nil {
		return "", err
	}
	all := sha256.New()
	files, size := 0, int64(0)
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.Type().IsRegular(), !list.Ignores(p):
			return nil
		}
		sum, n, err := hashFile(fsys, p, maxHashedBytes-size)
		if err != nil {
			return err
		}
		if files, size = files+1, size+n; files > maxHashed {
			return fmt.Errorf("the patterns select more than %d files", maxHashed)
		}
		all.Write(sum)
		return nil
	})
	if err != nil || files == 0 {
		return "", err
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

func hashFile(fsys fs.FS, name string, limit int64) (sum []byte, n int64, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if n, err = io.Copy(h, io.LimitReader(f, limit+1)); err != nil {
		return nil, n, err
	}
	if n > limit {
		return nil, n, fmt.Errorf("the patterns select more than %d MiB", maxHashedBytes>>20)
	}
	return h.Sum(nil), n, nil
}
