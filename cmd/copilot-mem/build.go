package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/bundle"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
	"github.com/copilot-mem/copilot-mem/internal/render"
	"github.com/copilot-mem/copilot-mem/internal/validate"
)

type buildFlags struct {
	out, version, binDir string
	targets              []string
	json                 bool
}

func newBuildCmd(e *env) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build [SRC]",
		Short: "Pack a plugin: its folder as a local marketplace, archives and checksums",
		Long: "Pack this program's own plugin, or the plugin in SRC as it is.\n\n" +
			"The own plugin carries the programs of each target. Those of this system lie beside this program; those of another\n" +
			"one are taken from --bin-dir, where they lie as <os>_<arch>/copilot-mem-hook.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := build(e, args, f)
			if err != nil {
				return err
			}
			return printBuild(e, r, f.json)
		},
	}
	cmd.Flags().StringVar(&f.out, "out", "dist", "folder to build in")
	cmd.Flags().StringArrayVar(&f.targets, "target", nil, "os/arch to pack for; may be repeated (default: this system)")
	cmd.Flags().StringVar(&f.version, "version", "", "version to write into the manifests (default: theirs)")
	cmd.Flags().StringVar(&f.binDir, "bin-dir", "", "folder with the programs of other systems, as <os>_<arch>/copilot-mem-hook")
	cmd.Flags().BoolVar(&f.json, "json", false, "one JSON document")
	return cmd
}

func build(e *env, args []string, f buildFlags) (bundle.Result, error) {
	if f.version != "" && plugin.CheckVersion(f.version) != nil {
		return bundle.Result{}, &usageError{fmt.Errorf("--version %s: not a semantic version", f.version), "write three numbers, such as 1.0.0"}
	}
	o := bundle.Options{Out: e.absolute(f.out), Version: f.version}
	if len(args) == 1 {
		return buildFolder(e, args[0], f, o)
	}
	return buildOurs(e, f, o)
}

func (e *env) absolute(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(e.Dir, p)
}

// buildFolder packs somebody's plugin as it lies there; it brings its own programs.
func buildFolder(e *env, src string, f buildFlags, o bundle.Options) (bundle.Result, error) {
	if len(f.targets) > 0 || f.binDir != "" {
		return bundle.Result{}, &usageError{errors.New("--target and --bin-dir choose the programs of our own plugin"), "leave them out, or leave out SRC"}
	}
	dir := e.absolute(src)
	root, err := os.OpenRoot(dir) // a link out of the plugin must not be packed
	if err != nil {
		return bundle.Result{}, err
	}
	defer root.Close()
	tree, err := plugin.Read(root.FS())
	if err != nil {
		return bundle.Result{}, fmt.Errorf("%s: %w", src, err)
	}
	tree = without(tree, dir, o.Out)
	o.Name = filepath.Base(dir)
	if err := e.checkPlugin(tree, o.Name, src); err != nil {
		return bundle.Result{}, err
	}
	return bundle.Build(tree, o)
}

// without leaves out what earlier builds put into a folder inside the plugin.
func without(tree plugin.Tree, dir, out string) plugin.Tree {
	rel, err := filepath.Rel(dir, out)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return tree
	}
	prefix := filepath.ToSlash(rel) + "/"
	return slices.DeleteFunc(tree, func(f plugin.File) bool { return strings.HasPrefix(f.Path, prefix) })
}

// checkPlugin refuses to pack what the client would refuse to load.
func (e *env) checkPlugin(tree plugin.Tree, name, shown string) error {
	findings, summary := validate.Plugin(tree.FS(), name, shown, validate.Options{})
	if err := writeFindings(e.Stderr, findings); err != nil {
		return err
	}
	if summary.Errors > 0 {
		return &invalidPluginError{shown, summary.Errors}
	}
	return nil
}

type invalidPluginError struct {
	path   string
	errors int
}

func (i *invalidPluginError) Error() string {
	return fmt.Sprintf("%s: the client would refuse this plugin (%s)", i.path, count(i.errors, "error"))
}
func (i *invalidPluginError) Hint() string { return "correct what is listed above" }

const (
	hookProgram = "copilot-mem-hook"
	mainProgram = "copilot-mem"
)

