package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/copilot"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/spool"
)

// oldestClient is the first client that sends session ids to hooks (client changelog 1.0.11); testedClient is the one
// that the facts of docs/hooks.md come from.
const (
	oldestClient = "1.0.11"
	testedClient = "1.0.102"
)

// patient is how long one program that a check starts may take.
const patient = 10 * time.Second

// health is what the checks look at.
type health struct {
	*env
	data    datadir.Dir
	home    copilot.Home
	records []install.Record
}

func (e *env) checks(live bool) ([]doctor.Check, error) {
	data, err := e.dataDir()
	if err != nil {
		return nil, err
	}
	home, err := copilot.FindHome(e.Getenv)
	if err != nil {
		return nil, err
	}
	records, err := install.Records(data.Receipts())
	if err != nil {
		return nil, err
	}
	h := &health{e, data, home, records}
	checks := []doctor.Check{
		{Group: "client", Name: "version", Run: h.client},
		{Group: "install", Name: "receipts", Run: h.installed},
		{Group: "install", Name: "files", Run: h.files},
		{Group: "install", Name: "once", Run: h.once},
		{Group: "hooks", Name: "command", Run: h.command},
		{Group: "hooks", Name: "enabled", Run: h.enabled},
		{Group: "hooks", Name: "trust", Run: h.trust},
		{Group: "capture", Name: "spool", Run: h.spool},
		{Group: "capture", Name: "failures", Run: h.failures},
		{Group: "store", Name: "open", Run: h.store},
		{Group: "capture", Name: "events", Run: h.events},
		{Group: "policy", Name: "active", Run: h.policies},
		{Group: "policy", Name: "trust", Run: h.policyTrust},
		{Group: "policy", Name: "log", Run: h.policyLog},
		{Group: "privacy", Name: "modes", Run: h.modes},
		{Group: "privacy", Name: "config", Run: h.choices},
	}
	if live {
		checks = append(checks, doctor.Check{Group: "capture", Name: "live", Run: h.live})
	}
	return checks, nil
}

func ok(format string, args ...any) doctor.Outcome {
	return doctor.Outcome{Result: doctor.OK, Detail: fmt.Sprintf(format, args...)}
}

func skipped(why string) doctor.Outcome {
	return doctor.Outcome{Result: doctor.Skipped, Detail: why}
}

func warn(hint, format string, args ...any) doctor.Outcome {
	return doctor.Outcome{Result: doctor.Warning, Detail: fmt.Sprintf(format, args...), Hint: hint}
}

func bad(hint, format string, args ...any) doctor.Outcome {
	return doctor.Outcome{Result: doctor.Error, Detail: fmt.Sprintf(format, args...), Hint: hint}
}

// broken is an error that says itself what to do.
func broken(err error) doctor.Outcome {
	hint := "see `copilot-mem doctor --help`"
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		hint = hinted.Hint()
	}
	return bad(hint, "%v", err)
}

func (h *health) client(ctx context.Context) doctor.Outcome {
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	path, version, err := copilot.FindClient(exec.LookPath, func(path string, args ...string) ([]byte, error) {
		return exec.CommandContext(ctx, path, args...).Output()
	})
	switch {
	case path == "":
		return warn("install Copilot CLI: npm install -g @github/copilot", "copilot is not on PATH")
	case err != nil:
		return warn("run `copilot --version` and see what it says", "%v", err)
	}
	if copilot.Older(version, oldestClient) {
		return bad("update it: npm install -g @github/copilot", "%s is version %s; hooks name their session since %s", path, version, oldestClient)
	}
	return ok("%s, version %s (tested with %s)", path, version, testedClient)
}

func (h *health) installed(context.Context) doctor.Outcome {
	if len(h.records) == 0 {
		return bad("run `copilot-mem init`", "nothing is installed")
	}
	var places []string
	for _, r := range h.records {
		if r.State != install.Done {
			return bad("run `copilot-mem init --scope "+r.Scope+"` again, or `copilot-mem uninstall`", "%s in %s was interrupted", r.Scope, r.Dir)
		}
		places = append(places, fmt.Sprintf("%s in %s (%s)", r.Scope, r.Dir, r.Version))
	}
	return ok("%s", strings.Join(places, ", "))
}

