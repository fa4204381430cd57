// Package bundle packs a plugin for others: one folder that is a local marketplace with the plugin in it, archives for
// each target, and their checksums. The same input gives the same bytes.
//
// It does not render or check the plugin, does not compile programs, and uploads nothing.
package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Any is the target of a plugin without programs for one system.
const Any = "any"

// Target is one system to pack for.
type Target struct {
	Name  string        // "<os>/<arch>" in Go's words, or Any
	Files []plugin.File // what only this target has: its programs
}

// Options say where and for which systems to pack.
type Options struct {
	Out     string   // made when absent; what an earlier build left is replaced, everything else is kept
	Name    string   // for a manifest without a name
	Version string   // written into the manifests; empty: theirs
	Targets []Target // the first one's files go into the plugin's folder; none: Any
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

// Result says what was built. Paths are below Out, as Options gave it.
type Result struct {
	Name      string     `json:"name"`
	Version   string     `json:"version"`
	Out       string     `json:"out"`
	Artifacts []Artifact `json:"artifacts"`
}

// Build packs the plugin in tree.
func Build(tree plugin.Tree, o Options) (Result, error) {
	tree, m, err := prepare(tree, o)
	if err != nil {
		return Result{}, err
	}
	targets := o.Targets
	if len(targets) == 0 {
		targets = []Target{{Name: Any}}
	}
	r := Result{Name: safe(m.Name), Version: safe(m.Version), Out: o.Out}
	packed := make([]plugin.Tree, len(targets))
	for i, t := range targets {
		if packed[i], err = merge(tree, t.Files); err != nil {
			return Result{}, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return Result{}, err
	}
	root, err := os.OpenRoot(o.Out)
	if err != nil {
		return Result{}, err
	}
	defer root.Close()
	b := builder{root: root, result: r}
	b.folder(packed[0], targets[0].Name)
	for i, t := range targets {
		b.archives(packed[i], t.Name)
	}
	b.checksums()
	b.marketplaces(m)
	return b.result, b.err
}

// prepare sorts and checks the tree, and reads the manifest, with another version when one is given.
func prepare(tree plugin.Tree, o Options) (plugin.Tree, plugin.Manifest, error) {
	tree = slices.Clone(tree)
	tree.Sort()
	if err := tree.Check(); err != nil {
		return nil, plugin.Manifest{}, err
	}
	if o.Version != "" {
		for i, f := range tree {
			if !slices.Contains(plugin.ManifestPaths, f.Path) {
				continue
			}
			data, err := setVersion(f.Data, o.Version)
			if err != nil {
				return nil, plugin.Manifest{}, fmt.Errorf("%s: %w", f.Path, err)
			}
			tree[i].Data = data
		}
	}
	p, err := plugin.Parse(tree)
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
	if m.Version == "" {
		m.Version = "0.0.0"
	}
	return tree, m, nil
}

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9.+-]+`)

// safe is a text that can stand in a file name of every system and in a marketplace.
func safe(s string) string {
	return strings.Trim(unsafeName.ReplaceAllString(s, "-"), "-.")
}

// setVersion changes one text and leaves every other byte of the manifest as it is.
func setVersion(data []byte, version string) ([]byte, error) {
	root, err := plugin.ParseJSON(data)
	if err != nil {
		return nil, err
	}
	if !root.Is(plugin.Map) {
		return data, nil
	}
	quoted, err := json.Marshal(version)
	if err != nil {
		return nil, err
	}
	v := root.Get("version")
	if v == nil {
		at := bytes.IndexByte(data, '{') + 1
		field := slices.Concat([]byte(`"version": `), quoted)
		if len(root.Fields) > 0 {
			field = append(field, ',')
		}
		return slices.Concat(data[:at], field, data[at:]), nil
	}
	at := offset(data, v.Line, v.Column)
	dec := json.NewDecoder(bytes.NewReader(data[at:]))
	var old json.RawMessage
	if err := dec.Decode(&old); err != nil {
		return nil, err
	}
	return slices.Concat(data[:at], quoted, data[at+int(dec.InputOffset()):]), nil
}

// offset is the byte where a line and column of plugin.Value stand.
func offset(data []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(data[at:], '\n') + 1
	}
	for i := range string(data[at:]) {
		if column--; column == 0 {
			return at + i
		}
	}
	return len(data)
}

func merge(tree plugin.Tree, more []plugin.File) (plugin.Tree, error) {
	out := slices.Concat(tree, plugin.Tree(more))
	out.Sort()
	return out, out.Check()
}

// builder writes below one folder; the first error ends it.
type builder struct {
	root   *os.Root
	result Result
	err    error
}

func (b *builder) add(name, kind, target string, size int64, sum string) {
	b.result.Artifacts = append(b.result.Artifacts, Artifact{
		Path: filepath.Join(b.result.Out, filepath.FromSlash(name)), Kind: kind, Target: target, Size: size, SHA256: sum,
	})
}

// folder writes plugins/<name>: beside first, then in the place of what an earlier build left there.
func (b *builder) folder(tree plugin.Tree, target string) {
	place := path.Join("plugins", b.result.Name)
	beside := path.Join("plugins", "."+b.result.Name+".new")
	if b.err = b.ours(place); b.err != nil {
		return
	}
	if b.err = b.root.RemoveAll(beside); b.err != nil {
		return
	}
	sums := sha256.New()
	var size int64
	for _, f := range tree {
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
		b.add(place, "dir", target, size, hex.EncodeToString(sums.Sum(nil)))
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

// checksums writes SHA256SUMS for the archives, in the form of sha256sum.
func (b *builder) checksums() {
	if b.err != nil {
		return
	}
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

// marketplaces writes the catalogue in both places where a client looks, so that the folder can be added as it is.
func (b *builder) marketplaces(m plugin.Manifest) {
	owner := plugin.Person{Name: m.Author.Name}
	if owner.Name == "" {
		owner.Name = b.result.Name
	}
	catalogue := plugin.Marketplace{
		Name: b.result.Name + "-bundle", Owner: owner,
		Plugins: []plugin.MarketplaceEntry{{
			Name: b.result.Name, Source: "./plugins/" + b.result.Name, Description: m.Description, Version: m.Version, Keywords: m.Keywords,
		}},
	}
	data, err := catalogue.Encode()
	if b.err == nil {
		b.err = err
	}
	b.file(".github/plugin/marketplace.json", "marketplace", Any, data)
	b.file(".claude-plugin/marketplace.json", "marketplace", Any, data)
}
