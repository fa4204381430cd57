// Package bundle packs a plugin for others: one folder that is a local marketplace with the plugin in it, archives for
// each target, an inventory, and checksums. The same input gives the same bytes.
//
// It does not render or check the plugin, does not compile programs, and uploads nothing.
package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Any is the target of a plugin that runs on every system that it has programs for, or that has none.
const Any = "any"

// Pack is the plugin as it is packed for one target.
type Pack struct {
	Target string // "<os>/<arch>" in Go's words, or Any
	Tree   plugin.Tree
}

// Options say where and how to pack.
type Options struct {
	Out     string    // made when absent; what an earlier build left is replaced, everything else is kept
	Name    string    // for a manifest without a name
	Version string    // written into the manifests; empty: theirs
	Time    time.Time // of every file in the archives; zero: the earliest that zip can hold
}

// Artifact is one thing that a build made. Size and SHA256 of a folder are those of its files: the sum, and the hash
// of its list of checksums.
type Artifact struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Target string `json:"target"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Result says what was built. Paths are below Out, as Options gave it. Parts are those of the plugin's folder.
type Result struct {
	Name      string     `json:"name"`
	Version   string     `json:"version"`
	Out       string     `json:"out"`
	Artifacts []Artifact `json:"artifacts"`
	Parts     []Part     `json:"parts"`
	Entry     Entry      `json:"-"` // what a marketplace says of the plugin
}

// Epoch is the time of every file where no other is asked for: the earliest that zip can hold.
var Epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Build packs the plugin. The first pack becomes the plugin's folder, and its manifest is the one that counts.
func Build(packs []Pack, o Options) (Result, error) {
	packs, m, err := prepare(packs, o)
	if err != nil {
		return Result{}, err
	}
	if o.Time.Before(Epoch) {
		o.Time = Epoch
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return Result{}, err
	}
	root, err := os.OpenRoot(o.Out)
	if err != nil {
		return Result{}, err
	}
	defer root.Close()
	b := builder{root: root, time: o.Time, result: Result{
		Name: safe(m.Name), Version: m.Version, Out: o.Out, Parts: Parts(packs[0].Tree), Entry: entryOf(m),
	}}
	b.folder(packs[0])
	for _, p := range packs {
		b.archives(p)
	}
	b.inventory(m, packs)
	b.checksums()
	b.marketplaces(m)
	return b.result, b.err
}

// prepare sorts and checks the trees, writes the version into their manifests, and reads the first one's.
func prepare(packs []Pack, o Options) ([]Pack, plugin.Manifest, error) {
	packs = slices.Clone(packs)
	for i, p := range packs {
		tree := slices.Clone(p.Tree)
		tree.Sort()
		if err := tree.Check(); err != nil {
			return nil, plugin.Manifest{}, fmt.Errorf("%s: %w", p.Target, err)
		}
		if err := version(tree, o.Version); err != nil {
			return nil, plugin.Manifest{}, err
		}
		packs[i].Tree = tree
	}
	p, err := plugin.Parse(packs[0].Tree)
	if err != nil {
		return nil, plugin.Manifest{}, err
	}
	m := p.Manifest
	if m.Name == "" {
		m.Name = o.Name
	}
	if safe(m.Name) == "" {
		return nil, m, fmt.Errorf("%s: no name", m.Path)
	}
	if err := plugin.CheckVersion(m.Version); err != nil {
		return nil, m, fmt.Errorf("%s: version %q: not a semantic version", m.Path, m.Version)
	}
	return packs, m, nil
}

// version writes the text into every manifest of the tree, where one is given.
func version(tree plugin.Tree, text string) error {
	if text == "" {
		return nil
	}
	for i, f := range tree {
		if !slices.Contains(plugin.ManifestPaths, f.Path) {
			continue
		}
		data, err := setVersion(f.Data, text)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		tree[i].Data = data
	}
	return nil
}

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// safe is a name that can stand in a file name of every system and in a marketplace.
func safe(s string) string {
	return strings.Trim(unsafeName.ReplaceAllString(s, "-"), "-.")
}

// builder writes below one folder; the first error ends it.
type builder struct {
	root   *os.Root
	time   time.Time
	result Result
	err    error
}

func (b *builder) add(name, kind, target string, size int64, sum string) {
	b.result.Artifacts = append(b.result.Artifacts, Artifact{
		Path: filepath.Join(b.result.Out, filepath.FromSlash(name)), Kind: kind, Target: target, Size: size, SHA256: sum,
	})
}

// folder writes plugins/<name>.
func (b *builder) folder(p Pack) { b.folderAt(path.Join("plugins", b.result.Name), p) }

// folderAt writes a plugin's folder: beside first, then in the place of what an earlier build left there.
func (b *builder) folderAt(place string, p Pack) {
	beside := path.Join(path.Dir(place), "."+path.Base(place)+".new")
	if b.err = b.ours(place); b.err != nil {
		return
	}
	if b.err = b.root.RemoveAll(beside); b.err != nil {
		return
	}
	sums := sha256.New()
	var size int64
	for _, f := range p.Tree {
		name := path.Join(beside, f.Path)
		if b.err = b.root.MkdirAll(path.Dir(name), 0o755); b.err != nil {
			return
		}
		if b.err = b.write(name, f.Data, mode(f)); b.err != nil {
			return
		}
		size += int64(len(f.Data))
		fmt.Fprintf(sums, "%s  %s\n", sum(f.Data), f.Path)
	}
	if b.err = b.root.RemoveAll(place); b.err != nil {
		return
	}
	if b.err = b.root.Rename(beside, place); b.err == nil {
		b.add(place, "dir", p.Target, size, hex.EncodeToString(sums.Sum(nil)))
	}
}

// ours refuses to replace a folder that no build has made.
func (b *builder) ours(place string) error {
	info, err := b.root.Stat(place)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	sub, err := fs.Sub(b.root.FS(), place)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err := plugin.FindManifest(sub); err == nil {
			return nil
		}
	}
	return &occupiedError{filepath.Join(b.result.Out, filepath.FromSlash(place))}
}

type occupiedError struct{ path string }

func (e *occupiedError) Error() string { return e.path + ": exists, and is no plugin" }

// Hint says what to do instead.
func (e *occupiedError) Hint() string { return "remove it, or choose another folder with --out" }

// write puts the file beside and renames it, so that nobody reads half of it.
func (b *builder) write(name string, data []byte, mode fs.FileMode) error {
	temp := name + ".tmp"
	f, err := b.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = b.root.Chmod(temp, mode) // whatever the umask was
	}
	if err != nil {
		return err
	}
	return b.root.Rename(temp, name)
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// mode is one of two: a bundle must not depend on the umask of the machine that built it.
func mode(f plugin.File) fs.FileMode {
	if f.Mode&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

// inventory writes the list of what is packed.
func (b *builder) inventory(m plugin.Manifest, packs []Pack) {
	data, err := Inventory(m, packs, b.time)
	if b.err == nil {
		b.err = err
	}
	b.file(b.result.Name+"_"+b.result.Version+".cdx.json", "sbom", Any, data)
}

// checksums writes SHA256SUMS for the archives and the inventory, in the form of sha256sum.
func (b *builder) checksums() {
	var lines []string
	for _, a := range b.result.Artifacts {
		if a.Kind != "dir" {
			lines = append(lines, a.SHA256+"  "+filepath.Base(a.Path)+"\n")
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	b.file("SHA256SUMS", "checksums", Any, []byte(strings.Join(lines, "")))
}

func (b *builder) file(name, kind, target string, data []byte) {
	if b.err != nil {
		return
	}
	if b.err = b.root.MkdirAll(path.Dir(name), 0o755); b.err != nil {
		return
	}
	if b.err = b.write(name, data, 0o644); b.err == nil {
		b.add(name, kind, target, int64(len(data)), sum(data))
	}
}

// Signature describes a file that a signing program has left beside the checksums.
func Signature(file string) (Artifact, error) {
	data, err := os.ReadFile(file)
	return Artifact{Path: file, Kind: "signature", Target: Any, Size: int64(len(data)), SHA256: sum(data)}, err
}
