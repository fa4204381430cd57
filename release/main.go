// Command release packs what people download: both programs of a system with their completions and texts in one archive,
// and the checksums of the whole folder. `make release` runs it after `copilot-mem build` has left the plugin there.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/bundle"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

func main() {
	programs := flag.String("programs", "bin/release", "folder with <os>-<arch>/copilot-mem and copilot-mem-hook")
	self := flag.String("self", "", "a copilot-mem that runs here, for the completions")
	out := flag.String("out", "dist", "folder for the archives, and for SHA256SUMS of all that is in it")
	flag.Parse()
	if err := run(*programs, *self, *out); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// texts are the files of the repository that go into every archive.
var texts = []string{"LICENSE", "README.md", "CHANGELOG.md"}

func run(programs, self, out string) error {
	data, err := copilotmem.Files.ReadFile("plugin.json")
	if err != nil {
		return err
	}
	m, err := plugin.ParseManifest(data)
	if err != nil {
		return err
	}
	common, err := shared(self)
	if err != nil {
		return err
	}
	systems, err := os.ReadDir(programs)
	if err != nil {
		return err
	}
	var packs []bundle.Pack
	for _, d := range systems {
		tree, err := system(filepath.Join(programs, d.Name()))
		if errors.Is(err, errIncomplete) {
			continue // hooks alone: for the plugin, not for downloading
		}
		if err != nil {
			return err
		}
		name := m.Name + "-cli_" + m.Version + "_" + strings.ReplaceAll(d.Name(), "-", "_")
		tree = append(tree, common...)
		tree.Sort()
		if err := pack(out, name, tree, strings.HasPrefix(d.Name(), "windows-")); err != nil {
			return err
		}
		packs = append(packs, bundle.Pack{Target: d.Name(), Tree: tree})
	}
	if len(packs) == 0 {
		return fmt.Errorf("%s: no folder with both programs", programs)
	}
	list, err := bundle.Inventory(m, packs, bundle.Epoch)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, m.Name+"-cli_"+m.Version+".cdx.json"), list, 0o644); err != nil {
		return err
	}
	return checksums(out)
}

// shared are the files that are the same on every system.
func shared(self string) (plugin.Tree, error) {
	var tree plugin.Tree
	for _, name := range texts {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		tree = append(tree, plugin.File{Path: name, Data: data})
	}
	for shell, file := range map[string]string{
		"bash": "copilot-mem.bash", "zsh": "_copilot-mem", "fish": "copilot-mem.fish", "powershell": "copilot-mem.ps1",
	} {
		data, err := exec.Command(self, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("%s completion %s: %w", self, shell, err)
		}
		tree = append(tree, plugin.File{Path: "completions/" + file, Data: data})
	}
	return tree, nil
}

var errIncomplete = errors.New("not both programs")

// system reads both programs: `init` looks for the small one beside the other.
func system(dir string) (plugin.Tree, error) {
	var tree plugin.Tree
	for _, name := range []string{"copilot-mem", "copilot-mem-hook"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			name += ".exe"
			data, err = os.ReadFile(filepath.Join(dir, name))
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil, errIncomplete
		}
		if err != nil {
			return nil, err
		}
		tree = append(tree, plugin.File{Path: name, Data: data, Mode: 0o755})
	}
	return tree, nil
}

// pack writes one archive, in the form that its system unpacks by itself.
func pack(out, name string, tree plugin.Tree, windows bool) error {
	archive, ending := bundle.TarGz, ".tar.gz"
	if windows {
		archive, ending = bundle.Zip, ".zip"
	}
	data, err := archive(tree, name, bundle.Epoch)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, name+ending), data, 0o644)
}

// checksums covers every file of the folder that people download, in place of those that the plugin's build wrote.
func checksums(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	var lines []string
	for _, d := range entries {
		if !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "SHA256SUMS") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(out, d.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), d.Name()))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}
