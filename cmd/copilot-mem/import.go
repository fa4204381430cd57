package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/copilot"
	"github.com/copilot-mem/copilot-mem/internal/history"
	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type importJSON struct {
	SchemaVersion int                `json:"schemaVersion"`
	DryRun        bool               `json:"dryRun"`
	Sessions      importSessionsJSON `json:"sessions"`
	Entries       int                `json:"entries"`
	Problems      []history.Problem  `json:"problems"`
}

type importSessionsJSON struct {
	Found     int `json:"found"`
	Imported  int `json:"imported"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Damaged   int `json:"damaged"`
}

type importFlags struct {
	from, since, source       string
	dryRun, reasoning, asJSON bool
}

func newImportCmd(e *env) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use: "import", Short: "Bring past sessions into the store", Args: cobra.NoArgs,
		Long: `Reads past sessions: without --from those of Copilot CLI, with it a folder or file with transcripts of Copilot CLI or
Claude Code, an event log of agent-memory, a session or memory file of Copilot CLI, or what export wrote.
What is known is not stored again, also where hooks told of it; an import that was stopped goes on where it was.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.importPast(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.from, "from", "", "a folder or a file (default: the client's folder; with --source claude that of Claude Code)")
	fl.StringVar(&f.source, "source", "", "only sessions of copilot, claude or agent-memory (default: of any)")
	fl.StringVar(&f.since, "since", "", "leave out sessions that ended before: "+timeForms)
	fl.BoolVar(&f.reasoning, "reasoning", false, "also keep what the model thought")
	fl.BoolVar(&f.dryRun, "dry-run", false, "count and change nothing")
	fl.BoolVar(&f.asJSON, "json", false, "one JSON document")
	return cmd
}

func (e *env) importPast(ctx context.Context, f importFlags) (err error) {
	o := history.Options{DryRun: f.dryRun, Reasoning: f.reasoning}
	if !slices.Contains([]history.Source{"", history.Copilot, history.Claude, history.AgentMemory}, history.Source(f.source)) {
		return &usageError{fmt.Errorf("--source %s: unknown", f.source), "use copilot, claude or agent-memory"}
	}
	if f.since != "" {
		p, err := parsePeriod(f.since, e.Now())
		if err != nil {
			return err
		}
		o.Since = p.from
	}
	from, err := e.importRoot(f)
	if err != nil {
		return err
	}
	if f.from != "" && isExport(from) {
		return e.importExport(ctx, from, f)
	}
	var bad []history.Problem
	if o.Files, bad, err = history.Find(from, history.Source(f.source)); err != nil && (f.from != "" || !errors.Is(err, fs.ErrNotExist)) {
		return &importError{err}
	}
	r, err := e.runImport(ctx, o, filepath.Dir(from))
	if err != nil {
		return err
	}
	r.Problems = append(bad, r.Problems...)
	return e.printImport(f, r, from)
}

type importError struct{ err error }

func (e *importError) Error() string { return e.err.Error() }
func (e *importError) Unwrap() error { return e.err }
func (e *importError) Hint() string {
	return "name a folder that holds session-state, or a transcript, with --from"
}

// importRoot is what is read: --from, or where the source keeps its sessions.
func (e *env) importRoot(f importFlags) (string, error) {
	switch {
	case f.from != "":
		from := f.from
		if !filepath.IsAbs(from) {
			from = filepath.Join(e.Dir, from)
		}
		if info, err := os.Stat(filepath.Join(from, "session-state")); err == nil && info.IsDir() && f.source != string(history.Claude) {
			return filepath.Join(from, "session-state"), nil
		}
		return from, nil
	case f.source == string(history.AgentMemory):
		return "", &usageError{errors.New("--source agent-memory: no place is known where its events are"), "name the file or folder with --from"}
	case f.source == string(history.Claude):
		if dir := e.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
			return filepath.Join(dir, "projects"), nil
		}
		home := e.Getenv("HOME")
		if home == "" {
			home = e.Getenv("USERPROFILE")
		}
		return filepath.Join(home, ".claude", "projects"), nil
	}
	home, err := copilot.FindHome(e.Getenv)
	return home.SessionState(), err
}

// runImport reads the files into the store; past is the folder of the client's own list of sessions.
func (e *env) runImport(ctx context.Context, o history.Options, past string) (r history.Report, err error) {
	db, finish, err := e.importStore(ctx, o.DryRun)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, finish()) }()
	if err := e.historyWorld(ctx, db, &o); err != nil {
		return r, err
	}
	e.markLive(o.Files)
	turns, done, err := store.OpenClientTurns(ctx, filepath.Join(past, "session-store.db"), e.tempDir())
	if err != nil {
		r.Problems = append(r.Problems, history.Problem{Path: filepath.Join(past, "session-store.db"), Message: err.Error()})
	} else if turns != nil {
		o.Past = func(each func(history.Past) error) error {
			return turns(func(s store.ClientSession) error { return each(pastOf(s)) })
		}
		defer func() { err = errors.Join(err, done()) }()
	}
	bar := e.newProgress("import")
	defer bar.done()
	o.Progress = bar.set
	got, err := history.Run(ctx, db, o)
	got.Problems = append(r.Problems, got.Problems...)
	if err == nil && got.Entries > 0 && !o.DryRun {
		err = db.Compact(ctx)
	}
	return got, err
}

