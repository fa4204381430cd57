package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Entry is a plugin's line in a marketplace. Both clients take these fields with these types.
type Entry = plugin.MarketplaceEntry

func entryOf(m plugin.Manifest) Entry {
	name := safe(m.Name)
	e := Entry{Name: name, Source: "./plugins/" + name, Description: m.Description, Version: m.Version, Keywords: m.Keywords}
	if m.Author.Name != "" {
		e.Author = &plugin.Person{Name: m.Author.Name}
	}
	return e
}

// marketplaces writes the catalogue in both places where a client looks, so that the folder can be added as it is. One
// text satisfies both clients.
func (b *builder) marketplaces(m plugin.Manifest) {
	owner := plugin.Person{Name: m.Author.Name}
	if owner.Name == "" {
		owner.Name = b.result.Name
	}
	description := m.Description
	if description == "" {
		description = b.result.Name
	}
	catalogue := plugin.Marketplace{
		Name: marketplaceName(b.result.Name), Owner: owner, Metadata: &plugin.MarketplaceMeta{Description: description, Version: m.Version},
		Plugins: []Entry{b.result.Entry},
	}
	data, err := catalogue.Encode()
	if b.err == nil {
		b.err = err
	}
	b.file(".github/plugin/marketplace.json", "marketplace", Any, data)
	b.file(".claude-plugin/marketplace.json", "marketplace", Any, data)
}

// marketplaceName is the plugin's with an ending, within the 64 characters that the client takes.
func marketplaceName(plugin string) string {
	const ending = "-bundle"
	return strings.TrimRight(plugin[:min(len(plugin), 64-len(ending))], "-.") + ending
}

// AddTo puts a built plugin into the marketplace in dir: its files where the entry points, and the entry into every
// catalogue there. What else the catalogues say stays byte for byte.
func AddTo(dir string, r Result) ([]Artifact, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, err := catalogues(root.FS(), dir)
	if err != nil {
		return nil, err
	}
	b := builder{root: root, result: Result{Name: r.Name, Version: r.Version, Out: dir}}
	edits := make([][]byte, len(files))
	source := ""
	for i, f := range files {
		if edits[i], source, err = addEntry(f.Data, r.Entry); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, filepath.FromSlash(f.Path)), err)
		}
	}
	if source != "" {
		tree, err := plugin.Read(os.DirFS(filepath.Join(r.Out, "plugins", r.Name)))
		if err != nil {
			return nil, err
		}
		b.folderAt(source, Pack{Target: Any, Tree: tree})
	}
	for i, f := range files {
		b.file(f.Path, "marketplace", Any, edits[i])
	}
	return b.result.Artifacts, b.err
}

// catalogues reads the marketplace files of a folder; one that is a link to another is edited once.
func catalogues(fsys fs.FS, dir string) ([]plugin.File, error) {
	var files []plugin.File
	for _, p := range plugin.MarketplacePaths {
		info, err := fs.Lstat(fsys, p)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, err
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return nil, err
		}
		files = append(files, plugin.File{Path: p, Data: data})
	}
	if len(files) == 0 {
		return nil, &noCatalogueError{dir}
	}
	return files, nil
}

type noCatalogueError struct{ dir string }

func (e *noCatalogueError) Error() string {
	return e.dir + ": no marketplace.json here: tried " + strings.Join(plugin.MarketplacePaths, ", ")
}

// Hint says how to get one.
func (e *noCatalogueError) Hint() string {
	return "name the folder of a marketplace, or leave out --into: the folder of --out is a marketplace of its own"
}

// addEntry adds the entry, or brings the one of that name up to date. source is the folder that it names, as a path in
// the marketplace; empty where the plugin lies in another repository.
func addEntry(data []byte, e Entry) (out []byte, source string, err error) {
	root, err := plugin.ParseJSON(data)
	if err != nil {
		return nil, "", err
	}
	list := root.Get("plugins")
	if !list.Is(plugin.List) {
		return nil, "", errors.New(`"plugins" is no list`)
	}
	base := root.Get("metadata").Get("pluginRoot").Str()
	i := slices.IndexFunc(list.Items, func(v *plugin.Value) bool { return v.Get("name").Str() == e.Name })
	if i < 0 {
		if base != "" {
			e.Source = "./" + e.Name
		}
		out, err = addItem(data, list, e)
		return out, path.Join(base, e.Source), err
	}
	if at := list.Items[i].Get("source"); at.Is(plugin.String) {
		if source = path.Join(base, at.Text); !filepath.IsLocal(filepath.FromSlash(source)) {
			return nil, "", fmt.Errorf("line %d: the source of %s lies outside the marketplace", at.Line, e.Name)
		}
	}
	out, err = updateEntry(data, i, e)
	return out, source, err
}

// updateEntry sets what the build knows, and nothing that is empty; each edit moves what stands behind it.
func updateEntry(data []byte, i int, e Entry) ([]byte, error) {
	fields := []struct {
		name string
		now  any
		set  bool
	}{{"version", e.Version, true}, {"description", e.Description, e.Description != ""}, {"keywords", e.Keywords, len(e.Keywords) > 0}}
	for _, f := range fields {
		root, err := plugin.ParseJSON(data)
		if err != nil {
			return nil, err
		}
		entry := root.Get("plugins").Items[i]
		value, err := json.Marshal(f.now)
		if err != nil {
			return nil, err
		}
		if old := entry.Get(f.name); f.set && (old == nil || !sameValue(data, old, value)) {
			data = setField(data, entry, f.name, value)
		}
	}
	return data, nil
}

// sameValue tells whether the text says the value already, however it is laid out.
func sameValue(data []byte, v *plugin.Value, value []byte) bool {
	from, to := extent(data, v)
	var old any
	if json.Unmarshal(data[from:to], &old) != nil {
		return false
	}
	again, err := json.Marshal(old)
	return err == nil && string(again) == string(value)
}
