package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/copilot"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

// patient is how long one program that a check starts may take when the user agreed to wait (--live).
const patient = 10 * time.Second

// hurried is the same where the whole of `doctor` is to take less than a second.
const hurried = 700 * time.Millisecond

// health is what the checks look at. What a later check changes by looking is read before all of them.
type health struct {
	*env
	data    datadir.Dir
	home    copilot.Home
	root    string // the git root of the working folder, or that folder where there is none
	inGit   bool
	records []install.Record
	broken  error // why records are not known
	patient time.Duration

	before  waiting                       // what waited before the store was opened
	open    []string                      // files of ours that others could read before the store was opened
	sources func() []hookSource           // every hook file that the client may read here
	db      func() (*store.DB, error)     // opened once, and brought up to date
	ledger  func() ([]ledgerRow, error)   // of the newest sessions
	locked  func() error                  // who holds the store
	client  func() (clientProgram, error) // the client on PATH
}

// checkMode says which of the checks are asked for.
type checkMode struct{ live, client bool }

func (e *env) newHealth(ctx context.Context, patience time.Duration) (*health, error) {
	data, err := e.dataDir()
	if err != nil {
		return nil, err
	}
	home, err := copilot.FindHome(e.Getenv)
	if err != nil {
		return nil, err
	}
	h := &health{env: e, data: data, home: home, patient: patience}
	h.root, err = copilot.GitRoot(e.Dir)
	if h.inGit = err == nil; !h.inGit {
		h.root = e.Dir
	}
	h.records, h.broken = install.Records(data.Receipts())
	h.before = h.lookAtSpool()
	h.open = h.openToOthers()
	h.sources = sync.OnceValue(h.readSources)
	h.locked = sync.OnceValue(func() error { return store.Probe(ctx, data.DB(), lockPatience) })
	h.db = sync.OnceValues(func() (*store.DB, error) {
		if err := h.locked(); err != nil {
			return nil, err
		}
		quiet := *e
		quiet.Stderr = io.Discard // what the store says of itself is told by its check
		return quiet.openStore(ctx)
	})
	h.ledger = sync.OnceValues(func() ([]ledgerRow, error) { return h.readLedger(ctx) })
	h.client = sync.OnceValues(func() (clientProgram, error) { return h.findClient(ctx) })
	return h, nil
}

// close closes the store where a check opened it.
func (h *health) close() {
	if h.locked() != nil {
		return
	}
	if db, err := h.db(); err == nil {
		_ = db.Close() // only read
	}
}

// checks lists every check; docs/doctor.md describes each one, which a test holds.
func (h *health) checks(mode checkMode) []doctor.Check {
	all := []doctor.Check{
		{Group: "client", Name: "version", Run: h.clientVersion},
		{Group: "client", Name: "features", Run: h.clientFeatures},
		{Group: "install", Name: "receipts", Run: h.installed},
		{Group: "install", Name: "version", Run: h.installedVersion},
		{Group: "install", Name: "files", Run: h.files},
		{Group: "install", Name: "foreign", Run: h.foreign},
		{Group: "install", Name: "once", Run: h.once},
		{Group: "install", Name: "program", Run: h.programs},
		{Group: "hooks", Name: "command", Run: h.command},
		{Group: "hooks", Name: "valid", Run: h.valid},
		{Group: "hooks", Name: "closed", Run: h.failsClosed},
		{Group: "hooks", Name: "enabled", Run: h.enabled},
		{Group: "hooks", Name: "trust", Run: h.trust},
		{Group: "privacy", Name: "modes", Run: h.modes},
		{Group: "privacy", Name: "config", Run: h.choices},
		{Group: "store", Name: "disk", Run: h.disk},
		{Group: "store", Name: "locked", Run: h.lockedStore},
		{Group: "store", Name: "open", Run: h.store},
		{Group: "store", Name: "clock", Run: h.clock},
		{Group: "capture", Name: "spool", Run: h.spool},
		{Group: "capture", Name: "failures", Run: h.failures},
		{Group: "capture", Name: "sink", Run: h.sink},
		{Group: "capture", Name: "events", Run: h.events},
		{Group: "capture", Name: "ledger", Run: h.ledgerCheck},
		{Group: "recall", Name: "alone", Run: h.alone},
		{Group: "recall", Name: "skills", Run: h.shadowed},
		{Group: "recall", Name: "mcp", Run: h.servers},
		{Group: "policy", Name: "active", Run: h.policies},
		{Group: "policy", Name: "trust", Run: h.policyTrust},
		{Group: "policy", Name: "log", Run: h.policyLog},
	}
	if mode.live {
		all = append(all, doctor.Check{Group: "hooks", Name: "live", Run: h.live})
	}
	if mode.client {
		all = append(all, doctor.Check{Group: "client", Name: "session", Run: h.session})
	}
	return all
}

func ok(format string, args ...any) doctor.Outcome {
	return doctor.Outcome{Result: doctor.OK, Detail: fmt.Sprintf(format, args...)}
}

func info(hint, format string, args ...any) doctor.Outcome {
	return doctor.Outcome{Result: doctor.Info, Detail: fmt.Sprintf(format, args...), Hint: hint}
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
	hint := "look at the file or folder that is named; `copilot-mem doctor --verbose` says more"
	if errors.Is(err, os.ErrPermission) {
		hint = "make it yours: look at owner and mode with `ls -ld`"
	}
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		hint = hinted.Hint()
	}
	return bad(hint, "%v", err)
}

// with adds evidence.
func with(o doctor.Outcome, evidence ...string) doctor.Outcome {
	o.Evidence = append(o.Evidence, evidence...)
	return o
}

// repaired offers a repair, and says so in the hint.
func repaired(o doctor.Outcome, does string, do func(context.Context) error) doctor.Outcome {
	o.Repair = &doctor.Repair{Does: does, Do: do}
	return o
}

// initAgain offers to run init once more for the scopes that records name: it puts back what is missing and keeps what a
// person changed.
func (h *health) initAgain(o doctor.Outcome, records ...install.Record) doctor.Outcome {
	if len(records) == 0 {
		return o
	}
	r := records[0]
	args := initArgs(r)
	if o.Hint == "" {
		o.Hint = "run `copilot-mem " + quoteArgs(args[:len(args)-1]) + "`"
	}
	return repaired(o, "copilot-mem "+quoteArgs(args), func(ctx context.Context) error { return h.rerun(ctx, args...) })
}