// importStore opens the store. A dry run on a machine without one works on an empty one that it takes away again.
func (e *env) importStore(ctx context.Context, dry bool) (db *store.DB, finish func() error, err error) {
	dir, err := e.dataDir()
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Lstat(dir.DB()); !dry || err == nil {
		if db, err = e.openStore(ctx); err != nil {
			return nil, nil, err
		}
		return db, db.Close, nil
	}
	temp, err := os.MkdirTemp("", "copilot-mem-")
	if err != nil {
		return nil, nil, err
	}
	if db, err = store.Open(ctx, filepath.Join(temp, "memory.db"), storeOptions); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(temp))
	}
	return db, func() error { return errors.Join(db.Close(), os.RemoveAll(temp)) }, nil
}

// historyWorld tells an import what folders are now, and what the user lets be kept of what happened in them.
func (e *env) historyWorld(ctx context.Context, db *store.DB, o *history.Options) error {
	dir, err := e.dataDir()
	if err != nil {
		return err
	}
	chosen, err := config.Load(dir.Config())
	if err != nil {
		return err
	}
	o.Reasoning = o.Reasoning || chosen.Capture.Reasoning
	chosen.Capture.Reasoning = o.Reasoning
	places, choices := ingest.Places(ctx, db), map[string]config.Capture{}
	o.World = history.World{
		Keep: func(dir string, kind memory.Kind) bool {
			c, ok := choices[dir]
			if !ok {
				here, _, err := chosen.Tighten(dir)
				c = here.Capture
				c.Enabled = c.Enabled && err == nil // a repository that is not understood keeps everything back
				choices[dir] = c
			}
			return c.KeepsKind(string(kind))
		},
		Place: func(dir string) (project, branch string) {
			// A mark that cannot be kept costs a project's name after a move, not an import.
			p, _ := places(dir)
			if !p.Git {
				return "", ""
			}
			return p.Project, p.Branch
		},
		Temporary: ingest.Temporary,
	}
	return nil
}

// markLive tells which files the client itself writes: what is missing there was taken back.
func (e *env) markLive(files []history.File) {
	home, err := copilot.FindHome(e.Getenv)
	if err != nil {
		return
	}
	below := home.SessionState() + string(filepath.Separator)
	for i := range files {
		files[i].Live = strings.HasPrefix(files[i].Path, below)
	}
}

func (e *env) tempDir() string {
	dir, err := e.dataDir()
	if err != nil || dir.Ensure() != nil {
		return ""
	}
	return string(dir)
}

