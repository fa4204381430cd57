package bundle

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Inventory lists what is packed as CycloneDX 1.6: every file with its hash, and for each Go program the modules that
// were linked into it, as the program itself says. The same plugin gives the same bytes: the serial number is made of
// the content, the time is the one of the archives.
func Inventory(m plugin.Manifest, packs []Pack, at time.Time) ([]byte, error) {
	self := cdx.Component{
		BOMRef: "plugin", Type: cdx.ComponentTypeApplication, Name: m.Name, Version: m.Version, Description: m.Description,
		Licenses: licence(m.License),
	}
	if m.Author.Name != "" {
		self.Authors = &[]cdx.OrganizationalContact{{Name: m.Author.Name, Email: m.Author.Email}}
	}
	components := map[string]cdx.Component{}
	needs := map[string][]string{}
	for _, p := range packs {
		for _, f := range p.Tree {
			file := fileComponent(f)
			if _, seen := components[file.BOMRef]; seen {
				continue
			}
			components[file.BOMRef] = file
			needs["plugin"] = append(needs["plugin"], file.BOMRef)
			for _, mod := range modules(f.Data) {
				components[mod.BOMRef] = mod
				needs[file.BOMRef] = append(needs[file.BOMRef], mod.BOMRef)
			}
		}
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: at.UTC().Format(time.RFC3339), Component: &self,
		Tools: &cdx.ToolsChoice{Components: &[]cdx.Component{{Type: cdx.ComponentTypeApplication, Name: "copilot-mem build"}}},
	}
	bom.Components, bom.Dependencies = sortedComponents(components), sortedNeeds(needs)
	return encodeBOM(bom)
}

// spdx has the form of an expression of https://spdx.dev; whether its names are known there, nobody checks here.
var spdx = regexp.MustCompile(`^\(?[A-Za-z0-9.+-]+\)?( (OR|AND|WITH) \(?[A-Za-z0-9.+-]+\)?)*$`)

func licence(text string) *cdx.Licenses {
	switch {
	case text == "":
		return nil
	case spdx.MatchString(text):
		return &cdx.Licenses{{Expression: text}}
	}
	return &cdx.Licenses{{License: &cdx.License{Name: text}}}
}

func fileComponent(f plugin.File) cdx.Component {
	hash := sum(f.Data)
	return cdx.Component{
		BOMRef: "file:" + f.Path + "#" + hash[:12], Type: cdx.ComponentTypeFile, Name: f.Path,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hash}},
	}
}

// modules are those that a Go program was built of, the program's own module and Go itself first; none for other files.
func modules(data []byte) []cdx.Component {
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return linked(info)
}

func linked(info *debug.BuildInfo) []cdx.Component {
	out := []cdx.Component{goModule("stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, d := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if d.Replace != nil {
			d = d.Replace
		}
		if d.Path != "" {
			out = append(out, goModule(d.Path, d.Version))
		}
	}
	return out
}

// goModule names a module as https://github.com/package-url/purl-spec wants it; "(devel)" is no version.
func goModule(name, version string) cdx.Component {
	purl := "pkg:golang/" + name
	if version == "(devel)" {
		version = ""
	}
	if version != "" {
		purl += "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B")
	}
	return cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl}
}

func sortedComponents(all map[string]cdx.Component) *[]cdx.Component {
	out := []cdx.Component{}
	for _, c := range all {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	return &out
}

func sortedNeeds(all map[string][]string) *[]cdx.Dependency {
	out := []cdx.Dependency{}
	for ref, on := range all {
		slices.Sort(on)
		on = slices.Compact(on)
		out = append(out, cdx.Dependency{Ref: ref, Dependencies: &on})
	}
	slices.SortFunc(out, func(a, b cdx.Dependency) int { return strings.Compare(a.Ref, b.Ref) })
	return &out
}

// encodeBOM writes the inventory with a serial number that is a hash of all the rest, in the form of a UUID.
func encodeBOM(bom *cdx.BOM) ([]byte, error) {
	plain, err := json.Marshal(bom)
	if err != nil {
		return nil, err
	}
	h := sha256.Sum256(plain)
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // version 8: made by our own rule (RFC 9562)
	bom.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
	var out bytes.Buffer
	err = cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cdx.SpecVersion1_6)
	return out.Bytes(), err
}
