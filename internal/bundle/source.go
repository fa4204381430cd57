package bundle

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Source is a plugin's folder as its author has it.
type Source struct {
	Dir     string   // absolute
	Top     string   // of the repository that Dir lies in; empty: in none
	Tracked []string // what version control has, as slash paths from Top; kept although a .gitignore names it
	Out     string   // absolute: where the bundle goes, never packed
}

// Read returns the files that belong into a bundle: all but what a .gitignore leaves out and what version control,
// file managers and editors keep for themselves. A link inside the folder becomes what it leads to; one that leads out
// of it, or nowhere, is an error.
func Read(s Source) (plugin.Tree, error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	k := &kept{FS: root.FS(), read: map[string]string{}, tracked: map[string]bool{}}
	if rel, err := filepath.Rel(s.Dir, s.Out); err == nil && filepath.IsLocal(rel) && rel != "." {
		k.drop = filepath.ToSlash(rel)
	}
	if s.Top != "" {
		if err := k.above(s.Top, s.Dir); err != nil {
			return nil, err
		}
	}
	for _, name := range s.Tracked {
		for ; name != "." && name != "/"; name = path.Dir(name) {
			k.tracked[name] = true
		}
	}
	tree, err := plugin.Read(k)
	if runtime.GOOS == "windows" {
		markScripts(tree)
	}
	return tree, err
}

// markScripts is for a system without executable bits: what names its interpreter in the first line is a program.
func markScripts(tree plugin.Tree) {
	for i, f := range tree {
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			tree[i].Mode |= 0o111
		}
	}
}

// above reads the .gitignore files of the folders from top down to dir, dir itself left out.
func (k *kept) above(top, dir string) error {
	rel, err := filepath.Rel(top, dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return err
	}
	k.prefix = filepath.ToSlash(rel) + "/"
	base := ""
	for part := range strings.SplitSeq(k.prefix, "/") {
		text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(base), ".gitignore"))
		if err == nil {
			k.rules = append(k.rules, ignoreRules(base, string(text))...)
		} else if !os.IsNotExist(err) {
			return err
		}
		if base += part + "/"; base == k.prefix {
			break
		}
	}
	return nil
}
