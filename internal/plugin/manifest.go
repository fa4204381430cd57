package plugin

import (
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"

	"github.com/Masterminds/semver/v3"
)

// ManifestPaths are the places of a manifest, in the order in which the client looks.
var ManifestPaths = []string{".plugin/plugin.json", "plugin.json", ".github/plugin/plugin.json", ".claude-plugin/plugin.json"}

// MarketplacePaths are the places of a catalogue, in the order in which the client looks.
var MarketplacePaths = []string{"marketplace.json", ".plugin/marketplace.json", ".github/plugin/marketplace.json",
	".claude-plugin/marketplace.json"}

// Schema is the `$schema` of the Agent Plugins version that we write.
const Schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"

var specSchema = regexp.MustCompile(`^https://agent-plugins\.org/schemas/([^/]+)/plugin\.schema\.json$`)

// SpecVersion returns the Agent Plugins version that a `$schema` names, "" for every other text: then the client
// loads the plugin by its older rules.
func SpecVersion(schema string) string {
	if m := specSchema.FindStringSubmatch(schema); m != nil {
		return m[1]
	}
	return ""
}

// Manifest is a plugin.json. Fields that we do not know stay in Root.
type Manifest struct {
	Path        string
	Schema      string
	Name        string
	Version     string
	Description string
	Author      Person
	License     string
	Homepage    string
	Repository  string
	Keywords    []string
	Root        *Value
}

// Person is an author or owner.
type Person struct {
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
	URL   string `json:"url,omitempty"`
}

// ParseManifest reads what it can: a field of a wrong type stays empty, as it does for the client. Only a file that
// is no JSON is an error.
func ParseManifest(data []byte) (Manifest, error) {
	root, err := ParseJSON(data)
	if err != nil {
		return Manifest{}, err
	}
	m := Manifest{
		Schema: root.Get("$schema").Str(), Name: root.Get("name").Str(), Version: root.Get("version").Str(),
		Description: root.Get("description").Str(), License: root.Get("license").Str(),
		Homepage: root.Get("homepage").Str(), Repository: root.Get("repository").Str(), Root: root,
	}
	switch a := root.Get("author"); {
	case a.Is(Map):
		m.Author = Person{a.Get("name").Str(), a.Get("email").Str(), a.Get("url").Str()}
	case a.Is(String):
		m.Author.Name = a.Text
	}
	if k := root.Get("keywords"); k.Is(List) {
		for _, w := range k.Items {
			if w.Is(String) {
				m.Keywords = append(m.Keywords, w.Text)
			}
		}
	}
	return m, nil
}

// Spec reports whether the client loads this plugin by Agent Plugins rules.
func (m Manifest) Spec() bool { return SpecVersion(m.Schema) != "" }

// CheckVersion tells whether the text is a semantic version.
func CheckVersion(version string) error {
	_, err := semver.StrictNewVersion(version)
	return err
}

// OlderVersion reports whether version a comes before b. What is no semantic version comes before nothing.
func OlderVersion(a, b string) bool {
	x, errA := semver.NewVersion(a)
	y, errB := semver.NewVersion(b)
	return errA == nil && errB == nil && x.LessThan(y)
}

// ErrNoManifest is a folder without a manifest.
var ErrNoManifest = errors.New("no plugin.json found: tried .plugin/plugin.json, plugin.json, " +
	".github/plugin/plugin.json, .claude-plugin/plugin.json")

// FindManifest returns the path of the manifest that the client reads. A root plugin.json with an Agent Plugins
// schema wins over the others; a broken one, or a folder of that name, is found all the same.
func FindManifest(fsys fs.FS) (string, error) {
	if data, err := fs.ReadFile(fsys, "plugin.json"); err == nil {
		if m, err := ParseManifest(data); err == nil && m.Spec() {
			return "plugin.json", nil
		}
	}
	for _, p := range ManifestPaths {
		if _, err := fs.Stat(fsys, p); err == nil {
			return p, nil
		}
	}
	return "", ErrNoManifest
}

// Marketplace is a catalogue of plugins, as one text that Copilot CLI and Claude Code both take.
type Marketplace struct {
	Name     string             `json:"name"`
	Owner    Person             `json:"owner"`
	Metadata *MarketplaceMeta   `json:"metadata,omitempty"`
	Plugins  []MarketplaceEntry `json:"plugins"`
}

// MarketplaceMeta describes the catalogue.
type MarketplaceMeta struct {
	Description string `json:"description,omitempty"`
	Version     string `json:"version,omitempty"`
}

// MarketplaceEntry is one plugin of a catalogue. Source is a path inside the marketplace, beginning with `./`.
type MarketplaceEntry struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"`
	Description string   `json:"description,omitempty"`
	Version     string   `json:"version,omitempty"`
	Author      *Person  `json:"author,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
}

// Encode returns the marketplace.json.
func (m Marketplace) Encode() ([]byte, error) {
	out, err := json.MarshalIndent(m, "", "  ")
	return append(out, '\n'), err
}