func (h *health) files(context.Context) doctor.Outcome {
	var changed, missing []string
	n := 0
	for _, r := range h.records {
		for _, f := range recordStates(r) {
			n++
			switch f.State {
			case install.Changed:
				changed = append(changed, f.Path)
			case install.Missing:
				missing = append(missing, f.Path)
			}
		}
	}
	switch {
	case n == 0:
		return skipped("nothing is installed")
	case len(missing) > 0:
		return bad("run `copilot-mem init` again: it puts them back", "missing: %s", strings.Join(missing, ", "))
	case len(changed) > 0:
		return warn("keep your changes, or run `copilot-mem init --force`", "changed since init: %s", strings.Join(changed, ", "))
	}
	return ok("%d files as installed", n)
}

// once: the client runs every copy of a hook that it finds (client 1.0.102).
func (h *health) once(context.Context) doctor.Outcome {
	here, err := copilot.GitRoot(h.Dir)
	if err != nil {
		here = ""
	}
	var active []string
	for _, r := range h.records {
		if r.Scope != "repo" || r.Dir == here {
			active = append(active, r.Scope)
		}
	}
	if len(active) > 1 {
		return warn("run `copilot-mem uninstall --scope "+active[0]+"`", "installed more than once for this folder: %s; each event is stored once, but runs %d hooks",
			strings.Join(active, ", "), len(active))
	}
	if len(active) == 0 {
		return skipped("nothing is installed for this folder")
	}
	return ok("one install is active here: %s", active[0])
}

func (h *health) command(context.Context) doctor.Outcome {
	commands, err := h.hookCommands()
	if err != nil {
		return broken(err)
	}
	if len(commands) == 0 {
		return skipped("no installed hook names a program by its path")
	}
	for _, c := range commands {
		info, err := os.Stat(c)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return bad("run `copilot-mem init` again", "%s: the program that the hooks run is gone, nothing is captured", c)
		case err != nil:
			return bad("make it readable, or run `copilot-mem init` again", "%v", err)
		case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
			return bad("chmod +x "+c, "%s: not executable", c)
		}
		if strings.TrimSuffix(filepath.Base(c), ".exe") == "copilot-mem" {
			return doctor.Outcome{
				Result: doctor.Info, Detail: c + " captures; the small copilot-mem-hook is faster",
				Hint: "put copilot-mem-hook beside copilot-mem (`make build` makes both) and run `copilot-mem init` again",
			}
		}
	}
	return ok("%s", strings.Join(commands, ", "))
}

// enabled: disableAllHooks in a trusted repository's settings silences hooks of users and plugins too (client 1.0.102).
func (h *health) enabled(context.Context) doctor.Outcome {
	root, err := copilot.GitRoot(h.Dir)
	if err != nil {
		return skipped("not in a git repository")
	}
	for _, name := range []string{".github/copilot/settings.json", ".github/copilot/settings.local.json"} {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		var settings struct {
			DisableAllHooks bool `json:"disableAllHooks"`
		}
		if json.Unmarshal(data, &settings) == nil && settings.DisableAllHooks {
			return warn("remove the key to be remembered here", "%s: disableAllHooks silences every hook in this repository", filepath.Join(root, name))
		}
	}
	return ok("no setting of this repository turns hooks off")
}

func (h *health) trust(context.Context) doctor.Outcome {
	i := slices.IndexFunc(h.records, func(r install.Record) bool { return r.Scope == "repo" })
	if i < 0 {
		return skipped("no repository has our hooks")
	}
	dir := h.records[i].Dir
	var config struct {
		TrustedFolders []string `json:"trustedFolders"`
	}
	data, err := os.ReadFile(h.home.Config())
	if err == nil {
		err = json.Unmarshal(data, &config)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return warn("start `copilot` once and see what it says", "%s: %v", h.home.Config(), err)
	}
	for _, t := range config.TrustedFolders {
		if rel, err := filepath.Rel(t, dir); err == nil && filepath.IsLocal(rel) {
			return ok("%s is trusted", dir)
		}
	}
	return warn("start `copilot` there and trust the folder, or set COPILOT_ALLOW_ALL=true where that is safe",
		"%s is not a trusted folder: the client passes over its hooks in silence", dir)
}

