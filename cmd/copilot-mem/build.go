package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	copilotmem "github.com/copilot-mem/copilot-mem"
	"github.com/copilot-mem/copilot-mem/internal/bundle"
	"github.com/copilot-mem/copilot-mem/internal/plugin"
	"github.com/copilot-mem/copilot-mem/internal/render"
	"github.com/copilot-mem/copilot-mem/internal/validate"
)

type buildFlags struct {
	out, version, binaries, into string
	sign, signKey, maxSize       string
	targets                      []string
	json                         bool
}

func newBuildCmd(e *env) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build [SRC]",
		Short: "Pack a plugin for every client: folder, marketplace, archives, inventory and checksums",
		Long: "Pack this program's own plugin, or the one in SRC, in the one layout that Copilot CLI, Agent Plugins 1.x and Claude Code load.\n\n" +
			"What version control ignores is left out, links inside the plugin become files, a plugin that the client would refuse is not\n" +
			"packed (exit 3). The same input gives the same bytes; SOURCE_DATE_EPOCH sets the time in the archives.\n\n" +
			"Programs come from --binaries DIR, where they lie in <os>-<arch>/. With one --target they go into bin/; with several, each\n" +
			"target gets its own archives, and one bundle has them all with a launcher. Our own programs for this system lie beside this one.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := newPacking(e, args, f)
			if err != nil {
				return err
			}
			if err := p.run(); err != nil {
				return err
			}
			p.hintSource()
			return p.print()
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "dist", "folder to build in")
	flags.StringArrayVar(&f.targets, "target", nil, "os/arch to pack for, or all; may be repeated (default: this system for our own plugin, any for SRC)")
	flags.StringVar(&f.version, "version", "", "version to write into the manifests (default: theirs)")
	flags.StringVar(&f.binaries, "binaries", "", "folder with programs as <os>-<arch>/NAME")
	flags.StringVar(&f.into, "into", "", "folder of a marketplace that gets the plugin and its entry")
	flags.StringVar(&f.sign, "sign", "", "sign SHA256SUMS with cosign or minisign (default: the first one on PATH)")
	flags.Lookup("sign").NoOptDefVal = "auto"
	flags.StringVar(&f.signKey, "sign-key", "", "the key that the signing program shall use")
	flags.StringVar(&f.maxSize, "max-size", "50MB", "warn when the plugin's folder is larger; 0 never")
	flags.BoolVar(&f.json, "json", false, "one JSON document")
	return cmd
}

// packing is one build on its way through the steps.
type packing struct {
	e        *env
	flags    buildFlags
	dir      string // the plugin's folder, absolute; empty: our own plugin
	shown    string // how findings call it
	name     string // for a manifest without a name
	limit    int64  // of the folder, in bytes; 0: none
	targets  []string
	signer   signer
	tree     plugin.Tree
	version  string
	packs    []bundle.Pack
	result   bundle.Result
	warnings []string
}

func newPacking(e *env, args []string, f buildFlags) (*packing, error) {
	p := &packing{e: e, flags: f, shown: "plugin", name: render.PluginName}
	if len(args) == 1 {
		p.dir, p.shown = e.absolute(args[0]), args[0]
		p.name = filepath.Base(p.dir)
	}
	if f.version != "" && plugin.CheckVersion(f.version) != nil {
		return nil, &usageError{fmt.Errorf("--version %s: not a semantic version", f.version), "write three numbers, such as 1.0.0"}
	}
	if p.dir != "" && p.dir == e.absolute(f.out) {
		return nil, &usageError{fmt.Errorf("--out %s: the plugin itself lies there", f.out), "name another folder, such as dist: one inside the plugin is not packed"}
	}
	var err error
	if p.limit, err = parseSize(f.maxSize); err != nil {
		return nil, &usageError{fmt.Errorf("--max-size %s: not a size", f.maxSize), "write a number and B, KB, MB or GB, such as 50MB"}
	}
	if p.targets, err = parseTargets(f.targets); err != nil {
		return nil, err
	}
	p.signer, err = findSigner(f.sign, f.signKey)
	return p, err
}