func pastOf(s store.ClientSession) history.Past {
	p := history.Past{
		ID: s.ID, Cwd: s.Cwd, Repository: s.Repository, HostType: s.HostType, Branch: s.Branch, Title: s.Summary,
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
	for _, t := range s.Turns {
		p.Turns = append(p.Turns, history.PastTurn(t))
	}
	return p
}

func (e *env) printImport(f importFlags, r history.Report, from string) error {
	if f.asJSON {
		out := importJSON{1, f.dryRun, importSessionsJSON{r.Found, r.Imported, r.Updated, r.Unchanged, r.Damaged}, r.Entries, r.Problems}
		if out.Problems == nil {
			out.Problems = []history.Problem{}
		}
		return e.printJSON(out)
	}
	w := &lines{w: e.Stdout}
	verb := "stored"
	if f.dryRun {
		verb = "would be stored"
	}
	if r.Found == 0 {
		w.printf("no past session below %s\n", screen(from))
	} else {
		w.printf("%s: %d new, %d with something new, %d unchanged; %s %s\n",
			plural(r.Found, "session", "sessions"), r.Imported, r.Updated, r.Unchanged, plural(r.Entries, "entry", "entries"), verb)
	}
	if r.Damaged > 0 {
		w.printf("%s could be read only in part:\n", plural(r.Damaged, "file", "files"))
	}
	for _, p := range r.Problems {
		at := p.Path
		if p.Line > 0 {
			at = fmt.Sprintf("%s:%d", p.Path, p.Line)
		}
		w.printf("  %s: %s\n", screen(at), screen(p.Message))
	}
	return w.err
}

// isExport reports whether `copilot-mem export` wrote a file.
func isExport(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	head := make([]byte, 64)
	n, err := f.Read(head)
	return err == nil && store.IsExport(head[:n])
}

// importExport takes back what export wrote.
func (e *env) importExport(ctx context.Context, path string, f importFlags) (err error) {
	if f.dryRun || f.since != "" || f.source != "" {
		return &usageError{errors.New(path + ": an export is taken back as a whole, without --dry-run, --since and --source"), ""}
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	db, err := e.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	before, err := entryCounts(ctx, db)
	if err != nil {
		return err
	}
	c, n, err := db.ImportExport(ctx, file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	after, err := entryCounts(ctx, db)
	if err != nil {
		return err
	}
	r := history.Report{Found: n.Sessions, Entries: c.Added}
	for id, entries := range after {
		switch old, known := before[id]; {
		case !known:
			r.Imported++
		case old != entries:
			r.Updated++
		}
	}
	r.Unchanged = max(n.Sessions-r.Imported-r.Updated, 0)
	return e.printImport(f, r, path)
}

// entryCounts says how many entries each session has.
func entryCounts(ctx context.Context, db *store.DB) (map[string]int, error) {
	sessions, err := db.Sessions(ctx, memory.Query{Limit: -1})
	out := make(map[string]int, len(sessions))
	for _, s := range sessions {
		out[s.ID] = s.Entries
	}
	return out, err
}

// offerImport ends an init: it brings in the past when that is wished, and asks where nobody said.
func (e *env) offerImport(ctx context.Context, cmd *cobra.Command, ask, asJSON bool) error {
	wish, err := importWish(cmd)
	if err != nil {
		return err
	}
	home, err := copilot.FindHome(e.Getenv)
	if err != nil {
		return err
	}
	files, _, err := history.Find(home.SessionState(), history.Copilot)
	if err != nil || len(files) == 0 {
		return nil //nolint:nilerr // nobody has sessions before the first one
	}
	if files, err = e.unread(ctx, files); err != nil || len(files) == 0 {
		return err
	}
	if wish == nil {
		if !ask {
			_, err := fmt.Fprintf(e.Stderr, "copilot-mem: hint: %s can be brought in with `copilot-mem import`\n", plural(len(files), "past session", "past sessions"))
			return err
		}
		yes, err := e.confirm(fmt.Sprintf("Bring in %s?", plural(len(files), "past session", "past sessions")), false)
		if err != nil {
			return err
		}
		wish = &yes
	}
	if !*wish {
		return nil
	}
	r, err := e.runImport(ctx, history.Options{Files: files}, home.Dir)
	if err != nil || asJSON {
		return err // the one document is init's own
	}
	return e.printImport(importFlags{}, r, home.SessionState())
}

// addImportFlags lets init be told what it would ask.
func addImportFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("import", false, "bring in past sessions, too")
	cmd.Flags().Bool("no-import", false, "do not")
	cmd.MarkFlagsMutuallyExclusive("import", "no-import")
}

// importWish is what the flags say; nil where they say nothing.
func importWish(cmd *cobra.Command) (*bool, error) {
	for _, name := range []string{"import", "no-import"} {
		if !cmd.Flags().Changed(name) {
			continue
		}
		v, err := cmd.Flags().GetBool(name)
		v = v == (name == "import")
		return &v, err
	}
	return nil, nil //nolint:nilnil // nothing was said
}

// unread leaves out the files that were imported before.
func (e *env) unread(ctx context.Context, files []history.File) (out []history.File, err error) {
	db, finish, err := e.importStore(ctx, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, finish()) }()
	for _, f := range files {
		isNew, err := history.Unread(ctx, db, &history.Options{}, f)
		if err != nil {
			return nil, err
		}
		if isNew {
			out = append(out, f)
		}
	}
	return out, nil
}

// progress is one line on a terminal that says how far a long work has come.
type progress struct {
	e      *env
	what   string
	on     bool
	start  time.Time
	shown  time.Time
	redraw bool
}

func (e *env) newProgress(what string) *progress {
	f, ok := e.Stderr.(*os.File)
	return &progress{e: e, what: what, on: ok && term.IsTerminal(int(f.Fd())) && e.Getenv("TERM") != "dumb", start: time.Now()}
}

const barWidth = 30

// set shows done of total bytes. Work that ends within a second shows nothing.
func (p *progress) set(done, total int64) {
	now := time.Now()
	if !p.on || total <= 0 || now.Sub(p.start) < time.Second || now.Sub(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown, p.redraw = now, true
	part := min(1, float64(done)/float64(total))
	full := int(part * barWidth)
	fmt.Fprintf(p.e.Stderr, "\r%s [%s%s] %3.0f%%  %d of %d MB", p.what, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), part*100, done>>20, total>>20)
}

// done takes the line away.
func (p *progress) done() {
	if p.redraw {
		fmt.Fprintf(p.e.Stderr, "\r%s\r", strings.Repeat(" ", len(p.what)+barWidth+40))
	}
}