func (h *health) spool(context.Context) doctor.Outcome {
	files, bytes, err := spool.Spool{Dir: h.data.Spool()}.Pending()
	if err != nil {
		return broken(err)
	}
	if damaged, err := os.Stat(filepath.Join(h.data.Spool(), "damaged.jsonl")); err == nil && damaged.Size() > 0 {
		return warn("look at the file; remove it when nothing in it matters", "%s: %d bytes that are no events", filepath.Join(h.data.Spool(), "damaged.jsonl"), damaged.Size())
	}
	return ok("%d bytes in %d files wait for the next reader", bytes, files)
}

func (h *health) failures(context.Context) doctor.Outcome {
	f, err := os.Open(h.data.Failures())
	if errors.Is(err, fs.ErrNotExist) {
		return ok("nothing was lost")
	}
	if err != nil {
		return broken(err)
	}
	defer f.Close()
	counts := map[string]int{}
	total := 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var note struct{ Event, Reason string }
		if json.Unmarshal(lines.Bytes(), &note) == nil {
			counts[note.Event+": "+note.Reason]++
			total++
		}
	}
	if err := lines.Err(); err != nil {
		return broken(err)
	}
	if total == 0 {
		return h.unwritten()
	}
	var reasons []string
	for reason, n := range counts {
		reasons = append(reasons, fmt.Sprintf("%d × %s", n, reason))
	}
	slices.Sort(reasons)
	return warn("remove "+h.data.Failures()+" once the cause is mended", "%d events could not be stored: %s", total, strings.Join(reasons, ", "))
}

// unwritten tells of failures of which not even a note could be written: the file was made for one, and is empty.
func (h *health) unwritten() doctor.Outcome {
	info, err := os.Stat(h.data.Failures())
	if err != nil {
		return broken(err)
	}
	return warn("remove "+h.data.Failures()+" once there is space on the disk",
		"at %s an event could not be stored, nor a note of it: was the disk full?", info.ModTime().Format(time.DateTime))
}

func (h *health) store(ctx context.Context) doctor.Outcome {
	db, err := h.openStore(ctx)
	if err != nil {
		return broken(err)
	}
	defer db.Close()
	if err := db.QuickCheck(ctx); err != nil {
		return broken(err)
	}
	counts, err := db.Counts(ctx)
	if err != nil {
		return broken(err)
	}
	return ok("%d entries of %d sessions, %d KiB", counts.Entries, counts.Sessions, counts.Bytes/1024)
}

func (h *health) events(ctx context.Context) doctor.Outcome {
	db, err := h.openStore(ctx)
	if err != nil {
		return skipped("the store does not open")
	}
	defer db.Close()
	sessions, err := db.Sessions(ctx, memory.Query{Limit: 1})
	if err != nil {
		return broken(err)
	}
	if len(sessions) == 0 {
		return doctor.Outcome{Result: doctor.Info, Detail: "nothing captured yet", Hint: "use `copilot` once, then look again"}
	}
	return ok("last session %s, %d entries", sessions[0].StartedAt.Local().Format("2006-01-02 15:04"), sessions[0].Entries)
}

func (h *health) modes(context.Context) doctor.Outcome {
	if runtime.GOOS == "windows" {
		return skipped("modes say nothing on Windows")
	}
	for _, p := range []string{string(h.data), h.data.DB(), h.data.Spool(), h.data.State()} {
		info, err := os.Stat(p)
		if err != nil {
			continue
		}
		if info.Mode().Perm()&0o077 != 0 {
			return bad("chmod go-rwx "+p, "%s: others may read it (%04o)", p, info.Mode().Perm())
		}
	}
	return ok("only you can read the data folder")
}

// choices: a file that is not understood stops capture, or leaves a default where something was chosen.
func (h *health) choices(context.Context) doctor.Outcome {
	c, err := capture.Choices(h.data, h.Dir)
	switch {
	case err != nil:
		return broken(err)
	case !c.Capture.Enabled:
		return doctor.Outcome{Result: doctor.Info, Detail: "capture is switched off here", Hint: "`copilot-mem config list` says by whom"}
	}
	return ok("the files of choices are understood")
}
