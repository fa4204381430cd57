//go:build e2e

package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// snapshot maps every path below dir (slash, relative) to its mode and its bytes, or where it links to.
// A folder that does not exist is an empty snapshot.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == dir && os.IsNotExist(err) {
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what = " -> " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what = " " + string(data)
			if len(data) > 4096 {
				what = fmt.Sprintf(" %d bytes, sha256 %x", len(data), sha256.Sum256(data))
			}
		}
		all[filepath.ToSlash(rel)] = info.Mode().String() + what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// topNames gives the first path elements at which two snapshots differ.
func topNames(a, b map[string]string) map[string]bool {
	names := map[string]bool{}
	for p := range a {
		if a[p] != b[p] && p != "." {
			names[first(p)] = true
		}
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			names[first(p)] = true
		}
	}
	return names
}

// without leaves out what lies below the given first path elements.
func without(s map[string]string, names map[string]bool) map[string]string {
	s = maps.Clone(s)
	maps.DeleteFunc(s, func(p, _ string) bool { return names[first(p)] })
	return s
}

func first(path string) string {
	name, _, _ := strings.Cut(path, "/")
	return name
}
