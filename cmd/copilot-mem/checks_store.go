package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/memory"
)

const (
	lockPatience  = 150 * time.Millisecond // a writer of ours is done in less
	quickPatience = 300 * time.Millisecond // for looking through the store's pages
	// lowDisk is when SQLite and the spool are about to fail; scarceDisk is when a cautious person wants to know.
	lowDisk    = 32 << 20
	scarceDisk = 256 << 20
	// clockSlack is how far ahead of now an entry may be: clocks are set by a second now and then.
	clockSlack = 10 * time.Minute
)

// volume is where the data folder lies.
type volume struct {
	free uint64
	kind string // of a file system that is shared over a network; empty otherwise
}

func (h *health) disk(context.Context) doctor.Outcome {
	dir := string(h.data)
	for !isFolder(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	v, err := readVolume(dir)
	if err != nil {
		return skipped(fmt.Sprintf("%s: %v", dir, err))
	}
	return v.outcome(string(h.data))
}

func (v volume) outcome(dir string) doctor.Outcome {
	const move = "set COPILOT_MEM_HOME to a folder on a local disk; `copilot-mem backup` and `restore` take the store there"
	free := fmt.Sprintf("%d MiB free", v.free>>20)
	switch {
	case v.free < lowDisk:
		return bad("make room on that disk, or shrink the store: `copilot-mem config set retention.maxSize 500MB`", "%s: %s: nothing more can be captured soon", dir, free)
	case v.kind != "":
		return warn(move, "%s: on a network file system (%s): SQLite's locks are not safe there, and the store can be damaged", dir, v.kind)
	case v.free < scarceDisk:
		return warn("make room on that disk, or shrink the store: `copilot-mem config set retention.maxSize 500MB`", "%s: only %s", dir, free)
	}
	return ok("%s, on a local disk", free)
}

func (h *health) lockedStore(context.Context) doctor.Outcome {
	err := h.locked()
	if err == nil {
		return ok("nobody holds the store's lock")
	}
	return with(broken(err), holders(h.data.DB())...)
}

// holders names the processes that /proc/locks (Linux) lists for a file.
func holders(path string) []string {
	id, ok := inode(path)
	locks, err := os.ReadFile("/proc/locks")
	if !ok || err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(locks)) {
		// 1: POSIX  ADVISORY  WRITE 1234 00:2f:5678 0 EOF
		f := strings.Fields(line)
		if len(f) < 6 || !strings.HasSuffix(f[5], ":"+strconv.FormatUint(id, 10)) {
			continue
		}
		if name, err := os.ReadFile("/proc/" + f[4] + "/comm"); err == nil {
			out = append(out, fmt.Sprintf("process %s (%s) holds %s", f[4], strings.TrimSpace(string(name)), path))
		}
	}
	return out
}

func (h *health) store(ctx context.Context) doctor.Outcome {
	if h.locked() != nil {
		return skipped("another process holds the store")
	}
	db, err := h.db()
	if err != nil {
		return broken(err)
	}
	counts, err := db.Counts(ctx)
	if err != nil {
		return broken(err)
	}
	found := fmt.Sprintf("%d entries of %d sessions, %d KiB", counts.Entries, counts.Sessions, counts.Bytes/1024)
	limit := quickPatience
	if h.patient > hurried {
		limit = time.Minute
	}
	quick, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := db.QuickCheck(quick); err != nil {
		if quick.Err() != nil && ctx.Err() == nil {
			return ok("%s; too many to look through all pages now, --live does", found)
		}
		return broken(err)
	}
	return ok("%s", found)
}

// clock: an entry of the future means that the clock was wrong then, or is wrong now; order and --since are wrong with it.
func (h *health) clock(ctx context.Context) doctor.Outcome {
	db, err := h.db()
	if err != nil {
		return skipped("the store does not open")
	}
	now := h.Now()
	ahead, err := db.Sessions(ctx, memory.Query{Since: now.Add(clockSlack), Limit: 3})
	if err != nil {
		return broken(err)
	}
	if len(ahead) == 0 {
		return ok("no entry is younger than now")
	}
	var names []string
	for _, s := range ahead {
		names = append(names, s.ID)
	}
	return warn("set the clock; where it was wrong then, `copilot-mem forget --session "+names[0]+"` takes the session out, and order is right again",
		"entries of the future: the clock of this machine jumped (it says %s); session %s", now.Local().Format("2006-01-02 15:04"), strings.Join(names, ", "))
}
