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
	"slices"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/capture"
	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/doctor"
	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/spool"
)

// backlog is how many bytes may wait: a day of heavy use is a tenth of it.
const backlog = 16 << 20

// waiting is what lay in the spool before the store was opened, which takes it in.
type waiting struct {
	files int
	bytes int64
	err   error
}

func (h *health) lookAtSpool() waiting {
	files, bytes, err := spool.Spool{Dir: h.data.Spool()}.Pending()
	return waiting{files, bytes, err}
}

func (h *health) spool(context.Context) doctor.Outcome {
	if h.before.err != nil {
		return broken(h.before.err)
	}
	for _, name := range []string{"damaged.jsonl", ingest.UnfoldedFile} {
		path := filepath.Join(h.data.Spool(), name)
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			aside := strings.TrimSuffix(path, ".jsonl") + "-" + h.Now().UTC().Format("20060102T150405") + ".seen"
			o := warn("look at the file; `copilot-mem doctor --fix` puts it aside", "%s: %d bytes that are no events", path, info.Size())
			return repaired(o, "rename "+path+" to "+filepath.Base(aside), func(context.Context) error { return os.Rename(path, aside) })
		}
	}
	read := func(ctx context.Context) error { return h.rerun(ctx, "ingest") }
	if h.before.bytes > backlog {
		return repaired(warn("run `copilot-mem ingest`, and search now and then: nobody has read them for long", "%d KiB in %d files were waiting", h.before.bytes/1024, h.before.files), "copilot-mem ingest", read)
	}
	_, err := h.db()
	if files, bytes, problem := (spool.Spool{Dir: h.data.Spool()}).Pending(); err == nil && problem == nil && files > 0 && h.before.files > 0 && bytes >= h.before.bytes {
		return repaired(warn("run `copilot-mem ingest` and see what it says", "%d bytes in %d files wait, and the store does not take them in", bytes, files), "copilot-mem ingest", read)
	}
	return ok("%d bytes in %d files were waiting", h.before.bytes, h.before.files)
}

// failure is one line of failures.jsonl.
type failure struct {
	Time                   int64
	Event, Reason, Session string
}

func (h *health) readFailures() ([]failure, error) {
	f, err := os.Open(h.data.Failures())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	var all []failure
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var one failure
		if json.Unmarshal(lines.Bytes(), &one) == nil {
			all = append(all, one)
		}
	}
	return all, lines.Err()
}

// unwritten tells of failures of which not even a note could be written: the file was made for one, and is empty.
func (h *health) unwritten() doctor.Outcome {
	info, err := os.Stat(h.data.Failures())
	if errors.Is(err, fs.ErrNotExist) {
		return ok("nothing was lost")
	}
	if err != nil {
		return broken(err)
	}
	return warn("remove "+h.data.Failures()+" once there is space on the disk",
		"at %s an event could not be stored, nor a note of it: was the disk full?", info.ModTime().Format(time.DateTime))
}

func (h *health) failures(context.Context) doctor.Outcome {
	all, err := h.readFailures()
	if err != nil {
		return broken(err)
	}
	if len(all) == 0 {
		return h.unwritten()
	}
	counts := map[string]int{}
	for _, f := range all {
		counts[f.Event+": "+f.Reason]++
	}
	var reasons []string
	for reason, n := range counts {
		reasons = append(reasons, fmt.Sprintf("%d × %s", n, reason))
	}
	slices.Sort(reasons)
	last := time.UnixMilli(all[len(all)-1].Time)
	path := h.data.Failures()
	o := warn("mend the cause; then `copilot-mem doctor --fix` puts the list aside", "%d events could not be stored, the last %s: %s", len(all), last.Local().Format("2006-01-02 15:04"), someOf(reasons))
	return with(repaired(o, "rename "+path+" to "+filepath.Base(path)+".old", func(context.Context) error { return os.Rename(path, path+".old") }), reasons...)
}

// sink looks at forwarding, which is off unless somebody switched it on.
func (h *health) sink(context.Context) doctor.Outcome {
	c, err := config.Load(h.data.Config())
	if err != nil {
		return skipped("the choices are not understood")
	}
	if h.Getenv("COPILOT_MEM_FORWARD") != "memory-ingest" && c.Forward == config.ForwardNone {
		return skipped("events are not forwarded")
	}
	program := firstOf(h.Getenv("MEMORY_INGEST_PATH"), "memory-ingest")
	if _, err := exec.LookPath(program); err != nil && h.Getenv("MEMORY_INGEST_DRY_RUN") != "1" {
		return warn("install it, set MEMORY_INGEST_PATH, or `copilot-mem config set forward none`", "%s: the sink that events are forwarded to is not there", program)
	}
	_, bytes, err := spool.Spool{Dir: h.data.Forward()}.Pending()
	if err != nil {
		return broken(err)
	}
	if bytes > backlog {
		return warn("start its daemon, or `copilot-mem config set forward none`", "%d KiB wait for %s, which does not take them", bytes/1024, program)
	}
	return ok("events are forwarded to %s; %d bytes wait", program, bytes)
}

func (h *health) events(ctx context.Context) doctor.Outcome {
	db, err := h.db()
	if err != nil {
		return skipped("the store does not open")
	}
	sessions, err := db.Sessions(ctx, memory.Query{Limit: 1})
	if err != nil {
		return broken(err)
	}
	if len(sessions) == 0 {
		return info("use `copilot` once, then look again", "nothing captured yet")
	}
	if c, err := capture.Choices(h.data, h.Dir); err == nil && !c.Capture.Enabled {
		return info("`copilot-mem config list` says by whom", "capture is switched off here; last session %s", sessions[0].StartedAt.Local().Format("2006-01-02 15:04"))
	}
	return ok("last session %s, %d entries", sessions[0].StartedAt.Local().Format("2006-01-02 15:04"), sessions[0].Entries)
}