var targetName = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9]+$`)

// buildOurs renders, checks and packs this program's own plugin.
func buildOurs(e *env, f buildFlags, o bundle.Options) (bundle.Result, error) {
	names := []string{hostTarget()}
	if len(f.targets) > 0 {
		names = slices.Compact(slices.Sorted(slices.Values(f.targets)))
		// The plugin's folder gets the first target's programs: this system's, where it is among them.
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	}
	r := render.Options{Scope: render.Bundle, Version: f.version, Recall: true, Full: "./bin/" + mainProgram}
	for _, name := range names {
		if !targetName.MatchString(name) {
			return bundle.Result{}, &usageError{fmt.Errorf("--target %s: not os/arch", name), "write os/arch in Go's words, such as linux/arm64"}
		}
		files, err := programs(e, name, f.binDir)
		if err != nil {
			return bundle.Result{}, err
		}
		if !slices.ContainsFunc(files, func(p plugin.File) bool { return strings.Contains(p.Path, hookProgram) }) {
			if len(names) > 1 {
				return bundle.Result{}, &noProgramError{name, "beside this program"}
			}
			// The hooks then start this program, which captures too, only slower.
			r.HookArgs = []string{"capture"}
			r.Program = &render.Program{Name: mainProgram, Target: strings.ReplaceAll(name, "/", "-"), Data: files[0].Data}
			files = nil
		} else if !slices.ContainsFunc(files, func(p plugin.File) bool {
			return strings.HasPrefix(path.Base(p.Path), mainProgram+".") || path.Base(p.Path) == mainProgram
		}) {
			r.Full = "" // a server that is not there would only be complained of
		}
		o.Targets = append(o.Targets, bundle.Target{Name: name, Files: files})
	}
	tree, err := render.Plugin(copilotmem.Files, r)
	if err != nil {
		return bundle.Result{}, err
	}
	if err := e.checkPlugin(tree, render.PluginName, "plugin"); err != nil {
		return bundle.Result{}, err
	}
	o.Version = "" // render has written it
	return bundle.Build(tree, o)
}

func rank(target string) int {
	if target == hostTarget() {
		return 0
	}
	return 1
}

func hostTarget() string { return runtime.GOOS + "/" + runtime.GOARCH }

// programs returns what goes into bin/ for one target: the hook program, and the main program where it is at hand.
func programs(e *env, target, binDir string) ([]plugin.File, error) {
	ending := ""
	if strings.HasPrefix(target, "windows/") {
		ending = ".exe"
	}
	if binDir != "" {
		dir := filepath.Join(e.absolute(binDir), strings.ReplaceAll(target, "/", "_"))
		files, err := readPrograms(dir, ending)
		if err != nil || slices.ContainsFunc(files, func(p plugin.File) bool { return p.Path == "bin/"+hookProgram+ending }) {
			return files, err
		}
		if target != hostTarget() {
			return nil, &noProgramError{target, "in " + dir}
		}
	}
	if target != hostTarget() {
		return nil, &noProgramError{target, "at hand"}
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	main, err := os.ReadFile(exe)
	if err != nil {
		return nil, err
	}
	files := []plugin.File{{Path: "bin/" + mainProgram + ending, Data: main, Mode: 0o755}}
	hook, err := os.ReadFile(filepath.Join(filepath.Dir(exe), hookProgram+ending))
	switch {
	case err == nil:
		files = append(files, plugin.File{Path: "bin/" + hookProgram + ending, Data: hook, Mode: 0o755})
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return files, nil
}

func readPrograms(dir, ending string) ([]plugin.File, error) {
	var files []plugin.File
	for _, name := range []string{mainProgram + ending, hookProgram + ending} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, plugin.File{Path: "bin/" + name, Data: data, Mode: 0o755})
	}
	return files, nil
}

type noProgramError struct{ target, where string }

func (n *noProgramError) Error() string {
	return fmt.Sprintf("%s: no %s %s", n.target, hookProgram, n.where)
}

func (n *noProgramError) Hint() string {
	goos, arch, _ := strings.Cut(n.target, "/")
	ending := ""
	if goos == "windows" {
		ending = ".exe"
	}
	return fmt.Sprintf("run `CGO_ENABLED=0 GOOS=%s GOARCH=%s go build -trimpath -o bin/%s_%s/%s%s ./cmd/%s`, then build with `--bin-dir bin`",
		goos, arch, goos, arch, hookProgram, ending, hookProgram)
}

func printBuild(e *env, r bundle.Result, asJSON bool) error {
	if asJSON {
		return e.printJSON(struct {
			SchemaVersion int `json:"schemaVersion"`
			bundle.Result
		}{1, r})
	}
	for _, a := range r.Artifacts {
		shown, err := filepath.Rel(e.Dir, a.Path)
		if err != nil || !filepath.IsLocal(shown) {
			shown = a.Path
		}
		if _, err := fmt.Fprintf(e.Stdout, "%-12s %10d  %s\n", a.Kind, a.Size, shown); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(e.Stdout, "built %s %s\n", r.Name, r.Version)
	return err
}