// run is the whole build. Nothing is written before pack.
func (p *packing) run() error {
	for _, step := range []func() error{
		p.load,         // the plugin's files, without what version control leaves out
		p.validate,     // what the client would refuse is not packed
		p.checkVersion, // --version, else the manifest; a tag that disagrees is an error
		p.render,       // Copilot CLI, Agent Plugins and Claude Code in one layout, with the programs of each target
		p.pack,         // folder, archives, inventory, checksums, marketplace
		p.sign,         // where --sign asks for it
		p.publish,      // into another marketplace, where --into names one
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// hintSource: an author who stands in a plugin of their own and names none may have meant that one.
func (p *packing) hintSource() {
	if p.dir != "" {
		return
	}
	here := os.DirFS(p.e.absolute("."))
	file, err := plugin.FindManifest(here)
	if err != nil {
		return
	}
	data, err := fs.ReadFile(here, file)
	if err != nil {
		return
	}
	if m, err := plugin.ParseManifest(data); err != nil || m.Name != render.PluginName {
		fmt.Fprintln(p.e.Stderr, "copilot-mem: hint: this packed copilot-mem's own plugin; `copilot-mem build .` packs the one in this folder")
	}
}

func (p *packing) load() (err error) {
	if p.dir == "" {
		p.tree, err = plugin.Read(copilotmem.Files)
		return err
	}
	source := bundle.Source{Dir: p.dir, Out: p.e.absolute(p.flags.out)}
	if source.Top, source.Tracked, err = tracked(p.dir); err != nil {
		return err
	}
	if p.tree, err = bundle.Read(source); err != nil {
		return fmt.Errorf("%s: %w", p.shown, err)
	}
	return nil
}

func (p *packing) validate() error {
	findings, summary := validate.Plugin(p.tree.FS(), p.name, p.shown, validate.Options{})
	if p.dir == "" { // its warnings are for those who write it
		findings = nil
	}
	if err := writeFindings(p.e.Stderr, findings); err != nil {
		return err
	}
	if summary.Errors > 0 {
		return &invalidPluginError{p.shown, summary.Errors}
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
func (i *invalidPluginError) Hint() string  { return "correct what is listed above" }
func (i *invalidPluginError) ExitCode() int { return exitFindings }

// render makes the trees that are packed: one for all targets where there are several, and one for each target.
func (p *packing) render() error {
	sets, err := p.programs()
	if err != nil {
		return err
	}
	if len(sets) == 0 {
		sets = []render.Programs{{Target: bundle.Any}}
	}
	if len(sets) > 1 {
		if err := p.renderFor(bundle.Any, sets); err != nil {
			return err
		}
	}
	for _, set := range sets {
		if err := p.renderFor(set.Target, []render.Programs{set}); err != nil {
			return err
		}
	}
	return nil
}

func (p *packing) renderFor(target string, sets []render.Programs) error {
	tree, notes, err := p.layout(sets)
	if err == nil {
		tree, err = render.WithPrograms(copilotmem.Files, tree, sets...)
	}
	if err != nil {
		return err
	}
	if len(p.packs) == 0 { // they are the same for every target
		p.warnings = append(p.warnings, notes...)
	}
	findings, summary := validate.Plugin(tree.FS(), p.name, p.shown, validate.Options{})
	if summary.Errors > 0 {
		if err := writeFindings(p.e.Stderr, findings); err != nil {
			return err
		}
		return fmt.Errorf("%s: the rendered plugin would be refused (%s)", p.shown, count(summary.Errors, "error"))
	}
	p.packs = append(p.packs, bundle.Pack{Target: target, Tree: tree})
	return nil
}

// layout is the plugin without its programs.
func (p *packing) layout(sets []render.Programs) (plugin.Tree, []string, error) {
	if p.dir != "" {
		return render.Universal(copilotmem.Files, p.tree, p.name)
	}
	o := render.Options{Scope: render.Bundle, Version: p.version, Launcher: len(sets) > 1, Recall: true}
	if !slices.ContainsFunc(sets, func(s render.Programs) bool { return !hasProgram(s, mainProgram) }) {
		o.Full = "./bin/" + mainProgram // a server that is not there would only be complained of
	}
	if !hasProgram(sets[0], hookProgram) { // the hooks then start the main program, which captures too, only slower
		o.HookArgs = []string{"capture"}
		o.HookProgram = mainProgram
	}
	tree, err := render.Plugin(copilotmem.Files, o)
	return tree, nil, err
}

func (p *packing) pack() error {
	at, err := sourceDate(p.e.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	p.result, err = bundle.Build(p.packs, bundle.Options{
		Out: p.e.absolute(p.flags.out), Name: p.name, Version: p.version, Time: at,
	})
	if err != nil {
		return err
	}
	if size := p.result.Artifacts[0].Size; p.limit > 0 && size > p.limit {
		p.warnings = append(p.warnings, fmt.Sprintf("the plugin is larger than %s: %s, of which %s are %s",
			p.flags.maxSize, showSize(size), showSize(p.result.Parts[0].Size), p.result.Parts[0].Part))
	}
	return nil
}

func (p *packing) publish() error {
	if p.flags.into == "" {
		return nil
	}
	added, err := bundle.AddTo(p.e.absolute(p.flags.into), p.result)
	p.result.Artifacts = append(p.result.Artifacts, added...)
	return err
}

// sourceDate reads the variable of https://reproducible-builds.org/specs/source-date-epoch.
func sourceDate(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	sec, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q: not a number of seconds", text)
	}
	return time.Unix(sec, 0).UTC(), nil
}

func (e *env) absolute(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(e.Dir, p)
}

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

func parseSize(text string) (int64, error) {
	number, unit := strings.ToUpper(strings.TrimSpace(text)), int64(1)
	for _, u := range sizeUnits {
		if short, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(short), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err == nil && !(n >= 0 && n < 1e12) {
		err = strconv.ErrRange
	}
	return int64(n * float64(unit)), err
}

func showSize(n int64) string {
	for _, u := range sizeUnits {
		if n >= u.bytes && u.bytes > 1 {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.bytes), u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

func (p *packing) print() error {
	for _, w := range p.warnings {
		fmt.Fprintf(p.e.Stderr, "copilot-mem: warning: %s\n", w)
	}
	if p.flags.json {
		return p.e.printJSON(struct {
			SchemaVersion int `json:"schemaVersion"`
			bundle.Result
			Warnings []string `json:"warnings"`
		}{1, p.result, append([]string{}, p.warnings...)})
	}
	for _, a := range p.result.Artifacts {
		shown, err := filepath.Rel(p.e.Dir, a.Path)
		if err != nil || !filepath.IsLocal(shown) {
			shown = a.Path
		}
		if _, err := fmt.Fprintf(p.e.Stdout, "%-12s %10s  %s\n", a.Kind, showSize(a.Size), shown); err != nil {
			return err
		}
	}
	for _, part := range p.result.Parts {
		if _, err := fmt.Fprintf(p.e.Stdout, "  %-10s %10s  in %s\n", part.Part, showSize(part.Size), count(part.Files, "file")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(p.e.Stdout, "built %s %s\n", p.result.Name, p.result.Version)
	return err
}
